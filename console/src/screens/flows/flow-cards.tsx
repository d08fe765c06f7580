// What belongs to a flow beside its graph: when it runs, who is notified of it, its variables, and how long its runs took.

import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { OperationName } from '../../../../client/src/client.ts'
import { type ConfigurationPlace, type LoadedConfiguration, useRuns } from '../../facts/use-configuration.ts'
import { moment, until, zone } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Status } from '../../parts/status.tsx'
import { cronWords } from '../../schedule/cron-words.ts'
import { VariablesTab } from '../../views/configuration-variables.tsx'
import { DurationHistory } from '../../views/duration-history.tsx'
import { JobTable } from '../../views/job-table.tsx'
import { isAbout, NewSubscription, Subscriptions } from '../../views/notification-list.tsx'
import { ScheduleActions } from '../../views/schedule-actions.tsx'
import { NewScheduleDialog } from '../../views/schedule-dialog.tsx'
import './flows.css'

interface CardProps {
  readonly place: ConfigurationPlace
}

const SHOWN_RUNS = 30

interface FlowCardsProps extends CardProps {
  readonly loaded: LoadedConfiguration
  /** Variables are saved with the flow, which is not as it is on the screen then. */
  readonly isChanged: boolean
}

export const FlowCards = ({ place, loaded, isChanged }: FlowCardsProps) => (
  <>
    <ScheduleCard place={place} />
    <NotificationsCard place={place} />
    {isChanged ? (
      <section className="card" aria-label="Variables">
        <p className="inset mute">Save the flow to change its variables.</p>
      </section>
    ) : (
      <VariablesTab place={place} loaded={loaded} />
    )}
    <RunsCard place={place} />
  </>
)

interface CreateProps {
  readonly label: string
  readonly needs: OperationName
  readonly children: (close: () => void) => ReactNode
}

function Create({ label, needs, children }: CreateProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <ActButton needs={needs} className="button small push" onClick={() => setOpen(true)}>
        <Icon name="plus" size="small" />
        <span>{label}</span>
      </ActButton>
      {isOpen ? children(() => setOpen(false)) : null}
    </>
  )
}

function ScheduleCard({ place }: CardProps) {
  const query = useLoad('scheduler.list', { query: { ...place } })
  return (
    <section className="card" aria-labelledby="schedule">
      <header>
        <h2 id="schedule">Schedule</h2>
        <span className="fine mute">Times are {zone}.</span>
        <Create label="New schedule" needs="scheduler.activate">
          {(close) => <NewScheduleDialog target={place} onClose={close} />}
        </Create>
      </header>
      <Loaded query={query} skeleton={<Lines count={2} />}>
        {(schedules) =>
          schedules.length === 0 ? (
            <p className="inset mute">It runs only when someone starts it.</p>
          ) : (
            <ul className="list">
              {schedules.map((one) => (
                <li key={one.id} className="wrap">
                  <Status status={one.stoppedReason ? 'stopped' : one.schedule.state === 'disabled' ? 'paused' : 'enabled'} />
                  <span className="grow">
                    {cronWords(one.schedule.cronTab) ?? one.schedule.cronTab}, {one.schedule.timezone}
                    <span className="fine mute block">
                      {one.stoppedReason ??
                        (one.nextExecutionTime
                          ? `Next ${moment(one.nextExecutionTime)}, ${until(one.nextExecutionTime)}`
                          : 'No next run')}
                    </span>
                  </span>
                  <ScheduleActions schedule={one} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

function NotificationsCard({ place }: CardProps) {
  const query = useLoad('notification.list', { query: {} })
  return (
    <section className="card" aria-labelledby="notifications">
      <header>
        <h2 id="notifications">Notifications</h2>
        <Link className="fine" to="/notifications">
          All of the project
        </Link>
        <Create label="New notification" needs="notification.subscribe">
          {(close) => <NewSubscription of={place} onClose={close} />}
        </Create>
      </header>
      <Loaded query={query} skeleton={<Lines count={2} />}>
        {(all) => {
          const own = all.filter(isAbout(place))
          return own.length === 0 ? (
            <p className="inset mute">No notification is about this flow alone.</p>
          ) : (
            <Subscriptions all={own} />
          )
        }}
      </Loaded>
    </section>
  )
}

function RunsCard({ place }: CardProps) {
  const query = useRuns(place, SHOWN_RUNS)
  return (
    <>
      <DurationHistory jobs={query.data ?? []} />
      <section className="card" aria-labelledby="runs">
        <header>
          <h2 id="runs">Runs</h2>
          <Link
            className="fine push"
            to="/jobs"
            search={{ component: place.componentId, config: place.configurationId, view: 'timeline' }}
          >
            On the timeline
          </Link>
        </header>
        <Loaded query={query}>
          {(jobs) =>
            jobs.length === 0 ? <p className="inset mute">It has not run yet.</p> : <JobTable jobs={jobs.slice(0, 10)} />
          }
        </Loaded>
      </section>
    </>
  )
}
