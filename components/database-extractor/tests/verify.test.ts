// Source and table are proved equal by checksums, differences are found to the row, and only their ranges are read again.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createEgressGuard } from '../../../contract/egress-guard.ts'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { chance, SEED } from '../../../tests/support/chance.ts'
import { runCli } from '../../../tests/support/run-cli.ts'
import {
  anyFloat,
  anyHex,
  anyText,
  digits,
  oneOf,
  POSTGRESQL_VALUES,
  signed,
} from '../../../tests/support/servers/random-values.ts'
import { connectionTo, openDatabase as openSource } from '../../../tests/support/servers/source-database.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { ALL_TYPES, readDatabase } from '../../connector-kit/src/database/connection.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { OPEN } from '../../http-extractor/src/http/egress-policy.ts'
import { openHere } from '../src/compare/here.ts'
import { verifyAll } from '../src/compare/verify.ts'
import { readRow } from '../src/configuration.ts'
import { openDatabase } from '../src/open-database.ts'

const inbox = mkdtempSync(join(tmpdir(), 'millrace-verify-'))
test.after(() => rmSync(inbox, { recursive: true, force: true }))
const startProject = shareShellStack({
  worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'], folders: { read: { inbox }, write: { inbox } } },
})
const COMPONENT = 'platform.ex-database'
const IS_LONG = process.env.MILLRACE_LONG !== undefined

interface Ended {
  readonly status: string
  readonly result: { readonly message: string }
  readonly log: string
}

/** A configuration and a way to run rows of it that are not stored. What only compares needs no job, unless `isJob`. */
async function setUp(stack: ShellStack, db: object, isJob = false) {
  const config = await stack.configure(COMPONENT, { parameters: { db } })
  const bucket = `in.c-platform-ex-database-${config}`
  const run = async (parameters: object): Promise<Ended> => {
    if (!isJob && 'mode' in parameters && parameters.mode === 'verify') return compared(stack, bucket, { db, ...parameters })
    const configData = { parameters: { db, ...parameters } }
    const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run', configData } })
    assert.equal(answer.status, 201, answer.text)
    const job = await stack.wait(answer.json<Job>())
    return { ...job, log: await said(stack, job) }
  }
  const good = async (parameters: object): Promise<string> => {
    const { status, result, log } = await run(parameters)
    assert.equal(status, 'success', `${result.message}\n${log}`)
    return log
  }
  return { config, run, good, bucket }
}

