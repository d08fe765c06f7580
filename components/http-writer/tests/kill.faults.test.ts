// kill -9 in the middle of a delivery, again and again: with idempotency keys every row counts once; without, each arrives at least once and
// the receipts show which were sent again.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { startApi, startFolder } from './harness.ts'

const ROWS = process.env.MILLRACE_LONG ? 10_000 : 1500
const KILLS = process.env.MILLRACE_LONG ? 12 : 3
const rows = Array.from({ length: ROWS }, (_, at) => [String(at)])
const table = { columns: { id: 'INTEGER' }, rows, primaryKey: ['id'] }

for (const rowsPerRequest of [1, 25])
  for (const idempotencyHeader of ['Idempotency-Key', '']) {
    const words = `${rowsPerRequest === 1 ? 'a row' : `${rowsPerRequest} rows`} per request, ${idempotencyHeader ? 'with' : 'without'} idempotency keys`
    test(`a delivery that is killed is continued: ${words}`, { timeout: 300_000 }, async (t) => {
      const counted = new Map<number, number>()
      const keys = new Set<unknown>()
      let onRequest = () => {}
      const { url, got } = await startApi(t, ({ body, headers }) => {
        onRequest()
        const key = headers['idempotency-key']
        const isNew = key === undefined || !keys.has(key)
        keys.add(key)
        const given = [JSON.parse(body)].flat() as { id: number }[] // as the test sends it
        if (isNew) for (const { id } of given) counted.set(id, (counted.get(id) ?? 0) + 1)
        return { status: 200 }
      })
      const folder = startFolder(t)
      const parameters = {
        api: { baseUrl: url },
        requests: { create: { path: 'p' } },
        rowsPerRequest,
        idempotencyHeader,
        concurrency: 8,
      }
      folder.prepare(parameters, table)
      for (let kill = 1; kill <= KILLS; kill++) {
        const child = folder.start()
        const until = Math.floor((ROWS / rowsPerRequest) * (kill / (KILLS + 1)))
        onRequest = () => {
          if (got.length >= until) child.kill('SIGKILL')
        }
        const [, signal] = await once(child, 'close')
        assert.equal(signal, 'SIGKILL')
      }
      onRequest = () => {}
      const { code, out, error } = await folder.run()
      assert.equal(code, 0, error)
      assert.match(out, /Continuing the delivery/)
      assert.equal(counted.size, ROWS, 'every row has arrived')
      const twice = [...counted].filter(([, count]) => count > 1).map(([id]) => String(id))
      const receipts = folder.receipts()
      assert.equal(new Set(receipts.filter(({ status }) => status === 'delivered').map(({ key }) => key)).size, ROWS)
      if (idempotencyHeader) assert.deepEqual(twice, [])
      const repeated = new Set(receipts.filter((one) => one.repeated === 'true').map(({ key }) => key))
      assert.ok(repeated.size > 0 && repeated.size <= KILLS * 8 * rowsPerRequest, `${repeated.size} rows were sent again`)
      for (const id of twice) assert.ok(repeated.has(id), `row ${id} arrived twice, and its receipt says so`)
    })
  }
