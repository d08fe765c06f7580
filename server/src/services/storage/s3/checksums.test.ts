import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { ALGORITHMS, createHasher } from './checksums.ts'
import { combineChecksums } from './combine-checksums.ts'

const hash = (algorithm: (typeof ALGORITHMS)[number], ...chunks: Uint8Array[]): string => {
  const hasher = createHasher(algorithm)
  for (const chunk of chunks) hasher.update(chunk)
  return hasher.digest()
}
const hex = (base64: string) => Buffer.from(base64, 'base64').toString('hex')

test('the check values of the CRC catalogue come out', () => {
  const check = Buffer.from('123456789')
  assert.equal(hex(hash('crc32', check)), 'cbf43926')
  assert.equal(hex(hash('crc32c', check)), 'e3069283')
  assert.equal(hex(hash('crc64nvme', check)), 'ae8b14860a799888')
  assert.equal(hex(hash('sha1', check)), 'f7c3bc1d808e04732adf679965ccc34ca7ae3441')
})

test('a checksum does not depend on how the bytes were cut', () => {
  const data = randomBytes(10_007)
  for (const algorithm of ALGORITHMS)
    for (const cut of [0, 1, 3, 8, 4096, 10_006])
      assert.equal(hash(algorithm, data.subarray(0, cut), data.subarray(cut)), hash(algorithm, data), `${algorithm} at ${cut}`)
})

test('the CRC of a whole follows from those of its parts', () => {
  const data = randomBytes(100_000)
  const parts = [data.subarray(0, 1), data.subarray(1, 65_537), data.subarray(65_537, 65_537), data.subarray(65_537)]
  for (const algorithm of ['crc32', 'crc32c', 'crc64nvme'] as const) {
    const sums = parts.map((part) => ({ value: hash(algorithm, part), sizeBytes: part.length }))
    assert.equal(combineChecksums(algorithm, 'FULL_OBJECT', sums), hash(algorithm, data), algorithm)
  }
})

test('a composite checksum is the checksum of the checksums and their number', () => {
  const parts = [Buffer.from('one'), Buffer.from('two')].map((part) => ({ value: hash('sha256', part), sizeBytes: part.length }))
  const expected = hash('sha256', ...parts.map((part) => Buffer.from(part.value, 'base64')))
  assert.equal(combineChecksums('sha256', 'COMPOSITE', parts), `${expected}-2`)
})
