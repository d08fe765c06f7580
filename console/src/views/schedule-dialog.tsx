// A schedule is created and changed with its next runs before one's eyes: the server works them out, clock changes included.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import type { Answer } from '../../../client/src/client.ts'
import type { Schedule } from '../../../client/src/operations.ts'
import { SCHEDULER, useNames } from '../facts/names.ts'
import type { ConfigurationPlace } from '../facts/use-configuration.ts'
import { moment, until, zone } from '../format.ts'
import { Lines, Loaded, useLoad } from '../load.tsx'
import { CreateButton } from '../parts/create-button.tsx'
import { Dialog } from '../parts/drawer.tsx'
import { Form } from '../parts/form.tsx'
import { Label } from '../parts/guide.tsx'
import { Problem } from '../parts/problem.tsx'
import { cronWords } from '../schedule/cron-words.ts'
import { api } from '../session.ts'
import { toast } from '../shell/toast.tsx'
import { type ChosenConfiguration, ConfigurationSelect, useRunnable } from './configuration-select.tsx'
import { ScheduleBuilder } from './schedule-builder.tsx'
import './views.css'

const ZONES = Intl.supportedValuesOf('timeZone')

export const NewSchedule = () => (
  <CreateButton label="New schedule" needs="scheduler.activate">
    {(close) => <NewScheduleDialog onClose={close} />}
  </CreateButton>
)

/** `target`: the configuration that it is for; without one it is chosen. */
export function NewScheduleDialog({ target, onClose }: { target?: ConfigurationPlace; onClose: () => void }) {
  const save = async (wanted: Wanted) => {
    const made = await api.call('configurations.create', {
      path: { componentId: SCHEDULER },
      body: { name: wanted.name, configuration: wanted.configuration },
    })
    await api.call('scheduler.activate', { body: { configurationId: made.id } })
    return 'The schedule runs from now on.'
  }
  const before = { ...BLANK, target }
  return <ScheduleDialog title="New schedule" isNew before={before} save={save} onClose={onClose} />
}

/** Changes an existing one: as a version of its configuration, which can be rolled back. */
export function EditSchedule({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const path = { componentId: SCHEDULER, configurationId: schedule.configurationId }
  const query = useLoad('configurations.get', { path })
  const save = async (wanted: Wanted) => {
    const kept = query.data?.configuration ?? {}
    await api.call('configurations.update', {
      path,
      body: {
        name: wanted.name,
        configuration: {
          ...kept,
          ...wanted.configuration,
          target: { ...(kept.target as object), ...wanted.configuration.target },
          schedule: { ...(kept.schedule as object), ...wanted.configuration.schedule, state: schedule.schedule.state },
        },
        changeDescription: 'Schedule changed',
      },
    })
    await api.call('scheduler.activate', { body: { configurationId: schedule.configurationId } })
    return 'The schedule is changed.'
  }
  if (!query.data)
    return (
      <Dialog title="Change the schedule" onClose={onClose}>
        <Loaded query={query}>{() => null}</Loaded>
      </Dialog>
    )
  const before: Before = {
    target: schedule.target,
    cronTab: schedule.schedule.cronTab,
    timezone: schedule.schedule.timezone,
    policy: { ...BLANK.policy, ...(query.data.configuration.policy as Partial<Policy> | undefined) }, // what a schedule has
  }
  return <ScheduleDialog title="Change the schedule" before={before} save={save} onClose={onClose} />
}

interface Before {
  /** Undefined: the first that can run. */
  readonly target: ConfigurationPlace | undefined
  readonly cronTab: string
  readonly timezone: string
  readonly policy: Policy
}

const BLANK: Before = {
  target: undefined,
  cronTab: '0 6 * * *',
  timezone: zone,
  policy: { dst: 'once', missed: 'catch-up', overlap: 'wait' },
}

interface Wanted {
  readonly name: string
  readonly configuration: {
    readonly schedule: { readonly cronTab: string; readonly timezone: string; readonly state: string }
    readonly target: { readonly componentId: string; readonly configurationId: string; readonly mode: string }
    readonly policy: Policy
  }
}

interface ScheduleDialogProps {
  readonly title: string
  readonly isNew?: boolean
  readonly before: Before
  /** Answers what was done. */
  readonly save: (wanted: Wanted) => Promise<string>
  readonly onClose: () => void
}

function ScheduleDialog({ title, isNew = false, before, save, onClose }: ScheduleDialogProps) {
  const queries = useQueryClient()
  const targets = useRunnable()
  const nameOf = useNames()
  const [target, setTarget] = useState<ChosenConfiguration | undefined>(
    before.target && { ...before.target, key: `${before.target.componentId} ${before.target.configurationId}`, name: '' },
  )
  const [cronTab, setCronTab] = useState(before.cronTab)
  const [timezone, setTimezone] = useState(before.timezone)
  const [policy, setPolicy] = useState(before.policy)
  const chosen = target ?? targets.choices[0]
  const chosenName = chosen && (chosen.name || nameOf(chosen.componentId, chosen.configurationId))
  const send = useMutation({
    mutationFn: () => {
      if (!chosen) throw new Error('There is no configuration to run yet.')
      const configuration = {
        schedule: { cronTab, timezone, state: 'enabled' },
        target: { componentId: chosen.componentId, configurationId: chosen.configurationId, mode: 'run' },
        policy,
      }
      return save({ name: `${chosenName}, ${cronWords(cronTab) ?? cronTab}`, configuration })
    },
    onSuccess: async (said) => {
      await Promise.all(
        ['scheduler.list', 'scheduler.totals', 'scheduler.next', 'configurations.get'].map((name) =>
          queries.invalidateQueries({ queryKey: [name] }),
        ),
      )
      toast(said)
      onClose()
    },
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => send.mutate()}>
        <div className="field">
          <Label htmlFor="target">What runs</Label>
          <ConfigurationSelect id="target" list={targets} value={chosen?.key ?? ''} onChange={setTarget} />
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
        {send.error ? <Problem error={send.error} /> : null}
        <button type="submit" className="button primary" disabled={send.isPending || !chosen}>
          {!isNew ? 'Save the schedule' : chosen ? `Run ${chosenName} by the clock` : 'Create a configuration first'}
        </button>
      </Form>
    </Dialog>
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
