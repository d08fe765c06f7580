// The configuration of a flow or an orchestration becomes a plan (spec platform 2.7, 2.11). Everything that is wrong is reported at once;
// what the public formats allow is never refused. Pure: which components and configurations exist is checked by validation.ts.

import { defined, filled } from '../../../kit/defined.ts'
import type { VariableValue } from '../../../model/flow-ports.ts'
import type { NotificationRecipient } from '../../../model/notification-port.ts'
import { type Condition, idText, type KnownIds, readCondition, shown } from './conditions.ts'
import type { FlowFormat, FlowPlan, PlannedPhase, PlannedTask, Retry, Transition, Work } from './flow-plan.ts'
import { createReport, type Problem, type Report } from './problems.ts'

type Members = Readonly<Record<string, unknown>>

export const MAX_TASKS = 1_000
const MAX_PHASES = 1_000
const DEFAULT_RETRIES = 3
const RUN_MODES = ['run', 'forceRun', 'debug', 'rehearse'] as const
const DEFAULT_RETRY_SECONDS = 10
const LONGEST_SECONDS = 366 * 86_400

export interface ReadFlow {
  readonly plan: FlowPlan
  readonly problems: readonly Problem[]
}

export function readFlow(given: unknown, format: FlowFormat): ReadFlow {
  const problems: Problem[] = []
  const report = createReport(problems)
  const root = membersOf(given)
  const phaseNodes = listOf(root.phases, 'phases', MAX_PHASES, report)
  const taskNodes = listOf(root.tasks, 'tasks', MAX_TASKS, report)
  const phaseIds = idsOf(phaseNodes, 'phases', report)
  const taskIds = idsOf(taskNodes, 'tasks', report)
  const known: KnownIds = { phases: new Set(phaseIds), tasks: new Set(taskIds) }
  const tasksOf = readTasks(taskNodes, known, report)
  const phases = phaseNodes.map((node, at) => readPhase(node, `phases[${at}]`, { format, known, tasksOf }, report))
  if (format === 'orchestrator') reportCycle(phases, report)
  else reportUnreachable(phases, report)
  for (const [at, phase] of phases.entries())
    if (!phase.tasks.some(({ isEnabled }) => isEnabled))
      report('warning', `phases[${at}]`, `The phase "${phase.name}" has no enabled task.`)
  return {
    plan: { format, phases, isPartial: false, timeLimitMs: secondsOf(root.timeLimitSeconds, 'timeLimitSeconds', report) },
    problems,
  }
}

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {} // checked here

function listOf(value: unknown, path: string, max: number, report: Report): Members[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    report('error', path, 'This should be a list.')
    return []
  }
  if (value.length > max) {
    report('error', path, `A flow has at most ${max} ${path}; this one has ${value.length}.`)
    return []
  }
  return value.map((item, at) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item))
      report('error', `${path}[${at}]`, 'This should be an object.')
    return membersOf(item)
  })
}

function idsOf(nodes: readonly Members[], path: string, report: Report): string[] {
  const seen = new Set<string>()
  return nodes.map((node, at) => {
    const id = idText(node.id)
    if (id === undefined) report('error', `${path}[${at}].id`, 'An id is a text or a number.')
    else if (seen.has(id)) report('error', `${path}[${at}].id`, `The id ${shown(node.id)} is used twice.`)
    seen.add(id ?? '')
    return id ?? ''
  })
}

interface PhaseContext {
  readonly format: FlowFormat
  readonly known: KnownIds
  readonly tasksOf: ReadonlyMap<string, readonly PlannedTask[]>
}

function readPhase(node: Members, path: string, { format, known, tasksOf }: PhaseContext, report: Report): PlannedPhase {
  const id = idText(node.id) ?? ''
  const isFlow = format === 'flow'
  return {
    id,
    name: textOf(node.name) ?? id,
    dependsOn: isFlow ? [] : dependenciesOf(node.dependsOn, `${path}.dependsOn`, known, report),
    isTolerant: onErrorOf(node.behavior, `${path}.behavior.onError`, report) === 'warning',
    next: isFlow ? nextOf(node.next, `${path}.next`, known, report) : [],
    retry: readRetry(node.retry, `${path}.retry`, report),
    tasks: tasksOf.get(id) ?? [],
  }
}

function dependenciesOf(value: unknown, path: string, known: KnownIds, report: Report): string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    report('error', path, 'This should be a list of phase ids.')
    return []
  }
  return value.flatMap((item, at) => {
    const id = idText(item)
    if (id !== undefined && known.phases.has(id)) return [id]
    report('error', `${path}[${at}]`, `The phase ${shown(item)} does not exist.`)
    return []
  })
}

function onErrorOf(behavior: unknown, path: string, report: Report): string | undefined {
  const onError = textOf(membersOf(behavior).onError)
  if (onError !== undefined && !['stop', 'warning', 'fail'].includes(onError))
    report('error', path, 'This value should be stop, warning or fail.')
  return onError
}

