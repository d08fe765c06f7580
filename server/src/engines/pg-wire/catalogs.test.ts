import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../../tests/support/until.ts'
import { createCatalogs } from './catalogs.ts'

test('a catalogue whose process is ended while it starts is asked again, one that had answered is not', async (t) => {
  const catalogs = createCatalogs()
  t.after(catalogs.close)
  const catalog = catalogs.get('token')
  const table = {
    schema: 'in.c-main',
    name: 'orders',
    version: '1',
    columns: [{ name: 'id', type: 'text', nullable: true }],
    primaryKey: [],
  }
  const ask = (sql: string) =>
    catalog.ask([table], { sql, database: 'default', searchPath: [], types: [], values: [], formats: [] })
  const kill = () => process.kill(catalogs.pids()[0] ?? assert.fail('no process'), 'SIGKILL')

  const names = ask("SELECT table_name FROM information_schema.tables WHERE table_schema = 'in.c-main'")
  await until('the process is there', () => Promise.resolve(catalogs.pids().length === 1))
  kill()
  assert.match((await names).rows.toString(), /orders/)

  const slow = assert.rejects(ask('SELECT pg_sleep(30)'), /did not answer: the process ended\. Ask again\./)
  kill()
  await slow
})
