// Programs that speak the Airbyte protocol: our own engine stands in for one, and small programs for those that fail.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { dataFolder } from './program.ts'

const ENGINE = new URL('../../manifest-connector/src/main.ts', import.meta.url).pathname
const component = 'platform.airbyte-source'

const source = (body: string): string[] => [
  process.execPath,
  '-e',
  `const { readFileSync } = require('node:fs')
   const arg = (name) => { const at = process.argv.indexOf(name); return at < 0 ? undefined : JSON.parse(readFileSync(process.argv[at + 1], 'utf8')) }
   const config = arg('--config'), state = arg('--state'), catalog = arg('--catalog'), command = process.argv[1]
   const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n')
   const record = (stream, data) => say({ type: 'RECORD', record: { stream, data, emitted_at: 1 } })
   if (command === 'discover') say({ type: 'CATALOG', catalog: { streams: [{ name: 'items', json_schema: { properties: { id: { type: 'integer' } } }, supported_sync_modes: ['full_refresh', 'incremental'], source_defined_primary_key: [['id']] }] } })
   if (command === 'check') say({ type: 'CONNECTION_STATUS', connectionStatus: config.good ? { status: 'SUCCEEDED' } : { status: 'FAILED', message: 'The key is wrong.' } })
   if (command === 'spec') say({ type: 'SPEC', spec: { connectionSpecification: { type: 'object' } } })
   if (command === 'read') { ${body} }`,
  '--',
]

test('records, states and a changed configuration of a source are tables and state', async (t) => {
  const folder = dataFolder(t)
  const command = source(`
    const from = state ? state[0].stream.stream_state.n : 0
    say({ type: 'LOG', log: { level: 'INFO', message: 'mode ' + catalog.streams[0].sync_mode } })
    record('items', { id: from + 1 })
    say({ type: 'STATE', state: { type: 'STREAM', stream: { stream_descriptor: { name: 'items' }, stream_state: { n: from + 1 } } } })
    say({ type: 'CONTROL', control: { type: 'CONNECTOR_CONFIG', connectorConfig: { config: { ...config, token: config.token + '+' } } } })
    record('other', { id: 1 })`)
  const parameters = { command, config: { '#token': 't' }, stream: 'items' }
  const first = await folder.run(parameters, { component })
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /mode incremental/)
  assert.deepEqual(folder.table('items').rows, ['1'])
  assert.deepEqual(
    folder.table('items').manifest.schema.map((each) => each.primary_key),
    [true],
  )
  await folder.run(parameters, { component })
  assert.deepEqual(folder.table('items').rows, ['2'])
  assert.deepEqual(folder.state()['#config'], { token: 't++' }, 'the changed configuration is what the next run gets')
  const overwrite = await folder.run({ ...parameters, load: 'overwrite' }, { component })
  assert.match(overwrite.stdout, /mode full_refresh/)
  assert.deepEqual(folder.table('items').rows, ['1'], 'a table that is replaced is read from the start')
})

test('check, spec and streams are actions; what a source reports as its error is the reason', async (t) => {
  const folder = dataFolder(t)
  const command = source(
    `say({ type: 'TRACE', trace: { type: 'ERROR', error: { message: 'Quota exceeded.', stream_descriptor: { name: 'items' } } } }); process.exitCode = 1`,
  )
  assert.deepEqual(
    JSON.parse((await folder.run({ command, config: { good: true } }, { component, action: 'testConnection' })).stdout),
    { status: 'success' },
  )
  assert.match((await folder.run({ command }, { component, action: 'testConnection' })).stderr, /The key is wrong/)
  assert.deepEqual(JSON.parse((await folder.run({ command }, { component, action: 'streams' })).stdout), {
    streams: [{ name: 'items', primaryKey: ['id'], incremental: true }],
  })
  assert.match((await folder.run({ command }, { component, action: 'spec' })).stdout, /connectionSpecification/)
  const failed = await folder.run({ command, stream: 'items' }, { component })
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /Stream 'items' failed: Quota exceeded\./)
})

test('our engine of manifests is such a program', async (t) => {
  const server = createServer((_request, reply) =>
    reply.setHeader('content-type', 'application/json').end('{"items":[{"id":1},{"id":2}]}'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const requester = { type: 'HttpRequester', url_base: url, path: 'items' }
  const retriever = {
    type: 'SimpleRetriever',
    requester,
    record_selector: { type: 'RecordSelector', extractor: { type: 'DpathExtractor', field_path: ['items'] } },
  }
  const streams = [
    {
      type: 'DeclarativeStream',
      name: 'items',
      primary_key: 'id',
      retriever,
      schema_loader: { type: 'InlineSchemaLoader', schema: { type: 'object', properties: { id: { type: 'integer' } } } },
    },
  ]
  const manifest = JSON.stringify({
    version: '6.0.0',
    type: 'DeclarativeSource',
    check: { type: 'CheckStream', stream_names: ['items'] },
    streams,
  })
  const folder = dataFolder(t)
  const script = `require('node:fs').writeFileSync(process.env.TMPDIR + '/m.yaml', ${JSON.stringify(manifest)}); const { status } = require('node:child_process').spawnSync(process.execPath, [${JSON.stringify(ENGINE)}, ...process.argv.slice(1), '--manifest', process.env.TMPDIR + '/m.yaml'], { stdio: 'inherit' }); process.exit(status)`
  const done = await folder.run({ command: [process.execPath, '-e', script, '--'], config: {} }, { component })
  assert.equal(done.code, 0, done.stderr)
  assert.deepEqual(folder.table('items').rows, ['1', '2'])
})