/** Without a list the flow ends after the phase. */
function nextOf(value: unknown, path: string, known: KnownIds, report: Report): Transition[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    report('error', path, 'This should be a list.')
    return []
  }
  const read = value.map((item, at): Transition => {
    const node = membersOf(item)
    const target = node.goto === null || node.goto === undefined ? null : idText(node.goto)
    if (target !== null && (target === undefined || !known.phases.has(target)))
      report('error', `${path}[${at}].goto`, `The phase ${shown(node.goto)} does not exist.`)
    const hasCondition = node.condition !== undefined && node.condition !== null
    const condition = hasCondition ? readCondition(node.condition, `${path}[${at}].condition`, known, report) : undefined
    return { goto: target ?? null, ...(condition && { condition }) }
  })
  const last = read.at(-1)
  if (last?.condition)
    report('error', path, 'The last item needs to be without a condition: it is taken when no condition is true.')
  return read
}

function readTasks(nodes: readonly Members[], known: KnownIds, report: Report): ReadonlyMap<string, readonly PlannedTask[]> {
  const byPhase = new Map<string, PlannedTask[]>()
  for (const [at, node] of nodes.entries()) {
    const path = `tasks[${at}]`
    const phase = idText(node.phase)
    if (phase === undefined || !known.phases.has(phase)) {
      report('error', `${path}.phase`, `The phase ${shown(node.phase)} does not exist.`)
      continue
    }
    const work = readWork(node, path, known, report)
    if (!work) continue
    const id = idText(node.id) ?? ''
    const inner = membersOf(node.task)
    const task: PlannedTask = {
      id,
      name: textOf(node.name) ?? id,
      isEnabled: node.enabled !== false,
      continueOnFailure: node.continueOnFailure === true,
      retry: readRetry(inner.retry ?? node.retry, `${path}.task.retry`, report),
      timeLimitMs: secondsOf(node.timeLimitSeconds, `${path}.timeLimitSeconds`, report),
      work,
      index: at,
    }
    byPhase.set(phase, [...(byPhase.get(phase) ?? []), task])
  }
  return byPhase
}

function readWork(node: Members, path: string, known: KnownIds, report: Report): Work | undefined {
  const at = `${path}.task`
  if (node.task === undefined || node.task === null) return report('error', at, 'This field is missing.')
  const task = membersOf(node.task)
  switch (task.type ?? 'job') {
    case 'job':
      return readJob(node, task, at, report)
    case 'variable':
      return readVariable(task, at, known, report)
    case 'notification':
      return readNotification(task, at, report)
    default:
      return report('error', `${at}.type`, `The type ${shown(task.type)} does not exist: use job, variable or notification.`)
  }
}

function readJob(node: Members, task: Members, path: string, report: Report): Work | undefined {
  // The older name of the members of a job.
  const given = { ...membersOf(node.actionParameters), ...membersOf(task.actionParameters), ...task }
  const component = textOf(given.componentId ?? given.component)
  if (component === undefined) return report('error', `${path}.componentId`, 'The component of a task is a text, its id.')
  const config = idText(given.configId ?? given.config)
  const configData = given.configData ?? undefined
  if (config === undefined && configData === undefined)
    return report(
      node.enabled === false ? 'warning' : 'unfinished',
      `${path}.configId`,
      'A task needs "configId", the id of a configuration, or "configData", a configuration.',
    )
  if (configData !== undefined && typeof configData !== 'object')
    return report('error', `${path}.configData`, 'This should be an object.')
  const mode = RUN_MODES.find((known) => known === given.mode)
  if (mode === undefined && (given.mode ?? undefined) !== undefined)
    return report('error', `${path}.mode`, 'This value should be run, forceRun or debug.')
  const rowIds = Array.isArray(given.configRowIds) ? given.configRowIds.flatMap((id) => idText(id) ?? []) : []
  const overrides = Array.isArray(given.variableOverrides) ? given.variableOverrides.flatMap(overrideName) : undefined
  return {
    type: 'job',
    component,
    ...defined({
      config,
      configData: configData && JSON.stringify(Array.isArray(configData) ? {} : configData),
      mode,
      variableValuesId: idText(given.variableValuesId),
      previousJobId: idText(given.previousJobId),
      parallelism: idText(given.parallelism),
      variableOverrides: overrides,
    }),
    ...filled({ configRowIds: rowIds, tag: textOf(given.tag) }),
    variableValues: readValues(given.variableValuesData, `${path}.variableValuesData.values`, report),
    delayMs: secondsOf(given.delay, `${path}.delay`, report) ?? 0,
  }
}

const overrideName = (item: unknown): string[] => {
  const name = textOf(item) ?? textOf(membersOf(item).name)
  return name === undefined ? [] : [name]
}

function readValues(data: unknown, path: string, report: Report): VariableValue[] {
  const { values } = membersOf(data)
  if (!Array.isArray(values)) return []
  return values.flatMap((item, at) => {
    const { name, value } = membersOf(item)
    if (typeof name === 'string' && name !== '') return [{ name, value: value ?? null }]
    report('error', `${path}[${at}].name`, 'A variable has a name.')
    return []
  })
}

