// kill -9 around changes: each acknowledged change is in the live stream, before the crash or after the restart, and none twice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, kills } from '../support/chance.ts'
import { type EventStream, openEventStream } from '../support/event-stream.ts'
import { until } from '../support/until.ts'
import { startStack } from './stack.ts'

const KILLS = kills(2, 50)
const CONFIGS = '/v2/storage/components/platform.ex-http/configs'

test(`${KILLS} kills: every acknowledged change is told once`, async (t) => {
  const stack = await startStack(t)
  const acknowledged = new Set<string>()
  const told: string[] = []
  let last: string | undefined
  const open = (): Promise<EventStream> =>
    openEventStream(`${stack.url}/v2/storage/changes?kinds=configuration`, {
      'x-storageapi-token': stack.masterToken,
      ...(last !== undefined && { 'last-event-id': last }),
    })
  const take = ({ events }: EventStream): void => {
    for (const { id, event, data } of events.splice(0)) {
      last = id
      if (event === 'configuration') told.push(String(data.id))
      assert.notEqual(event, 'reset')
    }
  }
  for (let round = 1; round <= KILLS; round++) {
    const stream = await open()
    assert.equal(stream.status, 200)
    if (last === undefined) await until('it begins', () => stream.events.length > 0)
    const changing = Array.from({ length: 4 }, async (_, client) => {
      for (let i = 0; ; i++) {
        const answer = await stack.post(CONFIGS, { name: `${round}-${client}-${i}`, configuration: {} }).catch(() => undefined)
        if (!answer) return
        acknowledged.add((answer.body as { id: string }).id)
      }
    })
    await sleep(200 + chance() * 800) // the moment of death is the random input of this test
    await stack.kill()
    await Promise.all(changing)
    await until('the stream breaks', () => stream.isOver())
    take(stream)
    await stack.start()
  }
  const stream = await open()
  await until('every change is told', () => {
    take(stream)
    return new Set(told).isSupersetOf(acknowledged)
  })
  assert.equal(new Set(told).size, told.length, 'a change was told twice')
  stream.close()
})
