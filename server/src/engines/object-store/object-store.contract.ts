// One suite for every object store. A test file calls it with a way to open an empty store.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Bytes, ObjectStore } from './object-store.ts'

export interface OpenedStore {
  readonly store: ObjectStore
  close(): Promise<void>
}

export const bytes = (...chunks: (string | Uint8Array)[]): Bytes =>
  (async function* () {
    for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  })()

export async function readAll(body: Bytes): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export async function contentOf(store: ObjectStore, key: string): Promise<string | undefined> {
  const found = await store.get(key)
  return found && (await readAll(found.body)).toString()
}

const md5 = (data: Uint8Array | string) => createHash('md5').update(data).digest('hex')

/** Every one of these is a legal key, and a trap for code that builds paths from keys. */
const ODD_KEYS = [
  '../../etc/passwd',
  '..',
  '/',
  '//double//slash//',
  'C:\\windows\\nul',
  'con',
  'a b+c%20d%2Fe?x=1&y#z',
  'tab\tand\nnewline',
  'příliš žluťoučký kůň.csv',
  'cafe\u0301', // decomposed, and the next one composed: two different keys
  'caf\u00e9',
  '日本語/ファイル/😀.csv',
  `long/${'x'.repeat(1000)}`,
  '\u{10FFFF}',
  '.hidden',
  'trailing/',
]

