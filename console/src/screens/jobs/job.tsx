// A job: why it failed first, then its results, its log as it grows, and what to do next.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Branch, Job } from '../../../../client/src/operations.ts'
import { COLUMN_CHANGES_QUERY, changesOfEvents, DATABASE_EXTRACTOR } from '../../facts/column-changes.ts'
import { type FailedResult, insideSentence, whyOf } from '../../facts/failure.ts'
import { flowResultOf, flowSentence } from '../../facts/flow-result.ts'
import { isOver, progressOf, secondsOf } from '../../facts/job.ts'
import { rowsOf } from '../../facts/job-rows.ts'
import { useNames } from '../../facts/names.ts'
import { bytes, count, duration, moment, plural, timeOfDay, took } from '../../format.ts'
import { useSeconds } from '../../live.ts'
import { Loaded, useFirstLoads, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Key } from '../../parts/key.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status, wordOf } from '../../parts/status.tsx'
import { useRefusal } from '../../rights.ts'
import { api } from '../../session.ts'
import { type Crumb, Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { useKey } from '../../use-key.ts'
import { ColumnChangesCard } from '../../views/column-changes.tsx'
import { CauseCard, usualText } from '../../views/job-cause.tsx'
import { FlowRun } from './flow-run.tsx'
import { AgainstLastGood, useLastGood } from './job-compare.tsx'
import { dbtNodesOf, JobDbt } from './job-dbt.tsx'
import { JobLog } from './job-log.tsx'
import { JobRecording } from './job-recording.tsx'
import { RowTimeline } from './row-timeline.tsx'
import './jobs.css'

const route = getRouteApi('/jobs/$jobId')

interface Result extends FailedResult {
  readonly configVersion?: string
  readonly output?: { readonly tables?: readonly { readonly id: string; readonly importedRowsCount?: number }[] }
  readonly input?: { readonly tables?: readonly { readonly id: string }[] }
}

export function JobScreen() {
  const { jobId } = route.useParams()
  const job = useLoad('queue.get', { path: { id: jobId } })
  const isFirst = useFirstLoads()
  const nameOf = useNames()
  const data = job.data
  const nameOfRow = useRowNames(data)
  const branch = useBranchOf(data)
  useSeconds(data !== undefined && !isOver(data.status))
  const name = data ? nameOf(data.component, data.config) : `Job ${jobId}`
  return (
    <Page
      title={`${name}, job ${jobId}`}
      isLoading={job.isPending || isFirst}
      about={data ? { componentId: data.component } : {}}
      crumbs={
        data && flowResultOf(data)
          ? flowCrumbs(data, name)
          : [{ name: 'Jobs', to: '/jobs' }, ...configurationCrumb(data, name), { name: `Job ${jobId}` }]
      }
      above={
        <>
          {data ? <Status status={data.status} badge /> : null}
          <span className="mute">
            Job <span className="identifier">{jobId}</span>
          </span>
        </>
      }
      say={data ? sentenceOf(data, name, nameOfRow) : name}
      sub={data ? <Facts job={data} name={name} branch={branch} /> : undefined}
      actions={data ? <Actions job={data} /> : undefined}
    >
      <Loaded query={job}>{(loaded) => <Body job={loaded} nameOfRow={nameOfRow} />}</Loaded>
    </Page>
  )
}

const configurationCrumb = (job: Job | undefined, name: string): readonly Crumb[] =>
  job?.config ? [{ name, to: `/components/${encodeURIComponent(job.component)}/${encodeURIComponent(job.config)}` }] : []

const flowCrumbs = (job: Job, name: string): readonly Crumb[] => [
  { name: 'Flows', to: '/flows' },
  { name, ...(job.config ? { to: `/flows/${encodeURIComponent(job.component)}/${encodeURIComponent(job.config)}` } : {}) },
  { name: `Run ${job.id}` },
]

type NameOfRow = (rowId: string) => string

function sentenceOf(job: Job, name: string, nameOfRow: NameOfRow): string {
  const seconds = secondsOf(job)
  const flow = flowResultOf(job)
  if (flow) return flowSentence(name, flow)
  const result = job.result as Result // described loosely
  const cause = result.error?.cause
  if (job.status === 'error' && cause) {
    const rowId = cause.where?.rowId ?? failedRowOf(job)
    return `${name} failed${rowId ? ` on row ${nameOfRow(rowId)}` : ''}: ${insideSentence(whyOf(result))}`
  }
  const isShort = (seconds ?? 0) < 1
  if (job.status === 'success') return `${name} succeeded ${isShort ? 'within a second' : `in ${duration(seconds ?? 0)}`}.`
  if (job.status === 'error') return `${name} failed ${isShort ? 'within a second' : `after ${duration(seconds ?? 0)}`}.`
  if (job.status === 'processing')
    return isShort ? `${name} has just started.` : `${name} has been running for ${duration(seconds ?? 0)}.`
  return `${name}: ${wordOf(job.status).toLowerCase()}.`
}

/** The one row that failed, when only one did. */
function failedRowOf(job: Job): string | undefined {
  const failed = rowsOf(job).filter(({ status }) => status === 'error')
  return failed.length === 1 ? failed[0]!.rowId : undefined
}

/** What can be done about a job is done in its branch, so its screen is in that branch. */
function useBranchOf(job: Job | undefined): Branch | undefined {
  const navigate = useNavigate()
  const { branch: current } = useSearch({ strict: false })
  const branch = useLoad('branches.list').data?.find(({ id }) => String(id) === job?.branchId)
  const own = branch?.isDefault ? undefined : branch?.id
  useEffect(() => {
    if (branch && own !== current) void navigate({ to: '.', search: (before) => ({ ...before, branch: own }), replace: true })
  }, [branch, own, current, navigate])
  return branch
}

const Facts = ({ job, name, branch }: { job: Job; name: string; branch: Branch | undefined }) => (
  <>
    {branch && !branch.isDefault ? `In branch ${branch.name}. ` : ''}
    {job.startTime
      ? `Ran from ${moment(job.startTime)}${job.endTime ? ` to ${timeOfDay(job.endTime)}, ${took(secondsOf(job) ?? 0)}` : ''}.${usualText(job)} `
      : ''}
    Started by {job.token.description}.{job.endedBy === null ? '' : ` ${wordOf(job.status)} by ${job.endedBy}.`}{' '}
    {job.config ? (
      <>
        Configuration{' '}
        <Link to="/components/$componentId/$configurationId" params={{ componentId: job.component, configurationId: job.config }}>
          {name}
          {(job.result as Result).configVersion ? `, version ${(job.result as Result).configVersion}` : ''}
        </Link>
        .
      </>
    ) : null}
  </>
)

function Actions({ job }: { job: Job }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const started = (next: { readonly id: string }) => {
    toast(`Job ${next.id} started.`)
    void navigate({ to: '/jobs/$jobId', params: { jobId: next.id } })
  }
  const isFlow = flowResultOf(job) !== undefined
  const failedRows = isFlow ? [] : rowsOf(job).filter(({ status }) => status === 'error' || status === 'skipped')
  const again = useMutation({
    mutationFn: (rowIds: readonly string[]) =>
      api.call('queue.create', {
        body: {
          component: job.component,
          branchId: job.branchId,
          mode: 'run',
          ...(job.config ? { config: job.config } : {}),
          ...(rowIds.length > 0 ? { configRowIds: rowIds } : {}),
        },
      }),
    onSuccess: started,
  })
  const fromFailure = useMutation({ mutationFn: () => api.call('queue.rerun', { path: { id: job.id } }), onSuccess: started })
  const canResume = isFlow && job.status === 'error'
  const canRepeatRows = job.status === 'error' && failedRows.length > 0 && failedRows.length < rowsOf(job).length
  const whole = () => again.mutate(job.configRowIds ?? [])
  const best = canResume
    ? () => fromFailure.mutate()
    : canRepeatRows
      ? () => again.mutate(failedRows.map(({ rowId }) => rowId))
      : whole
  const kill = useMutation({
    mutationFn: () => api.call('queue.kill', { path: { id: job.id } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['queue.get'] }),
  })
  const isRefused = useRefusal('queue.create') !== undefined
  useKey('r', 'Run again', () => (isRefused ? undefined : best()))
  const error = again.error ?? fromFailure.error ?? kill.error
  return (
    <>
      {isOver(job.status) ? (
        <>
          {canResume || canRepeatRows ? (
            <ActButton needs="queue.create" className="button" disabled={again.isPending} onClick={whole}>
              Run all again
            </ActButton>
          ) : null}
          <ActButton
            needs="queue.create"
            className="button primary"
            disabled={again.isPending || fromFailure.isPending}
            onClick={best}
          >
            <Icon name="rerun" />
            <span>
              {canResume
                ? 'Rerun from failure'
                : canRepeatRows
                  ? `Rerun ${plural(failedRows.length, 'failed row')}`
                  : 'Run again'}
            </span>
            <Key name="r" />
          </ActButton>
        </>
      ) : (
        <ActButton needs="queue.kill" className="button danger" disabled={kill.isPending} onClick={() => kill.mutate()}>
          <Icon name="stop" />
          <span>Terminate this job</span>
        </ActButton>
      )}
      {error ? <Problem error={error} /> : null}
    </>
  )
}

function Body({ job, nameOfRow }: { job: Job; nameOfRow: NameOfRow }) {
  const result = job.result as Result // described loosely
  const isFlow = flowResultOf(job) !== undefined
  const dbtNodes = dbtNodesOf(job)
  const good = useLastGood(job)
  const against = good ? <AgainstLastGood job={job} good={good} /> : null
  const facts = (
    <>
      <Measures job={job} />
      <JobRecording job={job} isOver={isOver(job.status)} />
    </>
  )
  if (isFlow)
    return (
      <FlowRun
        key={job.id}
        job={job}
        below={<JobLog jobId={job.id} isGoing={!isOver(job.status)} />}
        beside={
          <>
            {against}
            {facts}
          </>
        }
      />
    )
  return (
    <div className="columns">
      <div className="stack-4">
        {job.status === 'error' ? <CauseCard job={job} result={result} /> : null}
        <RunProgress job={job} />
        {job.component === DATABASE_EXTRACTOR ? <ChangedColumns job={job} /> : null}
        {dbtNodes ? <JobDbt job={job} nodes={dbtNodes} /> : null}
        <RowTimeline job={job} nameOfRow={nameOfRow} />
        <JobLog jobId={job.id} isGoing={!isOver(job.status)} />
      </div>
      <div className="stack-4">
        {against}
        <Results result={result} isOver={isOver(job.status)} />
        {facts}
      </div>
    </div>
  )
}

function ChangedColumns({ job }: { job: Job }) {
  const { data = [] } = useLoad(
    'events.list',
    isOver(job.status) ? { query: { runId: job.runId, q: COLUMN_CHANGES_QUERY, limit: 100 } } : undefined,
  )
  return <ColumnChangesCard list={changesOfEvents(data)} />
}

/** How far it is, and about how long it still takes. */
function RunProgress({ job }: { job: Job }) {
  const progress = progressOf(job)
  if (!progress) return null
  const percent = Math.round(progress.share * 100)
  return (
    <section className="card inset stack-2" aria-label="Progress">
      <div
        className="meter"
        role="progressbar"
        aria-label="Progress of the job"
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${percent}%` }} />
      </div>
      <p className="fine mute tabular">
        {[
          `About ${percent} %`,
          progress.text,
          progress.leftSeconds ? `about ${duration(progress.leftSeconds)} left of the usual time` : '',
        ]
          .filter((part) => part !== '')
          .join(', ')}
      </p>
    </section>
  )
}

/** Rows by their names, as the configuration calls them now. */
function useRowNames(job: Job | undefined): NameOfRow {
  const path = job?.config ? { componentId: job.component, configurationId: job.config } : undefined
  const { data } = useLoad('configurations.get', path && { path })
  return (rowId) => data?.rows.find(({ id }) => id === rowId)?.name || rowId
}

function Results({ result, isOver: ended }: { result: Result; isOver: boolean }) {
  const written = result.output?.tables ?? []
  const read = result.input?.tables ?? []
  return (
    <section className="card" aria-labelledby="results">
      <header>
        <h2 id="results">Tables</h2>
        <span className="mute fine push">{plural(written.length, 'table')} written</span>
      </header>
      {written.length + read.length === 0 ? (
        <p className="inset mute">{ended ? 'It read and wrote no tables.' : 'Nothing yet: tables appear when the run ends.'}</p>
      ) : null}
      <ul className="list">
        {written.map(({ id, importedRowsCount }) => (
          <li key={`out ${id}`}>
            <Icon name="download" />
            <Link className="wrap" to="/storage/$tableId" params={{ tableId: id }}>
              {id}
            </Link>
            <span className="push mute fine nowrap">
              {importedRowsCount === undefined ? 'written' : `${plural(importedRowsCount, 'row')} written`}
            </span>
          </li>
        ))}
        {read.map(({ id }) => (
          <li key={`in ${id}`}>
            <Icon name="upload" />
            <Link className="wrap" to="/storage/$tableId" params={{ tableId: id }}>
              {id}
            </Link>
            <span className="push mute fine">read</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Measures({ job }: { job: Job }) {
  const { storage } = (job as { metrics?: unknown }).metrics as {
    storage?: { inputTablesBytesSum?: number; outputTablesBytesSum?: number }
  } // described loosely
  const rows: readonly (readonly [string, string])[] = [
    ['Created', moment(job.createdTime)],
    ['Started', job.startTime ? moment(job.startTime) : 'not yet'],
    ['Ended', job.endTime ? moment(job.endTime) : 'not yet'],
    ['Read', bytes(storage?.inputTablesBytesSum ?? 0)],
    ['Written', bytes(storage?.outputTablesBytesSum ?? 0)],
    ['Run', job.runId],
    ...(job.configRowIds?.length ? ([['Rows', count(job.configRowIds.length)]] as const) : []),
  ]
  return (
    <section className="card" aria-labelledby="facts">
      <header>
        <h2 id="facts">Facts</h2>
      </header>
      <dl className="pairs inset">
        {rows.map(([name, value]) => (
          <div key={name} className="contents">
            <dt>{name}</dt>
            <dd className="tabular">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
