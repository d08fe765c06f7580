import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../kit/clock.ts'
import type { ObjectsBackup } from './disk-backup.ts'
import { type DiskObjectStore, openDiskObjectStore } from './disk-object-store.ts'
import { bytes, contentOf } from './object-store.contract.ts'

async function openStore(t: TestContext): Promise<{ store: DiskObjectStore; root: string }> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-objects-'))
  const store = await openDiskObjectStore({ root, clock: systemClock })
  t.after(() => store.close().then(() => rm(root, { recursive: true })))
  return { store, root }
}

/** A store in a new folder, of the index and the files that the backup names. */
async function openCopy(t: TestContext, backup: ObjectsBackup): Promise<DiskObjectStore> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-copy-'))
  for (const blob of await backup.copyIndex(join(root, 'index.sqlite'))) {
    const path = join(root, blob.path)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, await buffer(await blob.open()))
  }
  const copy = await openDiskObjectStore({ root, clock: systemClock })
  t.after(() => copy.close().then(() => rm(root, { recursive: true })))
  return copy
}

const blobNames = async (root: string): Promise<string[]> =>
  (await readdir(join(root, 'objects'), { recursive: true })).filter((name) => name.includes('/'))

test('a copy holds what was there when the backup began, also what was deleted and swept since', async (t) => {
  const { store, root } = await openStore(t)
  await store.put('kept', bytes('kept'))
  await store.put('deleted', bytes('deleted'))
  await store.put('replaced', bytes('old'))
  const backup = store.beginBackup()
  await store.delete('deleted')
  await store.put('replaced', bytes('new'))
  await store.put('added', bytes('added'))
  await store.sweep({ abandonedBefore: new Date() })
  const copy = await openCopy(t, backup)
  assert.equal(await contentOf(copy, 'kept'), 'kept')
  assert.equal(await contentOf(copy, 'deleted'), 'deleted')
  assert.equal(await contentOf(copy, 'replaced'), 'new')
  assert.equal(await contentOf(copy, 'added'), 'added')
  assert.equal(await store.head('deleted'), undefined, 'the store itself knows of the delete')
  assert.equal((await blobNames(root)).length, 5)
  await backup.release()
  assert.equal((await blobNames(root)).length, 3, 'what was deleted meanwhile goes when the backup is done')
})

test('what is deleted after the index was copied stays readable for the backup until its release', async (t) => {
  const { store } = await openStore(t)
  await store.put('late', bytes('late'))
  const backup = store.beginBackup()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-copy-'))
  t.after(() => rm(folder, { recursive: true }))
  const [blob] = await backup.copyIndex(join(folder, 'index.sqlite'))
  await store.delete('late')
  assert.equal((await buffer(await blob!.open())).toString(), 'late')
  await backup.release()
})

test('objects of several parts, unfinished uploads and empty objects are in the copy', async (t) => {
  const { store } = await openStore(t)
  const parts = [randomBytes(1_500_000), randomBytes(700_000)]
  const uploadId = await store.multipart.create('joined')
  const sent = []
  for (const [i, part] of parts.entries()) sent.push(await store.multipart.putPart('joined', uploadId, i + 1, bytes(part)))
  await store.multipart.complete('joined', uploadId, sent)
  await store.put('empty', bytes(''))
  const open = await store.multipart.create('unfinished')
  const first = await store.multipart.putPart('unfinished', open, 1, bytes('first'))
  const backup = store.beginBackup()
  const copy = await openCopy(t, backup)
  await backup.release()
  const joined = await copy.get('joined')
  assert.ok(Buffer.concat(parts).equals(await buffer(joined!.body)))
  assert.equal(await contentOf(copy, 'empty'), '')
  await copy.multipart.complete('unfinished', open, [first])
  assert.equal(await contentOf(copy, 'unfinished'), 'first')
})

test('every object acknowledged before the copy began is in it, while writers and deleters go on', async (t) => {
  const { store } = await openStore(t)
  const before = Array.from({ length: 50 }, (_, i) => `before/${i}`)
  await Promise.all(before.map((key) => store.put(key, bytes(key))))
  let isOver = false
  const busy = (async () => {
    for (let i = 0; !isOver; i++) {
      await store.put(`during/${i}`, bytes('x'))
      await store.delete([`before/${i % 50}`, `during/${i - 3}`])
    }
  })()
  const backup = store.beginBackup()
  const copy = await openCopy(t, backup)
  isOver = true
  await busy
  await backup.release()
  for (const key of before) assert.equal(await contentOf(copy, key), key)
})

test('damage is found while the backup is made', async (t) => {
  const { store, root } = await openStore(t)
  await store.put('flipped', bytes('flipped'))
  const [flipped] = await blobNames(root)
  await writeFile(join(root, 'objects', flipped!), 'fl1pped')
  await store.put('lost', bytes('lost'))
  const lost = (await blobNames(root)).find((name) => name !== flipped)
  await unlink(join(root, 'objects', lost!))
  const backup = store.beginBackup()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-copy-'))
  t.after(() => rm(folder, { recursive: true }))
  const blobs = await backup.copyIndex(join(folder, 'index.sqlite'))
  assert.equal(blobs.length, 2)
  for (const blob of blobs) await assert.rejects(blob.open(), { code: 'storage.corrupt' })
  await backup.release()
})
