// Home: is the data right and fresh. What failed and what is late first, then the graph, what runs, what comes, how much came.

import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Job, JudgedFreshness } from '../../../../client/src/operations.ts'
import { type FailedResult, whyOf } from '../../facts/failure.ts'
import { isOver, messageOf, progressOf, runTime, secondsOf } from '../../facts/job.ts'
import { lateBecauseOf } from '../../facts/late-tables.ts'
import { SCHEDULER, useNames } from '../../facts/names.ts'
import { LOOKED_AT, useTrouble } from '../../facts/trouble.ts'
import { count, duration, hourAndMinute, moment, plural, until, zone } from '../../format.ts'
import { useSeconds } from '../../live.ts'
import { Lines, Loaded, useFirstLoads, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ActLink } from '../../parts/act-link.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status, StatusIcon } from '../../parts/status.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { startTour } from '../../shell/tour.tsx'
import { AssetGraph } from '../../views/asset-graph.tsx'
import { Activity } from './activity.tsx'
import { NextSteps } from './next-steps.tsx'
import { Volume } from './volume.tsx'
import './home.css'

const SHOWN = 8

export function HomeScreen() {
  const jobs = useLoad('queue.search', { query: { limit: LOOKED_AT } })
  const tables = useLoad('tables.totals')
  const { failing, late } = useTrouble()
  const isEmpty = tables.data?.tables === 0 && jobs.data?.length === 0
  const isHealthy = failing.length + late.length === 0
  const explained = new Set(lateBecauseOf(new Set(failing.map(({ id }) => id)), late))
  const unexplained = late.filter((table) => !explained.has(table))
  const running = (jobs.data ?? []).filter((job) => !isOver(job.status))
  return (
    <Page
      title="Home"
      isLoading={useFirstLoads()}
      crumbs={[{ name: 'Home' }]}
      say={jobs.data && tables.data ? sentenceOf(failing, late.length, tables.data.tables) : 'Home'}
      sub={`Judged by the last run of each configuration and by how often each table is usually loaded. Times are ${zone}.`}
      actions={
        <ActLink needs="tables.createAsync" className="button primary" to="/upload">
          <Icon name="upload" />
          <span>Upload data</span>
        </ActLink>
      }
    >
      {isEmpty ? <FirstSteps /> : null}
      <div className="stack-4">
        <div className="columns">
          <div className="stack-4">
            <NeedsYou jobs={failing} late={late} />
            <Late tables={unexplained} />
            {isEmpty ? null : <NextSteps />}
            {isHealthy ? <Changed /> : null}
          </div>
          <div className="stack-4">
            <Running jobs={running} isLoaded={jobs.data !== undefined} />
            {isHealthy ? <Next /> : null}
            <Activity />
          </div>
        </div>
        <AssetGraph />
        {isHealthy ? null : (
          <div className="columns">
            <Changed />
            <Next />
          </div>
        )}
        {isEmpty ? null : <Volume totals={tables.data} />}
      </div>
    </Page>
  )
}

function sentenceOf(failing: readonly Job[], late: number, tables: number): string {
  if (failing.length + late === 0)
    return tables === 0
      ? 'An empty project, ready for its first table.'
      : `Nothing is broken. ${plural(tables, 'table')} to work with.`
  const causes = new Set(failing.map(causeOf)).size
  const failed = `${plural(failing.length, 'configuration')} failed in the last run, from ${causes === 1 ? 'one cause' : `${causes} causes`}.`
  if (late === 0) return failed
  const lateTables = `${late} of ${plural(tables, 'table')} ${late === 1 ? 'is' : 'are'} late`
  return failing.length === 0 ? `${lateTables}.` : `${lateTables}, and ${failed}`
}

/** Failures of one kind about one thing are one cause, whatever their messages. */
const causeOf = (job: Job): string => (job.cause ? `${job.cause.kind} ${job.cause.subject}` : (messageOf(job) ?? 'Unknown'))

const FirstSteps = () => (
  <section className="card" aria-label="First steps">
    <div className="empty">
      <p className="body-text soft">
        Data comes in by upload, by a component that reads an API, or by your own scripts. Every way ends in a table that you can
        look at, query and export.
      </p>
      <div className="flex-row">
        <ActLink needs="configurations.create" className="button primary" to="/try">
          Try it with the sample shop
        </ActLink>
        <ActLink needs="tables.createAsync" className="button" to="/upload">
          Upload a CSV file
        </ActLink>
        <Link className="button" to="/components">
          Set up a component
        </Link>
        <button type="button" className="button" onClick={startTour}>
          Start the tour
        </button>
        <Link className="button ghost" to="/help">
          Read the guides
        </Link>
      </div>
    </div>
  </section>
)

