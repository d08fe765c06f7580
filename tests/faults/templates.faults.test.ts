// kill -9 in the middle of "use": everything that the template describes is there, or nothing of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, kills } from '../support/chance.ts'
import { startStack } from './stack.ts'

const ROUNDS = kills(2, 40)
const USE = '/templates/v1/repositories/millrace/templates/shop-pipeline/default/use'
const BODY = {
  name: 'Shop',
  steps: [
    { id: 'source', inputs: [{ id: 'password', value: 'lovelace' }] },
    { id: 'schedule', inputs: [] },
  ],
}

test('an instance has its four configurations and its schedule, whenever the stack was killed', async (t) => {
  const stack = await startStack(t)
  let answered = 0
  for (let round = 0; round < ROUNDS; round++) {
    const uses = Array.from({ length: 6 }, async () => {
      const answer = await stack.post(USE, BODY).catch(() => undefined)
      if (answer?.status === 202) answered++
    })
    await sleep(chance() * 150) // somewhere in the middle of them
    await stack.kill()
    await Promise.all(uses)
    await stack.start()

    const { instances } = (await stack.get('/templates/v1/project/default/instances')).body as {
      instances: { configurations: { componentId: string; configId: string }[] }[]
    }
    assert.ok(instances.length >= answered, `${answered} were answered, ${instances.length} are there`)
    const made = instances.flatMap(({ configurations }) => configurations)
    assert.equal(made.length, 4 * instances.length)
    const components = (await stack.get('/v2/storage/components?include=configuration')).body as {
      configurations: { id: string }[]
    }[]
    const stored = components.flatMap(({ configurations }) => configurations.map(({ id }) => id))
    assert.deepEqual(stored.sort(), made.map(({ configId }) => configId).sort(), 'no configuration without its instance')
    const schedules = (await stack.get('/scheduler/schedules')).body as unknown[]
    assert.equal(schedules.length, instances.length)
  }
  const last = await stack.post(USE, BODY)
  assert.equal(last.status, 202, JSON.stringify(last.body))
})
