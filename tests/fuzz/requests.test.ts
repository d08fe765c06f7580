// Any request with any kind of token gets an answer below 500 (501 and 503 excepted: they are answers), in bounded time, and the stack
// lives on. Without a valid token nothing succeeds that needs one, and what succeeds has a media type that the API document names.
// `MILLRACE_TEST_FUZZ_REQUESTS` sets how many.

import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../support/any-text.ts'
import { count, SEED } from '../support/chance.ts'
import { watchEventLoop } from '../support/event-loop.ts'
import { migratedPostgres } from '../support/fresh-databases.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

/** On each database. */
const REQUESTS = Number(process.env.MILLRACE_TEST_FUZZ_REQUESTS ?? (process.env.MILLRACE_LONG ? 50_000 : 2_000))
const PARALLEL = 8
/** Made at a time, so that memory does not grow with their number. */
const BATCH = 1_000

const TOKENS = ['master', 'limited', 'foreign', 'expired', 'none'] as const
type TokenKind = (typeof TOKENS)[number]

interface Operation {
  readonly 'x-required-right': string
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
}

interface Paths {
  readonly paths: Record<string, Record<string, Operation>>
}

interface Wild {
  readonly token: TokenKind
  /** The address as the API document writes it. */
  readonly template: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

const hostile = fc.oneof(
  anyText(40),
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

interface Target {
  readonly method: string
  readonly template: string
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

const wildRequest = (operations: readonly Target[]): fc.Arbitrary<Wild> =>
  fc
    .record({
      // Most of what there is to reach, only the master token reaches.
      token: fc.oneof(
        { weight: 5, arbitrary: fc.constant<TokenKind>('master') },
        { weight: 5, arbitrary: fc.constantFrom(...TOKENS) },
      ),
      target: fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom(...operations) },
        { weight: 1, arbitrary: fc.record({ method: fc.constantFrom(...METHODS), template: hostile.map((text) => `/${text}`) }) },
        {
          weight: 1,
          arbitrary: fc.record({
            method: fc.constantFrom(...METHODS),
            template: fc.constantFrom(...operations).map(({ template }) => template),
          }),
        },
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
    .map(({ token, target: { method, template }, parts, prefix, query, payload, extra }) => {
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
        token,
        template,
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
  ['PostgreSQL', migratedPostgres],
] as const)
  test(`no request of any kind gives a 5xx or a hang, on ${title}`, async (t) => {
    const database = await make?.()
    const stack = await startTestStack(t, database && { databaseUrl: (database.location as { url: string }).url })
    if (database) t.after(database.remove)
    watchEventLoop(t)
    await bombard(t, stack)
  })

async function bombard(t: TestContext, stack: TestStack): Promise<void> {
  const { request } = stack
  const { paths } = (await request('GET', '/openapi.json')).json<Paths>()
  // Something to reach: a bucket and a table of the ids that addresses are filled with.
  await request('POST', '/v2/storage/buckets', { json: { name: 'a' } })
  await request('POST', '/v2/storage/buckets/in.c-a/tables', { form: { name: 't', dataString: 'id,v\n1,2\n' } })
  const tokens = await tokensOf(stack)
  // Not the one route that would take our token from us: everything after it would be a 401.
  const operations = Object.entries(paths)
    .filter(([path]) => !path.startsWith('/metrics') && !path.endsWith('/tokens/{id}/refresh'))
    .flatMap(([template, methods]) => Object.keys(methods).map((method) => ({ method: method.toUpperCase(), template })))
  t.diagnostic(`seed ${SEED}; repeat with MILLRACE_SEED=${SEED}`)
  const statuses = new Map<number, number>()
  const sendOne = async (wild: Wild): Promise<void> => {
    const answer = await sendWild(stack.url, tokens[wild.token], wild)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const complaint = complaintAbout(answer, wild, paths[wild.template]?.[wild.method.toLowerCase()])
    if (complaint)
      assert.fail(
        `${complaint}: ${answer.status} for ${wild.method} ${wild.path}?${wild.query} (${wild.token}) ${JSON.stringify(wild.headers)} ${wild.body}\n${answer.text}`,
      )
  }
  for (let sent = 0; sent < REQUESTS; sent += BATCH) {
    const batch = fc.sample(wildRequest(operations), { seed: SEED + sent, numRuns: Math.min(BATCH, REQUESTS - sent) })
    const worker = async () => {
      for (let wild = batch.pop(); wild; wild = batch.pop()) await sendOne(wild)
    }
    const size = batch.length
    await Promise.all(Array.from({ length: PARALLEL }, worker))
    count('requests', size)
  }
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`)
  t.diagnostic(`${REQUESTS} requests: ${counts.join(', ')}`)
  assert.equal((await request('GET', '/ready')).status, 200)
  // Jobs that were started on the way fail by their input, never by our fault.
  assert.equal((await request('GET', '/v2/storage/tokens/verify')).status, 200)
  const failed = (await request('GET', '/v2/storage/jobs?limit=10000&storage_job_status[]=error')).json<
    { operationName: string; operationParams: unknown; error: { code: string; message: string } }[]
  >()
  const ours = failed.filter(({ error }) => ['internalError', 'tableEngine.failed'].includes(error.code))
  assert.deepEqual(ours, [])
}

async function tokensOf({
  request,
  masterToken,
  newProject,
}: TestStack): Promise<Readonly<Record<TokenKind, string | undefined>>> {
  const create = async (json: object) => (await request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>().token
  const limited = await create({ bucketPermissions: { 'in.c-a': 'read' }, componentAccess: ['keboola.ex-generic-v2'] })
  const expired = await create({ expiresIn: 1 })
  await until(
    'the token has expired',
    async () => (await request('GET', '/v2/storage/tokens/verify', { token: expired })).status === 401,
  )
  return { master: masterToken, limited, expired, foreign: (await newProject()).masterToken, none: undefined }
}

/** What must never be so; undefined when all is well. */
function complaintAbout(answer: WildAnswer, wild: Wild, operation: Operation | undefined): string | undefined {
  const { status } = answer
  if (status >= 500 && ![501, 503, 507].includes(status)) return 'a failure of ours'
  if (!operation || status < 200 || status > 299) return undefined
  const isKnown = wild.token !== 'none' && wild.token !== 'expired'
  // An empty rest of an address leaves the root of its service, which describes it.
  const isRoot = wild.template === '/mlflow/{path}' && /^\/mlflow\/*$/.test(wild.path)
  if (!isKnown && !isRoot && operation['x-required-right'] !== 'nothing') return 'a success without a valid token'
  const { content } = operation.responses[status] ?? {}
  const mediaType = (answer.contentType ?? '').split(';')[0]!.trim()
  if (content && mediaType !== '' && !(mediaType in content) && !('application/octet-stream' in content))
    return `an undocumented ${mediaType}`
  return undefined
}

interface WildAnswer {
  readonly status: number
  readonly text: string
  readonly contentType?: string | undefined
}

function sendWild(url: string, token: string | undefined, { method, path, query, headers, body }: Wild): Promise<WildAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const outgoing = httpRequest(
      {
        hostname,
        port,
        method,
        path: query === '' ? path : `${path}?${query}`,
        headers: {
          ...(token && { 'X-StorageApi-Token': token }),
          ...headers,
          ...(body && { 'content-length': String(body.length) }),
        },
        timeout: 240_000, // no answer at all
      },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => {
          text += chunk
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text, contentType: response.headers['content-type'] }),
        )
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