export function objectStoreContract(name: string, open: () => Promise<OpenedStore>): void {
  suite(name, () => {
    let opened: OpenedStore
    let store: ObjectStore
    before(async () => {
      opened = await open()
      store = opened.store
    })
    after(() => opened.close())

    test('an object comes back as it was put, with what its writer said about it', async () => {
      const attributes = {
        contentType: 'text/csv',
        contentDisposition: 'attachment; filename="a.csv"',
        cacheControl: 'no-store',
        metadata: { author: 'somebody', note: 'a b' },
      }
      const put = await store.put('plain/a.csv', bytes('hello ', 'world'), { attributes })
      assert.equal(put.sizeBytes, 11)
      const found = await store.get('plain/a.csv')
      assert.ok(found)
      assert.equal((await readAll(found.body)).toString(), 'hello world')
      assert.equal(found.info.sizeBytes, 11)
      assert.equal(found.info.etag, put.etag)
      const { contentType, contentDisposition, cacheControl, metadata } = found.info.attributes
      assert.deepEqual({ contentType, contentDisposition, cacheControl, metadata }, attributes)
      assert.deepEqual((await store.head('plain/a.csv'))?.etag, put.etag)
    })

    test('what was never put is absent everywhere', async () => {
      assert.equal(await store.get('absent'), undefined)
      assert.equal(await store.head('absent'), undefined)
      assert.equal(await store.openLocal('absent'), undefined)
      assert.equal(await store.copy('absent', 'copy-of-absent'), undefined)
      await store.delete('absent')
    })

    test('an empty object is an object', async () => {
      await store.put('empty', bytes())
      assert.equal(await contentOf(store, 'empty'), '')
      assert.equal((await store.head('empty'))?.sizeBytes, 0)
    })

    test('the last writer of a key wins', async () => {
      await store.put('overwritten', bytes('first, and longer'))
      await store.put('overwritten', bytes('second'))
      assert.equal(await contentOf(store, 'overwritten'), 'second')
    })

    test('a reader that has begun finishes with the bytes it began with', async () => {
      const old = randomBytes(5_000_000)
      await store.put('changing', bytes(old))
      const found = await store.get('changing')
      assert.ok(found)
      await store.put('changing', bytes('new'))
      assert.ok((await readAll(found.body)).equals(old))
      assert.equal(await contentOf(store, 'changing'), 'new')
    })

    test('every legal key is a key of its own, however odd', async () => {
      for (const key of ODD_KEYS) await store.put(`odd/${key}`.slice(0, 1005), bytes(`content of ${key}`))
      for (const key of ODD_KEYS) assert.equal(await contentOf(store, `odd/${key}`.slice(0, 1005)), `content of ${key}`, key)
      const listed = (await store.list({ prefix: 'odd/' })).objects.map((object) => object.key)
      const expected = ODD_KEYS.map((key) => `odd/${key}`.slice(0, 1005))
      assert.deepEqual(
        listed,
        expected.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      )
    })

    test('a key that is empty, too long or holds NUL is refused', async () => {
      for (const key of ['', 'x'.repeat(1025), 'a\0b', '\ud800'])
        await assert.rejects(store.put(key, bytes('x')), { code: 'storage.invalidKey' })
    })

    test('a range holds exactly its bytes, across block borders too', async () => {
      const data = randomBytes(3 * 1024 * 1024 + 17)
      await store.put('ranged', bytes(data.subarray(0, 999_999), data.subarray(999_999)))
      const ranges = [
        [0, 0],
        [0, 1024 * 1024 - 1],
        [1024 * 1024 - 1, 1024 * 1024],
        [5, 2_999_999],
        [data.length - 1, data.length - 1],
        [data.length - 5, data.length + 1000],
      ] as const
      for (const [start, end] of ranges) {
        const found = await store.get('ranged', { start, end })
        assert.ok(found)
        assert.equal(found.info.sizeBytes, data.length)
        assert.ok((await readAll(found.body)).equals(data.subarray(start, end + 1)), `${start}-${end}`)
      }
    })

    test('a body that breaks off leaves nothing', async () => {
      const broken = async function* () {
        yield randomBytes(2_000_000)
        throw new Error('the sender went away')
      }
      await assert.rejects(store.put('broken', broken()), /went away/)
      assert.equal(await store.head('broken'), undefined)
    })

    test('a sender may use its memory again as soon as it is asked for the next chunk', async () => {
      const data = randomBytes(3_000_000)
      async function* inOneBuffer(): Bytes {
        const buffer = Buffer.alloc(65_536)
        for (let at = 0; at < data.length; at += buffer.length)
          yield buffer.subarray(0, data.copy(buffer, 0, at, at + buffer.length))
      }
      await store.put('lent', inOneBuffer())
      assert.ok(data.equals(await readAll((await store.get('lent'))!.body)))
      const uploadId = await store.multipart.create('lent/parts')
      const part = await store.multipart.putPart('lent/parts', uploadId, 1, inOneBuffer())
      await store.multipart.complete('lent/parts', uploadId, [part])
      assert.ok(data.equals(await readAll((await store.get('lent/parts'))!.body)))
    })

    test('deleting many keys at once deletes them and no others', async () => {
      for (const key of ['del/1', 'del/2', 'del/3']) await store.put(key, bytes(key))
      await store.delete(['del/1', 'del/3', 'del/never-there'])
      assert.deepEqual(
        (await store.list({ prefix: 'del/' })).objects.map((object) => object.key),
        ['del/2'],
      )
    })

    test('a list is in byte order and pages without gaps', async () => {
      const keys = Array.from({ length: 25 }, (_, i) => `page/${String.fromCodePoint(0x60 + i * 97)}`)
      for (const key of keys) await store.put(key, bytes(''))
      const seen: string[] = []
      for (let after = ''; ; ) {
        const page = await store.list({ prefix: 'page/', after, limit: 7 })
        seen.push(...page.objects.map((object) => object.key))
        if (!page.more) break
        after = page.objects.at(-1)!.key
      }
      assert.deepEqual(
        seen,
        keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      )
    })

    test('a copy is independent of its source', async () => {
      await store.put('source', bytes('copied'), { attributes: { contentType: 'text/plain', metadata: { a: '1' } } })
      await store.copy('source', 'target')
      await store.delete('source')
      assert.equal(await contentOf(store, 'target'), 'copied')
      const { contentType, metadata } = (await store.head('target'))!.attributes
      assert.deepEqual({ contentType, metadata }, { contentType: 'text/plain', metadata: { a: '1' } })
      await store.copy('target', 'target', { contentType: 'text/html' })
      assert.equal(await contentOf(store, 'target'), 'copied')
      assert.equal((await store.head('target'))?.attributes.contentType, 'text/html')
    })

    test('a write that asks for a free key is refused when the key is taken', async () => {
      await store.put('once', bytes('1'), { ifNoneMatch: '*' })
      await assert.rejects(store.put('once', bytes('2'), { ifNoneMatch: '*' }), { code: 'storage.preconditionFailed' })
      assert.equal(await contentOf(store, 'once'), '1')
    })

    test('an upload in parts becomes one object, in the order of the parts', async () => {
      const first = randomBytes(5 * 1024 * 1024)
      const uploadId = await store.multipart.create('parts/whole', { contentType: 'text/csv', metadata: { m: 'x' } })
      const two = await store.multipart.putPart('parts/whole', uploadId, 2, bytes('the end'), { etag: () => md5('the end') })
      const one = await store.multipart.putPart('parts/whole', uploadId, 1, bytes(first), { etag: () => md5(first) })
      assert.equal(await store.head('parts/whole'), undefined)
      const listed = await store.multipart.listParts('parts/whole', uploadId)
      assert.deepEqual(
        listed.map(({ number, sizeBytes, etag }) => ({ number, sizeBytes, etag })),
        [
          { number: 1, sizeBytes: first.length, etag: one.etag },
          { number: 2, sizeBytes: 7, etag: two.etag },
        ],
      )
      assert.deepEqual(
        (await store.multipart.listUploads('parts/')).map((upload) => upload.uploadId),
        [uploadId],
      )
      const info = await store.multipart.complete('parts/whole', uploadId, [one, two])
      assert.match(info.etag, /^[0-9a-f]{32}-2$/)
      const found = await store.get('parts/whole')
      assert.ok(found)
      assert.ok((await readAll(found.body)).equals(Buffer.concat([first, Buffer.from('the end')])))
      assert.equal(found.info.attributes.contentType, 'text/csv')
      const across = await store.get('parts/whole', { start: first.length - 1, end: first.length + 2 })
      assert.equal((await readAll(across!.body)).subarray(1).toString(), 'the')
      assert.deepEqual(await store.multipart.listUploads('parts/'), [])
      await assert.rejects(store.multipart.listParts('parts/whole', uploadId), { code: 'storage.uploadNotFound' })
    })

    test('completing with a part that is not there, or another etag, is refused and the upload stays', async () => {
      const uploadId = await store.multipart.create('parts/wrong')
      const part = await store.multipart.putPart('parts/wrong', uploadId, 1, bytes('x'), { etag: () => md5('x') })
      const wrong = [{ number: 1, etag: md5('y') }]
      await assert.rejects(store.multipart.complete('parts/wrong', uploadId, wrong), { code: 'storage.invalidPart' })
      const absent = [part, { number: 2, etag: part.etag }]
      await assert.rejects(store.multipart.complete('parts/wrong', uploadId, absent), { code: 'storage.invalidPart' })
      await store.multipart.complete('parts/wrong', uploadId, [part])
      assert.equal(await contentOf(store, 'parts/wrong'), 'x')
    })

    test('an aborted upload is gone', async () => {
      const uploadId = await store.multipart.create('parts/aborted')
      await store.multipart.putPart('parts/aborted', uploadId, 1, bytes('x'))
      await store.multipart.abort('parts/aborted', uploadId)
      assert.equal(await store.multipart.find('parts/aborted', uploadId), undefined)
      await assert.rejects(store.multipart.putPart('parts/aborted', uploadId, 2, bytes('y')), { code: 'storage.uploadNotFound' })
      assert.equal(await store.head('parts/aborted'), undefined)
    })

    test('an upload belongs to its key', async () => {
      const uploadId = await store.multipart.create('parts/mine')
      assert.equal(await store.multipart.find('parts/other', uploadId), undefined)
      await assert.rejects(store.multipart.putPart('parts/other', uploadId, 1, bytes('x')), { code: 'storage.uploadNotFound' })
      await store.multipart.abort('parts/mine', uploadId)
    })

    test('an object opens as a local file that outlives the key until it is released', async () => {
      await store.put('local', bytes('on this machine'))
      const local = await store.openLocal('local')
      assert.ok(local)
      await store.delete('local')
      assert.equal(await readFile(local.path, 'utf8'), 'on this machine')
      await local.release()
      await assert.rejects(readFile(local.path), { code: 'ENOENT' })
    })

    test('an upload in parts opens as one local file', async () => {
      const first = randomBytes(5 * 1024 * 1024)
      const uploadId = await store.multipart.create('parts/local')
      const parts = [
        await store.multipart.putPart('parts/local', uploadId, 1, bytes(first), { etag: () => md5(first) }),
        await store.multipart.putPart('parts/local', uploadId, 2, bytes('tail'), { etag: () => md5('tail') }),
      ]
      const { etag } = await store.multipart.complete('parts/local', uploadId, parts)
      const locals = await Promise.all([store.openLocal('parts/local'), store.openLocal('parts/local')])
      for (const local of locals) assert.ok((await readFile(local!.path)).equals(Buffer.concat([first, Buffer.from('tail')])))
      for (const local of locals) await local!.release()
      assert.equal((await store.head('parts/local'))?.etag, etag)
    })

    test('a finished local file can be adopted as an object', async () => {
      const path = join(store.tempDir, 'segment.parquet')
      await writeFile(path, 'PAR1')
      const info = await store.adopt('adopted', path, { attributes: { contentType: 'application/vnd.apache.parquet' } })
      assert.equal(info.sizeBytes, 4)
      assert.equal(await contentOf(store, 'adopted'), 'PAR1')
      await assert.rejects(readFile(path), { code: 'ENOENT' })
    })

    test('the sweep aborts abandoned multipart uploads, and no others', async () => {
      const abandoned = await store.multipart.create('sweep/abandoned')
      await store.multipart.putPart('sweep/abandoned', abandoned, 1, bytes('x'))
      await store.put('sweep/kept', bytes('kept'))
      await store.sweep({ abandonedBefore: new Date(0) })
      assert.ok(await store.multipart.find('sweep/abandoned', abandoned))
      await store.sweep({ abandonedBefore: new Date('2100-01-01') })
      assert.equal(await store.multipart.find('sweep/abandoned', abandoned), undefined)
      assert.equal(await contentOf(store, 'sweep/kept'), 'kept')
    })
  })
}
