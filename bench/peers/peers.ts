// `npm run bench:peers [-- --items 30000 --mb 60 --rounds 3 --write]`: the same work by Millrace and by what users would choose instead.
// Environments of Python are created once in MILLRACE_PEERS_DIR (the folder for temporary files unless set), never in the repository; what
// cannot be installed or run is listed with the reason. Every program runs once per round, in turns, and its rows are counted each time.
// `--write` puts the table into docs/performance.md.

import { type ExecFileSyncOptions, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openAsBlob,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres } from '../../tests/support/servers/postgres-server.ts'
import { startStackProcess } from '../../tests/support/stack-process.ts'
import { cpuSecondsBelow, median, startBare } from '../support/measure.ts'
import { CSV_COLUMNS, writeCsv } from '../support/table-csv.ts'

const { values: options } = parseArgs({
  options: {
    items: { type: 'string', default: '30000' },
    mb: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
})
const ITEMS = Number(options.items)
const LINES_PER_ITEM = 2
const PEERS = process.env.MILLRACE_PEERS_DIR ?? join(tmpdir(), 'millrace-peers')
const DOCUMENT = fileURLToPath(new URL('../../docs/performance.md', import.meta.url))
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const EXTRACTOR = here('../../components/http-extractor/src/main.ts')
const SCRIPT = here('../support/extractor-script.ts')
const SAMPLE_MS = 50
const POLL_MS = 20

interface Use {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly mib: number
}

interface Peer {
  readonly name: string
  readonly result: string
  /** Undefined: part of this repository. */
  readonly version: string
  /** Does the work in an empty folder and counts what it made. */
  run(folder: string): Promise<{ readonly use: Use; readonly rows: readonly number[] }>
}

interface Missing {
  readonly name: string
  readonly reason: string
}

const cleanups: Array<() => unknown> = []
const missing: Missing[] = []
const folder = mkdtempSync(join(tmpdir(), 'peers-'))
chmodSync(folder, 0o755) // the PostgreSQL of the tests may be of another user
cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
mkdirSync(PEERS, { recursive: true })

/** A process from start to end. Its standard output is in `output` of the folder. */
async function measured(command: readonly string[], place: string, env: Record<string, string> = {}): Promise<Use> {
  const child = spawn('python3', [here('measured.py'), join(place, 'output'), ...command], {
    cwd: place,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [said, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000)
  })
  await once(child, 'close')
  const { code, ...use } = JSON.parse(said.trim().split('\n').at(-1) ?? '{"code":-1}') as Use & { code: number } // by measured.py
  if (code !== 0) throw new Error(errors.trim().split('\n').at(-1) ?? `exit code ${code}`)
  return use
}

/** What all processes below this one use while `work` runs: servers that stay. Memory is that of the largest of them. */
async function measuredBelow(except: readonly number[], work: () => Promise<unknown>, ofPostgres = false): Promise<Use> {
  let kib = 0
  const timer = setInterval(() => {
    for (const pid of pidsBelow(process.pid).filter((one) => !except.includes(one) && isPostgres(one) === ofPostgres))
      kib = Math.max(kib, Number(/VmRSS:\s+(\d+)/.exec(readProc(`${pid}/status`))?.[1] ?? 0))
  }, SAMPLE_MS)
  const [begun, before] = [performance.now(), cpuSecondsBelow(except)]
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return { seconds: (performance.now() - begun) / 1000, cpuSeconds: cpuSecondsBelow(except) - before, mib: kib / 1024 }
}

const isPostgres = (pid: number): boolean => /postgres/.test(readProc(`${pid}/cmdline`))

function pidsBelow(parent: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readProc(`${pid}/stat`).split(') ').at(-1)?.split(' ')[1] === String(parent))
    .map(Number)
  return [...children, ...children.flatMap(pidsBelow)]
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return '' // it has ended
  }
}

/** The python of an environment with these packages, created when it does not exist. */
function pythonWith(name: string, packages: readonly string[]): string | undefined {
  const python = join(PEERS, name, 'bin/python')
  const quiet: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'pipe'] }
  try {
    if (!existsSync(python)) execFileSync('python3', ['-m', 'venv', join(PEERS, name)], quiet)
    if (versionOf(python, packages[0]!) === undefined)
      execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages], quiet)
    return python
  } catch (error) {
    missing.push({ name, reason: `not installed: ${lastLine(error)}` })
    return undefined
  }
}

const lastLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1)!.slice(0, 160)

