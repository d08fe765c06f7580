import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../tests/support/clients/table-client.ts'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startTestStack } from '../../../tests/support/test-stack.ts'
import { commandOf, completionsOf } from './sql-shell.ts'

test('queries run from the command line, as a table, CSV or JSON', async (t) => {
  const stack = await startTestStack(t)
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n2,Brno\n')
  const sql = (...args: string[]) => runCli(['sql', ...args], { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken })
  const query = 'SELECT id::INT AS id, city, NULL AS none FROM "in.c-main"."orders" ORDER BY id'
  assert.equal((await sql(query)).out, 'id  city   none\n1   Praha  NULL\n2   Brno   NULL\n(2 rows)\n')
  assert.equal((await sql(query, '--format', 'csv')).out, 'id,city,none\n1,Praha,\n2,Brno,\n')
  assert.equal((await sql(query, '--limit', '1')).out, 'id  city   none\n1   Praha  NULL\n(1 row, there are more)\n')
  assert.deepEqual((JSON.parse((await sql(query, '--json')).out) as { rowCount: number }).rowCount, 2)
  const wrong = await sql('SELECT wrong FROM "in.c-main".orders')
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, /"wrong" not found.*line 1, character 8/s)
  assert.match((await sql('SELECT 1', '--limit', 'x')).err, /--limit x is not a number of rows/)
})

test('the shell completes tables, columns and keywords', () => {
  const tables = [{ id: 'in.c-main.orders', columns: ['id', 'city'] }, { id: 'out.c-x.y' }]
  assert.deepEqual(completionsOf('SELECT * FROM in.c', tables), [['"in.c-main"."orders"'], 'in.c'])
  assert.deepEqual(completionsOf('FROM "in.c-main"."orders" WHERE ci', tables), [['city'], 'ci'])
  assert.deepEqual(completionsOf('sel', tables), [['SELECT'], 'sel'])
  assert.deepEqual(completionsOf('SELECT ', tables), [[], ''])
  assert.equal(commandOf('\\dt', tables), '"in.c-main"."orders"\n"out.c-x"."y"')
  assert.equal(commandOf('\\d in.c-main.orders', tables), 'id\ncity')
  assert.match(commandOf('\\d nothing', tables), /table nothing does not exist/)
})

test('queries are saved with parameters, listed, run by name and deleted', async (t) => {
  const stack = await startTestStack(t)
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n2,Brno\n')
  const query = (...args: string[]) => runCli(['query', ...args], { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken })
  const sql = 'SELECT id FROM "in.c-main"."orders" WHERE city = $city AND id::INT >= $least'
  const parameters = ['--parameter', 'city:text=Praha', '--parameter', 'least:number']
  assert.equal((await query('save', 'orders of a city', sql, ...parameters)).out, 'Query 1 created\n')
  assert.equal((await query('save', 'orders of a city', sql, ...parameters)).out, 'Query 1 changed\n')
  assert.match((await query('list')).out, /1 +orders of a city +city:text=Praha least:number/)
  assert.equal((await query('run', 'orders of a city', '--set', 'least=0')).out, 'id\n1\n(1 row)\n')
  assert.equal((await query('run', '1', '--set', 'least=0', '--set', 'city=Brno', '--format', 'csv')).out, 'id\n2\n')
  assert.match((await query('run', 'orders of a city')).err, /least has no value and no default/)
  assert.match((await query('run', 'orders of a city', '--set', 'least')).err, /--set least has no value/)
  assert.match((await query('run', 'nothing')).err, /Saved query nothing does not exist/)
  assert.equal((await query('delete', 'orders of a city', '--yes')).out, 'Query 1 deleted\n')
})
