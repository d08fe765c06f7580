// Storage jobs that a tool waits for, because its answer names what they created.

import { setTimeout as delay } from 'node:timers/promises'
import { PlatformError } from '../../../kit/errors.ts'
import { type Api, Refused } from './api.ts'

const MAX_WAIT_MS = 25_000
const POLL_MS = 100

/** Rejects with the error of the job. One that takes longer goes on, and the caller is told its id. */
export async function waitForStorageJob(api: Api, id: number): Promise<void> {
  for (let waited = 0; waited < MAX_WAIT_MS; waited += POLL_MS) {
    const job = await api.get<{ status: string; error?: { code: string; message: string } }>(`/v2/storage/jobs/${id}`)
    if (job.status === 'success') return
    if (job.status === 'error') throw new Refused(400, job.error?.code ?? 'unknown', job.error?.message ?? 'The job failed.')
    await delay(POLL_MS)
  }
  throw new PlatformError('mcp.stillRunning', { id })
}
