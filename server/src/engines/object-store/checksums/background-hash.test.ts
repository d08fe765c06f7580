import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createHashThread } from './background-hash.ts'

const expected = (data: Uint8Array) => [createHash('md5').update(data).digest(), createHash('sha256').update(data).digest()]

test('hashes of bodies of any size, many at once, are right', async () => {
  const thread = createHashThread()
  const sizes = [0, 1, 1000, 256 * 1024 - 1, 256 * 1024, 512 * 1024 - 1, 512 * 1024, 512 * 1024 + 1, 3_000_000, 10_000_000]
  await Promise.all(
    sizes.map(async (size) => {
      const data = randomBytes(size)
      const hashes = thread.open(['md5', 'sha256'])
      for (let at = 0; at < size; at += 70_001) await hashes.update(data.subarray(at, at + 70_001))
      assert.deepEqual(await hashes.digest(), expected(data), `${size} bytes`)
    }),
  )
  await thread.close()
})

test('a body that is given up disturbs no other', async () => {
  const thread = createHashThread()
  const abandoned = thread.open(['md5'])
  await abandoned.update(randomBytes(2_000_000))
  abandoned.drop()
  const data = randomBytes(2_000_000)
  const hashes = thread.open(['md5', 'sha256'])
  await hashes.update(data)
  assert.deepEqual(await hashes.digest(), expected(data))
  hashes.drop()
  await thread.close()
})
