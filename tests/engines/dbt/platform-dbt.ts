// platform.dbt with the real dbt, isolated, on the project of 60 models, again, with changed models, with a failed model and
// its run again. Part of `npm run test:dbt`.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { tableClient } from '../../support/clients/table-client.ts'
import { type Job, shellStack } from '../../support/shell-stack.ts'
import { DBT, environment, FOLDER } from './environment.ts'
import { dbtProject } from './project.ts'

const COMPONENT = 'platform.dbt'
const VISITS = 'visit_id,customer_id,seen_at\n1,1,2026-01-01 10:00:00\n2,1,2026-01-02 10:00:00\n3,2,2026-01-02 11:00:00\n'

interface Node {
  readonly name: string
  readonly kind: string
  readonly status: string
  readonly rows: number | null
  readonly tableId: string | null
}
type DbtJob = Job & { readonly result: { readonly message: string; readonly dbt?: { readonly nodes: readonly Node[] } } }

test('a job runs the project: everything, what is modified, what failed', async (t) => {
  await environment()
  const folder = mkdtempSync(join(tmpdir(), 'millrace-dbt-folder-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const write = (files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  const path = process.env.PATH ?? DEFAULT_WORKER.path
  const isolation = { mode: 'require', readable: [FOLDER], uid: 65_534 } as const
  const stack = await shellStack(t, {
    sql: { sessions: 6 },
    worker: { ...DEFAULT_WORKER, path, isolation, folders: { read: { shop: folder }, write: {} } },
  })
  const client = tableClient(stack)
  await client.bucket('dbt')
  await client.create('in.c-dbt', 'visits', VISITS, { primaryKey: 'visit_id' })
  const parameters = {
    project: { folder: 'shop' },
    program: [DBT],
    buckets: [{ schema: 'analytics', bucket: 'out.c-analytics' }],
  }
  const config = await stack.configure(COMPONENT, { parameters })
  const run = async (change: object = {}): Promise<DbtJob> => {
    const configData = { parameters: { ...parameters, ...change } }
    const started = await stack.request('POST', '/queue/jobs', {
      json: { component: COMPONENT, config, mode: 'run', configData },
    })
    assert.equal(started.status, 201, started.text)
    return (await stack.wait(started.json<Job>())) as DbtJob
  }
  const nodesOf = ({ result }: DbtJob) => result.dbt?.nodes ?? []
  const statuses = (job: DbtJob) => [...new Set(nodesOf(job).map(({ status }) => status))].sort()

  write(dbtProject())
  const first = await run()
  assert.equal(first.status, 'success', JSON.stringify(first.result).slice(0, 3000))
  assert.deepEqual(statuses(first), ['pass', 'success'])
  const stored = nodesOf(first).filter(({ tableId }) => tableId !== null)
  assert.ok(stored.length >= 50, `${stored.length} relations are stored`)
  assert.ok(
    stored.some(({ rows }) => (rows ?? 0) > 0),
    'rows are known',
  )
  const again = await run({ onlyModified: true })
  assert.equal(again.status, 'success', JSON.stringify(again.result).slice(0, 3000))
  assert.deepEqual(
    nodesOf(again).map(({ name }) => name),
    [],
    'nothing is modified',
  )

  write(dbtProject({ changed: true }))
  const modified = await run({ onlyModified: true, vars: { more: true } })
  assert.equal(modified.status, 'success', JSON.stringify(modified.result).slice(0, 3000))
  assert.ok(nodesOf(modified).length > 0 && nodesOf(modified).length < nodesOf(first).length, 'only a part runs')

  write({ 'models/broken.sql': 'select nothing from {{ ref("stg_orders") }}' })
  const failed = await run({ vars: { more: true } })
  assert.equal(failed.status, 'error')
  assert.match(failed.result.message, /^1 of \d+ nodes failed.*model\.\w+\.broken/)
  write({ 'models/broken.sql': 'select 1 as id from {{ ref("stg_orders") }} limit 1' })
  const retried = await run({ retry: true, vars: { more: true } })
  assert.equal(retried.status, 'success', JSON.stringify(retried.result).slice(0, 3000))
  assert.deepEqual(
    nodesOf(retried).map(({ name }) => name),
    ['broken'],
  )
  assert.equal((await stack.request('GET', '/v2/storage/tables/out.c-analytics.broken')).status, 200)
  const tests = (await stack.request('GET', '/v2/storage/data-tests?limit=1000')).json<{ type: string }[]>()
  assert.ok(tests.length > 10 && tests.every(({ type }) => type === 'dbt'), `${tests.length} tests`)
})
