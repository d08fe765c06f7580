// Rows loaded per day, the space that tables take, and how the stack is doing.

import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import type { StackNode } from '../../../../client/src/operations.ts'
import { LEVEL_STATES } from '../../facts/level-states.ts'
import { bytes, count, parseTime, plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { Status } from '../../parts/status.tsx'
import { usePerson } from '../../session.ts'
import './home.css'

const DAYS = 28
const DAY_MS = 86_400_000

interface Day {
  readonly day: string
  readonly rows: number
  readonly bytes: number
}

const dayText = (time: number): string => new Date(time).toISOString().slice(0, 10)
const dayName = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const nameOf = (day: string): string => dayName.format(parseTime(`${day}T00:00:00Z`))

/** Every day of the range, also those without a load. */
function daysOf(lines: Answer<'billing.usage'>, today: number): readonly Day[] {
  const byDay = new Map(typeof lines === 'string' ? [] : lines.map((line) => [line.day, line]))
  return Array.from({ length: DAYS }, (_, index) => {
    const day = dayText(today - (DAYS - 1 - index) * DAY_MS)
    return { day, rows: byDay.get(day)?.rowsLoaded ?? 0, bytes: byDay.get(day)?.bytesLoaded ?? 0 }
  })
}

export function Volume({ totals }: { totals: Answer<'tables.totals'> | undefined }) {
  const [isTable, setTable] = useState(false)
  const today = Date.now()
  const query = useLoad('billing.usage', {
    query: { from: dayText(today - (DAYS - 1) * DAY_MS), to: dayText(today), groupBy: 'day' },
  })
  return (
    <section className="card" aria-labelledby="volume">
      <header>
        <h2 id="volume">Rows loaded per day</h2>
        <span className="fine mute hide-small">last {DAYS} days, UTC</span>
        <button type="button" className="link fine push" onClick={() => setTable(!isTable)}>
          {isTable ? 'As a chart' : 'As a table'}
        </button>
      </header>
      <Loaded query={query} skeleton={<Lines />}>
        {(lines) => {
          const days = daysOf(lines, today)
          return (
            <>
              {isTable ? <DayTable days={days} /> : <Bars days={days} />}
              <Figures days={days} totals={totals} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function Bars({ days }: { days: readonly Day[] }) {
  const most = Math.max(1, ...days.map(({ rows }) => rows))
  const peak = days.slice(0, -1).reduce((a, b) => (b.rows > a.rows ? b : a))
  const today = days.at(-1)!
  return (
    <div className="inset">
      <div className="volume" role="img" aria-label={`Rows loaded per day. Today ${count(today.rows)} so far.`}>
        {days.map(({ day, rows, bytes: size }) => (
          <i
            key={day}
            className={day === peak.day && rows > 0 ? 'peak' : ''}
            style={{ height: `${(100 * rows) / most}%` }}
            title={`${nameOf(day)}: ${count(rows)} rows, ${bytes(size)}`}
          />
        ))}
      </div>
      <div className="flex-row fine mute nowrap">
        <span>{nameOf(days[0]!.day)}</span>
        {peak.rows > 0 ? (
          <span className="push clip">
            Peak {nameOf(peak.day)}, {count(peak.rows)}
          </span>
        ) : null}
        <span className="push">today</span>
      </div>
    </div>
  )
}

const DayTable = ({ days }: { days: readonly Day[] }) => (
  <Scroll label="Rows loaded per day, as a table" className="assets">
    <table className="data-table">
      <thead>
        <tr>
          <th>Day</th>
          <th className="numeric">Rows</th>
          <th className="numeric">Bytes</th>
        </tr>
      </thead>
      <tbody>
        {days.toReversed().map(({ day, rows, bytes: size }) => (
          <tr key={day}>
            <td className="tabular">{day}</td>
            <td className="numeric">{count(rows)}</td>
            <td className="numeric">{bytes(size)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
)

function Figures({ days, totals }: { days: readonly Day[]; totals: Answer<'tables.totals'> | undefined }) {
  const isAdmin = usePerson()?.account.isStackAdmin ?? false
  const today = days.at(-1)!
  const before = days.slice(0, -1).filter(({ rows }) => rows > 0)
  const usual = before.reduce((sum, { rows }) => sum + rows, 0) / Math.max(1, before.length)
  return (
    <div className="figs">
      <div className="figure">
        <span>Today so far</span>
        <b className="tabular">{count(today.rows)}</b>
        <span>{before.length === 0 ? bytes(today.bytes) : `usual per day ${count(Math.round(usual))}`}</span>
      </div>
      <div className="figure">
        <span>Tables</span>
        <b className="tabular">{bytes(totals?.bytes ?? 0)}</b>
        <span>{count(totals?.tables ?? 0)} in storage</span>
      </div>
      {isAdmin ? <StackFigures /> : null}
    </div>
  )
}

/** For stack admins: disk, backup and whatever needs attention. */
function StackFigures() {
  const { data } = useLoad('operations.status')
  if (!data) return null
  const find = (name: string) => data.checks.find(({ check }) => check === name)
  const bad = data.checks.filter(({ level }) => level !== 'ok')
  return (
    <>
      {(['disk', 'backup'] as const).map((name) => {
        const check = find(name)
        return check ? (
          <div key={name} className="figure">
            <span>{name === 'disk' ? 'Disk' : 'Backup'}</span>
            <Status status={LEVEL_STATES[check.level] ?? check.level} text={check.level === 'ok' ? 'Well' : 'Look at it'} />
            <span>{check.text}</span>
          </div>
        ) : null
      })}
      <Nodes />
      <div className="figure">
        <span>Stack</span>
        <b className="tabular">{bad.length === 0 ? 'Well' : `${bad.length} of ${data.checks.length}`}</b>
        <Link className="fine" to="/operations">
          {bad.length === 0 ? 'All checks passed' : 'checks want attention'}
        </Link>
      </div>
    </>
  )
}

/** Whether every node works, and how many of the jobs that may run at once do. */
function Nodes() {
  const { data } = useLoad('operations.nodes')
  if (!data) return null
  const idle = data.filter(({ state }) => state !== 'working')
  const sum = (of: (node: StackNode) => number) => data.reduce((total, node) => total + of(node), 0)
  const all = plural(data.length, 'node')
  const [jobs, slots] = [sum(({ load }) => load.jobs), sum(({ load }) => load.slots)]
  return (
    <div className="figure">
      <span>Nodes</span>
      <Status
        status={idle.length === 0 ? 'success' : 'error'}
        text={idle.length === 0 ? all : `${idle.length} of ${all} not working`}
      />
      <span>
        {idle.map(({ name, state }) => `${name} is ${state}. `)}
        {`${jobs} of ${plural(slots, 'job')} at once`}
      </span>
    </div>
  )
}
