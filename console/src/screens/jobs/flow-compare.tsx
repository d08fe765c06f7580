// A run of a flow beside an earlier one: what ended otherwise, and what took longer.

import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Job } from '../../../../client/src/operations.ts'
import { flowResultOf, type TaskResult } from '../../facts/flow-result.ts'
import { duration, moment } from '../../format.ts'
import { useLoad } from '../../load.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { Status, wordOf } from '../../parts/status.tsx'
import { useKey } from '../../use-key.ts'
import './jobs.css'
import { Key } from '../../parts/key.tsx'

/** The newest runs of the same flow, newest first. */
const useFlowRuns = (job: Job): readonly Job[] =>
  useLoad('queue.search', {
    query: { componentId: job.component, configId: job.config ?? '', branchId: job.branchId, limit: 30 },
  }).data ?? []

const useEarlierRuns = (job: Job): readonly Job[] =>
  useFlowRuns(job).filter((one) => Number(one.id) < Number(job.id) && one.isFinished)

/** The run before and the run after, by the brackets. */
export function OtherRuns({ job }: { job: Job }) {
  const navigate = useNavigate()
  const runs = useFlowRuns(job)
  const before = runs.find(({ id }) => Number(id) < Number(job.id))
  const after = runs.findLast(({ id }) => Number(id) > Number(job.id))
  const open = (run: Job | undefined) => (run ? void navigate({ to: '/jobs/$jobId', params: { jobId: run.id } }) : undefined)
  useKey('[', 'Earlier run', () => open(before))
  useKey(']', 'Later run', () => open(after))
  return (
    <span className="flex-row push fine">
      {before ? (
        <Link to="/jobs/$jobId" params={{ jobId: before.id }}>
          Earlier run <Key name="[" />
        </Link>
      ) : null}
      {after ? (
        <Link to="/jobs/$jobId" params={{ jobId: after.id }}>
          Later run <Key name="]" />
        </Link>
      ) : null}
    </span>
  )
}

export function CompareRuns({ job }: { job: Job }) {
  const earlier = useEarlierRuns(job)
  const [chosen, setChosen] = useState('')
  const good = earlier.find(({ status }) => status === 'success')
  const other = earlier.find(({ id }) => id === chosen) ?? good ?? earlier[0]
  if (!other) return null
  return (
    <section className="card" aria-labelledby="compare">
      <header>
        <h2 id="compare">Compared</h2>
        <label className="flex-row">
          <span className="fine mute">with the run</span>
          <select className="input" value={other.id} onChange={(event) => setChosen(event.target.value)}>
            {earlier.map((one) => (
              <option key={one.id} value={one.id}>
                {one.id}, {moment(one.startTime ?? one.createdTime)}, {wordOf(one.status).toLowerCase()}
              </option>
            ))}
          </select>
        </label>
        <Link className="push fine" to="/jobs/$jobId" params={{ jobId: other.id }}>
          Open run {other.id}
        </Link>
      </header>
      <Comparison job={job} other={other} />
    </section>
  )
}

function Comparison({ job, other }: { job: Job; other: Job }) {
  const now = flowResultOf(job)?.tasks ?? []
  // Lists leave out what is large; the record itself has every task.
  const then = useLoad('queue.get', { path: { id: other.id } }).data
  const before = then ? (flowResultOf(then)?.tasks ?? []) : []
  const ids = [...new Set([...now, ...before].map(({ id }) => id))]
  const version = (one: Job | undefined) =>
    one?.configVersion ?? (one?.result as { configVersion?: string } | undefined)?.configVersion
  const versions = [version(then), version(job)]
  return (
    <>
      {versions[0] && versions[1] && versions[0] !== versions[1] && job.config ? (
        <p className="inset fine soft">
          The flow has changed:{' '}
          <Link
            to="/components/$componentId/$configurationId"
            params={{ componentId: job.component, configurationId: job.config }}
            search={{ tab: 'versions', version: versions[0], to: versions[1] }}
          >
            version {versions[0]} to {versions[1]}
          </Link>
          .
        </p>
      ) : null}
      <Scroll label="Tasks of both runs">
        <table className="data-table">
          <thead>
            <tr>
              <th>Task</th>
              <th>Run {other.id}</th>
              <th>This run</th>
              <th className="numeric">Took then</th>
              <th className="numeric">Took now</th>
            </tr>
          </thead>
          <tbody>
            {ids.map((id) => (
              <ComparedTask key={id} then={before.find((one) => one.id === id)} now={now.find((one) => one.id === id)} />
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  )
}

const ComparedTask = ({ then, now }: { then: TaskResult | undefined; now: TaskResult | undefined }) => (
  <tr className={then?.status === now?.status ? undefined : 'differs'}>
    <td className="medium">{(now ?? then)?.name}</td>
    <td>{then ? <Status status={then.status} /> : <i className="null">not there</i>}</td>
    <td>{now ? <Status status={now.status} /> : <i className="null">not there</i>}</td>
    <td className="numeric">{then && then.duration > 0 ? duration(then.duration) : ''}</td>
    <td className="numeric">{now && now.duration > 0 && !now.isKept ? duration(now.duration) : now?.isKept ? 'kept' : ''}</td>
  </tr>
)
