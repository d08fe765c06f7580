// Storage jobs: polled until they end; a failed one throws its own message.

import { ApiError } from '../../../client/src/client.ts'
import { api } from '../session.ts'

export interface StorageJob {
  readonly id: number
  readonly status: string
  readonly results?: unknown
  readonly error?: { readonly code: string; readonly message: string; readonly exceptionId: string } | null
}

const FIRST_LOOK_MS = 100
const LONGEST_MS = 2000

export async function finishStorageJob(started: unknown): Promise<StorageJob> {
  let job = started as StorageJob // operations that start one answer it
  for (
    let wait = FIRST_LOOK_MS;
    job.status === 'waiting' || job.status === 'processing';
    wait = Math.min(wait * 1.5, LONGEST_MS)
  ) {
    await new Promise((resolve) => setTimeout(resolve, wait))
    job = (await api.call('storageJobs.get', { path: { id: String(job.id) } })) as unknown as StorageJob
  }
  if (job.status !== 'success')
    throw new ApiError(400, {
      error: job.error?.message ?? 'The job failed.',
      code: job.error?.code ?? 'error',
      exceptionId: job.error?.exceptionId ?? '',
    })
  return job
}
