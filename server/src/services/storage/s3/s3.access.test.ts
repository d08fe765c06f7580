// Who may do what over the wire: every kind of credentials against everything that is not theirs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUCKET, REGION, type StartedS3, startS3 } from '../../../../../tests/support/servers/start-s3.ts'
import { type RawRequest, sendRaw, sendSigned } from '../../../../../tests/support/signed-request.ts'
import type { SigningCredentials } from '../../../engines/object-store/presign.ts'
import { presign } from '../../../engines/object-store/presign.ts'
import { createSessionTokens } from '../../../engines/object-store/session-token.ts'

async function withS3(t: { after(close: () => Promise<void>): void }, options = {}): Promise<StartedS3> {
  const s3 = await startS3(options)
  t.after(() => s3.close())
  return s3
}

const text = (content: string) =>
  (async function* () {
    yield Buffer.from(content)
  })()

const set = (headers: Record<string, string>, name: string, value: string) => void Object.assign(headers, { [name]: value })

const LONG = Boolean(process.env.MILLRACE_LONG)

/** Every operation that touches a key, and those that touch the bucket. */
const operationsOn = (key: string, other: string): Record<string, RawRequest> => {
  const path = `/${BUCKET}/${key}`
  const complete = '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>'
  return {
    get: { path },
    head: { method: 'HEAD', path },
    put: { method: 'PUT', path, body: 'stolen' },
    delete: { method: 'DELETE', path },
    'copy from it': {
      method: 'PUT',
      path: `/${BUCKET}/${other}`,
      headers: { 'x-amz-copy-source': `/${BUCKET}/${encodeURIComponent(key)}` },
    },
    'create upload': { method: 'POST', path, query: [['uploads', '']] },
    'upload part': {
      method: 'PUT',
      path,
      query: [
        ['partNumber', '1'],
        ['uploadId', 'x'],
      ],
      body: 'p',
    },
    'copy part from it': {
      method: 'PUT',
      path: `/${BUCKET}/${other}`,
      query: [
        ['partNumber', '1'],
        ['uploadId', 'x'],
      ],
      headers: { 'x-amz-copy-source': `/${BUCKET}/${encodeURIComponent(key)}` },
    },
    'list parts': { path, query: [['uploadId', 'x']] },
    'complete upload': { method: 'POST', path, query: [['uploadId', 'x']], body: complete },
    'abort upload': { method: 'DELETE', path, query: [['uploadId', 'x']] },
    'list its prefix': {
      path: `/${BUCKET}`,
      query: [
        ['list-type', '2'],
        ['prefix', key],
      ],
    },
    'list its prefix, version 1': { path: `/${BUCKET}/`, query: [['prefix', key]] },
    'delete many': {
      method: 'POST',
      path: `/${BUCKET}`,
      query: [['delete', '']],
      body: `<Delete><Object><Key>${key}</Key></Object></Delete>`,
    },
  }
}
const BUCKET_OPERATIONS: Record<string, RawRequest> = {
  'list everything': { path: `/${BUCKET}`, query: [['list-type', '2']] },
  'list everything, version 1': { path: `/${BUCKET}` },
  'list uploads': { path: `/${BUCKET}`, query: [['uploads', '']] },
  'list buckets': { path: '/' },
  'another bucket': { path: '/another/key' },
}

test('temporary credentials of every kind do nothing at all to any other key', async (t) => {
  const s3 = await withS3(t)
  const keys = [
    'exp-15/1/files/2026/01/01/1.a.csv',
    'exp-15/1/files/2026/01/01/1.a.csvx',
    'exp-15/1/files/2026/01/01/2.a.csv',
    'exp-15/2/files/2026/01/01/3.a.csv',
    'tables/1/segment.parquet',
  ]
  for (const key of keys) await s3.store.put(key, text(`content of ${key}`))
  let refused = 0
  for (const action of ['upload', 'download'] as const)
    for (const isPrefix of [false, true])
      for (const own of LONG ? keys : [keys[0]!, keys.at(-1)!]) {
        const credentials = s3.session({ action, key: own, isPrefix })
        const isRefused = async (request: RawRequest, what: string) => {
          const answer = await sendSigned(s3.endpoint, request, credentials)
          assert.equal(answer.status, 403, `${action} ${isPrefix ? 'prefix' : 'key'} ${own}: ${what}`)
          assert.ok(!answer.text.includes('content of'))
          refused++
        }
        for (const [name, request] of Object.entries(BUCKET_OPERATIONS)) await isRefused(request, name)
        const theirs = keys.filter((key) => key !== own && !(isPrefix && key.startsWith(own)))
        for (const key of [...theirs, own.slice(0, -1), `${own}/../${theirs[0]}`.replace(own, isPrefix ? 'x' : own)])
          for (const [name, request] of Object.entries(operationsOn(key, own))) await isRefused(request, `${name} ${key}`)
      }
  for (const key of keys) assert.equal((await s3.store.head(key))?.sizeBytes, `content of ${key}`.length)
  assert.ok(refused > (LONG ? 1000 : 600), String(refused))
})

