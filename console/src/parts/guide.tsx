// The documents of the stack, shown beside what they are about: a section by its heading with the field marked in it, or what a code means.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { createContext, createElement, type MouseEvent, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import { Drawer } from './drawer.tsx'
import { Icon } from './icon.tsx'
import './parts.css'

interface About {
  /** Name of the document: `extractor`. */
  readonly page: string
  /** Id of a heading or of a code in it. */
  readonly section: string
}

const AboutContext = createContext<About | undefined>(undefined)

/** What the labels inside are about. */
export const HelpAbout = ({ page, section, children }: About & { readonly children: ReactNode }) => (
  <AboutContext value={{ page, section }}>{children}</AboutContext>
)

/** The label of a field, with its help beside it. */
export function Label({
  htmlFor,
  name,
  help,
  note,
  mark: marked,
  children,
}: {
  readonly htmlFor: string
  /** How configurations name the field; marked in the guide. */
  readonly name?: string
  /** Where the guides describe it; of the part around it without this. */
  readonly help?: About | undefined
  /** Its description besides the guide. */
  readonly note?: string | undefined
  /** After its name, such as that it is needed. */
  readonly mark?: ReactNode
  readonly children: ReactNode
}) {
  const around = useContext(AboutContext)
  const about = help ?? around
  return (
    <span className="label-line">
      <label htmlFor={htmlFor}>
        {children}
        {marked}
      </label>
      {about ? (
        <HelpButton
          {...about}
          name={name}
          note={note}
          label={typeof children === 'string' ? children.toLowerCase() : (name ?? 'this field')}
        />
      ) : null}
    </span>
  )
}

/** Opens the section in a drawer; `label`: its topic. */
export function HelpButton({
  page,
  section,
  label,
  name,
  note,
}: About & { readonly label: string; readonly name?: string | undefined; readonly note?: string | undefined }) {
  return (
    <Opener
      className="button icon ghost small help"
      title={`Help about ${label}`}
      at={{ address: `/help/${page}`, section, name }}
      note={note}
    >
      <Icon name="help" size="small" />
      <span className="visually-hidden">Help about {label}</span>
    </Opener>
  )
}

/** A code of an error as a link to what it means. */
export const CodeHelp = ({ code, children = code }: { code: string; children?: ReactNode }) => (
  <Opener className="link" at={{ address: '/help/errors', section: code }}>
    {children}
  </Opener>
)

/** A page of the stack as a link that opens it here. Pages of others open beside the console. */
export function PageLink({ url, children }: { url: string; children: ReactNode }) {
  const { origin, pathname } = new URL(url, location.href)
  if (origin === location.origin)
    return (
      <Opener className="link fine" at={{ address: pathname, section: '' }}>
        {children}
      </Opener>
    )
  return (
    <a className="fine" href={url} target="_blank" rel="noreferrer">
      {children}
    </a>
  )
}

interface Place {
  /** Path of a page of the stack: `/help/extractor`. */
  readonly address: string
  /** Id in it; empty for all of it. */
  readonly section: string
  readonly name?: string | undefined
}

