// Bodies that differ from their headers, disks that are not what they should be, and requests that are not anything.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../../../tests/support/any-text.ts'
import { createFailingDisk } from '../../../../../tests/support/failing-disk.ts'
import { BUCKET, type StartedS3, startS3 } from '../../../../../tests/support/servers/start-s3.ts'
import { type RawRequest, sendRaw, sendSigned, signHeaders } from '../../../../../tests/support/signed-request.ts'
import { until } from '../../../../../tests/support/until.ts'
import { bytes } from '../../../engines/object-store/object-store.contract.ts'

const RUNS = process.env.MILLRACE_LONG ? 5000 : 300
const MIB = 1024 * 1024
const path = `/${BUCKET}/k`
const put = (more: Partial<RawRequest>): RawRequest => ({ method: 'PUT', path, body: 'hello', ...more })
const base64 = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('base64')

async function withS3(t: { after(close: () => Promise<void>): void }, options = {}): Promise<StartedS3> {
  const s3 = await startS3(options)
  t.after(() => s3.close())
  return s3
}

test('a body that does not match what was said about it never becomes an object', async (t) => {
  const s3 = await withS3(t)
  const unsigned = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
  const chunked = (body: string, headers: Record<string, string> = {}) =>
    put({
      body,
      payloadHash: unsigned,
      headers: {
        'content-encoding': 'aws-chunked',
        'x-amz-trailer': 'x-amz-checksum-crc32',
        'x-amz-decoded-content-length': '5',
        ...headers,
      },
    })
  const cases: Record<string, [RawRequest, number, string]> = {
    'another sha256': [
      put({ payloadHash: createHash('sha256').update('other').digest('hex') }),
      400,
      'XAmzContentSHA256Mismatch',
    ],
    'a sha256 that is none': [put({ payloadHash: 'abc' }), 400, 'InvalidArgument'],
    'another MD5': [put({ headers: { 'content-md5': base64('md5', 'other') } }), 400, 'BadDigest'],
    'an MD5 that is none': [put({ headers: { 'content-md5': 'abc' } }), 400, 'InvalidDigest'],
    'another checksum': [put({ headers: { 'x-amz-checksum-sha256': base64('sha256', 'other') } }), 400, 'BadDigest'],
    'a checksum that is none': [put({ headers: { 'x-amz-checksum-crc32': 'abc' } }), 400, 'InvalidRequest'],
    'two checksums': [
      put({ headers: { 'x-amz-checksum-sha256': base64('sha256', 'hello'), 'x-amz-checksum-sha1': base64('sha1', 'hello') } }),
      400,
      'InvalidRequest',
    ],
    'another trailer': [chunked('5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n'), 400, 'BadDigest'],
    'no trailer': [chunked('5\r\nhello\r\n0\r\n\r\n'), 400, 'IncompleteBody'],
    'a trailer nobody knows': [
      chunked('5\r\nhello\r\n0\r\n\r\n', { 'x-amz-trailer': 'x-amz-checksum-crc5' }),
      400,
      'InvalidRequest',
    ],
    'more than announced': [chunked('6\r\nhello!\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n'), 400, 'IncompleteBody'],
    'less than announced': [chunked('4\r\nhell\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n'), 400, 'IncompleteBody'],
    'not chunked at all': [chunked('hello'), 400, 'IncompleteBody'],
    'unsigned chunks where signed ones were promised': [
      put({ payloadHash: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', body: '5\r\nhello\r\n0\r\n\r\n' }),
      403,
      'SignatureDoesNotMatch',
    ],
    'a negative length': [chunked('0\r\n\r\n', { 'x-amz-decoded-content-length': '-5' }), 400, 'InvalidArgument'],
    'more than one object may have': [
      put({ payloadHash: unsigned, headers: { 'x-amz-decoded-content-length': String(5 * 1024 ** 3 + 1) } }),
      400,
      'EntityTooLarge',
    ],
    'too much metadata': [put({ headers: { 'x-amz-meta-a': 'x'.repeat(2048) } }), 400, 'MetadataTooLarge'],
    'another encryption': [put({ headers: { 'x-amz-server-side-encryption': 'rot13' } }), 400, 'InvalidEncryptionAlgorithmError'],
    'a made-up ACL': [put({ headers: { 'x-amz-acl': 'everybody' } }), 400, 'InvalidArgument'],
    'customer keys': [put({ headers: { 'x-amz-server-side-encryption-customer-algorithm': 'AES256' } }), 501, 'NotImplemented'],
  }
  for (const [name, [request, status, code]] of Object.entries(cases)) {
    const answer = await sendSigned(s3.endpoint, request, s3.sessions.root)
    assert.deepEqual([answer.status, answer.code], [status, code], `${name}: ${answer.text}`)
    assert.equal(await s3.store.head('k'), undefined, name)
  }
  assert.equal(
    (await sendSigned(s3.endpoint, chunked('5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n'), s3.sessions.root)).status,
    200,
  )
})

test('a connection that ends in the middle leaves nothing', async (t) => {
  const s3 = await withS3(t)
  const headers = signHeaders(s3.endpoint, put({ payloadHash: 'UNSIGNED-PAYLOAD' }), s3.sessions.root)
  const { hostname, port } = new URL(s3.endpoint)
  const head = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const socket = connect(Number(port), hostname)
  socket.write(`PUT ${path} HTTP/1.1\r\n${head}content-length: 1000000\r\n\r\n${'x'.repeat(1000)}`)
  await until('the upload has begun', () => readdirSync(s3.store.tempDir).length === 1)
  socket.destroy()
  await until('the request has ended', () => s3.requests.length === 1)
  assert.equal(await s3.store.head('k'), undefined)
  assert.deepEqual(readdirSync(s3.store.tempDir), [])
})

test('a client that reads nothing before it has sent everything still gets to read why it was refused', async (t) => {
  const s3 = await withS3(t)
  const { hostname, port } = new URL(s3.endpoint)
  const headers = signHeaders(
    s3.endpoint,
    put({ payloadHash: 'UNSIGNED-PAYLOAD' }),
    s3.session({ action: 'upload', key: 'other' }),
  )
  const head = Object.entries({ ...headers, 'content-length': String(8 * MIB) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const socket = connect(Number(port), hostname)
  const write = (data: string | Buffer) =>
    new Promise<void>((resolve, reject) => socket.write(data, (error) => (error ? reject(error) : resolve())))
  socket.on('error', () => {}) // write() reports it
  await write(`PUT ${path} HTTP/1.1\r\n${head}\r\n`)
  await until('the request has ended', () => s3.requests.length === 1)
  for (let sent = 0; sent < 8; sent++) await write(Buffer.alloc(MIB))
  const [answer] = await once(socket, 'data')
  assert.match(String(answer), /^HTTP\/1.1 403.*<Code>AccessDenied</s)
  socket.destroy()
})

test('a client that asks before it sends is refused before it sends', async (t) => {
  const s3 = await withS3(t)
  const { hostname, port } = new URL(s3.endpoint)
  const ask = (headers: Record<string, string>, body: string) =>
    new Promise<string>((resolve) => {
      const head = Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')
      const socket = connect(Number(port), hostname)
      let seen = ''
      socket.on('data', (data) => {
        seen += data
        if (seen === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write(body)
        else socket.end()
      })
      socket.on('close', () => resolve(seen))
      socket.write(`PUT ${path} HTTP/1.1\r\n${head}expect: 100-continue\r\ncontent-length: 5\r\n\r\n`)
    })
  const headers = signHeaders(s3.endpoint, put({}), s3.sessions.root)
  assert.match(await ask(headers, 'hello'), /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200/)
  assert.match(await ask({ ...headers, authorization: 'wrong' }, 'hello'), /^HTTP\/1.1 400/)
})

test('XML that is wrong, huge or clever is refused', async (t) => {
  const s3 = await withS3(t)
  const post = (body: string, query: [string, string][] = [['delete', '']]) =>
    sendSigned(s3.endpoint, { method: 'POST', path: `/${BUCKET}`, query, body }, s3.sessions.root)
  const bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><Delete><Object><Key>&b;</Key></Object></Delete>'
  const many = `<Delete>${'<Object><Key>k</Key></Object>'.repeat(1001)}</Delete>`
  for (const body of [
    '',
    'hello',
    '<Delete>',
    '<Delete/>',
    '<Delete><Object/></Delete>',
    '<Other/>',
    bomb,
    many,
    `<Delete>${' '.repeat(3_000_000)}</Delete>`,
  ])
    assert.deepEqual([(await post(body)).status, (await post(body)).code], [400, 'MalformedXML'], body.slice(0, 60))
})

test('a full disk is said so, reading goes on, and room again is room again', async (t) => {
  const disk = createFailingDisk()
  const s3 = await withS3(t, { disk })
  await sendSigned(s3.endpoint, put({}), s3.sessions.root)
  disk.failAll(['append'], 'ENOSPC')
  const full = await sendSigned(s3.endpoint, put({ path: `/${BUCKET}/full` }), s3.sessions.root)
  assert.deepEqual([full.status, full.code], [507, 'InsufficientStorage'])
  const large = await sendSigned(s3.endpoint, put({ path: `/${BUCKET}/full`, body: Buffer.alloc(16 * MIB) }), s3.sessions.root)
  assert.deepEqual([large.status, large.code], [507, 'InsufficientStorage'])
  assert.equal((await sendSigned(s3.endpoint, { path }, s3.sessions.root)).text, 'hello')
  disk.heal()
  assert.equal((await sendSigned(s3.endpoint, put({ path: `/${BUCKET}/full` }), s3.sessions.root)).status, 200)
})

test('damaged bytes are never handed out', async (t) => {
  const disk = createFailingDisk()
  const s3 = await withS3(t, { disk })
  await sendSigned(s3.endpoint, put({}), s3.sessions.root)
  const open = disk.open
  disk.open = async (file) => ({ ...(await open(file)), read: async (into) => into.fill(0x41).length })
  const answer = await sendSigned(s3.endpoint, { path }, s3.sessions.root)
  assert.deepEqual([answer.status, answer.code], [500, 'InternalError'])
})

test('damage in the middle of a download breaks the connection before a wrong byte is out', async (t) => {
  const disk = createFailingDisk()
  const s3 = await withS3(t, { disk })
  await s3.store.put('k', bytes(Buffer.alloc(5 * MIB, 'x')))
  const open = disk.open
  disk.open = async (path) => {
    const file = await open(path)
    const read = async (into: Uint8Array, position: number) =>
      position === 3 * MIB ? into.fill(0x41).length : file.read(into, position)
    return { ...file, read }
  }
  await assert.rejects(sendSigned(s3.endpoint, { path }, s3.sessions.root), { code: 'ECONNRESET' })
  assert.match(String(s3.requests[0]?.error), /do not match their checksum at offset 3145728/)
})

test('a download that its client gives up is no failure of ours, and leaves nothing open', async (t) => {
  const disk = createFailingDisk()
  const s3 = await withS3(t, { disk })
  await s3.store.put('k', bytes(Buffer.alloc(32 * MIB)))
  let open = 0
  const original = disk.open
  disk.open = async (path) => {
    const file = await original(path)
    open++
    return { ...file, close: () => file.close().then(() => void open--) }
  }
  const { hostname, port } = new URL(s3.endpoint)
  const incoming = await new Promise<IncomingMessage>((resolve) =>
    get({ hostname, port, path, headers: signHeaders(s3.endpoint, { path }, s3.sessions.root) }, resolve),
  )
  incoming.once('data', () => incoming.destroy())
  await until('the request has ended and its file is closed', () => s3.requests.length === 1 && open === 0)
  assert.equal(s3.requests[0]?.error, undefined)
})

test('no request, signed or not, gets a 5xx or no answer', async (t) => {
  const s3 = await withS3(t)
  await sendSigned(s3.endpoint, put({}), s3.sessions.root)
  const names = [
    'uploads',
    'uploadId',
    'partNumber',
    'delete',
    'list-type',
    'prefix',
    'delimiter',
    'max-keys',
    'continuation-token',
    'marker',
    'encoding-type',
    'response-content-type',
    'location',
    'versioning',
    'max-parts',
    'part-number-marker',
    'acl',
    'start-after',
    'key-marker',
    'upload-id-marker',
  ]
  const headerNames = [
    'range',
    'if-match',
    'if-none-match',
    'if-modified-since',
    'x-amz-copy-source',
    'x-amz-copy-source-range',
    'x-amz-meta-a',
    'content-type',
    'content-md5',
    'x-amz-checksum-crc32',
    'x-amz-checksum-algorithm',
    'x-amz-metadata-directive',
    'x-amz-trailer',
    'content-encoding',
    'x-amz-checksum-type',
    'x-amz-checksum-mode',
  ]
  const value = fc.oneof(
    fc.constantFrom(
      '',
      '0',
      '-1',
      '1',
      '2',
      '99999999999',
      'bytes=0-',
      'bytes=5-2',
      'bytes=-0',
      `${BUCKET}/k`,
      '/',
      '%',
      '\u{10FFFF}',
      'CRC32',
      'url',
      '"x"',
      '*',
      'k',
    ),
    fc.string({ maxLength: 12 }),
  )
  const safe = (text: string) => text.replace(/[^\x20-\x7e]/g, '').trim()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'),
      fc.oneof(
        fc.constantFrom('/', `/${BUCKET}`, `/${BUCKET}/`, path, `/${BUCKET}/..`, '/other/k'),
        anyText(20).map((key) => `/${BUCKET}/${key}`),
      ),
      fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...headerNames), value.map(safe), { maxKeys: 3 }),
      fc.constantFrom(
        '',
        'x',
        '<Delete><Object><Key>k2</Key></Object></Delete>',
        '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"x"</ETag></Part></CompleteMultipartUpload>',
      ),
      fc.boolean(),
      async (method, where, query, headers, body, signed) => {
        const request = {
          method,
          path: where,
          query: query.map(([name, text]) => [name, text.toWellFormed()] as const),
          headers,
          body: method === 'GET' || method === 'HEAD' ? '' : body,
        }
        const answer = signed
          ? await sendSigned(s3.endpoint, request, s3.sessions.root)
          : await sendRaw(s3.endpoint, method, encodeURI(where), headers, request.body)
        assert.ok(answer.status < 500 || answer.status === 501, `${answer.status} ${answer.text}`)
        if (signed) assert.notEqual(answer.code, 'SignatureDoesNotMatch', JSON.stringify(request))
      },
    ),
    { numRuns: RUNS },
  )
})
