// Invariant 5 under kill -9: versions stay contiguous, nothing acknowledged is lost, head, rows and versions always fit together.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, kills } from '../support/chance.ts'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const UPDATES = 10_000
const KILLS = kills(2, 1_000)
const CLIENTS = 16
const CONFIGURATIONS = ['a', 'b', 'c', 'd'] as const
const C = '/v2/storage/components/platform.ex-http/configs'

interface Configuration {
  readonly id: string
  readonly version: number
  readonly configuration: unknown
  readonly rows: readonly { readonly id: string; readonly version: number; readonly configuration: unknown }[]
}

/** What the stack promised: by configuration and version, the text it acknowledged. */
type Promised = Map<string, Map<number, string>>

test(`updates from ${CLIENTS} clients under kill -9 lose nothing that was acknowledged`, async (t) => {
  const stack = await startStack(t)
  for (const id of CONFIGURATIONS) {
    await stack.post(C, { name: id, configurationId: id })
    await stack.post(`${C}/${id}/rows`, { rowId: 'row' })
  }
  const promised: Promised = new Map(CONFIGURATIONS.map((id) => [id, new Map()]))
  let rowChanges = 0
  let done = 0
  for (let round = 1; done < UPDATES && round <= KILLS; round++) {
    const doneBefore = done
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      const id = CONFIGURATIONS[client % CONFIGURATIONS.length]!
      try {
        for (let n = 0; done < UPDATES; n++) {
          const content = { round, client, n, '#secret': `s-${round}-${client}-${n}` }
          if (n % 5 === 4) {
            const answer = await stack.request('PUT', `${C}/${id}/rows/row`, { configuration: content })
            assert.equal(answer.status, 200, JSON.stringify(answer.body))
            rowChanges++
          } else {
            const answer = await stack.request('PUT', `${C}/${id}`, { configuration: content })
            assert.equal(answer.status, 200, JSON.stringify(answer.body))
            const { version, configuration } = answer.body as Configuration
            assert.ok(!promised.get(id)!.has(version), `version ${version} of ${id} was given twice`)
            promised.get(id)!.set(version, JSON.stringify(configuration))
          }
          done++
        }
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        // The connection broke: the answer never came, so nothing was promised.
      }
    })
    // There is something to lose once every client has changed its configuration and a row.
    await until('enough has changed', () => done - doneBefore >= CLIENTS * 5 || done >= UPDATES)
    await sleep(chance() * 900) // the moment of death is the random input of this test
    await stack.kill()
    await Promise.all(clients)
    await stack.start()
    for (const id of CONFIGURATIONS) await compare(stack, id, promised.get(id)!, `round ${round}`)
  }
  assert.ok(rowChanges > 0 && [...promised.values()].every((versions) => versions.size > 0), 'the clients got something done')
})

async function compare(stack: Stack, id: string, promised: ReadonlyMap<number, string>, when: string): Promise<void> {
  const head = (await stack.get(`${C}/${id}`)).body as Configuration
  const versions = (await stack.get(`${C}/${id}/versions?limit=10000&include=configuration`)).body as Configuration[]
  assert.deepEqual(
    versions.map((entry) => entry.version),
    Array.from({ length: head.version }, (_, i) => head.version - i),
    `${when}: versions of ${id} have a gap`,
  )
  const stored = new Map(versions.map((entry) => [entry.version, JSON.stringify(entry.configuration)]))
  for (const [version, text] of promised)
    assert.equal(stored.get(version), text, `${when}: version ${version} of ${id} is lost or changed`)
  assert.equal(JSON.stringify(head.configuration), stored.get(head.version), `${when}: the head of ${id} is not its last version`)
  const last = (await stack.get(`${C}/${id}/versions/${head.version}`)).body as Configuration
  assert.deepEqual(
    last.rows.map((row) => [row.id, row.version, row.configuration]),
    head.rows.map((row) => [row.id, row.version, row.configuration]),
    `${when}: the rows of ${id} are not those of its last version`,
  )
}