/** As the program does it, in this process. */
async function compared(
  { url, masterToken }: ShellStack,
  bucket: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<Ended> {
  const row = readRow(parameters)
  const dataDir = mkdtempSync(join(inbox, 'run-'))
  const lines: string[] = []
  const say = (line: string) => void lines.push(line)
  const log = { debug: say, info: say, warning: say, error: say, isDebug: false }
  const guard = createEgressGuard({ policy: OPEN, refusal: (host) => new Error(`refused: ${host}`) })
  const database = await openDatabase(readDatabase(parameters, ALL_TYPES), { guard, folders: { inbox }, dataDir })
  try {
    const here = openHere({ KBC_URL: url, KBC_TOKEN: masterToken })
    await verifyAll([{ database, row, here, tableId: `${bucket}.${row.outputTable}`, dataDir, log }])
    return { status: 'success', result: { message: '' }, log: lines.join('\n') }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { status: 'error', result: { message: error.message }, log: lines.join('\n') }
  } finally {
    await database.close()
  }
}

const said = async (stack: ShellStack, job: Job): Promise<string> => {
  const events = (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=500`)).json<{ message: string }[]>()
  return events.map(({ message }) => message).join('\n')
}

const query = async (stack: ShellStack, sql: string): Promise<unknown[][]> => {
  const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ rows: unknown[][] }>().rows
}

test('every type of PostgreSQL has the same text in source and table', async (t) => {
  const { url, run: execute } = await openSource(t)
  const stack = await startProject()
  await execute(`create type mood as enum ('sad', 'happy'); create domain cents as numeric(10,2);
    create table kinds (id int primary key, small smallint, big bigint, wide numeric(38,9), free numeric, cents cents, tens numeric(5,-2),
      single real, twice double precision, yes boolean, day date, moment timestamp, zoned timestamptz, short_zoned timestamptz(2), clock time, span interval,
      words text, short varchar(10), fixed char(6), doc jsonb, plain json, list int[], texts text[], bytes bytea, feeling mood, key uuid, bits bit(3), price money,
      address inet, net cidr, "range" int4range, letter "char", "Odd "" name" text)`)
  const numbers = [
    '0',
    '-0',
    '0.1',
    '1e15',
    '1234567890123456.8',
    '-1e15',
    '9.007199254740993e15',
    '1e16',
    '1e-4',
    '1e-5',
    '5e-324',
  ]
  const floats = [
    ...numbers,
    '1.7976931348623157e308',
    'NaN',
    'Infinity',
    '-Infinity',
    '100',
    '1234567',
    '16777217',
    '3.4e38',
    '123456.789',
    '-2.5e-7',
  ]
  for (const [at, float] of floats.entries())
    await execute(
      `insert into kinds (id, twice, single) values (${at + 100}, '${float}', ${/324|308/.test(float) ? 'null' : `'${float}'`})`,
    )
  for (const id of [1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
    await execute(`insert into kinds values
    (${id}, -32768, 9223372036854775807, 12345678901234567890123456789.123456789, 12345678901234567890.123456789, -0.10, 12300,
     1.1, 0.1, true, '0001-01-01', '2026-02-28 23:59:59.120000', '2026-03-29 03:30:00.5+02', '2026-01-01 00:00:00.129Z', '13:14:15.5', '1 day 2 hours',
     E'a "b",\\nc\\\\N ž漢😀\\r\\n\\tT3:x,N', 'N', 'ab', '{"a": [1, null]}', '{"b":  1.50}', '{1,null,3}', '{"a,b","",NULL}', '\\x00ff61', 'happy',
     'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '101', 12.5, '10.0.0.1', '10.0.0.0/8', '[1,5)', 'x', '')`)
  await execute(
    `insert into kinds (id, day, moment, zoned, words, short) values (2, 'infinity', '-infinity', '0044-03-15 BC', '', null)`,
  )
  const { good, run } = await setUp(stack, connectionTo(url))
  for (const invalidValues of IS_LONG ? ['null', 'text'] : ['null']) {
    const row = { table: { tableName: 'kinds' }, outputTable: `kinds_${invalidValues}`, invalidValues }
    await good(row)
    assert.match(await good({ ...row, mode: 'verify' }), /is equal to its source \(33 rows in the source, 33 in .*33 columns/)
  }
  const changes = [
    "words = words || ' '",
    "short = ''",
    'short = null',
    `plain = '{"b": 1.50}'`,
    "fixed = 'ab c'",
    "address = '10.0.0.1/24'",
  ]
  changes.push(
    "twice = '0.10000000000000002'",
    "moment = moment + interval '1 microsecond'",
    'wide = wide + 0.000000001',
    "texts = '{}'",
  )
  for (const [at, change] of changes.entries()) await execute(`update kinds set ${change} where id = ${at + 10}`)
  await execute("update kinds set twice = '1.0000000000000001e15' where id = 103; update kinds set twice = 'NaN' where id = 113")
  const job = await run({ table: { tableName: 'kinds' }, outputTable: 'kinds_null', invalidValues: 'null', mode: 'verify' })
  assert.match(job.result.message, new RegExp(`0 rows missing, ${changes.length + 2} with other values, 0 not in the source`))
})

test('differences are found to the row, and repaired by reading their ranges only', async (t) => {
  const { url, run: execute } = await openSource(t)
  const stack = await startProject()
  await execute(`create table orders as select i as id, 'customer ' || i % 97 as customer, i * 0.01 as price from generate_series(1, 20000) as i;
    alter table orders add primary key (id)`)
  const { run, good, bucket } = await setUp(stack, connectionTo(url), true)
  const row = { table: { tableName: 'orders' } }
  await good(row)
  assert.match(await good({ ...row, mode: 'verify' }), /Verified: .*20000 rows in the source, 20000 in /)
  await execute(`delete from orders where id in (7, 19000); update orders set customer = null where id = 10001;
    insert into orders values (-5, 'x', 1), (70000, '', 2)`)
  const job = await run({ ...row, mode: 'verify' })
  assert.equal(job.status, 'error')
  assert.match(job.result.message, /2 rows missing, 1 with other values, 2 not in the source/)
  const { log } = job
  assert.match(log, /missing: -5/)
  assert.match(log, /other values: 10001/)
  assert.match(log, /not in the source: 19000/)
  const report = await query(
    stack,
    `select sum(missing), sum(changed), sum(extra), max(result) from "${bucket}".millrace_verification where number > 0`,
  )
  assert.deepEqual(report.map(String), ['2,1,2,different'])
  const repaired = await good({ ...row, mode: 'repair' })
  const [, read] = /Repaired .*: (\d+) rows? of \d+ ranges? read again, 2 rows/.exec(repaired) ?? []
  assert.ok(Number(read) >= 3 && Number(read) < 15_000, `${read} rows were read again`)
  assert.match(await good({ ...row, mode: 'verify' }), /Verified: .*20000 rows in the source, 20000 in /)
})

const KEYS = [
  ['several columns', 'tenant int, id text', "select i % 2, 'k' || i / 2"],
  ['texts', 'id text', "select case when i % 3 = 0 then 'É' when i % 3 = 1 then 'z-' else 'A ' end || i"],
  ['times with a zone', 'id timestamptz', "select timestamptz '2026-01-01' + i * interval '1 minute 1 microsecond'"],
  ['uuids', 'id uuid', 'select md5(i::text)::uuid'],
  ['decimal numbers', 'id numeric(20,3)', 'select i * 1.5 - 3000'],
  ['bytes', 'id bytea', "select decode(md5(i::text), 'hex')"],
  ['floating-point numbers', 'id double precision', 'select i / 7.0::double precision - 100'],
] as const

for (const [name, definition, rows] of IS_LONG ? KEYS : KEYS.slice(0, 1))
  test(`keys that are ${name} divide a table the same way on both sides`, async (t) => {
    const { url, run: execute } = await openSource(t)
    const stack = await startProject()
    const key = name === 'several columns' ? 'tenant, id' : 'id'
    await execute(
      `create table keyed (${definition}, note text, primary key (${key})); insert into keyed (${key}) ${rows} from generate_series(1, ${IS_LONG ? 12000 : 6000}) as i`,
    )
    const { run, good } = await setUp(stack, connectionTo(url))
    const row = { table: { tableName: 'keyed' } }
    await good(row)
    await good({ ...row, mode: 'verify' })
    await execute(
      `update keyed set note = 'x' where ctid in (select ctid from keyed order by id limit 3); delete from keyed where ctid in (select ctid from keyed order by id desc limit 2)`,
    )
    const job = await run({ ...row, mode: 'verify' })
    assert.match(job.result.message, /0 rows missing, 3 with other values, 2 not in the source/)
    await good({ ...row, mode: 'repair' })
    await good({ ...row, mode: 'verify' })
  })

test('a SQLite file is compared by the values that it has', async () => {
  const stack = await startProject()
  const file = new DatabaseSync(join(inbox, 'a.db'))
  file.exec(`create table items (id integer primary key, price real, name text, picture blob, mixed);
    insert into items values (1, 0.1, 'a "b",\nč😀', x'00ff', 1), (9007199254740993, 1e300, '', null, 'two'), (3, 2, null, null, 1.5), (4, 1e-7, 'T', x'', null), (5, -0.0, null, null, null)`)
  const { run, good } = await setUp(stack, { type: 'sqlite', folder: 'inbox', path: 'a.db' })
  const row = { table: { tableName: 'items' } }
  await good(row)
  assert.match(await good({ ...row, mode: 'verify' }), /is equal to its source \(5 rows/)
  file.exec(
    'update items set price = 0.1000000000000001 where id = 1; update items set name = null where id = 9007199254740993; delete from items where id = 3',
  )
  file.close()
  assert.match((await run({ ...row, mode: 'verify' })).result.message, /0 rows missing, 2 with other values, 1 not in the source/)
  await good({ ...row, mode: 'repair', deletesLimitPercent: 25 })
  assert.match(await good({ ...row, mode: 'verify' }), /is equal to its source \(4 rows/)
})

test('rows that changed since they were read are told from lost ones, and deleted ones that are kept are no difference', async (t) => {
  const { url, run: execute } = await openSource(t)
  const stack = await startProject()
  await execute(
    `create table log (id int primary key, word text, at timestamptz, part numeric(3,3) default -0.125, zero numeric(2,2) default 0); insert into log select i, 'w', timestamptz '2026-01-01' + i * interval '1 second' from generate_series(1, 100) as i`,
  )
  const { run, good } = await setUp(stack, connectionTo(url))
  const row = { table: { tableName: 'log' }, incrementalFetchingColumn: 'at' }
  await good(row)
  await execute(`update log set word = 'new', at = '2026-02-01' where id = 5; delete from log where id = 6`)
  const log = await good({ ...row, mode: 'verify' })
  assert.match(log, /1 row was changed in the source since .* was read/)
  assert.match(log, /Only in .*: 1 row; deleted rows are kept/)
  await execute(`update log set word = 'unseen' where id = 7`)
  assert.match((await run({ ...row, mode: 'verify' })).result.message, /0 rows missing, 1 with other values, 0 not in the source/)
})

test('millrace verify runs every row that reads, and repairs with --repair', async (t) => {
  const { url, run: execute } = await openSource(t)
  const stack = await startProject()
  await execute(`create table a (id int primary key, v text); create table b (id int primary key, v text);
    insert into a select i, 'x' from generate_series(1, 10) as i; insert into b select * from a`)
  const reading = (tableName: string, storage: object = {}) => ({
    name: tableName,
    configuration: { parameters: { table: { tableName } }, storage },
  })
  const output = { tables: [{ source: 'b.csv', destination: 'in.c-mapped.bees' }] }
  const both = { tables: [{ tableName: 'a', outputTable: 'both_a' }, { tableName: 'b' }] }
  const config = await stack.configure(COMPONENT, { parameters: { db: connectionTo(url) } }, [
    reading('a'),
    reading('b', { output }),
    { name: 'both', configuration: { parameters: both, storage: { output } } },
  ])
  const read = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run' } })
  assert.equal((await stack.wait(read.json<Job>())).status, 'success')
  const millrace = (args: string[]) => runCli(['verify', ...args], { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken })
  const first = await millrace([config])
  assert.equal(first.code, 0, first.err)
  assert.match(first.out, /Verified: .*\.a is equal[\s\S]*Verified: in\.c-mapped\.bees is equal/)
  assert.match(first.out, /Verified: .*\.both_a is equal.*\nVerified: in\.c-mapped\.bees is equal/)
  await execute(`update b set v = 'y' where id = 3`)
  const second = await millrace([config])
  assert.equal(second.code, 1)
  assert.match(second.out, /other values: 3[\s\S]*in\.c-mapped\.bees differs from its source in 1 range/)
  const third = await millrace([config, '--repair'])
  assert.equal(third.code, 0, third.out)
  assert.match(third.out, /Repaired in\.c-mapped\.bees[\s\S]*Verified: in\.c-mapped\.bees is equal/)
  assert.match((await millrace([config, '--row', 'nope'])).err, /has no row "nope"/)
  assert.match((await millrace([config, '--component', 'platform.sql-transformation'])).err, /cannot be verified/)
})

test('what cannot be verified is refused with what to do', async (t) => {
  const { url, run: execute } = await openSource(t)
  const stack = await startProject()
  await execute(
    'create table there (id int primary key, a int); create table bare (a int); insert into bare values (1), (1), (2); insert into there values (1, 2)',
  )
  const { run, good } = await setUp(stack, connectionTo(url))
  const message = async (parameters: object) => (await run({ mode: 'verify', ...parameters })).result.message
  const invalid = (parameters: object) => () => readRow({ table, mode: 'verify', ...parameters })
  const table = { tableName: 'there' }
  assert.match(await message({ table }), /\.there does not exist in the project\. Run the row that reads it first/)
  assert.throws(invalid({ verifyTable: 'there' }), /verifyTable must be the id of a table/)
  assert.throws(invalid({ mode: 'prove' }), /mode must be read, verify, repair/)
  assert.throws(invalid({ deletesLimitPercent: 101 }), /from 0 to 100/)
  await good({ table })
  await good({ table: { tableName: 'bare' } })
  assert.match(await good({ table: { tableName: 'bare' }, mode: 'verify' }), /is equal to its source \(3 rows/)
  await execute('update bare set a = 3 where a = 2; alter table there add column b int')
  assert.match(await message({ table: { tableName: 'bare' } }), /differs from its source in 1 range/)
  assert.match(
    await message({ table: { tableName: 'bare' }, mode: 'repair' }),
    /has no primary key, so it cannot be repaired in parts/,
  )
  assert.match(await message({ table }), /lacks columns of the source: b\. Read the table again/)
  await execute('truncate there')
  assert.match(await message({ table, mode: 'repair' }), /1 of 1 rows of .* would be removed, more than 20 percent/)
})

test('captured tables are verified and repaired, too', async (t) => {
  const { url, run: execute } = await openSource(t)
  const stack = await startProject()
  await execute(
    `create table c (id int primary key, v text, doubled int generated always as (id * 2) stored); insert into c select i, 'x' from generate_series(1, 50) as i`,
  )
  const component = 'platform.ex-database-changes'
  const parameters = { db: connectionTo(url), tables: [{ tableName: 'c' }] }
  const config = await stack.configure(component, { parameters })
  const job = async (mode?: string) => {
    const configData = mode && { parameters: { ...parameters, mode } }
    const json = { component, config, mode: 'run', ...(configData && { configData }) }
    return stack.wait((await stack.request('POST', '/queue/jobs', { json })).json<Job>())
  }
  assert.equal((await job()).result.message, 'Component processing finished.')
  assert.match(await said(stack, await job('verify')), /Verified: .*\.c is equal to its source \(50 rows/)
  await execute(`delete from c where id = 1; update c set v = 'y' where id = 2`)
  assert.match((await job('verify')).result.message, /0 rows missing, 1 with other values, 1 not in the source/)
  assert.equal((await job('repair')).status, 'success')
  assert.equal((await job('verify')).status, 'success')
  assert.equal((await job()).status, 'success', 'the changes are read once more, with the same result')
  assert.equal((await job('verify')).status, 'success')
  await execute('select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = current_database()')
})

for (const deletes of ['remove', 'flag'] as const)
  for (const isIncremental of IS_LONG ? [true, false] : [deletes === 'remove'])
    test(`rows that were deleted in the source: ${deletes}, ${isIncremental ? 'by increments' : 'whole'}`, async (t) => {
      const { url, run: execute } = await openSource(t)
      const stack = await startProject()
      await execute(
        `create table people (id int, part text, born date, at int, primary key (id, part)); insert into people select i, 'p' || i % 3, '2000-01-01', i from generate_series(1, 9000) as i`,
      )
      const { run, good, bucket } = await setUp(stack, connectionTo(url))
      const row = { table: { tableName: 'people' }, deletes, ...(isIncremental && { incrementalFetchingColumn: 'at' }) }
      const counts = async () => {
        const flag = deletes === 'flag' ? 'count(*) filter (deleted_in_source)' : '0'
        const [counted] = await query(stack, `select count(*), ${flag}, count(born) from "${bucket}".people`)
        return counted?.map(Number)
      }
      await good(row)
      assert.deepEqual(await counts(), [9000, 0, 9000])
      await execute("delete from people where id in (3, 4000); insert into people values (9001, 'new', null, 9001)")
      await good(row)
      assert.deepEqual(await counts(), deletes === 'flag' ? [9001, 2, 9000] : [8999, 0, 8998])
      await execute('delete from people where id = 5000')
      await good(row)
      assert.deepEqual(await counts(), deletes === 'flag' ? [9001, 3, 9000] : [8998, 0, 8997])
      assert.match(await good({ ...row, mode: 'verify' }), /is equal to its source \(8998 rows/)
      await execute('delete from people where id > 4000')
      const refused = await run(row)
      assert.match(refused.result.message, /\d+ of \d+ rows of .* would be removed, more than 20 percent/)
      assert.equal((await counts())?.[0], deletes === 'flag' ? 9001 : 8998, 'nothing has changed')
      await good({ ...row, deletesLimitPercent: 60 })
      assert.match(await good({ ...row, mode: 'verify' }), /is equal to its source \(3998 rows/)
    })

const TRIPS = IS_LONG ? 25 : 1

test('random tables of every type: source, table and what is written to a target are equal', async (t) => {
  const [source, target] = [await openSource(t), await openSource(t)]
  const stack = await startProject()
  const deliver = async (config: string, table: string, db: object): Promise<void> => {
    const storage = { input: { tables: [{ source: table }] } }
    const parameters = { db, table: { tableName: table.split('.').at(-1) } }
    const json = { component: 'platform.wr-database', config, mode: 'run', configData: { parameters, storage } }
    const job = await stack.wait((await stack.request('POST', '/queue/jobs', { json })).json<Job>())
    assert.equal(job.status, 'success', `${job.result.message} (seed ${SEED})`)
  }
  const writer = await stack.configure('platform.wr-database', {})
  const { good, bucket } = await setUp(stack, connectionTo(source.url))
  const types = Object.keys(POSTGRESQL_VALUES)
  for (let trip = 0; trip < TRIPS; trip++) {
    const name = `trip_${trip}`
    await source.run(`create table ${name} (id int primary key, ${types.map((type, at) => `c${at} ${type}`).join(', ')})`)
    for (let id = 0; id < 60; id++) {
      const values = types.map((type) => (chance() < 0.15 ? null : POSTGRESQL_VALUES[type]!().replace(/-?NaN/, 'NaN')))
      const places = types.map((type, at) => `$${at + 1}::text::${type}`)
      await source.client.query(`insert into ${name} values (${id}, ${places.join(', ')})`, values)
    }
    await good({ table: { tableName: name } })
    assert.match(await good({ table: { tableName: name }, mode: 'verify' }), /is equal to its source \(60 rows/, `seed ${SEED}`)
    await deliver(writer, `${bucket}.${name}`, connectionTo(target.url))
    const arrived = await compared(stack, bucket, { db: connectionTo(target.url), table: { tableName: name }, mode: 'verify' })
    assert.match(arrived.log, /is equal to its source \(60 rows/, `${arrived.result.message} ${arrived.log} (seed ${SEED})`)
    const bits = `select id::text, encode(float8send(c${types.indexOf('double precision')}), 'hex') from ${name} order by id`
    assert.deepEqual((await target.run(bits)).rows, (await source.run(bits)).rows, `bit for bit (seed ${SEED})`)
    const file = new DatabaseSync(join(inbox, `${name}.db`))
    file.exec('create table items (id integer primary key, whole, part, words, bytes, mixed)')
    const insert = file.prepare('insert into items values (?, ?, ?, ?, ?, ?)')
    const number = () => Number(anyFloat().replace(/-?NaN|-?Infinity/, '0.5')) + 0 // a column of type REAL in SQLite has no -0
    for (let id = 0; id < 60; id++) {
      const values = [BigInt(signed(digits(18))), number(), anyText(), Buffer.from(anyHex(), 'hex'), oneOf([1, 'a', 1.5, null])]
      insert.run(id, ...values.map((value) => (chance() < 0.15 ? null : value)))
    }
    file.close()
    const sqlite = await setUp(stack, { type: 'sqlite', folder: 'inbox', path: `${name}.db` })
    await sqlite.good({ table: { tableName: 'items' } })
    await sqlite.good({ table: { tableName: 'items' }, mode: 'verify' })
    await deliver(writer, `${sqlite.bucket}.items`, { type: 'sqlite', folder: 'inbox', path: `${name}-out.db` })
    const back = await compared(stack, sqlite.bucket, {
      db: { type: 'sqlite', folder: 'inbox', path: `${name}-out.db` },
      table: { tableName: 'items' },
      mode: 'verify',
    })
    assert.match(back.log, /is equal to its source \(60 rows/, `${back.result.message} ${back.log} (seed ${SEED})`)
  }
})
