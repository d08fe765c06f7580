// Jobs over HTTP only: mappings of existing tables, of types, nulls and keys.

import assert from 'node:assert/strict'
import test from 'node:test'
import { type Job, type ShellStack, shareShellStack } from '../support/shell-stack.ts'

const startProject = shareShellStack()

const TABLE = 'in.c-out.t'

/** A component that writes what its configuration contains: a file, and beside it a manifest. */
async function writerStack(data: object = {}) {
  const stack = await startProject()
  await stack.add(
    'test.writer',
    `${process.execPath} -e 'const fs = require("fs"); const d = process.env.KBC_DATADIR; const { csv, manifest } = JSON.parse(fs.readFileSync(d + "config.json")).parameters; fs.writeFileSync(d + "out/tables/t", csv); fs.writeFileSync(d + "out/tables/t.manifest", JSON.stringify(manifest))'`,
    data,
  )
  const write = (csv: string, manifest: object, output: object = {}, more: object = {}): Promise<Job> =>
    run(stack, {
      parameters: { csv, manifest: { destination: TABLE, ...manifest } },
      storage: { output },
      ...more,
    })
  return { ...stack, write }
}

async function run(stack: ShellStack, configData: object): Promise<Job> {
  const answer = await stack.request('POST', '/queue/test.writer/run', { json: { configData } })
  assert.equal(answer.status, 202, answer.text)
  return stack.wait(answer.json<Job>())
}

const succeeded = (job: Job): void => assert.equal(job.status, 'success', JSON.stringify(job.error))

function refused(job: Job, message: RegExp): void {
  assert.match(job.error?.message ?? 'it did not fail', message)
  assert.equal(job.result.error?.type, 'user')
}

/** Rows in order of their first value; null and the empty text differ. */
async function rowsOf(stack: ShellStack, table = TABLE): Promise<(string | null)[][]> {
  const answer = await stack.request('GET', `/v2/storage/tables/${table}/data-preview?format=json`)
  assert.equal(answer.status, 200, answer.text)
  const { rows } = answer.json<{ rows: { value: string | null }[][] }>()
  return rows.map((row) => row.map(({ value }) => value)).sort()
}

interface Detail {
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
  readonly definition?: {
    readonly columns: readonly { readonly name: string; readonly definition: Readonly<Record<string, unknown>> }[]
  }
  readonly columnMetadata: Readonly<Record<string, readonly { readonly key: string; readonly value: string }[]>>
}
const detailOf = async (stack: ShellStack): Promise<Detail> => (await stack.request('GET', `/v2/storage/tables/${TABLE}`)).json()

const column = (name: string, type: string, more: object = {}, length?: string) => ({
  name,
  data_type: { base: { type, ...(length && { length }) } },
  ...more,
})
const typed = { data_type_support: 'authoritative' }

test('treat_values_as_null: these texts are null in a typed table, new or old, and the empty text in an untyped one', async () => {
  const stack = await writerStack()
  const schema = [column('id', 'INTEGER'), column('n', 'INTEGER'), column('s', 'STRING')]
  const output = { ...typed, treat_values_as_null: ['N/A', '-'] }
  refused(await stack.write('1,N/A,x\n', { schema }, typed), /N\/A/)
  succeeded(await stack.write('1,N/A,\n2,-,N/A\n', { schema }, output))
  assert.deepEqual(await rowsOf(stack), [
    ['1', null, ''],
    ['2', null, null],
  ])
  succeeded(await stack.write('3,N/A,-\n', { schema, incremental: true }, output))
  assert.deepEqual((await rowsOf(stack))[2], ['3', null, null])
  succeeded(await stack.write('id\nN/A\n', { destination: 'in.c-out.text' }, { treat_values_as_null: ['N/A'] }))
  assert.deepEqual(await rowsOf(stack, 'in.c-out.text'), [['']])
})

test('deduplication_strategy: rows are added beside each other where there is no key; a key is upserted', async () => {
  const stack = await writerStack()
  const insert = { deduplication_strategy: 'insert', incremental: true }
  succeeded(await stack.write('id\n1\n', insert))
  succeeded(await stack.write('id\n1\n', insert))
  assert.deepEqual(await rowsOf(stack), [['1'], ['1']])
  const keyed = { destination: 'in.c-out.keyed', primary_key: ['id'], incremental: true }
  const message = /in\.c-out\.keyed has the primary key "id".*deduplication_strategy "insert" is not allowed/
  refused(await stack.write('id\n1\n', { ...keyed, ...insert }), message)
  succeeded(await stack.write('id\n1\n', { ...keyed, deduplication_strategy: 'upsert' }))
  refused(await stack.write('id\n1\n', { destination: 'in.c-out.keyed', ...insert }), message)
  succeeded(await stack.write('id\n1\n', { ...keyed, deduplication_strategy: 'upsert' }))
  assert.deepEqual(await rowsOf(stack, 'in.c-out.keyed'), [['1']])
  refused(await stack.write('id\n1\n', { deduplication_strategy: 'replace' }), /must be one of "insert", "upsert"/)
})

