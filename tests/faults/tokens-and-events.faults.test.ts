// Invariant 1: what was acknowledged survives kill -9 at any moment, and what was not leaves nothing half-written.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, kills } from '../support/chance.ts'
import { until } from '../support/until.ts'
import { assertQuickRestarts, type Stack, startStack } from './stack.ts'

const KILLS = kills(2, 50)
const CLIENTS = 4

interface Acknowledged {
  /** Token values by id. */
  readonly tokens: Map<string, string>
  readonly events: string[]
}

interface TokenAnswer {
  readonly id: string
  readonly token: string
}

test(`${KILLS} kills lose no acknowledged token or event and leave none half-written`, async (t) => {
  const stack = await startStack(t)
  const acknowledged: Acknowledged = { tokens: new Map(), events: [] }
  const restarts: number[] = []
  for (let round = 1; round <= KILLS; round++) {
    const clients = Array.from({ length: CLIENTS }, (_, n) => writeUntilItDies(stack, acknowledged, `round ${round} client ${n}`))
    const before = acknowledged.events.length
    await until('there is something to lose', () => acknowledged.events.length > before)
    const killAfterMs = 20 + chance() * 200
    await sleep(killAfterMs) // the moment of death is the random input of this test, not a wait for something
    await stack.kill()
    await Promise.all(clients)
    restarts.push((await stack.start()).readyMs)
    await compare(stack, acknowledged, `round ${round}, killed after ${killAfterMs.toFixed(1)} ms`)
  }
  await assertQuickRestarts(t, stack, restarts)
  assert.ok(
    acknowledged.tokens.size > KILLS && acknowledged.events.length > KILLS,
    'the clients got something done between the kills',
  )
  for (const token of acknowledged.tokens.values()) {
    const { status } = await stack.get('/v2/storage/tokens/verify', { 'x-storageapi-token': token })
    assert.equal(status, 200, 'a token that was handed out is still valid')
  }
})

async function writeUntilItDies(stack: Stack, acknowledged: Acknowledged, name: string): Promise<void> {
  try {
    for (let n = 0; ; n++) {
      const token = await stack.post('/v2/storage/tokens', { description: `${name} ${n}` })
      assert.ok(token.status < 300, JSON.stringify(token.body))
      const { id, token: value } = token.body as TokenAnswer
      acknowledged.tokens.set(String(id), value)
      const event = await stack.post('/v2/storage/events', { component: 'faults', message: `${name} ${n}` })
      assert.ok(event.status < 300, JSON.stringify(event.body))
      acknowledged.events.push(String((event.body as { id: string }).id))
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    // The connection broke: the answer never came, so nothing was promised.
  }
}

async function compare(stack: Stack, acknowledged: Acknowledged, when: string): Promise<void> {
  const listed = (await stack.get('/v2/storage/tokens')).body as TokenAnswer[]
  const ids = new Set(listed.map((token) => String(token.id)))
  for (const id of acknowledged.tokens.keys()) assert.ok(ids.has(id), `${when}: token ${id} is lost`)
  for (const id of acknowledged.events) {
    const { status } = await stack.get(`/v2/storage/events/${id}`)
    assert.equal(status, 200, `${when}: event ${id} is lost`)
  }
  const created = await createdTokenIds(stack)
  for (const id of ids) if (acknowledged.tokens.has(id)) assert.ok(created.has(id), `${when}: token ${id} has no event`)
  for (const id of created) assert.ok(ids.has(id), `${when}: the event of token ${id} is there, the token is not`)
}

/** Token and event are one transaction, so these are the tokens, also those whose answer was lost. */
async function createdTokenIds(stack: Stack): Promise<Set<string>> {
  const found = new Set<string>()
  for (let offset = 0; ; offset += 100) {
    const page = (await stack.get(`/v2/storage/events?limit=100&offset=${offset}`)).body as Array<{
      event: string
      objectId: string | number
    }>
    for (const { event, objectId } of page) if (event === 'storage.tokenCreated') found.add(String(objectId))
    if (page.length < 100) return found
  }
}
