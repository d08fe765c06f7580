// A project of its own on a shared stack, and requests to /v2/storage with its master token: for tests that share one stack.

import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { RecordedEvent } from '../event-definitions.ts'
import { type Answer, type RequestOptions, send, type TestStack } from '../test-stack.ts'

export interface EventAnswer extends RecordedEvent {
  readonly id: number
  readonly [member: string]: unknown
}

export interface StorageJob {
  readonly id: number
  readonly status: string
  readonly results: unknown
  readonly error?: { readonly message: string; readonly code: string }
}

export async function projectClient(stack: TestStack, name: string) {
  const { projectId, masterToken } = await stack.newProject(name)
  const call = (method: string, path: string, options: RequestOptions = {}): Promise<Answer> =>
    send(stack.url, method, `/v2/storage/${path}`, { token: masterToken, ...options })
  const ok = async (method: string, path: string, options: RequestOptions = {}): Promise<Answer> => {
    const answer = await call(method, path, options)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  const refused = async (method: string, path: string, options: RequestOptions, status: number, error: string | RegExp) => {
    const answer = await call(method, path, options)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    const text = answer.json<{ error: string }>().error
    if (typeof error === 'string') assert.equal(text, error)
    else assert.match(text, error)
    return answer
  }
  const token = async (json: object) => (await ok('POST', 'tokens', { json })).json<{ id: string; token: string }>()
  const events = async (query = '', path = 'events') => (await ok('GET', `${path}?${query}`)).json<EventAnswer[]>()
  const finished = async (answer: Answer): Promise<StorageJob> => {
    let job = answer.json<StorageJob>()
    while (!['success', 'error'].includes(job.status)) {
      await setTimeout(10)
      job = (await ok('GET', `jobs/${job.id}`)).json<StorageJob>()
    }
    return job
  }
  /** A development branch; answers its id. */
  const branch = async (named: string): Promise<number> => {
    const job = await finished(await ok('POST', 'dev-branches', { json: { name: named } }))
    assert.equal(job.status, 'success', JSON.stringify(job.error))
    return (job.results as { id: number }).id
  }
  return { projectId, masterToken, call, ok, refused, token, events, finished, branch }
}