function versionOf(python: string, name: string): string | undefined {
  try {
    const code = `import importlib.metadata as m; print(m.version('${name.replace(/\[.*/, '')}'))`
    return execFileSync(python, ['-c', code], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

/** A Python program that does the work by a package. `count` reads what it made. */
function pythonPeer(
  { name, script, packages, result }: { name: string; script: string; packages: readonly string[]; result: string },
  argument: string,
  count: (place: string) => readonly number[],
): Peer[] {
  const python = packages.length === 0 ? 'python3' : pythonWith(name.replace(/\W+/g, '-').toLowerCase(), packages)
  if (python === undefined) return []
  const version =
    packages.length === 0
      ? execFileSync('python3', ['--version'], { encoding: 'utf8' }).trim()
      : `${packages[0]!.replace(/\[.*/, '')} ${versionOf(python, packages[0]!)}`
  const run = async (place: string) => ({
    use: await measured([python, here(script), argument, place], place),
    rows: count(place),
  })
  return [{ name, version, result, run }]
}

const linesOf = (path: string): number => readFileSync(path, 'utf8').split('\n').length - 2 // a header, and nothing behind the last end of line
const printed = (place: string, ...names: string[]): number[] => {
  const said = JSON.parse(readFileSync(join(place, 'output'), 'utf8').trim().split('\n').at(-1)!) as Record<string, number> // by the scripts
  return names.map((name) => said[name]!)
}
/** Records of a stream of messages; their lines are inside of them. */
function messages(place: string, recordOf: (message: Record<string, unknown>) => unknown): number[] {
  const found = readFileSync(join(place, 'output'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => recordOf(JSON.parse(line) as Record<string, unknown>)) // one message
    .filter((record) => record !== undefined) as { lines: unknown[] }[] // items of extractor-api.ts
  return [found.length, found.reduce((sum, { lines }) => sum + lines.length, 0)]
}

const api = await startBare('extractor-api.ts', String(ITEMS))
cleanups.push(api.stop)
const stack = await startStackProcess(
  { after: (work) => cleanups.push(work as () => unknown) }, // it passes one function without parameters
  { env: { MILLRACE_EGRESS_ALLOW: '127.0.0.1', MILLRACE_TABLE_WARM_WORKERS: '1', MILLRACE_RATE_PER_TOKEN: '0' } },
)
const postgres = await startPostgres()
cleanups.push(postgres.stop)
const headers = { 'x-storageapi-token': stack.masterToken }
const ok = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const answer = await stack.request(method, path, body)
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body as T // the stack's own record
}
async function ended(path: string): Promise<void> {
  for (;;) {
    const { status, result } = await ok<{ status: string; result?: unknown }>('GET', path)
    if (status === 'success') return
    if (status === 'error') throw new Error(JSON.stringify(result))
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
const rowsOf = async (tableId: string): Promise<number> =>
  (await ok<{ rowsCount: number }>('GET', `/v2/storage/tables/${tableId}`)).rowsCount
await ok('POST', '/v2/storage/buckets', { name: 'peers' })

const parameters = {
  api: { baseUrl: api.url, pagination: { method: 'cursor', idKey: 'id', param: 'since' } },
  config: { jobs: [{ endpoint: 'items', dataType: 'items', dataField: 'items', params: { since: 0 } }] },
}
await ok('POST', '/v2/storage/components/platform.ex-http/configs', {
  name: 'peers',
  configurationId: 'peers',
  configuration: { parameters },
})

const version = `commit ${execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()}`
const url = `${api.url}items`
const extractions: Peer[] = [
  {
    name: 'Millrace, the extractor alone',
    version,
    result: '2 CSV files',
    async run(place) {
      for (const path of ['in', 'out/tables']) mkdirSync(join(place, path), { recursive: true })
      writeFileSync(join(place, 'config.json'), JSON.stringify({ parameters }))
      const use = await measured([process.execPath, EXTRACTOR], place, { KBC_DATADIR: `${place}/` })
      return { use, rows: ['items', 'items_lines'].map((name) => linesOf(join(place, 'out/tables', name))) }
    },
  },
  {
    name: 'Millrace, a job of the stack',
    version,
    result: '2 tables',
    async run() {
      const use = await measuredBelow([api.pid], async () => {
        const { id } = await ok<{ id: string }>('POST', '/queue/jobs', {
          component: 'platform.ex-http',
          config: 'peers',
          mode: 'run',
        })
        await ended(`/queue/jobs/${id}`)
      })
      const tables = await ok<{ id: string }[]>('GET', '/v2/storage/tables')
      const named = (end: string) => tables.find(({ id }) => id.endsWith(end))!.id
      return { use, rows: [await rowsOf(named('-peers.items')), await rowsOf(named('-peers.items_lines'))] }
    },
  },
  {
    name: 'plain Node',
    version: `Node ${process.version}`,
    result: '2 CSV files',
    run: async (place) => ({
      use: await measured([process.execPath, SCRIPT, url, place], place),
      rows: ['items.csv', 'lines.csv'].map((name) => linesOf(join(place, name))),
    }),
  },
  ...pythonPeer({ name: 'plain Python', script: 'plain_extract.py', packages: [], result: '2 CSV files' }, url, (place) =>
    ['items.csv', 'lines.csv'].map((name) => linesOf(join(place, name))),
  ),
  ...pythonPeer(
    { name: 'dlt', script: 'dlt_extract.py', packages: ['dlt[duckdb]'], result: '2 tables of DuckDB' },
    url,
    (place) => printed(place, 'items', 'lines'),
  ),
  ...pythonPeer(
    { name: 'airbyte', script: 'airbyte_extract.py', packages: ['airbyte-cdk'], result: 'records as text' },
    url,
    (place) => messages(place, ({ record }) => (record as { data?: unknown } | undefined)?.data),
  ),
  ...pythonPeer(
    { name: 'singer', script: 'singer_extract.py', packages: ['singer-sdk'], result: 'records as text' },
    url,
    (place) => messages(place, ({ type, record }) => (type === 'RECORD' ? record : undefined)),
  ),
]

const csv = join(folder, 'data.csv')
const { rows: csvRows } = writeCsv(csv, { bytes: Number(options.mb) * 1e6 })
let loads = 0
const client = new pg.Client({ connectionString: postgres.url })
await client.connect()
cleanups.push(() => client.end()) // before its server: they run from the last to the first
const postgresVersion = (await client.query<{ server_version: string }>('show server_version')).rows[0]!.server_version
const isDurable = (await client.query<{ fsync: string }>('show fsync')).rows[0]!.fsync === 'on'
const loading: Peer[] = [
  {
    name: 'Millrace, upload and load',
    version,
    result: 'a table',
    async run() {
      const name = `t${loads++}`
      const use = await measuredBelow([api.pid], async () => {
        const form = new FormData()
        form.append('data', await openAsBlob(csv), 'data.csv')
        const sent = await fetch(`${stack.url}/import/upload-file`, { method: 'POST', headers, body: form })
        const { id } = (await sent.json()) as { id: number } // the stack's own record
        const job = await ok<{ id: number }>('POST', '/v2/storage/buckets/in.c-peers/tables-async', { name, dataFileId: id })
        await ended(`/v2/storage/jobs/${job.id}`)
      })
      return { use, rows: [await rowsOf(`in.c-peers.${name}`)] }
    },
  },
  {
    name: `PostgreSQL COPY${isDurable ? '' : ' (fsync off)'}`,
    version: `PostgreSQL ${postgresVersion}`,
    result: 'a table',
    async run() {
      const name = `t${loads++}`
      await client.query(`create table ${name} (${CSV_COLUMNS.map((column) => `${column} text`).join(', ')})`)
      const use = await measuredBelow([api.pid], () => client.query(`copy ${name} from '${csv}' csv header`), true)
      return { use, rows: [Number((await client.query<{ n: string }>(`select count(*) n from ${name}`)).rows[0]!.n)] }
    },
  },
  ...pythonPeer({ name: 'DuckDB', script: 'duckdb_load.py', packages: ['duckdb'], result: 'a Parquet file' }, csv, (place) =>
    printed(place, 'rows'),
  ),
  ...pythonPeer({ name: 'chdb', script: 'chdb_load.py', packages: ['chdb'], result: 'a Parquet file' }, csv, (place) =>
    printed(place, 'rows'),
  ),
  ...pythonPeer({ name: 'plain Python', script: 'plain_load.py', packages: [], result: 'a table of SQLite' }, csv, (place) =>
    printed(place, 'rows'),
  ),
  ...slingPeer(),
]

/** It is counted by DuckDB, which its own environment has. */
function slingPeer(): Peer[] {
  const python = pythonWith('sling', ['sling', 'duckdb'])
  if (python === undefined) return []
  const count = `import duckdb, sys; print(duckdb.sql(f"select count(*) from '{sys.argv[1]}'").fetchall()[0][0])`
  return [
    {
      name: 'sling',
      version: `sling ${versionOf(python, 'sling')}`,
      result: 'a Parquet file',
      async run(place) {
        const target = join(place, 'table.parquet')
        const command = ['run', '--src-stream', `file://${csv}`, '--tgt-object', `file://${target}`]
        const use = await measured([join(PEERS, 'sling/bin/sling'), ...command], place)
        return { use, rows: [Number(execFileSync(python, ['-c', count, target], { encoding: 'utf8' }))] }
      },
    },
  ]
}

interface Line {
  readonly peer: Peer
  readonly uses: Use[]
  readonly rows: readonly number[]
}

async function compare(peers: readonly Peer[], expected: readonly number[]): Promise<readonly Line[]> {
  const lines = peers.map((peer): Line => ({ peer, uses: [], rows: expected }))
  const failed = new Set<Peer>()
  for (let round = 0; round < Number(options.rounds); round++)
    for (const { peer, uses } of lines) {
      if (failed.has(peer)) continue
      const place = mkdtempSync(join(folder, 'run-'))
      try {
        const { use, rows } = await peer.run(place)
        if (rows.join() !== expected.join()) throw new Error(`${rows.join(' and ')} rows instead of ${expected.join(' and ')}`)
        uses.push(use)
        console.error(`${peer.name}: ${use.cpuSeconds.toFixed(2)} s`)
      } catch (error) {
        failed.add(peer)
        missing.push({ name: peer.name, reason: `not measured: ${lastLine(error)}` })
        console.error(`${peer.name}: ${error}`)
      } finally {
        rmSync(place, { recursive: true, force: true })
      }
    }
  return lines.filter(({ peer }) => !failed.has(peer))
}

const figures = {
  [`${thousands(ITEMS)} items with ${thousands(LINES_PER_ITEM * ITEMS)} lines from an HTTP API, ${ITEMS / 1000} pages`]:
    await compare(extractions, [ITEMS, LINES_PER_ITEM * ITEMS]),
  [`A CSV file of ${Math.round(statSync(csv).size / 1e6)} MB, ${thousands(csvRows)} rows`]: await compare(loading, [csvRows]),
}
for (const cleanup of cleanups.reverse()) await cleanup()

const text = document()
console.log(text)
for (const [work, lines] of Object.entries(figures)) {
  const cpu = Object.fromEntries(lines.map(({ peer, uses }) => [peer.name, median(uses.map(({ cpuSeconds }) => cpuSeconds))]))
  console.log(JSON.stringify({ bench: 'peers', work, cpuSeconds: cpu, missing }))
}
if (options.write) {
  const before = readFileSync(DOCUMENT, 'utf8')
  const [begin, end] = ['<!-- peers: written by npm run bench:peers -- --write -->', '<!-- end of peers -->']
  const [from, to] = [before.indexOf(begin), before.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${DOCUMENT} has no place for the table of peers`)
  writeFileSync(DOCUMENT, `${before.slice(0, from)}${begin}\n${text}\n${before.slice(to)}`)
}
process.exit(0)

function thousands(count: number): string {
  return count.toLocaleString('en-US')
}

function document(): string {
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, load ${loadavg()[0]!.toFixed(0)} at the end`
  const tables = Object.entries(figures).map(([work, lines]) => {
    const sorted = lines
      .map((line) => ({ ...line, cpu: median(line.uses.map(({ cpuSeconds }) => cpuSeconds)) }))
      .sort((a, b) => a.cpu - b.cpu)
    const rows = sorted.map(({ peer, uses, cpu }) => {
      const best = sorted[0]!.cpu
      const mib = Math.round(Math.max(...uses.map((use) => use.mib)))
      return `| ${peer.name} | ${peer.version} | ${peer.result} | ${cpu.toFixed(2)} | ${(cpu / best).toFixed(1)} | ${mib} | ${median(uses.map(({ seconds }) => seconds)).toFixed(1)} |`
    })
    return `${work}:\n\n| program | version | result | CPU s | x the least | MiB of its largest process | s |\n|---|---|---|---|---|---|---|\n${rows.join('\n')}`
  })
  const left = missing.map(({ name, reason }) => `${name} (${reason})`)
  const notMeasured = left.length === 0 ? 'Everything could be installed.' : `Left out: ${left.join('; ')}.`
  return `${new Date().toISOString().slice(0, 10)}, ${machine}; medians of ${options.rounds} rounds in turns. ${notMeasured}\n\n${tables.join('\n\n')}`
}
