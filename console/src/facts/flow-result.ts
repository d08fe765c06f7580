// Phases and tasks in the record of a flow's job.

import type { Job } from '../../../client/src/operations.ts'
import { plural } from '../format.ts'

export interface TaskResult {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly status: string
  readonly component: string | null
  readonly jobId: string | null
  readonly duration: number
  readonly startTime: string | null
  readonly isKept?: boolean
  readonly results: readonly { readonly result: { readonly message?: string } }[]
}

export interface PhaseResult {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly duration: number
}

export interface FlowResult {
  readonly tasks?: readonly TaskResult[]
  readonly phases?: readonly PhaseResult[]
}

export const flowResultOf = (job: Job): FlowResult | undefined => {
  const result = job.result as FlowResult
  return result.phases && result.tasks ? result : undefined
}

/** "Nightly shop finished 5 of 7 tasks. Clean orders failed." */
export function flowSentence(name: string, { tasks = [] }: FlowResult): string {
  const done = tasks.filter(({ status }) => status === 'success' || status === 'warning')
  const failed = tasks.filter(({ status }) => status === 'error')
  const running = tasks.filter(({ status }) => status === 'processing')
  const first = `${name} finished ${done.length} of ${plural(tasks.length, 'task')}.`
  if (failed.length > 0) {
    const left = tasks.filter(({ status }) => status === 'skipped').length
    return `${first} ${failed.map((task) => task.name).join(', ')} failed${left > 0 ? `, so ${plural(left, 'task')} ${left === 1 ? 'was' : 'were'} left out` : ''}.`
  }
  return running.length > 0
    ? `${first} ${running.map((task) => task.name).join(', ')} ${running.length === 1 ? 'is' : 'are'} running.`
    : first
}
