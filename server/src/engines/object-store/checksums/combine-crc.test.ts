import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { appendCrc, CRC32, crc32OfBlocks } from './combine-crc.ts'

test('the CRC of a whole follows from the CRCs of its blocks', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 64 }), (bytes, blockBytes) => {
      const blocks: number[] = []
      for (let at = 0; at < bytes.length; at += blockBytes) blocks.push(crc32(bytes.subarray(at, at + blockBytes)))
      assert.equal(crc32OfBlocks(Uint32Array.from(blocks), blockBytes, bytes.length), crc32(bytes))
    }),
  )
})

test('the CRC of two pieces follows from both', () => {
  const [a, b] = [Buffer.from('Ada '), Buffer.from('Lovelace')]
  const whole = appendCrc(CRC32, BigInt(crc32(a)), BigInt(crc32(b)), b.length)
  assert.equal(whole, BigInt(crc32(Buffer.concat([a, b]))))
})
