// Input that is too much of something, through the API: refused with its name, bounded by the configuration, never a half table.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { prepareFile, uploadClient } from '../../../../../tests/support/clients/file-client.ts'
import { type TableAnswer, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'

const ROWS = process.env.MILLRACE_LONG ? 10_000_000 : 1_000_000

/** Past the 32 MiB that a row may have. */
const FIELD_MIB = process.env.MILLRACE_LONG ? 100 : 40

const WIDE_COLUMNS = process.env.MILLRACE_LONG ? 4000 : 1000

/** So many that the rows do not fit into the memory of a worker at once. */
const WIDE_ROWS = process.env.MILLRACE_LONG ? 5000 : 2

const loadInto = async (stack: TestStack, tableId: string, dataFileId: number) =>
  tableClient(stack).finish(await stack.request('POST', `/v2/storage/tables/${tableId}/import-async`, { json: { dataFileId } }))

test('a gzip bomb fails its job at the size that the configuration allows; the table is as before', async (t) => {
  const stack = await startTestStack(t, { tables: { maxInflatedBytes: 8 << 20 } })
  const { bucket, create, upload, rows } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const packed = gzipSync(`id\n${'0\n'.repeat(8 << 20)}`)
  assert.ok(packed.length < 1 << 20, 'a bomb is small')
  const failed = await loadInto(stack, 'in.c-main.t', await upload(packed, 'bomb.csv.gz'))
  assert.equal(failed.error?.code, 'invalidCsv')
  assert.match(failed.error?.message ?? '', /bomb\.csv\.gz unpacks to more than \d+ bytes/)
  assert.deepEqual(await rows('in.c-main.t'), [['1']])
})

test(`a field of ${FIELD_MIB} MiB is refused with its line, or loaded where the configuration allows such rows`, async (t) => {
  const csv = Buffer.concat([Buffer.from('id,v\n1,"'), Buffer.alloc(FIELD_MIB << 20, 'x'), Buffer.from('"\n2,y\n')])
  const stack = await startTestStack(t)
  const client = tableClient(stack)
  await client.bucket()
  await client.create('in.c-main', 't', 'id,v\n0,a\n')
  const refused = await loadInto(stack, 'in.c-main.t', await client.upload(csv))
  assert.equal(refused.error?.code, 'rowTooLarge')
  assert.match(refused.error?.message ?? '', /line 2/)
  assert.deepEqual(await client.rows('in.c-main.t'), [['0', 'a']])

  const permissive = await startTestStack(t, { tables: { maxRowBytes: 128 << 20, workerMemoryMb: 3072 } })
  const large = tableClient(permissive)
  await large.bucket()
  await large.create('in.c-main', 't', csv)
  const [first, second] = (await permissive.request('GET', '/v2/storage/tables/in.c-main.t/data-preview?format=json')).json<{
    rows: { value: string; isTruncated: boolean }[][]
  }>().rows
  assert.deepEqual([first?.[1]?.isTruncated, first?.[1]?.value.length, second?.[1]?.value], [true, 16_384, 'y'])
  const exported = await large.exported('in.c-main.t')
  assert.equal(exported.length, (FIELD_MIB << 20) + '"1",""\n"2","y"\n'.length)
})

test(`${WIDE_COLUMNS} columns of ${WIDE_ROWS} rows are created, loaded, previewed and exported; 4,097 are refused`, async (t) => {
  const stack = await startTestStack(t)
  const { bucket, create, load, upload, finish, rows, exported } = tableClient(stack)
  await bucket()
  const names = Array.from({ length: WIDE_COLUMNS }, (_, i) => `a_column_with_a_long_name_${i}`)
  const csv = (from: number) =>
    [names, ...Array.from({ length: WIDE_ROWS }, (_, r) => names.map((_, i) => `${from + r}.${i}`))]
      .map((row) => row.join())
      .join('\n')
  const created = await create('in.c-main', 'wide', csv(0), { primaryKey: names[0] })
  assert.equal((created.results as TableAnswer).columns.length, WIDE_COLUMNS)
  await load('in.c-main.wide', csv(WIDE_ROWS / 2), { incremental: true })
  assert.deepEqual(await rows('in.c-main.wide', `columns=${names.at(-1)}&limit=2&orderBy[0][column]=${names[0]}`), [
    [`0.${WIDE_COLUMNS - 1}`],
    [`1.${WIDE_COLUMNS - 1}`],
  ])
  assert.equal((await exported('in.c-main.wide', { gzip: true })).split('\n').length, 1.5 * WIDE_ROWS + 1)
  assert.equal((await rows('in.c-main.wide', 'limit=2')).length, 2)
  const more = [...names, ...Array.from({ length: 4097 - WIDE_COLUMNS }, (_, i) => `extra_${i}`)]
  const tooMany = await finish(
    await stack.request('POST', '/v2/storage/tables/in.c-main.wide/import-async', {
      json: { dataFileId: await upload(`${more.join()}\n`) },
    }),
  )
  assert.equal(tooMany.error?.code, 'storage.maxNumberOfColumnsExceed')
})

test(`${ROWS} rows of one column, blank ones among them, load and are counted`, async (t) => {
  const stack = await startTestStack(t)
  const { bucket, succeed, detail, exported } = tableClient(stack)
  await bucket()
  const file = await prepareFile(stack, { name: 'rows.csv' })
  const body = Buffer.alloc(2 * ROWS + 3)
  body.write('id\n')
  for (let i = 0; i < ROWS; i++) body.write(i % 1000 === 0 ? '\n' : `${i % 10}\n`, bytesBefore(i))
  const { bucket: Bucket, key: Key } = file.uploadParams!
  const used = bytesBefore(ROWS)
  await uploadClient(file).send(new PutObjectCommand({ Bucket, Key, Body: body.subarray(0, used) }))
  await succeed(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', { json: { name: 'tall', dataFileId: file.id } }),
  )
  assert.equal((await detail('in.c-main.tall')).rowsCount, ROWS)
  const blank = await exported('in.c-main.tall', { whereFilters: [{ column: 'id', values: [''] }] })
  assert.equal(blank.length, (ROWS / 1000) * '""\n'.length)
})

/** Every thousandth row is blank and a byte shorter. */
const bytesBefore = (row: number): number => 3 + 2 * row - Math.ceil(row / 1000)
