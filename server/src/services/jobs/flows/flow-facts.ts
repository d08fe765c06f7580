// What conditions may read: tasks and phases that have ended, variables, the time.

import { formatTimestamp } from '../../../kit/clock.ts'
import type { StepJob, StepJobs } from '../../../model/flow-ports.ts'
import type { Facts, TaskView } from './conditions.ts'
import type { FlowPlan } from './flow-plan.ts'
import { endOfStep, type FlowState } from './flow-state.ts'

export function factsOf(plan: FlowPlan, { visits, variables }: FlowState, jobs: StepJobs, now: number): Facts {
  const tasks = new Map<string, TaskView>()
  const phases = new Map<string, string>()
  const limits = new Map(plan.phases.flatMap((phase) => phase.tasks.map((task) => [task.id, task.timeLimitMs])))
  for (const { phaseId, status, tasks: runs } of visits.toReversed()) {
    // From the newest visit back: a loop has many, and only the last end of a task or a phase counts.
    if (status !== null && !phases.has(phaseId)) phases.set(phaseId, status)
    for (const { taskId, steps } of runs.toReversed()) {
      const step = steps.at(-1)
      const end = step && !tasks.has(taskId) ? endOfStep(step, jobs, limits.get(taskId) ?? null) : undefined
      if (!step || !end) continue
      const job = jobs.get(step.kind === 'job' ? step.jobId : (step.end.jobId ?? 0))
      tasks.set(taskId, {
        taskId,
        phaseId,
        status: end.status,
        get job() {
          return job ? jobRecord(job) : { status: end.status, result: { message: end.message } } // few conditions read it
        },
      })
    }
  }
  return { tasks: [...tasks.values()].reverse(), phases, variables, now: new Date(now) }
}

/** In the names of the job record (spec platform 2.3). */
const jobRecord = ({ id, status, component, config, startedAt, endedAt, result, error }: StepJob) => ({
  id: String(id),
  status,
  component,
  config,
  startTime: timeOf(startedAt),
  endTime: timeOf(endedAt),
  durationSeconds: startedAt === null || endedAt === null ? 0 : Math.round((endedAt - startedAt) / 1000),
  result,
  ...(error !== null && { error: { message: error } }),
})

const timeOf = (ms: number | null): string | null => (ms === null ? null : formatTimestamp(new Date(ms)))
