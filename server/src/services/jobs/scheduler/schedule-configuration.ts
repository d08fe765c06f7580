// The `configuration` of a configuration of the scheduler component (spec platform 3.1), and why it may be refused.

import { PlatformError } from '../../../kit/errors.ts'
import { type Cron, CronSyntaxError, parseCron } from './cron.ts'
import { type DstPolicy, nextRun, type Plan } from './planned-runs.ts'
import { UnknownZone, type Zone } from './zone.ts'

export type ScheduleState = 'enabled' | 'disabled'

export interface Schedule {
  readonly cronTab: string
  readonly timezone: string
  readonly state: ScheduleState
}

export interface Target {
  readonly componentId: string
  readonly configurationId: string
  /** Empty: all rows. */
  readonly configurationRowIds: readonly string[]
  readonly mode: string
  readonly tag: string
}

/** Ours, optional in the configuration: what happens when the clock jumps, the stack was down, or a run meets a running one. */
export interface Policy {
  readonly dst: DstPolicy
  readonly missed: 'catch-up' | 'skip'
  readonly graceMinutes: number
  readonly overlap: 'wait' | 'skip'
}

export interface ScheduleConfiguration {
  readonly schedule: Schedule
  readonly target: Target
  readonly policy: Policy
}

export const DEFAULT_POLICY: Policy = { dst: 'once', missed: 'catch-up', graceMinutes: 15, overlap: 'wait' }

const MODES = ['run', 'forceRun', 'debug'] as const
const MAX_GRACE_MINUTES = 7 * 24 * 60
const MAX_ROWS = 10_000

export function readScheduleConfiguration(value: unknown): ScheduleConfiguration {
  const root = objectOf(value, 'configuration')
  const schedule = objectOf(root.schedule, 'schedule')
  const target = objectOf(root.target, 'target')
  const policy = root.policy === undefined || root.policy === null ? {} : objectOf(root.policy, 'policy')
  return {
    schedule: {
      cronTab: textOf(schedule.cronTab, 'schedule.cronTab'),
      timezone:
        schedule.timezone === undefined || schedule.timezone === '' ? 'UTC' : textOf(schedule.timezone, 'schedule.timezone'),
      state: choiceOf(schedule.state ?? 'enabled', ['enabled', 'disabled'], 'schedule.state'),
    },
    target: {
      componentId: textOf(target.componentId, 'target.componentId'),
      configurationId: textOf(numberAsText(target.configurationId), 'target.configurationId'),
      configurationRowIds: rowIdsOf(target.configurationRowIds),
      mode: choiceOf(target.mode ?? 'run', MODES, 'target.mode'),
      tag: target.tag === undefined || target.tag === null || target.tag === '' ? '' : textOf(target.tag, 'target.tag'),
    },
    policy: {
      dst: choiceOf(policy.dst ?? DEFAULT_POLICY.dst, ['once', 'skip', 'every'], 'policy.dst'),
      missed: choiceOf(policy.missed ?? DEFAULT_POLICY.missed, ['catch-up', 'skip'], 'policy.missed'),
      overlap: choiceOf(policy.overlap ?? DEFAULT_POLICY.overlap, ['wait', 'skip'], 'policy.overlap'),
      graceMinutes: graceOf(policy.graceMinutes),
    },
  }
}

/** The plan of a schedule; refuses an expression, a zone, or an expression that never comes true. */
export function planOf(
  schedule: Pick<Schedule, 'cronTab' | 'timezone'>,
  dst: DstPolicy,
  zoneOf: (name: string) => Zone,
  now: number,
): Plan {
  const plan = { cron: cronOf(schedule.cronTab), zone: zoneNamed(schedule.timezone, zoneOf), dst }
  if (nextRun(plan, now) === undefined)
    throw invalid('schedule.cronTab', `"${schedule.cronTab}" never comes true: no date fits it. Check day of month and month.`)
  return plan
}

function cronOf(cronTab: string): Cron {
  try {
    return parseCron(cronTab)
  } catch (error) {
    if (!(error instanceof CronSyntaxError)) throw error
    throw invalid('schedule.cronTab', `"${cronTab.slice(0, 100)}" is not a valid cron expression: ${error.message}`)
  }
}

function zoneNamed(name: string, zoneOf: (name: string) => Zone): Zone {
  try {
    return zoneOf(name)
  } catch (error) {
    if (!(error instanceof UnknownZone)) throw error
    throw invalid(
      'schedule.timezone',
      `"${name.slice(0, 60)}" is not a time zone. Use an IANA name such as Europe/Prague or UTC.`,
    )
  }
}

function objectOf(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(field, 'An object is required here.')
  return value as Readonly<Record<string, unknown>> // an object, by the check above
}

function textOf(value: unknown, field: string): string {
  if (typeof value !== 'string' || value.trim() === '' || value.length > 255)
    throw invalid(field, 'A text of 1 to 255 characters is required here.')
  return value
}

const numberAsText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value)

function choiceOf<T extends string>(value: unknown, allowed: readonly T[], field: string): T {
  const found = allowed.find((one) => one === value)
  if (found === undefined)
    throw invalid(field, `"${String(value).slice(0, 40)}" is not possible. Possible: ${allowed.join(', ')}.`)
  return found
}

function rowIdsOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.length > MAX_ROWS)
    throw invalid('target.configurationRowIds', 'A list of row ids is required here.')
  return value.map((id, i) => textOf(numberAsText(id), `target.configurationRowIds[${i}]`))
}

function graceOf(value: unknown): number {
  if (value === undefined || value === null) return DEFAULT_POLICY.graceMinutes
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > MAX_GRACE_MINUTES)
    throw invalid('policy.graceMinutes', `A whole number of minutes from 0 to ${MAX_GRACE_MINUTES} is required here.`)
  return value as number // an integer, by the check above
}

export const invalid = (field: string, reason: string) =>
  new PlatformError('scheduler.invalidConfiguration', { field, reason }, { errors: [{ key: field, message: reason }] })

/** The run that a schedule starts. */
export const runRequestOf = (target: Target) => ({
  component: target.componentId,
  config: target.configurationId,
  mode: target.mode as 'run' | 'forceRun' | 'debug', // checked when the schedule was activated
  ...(target.configurationRowIds.length > 0 && { configRowIds: target.configurationRowIds }),
  ...(target.tag !== '' && { tag: target.tag }),
})

/** Why a schedule has stopped. */
export const configurationDeleted = (configurationId: string): string => `Its configuration ${configurationId} was deleted.`
export const targetDeleted = ({ configurationId, componentId }: Pick<Target, 'configurationId' | 'componentId'>): string =>
  `Its target, configuration ${configurationId} of ${componentId}, was deleted.`
