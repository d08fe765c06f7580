// dbt over the PostgreSQL port beside dbt on DuckDB alone: `dbt run` of 60 small models, in turns. Target: at most 1.5 x. Needs Python 3 or uv and,
// the first time, the package index of Python.

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { DBT, environment } from '../../tests/engines/dbt/environment.ts'
import { dbtProject, MODELS } from '../../tests/engines/dbt/project.ts'
import { tableClient } from '../../tests/support/clients/table-client.ts'
import { cpuSecondsBelow, inTurns, report, round } from '../support/measure.ts'
import { startPortStack } from '../support/port-stack.ts'

const ROUNDS = Number(process.env.MILLRACE_BENCH_ROUNDS ?? 3)
const run = promisify(execFile)
const ends: (() => unknown)[] = []
await environment()
const { stack, port } = await startPortStack(ends)
const client = tableClient(stack)
await client.bucket('dbt')
await client.create('in.c-dbt', 'visits', 'visit_id,customer_id,seen_at\n1,1,2026-01-01 10:00:00\n', { primaryKey: 'visit_id' })
const { user, password } = (await stack.request('POST', '/v2/storage/workspaces', { json: {} })).json<{
  connection: { user: string; password: string }
}>().connection

const folder = await mkdtemp(join(tmpdir(), 'millrace-dbt-bench-'))
const duck = join(folder, 'duck.db')
const instance = await DuckDBInstance.create(duck)
const connection = await instance.connect()
await connection.run(
  `CREATE SCHEMA "in.c-dbt"; CREATE TABLE "in.c-dbt".visits AS SELECT 1 AS visit_id, 1 AS customer_id, TIMESTAMP '2026-01-01 10:00:00' AS seen_at`,
)
connection.closeSync()
instance.closeSync()
const files = {
  ...dbtProject(),
  'profiles.yml': `shop:
  target: port
  outputs:
    port: {type: postgres, host: 127.0.0.1, port: ${port}, user: ${user}, password: '${password}', dbname: default, schema: analytics, threads: 4}
    duck: {type: duckdb, path: '${duck}', schema: analytics, threads: 4}
`,
}
for (const [path, text] of Object.entries(files)) {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

/** Seconds of the models, without the start of Python. */
async function dbt(command: 'seed' | 'run', target: 'port' | 'duck', tries = 3): Promise<number> {
  const env = { ...process.env, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false' }
  const failed = await run(DBT, ['--no-use-colors', command, '--profiles-dir', '.', '--target', target], {
    cwd: folder,
    maxBuffer: 64 << 20,
    env,
  }).then(
    () => undefined,
    (error: { stdout?: string }) => error.stdout ?? String(error),
  )
  if (failed !== undefined) {
    // On DuckDB a model may meet a table that another thread is replacing just then: its run is repeated.
    if (target === 'duck' && tries > 1) return dbt(command, target, tries - 1)
    throw new Error(`dbt failed on ${target}: ${failed.slice(-3000)}`)
  }
  const results = JSON.parse(await readFile(join(folder, 'target', 'run_results.json'), 'utf8')) as { elapsed_time: number }
  return results.elapsed_time
}

for (const target of ['port', 'duck'] as const) {
  await dbt('seed', target)
  await dbt('run', target)
}
const stackCpu: number[] = []
const seconds = await inTurns(ROUNDS, {
  duck: () => dbt('run', 'duck'),
  port: async () => {
    const before = cpuSecondsBelow([])
    const took = await dbt('run', 'port')
    stackCpu.push(cpuSecondsBelow([]) - before)
    return took
  },
})
report({
  bench: 'dbt',
  ratio: seconds.port / seconds.duck,
  target: '<= 1.5',
  models: MODELS,
  seconds: round(seconds.port),
  duckdbSeconds: round(seconds.duck),
  stackCpuSeconds: round(Math.min(...stackCpu)),
})
await rm(folder, { recursive: true, force: true })
for (const end of ends.toReversed()) await end()
process.exit(0)
