// A server that misbehaves in every way we could think of. Each behaviour ends with a named reason or with the right tables, in
// bounded time, and a run that fails leaves nothing behind.

import assert from 'node:assert/strict'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { UserError } from '../src/errors.ts'
import { extract, type Handler, json, type Outcome, serve } from './harness.ts'

type Expected = RegExp | Readonly<Record<string, string>> | ((outcome: Outcome) => void)

interface Settings {
  readonly api?: Readonly<Record<string, unknown>>
  readonly config?: Readonly<Record<string, unknown>>
  readonly job?: Readonly<Record<string, unknown>>
}

/** For runs that would never end. */
const timeout = 240_000

/** Runs one job `x` against `url` and holds the outcome against what is expected: a message, tables, or more. */
async function check(url: string, expected: Expected, { api = {}, config = {}, job = {} }: Settings): Promise<void> {
  const http = { connectTimeout: 1, requestTimeout: 1, ...((api.http as object | undefined) ?? {}) }
  const outcome = await extract({
    api: { baseUrl: url, retryConfig: { maxRetries: 1 }, ...api, http },
    config: { jobs: [{ endpoint: 'x', ...job }], ...config },
  })
  assert.deepEqual(outcome.leftovers, [])
  if (outcome.error) {
    assert.ok(outcome.error instanceof UserError, outcome.error.stack)
    assert.deepEqual(outcome.tables, {}, 'a failed run leaves no tables')
    assert.equal(outcome.state, undefined, 'a failed run does not move the state')
  }
  if (expected instanceof RegExp) {
    assert.match(outcome.error?.message ?? '(no error)', expected)
  } else if (typeof expected === 'function') {
    expected(outcome)
  } else {
    assert.equal(outcome.error, undefined)
    assert.deepEqual(outcome.tables, expected)
  }
}

let behaviours = 0

/** A behaviour of an HTTP server. */
function http(name: string, handler: Handler, expected: Expected, settings: Settings = {}): void {
  behaviours++
  test(name, { timeout }, async (t) => check((await serve(t, handler)).url, expected, settings))
}

/** A behaviour below HTTP: bytes on a socket. */
function tcp(name: string, onRequest: (socket: Socket) => void, expected: Expected, settings: Settings = {}): void {
  behaviours++
  test(name, { timeout }, async (t) => check(await rawServer(t, onRequest), expected, settings))
}

