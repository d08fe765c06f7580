// kill -9 while records arrive and batches are loaded: what was acknowledged is in the table once, nothing is there twice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, kills } from '../support/chance.ts'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const KILLS = kills(2, 50)
const CLIENTS = 8
const SOURCES = '/stream/v1/branches/default/sources'
const COLUMNS = ['client', 'n'].map((name) => ({ type: 'path', name, path: name, rawString: true }))
const TRIGGER = 'storage.level.target.import.trigger'

interface Records {
  readonly acknowledged: Set<string>
  readonly sent: Set<string>
}

test(`${KILLS} kills: every acknowledged record arrives, and no record arrives twice`, async (t) => {
  const stack = await startStack(t)
  await change(stack, 'POST', SOURCES, { name: 'events', sourceId: 'events' })
  // Small batches, so that the stack dies in the middle of loads too.
  const settings = [
    { key: `${TRIGGER}.count`, value: 50 },
    { key: `${TRIGGER}.interval`, value: '1s' },
  ]
  await change(stack, 'PATCH', `${SOURCES}/events/settings`, { settings })
  for (const name of ['first', 'second']) {
    const table = { tableId: `in.c-events.${name}`, mapping: { columns: COLUMNS } }
    await change(stack, 'POST', `${SOURCES}/events/sinks`, { name, table })
  }
  const { http } = (await stack.get(`${SOURCES}/events`)).body as { http: { url: string } }
  const path = new URL(http.url).pathname
  const clientNames: string[] = []
  const records: Records = { acknowledged: new Set(), sent: new Set() }
  for (let round = 1; round <= KILLS; round++) {
    const names = Array.from({ length: CLIENTS }, (_, client) => `${round}-${client}`)
    clientNames.push(...names)
    const clients = names.map((name) => sendUntilItDies(stack, path, name, records))
    await sleep(500 + chance() * 1500) // the moment of death is the random input of this test
    await stack.kill()
    await Promise.all(clients)
    await stack.start()
  }
  assert.ok(records.acknowledged.size > KILLS * CLIENTS, `only ${records.acknowledged.size} records were acknowledged`)
  for (const name of ['first', 'second']) {
    const rows = await until(
      () => `all of ${records.acknowledged.size} records are in ${name}\n${stack.output()}`,
      async () => {
        const found = await rowsOf(stack, `in.c-events.${name}`, clientNames)
        return new Set(found).isSupersetOf(records.acknowledged) && found
      },
    )
    assert.equal(new Set(rows).size, rows.length, 'a record is there twice')
    assert.ok(records.sent.isSupersetOf(new Set(rows)), 'a record is there that nobody sent')
  }
})

async function change(stack: Stack, method: string, path: string, body: object): Promise<void> {
  const answer = await stack.request(method, path, body)
  assert.equal(answer.status, 202, JSON.stringify(answer.body))
}

async function sendUntilItDies(stack: Stack, path: string, client: string, { acknowledged, sent }: Records): Promise<void> {
  for (let i = 0; ; i++) {
    const n = `${client}-${i}`
    sent.add(n)
    const answer = await stack.post(path, { client, n }).catch(() => undefined)
    if (!answer) return
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    acknowledged.add(n)
  }
}

/** A preview shows all that one client sent, and the table is shown client by client. */
async function rowsOf(stack: Stack, tableId: string, clientNames: readonly string[]): Promise<string[]> {
  const rows: string[] = []
  for (const client of clientNames) {
    const filter = `whereColumn=client&whereValues[]=${client}&columns=n&limit=1000`
    const { body, status } = await stack.get(`/v2/storage/tables/${tableId}/data-preview?${filter}`)
    if (status === 404) return [] // no batch has been loaded yet
    assert.equal(status, 200, JSON.stringify(body))
    rows.push(...[...String(body).matchAll(/^"([\d-]+)"$/gm)].map(([, n]) => n!))
  }
  return rows
}
