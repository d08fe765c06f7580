import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { freshPostgres } from '../../../../tests/support/fresh-databases.ts'
import { MIN_POSTGRES, reachPostgres } from './reach-postgres.ts'

test('a PostgreSQL that is too old is refused with both versions and without the password', async (t) => {
  const { location, remove } = await freshPostgres()
  const url = 'url' in location ? location.url : ''
  const pool = new pg.Pool({ connectionString: url })
  const older = new pg.Pool({ connectionString: url, options: '-c search_path=older,pg_catalog' })
  t.after(async () => {
    await Promise.all([pool.end(), older.end()])
    await remove()
  })
  await reachPostgres(pool, url, { waitMs: 0 })

  // The same server, whose settings report an older version.
  await pool.query('create schema older')
  await pool.query(`create function older.current_setting(name text) returns text language sql as
    $$ select case name when 'server_version' then '13.10' else '130010' end $$`)
  const { host, pathname } = new URL(url)
  await assert.rejects(reachPostgres(older, url, { waitMs: 0 }), {
    code: 'stack.databaseTooOld',
    message: `PostgreSQL at ${host}${pathname} has version 13.10, and this version of Millrace needs ${MIN_POSTGRES} or newer. Upgrade PostgreSQL, or start the earlier Millrace.`,
  })
})
