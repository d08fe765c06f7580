// The log of a job as it grows: follow, level, search, download, a link to a line.

import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { follow } from '../../event-stream.ts'
import { createLogLines, createLogView, type LogLine, type LogLines } from '../../facts/log-lines.ts'
import { count, exactTime } from '../../format.ts'
import { FilterField } from '../../parts/filter-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { saveAs } from '../../parts/save-as.ts'
import { useTallRows } from '../../parts/tall-rows.ts'
import './jobs.css'

const route = getRouteApi('/jobs/$jobId')

/** Lines that came together are shown together. */
const SHOW_MS = 200

interface Log {
  /** Grows in place; `known`: how much of it is shown. */
  readonly lines: LogLines
  readonly known: number
  readonly error: Error | undefined
}

function useLines(jobId: string): Log {
  const [log, setLog] = useState<Log>(() => ({ lines: createLogLines(), known: 0, error: undefined }))
  useEffect(() => {
    const stop = new AbortController()
    const lines = createLogLines()
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (error?: Error) => {
      timer = undefined
      setLog({ lines, known: lines.length(), error })
    }
    follow('queue.events', { path: { id: jobId } }, stop.signal, ({ event, data }) => {
      if (event === 'end') return false
      if (event === 'log') {
        lines.add(JSON.parse(data) as LogLine) // an event of the storage API
        timer ??= setTimeout(show, lines.length() === 1 ? 0 : SHOW_MS)
      }
      return true
    }).catch(show)
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [jobId])
  return log
}

const LEVELS: Readonly<Record<string, readonly string[]>> = { all: [], warn: ['warn', 'error'], error: ['error'] }
const LINE_HEIGHT = 22

interface Follower {
  /** The newest line is kept in sight. */
  readonly isFollowing: boolean
  /** Lines that came since then. */
  readonly newer: number
  readonly toggle: () => void
  readonly set: (isFollowing: boolean) => void
}

function useFollower(isAtFirst: boolean, lines: number): Follower {
  const [pausedAt, setPausedAt] = useState<number | undefined>(isAtFirst ? undefined : 0)
  const isFollowing = pausedAt === undefined
  const set = (next: boolean) => (next === isFollowing ? undefined : setPausedAt(next ? undefined : lines))
  return { isFollowing, newer: isFollowing ? 0 : Math.max(0, lines - pausedAt), toggle: () => set(!isFollowing), set }
}

/** `isGoing`: more lines may come. */
export function JobLog({ jobId, isGoing }: { jobId: string; isGoing: boolean }) {
  const { level = 'all', q = '', line } = route.useSearch()
  const navigate = useNavigate()
  const change = (next: { level?: string; q?: string; line?: string }) =>
    void navigate({ to: '.', search: (old: Record<string, unknown>) => ({ ...old, ...next }), replace: true })
  const { lines, known, error } = useLines(jobId)
  const view = useMemo(() => createLogView(lines, { levels: LEVELS[level] ?? [], text: q }), [lines, level, q])
  const fitting = view.count(known)
  const follower = useFollower(line === undefined, fitting)
  return (
    <section className="card" aria-labelledby="log">
      <header>
        <h2 id="log">Log</h2>
        <span className="mute fine">
          {fitting === known ? `${count(known)} lines` : `${count(fitting)} of ${count(known)} lines`}
        </span>
        <span className="push flex-row">
          <FilterField label="Search the log" value={q} onChange={(text) => change({ q: text })} />
          <select
            className="input small"
            aria-label="Level"
            value={level}
            onChange={(event) => change({ level: event.target.value })}
          >
            <option value="all">all levels</option>
            <option value="warn">warnings and errors</option>
            <option value="error">errors</option>
          </select>
          {isGoing || !follower.isFollowing ? (
            <button type="button" className="button small" aria-pressed={follower.isFollowing} onClick={follower.toggle}>
              <Icon name={follower.isFollowing ? 'st-pause' : 'play'} />
              <span>
                {follower.isFollowing ? 'Pause' : follower.newer > 0 ? `Follow, ${count(follower.newer)} new` : 'Follow'}
              </span>
            </button>
          ) : null}
          <button
            type="button"
            className="button small icon ghost"
            aria-label="Download the log"
            title="Download the log"
            onClick={() => download(jobId, lines)}
          >
            <Icon name="download" />
          </button>
        </span>
      </header>
      {error ? <Problem error={error} /> : null}
      {fitting === 0 ? (
        <p className="inset mute">{known === 0 ? 'No lines yet.' : 'No matching lines.'}</p>
      ) : (
        <Lines
          lines={lines}
          view={view}
          count={fitting}
          follower={follower}
          chosen={line === undefined ? undefined : Number(line)}
          onChoose={(id) => change({ line: String(id) })}
        />
      )}
    </section>
  )
}

interface LinesProps {
  readonly lines: LogLines
  readonly view: ReturnType<typeof createLogView>
  readonly count: number
  readonly follower: Follower
  /** The line that the address names. */
  readonly chosen: number | undefined
  readonly onChoose: (id: number) => void
}

function Lines({ lines, view, count, follower, chosen, onChoose }: LinesProps) {
  const frame = useRef<HTMLDivElement>(null)
  const shownChoice = useRef<number>(undefined)
  const { height, items, measure, showInMiddle } = useTallRows({ count, frame, rowHeight: LINE_HEIGHT, overscan: 20 })
  // biome-ignore lint/correctness/useExhaustiveDependencies: lines that came, or that wrap when they are measured, make it taller
  useLayoutEffect(() => {
    if (follower.isFollowing && frame.current) frame.current.scrollTop = frame.current.scrollHeight
  }, [height, count, follower.isFollowing])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function is a new one each time
  useEffect(() => {
    if (chosen === undefined || shownChoice.current === chosen) return
    const index = lines.indexOf(chosen)
    const place = index === -1 ? -1 : view.placeOf(index)
    if (place === -1) return
    shownChoice.current = chosen
    follower.set(false)
    showInMiddle(place)
  }, [count, chosen, lines, view])
  const onScroll = () => {
    const at = frame.current!
    follower.set(at.scrollHeight - at.scrollTop - at.clientHeight < LINE_HEIGHT * 2)
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="job-log" aria-label="Lines of the log" ref={frame} onScroll={onScroll} tabIndex={0}>
      <div className="rows-inner" style={{ height }}>
        {items.map(({ index, top }) => {
          const { id, message, type, atMs } = lines.at(view.lineAt(index))
          return (
            <div
              key={id}
              id={`line-${id}`}
              ref={measure}
              data-index={index}
              className={`log-line ${type} ${id === chosen ? 'chosen' : ''}`}
              style={{ position: 'absolute', left: 0, right: 0, transform: `translateY(${top}px)` }}
            >
              <button type="button" className="link" title="A link to this line" onClick={() => onChoose(id)}>
                <LineTime atMs={atMs} />
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

const LineTime = ({ atMs }: { atMs: number }) => <time dateTime={new Date(atMs).toISOString()}>{exactTime(atMs)}</time>

/** In pieces, so that the text of a long log is never one string. */
function download(jobId: string, lines: LogLines): void {
  const pieces = Array.from({ length: lines.length() }, (_, index) => {
    const { atMs, type, message } = lines.at(index)
    return `${new Date(atMs).toISOString()} ${type} ${message}\n`
  })
  saveAs(`job-${jobId}.log`, new Blob(pieces, { type: 'text/plain' }))
}
