// This run beside the last good one: what it measured, and what was changed in the configuration between them.

import { Link } from '@tanstack/react-router'
import type { Job } from '../../../../client/src/operations.ts'
import { isOver, runTime, secondsOf } from '../../facts/job.ts'
import { shown, useVersionChanges } from '../../facts/version-changes.ts'
import { bytes, count, hourAndMinute } from '../../format.ts'
import { Lines, useLoad } from '../../load.tsx'
import './jobs.css'

interface Phase {
  readonly name: string
  readonly rows?: number
  readonly bytes?: number
  readonly peakMemoryBytes?: number
  readonly cpuSeconds?: number
}

interface Measured {
  readonly rows: number
  readonly bytes: number
  readonly peakMemoryBytes: number
  readonly cpuSeconds: number
}

export function measuredOf(job: Job): Measured {
  const runs = (job.result as { readonly rows?: readonly { readonly phases?: readonly Phase[] }[] }).rows ?? [] // described loosely
  const phases = runs.flatMap((run) => run.phases ?? [])
  const loads = phases.filter(({ name }) => name === 'load')
  const sum = (of: readonly Phase[], pick: (phase: Phase) => number | undefined) =>
    of.reduce((all, phase) => all + (pick(phase) ?? 0), 0)
  return {
    rows: sum(loads, (phase) => phase.rows),
    bytes: sum(loads, (phase) => phase.bytes),
    peakMemoryBytes: Math.max(0, ...phases.map((phase) => phase.peakMemoryBytes ?? 0)),
    cpuSeconds: sum(phases, (phase) => phase.cpuSeconds),
  }
}

/** The newest run before this one that went well, of the same configuration. */
export function useLastGood(job: Job): Job | undefined {
  const { data } = useLoad(
    'queue.search',
    job.config !== null && isOver(job.status)
      ? { query: { componentId: job.component, configId: job.config, branchId: job.branchId, status: ['success'], limit: 20 } }
      : undefined,
  )
  return data?.find((one) => Number(one.id) < Number(job.id))
}

/** Further from the last good run than this is marked. */
const FAR = 1.5

const isMore = (now: number, then: number): boolean => then > 0 && now > then * FAR

/** Less work than usual is worth a look, less time or memory is not. */
const isFar = (now: number, then: number): boolean => isMore(now, then) || (then > 0 && now < then / FAR)

type Compared = readonly [what: string, then: string, now: string, isMarked: boolean]

export function AgainstLastGood({ job, good }: { job: Job; good: Job }) {
  const [now, then] = [measuredOf(job), measuredOf(good)]
  const seconds = (one: Job) => secondsOf(one) ?? 0
  const memory: Compared = [
    'Peak memory',
    bytes(then.peakMemoryBytes),
    bytes(now.peakMemoryBytes),
    isMore(now.peakMemoryBytes, then.peakMemoryBytes),
  ]
  const processor: Compared = [
    'Processor',
    `${then.cpuSeconds.toFixed(1)} s`,
    `${now.cpuSeconds.toFixed(1)} s`,
    isMore(now.cpuSeconds, then.cpuSeconds),
  ]
  const isMeasured = now.peakMemoryBytes + then.peakMemoryBytes > 0 // of programs; SQL has no process of its own
  const rows: readonly Compared[] = [
    ['Configuration', good.configVersion ?? '', job.configVersion ?? '', good.configVersion !== job.configVersion],
    ['Duration', runTime(seconds(good)), runTime(seconds(job)), isMore(seconds(job), seconds(good))],
    ['Rows written', count(then.rows), count(now.rows), isFar(now.rows, then.rows)],
    ['Bytes written', bytes(then.bytes), bytes(now.bytes), isFar(now.bytes, then.bytes)],
    ...(isMeasured ? [memory, processor] : []),
  ]
  return (
    <section className="card" aria-labelledby="against">
      <header>
        <h2 id="against">Against the last good run</h2>
      </header>
      <table className="data-table compare">
        <thead>
          <tr>
            <th>
              <span className="visually-hidden">What</span>
            </th>
            <th className="numeric">
              <Link to="/jobs/$jobId" params={{ jobId: good.id }} title={`Job ${good.id}`}>
                {hourAndMinute(good.endTime ?? good.createdTime)}
              </Link>
            </th>
            <th className="numeric">this run</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, before, after, isMarked]) => (
            <tr key={name}>
              <td>{name}</td>
              <td className="numeric">{before}</td>
              <td className={`numeric ${isMarked ? 'warn strong' : ''}`}>{after}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <ConfigurationDifference job={job} good={good} />
    </section>
  )
}

function ConfigurationDifference({ job, good }: { job: Job; good: Job }) {
  const place = { componentId: job.component, configurationId: job.config ?? '' }
  const [from, to] = [good.configVersion ?? undefined, job.configVersion ?? undefined]
  const changes = useVersionChanges(place, from, to)
  if (changes === undefined) return <Lines count={2} />
  if (changes.length === 0) return <p className="inset mute fine">The configuration is the same in both.</p>
  return (
    <div className="inset stack-2 changed-since">
      <h3 className="label">Changed in the configuration</h3>
      <ul className="stack-2" aria-label="Changed values">
        {changes.map(({ path, before: was, after: is }) => (
          <li key={path.join('.')}>
            <span className="identifier">{path.join('.')}</span>
            <pre className="code sunken wrap">
              {was === undefined ? null : <span className="line-removed diff-line">− {shown(path, was)}</span>}
              {is === undefined ? null : <span className="line-added diff-line">+ {shown(path, is)}</span>}
            </pre>
          </li>
        ))}
      </ul>
      <Link
        className="fine"
        to="/components/$componentId/$configurationId"
        params={place}
        search={{ tab: 'versions', version: from ?? '', to: to ?? '' }}
      >
        Compare the versions
      </Link>
    </div>
  )
}