test('table_modifications: a run changes of a table that is there what its configuration allows', async () => {
  const stack = await writerStack()
  const with_ = (table_modifications: string) => ({ table_modifications })
  succeeded(await stack.write('id,v\n1,a\n', { primary_key: ['id'] }, with_('none')))
  succeeded(await stack.write('id,v\n2,b\n', { primary_key: ['id'] }, with_('none')))
  refused(
    await stack.write('id,v,w\n1,a,x\n', {}, with_('none')),
    /change the table in\.c-out\.t.*"none".*the column "w" would be added/,
  )
  const key = /the primary key would be "id", "v", and is "id"/
  refused(await stack.write('id,v\n1,a\n', { primary_key: ['id', 'v'] }, with_('none')), key)
  refused(await stack.write('id,v,w\n1,a,x\n', { primary_key: ['id', 'v'] }, with_('non-destructive')), key)
  assert.deepEqual(await rowsOf(stack), [['2', 'b']])
  succeeded(await stack.write('id,v,w\n1,a,x\n', {}, with_('non-destructive')))
  // The key may name a column that comes with the same load.
  succeeded(await stack.write('id,v,w,k\n1,a,x,y\n', { primary_key: ['id', 'k'] }, with_('all')))
  const { columns, primaryKey } = await detailOf(stack)
  assert.deepEqual(
    [columns, primaryKey],
    [
      ['id', 'v', 'w', 'k'],
      ['id', 'k'],
    ],
  )
})

test('a key that the rows of a table do not allow is not set, which the job says, and the rows come in', async () => {
  const stack = await writerStack()
  succeeded(await stack.write('id,v\n1,a\n1,b\n', {}))
  const job = await stack.write('id,v\n1,c\n', { primary_key: ['id'], incremental: true })
  succeeded(job)
  assert.deepEqual(await rowsOf(stack), [
    ['1', 'a'],
    ['1', 'b'],
    ['1', 'c'],
  ])
  assert.deepEqual((await detailOf(stack)).primaryKey, [])
  const said = (await stack.request('GET', `/queue/jobs/${job.id}/events`)).text
  assert.match(said, /in\.c-out\.t keeps its primary key \(none\)\. The columns \\"id\\" cannot be the primary key: 2 rows/)
  // A load that replaces the rows also removes what stood against the key.
  succeeded(await stack.write('id,v\n1,d\n', { primary_key: ['id'] }))
  assert.deepEqual((await detailOf(stack)).primaryKey, ['id'])
})

test('a typed table gets columns with their types and takes more, but no column changes its type', async () => {
  const stack = await writerStack({})
  const id = column('id', 'INTEGER', { primary_key: true })
  succeeded(await stack.write('1,2\n', { schema: [id, column('n', 'NUMERIC', { nullable: false }, '10,2')] }, typed))
  const wider = [id, column('n', 'NUMERIC', {}, '20,2'), column('at', 'DATE')]
  const again = (schema: object[], table_modifications?: string) =>
    stack.write('2,3,2026-01-02\n', { schema, incremental: true }, { ...typed, table_modifications })
  refused(await again(wider, 'none'), /the column "at" would be added, the column "n" would take more values/)
  succeeded(await again(wider, 'non-destructive'))
  const { definition, columnMetadata } = await detailOf(stack)
  const definitionOf = (name: string) => definition?.columns.find((one) => one.name === name)?.definition
  assert.deepEqual(definitionOf('n'), { type: 'NUMERIC', nullable: true, length: '20,2' })
  assert.deepEqual(definitionOf('at'), { type: 'DATE', nullable: true })
  assert.deepEqual(
    columnMetadata.at?.filter(({ key }) => key === 'KBC.datatype.basetype').map(({ value }) => value),
    ['DATE'],
  )
  assert.deepEqual(await rowsOf(stack), [
    ['1', '2.00', null],
    ['2', '3.00', '2026-01-02'],
  ])
  refused(
    await again([id, column('n', 'STRING'), column('at', 'DATE')]),
    /column "n" of table in\.c-out\.t has the type NUMERIC\(20,2\), but the load specifies STRING/,
  )
  refused(await again([id, column('n', 'NUMERIC', {}, '20,4'), column('at', 'DATE')]), /the load specifies NUMERIC\(20,4\)/)
})

