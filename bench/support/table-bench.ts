// What the table benches share: an engine over a folder, raw DuckDB beside it with the same settings, and a clock.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { copyFile, link } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createTableEngine, type RunningTableEngine } from '../../server/src/engines/table-engine/engine.ts'
import { emptySnapshot, type TableSnapshot } from '../../server/src/engines/table-engine/snapshot.ts'
import { createFolderObjects } from '../../server/src/engines/table-engine/table-engine.fixture.ts'
import type { LoadResult, TableEngineSettings } from '../../server/src/engines/table-engine/table-engine.ts'
import { CSV_COLUMNS } from './table-csv.ts'

/** `MILLRACE_BENCH_MB` and `MILLRACE_BENCH_ROWS` set the size; the targets are stated for 1000 MB and 10,000,000 rows. */
export const benchMb = (quick: number): number => Number(process.env.MILLRACE_BENCH_MB ?? quick)
export const benchRows = (quick: number): number => Number(process.env.MILLRACE_BENCH_ROWS ?? quick)

export interface Bench {
  readonly dir: string
  readonly engine: RunningTableEngine
  path(name: string): string
  /** Puts a file of the bench folder into the store. */
  upload(name: string): Promise<string>
  load(key: string, snapshot: TableSnapshot, mode: 'full' | 'incremental', keyPrefix?: string): Promise<LoadResult>
  close(): Promise<void>
}

export async function startBench(settings: TableEngineSettings = {}): Promise<Bench> {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const objects = createFolderObjects(join(dir, 'objects'))
  const engine = await createTableEngine({ objects, scratchDir: join(dir, 'scratch'), uriPrefix: 's3://bench/', settings })
  const path = (name: string) => join(dir, name)
  return {
    dir,
    engine,
    path,
    upload: async (name) => {
      const key = `uploads/${name}`
      mkdirSync(dirname(join(dir, 'objects', key)), { recursive: true })
      await link(path(name), join(dir, 'objects', key)).catch(() => copyFile(path(name), join(dir, 'objects', key)))
      return key
    },
    load: (key, snapshot, mode, keyPrefix = 'tables/bench/') =>
      engine.load({
        snapshot,
        mode,
        source: { slices: [{ key, gzip: key.endsWith('.gz') }] },
        fileColumns: CSV_COLUMNS,
        skipLines: 1,
        loadedAt: Date.now(),
        keyPrefix,
      }),
    close: async () => {
      await engine.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export const emptyTable = (primaryKey: readonly string[] = []): TableSnapshot =>
  emptySnapshot(
    CSV_COLUMNS.map((name) => ({ name })),
    { primaryKey },
  )

/** Raw DuckDB in this process, with the memory and threads a worker has. */
export async function rawDuckDb(dir: string, threads = 1): Promise<(sql: string) => Promise<number>> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: '768MiB',
    temp_directory: join(dir, 'raw-spill'),
  })
  const connection = await instance.connect()
  return (sql) => timed(() => connection.run(sql))
}

/** `read_csv` as one would write it for this file. */
export const rawCsv = (path: string): string => {
  const columns = CSV_COLUMNS.map((name) => `'${name}': 'VARCHAR'`).join(', ')
  return `read_csv('${path}', auto_detect=false, header=true, delim=',', quote='"', escape='"', new_line='\\n', columns={${columns}})`
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}

export const sizeMb = (path: string): number => Math.round(statSync(path).size / 1e6)
export const report = (line: Record<string, unknown>): void => console.log(JSON.stringify(line))

export interface WorkerUse {
  /** The largest resident memory of one worker. */
  readonly peakMb: number
  /** Processor time of all workers. */
  readonly cpuSeconds: number
}

/** What the engine's workers use while `work` runs (Linux; zeros elsewhere). Processor time is reliable on a busy machine. */
export async function workerUse(engine: RunningTableEngine, work: () => Promise<unknown>): Promise<WorkerUse> {
  let peak = 0
  const before = cpuOf(engine)
  const latest = new Map(before)
  const look = setInterval(() => {
    for (const [pid, seconds] of cpuOf(engine)) latest.set(pid, seconds)
    for (const pid of engine.workerPids())
      peak = Math.max(peak, Number(/VmRSS:\s+(\d+)/.exec(readProc(pid, 'status'))?.[1] ?? 0) / 1024)
  }, 20)
  try {
    await work()
  } finally {
    clearInterval(look)
  }
  for (const [pid, seconds] of cpuOf(engine)) latest.set(pid, seconds)
  const cpuSeconds = [...latest].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0)
  return { peakMb: Math.round(peak), cpuSeconds }
}

const TICKS_PER_SECOND = 100

function cpuOf(engine: RunningTableEngine): Map<number, number> {
  const seconds = (pid: number) => {
    const fields = readProc(pid, 'stat').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND
  }
  return new Map(engine.workerPids().map((pid) => [pid, seconds(pid)]))
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return '' // not Linux, or the worker has just ended
  }
}
