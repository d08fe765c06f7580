import assert from 'node:assert/strict'
import { appendFile, mkdtemp, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openRecordLog, readSegment } from './record-log.ts'

const NO_LIMITS = { records: 1e9, bytes: 1e12, ageMs: 1e12 }

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-log-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('records come back whole and in order, from this process and from an earlier one', async (t) => {
  const folder = await emptyFolder(t)
  const first = await openRecordLog(folder, () => 1)
  await Promise.all(Array.from({ length: 100 }, (_, i) => first.append([`record ${i}`])))
  // Not closed: as after kill -9.
  const second = await openRecordLog(folder, () => 2)
  const [segment] = second.sealed()
  assert.deepEqual(
    (await readSegment(segment!)).map(String),
    Array.from({ length: 100 }, (_, i) => `record ${i}`),
  )
  await second.remove(segment!, async () => {})
  assert.equal(second.sizeBytes(), 0)
  assert.deepEqual((await openRecordLog(folder, () => 3)).sealed(), [])
  await first.close()
})

test('a record that was cut off, and what follows it, is left out', async (t) => {
  const folder = await emptyFolder(t)
  const log = await openRecordLog(folder, () => 1)
  for (const text of ['one', 'two', 'three']) await log.append([text])
  await log.close()
  const [segment] = log.sealed()
  await truncate(segment!.path, segment!.sizeBytes - 2)
  assert.deepEqual((await readSegment(segment!)).map(String), ['one', 'two'])
  await appendFile(segment!.path, Buffer.alloc(40, 7))
  assert.deepEqual((await readSegment(segment!)).map(String), ['one', 'two'])
})

test('a segment is sealed by count, by size or by age', async (t) => {
  const folder = await emptyFolder(t)
  let now = 0
  const log = await openRecordLog(folder, () => now)
  await log.append(['x'.repeat(100)])
  await log.sealIfFull({ records: 2, bytes: 1000, ageMs: 60_000 })
  assert.equal(log.sealed().length, 0)
  await log.append(['x'.repeat(100)])
  await log.sealIfFull({ ...NO_LIMITS, records: 2 })
  assert.equal(log.sealed().length, 1)
  await log.append(['x'.repeat(1000)])
  await log.sealIfFull({ ...NO_LIMITS, bytes: 1000 })
  assert.equal(log.sealed().length, 2)
  await log.append(['x'])
  now = 60_000
  await log.sealIfFull({ ...NO_LIMITS, ageMs: 60_000 })
  assert.equal(log.sealed().length, 3)
})

test('when a write fails its records are refused, and the log goes on in another segment', async (t) => {
  const folder = await emptyFolder(t)
  const log = await openRecordLog(folder, () => 1)
  await log.append(['before'])
  await log.close() // the next one opens a segment, in a folder that is gone
  await rm(folder, { recursive: true })
  await assert.rejects(log.append(['lost']))
  await openRecordLog(folder, () => 2) // makes the folder again
  await log.append(['after'])
  await log.close()
  assert.deepEqual((await readSegment(log.sealed().at(-1)!)).map(String), ['after'])
})

test('a segment that goes is forgotten after it is out of sight, also when a crash comes in between', async (t) => {
  const folder = await emptyFolder(t)
  const log = await openRecordLog(folder, () => 1)
  await log.append(['one'])
  await log.close()
  const [segment] = log.sealed()
  await assert.rejects(
    log.remove(segment!, async () => {
      throw new Error('crash')
    }),
  )
  const again = await openRecordLog(folder, () => 2)
  assert.deepEqual(again.sealed(), [])
  const forgotten: string[] = []
  await again.finishRemovals(async (id) => void forgotten.push(id))
  await again.finishRemovals(async (id) => void forgotten.push(id))
  assert.deepEqual(forgotten, [segment!.id])
})

test('a flood of large records is written in several rounds, each of a few MiB', async (t) => {
  const log = await openRecordLog(await emptyFolder(t), () => 1)
  const rounds: number[] = []
  let round = 0
  const text = 'x'.repeat(2 ** 20)
  await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      await log.append([`${i} ${text}`])
      if (round++ === 0)
        setImmediate(() => {
          rounds.push(round)
          round = 0
        })
    }),
  )
  await log.close()
  assert.ok(Math.max(...rounds) <= 4, `records of a round: ${rounds.join(', ')}`)
  const [segment] = log.sealed()
  const numbers = (await readSegment(segment!)).map((record) => Number.parseInt(record.subarray(0, 3).toString(), 10))
  assert.deepEqual(
    numbers,
    Array.from({ length: 40 }, (_, i) => i),
  )
})
