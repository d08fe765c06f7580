// A job of the queue, run by the job runner: the job's hold on its record also holds the development branch it writes to, so that
// nothing is published into a branch that was deleted meanwhile.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { type JobRunnerDeps, runJob } from './run-job.ts'

export interface RunQueuedJobDeps {
  readonly runner: JobRunnerDeps
  /** Loads what decrypting the secrets of a project needs, outside of transactions. */
  readonly prepare: (projectId: number) => Promise<void>
  readonly holdBranch: (trx: Trx, projectId: number, branchId: number) => Promise<void>
}

type Handle = Parameters<typeof runJob>[1]

export async function runQueuedJob({ runner, prepare, holdBranch }: RunQueuedJobDeps, handle: Handle) {
  const { projectId, branchId, isDefaultBranch } = handle.job
  await prepare(projectId)
  const hold: Handle['hold'] = async (trx) => {
    await handle.hold(trx)
    if (!isDefaultBranch) await holdBranch(trx, projectId, branchId)
  }
  return runJob(runner, { ...handle, hold })
}