function NeedsYou({ jobs, late }: { jobs: readonly Job[]; late: readonly JudgedFreshness[] }) {
  if (jobs.length === 0) return null
  const byCause = [...Map.groupBy(jobs, causeOf)]
  return (
    <section className="card" aria-labelledby="needs">
      <header>
        <h2 id="needs">Needs you</h2>
        <span className="count failed">{jobs.length}</span>
        <Link className="fine push" to="/jobs" search={{ status: 'error' }}>
          All failed jobs
        </Link>
      </header>
      <ul className="list trouble">
        {byCause.map(([cause, list]) => (
          <Cause key={cause} jobs={list} late={lateBecauseOf(new Set(list.map(({ id }) => id)), late)} />
        ))}
      </ul>
    </section>
  )
}

/** What failed for one reason, with the tables that are late because of it. */
function Cause({ jobs, late }: { jobs: readonly Job[]; late: readonly JudgedFreshness[] }) {
  const nameOf = useNames()
  const newest = jobs[0]!
  const rerun = useMutation({
    mutationFn: async () => {
      for (const { id } of jobs) await api.call('queue.rerun', { path: { id } })
    },
    onSuccess: () => toast(`${plural(jobs.length, 'job')} started again.`),
  })
  return (
    <li>
      <StatusIcon status="error" />
      <div className="grow stack-2">
        <div>
          <p className="body-text">
            <b className="strong">{jobs.map((job) => nameOf(job.component, job.config)).join(', ')}</b>:{' '}
            <span className="soft">{whyOf(newest.result as FailedResult)}</span>
          </p>
          <p className="fine mute">Failed {moment(newest.endTime ?? newest.createdTime)}.</p>
        </div>
        {late.length > 0 ? (
          <div className="flex-row wrap">
            {late.slice(0, SHOWN).map(({ tableId, lateByMs }) => (
              <Link key={tableId} className="chip" to="/storage/$tableId" params={{ tableId }} search={{ tab: 'lineage' }}>
                <StatusIcon status="late" />
                {tableId}, {duration(lateByMs / 1000)}
              </Link>
            ))}
            {late.length > SHOWN ? <span className="fine mute">and {count(late.length - SHOWN)} more</span> : null}
          </div>
        ) : null}
        {rerun.error ? <Problem error={rerun.error} /> : null}
      </div>
      <div className="flex-row wrap">
        <Link className="button primary" to="/jobs/$jobId" params={{ jobId: newest.id }}>
          See cause
        </Link>
        <ActButton needs="queue.create" className="button" disabled={rerun.isPending} onClick={() => rerun.mutate()}>
          <Icon name="rerun" />
          <span>Run again</span>
        </ActButton>
      </div>
    </li>
  )
}