test('a column that takes more keeps the type it was given', async () => {
  const stack = await writerStack()
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'out' } })
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-out/tables-definition', {
    json: { name: 't', columns: [{ name: 'n', definition: { type: 'NUMBER', length: '10,2', nullable: false } }] },
  })
  await stack.wait(made.json<Job>())
  succeeded(await stack.write('1.5\n', { schema: [column('n', 'NUMERIC', {}, '12,2')] }, typed))
  assert.deepEqual((await detailOf(stack)).definition?.columns[0]?.definition, { type: 'NUMBER', nullable: true, length: '12,2' })
})

test('columns are told apart by their letters, not by their case', async () => {
  const stack = await writerStack()
  succeeded(await stack.write('id,v\n1,a\n', { primary_key: ['id'] }))
  const more = { primary_key: ['ID'], incremental: true, column_metadata: { V: [{ key: 'k', value: 'x' }] } }
  succeeded(await stack.write('ID,V\n1,b\n', more, { table_modifications: 'none' }))
  assert.deepEqual(await rowsOf(stack), [['1', 'b']])
  assert.deepEqual(
    (await detailOf(stack)).columnMetadata.v?.map(({ key }) => key),
    ['k'],
  )
})

test('a default that is not of its type is refused', async () => {
  const stack = await writerStack()
  const schema = [{ name: 'id', data_type: { base: { type: 'INTEGER', default: 'none' } } }]
  refused(await stack.write('1\n', { schema }, typed), /default "none" of column "id" is not a valid INTEGER/)
})

test('a delete rule for a column the table does not have is an error', async () => {
  const stack = await writerStack()
  succeeded(await stack.write('id\n1\n', {}))
  const rule = { incremental: true, delete_where_column: 'nowhere', delete_where_values: ['1'] }
  refused(await stack.write('id\n2\n', rule), /nowhere/)
  assert.deepEqual(await rowsOf(stack), [['1']])
})

test('one file may become several tables, with the columns of its header or those of a mapping', async () => {
  const stack = await writerStack()
  const tables = [
    { source: 't', destination: 'in.c-out.headed' },
    { source: 't', destination: 'in.c-out.named', columns: ['a', 'b'] },
  ]
  succeeded(await stack.write('id,v\n1,x\n', {}, { tables }))
  assert.deepEqual(await rowsOf(stack, 'in.c-out.headed'), [['1', 'x']])
  assert.deepEqual(await rowsOf(stack, 'in.c-out.named'), [
    ['1', 'x'],
    ['id', 'v'],
  ])
})

test('a table that is stored as a file has the tags of its mapping and manifest', async () => {
  const stack = await writerStack({})
  await stack.add(
    'test.filer',
    'cd "$KBC_DATADIR/out/tables"; echo a > one; echo b > two; echo \'{"tags":["said"]}\' > two.manifest',
    {},
    {
      features: ['allow-use-file-storage-only'],
    },
  )
  const answer = await stack.request('POST', '/queue/test.filer/run', {
    json: {
      configData: {
        runtime: { use_file_storage_only: true },
        storage: { output: { tables: [{ source: 'one', tags: ['mapped'] }], table_files: { tags: ['all'] } } },
      },
    },
  })
  succeeded(await stack.wait(answer.json<Job>()))
  const files = (await stack.request('GET', '/v2/storage/files')).json<{ name: string; tags: string[] }[]>()
  const tagsOf = (name: string) => files.find((file) => file.name === name)?.tags.filter((tag) => !tag.includes(':'))
  assert.deepEqual(
    [tagsOf('one'), tagsOf('two')],
    [
      ['all', 'mapped'],
      ['all', 'said'],
    ],
  )
})

test('a mapping for a workspace is refused in words', async () => {
  const stack = await writerStack()
  const tables = [{ destination: 'in.c-out.x', unload_strategy: 'direct-grant' }]
  refused(await stack.write('id\n1\n', {}, { tables }), /unload_strategy "direct-grant" is for results in a workspace/)
  refused(await stack.write('id\n1\n', { unload_strategy: 'direct-grant' }), /come from files here/)
})
