// A part of the documents of the stack, shown beside what it is about: a section by its heading, or what a code means.

import { useQuery } from '@tanstack/react-query'
import { createElement, type ReactNode, useState } from 'react'
import { Drawer } from './drawer.tsx'
import { Icon } from './icon.tsx'

interface Place {
  /** Name of the document: `extractor`. */
  readonly page: string
  /** Id of a heading or of a code in it. */
  readonly section: string
}

/** Opens the section in a drawer; `label` says what it is about. */
export function HelpButton({ page, section, label }: Place & { readonly label: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        className="btn icon ghost sm"
        aria-label={`Help about ${label}`}
        title={`Help about ${label}`}
        onClick={() => setOpen(true)}
      >
        <Icon name="book" />
      </button>
      {isOpen ? <GuideDrawer page={page} section={section} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

/** A code of an error as a link to what it means. */
export function CodeHelp({ code }: { code: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="link" onClick={() => setOpen(true)}>
        {code}
      </button>
      {isOpen ? <GuideDrawer page="errors" section={code} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function GuideDrawer({ page, section, onClose }: Place & { readonly onClose: () => void }) {
  const query = useQuery<Element, Error>({
    queryKey: ['guide', page],
    queryFn: async ({ signal }) => {
      const response = await fetch(`/help/${page}`, { signal })
      if (!response.ok) throw new Error(`The guide ${page} cannot be read.`)
      const main = (await response.text()).match(/<main>[\s\S]*<\/main>/)?.[0] ?? '' // without the style of the page
      return new DOMParser().parseFromString(main, 'text/html').body
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Drawer title="Help" onClose={onClose}>
      {query.data ? <div className="guide">{sectionOf(query.data, section)}</div> : null}
      {query.error ? <p role="alert">{query.error.message}</p> : null}
      <p>
        <a href={`/help/${page}#${section}`}>Read all of it</a>
      </p>
    </Drawer>
  )
}

function sectionOf(guide: Element, section: string): ReactNode {
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
    <dl className="stack3">
      {[...row.querySelectorAll('td')].map((cell, index) => (
        <div key={names[index]}>
          <dt className="xs mute">{names[index]}</dt>
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
  if (tag === 'a') {
    const href = node.getAttribute('href') ?? ''
    return (
      <a key={key} href={href.startsWith('#') || href.startsWith('/') || /^https?:/.test(href) ? href : undefined}>
        {children(node)}
      </a>
    )
  }
  if (!KEPT.test(tag)) return children(node)
  const shown = /^h[1-6]$/.test(tag) ? 'h3' : tag
  return createElement(shown, { key, ...(shown === 'pre' ? { className: 'code sunken wrap' } : {}) }, ...list(children(node)))
}

const children = (node: Node): ReactNode => [...node.childNodes].map((one, index) => toReact(one, index))
const list = (nodes: ReactNode): readonly ReactNode[] => (Array.isArray(nodes) ? (nodes as ReactNode[]) : [nodes])
