import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { startTestStack } from '../../../../tests/support/test-stack.ts'
import { HOSTILE_SQL } from '../../engines/sql/hostile-sql.fixture.ts'

test('a megabyte of hostile SQL holds the event loop for moments, by the port and by HTTP', async (t) => {
  const stack = await startTestStack(t, { sql: { memoryMb: 512, diskMb: 64, sessions: 3 } })
  const port = await stack.platform.sqlPort.listen(0, '127.0.0.1')
  const db = new pg.Client({ host: '127.0.0.1', port, user: 'me', password: stack.masterToken, database: 'default' })
  db.on('error', () => {}) // the stack ends the connection when it stops
  await db.connect()
  t.after(() => db.end().catch(() => {}))
  const ways: Readonly<Record<string, (sql: string) => Promise<unknown>>> = {
    port: (sql) => db.query(sql),
    prepared: (sql) => db.query(sql, []),
    http: async (sql) => {
      const { status } = await stack.request('POST', '/v2/storage/query', { json: { sql } })
      assert.ok(status < 500 || status === 503, String(status))
    },
  }
  for (const shape of ['open brackets', 'nested calls', 'many statements'])
    for (const [way, send] of Object.entries(ways)) {
      const used = async (bytes: number) => {
        const sql = Buffer.from(HOSTILE_SQL[shape]?.(bytes) ?? '').toString()
        const before = process.threadCpuUsage()
        await send(sql).catch(() => {})
        const { user, system } = process.threadCpuUsage(before)
        return (user + system) / 1000
      }
      const [eighth, whole] = [await used(1 << 17), await used(1 << 20)]
      // The bound is for a machine that does much else; the old way took minutes.
      assert.ok(
        whole < Math.max(20 * eighth, 1500),
        `${shape} by ${way}: ${whole} ms of the processor, ${eighth} ms for an eighth`,
      )
    }
})