function Late({ tables: late }: { tables: readonly JudgedFreshness[] }) {
  const nameOf = useNames()
  if (late.length === 0) return null
  return (
    <section className="card" aria-labelledby="late">
      <header>
        <h2 id="late">Late tables</h2>
        <span className="count warn">{late.length}</span>
      </header>
      <ul className="list trouble">
        {late.slice(0, SHOWN).map((table) => (
          <li key={table.tableId}>
            <StatusIcon status="late" />
            <div className="grow">
              <p className="body-text">
                <Link className="medium" to="/storage/$tableId" params={{ tableId: table.tableId }} search={{ tab: 'lineage' }}>
                  {table.tableId}
                </Link>{' '}
                <span className="soft">
                  is {duration(table.lateByMs / 1000)} late
                  {table.usualIntervalMs === null ? '' : `; it is usually loaded every ${duration(table.usualIntervalMs / 1000)}`}
                  .
                </span>
              </p>
              <p className="fine mute">
                {table.failure
                  ? `The last run of ${table.writer ? nameOf(table.writer.componentId, table.writer.configurationId) : 'its writer'} failed.`
                  : table.lateInputs.length > 0
                    ? `It waits for ${table.lateInputs.join(', ')}.`
                    : table.lastLoadTime
                      ? `Last loaded ${moment(table.lastLoadTime)}.`
                      : ''}
              </p>
            </div>
            {table.failure ? (
              <Link className="button" to="/jobs/$jobId" params={{ jobId: table.failure.jobId }}>
                See cause
              </Link>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Running({ jobs, isLoaded }: { jobs: readonly Job[]; isLoaded: boolean }) {
  useSeconds(jobs.length > 0)
  const nameOf = useNames()
  return (
    <section className="card" aria-labelledby="running">
      <header>
        <h2 id="running">Running now</h2>
        {jobs.length > 0 ? <span className="count running">{jobs.length}</span> : null}
      </header>
      {isLoaded && jobs.length === 0 ? <p className="inset mute">Nothing is running.</p> : null}
      <ul className="list">
        {jobs.slice(0, SHOWN).map((job) => (
          <li key={job.id}>
            <StatusIcon status={job.status} />
            <RunningJob job={job} name={nameOf(job.component, job.config)} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function RunningJob({ job, name }: { job: Job; name: string }) {
  const progress = progressOf(job)
  return (
    <div className="grow running-job">
      <Link className="medium clip" to="/jobs/$jobId" params={{ jobId: job.id }}>
        {name}
      </Link>
      <span className="fine mute tabular nowrap">
        {progress?.leftSeconds ? `about ${duration(progress.leftSeconds)} left` : ''}
      </span>
      {progress ? (
        <div
          className="meter"
          role="progressbar"
          aria-label={`Progress of ${name}`}
          aria-valuenow={Math.round(progress.share * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
        >
          <i style={{ width: `${progress.share * 100}%` }} />
        </div>
      ) : null}
      <span className="fine mute tabular whole">
        {job.startTime ? runTime(secondsOf(job) ?? 0) : (job.waitingReason ?? 'Waits for a free place')}
        {job.startTime && job.usual ? `, usual ${duration(job.usual.durationMs / 1000)}` : ''}
        {progress?.text ? `, ${progress.text}` : ''}
      </span>
    </div>
  )
}

function Next() {
  const schedules = useLoad('scheduler.list', { query: { sort: 'next', limit: SHOWN } })
  const nameOf = useNames()
  return (
    <section className="card" aria-labelledby="next">
      <header>
        <h2 id="next">Next runs</h2>
        <Link className="fine push" to="/schedules">
          All schedules
        </Link>
      </header>
      <Loaded query={schedules}>
        {(all) => {
          const coming = all.filter((one) => one.nextExecutionTime !== null) // one may have stopped with its configuration
          if (coming.length === 0) return <p className="inset mute">No schedule is set to run.</p>
          return (
            <ul className="list">
              {coming.map((one) => (
                <li key={one.id}>
                  <span className="tabular">{hourAndMinute(one.nextExecutionTime!)}</span>
                  <span className="clip">{nameOf(one.target.componentId, one.target.configurationId)}</span>
                  <span className="push fine mute nowrap">{until(one.nextExecutionTime!)}</span>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </section>
  )
}

function Changed() {
  const tables = useLoad('tables.browse', { query: { sort: 'changed', limit: SHOWN } })
  const counted = useLoad('configurations.totals').data ?? []
  const configured = counted.reduce((sum, one) => sum + (one.componentId === SCHEDULER ? 0 : one.configurations), 0)
  return (
    <section className="card" aria-labelledby="changed">
      <header>
        <h2 id="changed">Changed last</h2>
        <span className="mute fine push">{plural(configured, 'configuration')} in the project</span>
      </header>
      <Loaded query={tables} skeleton={<Lines count={6} />}>
        {(all) => (
          <ListTable label="Tables that changed last" columns={['Table', { num: 'Rows' }, 'Last change']}>
            {all
              .flatMap(({ table }) => table ?? [])
              .map((table) => (
                <tr key={table.id}>
                  <td>
                    <Link className="medium" to="/storage/$tableId" params={{ tableId: table.id }}>
                      {table.id}
                    </Link>
                  </td>
                  <td className="numeric">{count(table.rowsCount ?? 0)}</td>
                  <td>{table.lastChangeDate ? moment(table.lastChangeDate) : <Status status="never" />}</td>
                </tr>
              ))}
          </ListTable>
        )}
      </Loaded>
    </section>
  )
}