test('credentials for writing do not read, credentials for reading do not write, neither deletes', async (t) => {
  const s3 = await withS3(t)
  await s3.store.put('own', text('x'))
  const allowed = {
    upload: [
      'put',
      'create upload',
      'upload part',
      'list parts',
      'complete upload',
      'abort upload',
      'head',
      'list its prefix',
      'list its prefix, version 1',
    ],
    download: ['get', 'head', 'list its prefix', 'list its prefix, version 1'],
  }
  for (const action of ['upload', 'download'] as const)
    for (const isPrefix of [false, true])
      for (const key of isPrefix ? ['own', 'own/slice'] : ['own'])
        for (const [name, request] of Object.entries(operationsOn(key, 'own'))) {
          const answer = await sendSigned(s3.endpoint, request, s3.session({ action, key: 'own', isPrefix }))
          assert.equal(
            answer.status !== 403,
            allowed[action].includes(name),
            `${action}: ${name} answered ${answer.status} ${answer.code}`,
          )
        }
})

test('credentials stop at the second they expire', async (t) => {
  let now = new Date('2026-03-01T12:00:00.900Z')
  const s3 = await withS3(t, { clock: { now: () => now } })
  await s3.store.put('k', text('x'))
  const credentials = s3.session({ action: 'download', key: 'k' }, 60)
  const get = () => sendSigned(s3.endpoint, { path: `/${BUCKET}/k`, now }, credentials)
  now = new Date('2026-03-01T12:01:00.899Z')
  assert.equal((await get()).status, 200)
  now = new Date('2026-03-01T12:01:00.900Z')
  const late = await get()
  assert.deepEqual([late.status, late.code], [403, 'ExpiredToken'])
})

