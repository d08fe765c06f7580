import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { shareTestStack } from '../../../tests/support/test-stack.ts'

const startProject = shareTestStack()
const C = 'keboola.ex-generic-v2'

async function start(t: TestContext) {
  const stack = await startProject()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const run = async (args: readonly string[], { code = 0, input = '' } = {}) => {
    const result = await runCli(args, { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }, { input })
    assert.equal(result.code, code, `millrace ${args.join(' ')}\n${result.out}${result.err}`)
    return result
  }
  return { ...stack, folder, run }
}

test('columns, key, metadata and rows of a table are changed, and the table is found', async (t) => {
  const { run, folder } = await start(t)
  const csv = join(folder, 'orders.csv')
  await writeFile(csv, 'id,status\n1,new\n2,paid\n3,new\n')
  await run(['table', 'import', 'in.c-main.orders', csv])
  const show = async () => (await run(['table', 'show', 'in.c-main.orders', '--json', 'columns,primaryKey,rowsCount'])).json()

  await run(['column', 'add', 'in.c-main.orders', 'note'])
  await run(['key', 'set', 'in.c-main.orders', 'id'])
  assert.deepEqual(await show(), { columns: ['id', 'status', 'note'], primaryKey: ['id'], rowsCount: 3 })
  await run(['column', 'drop', 'in.c-main.orders', 'note'])
  await run(['key', 'drop', 'in.c-main.orders'])
  assert.deepEqual(await show(), { columns: ['id', 'status'], primaryKey: [], rowsCount: 3 })

  const unclear = await run(['table', 'delete-rows', 'in.c-main.orders'], { code: 1 })
  assert.match(unclear.err, /--where, .* or use --all/)
  await run(['table', 'delete-rows', 'in.c-main.orders', '--all', '--where', 'id=1'], { code: 1 })
  await run(['table', 'delete-rows', 'in.c-main.orders', '--where', 'status=new', '--dry-run'])
  assert.match((await run(['table', 'delete-rows', 'in.c-main.orders', '--where', 'status=new'])).out, /^Deleted 2 rows of/)
  assert.match((await run(['table', 'delete-rows', 'in.c-main.orders', '--all'])).out, /^Deleted 1 row of/)

  for (const [kind, id] of [
    ['table', 'in.c-main.orders'],
    ['column', 'in.c-main.orders.id'],
    ['bucket', 'in.c-main'],
    ['branch', 'default'],
  ] as const) {
    assert.equal((await run(['metadata', 'set', kind, id, 'owner=ann=1'])).out, 'owner=ann=1\n')
    assert.deepEqual((await run(['metadata', 'list', kind, id, '--json', 'key,value'])).json(), [
      { key: 'owner', value: 'ann=1' },
    ])
    await run(['metadata', 'delete', kind, id, 'owner'])
    assert.equal((await run(['metadata', 'list', kind, id])).out, 'no metadata\n')
  }
  assert.match((await run(['metadata', 'list', 'tree', 'x'], { code: 1 })).err, /bucket, table, column, branch, config/)
  assert.match((await run(['search', 'orders', '--kind', 'table'])).out, /table +in\.c-main\.orders/)
  assert.match((await run(['usage', '--group-by', 'day'])).out, /^(DAY|nothing was used)/)
})

test('workspaces are created, loaded and deleted', async (t) => {
  const { run, folder } = await start(t)
  const csv = join(folder, 'orders.csv')
  await writeFile(csv, 'id\n1\n')
  await run(['table', 'import', 'in.c-main.orders', csv])
  const { id, connection } = (await run(['workspace', 'create', '--json'])).json<{
    id: number
    connection: { password: string }
  }>()
  assert.ok(connection.password)
  await run(['workspace', 'load', String(id), 'in.c-main.orders'])
  assert.match((await run(['workspace', 'list'])).out, new RegExp(`^ID .*\\n${id} `))
  const shown = await run(['workspace', 'show', String(id)])
  assert.ok(!shown.out.includes(connection.password))
  assert.notEqual((await run(['workspace', 'reset-password', String(id)])).out.trim(), connection.password)
  await run(['workspace', 'delete', String(id)])
  assert.equal((await run(['workspace', 'list'])).out, 'no workspaces\n')
})

test('a branch is merged by a merge request', async (t) => {
  const { run, request } = await start(t)
  const { id: branch } = (await run(['branch', 'create', 'Prices', '--json'])).json<{ id: number }>()
  await run(['config', 'create', C, '--id', 'shop', '--name', 'Shop', '--branch', String(branch)])
  const { id } = (await run(['merge-request', 'create', String(branch), '--title', 'New prices', '--json'])).json<{
    id: number
  }>()
  const at = String(id)
  assert.match((await run(['merge-request', 'list'])).out, /New prices/)
  assert.equal((await run(['merge-request', 'conflicts', at])).out, 'no conflicts\n')
  await run(['merge-request', 'request-review', at])
  await run(['merge-request', 'approve', at, '--reason', 'right'])
  assert.match((await run(['merge-request', 'show', at])).out, /approved/)
  await run(['merge-request', 'merge', at])
  assert.equal((await request('GET', `/v2/storage/components/${C}/configs/shop`)).status, 200)
})

test('credentials and actions of components', async (t) => {
  const { run, folder } = await start(t)
  assert.equal((await run(['oauth', 'list', C])).out, 'no credentials\n')
  await run(['oauth', 'add', C, 'main', '--for', 'ann@example.com'], { input: '{"access_token":"canary-oauth"}' })
  const shown = await run(['oauth', 'show', C, 'main', '--json'])
  assert.ok(!shown.out.includes('canary-oauth'))
  assert.match((await run(['oauth', 'list', C])).out, /main +ann@example\.com/)
  await run(['oauth', 'delete', C, 'main'])
  assert.equal((await run(['oauth', 'list', C, '--json'])).out, '[]\n')
  await run(['oauth', 'providers'])

  const sql = 'keboola.duckdb-transformation'
  assert.match((await run(['action', 'list', sql])).out, /^dryRun$/m)
  const file = join(folder, 'sql.json')
  const script = ['CREATE TABLE t AS SELECT 7 AS number;']
  await writeFile(file, JSON.stringify({ parameters: { blocks: [{ name: 'B', codes: [{ name: 'C', script }] }] } }))
  assert.match((await run(['action', 'run', sql, 'dryRun', '--file', file, '--jmespath', 'statements[0].sql'])).out, /SELECT 7/)
  assert.match((await run(['action', 'run', sql, 'dryRun'], { code: 1 })).err, /--config or --file/)
})
