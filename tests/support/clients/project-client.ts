// A project of its own on a test stack, used with its master token.

import assert from 'node:assert/strict'
import type { Job } from '../shell-stack.ts'
import { type Answer, type RequestOptions, send, type TestStack } from '../test-stack.ts'
import { until } from '../until.ts'

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
  /** A refusal: its status, and whatever of `error`, `code` and `errors` matters. */
  const refused = async (
    request: readonly [method: string, path: string, json?: unknown],
    status: number,
    expected: { readonly error?: string | RegExp; readonly code?: string; readonly errors?: unknown },
    token = masterToken,
  ): Promise<void> => {
    const [method, path, json] = request
    const answer = await call(method, path, { token, ...(json === undefined ? {} : { json }) })
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    assertError(answer.json(), expected)
  }
  /** Starts a storage job that succeeds; answers its results. */
  const succeed = async <T = Readonly<Record<string, unknown>>>(method: string, path: string, json?: unknown): Promise<T> => {
    const job = await finished(await ok<StorageJob>(method, path, json))
    assert.equal(job.status, 'success', `${method} ${path}: ${JSON.stringify(job.error)}`)
    return job.results as T
  }
  /** Starts a storage job that fails. */
  const fail = async (
    request: readonly [method: string, path: string, json?: unknown],
    expected: { readonly error?: string | RegExp; readonly code?: string },
  ): Promise<void> => {
    const job = await finished(await ok<StorageJob>(...request))
    assert.equal(job.status, 'error', `${request[0]} ${request[1]} succeeded`)
    assertError({ error: job.error?.message, code: job.error?.code }, expected)
  }
  /** A bucket `in.c-NAME` and its id. */
  const bucket = async (named = 'a'): Promise<string> => (await ok<{ id: string }>('POST', 'buckets', { name: named })).id
  /** Uploads a plain CSV; answers the id of the file. */
  const upload = async (content: string, fileName = 'data.csv'): Promise<number> => {
    const body = new FormData()
    body.set('data', new Blob([content]), fileName)
    const answer = await call('POST', '/import/upload-file', { body })
    assert.ok(answer.status < 300, answer.text)
    return answer.json<{ id: number }>().id
  }
  /** A table from a CSV; answers its id. */
  const table = async (bucketId: string, named: string, csv: string, fields: object = {}): Promise<string> => {
    const request = { name: named, dataFileId: await upload(csv), ...fields }
    return (await succeed<{ id: string }>('POST', `buckets/${bucketId}/tables-async`, request)).id
  }
  /** All rows of a small table, as CSV with a header. */
  const rows = async (tableId: string): Promise<string> => (await call('GET', `tables/${tableId}/data-preview`)).text
  const token = (json: object) => ok<{ id: string; token: string }>('POST', 'tokens', json)
  /** A development branch; answers its id. */
  const branch = async (named: string): Promise<number> =>
    (await succeed<{ id: number }>('POST', 'dev-branches', { name: named })).id
  return {
    projectId,
    masterToken,
    call,
    ok,
    run,
    finished,
    refused,
    succeed,
    fail,
    bucket,
    upload,
    table,
    rows,
    token,
    branch,
  }
}

function assertError(
  given: { readonly error?: unknown; readonly code?: unknown; readonly errors?: unknown },
  expected: { readonly error?: string | RegExp; readonly code?: string; readonly errors?: unknown },
): void {
  if (typeof expected.error === 'string') assert.equal(given.error, expected.error)
  if (expected.error instanceof RegExp) assert.match(String(given.error), expected.error)
  if (expected.code !== undefined) assert.equal(given.code, expected.code, JSON.stringify(given))
  if (expected.errors !== undefined) assert.deepEqual(given.errors, expected.errors)
}
