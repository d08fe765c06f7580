// Storage jobs that a tool waits for, because its answer names what they created.

import { setTimeout as delay } from 'node:timers/promises'
import { Refused } from '../../../http/inner/inner-api.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Api } from './api.ts'

interface StorageJob {
  readonly status: string
  readonly results: unknown
  readonly error?: { readonly code: string; readonly message: string }
}

const MAX_WAIT_MS = 25_000
const POLL_MS = 100

/** Its results. Rejects with the error of the job. One that takes longer continues, and the caller gets its id. */
export async function waitForStorageJob<Results = unknown>(api: Api, id: number): Promise<Results> {
  for (let waited = 0; waited < MAX_WAIT_MS; waited += POLL_MS) {
    const job = await api.get<StorageJob>(`/v2/storage/jobs/${id}`)
    if (job.status === 'success') return job.results as Results // of the operation that the caller has started
    if (job.status === 'error') throw new Refused(400, job.error?.code ?? 'unknown', job.error?.message ?? 'The job failed.')
    await delay(POLL_MS)
  }
  throw new PlatformError('mcp.stillRunning', { id })
}
