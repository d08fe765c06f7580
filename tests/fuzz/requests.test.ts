// Any request gets an answer below 500 (501 and 503 excepted: they are answers), in bounded time, and the stack lives on.

import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { watchEventLoop } from '../support/event-loop.ts'
import { freshPostgres } from '../support/on-both-databases.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'

/** On each database. */
const REQUESTS = process.env.MILLRACE_LONG ? 20_000 : 2_000
const PARALLEL = 8

interface Paths {
  readonly paths: Record<string, Record<string, unknown>>
}

interface Wild {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1',
    '9007199254740993',
    'default',
    '..',
    '../../etc/passwd',
    '%00',
    '%2e%2e%2f',
    '__proto__',
    'constructor',
    '\u0000',
    'null',
    '{}',
    "' or 1=1 --",
    '\u202e',
    'a'.repeat(5000),
  ),
)
const jsonText = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.constantFrom(
    '{',
    '[]',
    'null',
    '""',
    '{"__proto__":{"a":1}}',
    `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`,
    '{"name":1e999}',
    '\ufeff{}',
  ),
)

/** Bodies that are nearly right reach further than chance does: real member names with wild values. */
const nearlyRight = fc
  .dictionary(
    fc.constantFrom(
      'name',
      'description',
      'configuration',
      'expiresIn',
      'bucketPermissions',
      'component',
      'message',
      'params',
      'dataFileId',
      'sizeBytes',
      'tags',
      'columns',
      'primaryKey',
      'rows',
      'state',
      'config',
      'limit',
      'stage',
      'isPublic',
      'cronTab',
      'timezone',
      'configurationId',
      'displayName',
      'displayName',
      'delimiter',
      'enclosure',
      'incremental',
      'whereColumn',
      'whereValues',
      'whereFilters',
      'orderBy',
      'changedSince',
      'provider',
      'metadata',
      'columnsMetadata',
      'aliasFilter',
      'sourceTable',
      'targetTableId',
      'definition',
      'primaryKeysNames',
    ),
    fc.oneof(fc.jsonValue({ maxDepth: 2 }), hostile),
    { maxKeys: 6 },
  )
  .map((value) => JSON.stringify(value))

const bodyWithType = fc.oneof(
  fc.record({ type: fc.constant('application/json'), text: fc.oneof(jsonText, nearlyRight) }),
  fc.record({
    type: fc.constant('application/x-www-form-urlencoded'),
    text: fc.oneof(hostile, fc.webQueryParameters(), fc.constantFrom('a[b][c]=1', 'a[]=1&a[]=2', 'a[[=1', '%zz')),
  }),
  fc.record({
    type: fc.constant('multipart/form-data; boundary=b'),
    text: fc.oneof(
      hostile,
      fc.constantFrom('--b\r\nContent-Disposition: form-data; name="x"\r\n\r\ny\r\n--b--\r\n', '--b\r\n\r\n--b--', '--b'),
    ),
  }),
  fc.record({
    type: fc.oneof(
      fc.constantFrom('text/plain', 'application/xml', '', ';', 'multipart/form-data'),
      fc.string({ maxLength: 10 }),
    ),
    text: hostile,
  }),
)

const wildRequest = (paths: readonly string[]): fc.Arbitrary<Wild> =>
  fc
    .record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
      template: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...paths) },
        { weight: 1, arbitrary: hostile.map((text) => `/${text}`) },
      ),
      parts: fc.array(fc.oneof(fc.constantFrom('1', '2', 'default', 'in.c-a', 'in.c-a.t', 'x'), hostile), {
        minLength: 4,
        maxLength: 4,
      }),
      prefix: fc.constantFrom('', '', '', '/v2/storage/branch/default', '/v2/storage/branch/1', '/v2/storage/branch/x'),
      query: fc.oneof(
        fc.constant(''),
        fc.webQueryParameters(),
        fc.constantFrom('limit=-1', 'limit=x&offset=1e9', 'q="', 'exclude=', 'a[b]=%zz', 'include=rows&sinceId=x'),
      ),
      payload: fc.option(bodyWithType, { nil: undefined }),
      extra: fc.dictionary(
        fc.constantFrom('accept-encoding', 'if-match', 'x-kbc-runid', 'x-forwarded-proto', 'range', 'host', 'expect'),
        fc.string({ maxLength: 20 }),
        { maxKeys: 2 },
      ),
    })
    .map(({ method, template, parts, prefix, query, payload, extra }) => {
      let i = 0
      const filled = template.replace(/\{\w+\}/g, () => encodeURIComponent((parts[i++ % parts.length] ?? '').toWellFormed()))
      const path = prefix !== '' && filled.startsWith('/v2/storage') ? prefix + filled.slice('/v2/storage'.length) : filled
      const headers = Object.fromEntries(
        Object.entries({ ...extra, ...(payload && { 'content-type': payload.type }) }).map(([name, value]) => [
          name,
          value.replace(/[^\x20-\x7e]/g, ''),
        ]),
      )
      return {
        method,
        path: safePath(path),
        query: query.replace(/[^\x21-\x7e]/g, ''),
        headers,
        body: payload && Buffer.from(payload.text),
      }
    })

