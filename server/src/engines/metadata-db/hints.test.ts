import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { freshPostgres } from '../../../../tests/support/fresh-databases.ts'
import { until } from '../../../../tests/support/until.ts'
import { createPostgresHints } from './hints.ts'

test('a hint reaches other processes, whoever sends it, also after the connection broke; bursts are one', async (t) => {
  const database = await freshPostgres()
  const { url } = database.location as { url: string } // of PostgreSQL
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on('error', () => {})
  let statements = 0
  const hints = createPostgresHints({
    url,
    query: (text, values) => {
      statements++
      return pool.query(text, [...values])
    },
  })
  t.after(async () => {
    await hints.close()
    await pool.end()
    await database.remove()
  })
  const heard = { queue: 0, storage: 0 }
  hints.listen('queue', () => heard.queue++)
  hints.listen('storage', () => heard.storage++)
  const listening =
    "select pid from pg_stat_activity where application_name = 'millrace hints' and datname = current_database() and query like 'listen%'"
  await until('the listener is there', async () => (await pool.query(listening)).rows.length === 1)
  for (let i = 0; i < 100; i++) hints.send('queue')
  await until('the hint arrives', async () => heard.queue > 0)
  assert.deepEqual([statements, heard.queue, heard.storage], [1, 1, 0])

  const { rows } = await pool.query(listening)
  await pool.query('select pg_terminate_backend($1)', [rows[0].pid])
  await until('it listens again', async () => (await pool.query(listening)).rows.some(({ pid }) => pid !== rows[0].pid))
  hints.send('storage')
  await until('the next hint arrives', async () => heard.storage === 1)
})
