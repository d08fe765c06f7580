// Singer taps and targets as small programs: their messages become tables and state, and whatever they do, the run ends with a reason.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { dataFolder } from './program.ts'
import { SCHEMA, tap } from './tap.ts'

const orders = `say({ type: 'SCHEMA', stream: 'orders', schema: ${JSON.stringify(SCHEMA)}, key_properties: ['id'], bookmark_properties: ['at'] });`

test('messages of a tap become a typed table with its key, and the next run gets the state', async (t) => {
  const folder = dataFolder(t)
  const command = tap(`
    ${orders}
    const from = state ? state.n : 0
    say({ type: 'RECORD', stream: 'orders', record: { id: from + 1, name: 'Ann, "A"', price: 1.5, at: '2026-01-01T00:00:00Z', tags: ['a'] } })
    say({ type: 'STATE', value: { n: from + 1 } })
    say({ type: 'RECORD', stream: 'orders', record: { id: from + 2, name: null, extra: true } })
    say({ type: 'STATE', value: { n: from + 2, secret: config.token, selected: catalog.streams.map((s) => s.metadata[0].metadata.selected) } })`)
  const parameters = { command, config: { '#token': 'tok-123' }, stream: 'orders' }
  const first = await folder.run(parameters)
  assert.equal(first.code, 0, first.stderr + first.stdout)
  const { rows, manifest } = folder.table('orders')
  assert.deepEqual(rows, ['1,"Ann, ""A""",1.5,2026-01-01T00:00:00Z,"[""a""]",', '2,,,,,true'])
  assert.deepEqual(
    manifest.schema.map(({ name, primary_key, data_type }) => [name, data_type.base.type, primary_key ?? false]),
    [
      ['id', 'INTEGER', true],
      ['name', 'STRING', false],
      ['price', 'NUMERIC', false],
      ['at', 'TIMESTAMP', false],
      ['tags', 'STRING', false],
      ['extra', 'STRING', false],
    ],
  )
  assert.equal(manifest.incremental, true)
  assert.deepEqual((folder.state().value as { selected: unknown }).selected, [true, false])
  const second = await folder.run(parameters)
  assert.equal(second.code, 0, second.stderr)
  assert.equal(folder.table('orders').rows[0]?.slice(0, 2), '3,')
})

test('streams are listed for the choice, and one that does not exist is named with the nearest', async (t) => {
  const folder = dataFolder(t)
  const listed = await folder.run({ command: tap('') }, { action: 'streams' })
  assert.deepEqual(JSON.parse(listed.stdout), {
    streams: [
      { name: 'orders', primaryKey: ['id'], incremental: true, replicationKeys: ['at'] },
      { name: 'people', primaryKey: [], incremental: false, replicationKeys: [] },
    ],
  })
  const unknown = await folder.run({ command: tap(''), stream: 'order' })
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /has no stream 'order'. Did you mean 'orders'\?/)
})

test('garbage on standard output is passed over, metrics and logs are shown, secrets are not', async (t) => {
  const folder = dataFolder(t)
  const done = await folder.run({
    config: { '#token': 'very-secret-token' },
    stream: 'orders',
    command: tap(`
      console.log('Starting up with ' + config.token)
      console.error('INFO METRIC: {"type": "counter", "metric": "record_count", "value": 7, "tags": {"endpoint": "orders"}}')
      ${orders}
      process.stdout.write('{ not json\\n\\n[1, 2]\\n{"type": "NEWS"}\\n')
      say({ type: 'RECORD', stream: 'orders', record: { id: 1 } })
      say({ type: 'RECORD', stream: 'people', record: { id: 1 } })
      process.stdout.write(JSON.stringify({ type: 'STATE', value: { done: true } }))`),
  })
  assert.equal(done.code, 0, done.stderr)
  assert.equal(folder.table('orders').rows.length, 1)
  assert.deepEqual(folder.state().value, { done: true }, 'the last line needs no end')
  assert.match(done.stdout, /Metric record_count: 7 \{"endpoint":"orders"\}/)
  assert.match(done.stdout, /records of 'people', which is not selected/)
  assert.doesNotMatch(done.stdout + done.stderr, /very-secret-token/)
})

test('a tap that dies, says too little or never ends fails the run, and nothing is published', async (t) => {
  const folder = dataFolder(t)
  const failing = async (body: string, more: object = {}) => {
    const ended = await folder.run({ command: tap(body), stream: 'orders', ...more })
    assert.equal(ended.code, 1, ended.stderr)
    assert.ok(!folder.has('out/tables/orders.csv') && !folder.has('out/state.json'))
    return ended.stderr
  }
  const record = `say({ type: 'RECORD', stream: 'orders', record: { id: 1 } });`
  assert.match(
    await failing(`${orders} ${record} console.error('CRITICAL: 401 Unauthorized'); process.exitCode = 3`),
    /exit code 3: CRITICAL: 401 Unauthorized/,
  )
  assert.match(await failing(`${orders} ${record} process.kill(process.pid, 'SIGKILL')`), /ended with SIGKILL/)
  assert.match(await failing(record), /a RECORD of 'orders' before its SCHEMA/)
  assert.match(await failing(`${orders} say({ type: 'RECORD', stream: 'orders', record: 5 })`), /that is not an object/)
  assert.match(
    await failing(`${orders} say({ type: 'BATCH', stream: 'orders', manifest: [] })`),
    /BATCH messages, which are not supported/,
  )
  assert.match(
    await failing(`${orders} setInterval(() => {}, 1000)`, { silenceSeconds: 1 }),
    /said nothing for 1 seconds and was ended/,
  )
  const missing = await folder.run({ command: ['tap-that-does-not-exist'], stream: 'orders' })
  assert.match(missing.stderr, /The program 'tap-that-does-not-exist' does not exist/)
  const nothing = await folder.run({ config: {} })
  assert.match(nothing.stderr, /'parameters.package' is required: what installs the tap/)
})

