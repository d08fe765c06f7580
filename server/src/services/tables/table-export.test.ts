import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../tests/support/table-client.ts'
import { startTestStack } from '../../../../tests/support/test-stack.ts'

test('an export answered from an earlier one counts as one: run, event, size and link are there', async (t) => {
  const stack = await startTestStack(t)
  const { bucket, create, succeed } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const run = async (runId: string) =>
    succeed(
      await stack.request('POST', '/v2/storage/tables/in.c-main.t/export-async', {
        json: { gzip: true },
        headers: { 'X-KBC-RunId': runId },
      }),
    )
  const first = await run('11')
  const again = await run('22')
  await run('22')
  const { file } = first.results as { file: { id: number } }
  assert.deepEqual(again.results, { file, cacheHit: true })
  assert.deepEqual(again.metrics, first.metrics)
  const record = (await stack.request('GET', `/v2/storage/files/${file.id}`)).json()
  assert.deepEqual([record.runId, record.runIds], ['11', ['11', '22']])
  const ofRun = async (runId: string) =>
    (await stack.request('GET', `/v2/storage/files?runId=${runId}`)).json<{ id: number }[]>().map(({ id }) => id)
  assert.deepEqual([await ofRun('11'), await ofRun('22'), await ofRun('2')], [[file.id], [file.id], []])
  const events = (await stack.request('GET', '/v2/storage/tables/in.c-main.t/events'))
    .json<{ event: string; runId: string; attachments: { id: number }[] }[]>()
    .filter(({ event }) => event === 'storage.tableExported')
  assert.deepEqual(
    events.map(({ runId, attachments }) => [runId, attachments.map(({ id }) => id)]),
    [
      ['22', [file.id]],
      ['22', [file.id]],
      ['11', [file.id]],
    ],
  )
})

test('a filter compares with a moment in words where its type is TIME_STRING', async (t) => {
  const stack = await startTestStack(t)
  const { bucket, create, exported } = tableClient(stack)
  await bucket()
  const recent = new Date(Date.now() - 3_600_000).toISOString().replace('T', ' ').slice(0, 19)
  await create('in.c-main', 't', `id,at\nold,2020-01-01 00:00:00\nnew,${recent}\n`)
  const filter = { column: 'at', operator: 'gt', values: ['-2 days'], type: 'TIME_STRING' }
  assert.equal(await exported('in.c-main.t', { columns: 'id', whereFilters: [filter] }), '"new"\n')
  assert.equal(
    await exported('in.c-main.t', { columns: 'id', whereFilters: [{ ...filter, operator: 'lt', type: 'time_string' }] }),
    '"old"\n',
  )
  for (const wrong of [
    { ...filter, values: ['someday'] },
    { ...filter, type: 'WORDS' },
  ]) {
    const answer = await stack.request('POST', '/v2/storage/tables/in.c-main.t/export-async', { json: { whereFilters: [wrong] } })
    assert.deepEqual([answer.status, answer.json().code], [400, 'storage.tables.validation'])
  }
})