test('a signature that is wrong in any way is refused with the code AWS gives it', async (t) => {
  const s3 = await withS3(t)
  await s3.store.put('k', text('x'))
  const { root } = s3.sessions
  const session = s3.session({ action: 'download', key: 'k' })
  const foreign = createSessionTokens(Buffer.from('another server')).issue(
    { grants: [{ action: 'download', key: 'k', isPrefix: false }], demandEncryption: false },
    Date.now() + 1e6,
  )
  const path = `/${BUCKET}/k`
  const minutes = (n: number) => new Date(Date.now() + n * 60_000)
  const cases: Record<string, [RawRequest, SigningCredentials, number, string]> = {
    'another secret': [{ path }, { ...root, secretAccessKey: 'wrong' }, 403, 'SignatureDoesNotMatch'],
    'a flipped signature': [
      {
        path,
        tamper: (h) =>
          set(
            h,
            'authorization',
            h.authorization!.replace(/.$/, (c) => (c === '0' ? '1' : '0')),
          ),
      },
      root,
      403,
      'SignatureDoesNotMatch',
    ],
    'a signature that is not ASCII': [
      { path, tamper: (h) => set(h, 'authorization', h.authorization!.replace(/.$/, 'é')) },
      root,
      403,
      'SignatureDoesNotMatch',
    ],
    'another path': [{ path, rawUrl: `/${BUCKET}/other` }, root, 403, 'SignatureDoesNotMatch'],
    'an added query': [{ path, rawUrl: `${path}?x=1` }, root, 403, 'SignatureDoesNotMatch'],
    'another method': [
      { path, method: 'GET', rawUrl: path, tamper: (h) => set(h, 'x-amz-content-sha256', 'UNSIGNED-PAYLOAD') },
      root,
      403,
      'SignatureDoesNotMatch',
    ],
    'an unknown key': [{ path }, { accessKeyId: 'AKIANOBODY', secretAccessKey: 'x' }, 403, 'InvalidAccessKeyId'],
    'a session key without its token': [
      { path },
      { accessKeyId: session.accessKeyId, secretAccessKey: session.secretAccessKey },
      403,
      'InvalidAccessKeyId',
    ],
    'the token of another session': [
      { path },
      { ...session, sessionToken: s3.session({ action: 'download', key: 'k' }).sessionToken },
      403,
      'InvalidAccessKeyId',
    ],
    'the token of another server': [{ path }, foreign, 400, 'InvalidToken'],
    'a token of nonsense': [{ path }, { ...session, sessionToken: 'nonsense' }, 400, 'InvalidToken'],
    'the root key with a token': [{ path }, { ...root, sessionToken: session.sessionToken }, 403, 'InvalidAccessKeyId'],
    'another region': [{ path, region: 'eu-west-1' }, root, 400, 'AuthorizationHeaderMalformed'],
    'another service': [{ path, service: 'sts' }, root, 400, 'AuthorizationHeaderMalformed'],
    'a clock 16 minutes behind': [{ path, now: minutes(-16) }, root, 403, 'RequestTimeTooSkewed'],
    'a clock 16 minutes ahead': [{ path, now: minutes(16) }, root, 403, 'RequestTimeTooSkewed'],
    'an unsigned x-amz header': [{ path, tamper: (h) => set(h, 'x-amz-acl', 'public-read') }, root, 403, 'AccessDenied'],
    'no content hash': [{ path, tamper: (h) => void delete h['x-amz-content-sha256'] }, root, 400, 'InvalidRequest'],
    'no date': [{ path, tamper: (h) => void delete h['x-amz-date'] }, root, 403, 'AccessDenied'],
    'signature version 2': [{ path, tamper: (h) => set(h, 'authorization', 'AWS AKIA:abc=') }, root, 400, 'InvalidRequest'],
    'a link of signature version 2': [
      {
        path,
        query: [
          ['AWSAccessKeyId', 'AKIA'],
          ['Signature', 'abc='],
          ['Expires', '1'],
        ],
        tamper: (h) => void delete h.authorization,
      },
      root,
      400,
      'InvalidRequest',
    ],
    'half an authorization': [
      { path, tamper: (h) => set(h, 'authorization', 'AWS4-HMAC-SHA256 Credential=a/b/c') },
      root,
      400,
      'AuthorizationHeaderMalformed',
    ],
    'no signature at all': [{ path, tamper: (h) => void delete h.authorization }, root, 403, 'AccessDenied'],
  }
  for (const [name, [request, credentials, status, code]] of Object.entries(cases)) {
    const answer = await sendSigned(s3.endpoint, request, credentials)
    assert.deepEqual([answer.status, answer.code], [status, code], `${name}: ${answer.text}`)
  }
  for (const now of [minutes(-14), minutes(14)]) assert.equal((await sendSigned(s3.endpoint, { path, now }, root)).status, 200)
  assert.equal((await sendSigned(s3.endpoint, { path }, session)).status, 200)
})

test('a presigned link works as it is until it expires, and in no other way', async (t) => {
  let now = new Date('2026-03-01T12:00:00Z')
  const s3 = await withS3(t, { clock: { now: () => now } })
  await s3.store.put('a b/ž+%.csv', text('linked'))
  await s3.store.put('other', text('other'))
  const request = {
    method: 'GET',
    endpoint: s3.endpoint,
    bucket: BUCKET,
    key: 'a b/ž+%.csv',
    region: REGION,
    now,
    expiresInSeconds: 3600,
    query: { 'response-content-type': 'text/csv' },
  }
  const link = new URL(presign(request, s3.sessions.root))
  const get = (change: (url: URL) => void = () => {}, method = 'GET') => {
    const url = new URL(link)
    change(url)
    return sendRaw(s3.endpoint, method, url.pathname + url.search)
  }
  const good = await get()
  assert.deepEqual([good.status, good.text, good.headers['content-type']], [200, 'linked', 'text/csv'])
  const wrong: [string, (url: URL) => void, string?][] = [
    ['another key', (url) => Object.assign(url, { pathname: `/${BUCKET}/other` })],
    ['another content type', (url) => url.searchParams.set('response-content-type', 'text/html')],
    ['no content type', (url) => url.searchParams.delete('response-content-type')],
    ['an added parameter', (url) => url.searchParams.set('response-cache-control', 'x')],
    ['a longer life', (url) => url.searchParams.set('X-Amz-Expires', '604800')],
    ['a later date', (url) => url.searchParams.set('X-Amz-Date', '20260301T130000Z')],
    ['a doubled parameter', (url) => url.searchParams.append('X-Amz-Expires', '3600')],
    ['an expiry of years', (url) => url.searchParams.set('X-Amz-Expires', '99999999')],
    ['an expiry of nothing', (url) => url.searchParams.set('X-Amz-Expires', '0')],
    ['an expiry of words', (url) => url.searchParams.set('X-Amz-Expires', 'soon')],
    ['another credential', (url) => url.searchParams.set('X-Amz-Credential', 'AKIA/20260301/us-east-1/s3/aws4_request')],
    ['no signature', (url) => url.searchParams.delete('X-Amz-Signature')],
    ['writing', () => {}, 'PUT'],
    ['deleting', () => {}, 'DELETE'],
    ['only looking', () => {}, 'HEAD'],
  ]
  for (const [name, change, method] of wrong) {
    const answer = await get(change, method)
    assert.ok(answer.status === 403 || answer.status === 400, `${name}: ${answer.status} ${answer.text}`)
    assert.ok(!answer.text.includes('linked'))
  }
  now = new Date('2026-03-01T12:59:59.999Z')
  assert.equal((await get()).status, 200)
  now = new Date('2026-03-01T13:00:00Z')
  assert.deepEqual([(await get()).status, (await get()).code], [403, 'AccessDenied'])
  now = new Date('2026-03-01T11:44:00Z')
  assert.equal((await get()).status, 403)
})

