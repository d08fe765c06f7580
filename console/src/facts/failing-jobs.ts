// Which configurations fail now, by their newest jobs.

import type { Job } from '../../../client/src/operations.ts'
import { isOver } from './job.ts'

const FLOWS = ['keboola.flow', 'keboola.orchestrator']

type Looked = Pick<Job, 'component' | 'config' | 'status' | 'runId'>

/** Of each configuration the newest run that has ended, when it failed. Jobs come newest first. */
export function failingNow<J extends Looked>(jobs: readonly J[]): readonly J[] {
  const newest = new Map<string, J>()
  for (const job of jobs) {
    const key = `${job.component} ${job.config}`
    if (isOver(job.status) && job.config !== null && !newest.has(key)) newest.set(key, job)
  }
  const failed = [...newest.values()].filter((job) => job.status === 'error')
  // A flow fails with its task: the task is the cause.
  return failed.filter(
    ({ component, runId }) => !(FLOWS.includes(component) && failed.some((task) => task.runId.startsWith(`${runId}.`))),
  )
}
