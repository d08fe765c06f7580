// Two texts line by line: what was taken out, what was added, what stays the same folded.

import { useMemo, useState } from 'react'
import { type LineRun, lineDifference } from '../document/line-difference.ts'
import { count } from '../format.ts'
import { Scroll } from '../parts/scroll.tsx'
import './editor.css'

/** Lines of the same that are shown around a change. */
const AROUND = 3
/** Changed lines that are shown at once; the comparison by value shows every place. */
const SHOWN = 2000

const masked = (text: string): string => text.replace(/("#(?:[^"\\]|\\.)*": )"(?:[^"\\]|\\.)*"/g, '$1"••••••"')

export default function TextDifference({ before, after }: { before: string; after: string }) {
  const runs = useMemo(() => lineDifference(masked(before), masked(after)), [before, after])
  const changed = runs.reduce((sum, { kind, lines }) => (kind === 'same' ? sum : sum + lines.length), 0)
  const shown = upTo(runs, SHOWN)
  return (
    <Scroll label="Difference as text" className="lines">
      {shown.map((run, index) =>
        run.kind === 'same' ? (
          <Same key={`same ${run.from}`} run={run} isFirst={index === 0} isLast={index === shown.length - 1} />
        ) : (
          <Run key={`${run.kind} ${run.from}`} run={run} lines={run.lines.slice(0, SHOWN)} />
        ),
      )}
      {changed > SHOWN ? <p className="inset mute">{count(changed)} lines differ. By value, every place is shown.</p> : null}
    </Scroll>
  )
}

/** The first runs, until so many changed lines are among them. */
function upTo(runs: readonly LineRun[], limit: number): readonly LineRun[] {
  let seen = 0
  const end = runs.findIndex(({ kind, lines }) => {
    const isPast = seen >= limit
    if (kind !== 'same') seen += lines.length
    return isPast
  })
  return end < 0 ? runs : runs.slice(0, end)
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const

const Run = ({ run, lines, from = run.from }: { run: LineRun; lines: readonly string[]; from?: number }) => (
  <pre className={`code ${run.kind === 'added' ? 'line-added' : run.kind === 'removed' ? 'line-removed' : ''}`}>
    {lines.map((line, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its number
      <span key={from + index} className="diff-line">
        <span className="line-number">{from + index}</span>
        {SIGNS[run.kind]} {line}
      </span>
    ))}
  </pre>
)

function Same({ run, isFirst, isLast }: { run: LineRun; isFirst: boolean; isLast: boolean }) {
  const [isOpen, setOpen] = useState(false)
  const { lines, from } = run
  const [above, below] = [isFirst ? 0 : AROUND, isLast ? 0 : AROUND]
  const folded = lines.length - above - below
  if (folded <= AROUND || isOpen) return <Run run={run} lines={lines} />
  return (
    <>
      <Run run={run} lines={lines.slice(0, above)} />
      <button type="button" className="fold" onClick={() => setOpen(true)}>
        {count(folded)} lines are the same
      </button>
      <Run run={run} lines={lines.slice(lines.length - below)} from={from + lines.length - below} />
    </>
  )
}