async function rawServer(t: TestContext, onRequest: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', () => onRequest(socket))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const body =
  (text: string | Buffer, headers: Record<string, string> = {}, status = 200): Handler =>
  (_request, response) => {
    response.writeHead(status, headers)
    response.end(text)
  }
const status =
  (code: number, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    json(response, { error: 'no' }, code, headers)
const query = (url: string | undefined, name: string) => new URL(url ?? '', 'http://x').searchParams.get(name)

const cursor = { pagination: { method: 'cursor', idKey: 'id', param: 'since' } }
const nextUrl = { pagination: { method: 'response.url', urlKey: 'next' } }
const pages = { pagination: { method: 'pagenum' } }
const dataField = { dataField: 'items' }
let serial = 0

// --- pagination that never ends ---

http(
  'the same cursor for ever',
  (_q, r) => json(r, { items: [{ id: 5, at: ++serial }] }),
  /Pagination does not advance: page \d would ask for the same/,
  { api: cursor, job: dataField },
)
http(
  'a cursor that goes to and fro',
  (q, r) => json(r, { items: [{ id: query(q.url, 'since') === '5' ? 9 : 5, at: ++serial }] }),
  /Pagination does not advance/,
  { api: cursor, job: dataField },
)
http(
  'a circle of seven cursors',
  (q, r) => json(r, { items: [{ id: ((Number(query(q.url, 'since') ?? 0) + 1) % 7) + 1, at: ++serial }] }),
  /Pagination does not advance/,
  { api: cursor, job: dataField },
)
http(
  'a cursor that goes backwards is followed until there are no items',
  (q, r) => {
    const since = Number(query(q.url, 'since') ?? 4)
    json(r, { items: since > 1 ? [{ id: since - 1 }] : [] })
  },
  { x: '"id"\n"3"\n"2"\n"1"\n' },
  { api: cursor, job: dataField },
)
http('a cursor that is text', (_q, r) => json(r, { items: [{ id: 'abc' }] }), /Cursor value '"abc"' is not numeric/, {
  api: cursor,
  job: dataField,
})
http('items without the cursor', (_q, r) => json(r, { items: [{ nr: 1 }] }), /Cursor value 'null' is not numeric/, {
  api: cursor,
  job: dataField,
})
http('a cursor that is an object', (_q, r) => json(r, { items: [{ id: { a: 1 } }] }), /Cursor value '\{"a":1\}' is not numeric/, {
  api: cursor,
  job: dataField,
})
http(
  'cursors beyond 2^53 keep every digit',
  (q, r) => {
    if (query(q.url, 'since') === null) json(r, '{"items":[{"id":9007199254740993},{"id":9223372036854775806}]}')
    else if (query(q.url, 'since') === '9223372036854775807') json(r, '{"items":[]}')
    else json(r, { error: `since was ${query(q.url, 'since')}` }, 400)
  },
  { x: '"id"\n"9007199254740993"\n"9223372036854775806"\n' },
  { api: { pagination: { ...cursor.pagination, increment: 1 } }, job: dataField },
)
http('a next link to itself', (q, r) => json(r, { items: [{ id: ++serial }], next: q.url }), /Pagination does not advance/, {
  api: nextUrl,
  job: dataField,
})
http(
  'next links in a circle',
  (q, r) => json(r, { items: [{ id: ++serial }], next: q.url === '/a' ? '/b' : q.url === '/b' ? '/c' : '/a' }),
  /Pagination does not advance/,
  { api: nextUrl, job: dataField },
)
http(
  'the same scroll token with the same items for ever',
  (_q, r) => json(r, { items: [{ id: 1 }], token: 't', at: ++serial }),
  /Pagination does not advance/,
  { api: { pagination: { method: 'response.param', responseParam: 'token', queryParam: 'token' } }, job: dataField },
)
http('every page is the same', (_q, r) => json(r, { items: [{ id: 1 }] }), { x: '"id"\n"1"\n' }, { api: pages, job: dataField })
http(
  'a next address that is an object',
  (_q, r) => json(r, { items: [{ id: 1 }], next: { href: 'y' } }),
  /^The value of 'next' in the response is object, not the address of the next page\. Set "urlKey" to the text inside it\./,
  { api: { pagination: { method: 'response.url', urlKey: 'next' } } },
)
http(
  'pages without end, limited by forceStop',
  (_q, r) => json(r, { items: [{ id: ++serial % 7 }], at: serial }),
  ({ tables }) => assert.equal(tables.x?.split('\n').length, 22),
  { api: { pagination: { method: 'pagenum', forceStop: { pages: 20 } } }, job: dataField },
)
http(
  'pages without end, limited by volume',
  (_q, r) => json(r, { items: [{ t: 'x'.repeat(1000), at: ++serial }] }),
  ({ tables }) => assert.equal(tables.x?.split('\n').length, 7),
  { api: { pagination: { method: 'pagenum', forceStop: { volume: 5000 } } }, job: dataField },
)
http(
  'an empty first page',
  (_q, r) => json(r, { items: [] }),
  ({ error, log }) => {
    assert.equal(error, undefined)
    assert.match(log, /datafield 'items' contains no data!/)
  },
  { api: pages, job: dataField },
)
http(
  'next links of odd types end the job',
  (q, r) => json(r, { items: [{ id: 1 }], next: [null, 0, false, '', '0', [], { a: 1 }][(q.url?.length ?? 0) % 7] }),
  { x: '"id"\n"1"\n' },
  { api: nextUrl, job: dataField },
)
http(
  'a next link with a scheme nobody speaks',
  (_q, r) => json(r, { items: [{ id: 1 }], next: 'gopher://x/1' }),
  /Only http and https/,
  { api: nextUrl, job: dataField },
)
http('a next link that is no address', (_q, r) => json(r, { items: [{ id: 1 }], next: 'http://[' }), /no valid host/, {
  api: nextUrl,
  job: dataField,
})
http(
  'a total that is text',
  (_q, r) => json(r, { items: [{ id: 1 }], total: 'many' }),
  { x: '"id"\n"1"\n' },
  { api: { pagination: { method: 'pagenum', limitStop: { field: 'total' } } }, job: dataField },
)

// --- statuses and retries ---

http('404', status(404), /\[404\] Client error: `GET http:\/\/127.*x` resulted in a `404 Not Found` response: \{"error":"no"\}/)
http('401 says where to look', status(401), /\[401\].*Check the credentials/)
http(
  '500 for ever is retried, with doubled waits, then fails',
  status(500),
  ({ error, waits }) => {
    assert.match(error?.message ?? '', /\[500\] Server error/)
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
  },
  { api: { retryConfig: {} } },
)
http(
  '429 for ever with Retry-After',
  status(429, { 'retry-after': '3' }),
  ({ error, waits }) => {
    assert.match(error?.message ?? '', /\[429\]/)
    assert.deepEqual(waits, [3, 3, 3])
  },
  { api: { retryConfig: { maxRetries: 3 } } },
)
http(
  '503 with a Retry-After in the past',
  status(503, { 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' }),
  ({ waits }) => assert.deepEqual(waits, [1, 2]),
  { api: { retryConfig: { maxRetries: 2 } } },
)
http(
  '503 with a Retry-After that means nothing',
  status(503, { 'retry-after': '-5 bananas' }),
  ({ waits }) => assert.deepEqual(waits, [1, 2]),
  { api: { retryConfig: { maxRetries: 2 } } },
)
http('503 with a Retry-After of the year 5000', status(503, { 'retry-after': '95617584000' }), /asks to wait/, {
  api: { retryConfig: { maxRetries: 2 } },
})
http('a status of its own invention', (_q, r) => json(r, { error: 'odd' }, 499), /\[499\]/)
http(
  'one failure, then an answer',
  (() => {
    let calls = 0
    return ((_q, r) => (calls++ === 0 ? json(r, '', 502) : json(r, [{ id: 1 }]))) as Handler
  })(),
  { x: '"id"\n"1"\n' },
)
http(
  'a status that is ignored is retried first and then used',
  status(503),
  ({ tables, waits }) => {
    assert.deepEqual(waits, [1])
    assert.equal(tables.x, '"error"\n"no"\n')
  },
  { api: { http: { ignoreErrors: [503], requestTimeout: 1 } }, job: { dataField: '.' } },
)

// --- redirects ---

http('a redirect to itself', (q, r) => json(r, '', 302, { location: q.url ?? '' }), /Will not follow more than 5 redirects/)
http(
  'redirects in a circle',
  (q, r) => json(r, '', 301, { location: q.url === '/a' ? '/b' : '/a' }),
  /Will not follow more than 5 redirects/,
)
http('a redirect without a target', status(302), /Invalid JSON|No data array|^\(no error\)$/)
http('a redirect to nowhere', status(302, { location: 'http://' }), /has no (valid )?host/)
http('a redirect to a file', status(302, { location: 'file:///etc/passwd' }), /Only http and https|no host/)
http(
  'five redirects are fine',
  (q, r) => {
    const n = Number(q.url?.slice(1)) || 0
    if (n < 5) json(r, '', 302, { location: `/${n + 1}` })
    else json(r, [{ n }])
  },
  { x: '"n"\n"5"\n' },
)

test('a redirect to another origin leaves every secret behind, and one within the origin keeps them', async (t) => {
  behaviours++
  const other = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const first = await serve(t, (q, r) => json(r, '', 302, { location: q.url === '/x' ? '/y' : `${other.url}z` }))
  const { error } = await extract({
    api: {
      baseUrl: first.url,
      http: { headers: { 'X-Api-Key': { attr: '#key' }, 'X-Plain': 'fine', Cookie: 'session=1' } },
      authentication: { type: 'basic' },
    },
    config: { '#key': 'k-secret', '#username': 'ada', '#password': 'pw-secret', jobs: [{ endpoint: 'x' }] },
  })
  assert.equal(error, undefined)
  assert.ok(first.requests.every(({ headers }) => headers.authorization !== undefined && headers['x-api-key'] === 'k-secret'))
  assert.equal(first.requests.length, 2)
  const { headers } = other.requests[0]!
  assert.equal(headers.authorization, undefined)
  assert.equal(headers['x-api-key'], undefined)
  assert.equal(headers.cookie, undefined)
  assert.equal(headers['x-plain'], 'fine')
})

test('a body with a secret is not sent on to another origin', async (t) => {
  behaviours++
  const other = await serve(t, (_q, r) => json(r, {}))
  const first = await serve(t, (_q, r) => json(r, '', 307, { location: `${other.url}login` }))
  const { error } = await extract({
    api: {
      baseUrl: first.url,
      authentication: {
        type: 'login',
        loginRequest: { endpoint: 'login', method: 'POST', params: { password: { attr: '#password' } } },
      },
    },
    config: { '#password': 'pw-secret', jobs: [{ endpoint: 'x' }] },
  })
  assert.match(error?.message ?? '', /holds a secret/)
  assert.equal(other.seen.length, 0)
})

// --- connections ---

test('nobody listens', async () => {
  behaviours++
  await check('http://127.0.0.1:1/', /CURL error 7: Failed to connect: connection refused \(GET http:\/\/127\.0\.0\.1:1\/x\)/, {})
})
test('a name that does not exist', async () => {
  behaviours++
  await check('http://does-not-exist.invalid/', /CURL error 6: Could not resolve host/, {})
})
tcp(
  'a connection that fails is tried as often as configured',
  (s) => s.end(),
  ({ error, waits }) => {
    assert.match(error?.message ?? '', /CURL error/)
    assert.deepEqual(waits, [1, 2, 4])
  },
  { api: { retryConfig: { maxRetries: 3 } } },
)
tcp(
  'a failure that is not in the list is not tried again',
  (s) => s.end(),
  ({ error, waits }) => {
    assert.match(error?.message ?? '', /CURL error/)
    assert.deepEqual(waits, [])
  },
  { api: { retryConfig: { maxRetries: 3, curl: { codes: [6] } } } },
)
tcp('the connection is closed without a word', (s) => s.end(), /CURL error (52|56)/)
tcp('the connection is reset', (s) => s.resetAndDestroy(), /CURL error (52|56)/)
tcp('the connection is closed in the status line', (s) => s.end('HTTP/1.'), /CURL error (52|56|8)/)
tcp('the connection is closed in the headers', (s) => s.end('HTTP/1.1 200 OK\r\nContent-Ty'), /CURL error (52|56|8|18)/)
tcp(
  'the connection is reset in the middle of the body',
  (s) => s.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{"id":', () => s.resetAndDestroy()),
  /CURL error (18|56)/,
)
tcp(
  'fewer bytes than Content-Length says',
  (s) => s.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{"id":1}]'),
  /CURL error 18/,
)
tcp(
  'more bytes than Content-Length says are not read',
  (s) => s.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n[{"id":1}]{"evil":1}'),
  ({ error, tables }) => {
    if (error) assert.match(error.message, /CURL error/)
    else assert.deepEqual(tables, { x: '"id"\n"1"\n' })
  },
)
tcp(
  'two different Content-Lengths',
  (s) => s.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Length: 20\r\n\r\n[{"id":1}]'),
  /CURL error/,
)
tcp('a negative Content-Length', (s) => s.end('HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n[]'), /CURL error/)
tcp(
  'chunks that break off',
  (s) => s.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n[{"id":1}]\r\n'),
  /CURL error (18|56)/,
)
tcp(
  'chunk sizes that are no numbers',
  (s) => s.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n[]\r\n0\r\n\r\n'),
  /CURL error/,
)
tcp('an answer that is not HTTP', (s) => s.end('SSH-2.0-OpenSSH_9.6\r\n'), /CURL error/)
tcp('an answer in HTTP/1.0 without a length', (s) => s.end('HTTP/1.0 200 OK\r\n\r\n[{"id":1}]'), { x: '"id"\n"1"\n' })
tcp(
  'early hints before the answer',
  (s) => s.end('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[{"id":1}]'),
  { x: '"id"\n"1"\n' },
)
tcp('headers without end', (s) => s.write(`HTTP/1.1 200 OK\r\nX-Junk: ${'a'.repeat(200_000)}\r\n`), /CURL error/)
tcp(
  'ten thousand headers',
  (s) =>
    s.end(
      `HTTP/1.1 200 OK\r\n${Array.from({ length: 10_000 }, (_, i) => `X-${i}: y`).join('\r\n')}\r\nContent-Length: 2\r\n\r\n[]`,
    ),
  /CURL error|\(no error\)/,
)
tcp('never an answer', () => {}, /CURL error 28: Operation timed out after 1000 milliseconds/, {
  api: { retryConfig: { maxRetries: 0 } },
})
tcp('an answer that stalls after the headers', (s) => s.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n'), /CURL error 28/, {
  api: { retryConfig: { maxRetries: 0 } },
})
tcp(
  'a body that drips byte by byte',
  (s) => {
    s.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
    const timer = setInterval(() => (s.destroyed ? clearInterval(timer) : s.write(' ')), 20)
    s.on('close', () => clearInterval(timer))
  },
  /CURL error 28/,
  { api: { retryConfig: { maxRetries: 0 } } },
)
tcp(
  'a port that speaks TLS only, asked in the clear',
  (s) => s.end(Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46])),
  /CURL error/,
)
test('a plain server, asked with TLS', async (t) => {
  behaviours++
  const { port } = await serve(t, (_q, r) => json(r, []))
  await check(`https://127.0.0.1:${port}/`, /CURL error (35|56)/, {})
})
test('a connection that the server closes between pages is opened again', async (t) => {
  behaviours++
  let page = 0
  const { url } = await serve(t, (_q, r) => {
    r.setHeader('connection', 'close')
    json(r, ++page <= 3 ? [{ page }] : [])
  })
  await check(url, { x: '"page"\n"1"\n"2"\n"3"\n' }, { api: pages })
})

// --- encodings ---

const gzipped = gzipSync('[{"id":1}]')
http('gzip', body(gzipped, { 'content-encoding': 'gzip' }), { x: '"id"\n"1"\n' })
http('deflate with and without a header', body(deflateSync('[{"id":1}]'), { 'content-encoding': 'deflate' }), {
  x: '"id"\n"1"\n',
})
http('raw deflate', body(deflateRawSync('[{"id":1}]'), { 'content-encoding': 'deflate' }), { x: '"id"\n"1"\n' })
http('brotli over gzip', body(brotliCompressSync(gzipped), { 'content-encoding': 'gzip, br' }), { x: '"id"\n"1"\n' })
http(
  'a gzip bomb',
  body(gzipSync(Buffer.alloc(200 * 1024 * 1024)), { 'content-encoding': 'gzip' }),
  /unpacks to more than \d+ bytes/,
  { api: { http: { requestTimeout: 10 } } },
)
http(
  'gzip inside gzip inside gzip',
  body(gzipSync(gzipSync(gzipSync(Buffer.alloc(100 * 1024 * 1024)))), { 'content-encoding': 'gzip, gzip, gzip' }),
  /unpacks to more than \d+ bytes/,
  { api: { http: { requestTimeout: 10 } } },
)
http(
  'gzip that breaks off',
  body(gzipped.subarray(0, 15), { 'content-encoding': 'gzip' }),
  /CURL error 61: The answer is not valid gzip/,
)
http(
  'gzip with a wrong checksum',
  body(Buffer.concat([gzipped.subarray(0, -8), Buffer.alloc(8, 7)]), { 'content-encoding': 'gzip' }),
  /CURL error 61/,
)
http('plain text that claims to be gzip', body('[]', { 'content-encoding': 'gzip' }), /CURL error 61/)
http('an encoding nobody knows', body('[]', { 'content-encoding': 'rot13' }), /unknown encoding 'rot13'/)
http('an answer larger than allowed', body(`["${'x'.repeat(3000)}"]`), /larger than 2000 bytes .*maxResponseBytes/, {
  api: { http: { maxResponseBytes: 2000 } },
})

// --- bodies ---

http('no body at all (204)', body('', {}, 204), /Invalid JSON response from API: JSON decode error: .*an empty body/)
http('an empty body', body(''), /Invalid JSON response from API/)
http('a web page instead of JSON', body('<html>\u001b[31m\nlog in</html>', { 'content-type': 'text/html' }), ({ error, log }) => {
  assert.match(error?.message ?? '', /Invalid JSON response from API.*<html>/s)
  assert.equal(
    log
      .trim()
      .split('\n')
      .filter((line) => line.includes('log in')).length <= 1,
    true,
  )
})
http('a byte order mark', body('\ufeff[]'), /Invalid JSON response from API: .*byte order mark/)
http('JSON that breaks off', body('[{"id":1},{"id"'), /Invalid JSON response from API/)
http('JSON with something after it', body('[] []'), /Invalid JSON response from API/)
http('NaN', body('[NaN]'), /Invalid JSON response from API/)
http('a single quote', body("[{'id':1}]"), /Invalid JSON response from API/)
http('a number instead of a response', body('42'), /Unknown response from API/)
http('null instead of a response', body('null'), /Unknown response from API/)
http(
  'two lists to choose from',
  body('{"a":[],"b":[]}'),
  /More than one array found in response! .*arrays in response root: a, b/,
)
http('a thousand levels', body('['.repeat(1000) + ']'.repeat(1000)), /Invalid JSON response from API: .*(depth|deep|nest)/i)
http('bytes that are not UTF-8', body(Buffer.concat([Buffer.from('[{"a":"x'), Buffer.from([0xff, 0xc0]), Buffer.from('y"}]')])), {
  x: '"a"\n"xy"\n',
})
http('duplicate keys: last value, first position', body('[{"a":1,"b":2,"a":3}]'), { x: '"a","b"\n"3","2"\n' })
http('keys of the prototype', body('[{"__proto__":1,"constructor":2,"toString":3}]'), {
  x: '"proto","constructor","toString"\n"1","2","3"\n',
})

// --- logins ---

const login = (more: object = {}) => ({
  authentication: {
    type: 'login',
    loginRequest: { endpoint: 'login' },
    apiRequest: { headers: { 'X-T': { response: 'token' } } },
    ...more,
  },
})
const loginAnswers =
  (answer: Handler): Handler =>
  (q, r, s) =>
    q.url === '/login' ? answer(q, r, s) : json(r, [{ id: 1 }])

http('a login that fails', loginAnswers(status(401)), /\[401\] Client error: `GET .*login`/, { api: login() })
http('a login that returns nothing', loginAnswers(body('')), /Invalid JSON response to the login request/, { api: login() })
http('a login that returns a list', loginAnswers(body('[1]')), /should be an object or a scalar value, given "array"/, {
  api: login(),
})
http('a login that returns null', loginAnswers(body('null')), /should be an object or a scalar value, given "NULL"/, {
  api: login(),
})
http(
  'a login without the token',
  loginAnswers(body('{"tok":"x"}')),
  /User script error: Error evaluating user function - response 'token' not found!/,
  { api: login() },
)
http('a login whose token is an object', loginAnswers(body('{"token":{"a":1}}')), /response 'token' not found!/, { api: login() })
http(
  'a login that has expired already',
  loginAnswers(body('{"token":"t","until":"2001-01-01"}')),
  /expiry time before current time: '2001-01-01'/,
  { api: login({ expires: { response: 'until' } }) },
)
http(
  'a login with an expiry nobody can read',
  loginAnswers(body('{"token":"t","until":"whenever"}')),
  /expiry time before current time: 'whenever'/,
  { api: login({ expires: { response: 'until' } }) },
)
http(
  'a login that expires at once is repeated for every request',
  loginAnswers(body('{"token":"t"}')),
  { x: '"id"\n"1"\n' },
  { api: login({ expires: 0 }) },
)
http(
  'a login that redirects for ever',
  loginAnswers(status(302, { location: '/login' })),
  /Will not follow more than 5 redirects/,
  { api: login() },
)
http('a token with a line break', loginAnswers(body('{"token":"a\\r\\nX-Evil: 1"}')), /cannot be sent.*line breaks/s, {
  api: login(),
})
http('a login that never answers', (q, r) => (q.url === '/login' ? undefined : json(r, [])), /CURL error 28/, {
  api: { ...login(), retryConfig: { maxRetries: 0 } },
})

// --- children ---

http(
  'an item with a placeholder value full of tricks',
  (q, r) => (q.url === '/x' ? json(r, [{ id: 'a b\r\nX: y' }]) : json(r, [{ url: q.url }])),
  ({ error, tables }) => {
    assert.equal(error, undefined)
    assert.match(tables.child ?? '', /%0D%0A/)
  },
  { job: { children: [{ endpoint: 'c/{id}', dataType: 'child', placeholders: { id: 'id' } }] } },
)
http(
  'an item without the placeholder',
  (_q, r) => json(r, [{ nr: 1 }]),
  /No value found for id in parent result\. \(level: 1\)/,
  { job: { children: [{ endpoint: 'c/{id}', placeholders: { id: 'id' } }] } },
)

test('there are enough behaviours', () => assert.ok(behaviours >= 60, `${behaviours}`))
