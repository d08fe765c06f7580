import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../kit/clock.ts'
import { openDiskObjectStore } from './disk-object-store.ts'
import { bytes, contentOf, objectStoreContract, readAll } from './object-store.contract.ts'

objectStoreContract('an object store on disk', async () => {
  const root = await mkdtemp(join(tmpdir(), 'millrace-objects-'))
  const store = await openDiskObjectStore({ root, clock: systemClock })
  return { store, close: () => store.close().then(() => rm(root, { recursive: true })) }
})

async function emptyRoot(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-objects-'))
  t.after(() => rm(root, { recursive: true }))
  return root
}

const blobsIn = async (root: string): Promise<string[]> =>
  (await readdir(join(root, 'objects'), { recursive: true }))
    .filter((name) => name.includes('/'))
    .map((name) => join(root, 'objects', name))

async function flipByte(path: string, position: number): Promise<void> {
  const file = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, position)
  await file.write(Buffer.from([byte[0]! ^ 0x40]), 0, 1, position)
  await file.close()
}

test('what comes when the store is closed is refused, and ends nothing else', async (t) => {
  const root = await emptyRoot(t)
  const store = await openDiskObjectStore({ root, clock: systemClock })
  await store.put('a', bytes('there'))
  const late = store.delete('a')
  await store.close()
  await assert.rejects(late, { code: 'storage.unavailable' })
})

test('objects are there again after a restart', async (t) => {
  const root = await emptyRoot(t)
  const before = await openDiskObjectStore({ root, clock: systemClock })
  await before.put('kept', bytes('over a restart'), { attributes: { metadata: { a: 'b' } } })
  await before.close()
  const after = await openDiskObjectStore({ root, clock: systemClock })
  assert.equal(await contentOf(after, 'kept'), 'over a restart')
  assert.deepEqual((await after.head('kept'))?.attributes.metadata, { a: 'b' })
  await after.close()
})

test('a second process cannot open the same folder', async (t) => {
  const root = await emptyRoot(t)
  const store = await openDiskObjectStore({ root, clock: systemClock })
  await assert.rejects(openDiskObjectStore({ root, clock: systemClock }), { code: 'storage.unavailable' })
  await store.close()
})

test('a flipped bit is an error on reading, wherever it lies', async (t) => {
  const root = await emptyRoot(t)
  const store = await openDiskObjectStore({ root, clock: systemClock })
  const data = randomBytes(2_500_000)
  await store.put('damaged', bytes(data))
  const [blob] = await blobsIn(root)
  for (const position of [0, 1_048_575, 1_048_576, 2_499_999]) {
    await flipByte(blob!, position)
    const whole = async () => readAll((await store.get('damaged'))!.body)
    await assert.rejects(whole(), { code: 'storage.corrupt' })
    const around = async () => readAll((await store.get('damaged', { start: position, end: position }))!.body)
    await assert.rejects(around(), { code: 'storage.corrupt' })
    await assert.rejects(store.openLocal('damaged'), { code: 'storage.corrupt' })
    await flipByte(blob!, position)
  }
  assert.ok((await readAll((await store.get('damaged'))!.body)).equals(data))
  await truncate(blob!, 2_000_000)
  await assert.rejects(readAll((await store.get('damaged'))!.body), { code: 'storage.corrupt' })
  await store.close()
})

test('a damaged index entry is an error on reading, and can be replaced', async (t) => {
  const root = await emptyRoot(t)
  const store = await openDiskObjectStore({ root, clock: systemClock })
  await store.put('entry', bytes('x'), { attributes: { contentType: 'text/canary' } })
  await store.close()
  const path = join(root, 'index.sqlite')
  const file = await open(path, 'r+')
  const index = await file.readFile()
  await file.write('Z', index.indexOf('text/canary'))
  await file.close()
  const reopened = await openDiskObjectStore({ root, clock: systemClock })
  await assert.rejects(reopened.head('entry'), { code: 'storage.corrupt' })
  await reopened.put('entry', bytes('y'))
  assert.equal(await contentOf(reopened, 'entry'), 'y')
  await reopened.close()
})

test('what a crash leaves behind is gone after the next start and sweep', async (t) => {
  const root = await emptyRoot(t)
  const store = await openDiskObjectStore({ root, clock: systemClock })
  await store.put('kept', bytes('kept'))
  await store.close()
  await writeFile(join(root, 'tmp', 'half-written'), 'garbage')
  await mkdir(join(root, 'tmp', 'work', 'of-tables'), { recursive: true })
  await writeFile(join(root, 'objects', 'ab', 'ab00'), 'renamed, never committed')
  const after = await openDiskObjectStore({ root, clock: systemClock })
  assert.deepEqual(await readdir(join(root, 'tmp')), [])
  assert.deepEqual(await after.sweep({ abandonedBefore: new Date(0) }), { removed: 1 })
  assert.equal((await blobsIn(root)).length, 1)
  assert.equal(await contentOf(after, 'kept'), 'kept')
  await after.close()
})

test('replaced and deleted objects leave no bytes behind', async (t) => {
  const root = await emptyRoot(t)
  const store = await openDiskObjectStore({ root, clock: systemClock })
  await store.put('a', bytes('1'))
  await store.put('a', bytes('2'))
  assert.equal((await blobsIn(root)).length, 1)
  await store.delete('a')
  assert.deepEqual(await blobsIn(root), [])
  await store.close()
})

test('writers that arrive together all get through', async (t) => {
  const root = await emptyRoot(t)
  const store = await openDiskObjectStore({ root, clock: systemClock })
  const keys = Array.from({ length: 200 }, (_, i) => `together/${i}`)
  const outcomes = await Promise.allSettled(
    keys.map((key, i) => store.put(i % 2 ? key : 'together/same', bytes(key), i % 2 ? {} : { ifNoneMatch: '*' })),
  )
  assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 101)
  assert.equal((await blobsIn(root)).length, 101)
  await store.close()
})
