import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readSlice } from './csv-bytes.ts'

test('a packed file may unpack to 256 MiB at any ratio, and to more at a ratio below the limit', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-csv-bytes-'))
  t.after(() => rm(folder, { recursive: true }))
  // Zeros pack about a thousand to one. Packed parts may follow each other in one file.
  const part = gzipSync(Buffer.alloc(1 << 20))
  const unpack = async (megabytes: number, maxInflateRatio: number): Promise<number> => {
    const path = join(folder, `${megabytes}.gz`)
    await writeFile(path, Buffer.concat(Array.from({ length: megabytes }, () => part)))
    let bytes = 0
    for await (const chunk of readSlice({ path, gzip: true, name: 'bomb.gz' }, { maxInflatedBytes: 2 ** 40, maxInflateRatio }))
      bytes += chunk.length
    return bytes
  }
  assert.equal(await unpack(256, 100), 256 << 20)
  await assert.rejects(unpack(257, 100), /bomb\.gz unpacks to more than \d+ bytes from \d+, which is beyond the limit/)
  assert.equal(await unpack(257, 2000), 257 << 20)
})
