// The queries that are open, kept by the tab of the browser.

import { useState } from 'react'
import { toast } from '../../shell/toast.tsx'

const KEY = 'millrace.sql-open'
const FIRST = 'select 1 as one'

/** The saved query that a tab was opened from. */
export interface SavedOrigin {
  readonly id: string
  readonly name: string
  readonly version: number
  /** As it was saved, to see what has changed. */
  readonly sql: string
}

interface OpenQuery {
  readonly text: string
  readonly saved?: SavedOrigin | undefined
}

interface Kept {
  readonly open: readonly OpenQuery[]
  readonly current: number
}

function readKept(opened: string | undefined): Kept {
  const text = sessionStorage.getItem(KEY)
  const kept = text === null ? { open: [{ text: FIRST }], current: 0 } : (JSON.parse(text) as Kept) // written below
  return opened === undefined ? kept : withQuery(kept, { text: opened }, text === null)
}

/** In the tab that has it already, in the place of an empty one, or in a tab of its own. */
function withQuery({ open, current }: Kept, query: OpenQuery, isFirst = false): Kept {
  const same = open.findIndex(({ text, saved }) => text === query.text && saved?.id === query.saved?.id)
  if (same !== -1) return { open, current: same }
  if (isFirst || open[current]?.text.trim() === '') return { open: open.with(current, query), current }
  return { open: [...open, query], current: open.length }
}

export type OpenTabs = ReturnType<typeof useSqlTabs>

/** `opened`: a query from the URL, in a tab of its own. */
export function useSqlTabs(opened: string | undefined) {
  const [{ open, current }, setKept] = useState(() => readKept(opened))
  const keep = (next: Kept) => {
    setKept(next)
    sessionStorage.setItem(KEY, JSON.stringify(next))
  }
  const own = open[current] ?? { text: FIRST }
  return {
    open,
    current,
    sql: own.text,
    saved: own.saved,
    edit: (text: string) => keep({ open: open.with(current, { ...own, text }), current }),
    /** What the tab shows is saved as this. */
    mark: (saved: SavedOrigin | undefined) => keep({ open: open.with(current, { ...own, saved }), current }),
    choose: (index: number) => keep({ open, current: index }),
    show: (query: OpenQuery) => keep(withQuery({ open, current }, query)),
    add: () => keep({ open: [...open, { text: '' }], current: open.length }),
    close: (index: number) => {
      const closed = open[index]!
      const next = { open: open.toSpliced(index, 1), current: Math.max(0, current - (index <= current ? 1 : 0)) }
      keep(next)
      if (closed.text.trim() !== '')
        toast('Closed the query.', async () => keep({ open: next.open.toSpliced(index, 0, closed), current: index }))
    },
  }
}

const nameOf = ({ text, saved }: OpenQuery, index: number): string =>
  saved ? `${saved.name}${saved.sql === text ? '' : ' *'}` : text.replace(/\s+/g, ' ').trim().slice(0, 28) || `Query ${index + 1}`

export const SqlTabs = ({ tabs: { open, current, choose, add, close } }: { tabs: OpenTabs }) => (
  <nav className="toolbar" aria-label="Open queries">
    {open.map((query, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a query has no other name
      <span key={index} className="flex-row gap-1">
        <button
          type="button"
          className={index === current ? 'chip picked' : 'chip'}
          aria-pressed={index === current}
          title={query.text}
          onClick={() => choose(index)}
        >
          {nameOf(query, index)}
        </button>
        {open.length > 1 && index === current ? (
          <button type="button" className="button small icon ghost" aria-label="Close this query" onClick={() => close(index)}>
            ✕
          </button>
        ) : null}
      </span>
    ))}
    <button type="button" className="button small ghost" onClick={add}>
      New query
    </button>
  </nav>
)
