// The worked example of the AWS documentation ("Signature Calculations: Transferring Payload in Multiple Chunks", and the
// same with trailing headers), and what happens when a byte of it is wrong.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signingKey } from '../../../engines/object-store/signature-v4.ts'
import { decodeAwsChunked } from './aws-chunked.ts'
import { createHasher } from './checksums.ts'

const SCOPE = { date: '20130524', region: 'us-east-1', service: 's3' }
const KEY = signingKey('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', SCOPE)
const seedOf = (signature: string) => ({ signature, key: KEY, amzDate: '20130524T000000Z', scope: SCOPE })

const chunk = (size: number, signature: string) => `${size.toString(16)};chunk-signature=${signature}\r\n${'a'.repeat(size)}\r\n`

const SIGNED = {
  seed: seedOf('4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9'),
  body:
    chunk(65536, 'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648') +
    chunk(1024, '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497') +
    chunk(0, 'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9'),
}

const WITH_TRAILER = {
  seed: seedOf('106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e'),
  body:
    chunk(65536, 'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2') +
    chunk(1024, '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7') +
    '0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n' +
    'x-amz-checksum-crc32c:sOO8/Q==\r\n' +
    'x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n',
}

const CONTENT = 'a'.charCodeAt(0)

/** Decodes with the input cut into pieces of a size, because a socket cuts where it likes. Far from a frame, where nothing begins or ends, pieces are larger. */
async function decode(body: string, seed: ReturnType<typeof seedOf> | undefined, pieceBytes = 1000) {
  const bytes = Buffer.from(body, 'latin1')
  let trailers: ReadonlyMap<string, string> = new Map()
  async function* pieces() {
    for (let at = 0, size = 0; at < bytes.length; at += size) {
      const ahead = bytes.subarray(at, at + 1000)
      size = ahead.length === 1000 && ahead.every((byte) => byte === CONTENT) ? Math.max(pieceBytes, 500) : pieceBytes
      yield bytes.subarray(at, at + size)
    }
  }
  const out: Uint8Array[] = []
  const onTrailers = (found: ReadonlyMap<string, string>) => {
    trailers = found
  }
  for await (const part of decodeAwsChunked(pieces(), { seed, signedTrailer: seed !== undefined, onTrailers })) out.push(part)
  return { text: Buffer.concat(out).toString('latin1'), trailers }
}

for (const pieceBytes of [1, 7, 65536, 1_000_000])
  test(`the AWS example decodes and verifies in pieces of ${pieceBytes} bytes`, async () => {
    assert.equal((await decode(SIGNED.body, SIGNED.seed, pieceBytes)).text, 'a'.repeat(66560))
    const { text, trailers } = await decode(WITH_TRAILER.body, WITH_TRAILER.seed, pieceBytes)
    assert.equal(text, 'a'.repeat(66560))
    const crc32c = createHasher('crc32c')
    crc32c.update(Buffer.from(text))
    assert.equal(trailers.get('x-amz-checksum-crc32c'), crc32c.digest())
  })

test('a changed, dropped, swapped or added byte breaks the chain of signatures', async () => {
  const firstEnd = SIGNED.body.indexOf('\r\n400;') + 2
  const broken = {
    'a changed byte': SIGNED.body.replace('aaaa', 'aaab'),
    'a dropped chunk': SIGNED.body.slice(firstEnd),
    'a changed signature': SIGNED.body.replace('ad80', 'ad81'),
    'another seed': SIGNED.body,
    'a missing signature': SIGNED.body.replace(/;chunk-signature=\w+/, ''),
  }
  for (const [what, body] of Object.entries(broken)) {
    const seed = what === 'another seed' ? WITH_TRAILER.seed : SIGNED.seed
    await assert.rejects(decode(body, seed), { code: 'SignatureDoesNotMatch' }, what)
  }
  const forged = WITH_TRAILER.body.replace('sOO8/Q==', 'sOO8/A==')
  await assert.rejects(decode(forged, WITH_TRAILER.seed), { code: 'SignatureDoesNotMatch' })
})

test('a body that is not aws-chunked, or breaks off, is refused', async () => {
  const broken = [
    '',
    'hello',
    'zz\r\nhello\r\n0\r\n\r\n',
    '-1\r\n',
    'fffffffffffff\r\n',
    '5\r\nhel',
    '5\r\nhello',
    '5\r\nhello\r\n',
    '4\r\nhello\r\n0\r\n\r\n',
    '5\r\nhello\r\n0\r\n\r\nmore',
    '5\r\nhello\r\n0\r\nno colon here\r\n\r\n',
    'a'.repeat(100_000),
  ]
  for (const body of broken)
    await assert.rejects(decode(body, undefined), { code: 'IncompleteBody' }, JSON.stringify(body.slice(0, 40)))
})

test('an unsigned body with a trailer decodes', async () => {
  const { text, trailers } = await decode('5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n', undefined, 3)
  assert.equal(text, 'hello')
  assert.equal(trailers.get('x-amz-checksum-crc32'), 'NhCmhg==')
})