/** Node's client refuses raw spaces and control characters; everything else goes out as it is. */
const safePath = (path: string): string =>
  path
    .replace(/[^\x21-\x7e]/g, (c) => (c.isWellFormed() ? encodeURIComponent(c) : '%ff'))
    .replaceAll('?', '%3f')
    .replaceAll('#', '%23')

for (const [title, make] of [
  ['SQLite', undefined],
  ['PostgreSQL', freshPostgres],
] as const)
  test(`no request of any kind gives a 5xx or a hang, on ${title}`, async (t) => {
    const database = await make?.()
    const stack = await startTestStack(t, database && { databaseUrl: (database.location as { url: string }).url })
    if (database) t.after(database.remove)
    watchEventLoop(t)
    await bombard(t, stack)
  })

async function bombard(t: TestContext, { url, masterToken, request }: TestStack): Promise<void> {
  const { paths } = (await request('GET', '/openapi.json')).json<Paths>()
  // Something to reach: a bucket and a table of the ids that addresses are filled with.
  await request('POST', '/v2/storage/buckets', { json: { name: 'a' } })
  await request('POST', '/v2/storage/buckets/in.c-a/tables', { form: { name: 't', dataString: 'id,v\n1,2\n' } })
  // Not the one route that would take our token from us: everything after it would be a 401.
  const templates = Object.keys(paths).filter((path) => !path.startsWith('/metrics') && !path.endsWith('/tokens/{id}/refresh'))
  const seed = Number(process.env.MILLRACE_SEED ?? Date.now() % 1_000_000_000)
  t.diagnostic(`seed ${seed}; repeat with MILLRACE_SEED=${seed}`)
  const wild = fc.sample(wildRequest(templates), { seed, numRuns: REQUESTS })
  let next = 0
  const worker = async () => {
    for (let wildOne = wild[next++]; wildOne; wildOne = wild[next++]) {
      const { status, text } = await sendWild(url, masterToken, wildOne)
      const isAnswer = status < 500 || status === 501 || status === 503 || status === 507
      assert.ok(
        isAnswer,
        `${status} for ${wildOne.method} ${wildOne.path}?${wildOne.query} ${JSON.stringify(wildOne.headers)} ${wildOne.body}\n${text}`,
      )
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  assert.equal((await request('GET', '/ready')).status, 200)
  // Jobs that were started on the way fail by their input, never by our fault.
  assert.equal((await request('GET', '/v2/storage/tokens/verify')).status, 200)
  const failed = (await request('GET', '/v2/storage/jobs?limit=10000&storage_job_status[]=error')).json<
    { operationName: string; operationParams: unknown; error: { code: string; message: string } }[]
  >()
  const ours = failed.filter(({ error }) => ['internalError', 'tableEngine.failed'].includes(error.code))
  assert.deepEqual(ours, [])
}

function sendWild(
  url: string,
  token: string,
  { method, path, query, headers, body }: Wild,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const outgoing = httpRequest(
      {
        hostname,
        port,
        method,
        path: query === '' ? path : `${path}?${query}`,
        headers: { 'X-StorageApi-Token': token, ...headers, ...(body && { 'content-length': String(body.length) }) },
        timeout: 240_000, // no answer at all
      },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
        response.on('error', reject)
      },
    )
    outgoing.on('timeout', () =>
      outgoing.destroy(new Error(`no answer in 20 s: ${method} ${path} ${JSON.stringify(headers)} ${body}`)),
    )
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve({ status: 400, text: error.code })
      else reject(error)
    })
    outgoing.end(body)
  })
}
