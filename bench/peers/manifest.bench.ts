// A declarative manifest by Millrace beside airbyte-cdk, the reference: 100,000 records over 100 pages with incremental state, and a substream.
// Processor seconds, in turns, of the same manifest: airbyte-cdk to records as text, the component to CSV files, and a job of the stack into
// typed tables. Target: a fifth of airbyte-cdk, into tables. Then ten times as many records, for the memory. Needs a Python with airbyte-cdk
// (AIRBYTE_PYTHON). MANIFEST_RECORDS changes the number of records.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startStackProcess } from '../../tests/support/stack-process.ts'
import { cpuSecondsBelow, inTurns, report, round, runNode, startBare } from '../support/measure.ts'

const ROUNDS = Number(process.env.MILLRACE_BENCH_ROUNDS ?? 3)
const RECORDS = Number(process.env.MANIFEST_RECORDS ?? 100_000)
const MEMORY_RECORDS = 10 * RECORDS
const FAMILIES = 40
const PYTHON = process.env.AIRBYTE_PYTHON ?? 'python3'
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const schema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    email: { type: 'string' },
    active: { type: 'boolean' },
    score: { type: 'number' },
    created_at: { type: 'string', format: 'date-time' },
    country: { type: 'string' },
    note: { type: 'string' },
    deleted_at: { type: ['string', 'null'] },
    kind: { type: 'string' },
    address: { type: 'object', additionalProperties: true },
    lines: { type: 'array', items: { type: 'object', additionalProperties: true } },
  },
}
const selector = { type: 'RecordSelector', extractor: { type: 'DpathExtractor', field_path: ['items'] } }
const stream = (name: string, path: string, url: string, rest: { retriever?: object } & Record<string, unknown>) => ({
  type: 'DeclarativeStream',
  name,
  primary_key: 'id',
  schema_loader: { type: 'InlineSchemaLoader', schema: { type: 'object', properties: { id: { type: 'integer' } } } },
  ...rest,
  retriever: {
    type: 'SimpleRetriever',
    requester: { type: 'HttpRequester', url_base: url, path, http_method: 'GET' },
    record_selector: selector,
    ...rest.retriever,
  },
})

function manifestOf(url: string): object {
  const families = stream('families', `families?count=${FAMILIES}`, url, {})
  const items = stream('items', 'items', url, {
    schema_loader: { type: 'InlineSchemaLoader', schema },
    retriever: {
      paginator: {
        type: 'DefaultPaginator',
        page_token_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'since' },
        pagination_strategy: {
          type: 'CursorPagination',
          cursor_value: "{{ last_record['id'] }}",
          stop_condition: '{{ last_page_size < 1000 }}',
        },
      },
    },
    incremental_sync: {
      type: 'DatetimeBasedCursor',
      cursor_field: 'created_at',
      datetime_format: '%Y-%m-%dT%H:%M:%SZ',
      start_datetime: '2024-01-01T00:00:00Z',
      end_datetime: '2026-01-01T00:00:00Z',
    },
  })
  const parent = { type: 'ParentStreamConfig', stream: families, parent_key: 'id', partition_field: 'family' }
  const members = stream('members', 'families/{{ stream_slice.family }}', url, {
    retriever: { partition_router: { type: 'SubstreamPartitionRouter', parent_stream_configs: [parent] } },
  })
  return {
    version: '6.1.0',
    type: 'DeclarativeSource',
    check: { type: 'CheckStream', stream_names: ['items'] },
    streams: [items, members],
    spec: { type: 'Spec', connection_specification: { type: 'object', properties: {} } },
  }
}

const cleanups: Array<() => unknown> = []
const folder = mkdtempSync(join(tmpdir(), 'manifest-peers-'))
cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
const api = await startBare('extractor-api.ts', String(RECORDS))
cleanups.push(api.stop)
const manifest = manifestOf(api.url)
const expected = [RECORDS, FAMILIES]
const cpu: Record<string, number> = {}

interface Used {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly mib: number
}

