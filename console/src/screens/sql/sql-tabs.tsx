// The queries that are open, kept by the tab of the browser.

import { useState } from 'react'
import { toast } from '../../shell/toast.tsx'

const KEY = 'millrace.sql-tabs'
const FIRST = 'select 1 as one'

interface Kept {
  readonly texts: readonly string[]
  readonly current: number
}

function readKept(opened: string | undefined): Kept {
  const text = sessionStorage.getItem(KEY)
  const kept = text === null ? { texts: [FIRST], current: 0 } : (JSON.parse(text) as Kept) // written below
  if (opened === undefined) return kept
  const same = kept.texts.indexOf(opened)
  if (same !== -1) return { ...kept, current: same }
  const texts = text === null ? [opened] : [...kept.texts, opened]
  return { texts, current: texts.length - 1 }
}

export type OpenTabs = ReturnType<typeof useSqlTabs>

/** `opened`: a query that the address asks for, in a tab of its own. */
export function useSqlTabs(opened: string | undefined) {
  const [{ texts, current }, setKept] = useState(() => readKept(opened))
  const keep = (next: Kept) => {
    setKept(next)
    sessionStorage.setItem(KEY, JSON.stringify(next))
  }
  return {
    texts,
    current,
    sql: texts[current] ?? FIRST,
    edit: (text: string) => keep({ texts: texts.with(current, text), current }),
    choose: (index: number) => keep({ texts, current: index }),
    add: () => keep({ texts: [...texts, ''], current: texts.length }),
    close: (index: number) => {
      const next = { texts: texts.toSpliced(index, 1), current: Math.max(0, current - (index <= current ? 1 : 0)) }
      keep(next)
      if (texts[index]!.trim() !== '')
        toast('Closed the query.', async () => keep({ texts: next.texts.toSpliced(index, 0, texts[index]!), current: index }))
    },
  }
}

const nameOf = (text: string, index: number): string => text.replace(/\s+/g, ' ').trim().slice(0, 28) || `Query ${index + 1}`

export const SqlTabs = ({ tabs: { texts, current, choose, add, close } }: { tabs: OpenTabs }) => (
  <nav className="toolbar" aria-label="Open queries">
    {texts.map((text, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a query has no other name
      <span key={index} className="flex-row gap-1">
        <button
          type="button"
          className={index === current ? 'chip picked' : 'chip'}
          aria-pressed={index === current}
          title={text}
          onClick={() => choose(index)}
        >
          {nameOf(text, index)}
        </button>
        {texts.length > 1 && index === current ? (
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