test('a link presigned with temporary credentials allows what they allow', async (t) => {
  const s3 = await withS3(t)
  const session = s3.session({ action: 'upload', key: 'up' })
  const base = { endpoint: s3.endpoint, bucket: BUCKET, region: REGION, now: new Date(), expiresInSeconds: 60 }
  const put = await fetch(presign({ ...base, method: 'PUT', key: 'up' }, session), { method: 'PUT', body: 'by link' })
  assert.equal(put.status, 200)
  assert.equal((await fetch(presign({ ...base, method: 'GET', key: 'up' }, session))).status, 403)
  assert.equal((await fetch(presign({ ...base, method: 'PUT', key: 'up2' }, session), { method: 'PUT', body: 'x' })).status, 403)
})

test('the bucket may stand in the host name', async (t) => {
  const s3 = await withS3(t)
  await s3.store.put('k', text('by host'))
  const host = `${BUCKET}.s3.example.com`
  const answer = await sendSigned(s3.endpoint, { path: '/k', host }, s3.sessions.root)
  assert.equal(answer.text, 'by host')
})

test('a host that happens to begin with the name of the bucket takes paths with the bucket in them', async (t) => {
  const s3 = await withS3(t)
  await s3.store.put('k', text('by path'))
  const host = `${BUCKET}.company.example`
  const answer = await sendSigned(s3.endpoint, { path: `/${BUCKET}/k`, host }, s3.sessions.root)
  assert.equal(answer.text, 'by path')
  const list = await sendSigned(s3.endpoint, { path: `/${BUCKET}`, host, query: [['prefix', 'k']] }, s3.sessions.root)
  assert.match(list.text, /<Key>k<\/Key>/)
})

test('dots, doubled slashes and doubled encoding in a key mean themselves', async (t) => {
  const s3 = await withS3(t)
  const own = 'dir/own.csv'
  await s3.store.put(own, text('own'))
  const session = s3.session({ action: 'download', key: own })
  for (const key of [
    'dir/../dir/own.csv',
    './dir/own.csv',
    'dir//own.csv',
    '/dir/own.csv',
    'dir%2Fown.csv',
    'dir/own.csv/',
    'DIR/own.csv',
    'dir/own.csv%00',
  ])
    assert.equal((await sendSigned(s3.endpoint, { path: `/${BUCKET}/${key}` }, session)).status, 403, key)
  // The same key in another spelling of the URL is the same key.
  const encoded = `/${BUCKET}/dir%2Fown.csv`
  assert.equal((await sendSigned(s3.endpoint, { path: `/${BUCKET}/${own}`, rawUrl: encoded }, session)).text, 'own')
  for (const rawUrl of [`/${BUCKET}/%ff`, `/${BUCKET}/%`, `/${BUCKET}/a?x=%zz`]) {
    const answer = await sendSigned(s3.endpoint, { path: '/', rawUrl }, s3.sessions.root)
    assert.deepEqual([answer.status, answer.code], [400, 'InvalidURI'], rawUrl)
  }
  const nul = await sendSigned(s3.endpoint, { method: 'PUT', path: `/${BUCKET}/a\0b`, body: 'x' }, s3.sessions.root)
  assert.deepEqual([nul.status, nul.code], [400, 'InvalidURI'])
})