/** By airbyte-cdk, with its records in a file. */
async function reference(): Promise<Used> {
  const streams = ['items', 'members'].map((name) => ({
    stream: { name, json_schema: {}, supported_sync_modes: ['full_refresh', 'incremental'] },
    sync_mode: name === 'items' ? 'incremental' : 'full_refresh',
    destination_sync_mode: 'append',
  }))
  const [config, catalog, output] = ['config.json', 'catalog.json', 'output'].map((name) => join(folder, name))
  writeFileSync(config!, JSON.stringify({ __injected_declarative_manifest: manifest }))
  writeFileSync(catalog!, JSON.stringify({ streams }))
  const child = spawn('python3', [here('measured.py'), output!, PYTHON, here('manifest_read.py'), config!, catalog!], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await once(child, 'close')
  const { code, ...used } = JSON.parse(said) as Used & { code: number } // by measured.py
  const lines = readFileSync(output!, 'utf8').split('\n')
  const found = ['items', 'members'].map((name) => lines.filter((line) => line.includes(`"record":{"stream":"${name}"`)).length)
  if (code !== 0 || found.join() !== expected.join()) throw new Error(`airbyte-cdk ended with ${code} and ${found} records`)
  return used
}

/** By the component alone, with its tables as CSV files. */
async function component(url: string, records: number): Promise<Used> {
  const data = mkdtempSync(join(folder, 'data-'))
  mkdirSync(join(data, 'in'))
  writeFileSync(join(data, 'config.json'), JSON.stringify({ parameters: { manifest: manifestOf(url) } }))
  const used = await runNode([here('../../components/manifest-connector/src/main.ts')], { KBC_DATADIR: `${data}/` })
  const rows = Number(execFileSync('wc', ['-l', join(data, 'out/tables/items.csv')], { encoding: 'utf8' }).split(' ')[0])
  if (rows < records) throw new Error(`${rows} rows`)
  rmSync(data, { recursive: true })
  return used
}

const stack = await startStackProcess(
  { after: (work) => cleanups.push(work as () => unknown) }, // it passes one function without parameters
  { env: { MILLRACE_EGRESS_ALLOW: '127.0.0.1', MILLRACE_TABLE_WARM_WORKERS: '1' } },
)
let jobs = 0

/** A job of the stack into new tables: all processes of the stack, while it runs. */
async function job(): Promise<number> {
  const id = `peers-${jobs++}`
  const path = '/v2/storage/components/platform.ex-manifest/configs'
  await stack.post(path, { name: id, configurationId: id, configuration: { parameters: { manifest } } })
  const before = cpuSecondsBelow([api.pid])
  const { id: jobId } = (await stack.post('/queue/platform.ex-manifest/run', { config: id })).body as { id: string }
  const headers = { 'x-storageapi-token': stack.masterToken, accept: 'text/event-stream' }
  await (await fetch(`${stack.url}/queue/jobs/${jobId}/events`, { headers })).text() // ends with the job
  const used = cpuSecondsBelow([api.pid]) - before
  const { status, result } = (await stack.get(`/queue/jobs/${jobId}`)).body as { status: string; result: { message?: string } }
  if (status !== 'success') throw new Error(result.message ?? status)
  const tables = (await stack.get('/v2/storage/tables')).body as { id: string; rowsCount: number }[]
  const found = ['items', 'members'].map((name) => tables.find((table) => table.id.endsWith(`${id}.${name}`))?.rowsCount)
  if (found.join() !== expected.join()) throw new Error(`${found} rows in the tables`)
  return used
}

await job() // warm
let peak = { reference: 0, component: 0 }
const kept = (name: 'reference' | 'component', used: Used): number => {
  peak = { ...peak, [name]: Math.max(peak[name], used.mib) }
  return used.cpuSeconds
}
Object.assign(
  cpu,
  await inTurns(ROUNDS, {
    reference: async () => kept('reference', await reference()),
    component: async () => kept('component', await component(api.url, RECORDS)),
    job,
  }),
)
report({
  bench: 'manifest-peers',
  ratio: cpu.job! / cpu.reference!,
  target: '<= 0.2',
  records: RECORDS,
  referenceCpuSeconds: round(cpu.reference!),
  jobCpuSeconds: round(cpu.job!),
  componentCpuSeconds: round(cpu.component!),
  timesLessIntoTables: round(cpu.reference! / cpu.job!),
  timesLessIntoFiles: round(cpu.reference! / cpu.component!),
  referenceMib: Math.round(peak.reference),
  componentMib: Math.round(peak.component),
})
const many = await startBare('extractor-api.ts', String(MEMORY_RECORDS))
const { mib, cpuSeconds } = await component(many.url, MEMORY_RECORDS)
report({
  bench: 'manifest-memory',
  ratio: mib / 250,
  target: '<= 1',
  records: MEMORY_RECORDS,
  mib: Math.round(mib),
  cpuSeconds: round(cpuSeconds),
})
await many.stop()
for (const cleanup of cleanups.toReversed()) await cleanup()
process.exit(0)
