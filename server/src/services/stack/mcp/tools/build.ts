// Tools that create, change and delete configurations and rows, transformations, flows and schedules.

import { Type } from 'typebox'
import { path } from '../../../../http/inner/inner-api.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { type Api, configurationPath } from '../api.ts'
import { emptySecretsAt, emptySecretsIn } from '../data-values.ts'
import { withValues } from '../json-pointer.ts'
import {
  Anything,
  ComponentId,
  ConfigurationId,
  defineTool,
  Items,
  Name,
  Next,
  objectOf,
  offsetOf,
  optionalText,
  type RequestedSecret,
  type Tool,
  text,
} from '../tool.ts'

const SQL = 'keboola.duckdb-transformation'
const FLOW = 'keboola.flow'
const SCHEDULER = 'keboola.scheduler'

interface Configuration {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly configuration: Readonly<Record<string, unknown>>
}

export const Content = objectOf('The whole configuration object.')
const Change = optionalText('Why, for the history.')
export const Saved = { configuration: Anything, problems: Items }
const Mapping = Type.Object({ source: Type.String(), destination: Type.String() }, { additionalProperties: false })

const alone = new PlatformError('mcp.invalidCall', {
  reason: 'version restores a whole version. Change other values in another call.',
})

export const configsOf = (component: string): string => path`/v2/storage/components/${component}/configs`

