// Invariants 1 and 3 for commits of other engines: whatever is killed between the bytes and the answer, a commit is there once or not at all,
// and the writer may retry.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseExactly } from '../../server/src/kit/text/exact-json.ts'
import { chance, kills } from '../support/chance.ts'
import { icebergReader, type Loaded } from '../support/clients/iceberg-reader.ts'
import { icebergWriter } from '../support/clients/iceberg-writer.ts'
import { type Stack, startStack } from './stack.ts'

const KILLS = kills(2, 100)
const TABLE = '/iceberg/v1/1/namespaces/in.c-main/tables/t'

test(`${KILLS} kills between the bytes and the answer of a commit leave it published once or not at all`, async (t) => {
  const stack = await startStack(t)
  await stack.post('/v2/storage/buckets', { name: 'main', stage: 'in' })
  await stack.post('/v2/storage/buckets/in.c-main/tables', { name: 't', dataString: 'id,v\n0,first\n' })
  const expected = ['0']
  for (let round = 1; round <= KILLS; round++) {
    const body = await staged(stack, round)
    const asked = round === 1 ? undefined : commit(stack, body).catch(() => undefined)
    if (asked) await sleep(chance() * 400) // the moment of death is the random input of this test, not a wait for something
    await stack.kill()
    await asked
    await stack.start()
    const rows = await rowsOf(stack)
    assert.ok(rows === expected.join() || rows === [...expected, round].join(), `round ${round}: ${rows}`)
    if (round === 1) assert.equal(rows, expected.join(), 'bytes alone publish nothing')
    // A compaction may have come in between: then the writer begins with the newer state, as engines do.
    for (let asking = body; ; asking = await staged(stack, round)) {
      const again = await commit(stack, asking)
      if (again.status === 200) break
      assert.equal(again.status, 409, again.body)
      assert.equal(await rowsOf(stack), expected.join(), 'a commit that failed published nothing')
    }
    expected.push(String(round))
    assert.equal(await rowsOf(stack), expected.join(), `round ${round}, asked again`)
  }
})

async function load(stack: Stack): Promise<Loaded> {
  const headers = { 'x-storageapi-token': stack.masterToken, 'x-iceberg-access-delegation': 'vended-credentials' }
  return parseExactly(await (await fetch(`${stack.url}${TABLE}`, { headers })).text()) as Loaded // the wire format
}

/** A file and its manifests are there; the body that would publish them. */
async function staged(stack: Stack, round: number): Promise<string> {
  const loaded = await load(stack)
  const [reader, writer] = [icebergReader(loaded), icebergWriter(loaded)]
  const file = await writer.dataFile(`SELECT '${round}' AS id, 'round' AS v`)
  const made = await writer.snapshot([file], { kept: await reader.manifests() })
  reader.close()
  writer.close()
  return writer.commitOf(made)
}

async function commit(stack: Stack, body: string): Promise<{ readonly status: number; readonly body: string }> {
  const headers = { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' }
  const answer = await fetch(`${stack.url}${TABLE}`, { method: 'POST', headers, body })
  return { status: answer.status, body: await answer.text() }
}

/** As other engines read it. */
async function rowsOf(stack: Stack): Promise<string> {
  const reader = icebergReader(await load(stack))
  const rows = await reader.rows()
  reader.close()
  return rows
    .map(([id]) => Number(id))
    .sort((a, b) => a - b)
    .join()
}
