// A list of jobs, as several screens show it.

import { Link } from '@tanstack/react-router'
import type { Job } from '../../../client/src/operations.ts'
import { messageOf, runTime, secondsOf } from '../facts/job.ts'
import { useNames } from '../facts/names.ts'
import { moment } from '../format.ts'
import { ListTable } from '../parts/list-table.tsx'
import type { Selection } from '../parts/selection.ts'
import { Status } from '../parts/status.tsx'

/** Why it failed, or what it waits for. */
function reasonOf(job: Job): string | undefined {
  if (job.status === 'error' || job.status === 'warning' || job.status === 'terminated') return messageOf(job)
  return job.waitingReason ?? undefined
}

export function JobTable({ jobs, selection }: { jobs: readonly Job[]; selection?: Selection }) {
  const nameOf = useNames()
  return (
    <ListTable
      label="Jobs"
      columns={[...(selection ? [{ hidden: 'Select' }] : []), 'Status', 'What', 'Started', { num: 'Took' }, 'By', 'Job']}
    >
      {jobs.map((job) => {
        const seconds = secondsOf(job)
        return (
          <tr key={job.id}>
            {selection ? (
              <td>
                <input
                  type="checkbox"
                  aria-label={`Select job ${job.id}`}
                  checked={selection.has(job.id)}
                  onChange={() => selection.toggle(job.id)}
                />
              </td>
            ) : null}
            <td>
              <Status status={job.status} />
            </td>
            <td className="what">
              <Link className="medium" to="/jobs/$jobId" params={{ jobId: job.id }}>
                {nameOf(job.component, job.config)}
              </Link>
              {reasonOf(job) ? <div className="fine mute clip">{reasonOf(job)}</div> : null}
            </td>
            <td className="nowrap">{moment(job.startTime ?? job.createdTime)}</td>
            <td className="numeric">{seconds === undefined ? <i className="null">not started</i> : runTime(seconds)}</td>
            <td className="mute nowrap">{job.token.description}</td>
            <td className="identifier">{job.id}</td>
          </tr>
        )
      })}
    </ListTable>
  )
}
