import { useQueries } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schedule } from '../../../../client/src/operations.ts'
import { inParts } from '../../facts/in-parts.ts'
import { useNames } from '../../facts/names.ts'
import { SCHEDULES_PAGE, useSchedulePages, useSchedulesNamed } from '../../facts/schedules.ts'
import { moment, plural, until, zone } from '../../format.ts'
import { Listing, ShowMore } from '../../listing.tsx'
import { Lines, Loaded, loadOptions, useLoad } from '../../load.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Status, StatusIcon } from '../../parts/status.tsx'
import { cronWords } from '../../schedule/cron-words.ts'
import { Page } from '../../shell/page.tsx'
import { ScheduleActions } from '../../views/schedule-actions.tsx'
import { NewSchedule, NextRuns } from '../../views/schedule-dialog.tsx'
import { Week } from './schedule-week.tsx'
import './schedules.css'

const route = getRouteApi('/schedules')

const stateOf = ({ stoppedReason, schedule }: Schedule): string =>
  stoppedReason ? 'stopped' : schedule.state === 'disabled' ? 'paused' : 'enabled'

export function SchedulesScreen() {
  const { query, schedules: paged } = useSchedulePages()
  const totals = useLoad('scheduler.totals').data
  const { view, q = '' } = route.useSearch()
  const navigate = useNavigate()
  const named = useSchedulesNamed(q)
  const nameOf = useNames()
  const [open, setOpen] = useState<Schedule>()
  const shown = q.trim() === '' ? paged : named
  const isWeek = view === 'week' && paged.length > 0
  const all = Math.max(totals?.schedules ?? 0, paged.length)
  /** The totals are of the records, and a record stops when it is due: the list shows a deleted target before. */
  const stopped = Math.max(totals?.stopped ?? 0, paged.filter((one) => one.stoppedReason).length)
  const outcomeOf = useOutcomes((shown ?? []).flatMap(({ executions }) => executions.slice(0, SHOWN_RUNS)))
  const more = <ShowMore query={query} size={SCHEDULES_PAGE} />
  return (
    <Page
      title="Schedules"
      crumbs={[{ name: 'Schedules' }]}
      say={query.data && totals ? sentence(all, stopped) : 'Schedules'}
      sub={`Times are ${zone}.`}
      actions={
        <>
          {paged.length === 0 ? null : (
            <Link className="button" to="/schedules" search={isWeek ? {} : { view: 'week' }}>
              {isWeek ? 'As a list' : 'As a week'}
            </Link>
          )}
          <NewSchedule />
        </>
      }
    >
      {isWeek ? (
        <>
          {query.hasNextPage ? (
            <p className="mute">
              The week has {paged.length} of {plural(all, 'schedule')}.
            </p>
          ) : null}
          <Week schedules={paged} nameOf={nameOf} />
          {more}
        </>
      ) : null}
      {isWeek ? null : (
        <Listing
          label="Schedules"
          query={query}
          count={paged.length}
          teach="A schedule runs a configuration by the clock, in a time zone of its own, and shows its next runs before it is created."
        >
          {all > SCHEDULES_PAGE || q !== '' ? (
            <div className="toolbar">
              <FilterField
                label="Filter by name"
                value={q}
                onChange={(text) => void navigate({ to: '/schedules', search: text === '' ? {} : { q: text }, replace: true })}
              />
            </div>
          ) : null}
          {shown === undefined ? <Lines /> : null}
          {shown?.length === 0 ? <p className="inset mute">No matching schedules.</p> : null}
          {shown === undefined || shown.length === 0 ? null : (
            <ListTable label="Schedules" columns={['State', 'Runs', 'When', 'Next', 'Last ten', { hidden: 'Actions' }]}>
              {shown.map((one) => (
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
                    <LastRuns executions={one.executions} outcomeOf={outcomeOf} />
                  </td>
                  <td>
                    <ScheduleActions schedule={one} />
                  </td>
                </tr>
              ))}
            </ListTable>
          )}
          {q === '' ? more : null}
        </Listing>
      )}
      {open ? <ScheduleDrawer schedule={open} onClose={() => setOpen(undefined)} /> : null}
    </Page>
  )
}

function sentence(all: number, stopped: number): string {
  if (all === 0) return 'Nothing runs by itself.'
  return stopped === 0 ? `${plural(all, 'schedule')}, none stopped.` : `${stopped} of ${plural(all, 'schedule')} stopped.`
}

type Execution = Schedule['executions'][number]

type OutcomeOf = (execution: Execution) => string

/** How a run of a schedule went: that of its job, or why there was none. Those of a whole screen are requested together. */
function useOutcomes(executions: readonly Execution[]): OutcomeOf {
  const parts = inParts(executions.flatMap(({ jobId }) => (jobId === null ? [] : [jobId])))
  const answers = useQueries({
    queries: parts.map((id) => loadOptions('queue.search', { query: { id, limit: id.length } }, true)),
  })
  const byId = new Map(answers.flatMap(({ data }) => data ?? []).map(({ id, status }) => [id, status]))
  return ({ jobId, status }) => (jobId === null ? status : (byId.get(jobId) ?? 'created'))
}

const SHOWN_RUNS = 10

function LastRuns({ executions, outcomeOf }: { executions: readonly Execution[]; outcomeOf: OutcomeOf }) {
  const shown = executions.slice(0, SHOWN_RUNS)
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
