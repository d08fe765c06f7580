// SQLMesh over the PostgreSQL port, in a workspace that also has its state: plans of a project with every common kind of model, again, with
// changed models in an environment of their own, and then in prod. Part of `npm run test:dbt`. MILLRACE_SQLMESH names another folder for
// the environment.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { tableClient } from '../../support/clients/table-client.ts'
import { startTestStack } from '../../support/test-stack.ts'
import { SQLMESH, sqlmeshEnvironment } from './environment.ts'

const run = promisify(execFile)
/** Of one command; machines that are busy take long. */
const COMMAND_MS = 600_000

const MODELS = {
  'models/items.sql': `MODEL (name shop.items, kind SEED (path '../seeds/items.csv'), columns (id INTEGER, name TEXT, day DATE), grain id);`,
  'models/days.sql': `MODEL (name shop.days, kind FULL, audits (not_null(columns := (day))));
SELECT day, COUNT(*) AS n FROM shop.items GROUP BY day`,
  'models/daily.sql': `MODEL (name shop.daily, kind INCREMENTAL_BY_TIME_RANGE (time_column day), start '2026-01-01');
SELECT id, name, day FROM shop.items WHERE day BETWEEN @start_date AND @end_date`,
  'models/latest.sql': `MODEL (name shop.latest, kind INCREMENTAL_BY_UNIQUE_KEY (unique_key id));
SELECT id, name || '!' AS name FROM shop.items`,
  'models/versions.sql': `MODEL (name shop.versions, kind SCD_TYPE_2_BY_COLUMN (unique_key id, columns [name]));
SELECT id, name FROM shop.items`,
  'models/orders.sql': `MODEL (name shop.orders, kind VIEW);
SELECT o.id::INT AS id, o.city FROM "in.c-main"."orders" AS o`,
}
const items = (second: string) => `id,name,day\n1,a,2026-01-01\n2,${second},2026-01-02\n3,c,2026-01-03\n`

test('SQLMesh plans a project over the port, again, and with changed models', async (t) => {
  await sqlmeshEnvironment()
  const stack = await startTestStack(t, { sql: { sessions: 6 } })
  const port = await stack.platform.sqlPort.listen(0, '127.0.0.1')
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n2,Brno\n', { primaryKey: 'id' })
  const created = await stack.request('POST', '/v2/storage/workspaces', { json: {} })
  const { user, password } = created.json<{ connection: { user: string; password: string } }>().connection
  const folder = await mkdtemp(join(tmpdir(), 'millrace-sqlmesh-project-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const write = async (files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
  }
  const sqlmesh = (...args: string[]) =>
    run(SQLMESH, args, {
      cwd: folder,
      timeout: COMMAND_MS,
      maxBuffer: 64 << 20,
      env: { ...process.env, SQLMESH__DISABLE_ANONYMIZED_ANALYTICS: 'true' },
    }).catch(({ stdout, stderr }: { stdout?: string; stderr?: string }) =>
      assert.fail(`sqlmesh ${args.join(' ')}\n${stdout}\n${stderr}`),
    )
  const plan = (...environment: string[]) => sqlmesh('plan', ...environment, '--auto-apply', '--no-prompts')
  await write({
    ...MODELS,
    'seeds/items.csv': items('b'),
    'config.yaml': `gateways:
  port:
    connection: {type: postgres, host: 127.0.0.1, port: ${port}, user: ${user}, password: '${password}', database: default, concurrent_tasks: 4}
default_gateway: port
model_defaults: {dialect: postgres, start: 2026-01-01}
`,
  })

  await plan()
  const rows = async (sql: string): Promise<unknown[]> => {
    const db = new pg.Client({ host: '127.0.0.1', port, user, password, database: 'default' })
    await db.connect()
    try {
      return (await db.query({ text: sql, rowMode: 'array' })).rows
    } finally {
      await db.end()
    }
  }
  assert.deepEqual(await rows('SELECT n::INT FROM shop.days'), [[1], [1], [1]])
  assert.deepEqual(await rows('SELECT id, name FROM shop.daily ORDER BY id'), [
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
  ])
  assert.deepEqual(await rows('SELECT id, city FROM shop.orders ORDER BY id'), [
    [1, 'Praha'],
    [2, 'Brno'],
  ])
  assert.match((await plan()).stdout, /[Nn]o changes/)
  await sqlmesh('run', '--ignore-cron')

  await write({
    'seeds/items.csv': items('B'),
    'models/days.sql': MODELS['models/days.sql'].replace('SELECT day,', 'SELECT day, MAX(name) AS last_name,'),
  })
  await plan('dev')
  assert.deepEqual(await rows('SELECT last_name FROM shop__dev.days ORDER BY day'), [['a'], ['B'], ['c']])
  assert.deepEqual(await rows('SELECT name FROM shop.latest ORDER BY id'), [['a!'], ['b!'], ['c!']])
  await plan()
  assert.deepEqual(await rows('SELECT name FROM shop.latest ORDER BY id'), [['a!'], ['B!'], ['c!']])
  assert.deepEqual(await rows('SELECT count(*)::INT FROM shop.versions WHERE valid_to IS NULL'), [[3]])
  await sqlmesh('audit')
})
