// A schedule is made with its next runs before one's eyes: the server works them out, clock changes included.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { moment, until, zone } from '../format.ts'
import { Lines, Loaded, useLoad } from '../load.tsx'
import { CreateButton } from '../parts/create-button.tsx'
import { Dialog } from '../parts/drawer.tsx'
import { Form } from '../parts/form.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import { toast } from '../shell/toast.tsx'
import { useCatalogue, useComponents } from './names.ts'

const SCHEDULER = 'keboola.scheduler'
const PRESETS: readonly (readonly [string, string])[] = [
  ['*/15 * * * *', 'every 15 minutes'],
  ['0 * * * *', 'every hour'],
  ['0 6 * * *', 'every day at 6'],
  ['0 6 * * 1', 'every Monday at 6'],
  ['0 6 1 * *', 'on the first of the month at 6'],
]
const ZONES = Intl.supportedValuesOf('timeZone')

export const NewSchedule = () => (
  <CreateButton label="New schedule">{(close) => <NewScheduleDialog onClose={close} />}</CreateButton>
)

function NewScheduleDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const targets = useTargets()
  const [target, setTarget] = useState('')
  const [cronTab, setCronTab] = useState('0 6 * * *')
  const [timezone, setTimezone] = useState(zone)
  const chosen = targets.find(({ key }) => key === target) ?? targets[0]
  const create = useMutation({
    mutationFn: async () => {
      if (!chosen) throw new Error('There is no configuration to run yet.')
      const configuration = {
        schedule: { cronTab, timezone, state: 'enabled' },
        target: { componentId: chosen.componentId, configurationId: chosen.configurationId, mode: 'run' },
      }
      const made = await api.call('configurations.create', {
        path: { componentId: SCHEDULER },
        body: { name: `${chosen.name}, ${cronTab}`, configuration } as never,
      })
      return api.call('scheduler.activate', { body: { configurationId: made.id } })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['scheduler.list'] })
      toast('The schedule runs from now on.')
      onClose()
    },
  })
  return (
    <Dialog title="New schedule" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <div className="field">
          <label htmlFor="target">What runs</label>
          <select className="input" id="target" value={chosen?.key ?? ''} onChange={(event) => setTarget(event.target.value)}>
            {targets.map(({ key, name }) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <div className="pair">
          <div className="field">
            <label htmlFor="cron">When</label>
            <input
              className="input mono"
              id="cron"
              list="presets"
              required
              value={cronTab}
              onChange={(event) => setCronTab(event.target.value)}
            />
            <datalist id="presets">
              {PRESETS.map(([cron, words]) => (
                <option key={cron} value={cron}>
                  {words}
                </option>
              ))}
            </datalist>
            <span className="hint">{PRESETS.find(([cron]) => cron === cronTab)?.[1] ?? 'minute, hour, day, month, weekday'}</span>
          </div>
          <div className="field">
            <label htmlFor="zone">Time zone</label>
            <select className="input" id="zone" value={timezone} onChange={(event) => setTimezone(event.target.value)}>
              {[...new Set(['UTC', zone, ...ZONES])].map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </div>
        </div>
        <Preview cronTab={cronTab} timezone={timezone} />
        {create.error ? <Problem error={create.error} /> : null}
        <button type="submit" className="btn pri" disabled={create.isPending || !chosen}>
          {chosen ? `Run ${chosen.name} by the clock` : 'Make a configuration first'}
        </button>
      </Form>
    </Dialog>
  )
}

/** Configurations of components that run. */
function useTargets() {
  const { data = [] } = useComponents()
  const runnable = new Set(
    useCatalogue()
      .filter(({ hasRun }) => hasRun)
      .map(({ id }) => id),
  )
  return data
    .filter(({ id }) => runnable.has(id))
    .flatMap(({ id, configurations = [] }) =>
      configurations.map((one) => ({ key: `${id} ${one.id}`, name: one.name, componentId: id, configurationId: one.id })),
    )
}

function Preview({ cronTab, timezone }: { cronTab: string; timezone: string }) {
  const asked = useDeferredValue(cronTab)
  const query = useLoad('scheduler.preview', { body: { cronTab: asked, timezone, count: 5 } }, { enabled: asked.trim() !== '' })
  return (
    <section aria-labelledby="preview" className="stack2">
      <h3 className="lbl" id="preview">
        Next five runs, in {zone}
      </h3>
      <Loaded query={query} skeleton={<Lines count={3} />}>
        {(runs) => (
          <ol className="next-runs">
            {runs.map(({ executionTime, dst }) => (
              <li key={executionTime} className="contents">
                <span className="tn">{moment(executionTime)}</span>
                <span className="mute xs">{until(executionTime)}</span>
                <span className="warn xs">{dst ?? ''}</span>
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </section>
  )
}
