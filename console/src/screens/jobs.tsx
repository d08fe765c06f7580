// Jobs, newest first, live. Failed ones say why in the list.

import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { Job } from '../../../client/src/operations.ts'
import { duration, moment, sinceSeconds } from '../format.ts'
import { Lines, Loaded, useLoad } from '../load.tsx'
import { ListTable } from '../parts/list-table.tsx'
import { Status } from '../parts/status.tsx'
import { Page } from '../shell/page.tsx'
import { useNames } from './names.ts'

const route = getRouteApi('/jobs')

const PAGE_ROWS = 50
/** A job that takes longer than usual is not over. */
const MOST_SHARE = 0.95
const STATUSES = ['processing', 'waiting', 'error', 'warning', 'success', 'terminated', 'cancelled']

export const isOver = (status: string): boolean => ['success', 'warning', 'error', 'terminated', 'cancelled'].includes(status)

export const secondsOf = ({ startTime, endTime, durationSeconds }: Job): number | undefined =>
  startTime === null ? undefined : endTime === null ? sinceSeconds(startTime) : (durationSeconds ?? 0)

export interface JobProgress {
  readonly share: number
  /** Guessed from the time that it usually takes; undefined when that is not known. */
  readonly leftSeconds: number | undefined
  readonly text: string
}

const PHASES: Readonly<Record<string, string>> = { input: 'reading tables', program: 'running', load: 'loading' }

/** How far a running job is: by its rows and what is known of the present one, else by the time that it usually takes. */
export function progressOf(job: Job): JobProgress | undefined {
  const seconds = secondsOf(job)
  if (job.status !== 'processing' || seconds === undefined) return undefined
  const usual = job.usual ? job.usual.durationMs / 1000 : undefined
  const leftSeconds = usual === undefined ? undefined : Math.max(0, usual - seconds)
  const byTime = usual === undefined ? undefined : Math.min(seconds / Math.max(usual, 1), MOST_SHARE)
  if (!job.progress) return byTime === undefined ? undefined : { share: byTime, leftSeconds, text: '' }
  const { rowsDone, rowsTotal, phase, done, total } = job.progress
  const ofRow = done !== undefined && total ? done / total : 0
  const byRows = (rowsDone + ofRow) / Math.max(1, rowsTotal)
  const text = `${rowsTotal > 1 ? `${rowsDone} of ${rowsTotal} rows, ` : ''}${PHASES[phase] ?? phase}`
  return { share: Math.max(byRows, rowsTotal > 1 ? 0 : (byTime ?? 0)), leftSeconds, text }
}

/** ", 64 %"; nothing while nothing is known. */
export function progressText(job: Job, before = ''): string {
  const progress = progressOf(job)
  return progress ? `${before}about ${Math.round(progress.share * 100)} %` : ''
}

/** The sentence a job ended with. */
export const messageOf = (job: Job): string | undefined => (job.result as { message?: string }).message // described loosely

/** Why it failed, or what it waits for. */
function reasonOf(job: Job): string | undefined {
  if (job.status === 'error' || job.status === 'warning' || job.status === 'terminated') return messageOf(job)
  return job.waitingReason ?? undefined
}

export function JobsScreen() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const page = Number(search.page ?? 1)
  const nameOf = useNames()
  const { status, component, config } = search
  const query = useLoad('queue.search', {
    query: {
      limit: PAGE_ROWS,
      offset: (page - 1) * PAGE_ROWS,
      ...(status ? { status: [status] } : {}),
      ...(component ? { componentId: component } : {}),
      ...(config ? { configId: config } : {}),
    },
  })
  const change = (next: Partial<typeof search>) =>
    void navigate({ to: '/jobs', search: { ...search, page: '1', ...next } as never })
  const jobs = query.data ?? []
  const failed = jobs.filter((job) => job.status === 'error').length
  return (
    <Page title="Jobs" crumbs={[{ name: 'Jobs' }]} say={query.data ? sentence(jobs.length, failed, page) : 'Jobs'}>
      <section className="card" aria-label="Jobs">
        <div className="toolbar">
          <label className="row">
            <span className="mute">Status</span>
            <select className="input sm" value={status ?? ''} onChange={(event) => change({ status: event.target.value })}>
              <option value="">any</option>
              {STATUSES.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </label>
          {component ? (
            <button type="button" className="chip on" onClick={() => change({ component: '', config: '' })}>
              {nameOf(component, config ?? null)} ✕
            </button>
          ) : null}
        </div>
        <Loaded query={query} skeleton={<Lines count={8} />}>
          {(data) => (data.length === 0 ? <p className="in mute">No job fits.</p> : <JobTable jobs={data} />)}
        </Loaded>
        <div className="toolbar foot">
          <button type="button" className="btn sm" disabled={page === 1} onClick={() => change({ page: String(page - 1) })}>
            Newer
          </button>
          <span className="mute tn">Page {page}</span>
          <button
            type="button"
            className="btn sm"
            disabled={jobs.length < PAGE_ROWS}
            onClick={() => change({ page: String(page + 1) })}
          >
            Older
          </button>
        </div>
      </section>
    </Page>
  )
}

function sentence(shown: number, failed: number, page: number): string {
  if (shown === 0) return 'No jobs.'
  if (shown === 1) return failed === 0 ? 'One job, and it did not fail.' : 'One job, and it failed.'
  const which = page === 1 ? `the last ${shown}` : `these ${shown}`
  return failed === 0 ? `None of ${which} jobs failed.` : `${failed} of ${which} jobs failed.`
}

export function JobTable({ jobs }: { jobs: readonly Job[] }) {
  const nameOf = useNames()
  return (
    <ListTable label="Jobs" columns={['Status', 'What', 'Started', { num: 'Took' }, 'By', 'Job']}>
      {jobs.map((job) => {
        const seconds = secondsOf(job)
        return (
          <tr key={job.id}>
            <td>
              <Status status={job.status} />
            </td>
            <td className="what">
              <Link className="med" to="/jobs/$jobId" params={{ jobId: job.id }}>
                {nameOf(job.component, job.config)}
              </Link>
              {reasonOf(job) ? <div className="xs mute clip">{reasonOf(job)}</div> : null}
            </td>
            <td className="nowrap">{moment(job.startTime ?? job.createdTime)}</td>
            <td className="num">{seconds === undefined ? <i className="null">not started</i> : duration(seconds)}</td>
            <td className="mute">{job.token.description}</td>
            <td className="id">{job.id}</td>
          </tr>
        )
      })}
    </ListTable>
  )
}
