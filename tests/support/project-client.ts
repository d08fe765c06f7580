// A project of its own on a test stack, spoken to with its master token.

import assert from 'node:assert/strict'
import type { Job } from './shell-stack.ts'
import { type Answer, type RequestOptions, send, type TestStack } from './test-stack.ts'
import { until } from './until.ts'

export interface StorageJob {
  readonly id: number
  readonly status: string
  readonly results: unknown
  readonly error?: { readonly message: string; readonly code: string }
}

export type ProjectClient = Awaited<ReturnType<typeof newProjectClient>>

/** Paths are below /v2/storage unless they begin with a slash. */
export async function newProjectClient(stack: TestStack, name: string) {
  const { projectId, masterToken } = await stack.newProject(name)
  const call = (method: string, path: string, options: RequestOptions = {}): Promise<Answer> =>
    send(stack.url, method, path.startsWith('/') ? path : `/v2/storage/${path}`, { token: masterToken, ...options })
  const ok = async <T = Readonly<Record<string, unknown>>>(method: string, path: string, json?: unknown): Promise<T> => {
    const answer = await call(method, path, json === undefined ? {} : { json })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.text === '' ? (undefined as T) : answer.json<T>()
  }
  /** A job of the queue, as it ended. */
  const run = async (component: string, config: string): Promise<Job> => {
    const { id } = await ok<Job>('POST', '/queue/jobs', { component, config, mode: 'run' })
    return until(`job ${id} ends`, async () => {
      const job = await ok<Job>('GET', `/queue/jobs/${id}`)
      return job.isFinished && job
    })
  }
  /** A storage job, as it ended. */
  const finished = async ({ id }: Pick<StorageJob, 'id'>): Promise<StorageJob> =>
    until(`storage job ${id} ends`, async () => {
      const job = await ok<StorageJob>('GET', `jobs/${id}`)
      return ['success', 'error'].includes(job.status) && job
    })
  return { projectId, masterToken, call, ok, run, finished }
}
