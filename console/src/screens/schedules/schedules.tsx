// Schedules: what runs by itself, when next, and how the last runs went.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schedule } from '../../../../client/src/operations.ts'
import { SCHEDULER, useNames } from '../../facts/names.ts'
import { setScheduleState } from '../../facts/schedule-state.ts'
import { moment, plural, until, zone } from '../../format.ts'
import { Listing } from '../../listing.tsx'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status, StatusIcon } from '../../parts/status.tsx'
import { cronWords } from '../../schedule/cron-words.ts'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { EditSchedule, NewSchedule, NextRuns } from './new-schedule.tsx'
import { Week } from './schedule-week.tsx'
import './schedules.css'

const route = getRouteApi('/schedules')

const stateOf = ({ stoppedReason, schedule }: Schedule): string =>
  stoppedReason ? 'stopped' : schedule.state === 'disabled' ? 'paused' : 'enabled'

export function SchedulesScreen() {
  const query = useLoad('scheduler.list', { query: {} })
  const nameOf = useNames()
  const [open, setOpen] = useState<Schedule>()
  const all = query.data ?? []
  const { view } = route.useSearch()
  const isWeek = view === 'week' && all.length > 0
  const stopped = all.filter((one) => one.stoppedReason).length
  return (
    <Page
      title="Schedules"
      crumbs={[{ name: 'Schedules' }]}
      say={query.data ? sentence(all.length, stopped) : 'Schedules'}
      sub={`Times are ${zone}.`}
      actions={
        <>
          {all.length === 0 ? null : (
            <Link className="button" to="/schedules" search={isWeek ? {} : { view: 'week' }}>
              {isWeek ? 'As a list' : 'As a week'}
            </Link>
          )}
          <NewSchedule />
        </>
      }
    >
      {isWeek ? <Week schedules={all} nameOf={nameOf} /> : null}
      {isWeek ? null : (
        <Listing
          label="Schedules"
          query={query}
          count={all.length}
          teach="A schedule runs a configuration by the clock, in a time zone of its own, and shows its next runs before it is created."
        >
          <ListTable label="Schedules" columns={['State', 'Runs', 'When', 'Next', 'Last ten', { hidden: 'Actions' }]}>
            {all.map((one) => (
              <tr key={one.id}>
                <td>
                  <Status status={stateOf(one)} />
                  {one.stoppedReason ? <div className="fine mute">{one.stoppedReason}</div> : null}
                </td>
                <td className="nowrap">
                  <Link
                    to="/components/$componentId/$configurationId"
                    params={{ componentId: one.target.componentId, configurationId: one.target.configurationId }}
                  >
                    {nameOf(one.target.componentId, one.target.configurationId)}
                  </Link>
                </td>
                <td className="nowrap">
                  <button type="button" className="link" onClick={() => setOpen(one)}>
                    {cronWords(one.schedule.cronTab) ?? one.schedule.cronTab}
                    <span className="fine mute block">
                      <span className="identifier">{one.schedule.cronTab}</span> {one.schedule.timezone}
                    </span>
                  </button>
                </td>
                <td className="nowrap">
                  {one.nextExecutionTime ? (
                    `${moment(one.nextExecutionTime)}, ${until(one.nextExecutionTime)}`
                  ) : (
                    <i className="null">never</i>
                  )}
                </td>
                <td>
                  <LastRuns executions={one.executions} />
                </td>
                <td>
                  <ScheduleActions schedule={one} />
                </td>
              </tr>
            ))}
          </ListTable>
        </Listing>
      )}
      {open ? <ScheduleDrawer schedule={open} onClose={() => setOpen(undefined)} /> : null}
    </Page>
  )
}

