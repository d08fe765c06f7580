// dbt-postgres over the PostgreSQL port, in a workspace: every command on a project of 60 models, twice and then with changed models. Its time
// beside that of dbt-duckdb is measured by bench/peers/dbt.bench.ts. `npm run test:dbt`, not part of `npm test`: it needs Python 3 and, the first time, the package index of Python.
// MILLRACE_DBT names another folder for the environment. Statements that dbt sends are replayed by postgres-clients.test.ts without Python.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { tableClient } from '../../support/clients/table-client.ts'
import { startTestStack } from '../../support/test-stack.ts'
import { DBT, environment } from './environment.ts'
import { dbtProject, MODELS } from './project.ts'

const run = promisify(execFile)
const VISITS = 'visit_id,customer_id,seen_at\n1,1,2026-01-01 10:00:00\n2,1,2026-01-02 10:00:00\n3,2,2026-01-02 11:00:00\n'
/** Of one command; machines that are busy take long. */
const COMMAND_MS = 600_000

async function writeProject(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

async function temporary(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-dbt-project-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Runs dbt and returns the nodes of the run with their states. A command that fails shows what dbt printed. */
async function dbt(folder: string, target: string, ...args: string[]): Promise<Map<string, string>> {
  const options = {
    cwd: folder,
    timeout: COMMAND_MS,
    maxBuffer: 64 << 20,
    env: { ...process.env, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false' },
  }
  const command = ['--no-use-colors', ...args, '--profiles-dir', '.', '--target', target]
  await run(DBT, command, options).catch((error: { stdout?: string }) => assert.fail(`dbt ${args.join(' ')}\n${error.stdout}`))
  if (args[0] === 'debug' || args[0] === 'docs') return new Map()
  const { results } = JSON.parse(await readFile(join(folder, 'target', 'run_results.json'), 'utf8')) as {
    results: { unique_id: string; status: string }[]
  }
  return new Map(results.map(({ unique_id, status }) => [unique_id, status]))
}

const allOf = (states: Map<string, string>): string[] => [...new Set(states.values())].sort()

test('every command of dbt works over the port, again and with changed models', async (t) => {
  await environment()
  const stack = await startTestStack(t, { sql: { sessions: 6 } })
  const port = await stack.platform.sqlPort.listen(0, '127.0.0.1')
  const client = tableClient(stack)
  await client.bucket('dbt')
  await client.create('in.c-dbt', 'visits', VISITS, { primaryKey: 'visit_id' })
  const made = await stack.request('POST', '/v2/storage/workspaces', { json: {} })
  const { user, password } = made.json<{ connection: { user: string; password: string } }>().connection
  const folder = await temporary(t)
  const profile = `shop:
  target: port
  outputs:
    port: {type: postgres, host: 127.0.0.1, port: ${port}, user: ${user}, password: '${password}', dbname: default, schema: analytics, threads: 4}
`
  await writeProject(folder, { ...dbtProject(), 'profiles.yml': profile })

  await dbt(folder, 'port', 'debug')
  assert.deepEqual(allOf(await dbt(folder, 'port', 'seed')), ['success'])
  const models = await dbt(folder, 'port', 'run')
  assert.deepEqual(allOf(models), ['success'])
  assert.ok(MODELS >= 60)
  assert.deepEqual(allOf(await dbt(folder, 'port', 'test')), ['pass'])
  assert.deepEqual(allOf(await dbt(folder, 'port', 'snapshot')), ['success'])
  await dbt(folder, 'port', 'docs', 'generate')
  const catalog = JSON.parse(await readFile(join(folder, 'target', 'catalog.json'), 'utf8')) as { nodes: Record<string, unknown> }
  // Ephemeral models have no relation.
  for (const model of models.keys()) assert.ok(catalog.nodes[model], `${model} is in the catalogue`)
  assert.deepEqual(allOf(await dbt(folder, 'port', 'build', '--threads', '4')), ['pass', 'success'])
  assert.deepEqual(allOf(await dbt(folder, 'port', 'build', '--threads', '4')), ['pass', 'success'])

  await writeProject(folder, dbtProject({ changed: true }))
  assert.deepEqual(allOf(await dbt(folder, 'port', 'build', '--threads', '4', '--vars', '{more: true}')), ['pass', 'success'])
  const query = async (sql: string) => {
    const id = user.replace('workspace_', '')
    const branches = (await stack.request('GET', '/v2/storage/dev-branches')).json<{ id: number; isDefault: boolean }[]>()
    const branch = branches.find(({ isDefault }) => isDefault)?.id
    const answer = await stack.request('POST', `/v2/storage/branch/${branch}/workspaces/${id}/query`, { json: { query: sql } })
    return answer.json<{ data: { rows: Record<string, unknown>[] } }>().data.rows
  }
  const one = async (sql: string) => Object.values((await query(sql))[0] ?? {}).map(Number)
  assert.deepEqual(await one('select count(*) from analytics.inc_orders_merge'), [161])
  assert.deepEqual(await one('select count(*) from analytics.inc_orders_delete_insert'), [161])
  assert.deepEqual(await one('select count(*) from analytics.inc_payments_append'), [200])
  // One order has another state: its row of before is closed.
  assert.deepEqual(await one('select count(*) from analytics.snap_orders'), [162])
  assert.deepEqual(await one('select count(*) from analytics.snap_orders where dbt_valid_to is not null'), [1])
  assert.deepEqual(await one("select count(*) from information_schema.columns where table_name = 'inc_sync_columns'"), [2])
})
