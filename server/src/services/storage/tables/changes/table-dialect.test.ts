// Types as the backend that a project reports names them, by the points of corrections-2.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../../tests/support/clients/table-client.ts'
import { shareTestStack } from '../../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

interface Defined {
  readonly columns: string[]
  readonly columnMetadata: Record<string, { key: string; value: string }[]>
  readonly definition: {
    columns: { name: string; basetype: string; definition: { type: string; length?: string; default?: string } }[]
  }
}

async function start(backend?: 'snowflake' | 'bigquery') {
  const stack = await startProject()
  if (backend) await stack.platform.tokens.setProject(stack.projectId, { backend })
  const client = tableClient(stack)
  await client.bucket()
  const define = async (name: string, columns: readonly object[]) => {
    await client.succeed(
      await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', { json: { name, columns } }),
    )
    return (await client.detail(`in.c-main.${name}`)) as unknown as Defined
  }
  const shown = ({ definition }: Defined) =>
    Object.fromEntries(
      definition.columns.map(({ name, basetype, definition: { type, length } }) => [
        name,
        [type, length, basetype].filter((one) => one !== undefined).join(' '),
      ]),
    )
  return { ...stack, ...client, define, shown }
}

const typed = (types: Readonly<Record<string, string>>) =>
  Object.entries(types).map(([name, type]) => {
    const [, native = type, length] = /^(.*?)(?:\((.*)\))?$/.exec(type) ?? []
    return { name, definition: { type: native, ...(length && { length }) } }
  })

test('dialect (b), G15: a project that reports snowflake has its type names and default lengths', async () => {
  const { define, shown, rows, load } = await start('snowflake')
  const made = await define('t', [
    ...typed({ int: 'INT', text: 'STRING', number: 'NUMBER', short: 'NUMBER(37)', money: 'DECIMAL(10,2)', one: 'CHAR' }),
    ...typed({ varchar: 'VARCHAR(200)', double: 'DOUBLE', time: 'TIMESTAMP', zoned: 'TIMESTAMP_TZ', bytes: 'VARBINARY' }),
    ...typed({ place: 'GEOGRAPHY', json: 'VARIANT', flag: 'BOOLEAN', day: 'DATE' }),
    { name: 'base', basetype: 'INTEGER' },
    { name: 'decimal', basetype: 'NUMERIC' },
    { name: 'plain', basetype: 'STRING' },
  ])
  assert.deepEqual(shown(made), {
    int: 'NUMBER 38,0 NUMERIC',
    text: 'VARCHAR 16777216 STRING',
    number: 'NUMBER 38,0 NUMERIC',
    short: 'NUMBER 37,0 NUMERIC',
    money: 'NUMBER 10,2 NUMERIC',
    one: 'VARCHAR 1 STRING',
    varchar: 'VARCHAR 200 STRING',
    double: 'FLOAT FLOAT',
    time: 'TIMESTAMP_NTZ 9 TIMESTAMP',
    zoned: 'TIMESTAMP_TZ 9 TIMESTAMP',
    bytes: 'BINARY 8388608 STRING',
    place: 'GEOGRAPHY STRING',
    json: 'VARIANT STRING',
    flag: 'BOOLEAN BOOLEAN',
    day: 'DATE DATE',
    base: 'NUMBER 38,0 NUMERIC',
    decimal: 'NUMBER 38,9 NUMERIC',
    plain: 'VARCHAR 16777216 STRING',
  })
  const said = Object.fromEntries((made.columnMetadata.int ?? []).map(({ key, value }) => [key, value]))
  assert.deepEqual(said, {
    'KBC.datatype.type': 'NUMBER',
    'KBC.datatype.nullable': '1',
    'KBC.datatype.basetype': 'NUMERIC',
    'KBC.datatype.length': '38,0',
  })
  await define('n', typed({ n: 'NUMBER', f: 'FLOAT', t: 'TIMESTAMP_TZ' }))
  await load('in.c-main.n', 'n,f,t\n1,123,2021-01-01 10:00:00 +0000\n')
  assert.deepEqual(await rows('in.c-main.n'), [['1', '123', '2021-01-01 10:00:00.000']])
})

test('dialect (b): previews write milliseconds for snowflake, and lose no digit', async () => {
  const { define, rows, load } = await start('snowflake')
  await define('t', typed({ t: 'TIMESTAMP_NTZ' }))
  await load('in.c-main.t', 't\n2021-01-01\n2021-01-01 10:00:00.5\n2021-01-01 10:00:00.123456\n""\n0999-01-01 00:00:00\n')
  assert.deepEqual(await rows('in.c-main.t'), [
    ['2021-01-01 00:00:00.000'],
    ['2021-01-01 10:00:00.500'],
    ['2021-01-01 10:00:00.123456'],
    [null],
    ['0999-01-01 00:00:00.000'],
  ])
})