export const buildTools: readonly Tool[] = [
  defineTool('build', 'validate_configuration', {
    description: 'Problems of a configuration before it is saved, each with a JSON pointer.',
    input: { component: ComponentId, content: Content, isRow: Type.Optional(Type.Boolean()) },
    output: { isValid: Type.Boolean(), problems: Items },
    kind: 'reads',
    run: async ({ component, content, isRow = false }, api) =>
      api.send('POST', `${configsOf(component)}/validate`, { configuration: content, isRow }),
  }),

  defineTool('build', 'create_configuration', {
    description: 'Create a configuration of a component, or a row of one.',
    input: {
      component: ComponentId,
      rowOf: optionalText('Configuration id.'),
      name: Name,
      description: optionalText('For people.'),
      content: Content,
    },
    output: Saved,
    kind: 'writes',
    run: ({ component, rowOf, name, description = '', content }, api) =>
      rowOf === undefined
        ? create(api, component, { name, description, configuration: content })
        : addRow(api, component, rowOf, { name, description, configuration: content }),
  }),

  defineTool('build', 'update_configuration', {
    description:
      'Change a configuration or row. `set` changes single values by JSON pointer; `version` restores an older version.',
    input: {
      component: ComponentId,
      configuration: ConfigurationId,
      row: optionalText('Row id.'),
      name: optionalText('New name.'),
      description: optionalText('New description.'),
      isDisabled: Type.Optional(Type.Boolean()),
      content: Type.Optional(Content),
      set: Type.Optional(objectOf('JSON pointer to value, such as {"/parameters/a": 1}.')),
      version: Type.Optional(Type.Integer({ minimum: 1, description: 'Alone: make it the current one.' })),
      change: Change,
    },
    output: Saved,
    kind: 'destroys',
    run: async ({ component, configuration, row, version, change, ...changed }, api) => {
      const { name, description, isDisabled, content, set } = changed
      const place = { component, configuration, row }
      const address = configurationPath(component, configuration, row)
      if (version !== undefined) {
        if (Object.values(changed).some((value) => value !== undefined)) throw alone
        await api.send('POST', `${address}/versions/${version}/rollback`, {})
        return savedView(api, place, await api.get<Configuration>(address), [])
      }
      const before = await api.get<Configuration>(address)
      const next = set === undefined ? content : withValues(content ?? before.configuration, set)
      const saved = await api.send<Configuration>('PUT', address, {
        ...{ name, description, isDisabled, changeDescription: change ?? 'Changed by an agent' },
        ...(next !== undefined && { configuration: next }),
      })
      return savedView(api, place, saved, [...emptySecretsIn(content), ...emptySecretsAt(set ?? {})])
    },
  }),

  defineTool('build', 'delete_configuration', {
    description: 'Move a configuration to the trash, where a person can restore it, or delete one of its rows.',
    input: { component: ComponentId, configuration: ConfigurationId, row: optionalText('Row id: only that row.') },
    output: { deleted: Type.String() },
    needsPerson: ({ configuration, row }) =>
      stepUp(`delete ${row === undefined ? 'configuration' : 'a row of configuration'}`, configuration),
    kind: 'destroys',
    run: async ({ component, configuration, row }, api) => {
      await api.send('DELETE', configurationPath(component, configuration, row))
      return { deleted: row ?? configuration }
    },
  }),

  defineTool('build', 'request_secret', {
    description: 'A link where a person enters a secret of a configuration.',
    input: {
      component: ComponentId,
      configuration: ConfigurationId,
      row: optionalText('Row id.'),
      pointer: text('Such as /parameters/#password.'),
    },
    output: { link: Type.String() },
    kind: 'writes',
    run: async ({ component, configuration, row, pointer }, api) => {
      if (!/^\/(?:.*\/)?#[^/]+$/.test(pointer))
        throw new PlatformError('mcp.invalidCall', {
          reason: 'The last name of the pointer begins with #, so that its value is encrypted.',
        })
      await api.get(configurationPath(component, configuration, row))
      const { id, link } = await api.askForSecret({ component, configuration, row, pointer })
      return { link, note: 'Give the link to the person. It works for a day.', secrets: [{ pointer, request: id, link }] }
    },
  }),

  defineTool('build', 'create_transformation', {
    description: 'SQL (DuckDB): inputs are views, outputs tables that the statements create.',
    input: {
      name: Name,
      statements: Type.Array(Type.String(), { minItems: 1 }),
      inputs: Type.Array(Mapping, { description: 'source: table id, destination: name in SQL.' }),
      outputs: Type.Array(Mapping, { description: 'source: name in SQL, destination: table id.' }),
      description: optionalText('For people.'),
    },
    output: Saved,
    kind: 'writes',
    run: ({ name, statements, inputs, outputs, description = '' }, api) =>
      create(api, SQL, {
        ...{ name, description },
        configuration: {
          parameters: { blocks: [{ name, codes: [{ name, script: statements }] }] },
          storage: { input: { tables: inputs }, output: { tables: outputs } },
        },
      }),
  }),

  defineTool('build', 'create_flow', {
    description: 'Steps run in order, the tasks of a step side by side.',
    input: {
      name: Name,
      steps: Type.Array(
        Type.Object(
          {
            name: Type.String(),
            tasks: Type.Array(
              Type.Object({ component: Type.String(), configuration: Type.String() }, { additionalProperties: false }),
              { minItems: 1 },
            ),
          },
          { additionalProperties: false },
        ),
        { minItems: 1 },
      ),
    },
    output: Saved,
    kind: 'writes',
    run: ({ name, steps }, api) => create(api, FLOW, { name, description: '', configuration: flowOf(steps) }),
  }),

  defineTool('build', 'set_schedule', {
    description: 'Run a configuration or flow on a cron expression; replaces its schedule.',
    input: {
      component: ComponentId,
      configuration: ConfigurationId,
      cron: text('Such as 30 2 * * *.'),
      timezone: optionalText('IANA name; UTC by default.'),
      isEnabled: Type.Optional(Type.Boolean()),
    },
    output: { schedule: Anything },
    needsPerson: ({ cron, isEnabled = true }) =>
      isEnabled && isFrequent(cron) ? `run on the schedule ${cron}, more often than every 15 minutes` : undefined,
    kind: 'writes',
    run: async ({ component, configuration, cron, timezone = 'UTC', isEnabled = true }, api) => {
      const content = {
        schedule: { cronTab: cron, timezone, state: isEnabled ? 'enabled' : 'disabled' },
        target: { componentId: component, configurationId: configuration, mode: 'run' },
      }
      const body = { name: `Schedule of ${configuration}`, configuration: content, changeDescription: 'Set by an agent' }
      const known = await schedulesOf(api, configuration)
      const saved = known
        ? await api.send<Configuration>('PUT', `${configsOf(SCHEDULER)}${path`/${known.id}`}`, body)
        : await api.send<Configuration>('POST', configsOf(SCHEDULER), body)
      if (api.branch !== undefined || api.onlyProposes)
        return {
          schedule: {
            configuration: saved.id,
            cron,
            timezone,
            isActive: false,
            note: 'A schedule of a branch does not run. A person activates it when it is merged.',
          },
        }
      const active = await api.send<{ id: string; nextExecutionTime: string | null }>('POST', '/scheduler/schedules', {
        configurationId: saved.id,
      })
      return {
        schedule: { id: active.id, configuration: saved.id, cron, timezone, isActive: true, next: active.nextExecutionTime },
      }
    },
  }),

  defineTool('build', 'list_schedules', {
    description: 'Active schedules with their next run.',
    input: { next: Next },
    output: { items: Items },
    kind: 'reads',
    run: async ({ next }, api) => {
      const all = await api.get<readonly Schedule[]>('/scheduler/schedules')
      const offset = offsetOf(next)
      return { items: all.slice(offset).map(scheduleView), offset, total: all.length }
    },
  }),

  defineTool('build', 'delete_schedule', {
    description: 'Stop a schedule and delete it with its configuration.',
    input: { schedule: text('Schedule id.') },
    output: { deleted: Type.String() },
    needsDirect: true,
    needsPerson: ({ schedule }) => stepUp('delete schedule', schedule),
    kind: 'destroys',
    run: async ({ schedule }, api) => {
      const { configurationId } = await api.get<Schedule>(path`/scheduler/schedules/${schedule}`)
      await api.send('DELETE', path`/scheduler/schedules/${schedule}`)
      await api.send('DELETE', `${configsOf(SCHEDULER)}${path`/${configurationId}`}`)
      return { deleted: schedule }
    },
  }),
]

/** A person allows it for an id; what is none is refused anyway. */
export const stepUp = (what: string, id: string): string | undefined =>
  ['', '.', '..'].includes(id.trim()) ? undefined : `${what} ${id.slice(0, 100)}`

const MINUTES_OF_HOUR = 60
const MIN_GAP = 15

/** Two minutes of the expression are closer than a quarter of an hour, also over the end of the hour. Ranges count as frequent. */
function isFrequent(cron: string): boolean {
  const first = cron.trim().split(/\s+/)[0] ?? ''
  if (first.startsWith('@')) return false // once an hour or less
  const step = /^\*\/(\d{1,4})$/.exec(first)?.[1]
  const minutes =
    step === undefined ? first.split(',').map((part) => (/^\d+$/.test(part) ? Number(part) : Number.NaN)) : every(Number(step))
  if (minutes.length === 0 || minutes.some(Number.isNaN)) return true
  const sorted = [...new Set(minutes)].sort((a, b) => a - b)
  return sorted.some((minute, at) => (sorted[at + 1] ?? sorted[0]! + MINUTES_OF_HOUR) - minute < MIN_GAP)
}

const every = (step: number): number[] =>
  step === 0 ? [] : Array.from({ length: Math.ceil(MINUTES_OF_HOUR / step) }, (_, at) => at * step)

interface NewContent {
  readonly name: string
  readonly description?: string
  readonly configuration: unknown
}

export async function create(api: Api, component: string, body: NewContent) {
  const made = await api.send<Configuration>('POST', configsOf(component), { ...body, changeDescription: 'Created by an agent' })
  return savedView(api, { component, configuration: made.id }, made, emptySecretsIn(body.configuration))
}

export async function addRow(api: Api, component: string, configuration: string, body: NewContent) {
  const rows = `${configsOf(component)}${path`/${configuration}/rows`}`
  const row = await api.send<Configuration>('POST', rows, { ...body, changeDescription: 'Added by an agent' })
  return savedView(api, { component, configuration, row: row.id }, row, emptySecretsIn(body.configuration))
}

interface Place {
  readonly component: string
  readonly configuration: string
  readonly row?: string | undefined
}

const MAX_SECRETS = 10

/**
 * What was saved, and what would keep it from running: success with nothing that works is no success. Secrets that were left
 * empty are entered by a person.
 */
async function savedView(api: Api, place: Place, saved: Configuration, empty: readonly string[]) {
  const { id, name, version, configuration } = saved
  const { component, row } = place
  const body = { configuration, isRow: row !== undefined }
  const checked = await api.send<{ problems: readonly unknown[] }>('POST', `${configsOf(component)}/validate`, body)
  const secrets = await askForSecrets(api, place, empty)
  return { configuration: { component, id, name, version }, problems: checked.problems, ...(secrets.length > 0 && { secrets }) }
}

export async function askForSecrets(api: Api, place: Place, pointers: readonly string[]): Promise<RequestedSecret[]> {
  const asked: RequestedSecret[] = []
  for (const pointer of pointers.slice(0, MAX_SECRETS)) {
    const { id, link } = await api.askForSecret({ ...place, pointer })
    asked.push({ pointer, request: id, link })
  }
  return asked
}

interface Step {
  readonly name: string
  readonly tasks: readonly { readonly component: string; readonly configuration: string }[]
}

const flowOf = (steps: readonly Step[]) => ({
  phases: steps.map(({ name }, at) => ({
    id: `phase${at + 1}`,
    name,
    next: at + 1 < steps.length ? [{ id: `next${at + 1}`, goto: `phase${at + 2}` }] : [],
  })),
  tasks: steps.flatMap(({ tasks }, at) =>
    tasks.map(({ component, configuration }, task) => ({
      id: `task${at + 1}-${task + 1}`,
      name: `${component} ${configuration}`,
      phase: `phase${at + 1}`,
      task: { type: 'job', componentId: component, configId: configuration, mode: 'run' },
    })),
  ),
})

interface Schedule {
  readonly id: string
  readonly configurationId: string
  readonly schedule: { readonly cronTab: string; readonly timezone: string; readonly state: string }
  readonly target: { readonly componentId: string; readonly configurationId: string }
  readonly nextExecutionTime: string | null
  readonly stoppedReason: string | null
}

const scheduleView = ({ id, schedule, target, nextExecutionTime, stoppedReason }: Schedule) => ({
  ...{ id, cron: schedule.cronTab, timezone: schedule.timezone, state: schedule.state },
  ...{ component: target.componentId, configuration: target.configurationId, next: nextExecutionTime },
  ...(stoppedReason !== null && { stopped: stoppedReason }),
})

/** The configuration of the scheduler that runs a configuration. */
async function schedulesOf(api: Api, configuration: string): Promise<Configuration | undefined> {
  const all = await api.get<readonly Configuration[]>(configsOf(SCHEDULER))
  return all.find(
    ({ configuration: content }) =>
      (content.target as { configurationId?: unknown } | undefined)?.configurationId === configuration,
  )
}
