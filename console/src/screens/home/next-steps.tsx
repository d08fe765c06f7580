// What a project does not have yet, and where to begin with it. Each step has its reason; what exists is omitted.

import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { OperationName } from '../../../../client/src/client.ts'
import { type Component, useCatalogue } from '../../facts/names.ts'
import { useProjectId } from '../../facts/project.ts'
import { useLoad } from '../../load.tsx'
import { ActLink } from '../../parts/act-link.tsx'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { usePreference } from '../../preferences.ts'
import { toast } from '../../shell/toast.tsx'
import { startTour } from '../../shell/tour.tsx'

interface Step {
  readonly id: string
  readonly icon: IconName
  readonly title: string
  readonly why: string
  readonly action: ReactNode
}

const Go = ({ needs, children, ...link }: LinkProps & { readonly needs: OperationName; readonly children: ReactNode }) => (
  <ActLink {...link} needs={needs} className="button small">
    {children}
  </ActLink>
)

/** The next things to do, by what is there; undefined while that is not known. */
function useSteps(): readonly Step[] | undefined {
  const tables = useLoad('tables.browse', { query: { sort: 'changed', limit: 1 } }).data
  const counted = useLoad('configurations.totals').data
  const components = useCatalogue()
  const scheduled = useLoad('scheduler.totals').data
  const tested = useLoad('dataTests.tables').data
  const notifications = useLoad('notification.list', { query: {} }).data
  if (!tables || !counted || components.length === 0 || !scheduled || !tested || !notifications) return undefined
  const first = tables[0]?.table
  if (!first)
    return [
      {
        id: 'load',
        icon: 'upload',
        title: 'Load a table',
        why: 'Everything begins with a table: from a file, from an API, or from the sample shop of this stack.',
        action: (
          <>
            <Go to="/upload" needs="tables.createAsync">
              Upload a file
            </Go>
            <Go to="/try" needs="configurations.create">
              Try the sample shop
            </Go>
          </>
        ),
      },
    ]
  const isUsed = ({ id, aliases = [] }: Component) =>
    counted.some(({ componentId }) => componentId === id || aliases.includes(componentId))
  const runs = components.some((one) => one.hasRun && isUsed(one))
  const transforms = components.some((one) => one.type === 'transformation' && isUsed(one))
  const steps: readonly (Step & { readonly isDone: boolean })[] = [
    {
      id: 'transform',
      isDone: transforms,
      icon: 'sql',
      title: 'Create a table from others',
      why: 'Write a query and save it as a transformation: every run creates the table again.',
      action: (
        <Link className="button small" to="/sql" search={{ table: first.id }}>
          Query {first.displayName}
        </Link>
      ),
    },
    {
      id: 'test',
      isDone: tested.length > 0,
      icon: 'check',
      title: 'Test a table',
      why: 'No table has a test. A test checks every load before others see it: no empty key, no duplicate row, no unusual sum.',
      action: (
        <Go to="/storage/$tableId" params={{ tableId: first.id }} search={{ tab: 'tests' }} needs="dataTests.create">
          Test {first.displayName}
        </Go>
      ),
    },
    {
      id: 'schedule',
      isDone: scheduled.schedules > 0 || !runs,
      icon: 'clock',
      title: 'Run on a schedule',
      why: 'No configuration has a schedule, so tables are as old as their last run.',
      action: (
        <Go to="/schedules" needs="scheduler.activate">
          Create a schedule
        </Go>
      ),
    },
    {
      id: 'notify',
      isDone: notifications.length > 0 || !runs,
      icon: 'bell',
      title: 'Get notified of failures',
      why: 'No notification reports failed jobs and late tables.',
      action: (
        <Go to="/notifications" needs="notification.subscribe">
          Add a notification
        </Go>
      ),
    },
  ]
  return steps.filter(({ isDone }) => !isDone)
}

export const HIDDEN_STEPS = 'hidden-steps'

export function NextSteps() {
  const steps = useSteps()
  const [isHidden, setHidden] = usePreference(`${HIDDEN_STEPS}:${useProjectId()}`, false)
  if (!steps || steps.length === 0 || isHidden) return null
  const hide = async () => {
    await setHidden(true)
    toast('Hidden. Help shows the next steps again.', () => setHidden(false))
  }
  return (
    <section className="card" aria-labelledby="next-steps">
      <header>
        <h2 id="next-steps">Next steps</h2>
        <span className="push flex-row">
          <button type="button" className="button small" onClick={startTour}>
            Start the tour
          </button>
          <button type="button" className="button small ghost" onClick={() => void hide()}>
            Hide
          </button>
        </span>
      </header>
      <ul className="list trouble">
        {steps.map(({ id, icon, title, why, action }) => (
          <li key={id}>
            <Icon name={icon} />
            <div className="grow">
              <p className="medium">{title}</p>
              <p className="fine soft">{why}</p>
            </div>
            <div className="flex-row wrap">{action}</div>
          </li>
        ))}
      </ul>
    </section>
  )
}
