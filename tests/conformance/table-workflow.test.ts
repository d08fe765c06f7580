// The import workflow of the specification, and the export with its slices joined in order: over HTTP and S3 only.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { prepareFile, uploadClient } from '../support/clients/file-client.ts'
import { type JobAnswer, tableClient } from '../support/clients/table-client.ts'
import { shareTestStack } from '../support/test-stack.ts'

const startProject = shareTestStack()

test('a file is prepared, uploaded, imported by an asynchronous job and polled; the table is there', async () => {
  const stack = await startProject()
  const { finish, detail, rows } = tableClient(stack)
  assert.equal((await stack.request('POST', '/v2/storage/buckets', { form: { name: 'main', stage: 'in' } })).status, 201)

  // 1. prepare, 2. upload with the temporary credentials
  const file = await prepareFile(stack, { name: 'new-table.csv', sizeBytes: 40 })
  const { bucket, key } = file.uploadParams!
  const csv = 'id;name\r\n1;"Jan ""Honza"" Novák"\r\n2;"two\nlines; and a delimiter"\r\n'
  await uploadClient(file).send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: csv }))

  // 3. import, as form fields
  const created = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', {
    form: { name: 'new-table', dataFileId: String(file.id), delimiter: ';', enclosure: '"' },
  })
  assert.equal(created.status, 202)
  const job = created.json<JobAnswer>()
  assert.equal(job.status, 'waiting')
  assert.match(job.url, /^http:\/\/127\.0\.0\.1:\d+\/v2\/storage\/jobs\/\d+$/)
  assert.equal(job.operationName, 'tableCreate')
  assert.deepEqual([job.tableId, job.results], [null, null])

  // 4. poll until it is neither waiting nor processing
  const ended = await finish(created)
  assert.equal(ended.status, 'success', JSON.stringify(ended.error))
  assert.equal(ended.tableId, 'in.c-main.new-table')
  assert.equal((ended.results as { id: string }).id, 'in.c-main.new-table')
  assert.deepEqual((ended.results as { columns: string[] }).columns, ['id', 'name'])

  const table = await detail('in.c-main.new-table')
  assert.deepEqual([table.rowsCount, table.columns, table.primaryKey], [2, ['id', 'name'], []])
  assert.deepEqual(await rows('in.c-main.new-table'), [
    ['1', 'Jan "Honza" Novák'],
    ['2', 'two\nlines; and a delimiter'],
  ])
})

test('an import that fails while running ends with status error and a message; the table is not made', async () => {
  const stack = await startProject()
  const { bucket, upload, finish } = tableClient(stack)
  const id = await bucket()
  const dataFileId = await upload('id,name\n1,a\n2,"b\n')
  const job = await finish(
    await stack.request('POST', `/v2/storage/buckets/${id}/tables-async`, { json: { name: 't', dataFileId } }),
  )
  assert.equal(job.status, 'error')
  assert.equal(job.error?.code, 'invalidCsv')
  assert.match(job.error?.message ?? '', /line 3/)
  assert.equal((await stack.request('GET', `/v2/storage/tables/${id}.t`)).status, 404)
})

test('an import that cannot be created answers with status error and an error value', async () => {
  const stack = await startProject()
  await tableClient(stack).bucket()
  const answer = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', {
    json: { name: 't', dataFileId: 999 },
  })
  assert.equal(answer.status, 404)
  assert.equal(answer.json().status, 'error')
  assert.equal(answer.json().code, 'storage.files.notFound')
  assert.ok(answer.json().error)
})

test('an export is a sliced file without a header; its slices joined in order are the table', async () => {
  const stack = await startProject()
  const { bucket, create, exported, succeed } = tableClient(stack)
  const id = await bucket()
  const lines = Array.from({ length: 5000 }, (_, i) => `"${i}","value ""${i}""\nof ${i}"`)
  await create(id, 'many', `"id","text"\n${lines.join('\n')}\n`)
  for (const gzip of [false, true]) assert.equal(await exported(`${id}.many`, { gzip }), `${lines.join('\n')}\n`)
  const job = await succeed(await stack.request('POST', `/v2/storage/tables/${id}.many/export-async`, { json: { gzip: true } }))
  const fileId = (job.results as { file: { id: number } }).file.id
  const file = (await stack.request('GET', `/v2/storage/files/${fileId}`)).json()
  assert.deepEqual([file.isSliced, file.tags, file.maxAgeDays, file.name], [true, ['table-export'], 2, `${id}.many.csv.gz`])
  assert.deepEqual((job.results as { cacheHit: boolean }).cacheHit, true)
})
