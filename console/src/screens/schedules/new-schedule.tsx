// A schedule is made with its next runs before one's eyes: the server works them out, clock changes included.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import { useCatalogue, useComponents } from '../../facts/names.ts'
import { moment, until, zone } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Problem } from '../../parts/problem.tsx'
import { cronWords } from '../../schedule/cron-words.ts'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { ScheduleBuilder } from './schedule-builder.tsx'
import './schedules.css'

const SCHEDULER = 'keboola.scheduler'
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
  const [policy, setPolicy] = useState<Policy>({ dst: 'once', missed: 'catch-up', overlap: 'wait' })
  const chosen = targets.find(({ key }) => key === target) ?? targets[0]
  const create = useMutation({
    mutationFn: async () => {
      if (!chosen) throw new Error('There is no configuration to run yet.')
      const configuration = {
        schedule: { cronTab, timezone, state: 'enabled' },
        target: { componentId: chosen.componentId, configurationId: chosen.configurationId, mode: 'run' },
        policy,
      }
      const made = await api.call('configurations.create', {
        path: { componentId: SCHEDULER },
        body: { name: `${chosen.name}, ${cronWords(cronTab) ?? cronTab}`, configuration },
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
          <Label htmlFor="target">What runs</Label>
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
            <Label htmlFor="cron">When</Label>
            <input
              className="input mono"
              id="cron"
              required
              value={cronTab}
              onChange={(event) => setCronTab(event.target.value)}
            />
            <span className="hint">{cronWords(cronTab) ?? 'minute, hour, day, month, weekday'}</span>
          </div>
          <div className="field">
            <Label htmlFor="zone">Time zone</Label>
            <select className="input" id="zone" value={timezone} onChange={(event) => setTimezone(event.target.value)}>
              {[...new Set(['UTC', zone, ...ZONES])].map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </div>
        </div>
        <ScheduleBuilder cron={cronTab} onChange={setCronTab} />
        <Policies policy={policy} onChange={setPolicy} />
        <Preview cronTab={cronTab} timezone={timezone} dst={policy.dst} />
        {create.error ? <Problem error={create.error} /> : null}
        <button type="submit" className="button primary" disabled={create.isPending || !chosen}>
          {chosen ? `Run ${chosen.name} by the clock` : 'Create a configuration first'}
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

interface Policy {
  readonly dst: 'once' | 'skip' | 'every'
  readonly missed: 'catch-up' | 'skip'
  readonly overlap: 'wait' | 'skip'
}

const POLICIES: readonly (readonly [keyof Policy, string, readonly (readonly [string, string])[]])[] = [
  [
    'dst',
    'When the clock is changed',
    [
      ['once', 'run once'],
      ['skip', 'leave out what does not exist'],
      ['every', 'run in both hours'],
    ],
  ],
  [
    'missed',
    'After a downtime',
    [
      ['catch-up', 'start the newest missed run'],
      ['skip', 'skip missed runs'],
    ],
  ],
  [
    'overlap',
    'While the previous run is still running',
    [
      ['wait', 'wait for it'],
      ['skip', 'leave it out'],
    ],
  ],
]

const Policies = ({ policy, onChange }: { policy: Policy; onChange: (policy: Policy) => void }) => (
  <details>
    <summary className="soft">Clock changes, downtime, overlap</summary>
    <div className="stack-2 policies">
      {POLICIES.map(([name, label, options]) => (
        <label key={name} className="flex-row">
          <span className="grow">{label}</span>
          <select
            className="input small"
            aria-label={label}
            value={policy[name]}
            onChange={(event) => onChange({ ...policy, [name]: event.target.value })}
          >
            {options.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      ))}
    </div>
  </details>
)

const SHOWN_RUNS = 10

function Preview({ cronTab, timezone, dst }: { cronTab: string; timezone: string; dst: Policy['dst'] }) {
  const asked = useDeferredValue(cronTab)
  const query = useLoad(
    'scheduler.preview',
    { body: { cronTab: asked, timezone, dst, count: SHOWN_RUNS } },
    { enabled: asked.trim() !== '' },
  )
  return (
    <section aria-labelledby="preview" className="stack-2">
      <h3 className="label" id="preview">
        Next ten runs, in {zone}
      </h3>
      <Loaded query={query} skeleton={<Lines count={3} />}>
        {(runs) => <NextRuns runs={runs} />}
      </Loaded>
    </section>
  )
}

export const NextRuns = ({ runs }: { runs: Answer<'scheduler.preview'> }) => (
  <ol className="next-runs">
    {runs.map(({ executionTime, dst }) => (
      <li key={executionTime} className="contents">
        <span className="tabular">{moment(executionTime)}</span>
        <span className="mute fine">{until(executionTime)}</span>
        <span className="warn fine">{dst ? `clock change: ${dst}` : ''}</span>
      </li>
    ))}
  </ol>
)