function Opener({
  className,
  title,
  at,
  note,
  children,
}: {
  className: string
  title?: string
  at: Place
  note?: string | undefined
  children: ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className={className} title={title} onClick={() => setOpen(true)}>
        {children}
      </button>
      {isOpen ? <GuideDrawer at={at} note={note} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

/** Links lead to other places in the drawer; the console stays where it is. */
function GuideDrawer({ at, note, onClose }: { at: Place; note?: string | undefined; onClose: () => void }) {
  const [place, setPlace] = useState(at)
  const query = useQuery<Element, Error>({
    queryKey: ['page of the stack', place.address],
    queryFn: async ({ signal }) => {
      const response = await fetch(place.address, { signal })
      if (!response.ok) throw new Error(`The page ${place.address} cannot be read.`)
      const main = (await response.text()).match(/<main>[\s\S]*<\/main>/)?.[0] ?? '' // without the style of the page
      return new DOMParser().parseFromString(main, 'text/html').body
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (query.data && place.name) mark(frame.current, place.name)
  }, [query.data, place])
  const follow = (event: MouseEvent) => {
    const href = (event.target as Element).closest('a')?.getAttribute('href') ?? ''
    const [address = '', section = ''] = href.split('#')
    if (!href.startsWith('#') && !address.startsWith('/help')) return
    event.preventDefault()
    setPlace({ address: address || place.address, section })
  }
  const [, guide] = /^\/help\/?(.*)$/.exec(place.address) ?? []
  return (
    <Drawer title="Help" onClose={onClose}>
      {note && place === at ? <p className="body-text">{note}</p> : null}
      {query.data ? (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the links inside take the keys
        // biome-ignore lint/a11y/noStaticElementInteractions: as above
        <div className="guide" ref={frame} onClick={follow}>
          {sectionOf(query.data, place.section)}
        </div>
      ) : null}
      {query.error ? <p role="alert">{query.error.message}</p> : null}
      <p className="flex-row wrap">
        {place === at ? null : (
          <button type="button" className="link" onClick={() => setPlace(at)}>
            Back
          </button>
        )}
        {guide === undefined ? null : (
          <Link to="/help" search={{ guide, ...(place.section ? { at: place.section } : {}) }}>
            Read all of it
          </Link>
        )}
      </p>
    </Drawer>
  )
}

/** The part about the field comes into view. */
function mark(frame: HTMLElement | null, name: string): void {
  const codes = [...(frame?.querySelectorAll('code') ?? [])]
  const found = codes.find((one) => one.textContent === name) ?? codes.find((one) => one.textContent.includes(`"${name}"`))
  const part = found?.closest('tr, li, p, pre')
  part?.classList.add('target')
  part?.scrollIntoView({ block: 'center' })
}

function sectionOf(guide: Element, section: string): ReactNode {
  if (section === '') return [...(guide.querySelector('main')?.childNodes ?? [])].map(toReact)
  const start = guide.ownerDocument.getElementById(section)
  if (!start) return <p className="mute">The guide has nothing about {section}.</p>
  if (start.tagName === 'TR') return <RowMeaning row={start} />
  const parts: Element[] = [start]
  for (let next = start.nextElementSibling; next && !isHeadingAbove(next, start); next = next.nextElementSibling) parts.push(next)
  return parts.map(toReact)
}

const isHeadingAbove = (one: Element, start: Element): boolean => /^H[1-6]$/.test(one.tagName) && one.tagName <= start.tagName

/** A row of a table with the names of its columns. */
function RowMeaning({ row }: { row: Element }) {
  const names = [...(row.closest('table')?.querySelectorAll('th') ?? [])].map((cell) => cell.textContent ?? '')
  return (
    <dl className="stack-3">
      {[...row.querySelectorAll('td')].map((cell, index) => (
        <div key={names[index]}>
          <dt className="fine mute">{names[index]}</dt>
          <dd>{children(cell)}</dd>
        </div>
      ))}
    </dl>
  )
}

const KEPT = /^(h[1-6]|p|ul|ol|li|code|pre|em|strong|table|thead|tbody|tr|th|td|blockquote|br)$/

/** Only the tags that documents are made of; headings step down, so that the screen keeps its own order. */
function toReact(node: Node, key = 0): ReactNode {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent
  if (!(node instanceof Element)) return null
  const tag = node.tagName.toLowerCase()
  if (tag === 'a') return <GuideLink key={key} link={node} />
  if (!KEPT.test(tag)) return children(node)
  const shown = /^h[1-6]$/.test(tag) ? 'h3' : tag
  // What scrolls must be reachable by keyboard.
  const more = shown === 'pre' ? { className: 'code sunken wrap', tabIndex: 0 } : {}
  return createElement(shown, { key, ...more }, ...list(children(node)))
}

function GuideLink({ link }: { link: Element }) {
  const href = link.getAttribute('href') ?? ''
  if (/^(#|\/help)/.test(href)) return <a href={href}>{children(link)}</a>
  if (!/^(\/|https?:)/.test(href)) return children(link)
  return (
    <a href={href} target="_blank" rel="noreferrer">
      {children(link)}
    </a>
  )
}

const children = (node: Node): ReactNode => [...node.childNodes].map((one, index) => toReact(one, index))
const list = (nodes: ReactNode): readonly ReactNode[] => (Array.isArray(nodes) ? (nodes as readonly ReactNode[]) : [nodes])