test('ACTIVATE_VERSION replaces the table, and rows of an older version are not part of it', async (t) => {
  const folder = dataFolder(t)
  const command = tap(`
    say({ type: 'SCHEMA', stream: 'people', schema: { properties: { id: { type: 'integer' } } }, key_properties: ['id'] })
    const version = config.version
    say({ type: 'RECORD', stream: 'people', version: version - 1, record: { id: 9 } })
    say({ type: 'RECORD', stream: 'people', version, record: { id: version } })
    say({ type: 'ACTIVATE_VERSION', stream: 'people', version })
    say({ type: 'STATE', value: {} })`)
  const run = async (version: number) => {
    const done = await folder.run({ command, config: { version }, stream: 'people', load: 'deduped' })
    assert.equal(done.code, 0, done.stderr)
    return folder.table('people')
  }
  const first = await run(5)
  assert.deepEqual([first.rows, first.manifest.incremental], [['5'], true])
  assert.equal((await run(5)).manifest.incremental, true, 'the same version goes on')
  const next = await run(6)
  assert.deepEqual([next.rows, next.manifest.incremental], [['6'], false])
})

test('records that a tap marks as deleted leave the table by their key', async (t) => {
  const folder = dataFolder(t)
  const schema = { properties: { id: { type: 'integer' }, _sdc_deleted_at: { type: ['null', 'string'] } } }
  const command = tap(`
    say({ type: 'SCHEMA', stream: 'orders', schema: ${JSON.stringify(schema)}, key_properties: ['id'] })
    say({ type: 'RECORD', stream: 'orders', record: { id: 1, _sdc_deleted_at: null } })
    say({ type: 'RECORD', stream: 'orders', record: { id: 2, _sdc_deleted_at: '2026-01-01T00:00:00Z' } })`)
  const done = await folder.run({ command, stream: 'orders', load: 'deduped' })
  assert.equal(done.code, 0, done.stderr)
  const { rows, manifest } = folder.table('orders')
  assert.equal(manifest.deleted_rows_column, '_deleted')
  assert.deepEqual(rows, ['0,1,', '1,2,2026-01-01T00:00:00Z'])
})

test('fields that are new extend the table, are left out, or fail the run, as configured', async (t) => {
  const folder = dataFolder(t)
  const command = tap(`${orders} say({ type: 'RECORD', stream: 'orders', record: { id: 1, more: 2 } })`)
  const run = (schemaDrift: string) => folder.run({ command, stream: 'orders', schemaDrift })
  await run('extend')
  assert.equal(folder.table('orders').manifest.schema.length, 6)
  const other = dataFolder(t)
  await other.run({ command, stream: 'orders', schemaDrift: 'ignore' })
  assert.equal(other.table('orders').manifest.schema.length, 5)
  const third = dataFolder(t)
  const failed = await third.run({ command, stream: 'orders', schemaDrift: 'fail' })
  assert.match(failed.stderr, /no column for the field 'more', and 'schemaDrift' is fail/)
})

test('a target gets the tables of the input mapping as messages with types', async (t) => {
  const folder = dataFolder(t)
  writeFileSync(
    join(folder.root, 'in/tables/orders.csv'),
    '"id","ok","note","__proto__"\n"9007199254740993","true","a ""b""","1.10"\n"2",,"","nan"\n',
  )
  const column = (name: string, type: string) => ({ name, data_type: { base: { type } }, nullable: true })
  writeFileSync(
    join(folder.root, 'in/tables/orders.csv.manifest'),
    JSON.stringify({
      id: 'in.c-x.orders',
      columns: ['id', 'ok', 'note', '__proto__'],
      primary_key: ['id'],
      rows_count: 2,
      schema: [column('id', 'INTEGER'), column('ok', 'BOOLEAN'), column('note', 'STRING'), column('__proto__', 'FLOAT')],
    }),
  )
  const command = [
    process.execPath,
    '-e',
    `let text = ''; process.stdin.on('data', (d) => { text += d }).on('end', () => {
       const lines = text.trim().split('\\n').map((l) => JSON.parse(l))
       console.error(JSON.stringify(lines.map((l) => l.key_properties ?? l.type)))
       console.error(text.split('\\n').filter((l) => l.includes('RECORD')).map((l) => l.slice(l.indexOf('record":') + 8)).join())
       console.log(JSON.stringify({ stored: lines.filter((l) => l.type === 'RECORD').length }))
     })`,
    '--',
  ]
  const done = await folder.run({ command, config: { url: 'x' } }, { component: 'platform.singer-target' })
  assert.equal(done.code, 0, done.stderr)
  assert.match(done.stdout, /\[\["id"\],"RECORD","RECORD","STATE"\]/)
  const first = '{"id":9007199254740993,"ok":true,"note":"a \\"b\\"","__proto__":1.10}'
  assert.ok(done.stdout.includes(`${first}},{"id":2,"ok":null,"note":"","__proto__":"nan"}}`), done.stdout)
  assert.deepEqual(folder.state().value, { stored: 2 })
})
