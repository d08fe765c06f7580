import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { shareTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import type { SniffedFile } from './file-head.ts'

const startProject = shareTestStack()

async function withFiles() {
  const stack = await startProject()
  return { stack, ...tableClient(stack) }
}

/** The bytes as they came: the shared client reads text. */
async function head({ url, masterToken }: TestStack, id: number, query = '') {
  const answer = await fetch(`${url}/v2/storage/files/${id}/head?${query}`, { headers: { 'X-StorageApi-Token': masterToken } })
  return {
    status: answer.status,
    bytes: Buffer.from(await answer.arrayBuffer()),
    compression: answer.headers.get('x-millrace-compression'),
    isCut: answer.headers.get('x-millrace-truncated') === 'true',
  }
}

const text = Array.from({ length: 5000 }, (_, i) => `${i},row ${i}\n`).join('')
const PACKED = { none: Buffer.from(text), gzip: gzipSync(text), zstd: zstdCompressSync(text) }

test('any part of a file can be read, packed or not, whole or in slices', async () => {
  const { stack, upload, uploadSliced } = await withFiles()
  for (const [compression, bytes] of Object.entries(PACKED)) {
    const plain = await upload(bytes, 'rows.csv')
    const half = text.length / 2
    const sliced = await uploadSliced([text.slice(0, half), text.slice(half)].map((part) => packedLike(compression, part)))
    for (const id of [plain, sliced])
      for (const [offset, limit] of [
        [0, 10],
        [1000, 70_000],
        [half - 5, 10],
        [text.length - 3, 100],
        [text.length + 5, 10],
      ] as const) {
        const found = await head(stack, id, `offset=${Math.floor(offset)}&limit=${limit}`)
        assert.equal(found.status, 200)
        assert.equal(
          found.bytes.toString(),
          text.slice(Math.floor(offset), Math.floor(offset) + limit),
          `${compression} at ${offset}`,
        )
        assert.equal(found.isCut, Math.floor(offset) + limit < text.length)
        assert.equal(found.compression, compression)
      }
    const second = await head(stack, sliced, 'slice=1&limit=20')
    assert.equal(second.bytes.toString(), text.slice(half, half + 20), `slice of ${compression}`)
    assert.equal((await head(stack, sliced, 'slice=2')).status, 400)
    const slices = (await stack.request('GET', `/v2/storage/files/${sliced}/slices`)).json<{ sizeBytes: number }[]>()
    assert.deepEqual(
      slices.map(({ sizeBytes }) => sizeBytes),
      [text.slice(0, half), text.slice(half)].map((part) => packedLike(compression, part).length),
    )
    const raw = await head(stack, plain, 'raw=1&limit=100000')
    assert.ok(raw.bytes.equals(bytes.subarray(0, 100_000)), compression)
  }
})

const packedLike = (compression: string, part: string): Uint8Array =>
  compression === 'gzip' ? gzipSync(part) : compression === 'zstd' ? zstdCompressSync(part) : Buffer.from(part)

test('a file that unpacks to a hundred times its size costs only what is shown', async () => {
  const { stack, upload } = await withFiles()
  const id = await upload(gzipSync(Buffer.alloc(200 << 20)), 'zeros.gz')
  const found = await head(stack, id, 'limit=1000')
  assert.deepEqual([found.bytes.length, found.isCut], [1000, true])
})

test('damaged, missing and empty files are answered with a sentence', async () => {
  const { stack, upload } = await withFiles()
  const damaged = await upload(PACKED.gzip.subarray(0, 200), 'cut.gz')
  const answers = [
    [await stack.request('GET', `/v2/storage/files/${damaged}/sniff`), 422, 'storage.files.damaged'],
    [await stack.request('GET', '/v2/storage/files/123456/head'), 404, 'storage.files.notFound'],
    [
      await stack.request('GET', `/v2/storage/files/${await upload(PACKED.gzip)}/head?offset=999999999`),
      400,
      'storage.files.noHead',
    ],
    [
      await stack.request('GET', `/v2/storage/files/${await upload('a\n')}/sniff?delimiter=ab`),
      400,
      'csvImport.invalidCsvParams',
    ],
  ] as const
  for (const [answer, status, code] of answers) assert.deepEqual([answer.status, answer.json().code], [status, code], answer.text)
  const empty = await stack.request('GET', `/v2/storage/files/${await upload('')}/sniff`)
  assert.deepEqual([empty.status, empty.json<SniffedFile>().isLoadable], [200, false])
})

test('what the sniffer finds loads as it says, and what it calls bad is refused at that line', async () => {
  const { stack, upload, bucket, finish } = await withFiles()
  await bucket()
  const sniff = async (id: number) => (await stack.request('GET', `/v2/storage/files/${id}/sniff`)).json<SniffedFile>()
  const load = async (name: string, dataFileId: number, { delimiter, enclosure }: SniffedFile) =>
    finish(
      await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', {
        json: { name, dataFileId, delimiter, enclosure },
      }),
    )
  const good = await upload(gzipSync("id;name\n1;'a;b'\n2;'c'\n"), 'good.csv.gz')
  const found = await sniff(good)
  assert.deepEqual([found.compression, found.isWhole, found.isLoadable, found.rows], ['gzip', true, true, 2])
  assert.equal((await load('good', good, found)).status, 'success')
  const bad = await upload('id,name\n1,Anna\n2,Bob,x\n', 'bad.csv')
  const problems = (await sniff(bad)).problems
  assert.deepEqual(
    problems.map(({ kind, line }) => [kind, line]),
    [['ragged', 3]],
  )
  const refused = await load('bad', bad, await sniff(bad))
  assert.equal(refused.status, 'error')
  assert.match(String(refused.error?.message), /line 3/)
})

test('a body is sniffed as a file is, also its beginning alone', async () => {
  const { stack } = await withFiles()
  const post = async (body: Uint8Array, query = '') =>
    stack.request('POST', `/v2/storage/files/sniff?${query}`, {
      body: new Uint8Array(body),
      headers: { 'content-type': 'application/octet-stream' },
    })
  const whole = (await post(PACKED.none, 'hasHeader=0')).json<SniffedFile>()
  assert.deepEqual([whole.delimiter, whole.rows, whole.isWhole, whole.compression], [',', 5000, true, null])
  // zstd packs 128 KiB at a time: the beginning has to hold some of them.
  const long = Array.from({ length: 60_000 }, (_, i) => `${i},row ${(i * 7_919_317) % 1_000_003}\n`).join('')
  for (const bytes of [Buffer.from(long), gzipSync(long), zstdCompressSync(long)]) {
    const part = await post(bytes.subarray(0, Math.floor(bytes.length / 2)), 'isWhole=0')
    assert.equal(part.status, 200, part.text)
    const { isWhole, problems, columns } = part.json<SniffedFile>()
    assert.deepEqual([isWhole, problems, columns.map(({ type }) => type)], [false, [], ['INTEGER', 'STRING']])
  }
  assert.equal((await post(Buffer.alloc(0))).json<SniffedFile>().rows, 0)
})
