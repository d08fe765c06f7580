// What happens next in a flow: a pure function of its plan, its state and the jobs of its tasks. It starts phases, tries failed tasks
// again, follows conditions, ends what runs too long, and reports when the flow has ended. Called again with the same facts it decides
// nothing new.
//
// A phase of an orchestration starts when all phases it depends on have ended; once a phase has failed, no other starts. A phase of a flow
// is followed by the first of its `next` whose condition is true. A flow continues after a failed phase only where its author defined a
// condition: a single `next` without one is not taken after a failure.

import { PlatformError } from '../../../kit/errors.ts'
import type { JobWork, StepJobs, StepStart, VariableValue } from '../../../model/flow-ports.ts'
import { evaluate, isTrue } from './conditions.ts'
import { factsOf } from './flow-facts.ts'
import type { FlowPlan, NotificationWork, PlannedPhase, PlannedTask } from './flow-plan.ts'
import { retriesMessage } from './flow-plan.ts'
import {
  endOfStep,
  type FlowState,
  isFailure,
  NEW_JOB,
  type PhaseStatus,
  type Step,
  type StepEnd,
  type TaskRun,
  type Visit,
} from './flow-state.ts'

export interface Decision {
  readonly state: FlowState
  /** Jobs to queue; each is NEW_JOB in the state, at this position. */
  readonly starts: readonly StepStart[]
  /** Jobs to end. */
  readonly kills: readonly number[]
  readonly notifications: readonly NotificationWork[]
  /** Phases that started and ended, in this order. */
  readonly moves: readonly PhaseMove[]
  readonly end: FlowEnd | null
  /** When to look again although no job has ended. */
  readonly wakeAt: number | null
}

export type PhaseMove = { readonly kind: 'started'; readonly name: string } | ({ readonly kind: 'ended' } & EndedPhase)

export interface EndedPhase {
  readonly phase: { readonly id: string; readonly name: string }
  readonly status: PhaseStatus
  readonly errorMessage: string
  readonly startedAt: number
  readonly endedAt: number
}

export interface FlowEnd {
  readonly status: PhaseStatus
  readonly message: string
}

/** A loop has to end some time. */
export const MAX_VISITS = 1_000

export const startState = (now: number, variables: FlowState['variables'], kept: FlowState['kept'] = {}): FlowState => ({
  startedAt: now,
  variables,
  visits: [],
  kept,
  isOverTime: false,
})

