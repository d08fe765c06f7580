// What took how long, one below the other on one axis of time.

import { duration, timeOfDay } from '../format.ts'
import { Scroll } from './scroll.tsx'
import { StatusIcon } from './status.tsx'
import './parts.css'

export interface Bar {
  readonly name: string
  readonly from: number
  readonly to: number
  /** Which kind of work, for its colour. */
  readonly tone: 'input' | 'program' | 'load' | 'good' | 'failed' | 'running'
}

export interface TimelineRow {
  readonly key: string
  readonly name: string
  readonly status: string
  /** Rows with the same one stand below its name. */
  readonly group?: string
  readonly bars: readonly Bar[]
  readonly note?: string
}

export const TONE_CLASSES: Readonly<Record<Bar['tone'], string>> = {
  input: 'tone-input',
  program: 'tone-program',
  load: '',
  good: '',
  failed: 'tone-failed',
  running: 'tone-running',
}

const TICKS = [0, 0.25, 0.5, 0.75]

export function Timeline({ rows, label }: { rows: readonly TimelineRow[]; label: string }) {
  const bars = rows.flatMap((row) => row.bars)
  if (bars.length === 0) return <p className="inset mute">Nothing has started yet.</p>
  const start = Math.min(...bars.map(({ from }) => from))
  const span = Math.max(1, Math.max(...bars.map(({ to }) => to)) - start)
  const percent = (time: number) => `${(100 * (time - start)) / span}%`
  return (
    <Scroll label={label}>
      <div className="timeline-grid">
        <span className="time-axis" />
        <span className="time-axis">
          {TICKS.map((tick) => (
            <span key={tick} style={{ left: `${100 * tick}%` }}>
              {tickOf(start + tick * span, span)}
            </span>
          ))}
        </span>
        <span className="time-axis" />
        {rows.map((row, index) => (
          <TimelineLine
            key={row.key}
            row={row}
            isFirstOfGroup={row.group !== undefined && row.group !== rows[index - 1]?.group}
            percent={percent}
          />
        ))}
      </div>
    </Scroll>
  )
}

/** Beside each other, times of a run of a few seconds differ in their fractions only. */
function tickOf(time: number, span: number): string {
  const text = timeOfDay(new Date(time).toISOString())
  return span < 4000 ? `${text}.${Math.floor((time % 1000) / 100)}` : text
}

function TimelineLine({
  row,
  isFirstOfGroup,
  percent,
}: {
  row: TimelineRow
  isFirstOfGroup: boolean
  percent: (time: number) => string
}) {
  const ms = row.bars.length === 0 ? 0 : Math.max(...row.bars.map(({ to }) => to)) - Math.min(...row.bars.map(({ from }) => from))
  return (
    <>
      {isFirstOfGroup ? (
        <>
          <span className="time-phase">{row.group}</span>
          <span className="time-phase" />
          <span className="time-phase" />
        </>
      ) : null}
      <span className="time-name">
        <StatusIcon status={row.status} />
        <span className="clip">{row.name}</span>
      </span>
      <span className="time-track">
        {row.bars.map((bar) => (
          <i
            key={`${bar.name} ${bar.from}`}
            className={`time-bar ${TONE_CLASSES[bar.tone]}`}
            style={{ left: percent(bar.from), width: `max(3px, calc(${percent(bar.to)} - ${percent(bar.from)}))` }}
            title={`${bar.name}: ${Math.round(bar.to - bar.from)} ms`}
          />
        ))}
      </span>
      <span className="time-taken">
        {row.note ?? (row.bars.length === 0 ? 'left out' : ms < 1000 ? `${Math.round(ms)} ms` : duration(ms / 1000))}
      </span>
    </>
  )
}