function ScheduleActions({ schedule }: { schedule: Schedule }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isPaused = schedule.schedule.state === 'disabled'
  const [isOpen, setOpen] = useState(false)
  const path = { componentId: SCHEDULER, configurationId: schedule.configurationId }
  const activation = { body: { configurationId: schedule.configurationId } }
  const refresh = () => queries.invalidateQueries({ queryKey: ['scheduler.list'] })
  const remove = useMutation({
    mutationFn: async () => {
      await api.call('scheduler.delete', { path: { id: schedule.id } })
      await api.call('configurations.delete', { path })
    },
    onSuccess: async () => {
      await refresh()
      toast('The schedule is deleted.', async () => {
        await api.call('configurations.restore', { path })
        await api.call('scheduler.activate', activation)
        await refresh()
      })
    },
  })
  const change = useMutation({
    mutationFn: (state: 'enabled' | 'disabled') => setScheduleState(schedule.configurationId, state),
    onSuccess: async (_, state) => {
      await refresh()
      toast(state === 'disabled' ? 'Paused.' : 'Resumed.')
    },
  })
  const run = useMutation({
    mutationFn: () =>
      api.call('queue.create', {
        body: { component: schedule.target.componentId, config: schedule.target.configurationId, mode: 'run' },
      }),
    onSuccess: (job) => void navigate({ to: '/jobs/$jobId', params: { jobId: job.id } }),
  })
  const error = change.error ?? run.error ?? remove.error
  const name = useNames()(schedule.target.componentId, schedule.target.configurationId)
  return (
    <>
      <span className="flex-row">
        <ActButton
          needs="scheduler.activate"
          className="button small"
          disabled={change.isPending}
          onClick={() => change.mutate(isPaused ? 'enabled' : 'disabled')}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </ActButton>
        <ActButton needs="queue.create" className="button small ghost" disabled={run.isPending} onClick={() => run.mutate()}>
          Run now
        </ActButton>
        <ActButton
          needs="scheduler.activate"
          className="button small ghost"
          aria-label={`Change the schedule of ${name}`}
          onClick={() => setOpen(true)}
        >
          Change
        </ActButton>
        <ActButton
          needs="scheduler.delete"
          className="button small ghost"
          aria-label={`Delete the schedule of ${name}`}
          disabled={remove.isPending}
          onClick={() => remove.mutate()}
        >
          Delete
        </ActButton>
      </span>
      {isOpen ? <EditSchedule schedule={schedule} onClose={() => setOpen(false)} /> : null}
      {error ? <Problem error={error} /> : null}
    </>
  )
}

function sentence(all: number, stopped: number): string {
  if (all === 0) return 'Nothing runs by itself.'
  return stopped === 0 ? `${plural(all, 'schedule')}, none stopped.` : `${stopped} of ${plural(all, 'schedule')} stopped.`
}

type Execution = Schedule['executions'][number]

/** How a run of a schedule went: that of its job, or why there was none. */
function useOutcomes(executions: readonly Execution[]): (execution: Execution) => string {
  const ids = executions.flatMap(({ jobId }) => (jobId === null ? [] : [jobId]))
  const { data } = useLoad('queue.search', { query: { id: ids, limit: 100 } }, { enabled: ids.length > 0 })
  const byId = new Map(data?.map(({ id, status }) => [id, status]))
  return ({ jobId, status }) => (jobId === null ? status : (byId.get(jobId) ?? 'created'))
}

const SHOWN_RUNS = 10

function LastRuns({ executions }: { executions: readonly Execution[] }) {
  const shown = executions.slice(0, SHOWN_RUNS)
  const outcomeOf = useOutcomes(shown)
  if (shown.length === 0) return <i className="null">not yet</i>
  return (
    <span className="flex-row gap-1">
      {shown.toReversed().map((one) => (
        <StatusIcon key={one.executionTime} status={outcomeOf(one)} />
      ))}
    </span>
  )
}

function ScheduleDrawer({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const query = useLoad('scheduler.next', { path: { id: schedule.id }, query: { count: SHOWN_RUNS } })
  const outcomeOf = useOutcomes(schedule.executions)
  return (
    <Drawer title={cronWords(schedule.schedule.cronTab) ?? schedule.schedule.cronTab} onClose={onClose}>
      <section className="stack-2" aria-labelledby="coming">
        <h3 className="label" id="coming">
          Next runs, in {zone}
        </h3>
        <Loaded query={query}>{(runs) => <NextRuns runs={runs} />}</Loaded>
      </section>
      <section className="stack-2" aria-labelledby="went">
        <h3 className="label" id="went">
          How the last ones went
        </h3>
        {schedule.executions.length === 0 ? <p className="mute">It has not run yet.</p> : null}
        <ul className="list moments">
          {schedule.executions.map((one) => (
            <li key={one.executionTime}>
              <Status status={outcomeOf(one)} />
              <span className="tabular">{moment(one.executionTime)}</span>
              <span className="push fine mute">
                {one.jobId === null ? (
                  one.reason
                ) : (
                  <Link to="/jobs/$jobId" params={{ jobId: one.jobId }}>
                    Job {one.jobId}
                  </Link>
                )}
              </span>
            </li>
          ))}
        </ul>
      </section>
    </Drawer>
  )
}