export function advance(plan: FlowPlan, given: FlowState, jobs: StepJobs, now: number): Decision {
  const starts: StepStart[] = []
  const kills: number[] = []
  const notifications: NotificationWork[] = []
  const moves: PhaseMove[] = []
  const phaseById = new Map(plan.phases.map((phase) => [phase.id, phase]))
  let state = given
  let problem: string | undefined

  if (plan.timeLimitMs !== null && now >= state.startedAt + plan.timeLimitMs && !state.isOverTime) {
    state = { ...state, isOverTime: true }
    kills.push(...openJobs(state, jobs))
  }
  for (let changed = true; changed; ) {
    changed = false
    for (const [at, visit] of state.visits.entries()) {
      if (visit.endedAt !== null) continue
      const looked = lookAt(visit, at)
      if (looked === visit) continue
      changed = true
      state = { ...state, visits: state.visits.with(at, looked) }
    }
    const following = problem === undefined && !state.isOverTime ? phasesToStart() : []
    for (const phase of following) {
      if (state.visits.length >= MAX_VISITS) {
        problem = `The flow started ${MAX_VISITS} phases, the maximum: its conditions form a cycle.`
        break
      }
      startPhase(phase)
      changed = true
    }
  }
  return { state, starts, kills, notifications, moves, end: endOf(), wakeAt: wakeAt() }

  /** The same object when nothing is to be done. */
  function lookAt(visit: Visit, at: number): Visit {
    const phase = phaseById.get(visit.phaseId)! // a visit is made of a phase of the plan
    let looked = visit
    const replace = (index: number, steps: readonly Step[]) => {
      looked = { ...looked, tasks: looked.tasks.with(index, { ...looked.tasks[index]!, steps }) } // an index of this list
    }
    const ends = visit.tasks.map((run, index): StepEnd | 'open' | undefined => {
      const task = phase.tasks[index]! // made side by side
      const step = run.steps.at(-1)
      if (!step) return undefined
      const end = endOfStep(step, jobs, task.timeLimitMs)
      if (!end) {
        if (isTooLong(step, task)) {
          kills.push((step as { jobId: number }).jobId) // only a job is open
          replace(index, [...run.steps.slice(0, -1), { ...step, isOverTime: true } as Step])
        }
        return 'open'
      }
      if (
        !state.isOverTime &&
        isFailure(end.status) &&
        task.retry &&
        task.work.type === 'job' &&
        mayRetry(task.retry, runsOf(run) - visit.retries - 1, end)
      ) {
        replace(index, [...run.steps, startJob(phase, task, at, index, end.endedAt + task.retry.delayMs)])
        return 'open'
      }
      return end
    })
    if (ends.includes('open')) return looked
    const failed = ends.flatMap((end, index) => (end && end !== 'open' && isFailure(end.status) ? [{ end, index }] : []))
    const { retry } = phase
    if (!state.isOverTime && retry && failed.some(({ end }) => mayRetry(retry, visit.retries, end))) {
      for (const { end, index } of failed) {
        const run = looked.tasks[index]! // an index of this list
        const task = phase.tasks[index]!
        if (task.work.type === 'job')
          replace(index, [...run.steps, startJob(phase, task, at, index, end.endedAt + retry.delayMs)])
      }
      return { ...looked, retries: visit.retries + 1 }
    }
    return close(looked, phase, ends as (StepEnd | undefined)[])
  }

  function isTooLong(step: Step, { timeLimitMs }: PlannedTask): boolean {
    if (step.kind !== 'job' || step.isOverTime || timeLimitMs === null) return false
    const startedAt = jobs.get(step.jobId)?.startedAt ?? null
    return startedAt !== null && now >= startedAt + timeLimitMs
  }

  function close(visit: Visit, phase: PlannedPhase, ends: readonly (StepEnd | undefined)[]): Visit {
    const tolerated = (index: number) => phase.isTolerant || phase.tasks[index]!.continueOnFailure
    const failed = ends.flatMap((end, index) => (end && isFailure(end.status) ? [{ end, index }] : []))
    const status: PhaseStatus = failed.some(({ index }) => !tolerated(index))
      ? 'error'
      : failed.length > 0 || ends.some((end) => end?.status === 'warning')
        ? 'warning'
        : 'success'
    const ended: Visit = { ...visit, endedAt: now, status }
    moves.push({
      kind: 'ended',
      phase: { id: phase.id, name: phase.name },
      status,
      errorMessage: failed.map(({ end }) => end.message).join('\n'),
      startedAt: visit.startedAt,
      endedAt: now,
    })
    return { ...ended, goto: plan.format === 'flow' ? follow(ended, phase, status) : null }
  }

  function follow(visit: Visit, phase: PlannedPhase, status: PhaseStatus): string | null {
    if (plan.isPartial) return plan.phases[plan.phases.indexOf(phase) + 1]?.id ?? null
    if (status === 'error' && !phase.next.some(({ condition }) => condition)) return null
    const visits = state.visits.map((one) => (one.phaseId === visit.phaseId && one.endedAt === null ? visit : one))
    try {
      const facts = factsOf(plan, { ...state, visits }, jobs, now)
      return phase.next.find(({ condition }) => condition === undefined || isTrue(evaluate(condition, facts)))?.goto ?? null
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      problem = `After phase "${phase.name}": ${error.message}`
      return null
    }
  }

  function phasesToStart(): readonly PlannedPhase[] {
    if (plan.format === 'flow') {
      const last = state.visits.at(-1)
      if (!last) return plan.phases.slice(0, 1)
      const next = last.endedAt === null || last.goto === null ? undefined : phaseById.get(last.goto)
      return next ? [next] : []
    }
    if (state.visits.some(({ status }) => status === 'error')) return []
    const started = new Map(state.visits.map((visit) => [visit.phaseId, visit.endedAt !== null]))
    return plan.phases.filter(({ id, dependsOn }) => !started.has(id) && dependsOn.every((other) => started.get(other) === true))
  }

  function startPhase(phase: PlannedPhase): void {
    moves.push({ kind: 'started', name: phase.name })
    const at = state.visits.length
    const isFirst = !state.visits.some(({ phaseId }) => phaseId === phase.id)
    const tasks: TaskRun[] = phase.tasks.map(({ id }) => ({ taskId: id, steps: [] }))
    // Variables first: jobs of the same phase see them.
    const order = [...phase.tasks.keys()].sort((a, b) => rank(phase.tasks[a]!) - rank(phase.tasks[b]!) || a - b)
    for (const index of order) {
      const task = phase.tasks[index]!
      if (!task.isEnabled) continue
      const kept = isFirst ? state.kept[task.id] : undefined
      const step: Step = kept ? { kind: 'done', end: kept } : startTask(phase, task, at, index)
      tasks[index] = { taskId: task.id, steps: [step] }
    }
    const visit: Visit = { phaseId: phase.id, startedAt: now, endedAt: null, status: null, goto: null, retries: 0, tasks }
    state = { ...state, visits: [...state.visits, visit] }
  }

  function startTask(phase: PlannedPhase, task: PlannedTask, visit: number, index: number): Step {
    const done = (status: StepEnd['status'], message: string): Step => ({
      kind: 'done',
      end: { status, message, startedAt: now, endedAt: now },
    })
    const { work } = task
    if (work.type === 'job') return startJob(phase, task, visit, index, now + work.delayMs)
    if (work.type === 'notification') {
      notifications.push(work)
      return done('success', 'The notification was queued.')
    }
    try {
      const value = work.source ? evaluate(work.source, factsOf(plan, state, jobs, now)) : (work.value ?? null)
      state = { ...state, variables: { ...state.variables, [work.name]: value } }
      return done('success', `The variable "${work.name}" was set.`)
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      return done('user_error', error.message)
    }
  }

  function startJob(phase: PlannedPhase, task: PlannedTask, visit: number, index: number, startAfter: number): Step {
    const work = task.work as JobWork // only jobs are started, and started again
    const variableOverrides = overridesFor(work, state.variables)
    starts.push({
      visit,
      task: index,
      phaseId: phase.id,
      taskId: task.id,
      work,
      variableOverrides,
      startAfter: startAfter > now ? startAfter : null,
    })
    return { kind: 'job', jobId: NEW_JOB }
  }

  function endOf(): FlowEnd | null {
    if (starts.length > 0 || state.visits.some(({ endedAt }) => endedAt === null)) return null
    if (state.isOverTime)
      return { status: 'error', message: `The flow ran longer than its limit of ${(plan.timeLimitMs ?? 0) / 1000} seconds.` }
    if (problem !== undefined) return { status: 'error', message: problem }
    if (phasesToStart().length > 0) return null
    const statuses = state.visits.map(({ status }) => status)
    const decides = plan.format === 'flow' ? statuses.slice(-1) : statuses
    const isFine = (plan.isPartial ? statuses.slice(-1) : statuses).every((status) => status === 'success')
    const status = decides.includes('error') ? 'error' : isFine ? 'success' : 'warning'
    return { status, message: endMessage(plan, state, jobs, status) }
  }

  function wakeAt(): number | null {
    const times: number[] = plan.timeLimitMs === null || state.isOverTime ? [] : [state.startedAt + plan.timeLimitMs]
    for (const visit of state.visits) {
      if (visit.endedAt !== null) continue
      const phase = phaseById.get(visit.phaseId)!
      for (const [index, { steps }] of visit.tasks.entries()) {
        const step = steps.at(-1)
        const limitMs = phase.tasks[index]!.timeLimitMs
        if (step?.kind !== 'job' || limitMs === null || step.isOverTime || jobs.get(step.jobId)?.isFinished) continue
        times.push((jobs.get(step.jobId)?.startedAt ?? now) + limitMs)
      }
    }
    return times.length === 0 ? null : Math.max(now + 1, Math.min(...times))
  }
}

