// The whole stack on PostgreSQL, where it answers differently from SQLite unless somebody looks.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { type EventStream, openEventStream } from '../support/event-stream.ts'
import { migratedPostgres } from '../support/fresh-databases.ts'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

async function onPostgres(t: TestContext) {
  const database = await migratedPostgres()
  const { url } = database.location as { url: string } // of PostgreSQL
  const stack = await startTestStack(t, { databaseUrl: url, databaseConnections: 3 })
  t.after(database.remove)
  return { ...stack, database, databaseUrl: url }
}

test('text that PostgreSQL cannot hold is refused with a reason', async (t) => {
  const { request } = await onPostgres(t)
  const answers = [
    await request('POST', '/v2/storage/tokens', { json: { description: 'a\u0000b' } }),
    await request('POST', '/v2/storage/events', { json: { component: 'a\u0000b', message: 'm' } }),
    await request('GET', '/v2/storage/events?component=%00'),
    await request('GET', '/v2/storage/components/platform.ex-http/configs/%00'),
  ]
  for (const answer of answers) {
    assert.equal(answer.status, 400, answer.text)
    assert.match(String(answer.json().error), /NUL/)
  }
})

test('the live stream of one node tells what another one changes, also over a reconnect', async (t) => {
  const one = await onPostgres(t)
  const two = await startTestStack(t, { databaseUrl: one.databaseUrl, databaseConnections: 3 })
  const headers = { 'x-storageapi-token': one.masterToken }
  const stream = await openEventStream(`${two.url}/v2/storage/changes`, headers)
  await until('it begins', () => stream.events[0]?.event === 'open')
  const create = async (configurationId: string) => {
    const json = { name: configurationId, configurationId }
    const made = await one.request('POST', '/v2/storage/components/keboola.ex-generic-v2/configs', { json })
    assert.equal(made.status, 201, made.text)
  }
  const has = ({ events }: EventStream, id: string) =>
    events.some(({ event, data }) => event === 'configuration' && data.id === id)
  await create('first')
  await until('the other node tells of it', () => has(stream, 'first'))
  const last = stream.events.at(-1)!.id
  stream.close()
  await create('second')
  // Whoever comes back may be sent to any node.
  for (const { url } of [one, two]) {
    const again = await openEventStream(`${url}/v2/storage/changes`, { ...headers, 'last-event-id': last })
    await until('what was missed arrives', () => has(again, 'second'))
    assert.equal(has(again, 'first'), false)
    again.close()
  }
})

test('a node opens no more connections than it may', async (t) => {
  const { request, databaseUrl } = await onPostgres(t)
  await Promise.all(Array.from({ length: 30 }, () => request('POST', '/v2/storage/tickets')))
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'the test' })
  await client.connect()
  const { rows } = await client.query(
    "select count(*)::int as open from pg_stat_activity where application_name = 'millrace' and datname = current_database()",
  )
  await client.end()
  assert.ok(rows[0].open <= 3, `${rows[0].open} connections`)
})

test('without its database the stack is not ready, and says to try again', async (t) => {
  const { request, database } = await onPostgres(t)
  await database.remove()
  for (const path of ['/ready', '/v2/storage/tokens']) {
    const answer = await request('GET', path)
    assert.equal(answer.status, 503, answer.text)
    assert.equal(answer.headers.get('retry-after'), '5')
  }
  assert.equal((await request('GET', '/health')).status, 200)
})
