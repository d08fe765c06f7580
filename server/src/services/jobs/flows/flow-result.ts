// The result of a flow, while it runs and when it has ended: `result.tasks` and `result.phases` (spec platform 2.8).

import { defined } from '../../../kit/defined.ts'
import type { StepJob, StepJobs } from '../../../model/flow-ports.ts'
import type { FlowPlan, PlannedPhase, PlannedTask } from './flow-plan.ts'
import { endOfStep, type FlowState, isFailure, type Step, type StepEnd } from './flow-state.ts'

export interface TaskResult {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly phase: string
  /** Of a task that has not started: waiting; of one that never will: skipped. */
  readonly status: string
  readonly component: string | null
  readonly jobId: string | null
  readonly duration: number
  readonly startTime: string | null
  readonly results: readonly StepResult[]
  /** Adopted from an earlier run. */
  readonly isKept?: boolean
}

interface StepResult {
  readonly jobId: string | null
  readonly status: string
  readonly duration: number
  readonly result: { readonly message?: string; readonly error?: unknown }
}

export interface PhaseResult {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly duration: number
  readonly startTime: string | null
}

/** A phase that was visited several times shows its last visit. */
export function resultOf(plan: FlowPlan, state: FlowState, jobs: StepJobs, now: number, hasEnded: boolean) {
  const visits = new Map(state.visits.map((visit) => [visit.phaseId, visit]))
  const notStarted = hasEnded ? 'skipped' : 'waiting'
  const phases = plan.phases.map(({ id, name }): PhaseResult => {
    const visit = visits.get(id)
    return {
      id,
      name,
      status: visit ? (visit.status ?? 'processing') : notStarted,
      duration: visit ? secondsBetween(visit.startedAt, visit.endedAt ?? now) : 0,
      startTime: timeOf(visit?.startedAt ?? null),
    }
  })
  const tasks = plan.phases.flatMap((phase) =>
    phase.tasks.map((task, index): TaskResult => {
      const steps = visits.get(phase.id)?.tasks[index]?.steps ?? []
      return taskResult(phase, task, steps, { jobs, now }, task.isEnabled ? notStarted : 'skipped')
    }),
  )
  return { phases, tasks, variables: state.variables }
}

function taskResult(
  phase: PlannedPhase,
  task: PlannedTask,
  steps: readonly Step[],
  { jobs, now }: { readonly jobs: StepJobs; readonly now: number },
  idle: string,
): TaskResult {
  const results = steps.map((step) => stepResult(step, task, jobs, now))
  const last = steps.at(-1)
  const end = last && endOfStep(last, jobs, task.timeLimitMs)
  const job = last?.kind === 'job' ? jobs.get(last.jobId) : undefined
  const isTolerated = end !== undefined && isFailure(end.status) && (phase.isTolerant || task.continueOnFailure)
  return {
    id: task.id,
    name: task.name,
    type: task.work.type,
    phase: phase.id,
    status: end ? (isTolerated ? 'warning' : shortStatus(end)) : (job?.status ?? (last ? 'created' : idle)),
    component: task.work.type === 'job' ? task.work.component : null,
    jobId: last ? jobIdOf(last) : null,
    duration: results.reduce((sum, { duration }) => sum + duration, 0),
    startTime: timeOf(end?.startedAt ?? job?.startedAt ?? null),
    results,
    ...(last?.kind === 'done' && last.end.isKept && { isKept: true }),
  }
}

function stepResult(step: Step, { timeLimitMs }: PlannedTask, jobs: StepJobs, now: number): StepResult {
  const end = endOfStep(step, jobs, timeLimitMs)
  const job = step.kind === 'job' ? jobs.get(step.jobId) : undefined
  const startedAt = end?.startedAt ?? job?.startedAt ?? null
  return {
    jobId: jobIdOf(step),
    status: end ? shortStatus(end) : (job?.status ?? 'created'),
    duration: startedAt === null ? 0 : secondsBetween(startedAt, end?.endedAt ?? now),
    result: { ...(end && { message: end.message.slice(0, LONGEST_MESSAGE) }), ...errorOf(job) },
  }
}

/** The results of a thousand tasks go into one record. */
const LONGEST_MESSAGE = 1_000

const errorOf = (job: StepJob | undefined) => (job?.result.error === undefined ? {} : { error: job.result.error })

/** Clients expect the statuses of jobs; the finer ones are for conditions. */
const shortStatus = ({ status }: StepEnd): string => (isFailure(status) ? 'error' : status)

function jobIdOf(step: Step): string | null {
  const id = step.kind === 'job' ? step.jobId : step.end.jobId
  return id === undefined || id === 0 ? null : String(id)
}

const secondsBetween = (from: number, to: number): number => Math.max(0, Math.round((to - from) / 1000))

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString().replace(/\.\d+Z$/, '+0000'))

/** The tasks that succeeded, for a run that continues from there. */
export function succeededTasks(plan: FlowPlan, state: FlowState, jobs: StepJobs): Record<string, StepEnd> {
  const limits = new Map(plan.phases.flatMap((phase) => phase.tasks.map((task) => [task.id, task.timeLimitMs])))
  const kept: Record<string, StepEnd> = {}
  for (const { taskId, steps } of state.visits.flatMap(({ tasks }) => tasks)) {
    const last = steps.at(-1)
    const end = last && endOfStep(last, jobs, limits.get(taskId) ?? null)
    delete kept[taskId] // the last visit counts
    if (!last || !end || isFailure(end.status)) continue
    const jobId = last.kind === 'job' ? last.jobId : last.end.jobId
    kept[taskId] = { ...end, isKept: true, ...defined({ jobId }) }
  }
  return kept
}