const rank = ({ work }: PlannedTask): number => (work.type === 'variable' ? 0 : 1)

const runsOf = ({ steps }: TaskRun): number => steps.length

const mayRetry = (retry: NonNullable<PlannedTask['retry']>, sofar: number, end: StepEnd): boolean =>
  sofar < retry.most && retriesMessage(retry, end.message)

const openJobs = (state: FlowState, jobs: StepJobs): number[] =>
  state.visits
    .filter(({ endedAt }) => endedAt === null)
    .flatMap(({ tasks }) => tasks.flatMap(({ steps }) => steps.slice(-1)))
    .flatMap((step) => (step.kind === 'job' && !jobs.get(step.jobId)?.isFinished ? [step.jobId] : []))

/** Variables of a flow reach its jobs by name; a task may select some. */
const overridesFor = ({ variableOverrides }: JobWork, variables: FlowState['variables']): VariableValue[] =>
  Object.entries(variables)
    .filter(([name]) => variableOverrides === undefined || variableOverrides.includes(name))
    .map(([name, value]) => ({ name, value: scalarOf(value) }))

const scalarOf = (value: unknown): unknown => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value)

const LONGEST_MESSAGE = 10_000

function endMessage(plan: FlowPlan, { visits }: FlowState, jobs: StepJobs, status: PhaseStatus): string {
  const phaseById = new Map(plan.phases.map((phase) => [phase.id, phase]))
  const failures = visits.flatMap(({ phaseId, tasks }) =>
    tasks.flatMap(({ steps }, index) => {
      const phase = phaseById.get(phaseId)!
      const task = phase.tasks[index]!
      const last = steps.at(-1)
      const end = last && endOfStep(last, jobs, task.timeLimitMs)
      return end && isFailure(end.status) ? [`Task "${task.name}" of phase "${phase.name}" failed: ${end.message}`] : []
    }),
  )
  const tasks = visits.reduce((sum, visit) => sum + visit.tasks.filter(({ steps }) => steps.length > 0).length, 0)
  const done = status === 'error' ? 'The flow failed.' : `${tasks} task${tasks === 1 ? ' was' : 's were'} processed.`
  return [done, ...failures].join('\n').slice(0, LONGEST_MESSAGE)
}
