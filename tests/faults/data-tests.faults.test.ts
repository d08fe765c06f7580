// Invariants 1 and 3 for loads with data tests: what is killed between the test and the publication leaves the table whole.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

interface Job {
  readonly id: number
  readonly status: string
  readonly error?: { readonly code: string }
}

const TABLE = '/v2/storage/tables/in.c-main.t'
/** Takes seconds, and finds nothing. */
const SLOW = 'SELECT 1 AS a FROM (SELECT count(*) AS n FROM range(100000000) a WHERE hash(a.range) % 7 = 3) WHERE n < 0'

async function upload(stack: Stack, csv: string): Promise<number> {
  const form = new FormData()
  form.set('data', new Blob([csv]), 't.csv')
  const headers = { 'x-storageapi-token': stack.masterToken }
  const answer = await fetch(`${stack.url}/import/upload-file`, { method: 'POST', headers, body: form })
  assert.equal(answer.status, 200)
  return ((await answer.json()) as { id: number }).id
}

const ended = (stack: Stack, { id }: Job): Promise<Job> =>
  until(`job ${id} ends`, async () => {
    const job = (await stack.get(`/v2/storage/jobs/${id}`)).body as Job
    return (job.status === 'success' || job.status === 'error') && job
  })

const rowsOf = async (stack: Stack): Promise<unknown> => ((await stack.get(TABLE)).body as { rowsCount: number }).rowsCount

test('a stack that is killed while a load is tested has the state before, and then the state after', async (t) => {
  const stack = await startStack(t)
  await stack.post('/v2/storage/buckets', { name: 'main', stage: 'in' })
  const created = await stack.post('/v2/storage/buckets/in.c-main/tables-async', {
    name: 't',
    dataFileId: await upload(stack, 'id\n1\n'),
  })
  assert.equal((await ended(stack, created.body as Job)).status, 'success')
  const json = { tableId: 'in.c-main.t', name: 'slow', type: 'sql', parameters: { sql: SLOW } }
  assert.equal((await stack.post('/v2/storage/data-tests', json)).status, 201)

  const started = await stack.post(`${TABLE}/import-async`, { dataFileId: await upload(stack, 'id\n1\n2\n') })
  const job = started.body as Job
  await until('the load is tested', async () => {
    const { status } = (await stack.get(`/v2/storage/jobs/${job.id}`)).body as Job
    assert.notEqual(status, 'success')
    return status === 'processing'
  })
  await stack.kill()
  await stack.start()
  const between = await rowsOf(stack)
  assert.ok(between === 1 || between === 2, `rows after the kill: ${between}`)
  const last = await ended(stack, job)
  assert.equal(last.status, 'success', JSON.stringify(last.error))
  assert.equal(await rowsOf(stack), 2)
  assert.equal(((await stack.get(`${TABLE}/data-tests/runs`)).body as unknown[]).length, 1)
})
