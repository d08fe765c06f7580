// The log of a job as it grows: follow, level, search, download, a link to a line.

import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
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

/** Lines arrive one by one and are shown together, once in a frame. */
function useLines(jobId: string) {
  const [lines, setLines] = useState<readonly Line[]>([])
  const [error, setError] = useState<Error>()
  useEffect(() => {
    const stop = new AbortController()
    const all: Line[] = []
    let isPlanned = false
    const show = () => {
      isPlanned = false
      setLines([...all])
    }
    follow('queue.events', { path: { id: jobId } as never }, stop.signal, ({ event, data }) => {
      if (event === 'end') return false
      if (event === 'log') {
        all.push(JSON.parse(data) as Line) // an event of the storage API
        if (!isPlanned) requestAnimationFrame(show)
        isPlanned = true
      }
      return true
    }).catch(setError)
    return () => stop.abort()
  }, [jobId])
  return { lines, error }
}

const LEVELS: Readonly<Record<string, readonly string[]>> = { all: [], warn: ['warn', 'error'], error: ['error'] }
const LINE_HEIGHT = 22

export function JobLog({ jobId }: { jobId: string }) {
  const { level = 'all', q = '' } = route.useSearch()
  const navigate = useNavigate()
  const change = (next: { level?: string; q?: string }) =>
    void navigate({ to: '.', search: { level, q, ...next } as never, replace: true })
  const { lines, error } = useLines(jobId)
  const wanted = LEVELS[level] ?? []
  const asked = q.toLowerCase()
  const shown = lines.filter(
    ({ type, message }) => (wanted.length === 0 || wanted.includes(type)) && message.toLowerCase().includes(asked),
  )
  return (
    <section className="card" aria-labelledby="log">
      <header>
        <h2 id="log">Log</h2>
        <span className="mute xs">
          {shown.length === lines.length
            ? `${count(lines.length)} lines`
            : `${count(shown.length)} of ${count(lines.length)} lines`}
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
        <p className="in mute">{lines.length === 0 ? 'No lines yet.' : 'No line fits.'}</p>
      ) : (
        <Lines lines={shown} />
      )}
    </section>
  )
}

function Lines({ lines }: { lines: readonly Line[] }) {
  const frame = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  })
  useEffect(() => {
    if (isAtEnd.current) rows.scrollToIndex(lines.length - 1, { align: 'end' })
  }, [lines.length, rows])
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
              className={`log-line ${type}`}
              style={{ position: 'absolute', left: 0, right: 0, transform: `translateY(${start}px)` }}
            >
              <time dateTime={parseTime(created).toISOString()}>{timeOfDay(created)}</time>
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