test('dialect (b): a value that a column does not take is reported in the words of the backend', async () => {
  const types = { n: 'NUMBER(4)', f: 'FLOAT', b: 'BOOLEAN', d: 'DATE', t: 'TIMESTAMP', s: 'VARCHAR(3)' }
  const words = {
    snowflake: [
      ['n', 'aaa', 'Load error: Numeric value \'aaa\' is not recognized. Row 1 of data.csv, column "n"'],
      ['n', '12345', "Load error: Numeric value '12345' is out of range."],
      ['f', 'x', "Load error: Numeric value 'x' is not recognized."],
      ['b', 'x', "Load error: Boolean value 'x' is not recognized."],
      ['d', 'x', "Load error: Date 'x' is not recognized."],
      ['t', 'x', "Load error: Timestamp 'x' is not recognized."],
      ['s', 'abcd', "Load error: String 'abcd' is too long and would be truncated."],
    ],
    bigquery: [['f', 'x', "Load error: Could not parse 'x' as DOUBLE for field f."]],
  } as const
  for (const backend of ['snowflake', 'bigquery'] as const) {
    const { define, finish, upload, request } = await start(backend)
    for (const [column, value, text] of words[backend]) {
      const name = `t_${column}_${value}`
      await define(name, typed({ [column]: types[column] }))
      const json = { dataFileId: await upload(`${column}\n${value}\n`) }
      const { error } = await finish(await request('POST', `/v2/storage/tables/in.c-main.${name}/import-async`, { json }))
      assert.deepEqual([error?.code, error?.message?.slice(0, text.length)], ['storage.tables.invalidValue', text])
    }
  }
})

test('dialect (b): defaults of both backends are SQL literals', async () => {
  for (const [backend, type] of [
    ['snowflake', 'VARCHAR'],
    ['bigquery', 'STRING'],
  ] as const) {
    const { define, rows, load } = await start(backend)
    const made = await define('t', [
      { name: 'id', definition: { type: 'INT' } },
      { name: 'city', definition: { type, nullable: false, default: "'O''Hara'" } },
    ])
    assert.equal(made.definition.columns.find(({ name }) => name === 'city')?.definition.default, "'O''Hara'")
    await load('in.c-main.t', '1\n', { columns: ['id'] })
    assert.deepEqual(await rows('in.c-main.t'), [['1', "O'Hara"]], backend)
  }
})

test('dialect (b): types without a counterpart here are stored as text under their name', async () => {
  for (const [backend, types] of [
    ['snowflake', { a: 'VARIANT', b: 'GEOGRAPHY', c: 'VECTOR' }],
    ['bigquery', { a: 'STRUCT', b: 'INTERVAL', c: 'RANGE' }],
  ] as const) {
    const { define, shown } = await start(backend)
    const expected = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, `${type} STRING`]))
    assert.deepEqual(shown(await define('t', typed(types))), expected)
  }
})

test('dialect (b), G15: a project that reports bigquery has its type names, and no sizes of workspaces', async () => {
  const { define, shown, request } = await start('bigquery')
  const made = await define('t', [
    ...typed({ a: 'INTEGER', b: 'INT64', c: 'BOOL', d: 'FLOAT64', e: 'STRING', f: 'NUMERIC(10,2)', g: 'TIMESTAMP' }),
    { name: 'h', basetype: 'INTEGER' },
  ])
  assert.deepEqual(shown(made), {
    a: 'INTEGER INTEGER',
    b: 'INTEGER INTEGER',
    c: 'BOOLEAN BOOLEAN',
    d: 'FLOAT FLOAT',
    e: 'STRING STRING',
    f: 'NUMERIC 10,2 NUMERIC',
    g: 'TIMESTAMP TIMESTAMP',
    h: 'INTEGER INTEGER',
  })
  const sized = await request('POST', '/v2/storage/workspaces', { json: { backend: 'bigquery', backendSize: 'small' } })
  assert.deepEqual([sized.status, sized.json<{ code: string }>().code], [400, 'workspace.unsupportedBackendSize'])
})

test('dialect (b): columns of a definition are sorted by name, those of the table are not', async () => {
  const { define, shown, load, rows } = await start()
  const made = await define('t', typed({ name: 'VARCHAR', id: 'INT', price: 'FLOAT' }))
  assert.deepEqual(
    made.definition.columns.map(({ name }) => name),
    ['id', 'name', 'price'],
  )
  assert.deepEqual(made.columns, ['name', 'id', 'price'])
  assert.deepEqual(shown(made), { id: 'INT INTEGER', name: 'VARCHAR STRING', price: 'FLOAT FLOAT' })
  await load('in.c-main.t', 'name,id,price\na,1,123\nb,2,1.5\n')
  assert.deepEqual(await rows('in.c-main.t'), [
    ['a', '1', '123'],
    ['b', '2', '1.5'],
  ])
})
