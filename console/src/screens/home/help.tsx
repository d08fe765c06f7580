// The documents of the repository, read inside the console. They come from the stack itself, so they fit its version.

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useRef, useState } from 'react'
import { ApiError } from '../../../../client/src/client.ts'
import { useProjectId } from '../../facts/project.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { usePreference } from '../../preferences.ts'
import { Page } from '../../shell/page.tsx'
import { startTour } from '../../shell/tour.tsx'
import { type Theme, useTheme } from '../../theme.ts'
import { HIDDEN_STEPS } from './next-steps.tsx'
import './home.css'

const route = getRouteApi('/help')

interface Guide {
  readonly title: string
  readonly body: HTMLElement
}

/** The page of the stack for people without the console, without its frame. */
async function readGuide(name: string, signal: AbortSignal): Promise<Guide> {
  const response = await fetch(name === '' ? '/help' : `/help/${name}`, { signal })
  const text = await response.text()
  if (!response.ok) throw new ApiError(response.status, { error: `There is no guide ${name}.`, code: 'notFound' })
  const [main = ''] = /<main>[\s\S]*<\/main>/.exec(text) ?? [] // without the styles of the page around it
  const { body } = new DOMParser().parseFromString(main.replace(/<\/?main>/g, ''), 'text/html')
  return { title: body.querySelector('h1')?.textContent ?? name, body }
}

const useGuide = (name: string) =>
  useQuery<Guide, Error>({ queryKey: ['guide', name], queryFn: ({ signal }) => readGuide(name, signal), staleTime: Infinity })

/** The guides that the first page names. */
const linksOf = ({ body }: Guide): readonly { readonly name: string; readonly about: string }[] =>
  [...body.querySelectorAll<HTMLAnchorElement>('a[href^="/help/"]')].map((link) => ({
    name: link.getAttribute('href')!.replace('/help/', ''),
    about: aboutOf(link).replace(/^[a-z]/, (first) => first.toUpperCase()),
  }))

/** A line of the first page describes its guide; where it names several, each goes by its own name, too. */
function aboutOf(link: HTMLAnchorElement): string {
  const line = link.closest('tr')
  const purpose = line?.firstElementChild?.textContent
  if (!purpose || /^\d+ minutes$/.test(purpose)) return link.textContent ?? '' // tutorials are listed by how long they take
  const isOne = line.querySelectorAll('a').length === 1
  return isOne ? purpose : `${purpose} (${(link.textContent ?? '').replace(/\.md$/, '')})`
}

export function HelpScreen() {
  const { guide = '', at } = route.useSearch()
  const index = useGuide('')
  const query = useGuide(guide)
  const [filter, setFilter] = useState('')
  const revision = useLoad('index.get', { query: { exclude: 'components' } }).data?.revision
  const title = query.data?.title ?? 'Help'
  return (
    <Page
      title={title}
      crumbs={guide === '' ? [{ name: 'Help' }] : [{ name: 'Help', to: '/help' }, { name: title }]}
      say={title}
      sub={`Part of this stack: it can be read offline and matches its version${revision ? `, ${revision}` : ''}.`}
      actions={<Teachers />}
    >
      <div className="columns help">
        <section className="card" aria-label={title}>
          <Loaded query={query} skeleton={<Lines count={8} />}>
            {(found) => <Text key={guide} guide={found} at={at} />}
          </Loaded>
        </section>
        <section className="card" aria-labelledby="guides">
          <header>
            <h2 id="guides">Guides</h2>
          </header>
          <div className="toolbar">
            <FilterField label="Filter guides" value={filter} onChange={setFilter} />
          </div>
          <ul className="list">
            {(index.data ? linksOf(index.data) : [])
              .filter(({ name, about }) => `${name} ${about}`.toLowerCase().includes(filter.toLowerCase()))
              .map(({ name, about }) => (
                <li key={name}>
                  <Link to="/help" search={{ guide: name }} aria-current={name === guide ? 'page' : undefined}>
                    {about}
                  </Link>
                </li>
              ))}
          </ul>
        </section>
      </div>
    </Page>
  )
}

/** What teaches on the screens themselves. */
function Teachers() {
  const [isHidden, setHidden] = usePreference(`${HIDDEN_STEPS}:${useProjectId()}`, false)
  return (
    <>
      {isHidden ? (
        <button type="button" className="button" onClick={() => void setHidden(false)}>
          Show the next steps on Home
        </button>
      ) : null}
      <button type="button" className="button" onClick={startTour}>
        Start the tour
      </button>
    </>
  )
}

/** Where columns have no names, the first cell of a row names it to screen readers. */
function nameRows(table: HTMLTableElement): void {
  if (![...table.querySelectorAll('thead th')].some((one) => one.textContent === '')) return
  for (const cell of table.querySelectorAll<HTMLTableCellElement>('tbody td:first-child')) {
    const name = document.createElement('th')
    name.scope = 'row'
    name.append(...cell.childNodes)
    cell.replaceWith(name)
  }
}

/** When the dark one of two pictures is shown: by the theme of the console, not only by that of the system. */
const DARK_WHEN: Readonly<Record<Theme, string>> = { system: '(prefers-color-scheme: dark)', dark: 'all', light: 'not all' }

/** The document itself; its links lead to other guides here, and to places within. */
function Text({ guide, at }: { guide: Guide; at: string | undefined }) {
  const frame = useRef<HTMLElement>(null)
  const navigate = useNavigate()
  const theme = useTheme()
  useEffect(() => {
    frame.current?.replaceChildren(
      ...[...guide.body.children].filter((one) => one.tagName !== 'H1').map((one) => one.cloneNode(true)),
    )
    // What scrolls must be reachable by keyboard.
    for (const wide of frame.current?.querySelectorAll<HTMLElement>('pre, table') ?? []) wide.tabIndex = 0
    for (const table of frame.current?.querySelectorAll('table') ?? []) nameRows(table)
    const target = at ? frame.current?.querySelector(`[id="${CSS.escape(at)}"]`) : undefined
    target?.scrollIntoView()
    target?.classList.add('target')
  }, [guide, at])
  useEffect(() => {
    for (const dark of frame.current?.querySelectorAll<HTMLSourceElement>('picture > source') ?? []) dark.media = DARK_WHEN[theme]
  }) // after every render: another guide has other pictures
  const onClick = (event: MouseEvent) => {
    const href = (event.target as Element).closest('a')?.getAttribute('href') ?? ''
    const [, name, , place] =
      /^\/help\/?([^#]*)(#(.*))?$/.exec(href) ?? (href.startsWith('#') ? [href, undefined, href, href.slice(1)] : [])
    if (name === undefined && place === undefined) return
    event.preventDefault()
    void navigate({ to: '/help', search: (old) => ({ guide: name ?? old.guide ?? '', ...(place ? { at: place } : {}) }) })
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the links inside take the keys
    <article className="inset prose" ref={frame} onClick={onClick} />
  )
}