function readVariable(task: Members, path: string, known: KnownIds, report: Report): Work | undefined {
  const name = textOf(task.name)
  if (name === undefined || name === '') return report('error', `${path}.name`, 'A variable has a name.')
  if (task.source !== undefined && task.source !== null) {
    const source: Condition | undefined = readCondition(task.source, `${path}.source`, known, report)
    return source && { type: 'variable', name, source }
  }
  if (!('value' in task)) return report('error', `${path}.value`, 'A variable needs a "value" or a "source".')
  return { type: 'variable', name, value: task.value }
}

function readNotification(task: Members, path: string, report: Report): Work | undefined {
  const recipients = Array.isArray(task.recipients) ? task.recipients : []
  if (recipients.length === 0)
    return report('error', `${path}.recipients`, 'A notification needs a list of one or more recipients.')
  const read = recipients.map((item, at) => readRecipient(membersOf(item), `${path}.recipients[${at}]`, report))
  if (!read.every((one) => one !== undefined)) return undefined
  return { type: 'notification', title: textOf(task.title) ?? '', message: textOf(task.message) ?? '', recipients: read }
}

function readRecipient(node: Members, path: string, report: Report): NotificationRecipient | undefined {
  const { channel } = node
  if (channel !== 'email' && channel !== 'webhook')
    return report('error', `${path}.channel`, 'This value should be email or webhook.')
  const address = textOf(node.address)
  const url = textOf(node.url)
  if (!address && !(channel === 'webhook' && url))
    return report(
      'error',
      `${path}.address`,
      channel === 'email' ? 'An e-mail address is required.' : 'The URL of the webhook is required.',
    )
  return { channel, ...(address && { address }), ...(url && { url }) }
}

function readRetry(given: unknown, path: string, report: Report): Retry | null {
  if (given === undefined || given === null) return null
  const node = membersOf(given)
  const params = membersOf(node.strategyParams)
  if (node.strategy !== undefined && node.strategy !== null && node.strategy !== 'linear')
    report('error', `${path}.strategy`, 'The only strategy is linear.')
  const max = params.maxRetries ?? DEFAULT_RETRIES
  if (typeof max !== 'number' || !Number.isInteger(max) || max < 0)
    report('error', `${path}.strategyParams.maxRetries`, 'This should be a whole number, 0 or more.')
  const delayMs = secondsOf(params.delay ?? DEFAULT_RETRY_SECONDS, `${path}.strategyParams.delay`, report) ?? 0
  const on = Array.isArray(node.retryOn)
    ? node.retryOn.flatMap((item, at) => readRetryOn(item, `${path}.retryOn[${at}]`, report))
    : []
  return { most: typeof max === 'number' ? max : 0, delayMs, on }
}

function readRetryOn(given: unknown, path: string, report: Report): Retry['on'][number][] {
  const { type, value } = membersOf(given)
  if (type !== 'errorMessageContains' && type !== 'errorMessageExact') {
    report('error', `${path}.type`, 'This value should be errorMessageContains or errorMessageExact.')
    return []
  }
  if (typeof value !== 'string') {
    report('error', `${path}.value`, 'This should be a text.')
    return []
  }
  return [{ type: type === 'errorMessageExact' ? 'exact' : 'contains', value }]
}

/** Milliseconds; null when it is not set. */
function secondsOf(value: unknown, path: string, report: Report): number | null {
  if (value === undefined || value === null) return null
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof seconds === 'number' && seconds >= 0 && seconds <= LONGEST_SECONDS) return Math.round(seconds * 1000)
  report('error', path, 'This should be a number of seconds, at most a year.')
  return null
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Phases that wait for each other never start. */
function reportCycle(phases: readonly PlannedPhase[], report: Report): void {
  const done = new Set<string>()
  for (let before = -1; before !== done.size; ) {
    before = done.size
    for (const { id, dependsOn } of phases) if (dependsOn.every((other) => done.has(other))) done.add(id)
  }
  for (const [at, { id, dependsOn }] of phases.entries())
    if (!done.has(id))
      report(
        'error',
        `phases[${at}].dependsOn`,
        `The phase ${shown(id)} waits for ${dependsOn.join(', ')} in a circle and would never start.`,
      )
}

/** Only a warning: the public format allows it. */
function reportUnreachable(phases: readonly PlannedPhase[], report: Report): void {
  const reached = new Set<string>(phases.slice(0, 1).map(({ id }) => id))
  const nextOfPhase = new Map(phases.map(({ id, next }) => [id, next]))
  for (const id of reached) for (const { goto } of nextOfPhase.get(id) ?? []) if (goto !== null) reached.add(goto)
  for (const [at, { id, name }] of phases.entries())
    if (!reached.has(id)) report('warning', `phases[${at}]`, `The phase "${name}" is never reached: no "goto" leads to it.`)
}
