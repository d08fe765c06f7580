// The log of a job as it grows: follow, level, search, download, a link to a line.

import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { follow } from '../event-stream.ts'
import { count, parseTime, timeOfDay } from '../format.ts'
import { FilterField } from '../parts/filter-field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { saveAs } from '../parts/save-as.ts'

const route = getRouteApi('/jobs/$jobId')

interface Line {
  readonly id: number
  readonly message: string
  readonly type: string
  readonly created: string
}

/** Lines that came together are shown together: a million of them are not copied for each that is new. */
const SHOW_MS = 200

interface Log {
  /** Grows in place; `count` says how much of it is shown. */
  readonly lines: readonly Line[]
  readonly count: number
  readonly error: Error | undefined
}

function useLines(jobId: string): Log {
  const [log, setLog] = useState<Log>({ lines: [], count: 0, error: undefined })
  useEffect(() => {
    const stop = new AbortController()
    const lines: Line[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = () => {
      timer = undefined
      setLog({ lines, count: lines.length, error: undefined })
    }
    follow('queue.events', { path: { id: jobId } }, stop.signal, ({ event, data }) => {
      if (event === 'end') return false
      if (event === 'log') {
        lines.push(JSON.parse(data) as Line) // an event of the storage API
        timer ??= setTimeout(show, lines.length === 1 ? 0 : SHOW_MS)
      }
      return true
    }).catch((error: Error) => setLog({ lines, count: lines.length, error }))
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [jobId])
  return log
}

const LEVELS: Readonly<Record<string, readonly string[]>> = { all: [], warn: ['warn', 'error'], error: ['error'] }
const LINE_HEIGHT = 22

export function JobLog({ jobId }: { jobId: string }) {
  const { level = 'all', q = '', line } = route.useSearch()
  const navigate = useNavigate()
  const change = (next: { level?: string; q?: string; line?: string }) =>
    void navigate({ to: '.', search: (old: Record<string, unknown>) => ({ ...old, ...next }), replace: true })
  const { lines, count: known, error } = useLines(jobId)
  const shown = useMemo(() => linesOf(lines, known, level, q), [lines, known, level, q])
  return (
    <section className="card" aria-labelledby="log">
      <header>
        <h2 id="log">Log</h2>
        <span className="mute xs">
          {shown.length === known ? `${count(known)} lines` : `${count(shown.length)} of ${count(known)} lines`}
        </span>
        <span className="push row">
          <FilterField label="Search the log" value={q} onChange={(text) => change({ q: text })} />
          <select
            className="input sm"
            aria-label="Level"
            value={level}
            onChange={(event) => change({ level: event.target.value })}
          >
            <option value="all">all levels</option>
            <option value="warn">warnings and errors</option>
            <option value="error">errors</option>
          </select>
          <button
            type="button"
            className="btn sm icon ghost"
            aria-label="Download the log"
            title="Download the log"
            onClick={() => download(jobId, lines)}
          >
            <Icon name="download" />
          </button>
        </span>
      </header>
      {error ? <Problem error={error} /> : null}
      {shown.length === 0 ? (
        <p className="in mute">{known === 0 ? 'No lines yet.' : 'No line fits.'}</p>
      ) : (
        <Lines
          lines={shown}
          chosen={line === undefined ? undefined : Number(line)}
          onChoose={(id) => change({ line: String(id) })}
        />
      )}
    </section>
  )
}

/** Without a filter the log itself, which is not copied. */
function linesOf(lines: readonly Line[], known: number, level: string, q: string): readonly Line[] {
  const wanted = LEVELS[level] ?? []
  const asked = q.toLowerCase()
  if (wanted.length === 0 && asked === '') return lines.length === known ? lines : lines.slice(0, known)
  return lines.filter(
    ({ type, message }) => (wanted.length === 0 || wanted.includes(type)) && message.toLowerCase().includes(asked),
  )
}

interface LinesProps {
  readonly lines: readonly Line[]
  /** The line that the address names. */
  readonly chosen: number | undefined
  readonly onChoose: (id: number) => void
}

function Lines({ lines, chosen, onChoose }: LinesProps) {
  const frame = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(chosen === undefined)
  const shownChoice = useRef<number>(undefined)
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  })
  const count = lines.length
  useEffect(() => {
    if (isAtEnd.current && count > 0) rows.scrollToIndex(count - 1, { align: 'end' })
    if (chosen === undefined || shownChoice.current === chosen) return
    const index = lines.findIndex(({ id }) => id === chosen)
    if (index === -1) return
    shownChoice.current = chosen
    isAtEnd.current = false
    rows.scrollToIndex(index, { align: 'center' })
  }, [count, rows, chosen, lines])
  const onScroll = () => {
    const at = frame.current!
    isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < LINE_HEIGHT * 2
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="log" aria-label="Lines of the log" ref={frame} onScroll={onScroll} tabIndex={0}>
      <div className="rows-inner" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const { id, message, type, created } = lines[index]!
          return (
            <div
              key={id}
              id={`line-${id}`}
              ref={rows.measureElement}
              data-index={index}
              className={`log-line ${type} ${id === chosen ? 'chosen' : ''}`}
              style={{ position: 'absolute', left: 0, right: 0, transform: `translateY(${start}px)` }}
            >
              <button type="button" className="link" title="A link to this line" onClick={() => onChoose(id)}>
                <time dateTime={parseTime(created).toISOString()}>{timeOfDay(created)}</time>
              </button>
              <span>{type}</span>
              <span>{message}</span>
            </div>
          )
        })}
      </div>
    </section>
  )
}

function download(jobId: string, lines: readonly Line[]): void {
  const text = lines.map(({ created, type, message }) => `${created} ${type} ${message}\n`).join('')
  saveAs(`job-${jobId}.log`, new Blob([text], { type: 'text/plain' }))
}
