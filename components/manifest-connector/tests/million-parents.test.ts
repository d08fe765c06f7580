// A child stream that is read once per parent, of very many parents: the memory of the program does not grow with them.
// The parents of `notes` are themselves read once per list, so their answers go through the cache.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** A state keeps 10,000 partitions, so fewer would take less memory. */
const COUNTS = process.env.MILLRACE_LONG
  ? { events: [12_000, 1_000_000], notes: [12_000, 200_000] }
  : { events: [10_100, 12_000], notes: [1000, 3000] }
/** Answers of parents that are kept for other streams; V8 collects when half as much is garbage, and parses one at a time. */
const CACHE_MIB = 32
const PAGE = 2000
const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))
/** When the program exits, it writes its peak memory. */
const MEASURE = `data:text/javascript,process.on('exit',()=>process.stderr.write('peak '+process.resourceUsage().maxRSS+' '))`

async function startApi(t: TestContext, parents: number): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api')
    const [, place, id] = pathname.split('/')
    const page = Number(searchParams.get('page') ?? 0)
    const count = Math.max(0, Math.min(PAGE, parents - page * PAGE))
    const items =
      place === 'parents'
        ? Array.from({ length: count }, (_, i) => ({ id: page * PAGE + i + 1, name: 'x'.repeat(500) }))
        : place === 'lists'
          ? [{ id: Number(id) }]
          : [{ id: Number(id), u: '2026-03-10' }]
    response.end(JSON.stringify({ items }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP server has an address with a port
}

const retriever = (url: string, path: string, more: object) => ({
  type: 'SimpleRetriever',
  requester: { type: 'HttpRequester', url_base: url, path },
  record_selector: { type: 'RecordSelector', extractor: { type: 'DpathExtractor', field_path: ['items'] } },
  ...more,
})
const stream = (name: string, reader: object, more: object = {}) => ({
  type: 'DeclarativeStream',
  name,
  primary_key: 'id',
  schema_loader: { type: 'InlineSchemaLoader', schema: { type: 'object', properties: { id: { type: 'integer' } } } },
  retriever: reader,
  ...more,
})
const each = (parent: object) => ({
  partition_router: {
    type: 'SubstreamPartitionRouter',
    parent_stream_configs: [{ type: 'ParentStreamConfig', parent_key: 'id', partition_field: 'parent', stream: parent }],
  },
})
const path = (place: string) => `${place}/{{ stream_partition['parent'] }}`

function manifestOf(url: string): object {
  const parents = stream(
    'parents',
    retriever(url, 'parents', {
      paginator: {
        type: 'DefaultPaginator',
        page_token_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'page' },
        pagination_strategy: { type: 'PageIncrement', page_size: PAGE },
      },
    }),
  )
  const lists = stream('lists', retriever(url, path('lists'), each(parents)))
  const incremental_sync = {
    type: 'DatetimeBasedCursor',
    cursor_field: 'u',
    datetime_format: '%Y-%m-%d',
    start_datetime: '2026-03-01',
  }
  return {
    version: '6.1.0',
    type: 'DeclarativeSource',
    check: { type: 'CheckStream', stream_names: ['events'] },
    concurrency_level: { type: 'ConcurrencyLevel', default_concurrency: 4 },
    streams: [
      stream('events', retriever(url, path('events'), each(parents)), { incremental_sync }),
      stream('notes', retriever(url, path('notes'), each(lists))),
    ],
  }
}

interface Outcome {
  readonly mib: number
  readonly rows: number
  readonly state: {
    readonly streams: Readonly<Record<string, { readonly use_global_cursor: boolean; readonly states?: unknown[] }>>
  }
  readonly stateBytes: number
}

async function read(t: TestContext, name: string, parents: number): Promise<Outcome> {
  const url = await startApi(t, parents)
  const folder = mkdtempSync(join(tmpdir(), 'million-parents-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'in'))
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ parameters: { manifest: manifestOf(url), streams: [name] } }))
  const child = spawn(process.execPath, ['--import', MEASURE, PROGRAM], {
    env: { ...process.env, KBC_DATADIR: folder, MILLRACE_EGRESS_POLICY: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 0, errors)
  const text = readFileSync(join(folder, 'out', 'state.json'), 'utf8')
  const rows = readFileSync(join(folder, 'out', 'tables', `${name}.csv`)).reduce((count, byte) => count + Number(byte === 10), 0)
  return { mib: Number(/peak (\d+)/.exec(errors)![1]) / 1024, rows, state: JSON.parse(text), stateBytes: text.length }
}

for (const [name, [small = 0, large = 0]] of Object.entries(COUNTS))
  test(`${name} of ${large} parents take no more memory than those of ${small}`, async (t) => {
    const few = await read(t, name, small)
    const many = await read(t, name, large)
    t.diagnostic(`${few.mib.toFixed(0)} and ${many.mib.toFixed(0)} MiB, states of ${few.stateBytes} and ${many.stateBytes} bytes`)
    assert.deepEqual([few.rows, many.rows], [small, large])
    assert.ok(many.mib < few.mib + 2 * CACHE_MIB + 40, `${many.mib} MiB instead of ${few.mib}`)
    assert.ok(many.stateBytes < few.stateBytes * 1.2)
  })
