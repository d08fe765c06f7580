// What a failing disk may do to objects: nothing, except refuse.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createFailingDisk, type FailingDisk } from '../../../../tests/support/failing-disk.ts'
import { systemClock } from '../../kit/clock.ts'
import { openDiskObjectStore } from './disk-object-store.ts'
import { bytes, contentOf, readAll } from './object-store.contract.ts'
import type { ObjectStore } from './object-store.ts'

const NEW = randomBytes(2_500_000)

async function onFailingDisk(t: TestContext): Promise<{ root: string; disk: FailingDisk; store: ObjectStore }> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-faults-'))
  const disk = createFailingDisk()
  const store = await openDiskObjectStore({ root, clock: systemClock, disk })
  t.after(() => store.close().then(() => rm(root, { recursive: true })))
  return { root, disk, store }
}

const blobCount = async (root: string) =>
  (await readdir(join(root, 'objects'), { recursive: true })).filter((name) => name.includes('/')).length

/** Runs the work with its first, second, third ... disk call failing, until nothing failed any more. */
async function failEveryCall(
  disk: FailingDisk,
  work: () => Promise<unknown>,
  check: (nth: number, error: string) => Promise<void>,
) {
  for (let nth = 1; nth < 200; nth++) {
    disk.arm(nth)
    const error = await work().then(
      () => '',
      (cause: { code?: string }) => String(cause.code),
    )
    const reached = disk.calls() >= nth
    disk.heal()
    await check(nth, error)
    if (!reached) return nth - 1
  }
  throw new Error('this never ends')
}

test('whichever disk call of a put fails, the key holds the old object or the new one, whole', async (t) => {
  const { root, disk, store } = await onFailingDisk(t)
  await store.put('a/b', bytes('old'))
  const tried = await failEveryCall(
    disk,
    () => store.put('a/b', bytes(NEW.subarray(0, 1_200_000), NEW.subarray(1_200_000))),
    async (nth, error) => {
      const found = await readAll((await store.get('a/b'))!.body)
      const isNew = found.equals(NEW)
      assert.ok(isNew || found.toString() === 'old', `call ${nth} left something else`)
      assert.ok(error === '' || error === 'storage.unavailable', error)
      assert.ok(error !== '' || isNew, `call ${nth} failed, the put did not, and the object is not there`)
      await store.sweep({ abandonedBefore: new Date(0) })
      assert.equal(await blobCount(root), 1)
      assert.deepEqual(await readdir(store.tempDir), [])
      await store.put('a/b', bytes('old'))
    },
  )
  assert.ok(tried >= 8, `only ${tried} calls were tried`)
})

test('whichever disk call of completing an upload fails, the object is whole or not there', async (t) => {
  const { root, disk, store } = await onFailingDisk(t)
  const attempt = async () => {
    const uploadId = await store.multipart.create('whole')
    const one = await store.multipart.putPart('whole', uploadId, 1, bytes('one'))
    const two = await store.multipart.putPart('whole', uploadId, 2, bytes('two'))
    await store.multipart.complete('whole', uploadId, [one, two])
  }
  const tried = await failEveryCall(disk, attempt, async (nth, error) => {
    const found = await contentOf(store, 'whole')
    assert.ok(found === undefined || found === 'onetwo', `call ${nth} left ${found}`)
    assert.ok(error !== '' || found === 'onetwo', `call ${nth}`)
    await store.sweep({ abandonedBefore: new Date('2100-01-01') })
    assert.equal(await blobCount(root), found ? 2 : 0)
    await store.delete('whole')
  })
  assert.ok(tried >= 15, `only ${tried} calls were tried`)
})

test('whichever disk call of a copy, an adoption or a join fails, nothing is half there', async (t) => {
  const { disk, store } = await onFailingDisk(t)
  const uploadId = await store.multipart.create('parts')
  const parts = [
    await store.multipart.putPart('parts', uploadId, 1, bytes('one')),
    await store.multipart.putPart('parts', uploadId, 2, bytes('two')),
  ]
  await store.multipart.complete('parts', uploadId, parts)
  await failEveryCall(
    disk,
    () => store.copy('parts', 'copied'),
    async (nth, error) => {
      assert.equal(await contentOf(store, 'parts'), 'onetwo', `call ${nth}`)
      const copied = await contentOf(store, 'copied')
      assert.ok(copied === 'onetwo' || (copied === undefined && error !== ''), `call ${nth}`)
    },
  )
})

test('when the disk is full, writing says so and reading goes on', async (t) => {
  const { disk, store } = await onFailingDisk(t)
  await store.put('readable', bytes('still here'))
  for (const kind of ['create', 'append', 'sync', 'commit']) {
    disk.failAll([kind], 'ENOSPC')
    await assert.rejects(store.put('full', bytes('x')), { code: 'storage.full' }, kind)
    assert.equal(await contentOf(store, 'readable'), 'still here')
    disk.heal()
  }
  await store.put('full', bytes('room again'))
  assert.equal(await contentOf(store, 'full'), 'room again')
})

test('when the disk is full, the parts of the upload that did not fit make room at once', async (t) => {
  const { root, disk, store } = await onFailingDisk(t)
  const upload = await store.multipart.create('big')
  const other = await store.multipart.create('other')
  for (const part of [1, 2]) await store.multipart.putPart('big', upload, part, bytes('x'))
  await store.multipart.putPart('other', other, 1, bytes('y'))
  disk.failAll(['append'], 'ENOSPC')
  await assert.rejects(store.multipart.putPart('big', upload, 3, bytes('x')), { code: 'storage.full' })
  disk.heal()
  assert.equal(await blobCount(root), 1, 'only the part of the other upload is left')
  assert.deepEqual(await readdir(store.tempDir), [])
  assert.equal(await store.multipart.find('big', upload), undefined)
  assert.equal((await store.multipart.listParts('other', other)).length, 1)
})
