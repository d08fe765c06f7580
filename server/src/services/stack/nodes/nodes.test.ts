import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newMember, newStackAdmin } from '../../../../../tests/support/clients/person-client.ts'
import { migratedPostgres } from '../../../../../tests/support/fresh-databases.ts'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { runCli } from '../../../../../tests/support/run-cli.ts'
import { frozenProxy } from '../../../../../tests/support/servers/frozen-proxy.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { createNodesStore } from './nodes.store.ts'
import { createNodes } from './nodes.ts'

const LOAD = { jobs: 1, slots: 10, storageJobs: 0, memoryBytes: 5, loadAverage: 0.5 }

await onBothDatabases('nodes', ({ db, inTransaction }) => {
  test('a node is working, draining, silent and forgotten', async () => {
    let now = new Date('2026-05-01T12:00:00Z')
    const later = (ms: number) => {
      now = new Date(now.getTime() + ms)
    }
    const open = (id: string, roles: readonly string[], labels: readonly string[], folder = `folder of ${id}`) =>
      createNodes({
        store: createNodesStore(db),
        clock: { now: () => now },
        node: { id, name: `node ${id}`, version: '1', roles, labels },
        dataFolder: async () => folder,
        load: () => LOAD,
        onError: (error) => assert.fail(String(error)),
      })
    const states = async () => (await worker.list()).map(({ id, state }) => `${id} ${state}`)
    const canRun = (...labels: string[]) => inTransaction((trx) => worker.hasWorkerWith(trx, labels))
    const worker = open('w', ['worker'], ['eu', 'gpu'])
    const api = open('x', ['api'], ['api-only'])
    await worker.start()
    later(1)
    await api.start()
    assert.deepEqual(await states(), ['w working', 'x working'])
    assert.deepEqual(await Promise.all([canRun('gpu'), canRun('gpu', 'eu'), canRun('us'), canRun('api-only')]), [
      true,
      true,
      false,
      false,
    ])
    await worker.drain()
    assert.deepEqual([await states(), await canRun('gpu')], [['w draining', 'x working'], false])
    later(20_001)
    assert.deepEqual(await states(), ['w silent', 'x silent'])
    later(24 * 3600_000)
    const next = open('y', ['api', 'worker'], [])
    await next.start()
    assert.deepEqual(await states(), ['y working'])
    // Killed, and started again on the same folder: only the new process is listed, at once.
    const successor = open('z', ['api', 'worker'], [], 'folder of y')
    await successor.start()
    assert.deepEqual(await states(), ['z working'])
    for (const node of [worker, api, next, successor]) await node.stop()
    assert.deepEqual(await states(), [])
  })
})

test('a stack admin sees the nodes, and so does whoever owns the machine; nobody else does', async (t) => {
  const stack = await startTestStack(t, { nodeName: 'here', worker: { labels: ['gpu'], jobs: 3 } })
  const admin = await newStackAdmin(stack)
  const [node, ...others] = await admin.ok<Record<string, unknown>[]>('GET', '/operations/nodes')
  assert.deepEqual(others, [])
  const { name, version, state, roles, labels, leases } = node!
  assert.deepEqual([name, version, state, labels], ['here', '0.0.0-test', 'working', ['gpu']])
  assert.deepEqual([roles, leases], [['api', 'worker', 'scheduler'], { jobs: [], storageJobs: [] }])
  const { slots, jobs } = node!.load as { slots: number; jobs: number }
  assert.deepEqual([slots, jobs], [3, 0])
  const member = await newMember(stack, admin, { projectId: stack.projectId, role: 'admin' })
  assert.equal((await member.call('GET', '/operations/nodes')).status, 403)
  const { out, code } = await runCli(['nodes'], { MILLRACE_DATA_DIR: stack.dataDir })
  assert.equal(code, 0)
  assert.match(out, /NAME +STATE .*\nhere +working +0\.0\.0-test +api,worker,scheduler +gpu +0\/3 /)
})

test('a node stops although its database answers nothing any more, and says nothing', async (t) => {
  const database = await migratedPostgres()
  const way = await frozenProxy((database.location as { url: string }).url) // of PostgreSQL
  t.after(way.close)
  t.after(database.remove)
  const ends: (() => unknown)[] = []
  const options = { databaseUrl: way.url, encryptionKeys: [new Uint8Array(32)] }
  const { platform } = await startTestStack({ after: (end) => ends.push(end) }, options)
  let stopping: unknown
  const waiting = platform.metadata.inTransaction(async (trx) => {
    way.freeze()
    stopping = ends[0]!()
    await sql`select 1`.execute(trx)
  })
  await assert.rejects(waiting)
  await stopping
  await assert.rejects(
    platform.metadata.inTransaction((trx) => sql`select 1`.execute(trx)),
    /destroyed/,
  )
})
