// Manifests and APIs that mean harm, or are merely wrong: each ends with a sentence, within limits.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Deps } from '../src/component.ts'
import { planCursor } from '../src/cursors/datetime-cursor.ts'
import { createPartitionCursor } from '../src/cursors/partition-cursor.ts'
import { createResponseCache } from '../src/http/cache.ts'
import { HttpResponse } from '../src/http/response.ts'
import { createInterpolator } from '../src/jinja/interpolate.ts'
import { loadManifest } from '../src/manifest/load.ts'
import { createRouter, type RouterDeps } from '../src/partitions/router.ts'
import { EMPTY_SLICE } from '../src/partitions/slice.ts'
import { createSource } from '../src/source.ts'
import { type PyDatetime, Timedelta } from '../src/time/datetime.ts'
import { parseIso } from '../src/time/formats.ts'
import type { Case } from './case.ts'
import { engine } from './engine.ts'

const expressions = createInterpolator(() => parseIso('2026-03-15T12:00:00Z'))
const value = (template: string) => expressions.value(template, { config: { a: 'x' } })

test('an expression that does not end or grows without bound is stopped', () => {
  assert.throws(() => value("{{ 'a' * 1000000000 }}"), /more than 16777216 characters/)
  assert.throws(() => value('{{ [0] * 10000000 }}'), /more than 1000000 steps/)
  const loops = (depth: number): string =>
    depth === 0 ? 'x' : `{% for i in '${'a'.repeat(50)}' %}${loops(depth - 1)}{% endfor %}`
  assert.throws(() => value(loops(6)), /more than 1000000 steps/)
  assert.throws(() => value('{{ 2 ** 99999999 }}'), /too large/)
  assert.throws(() => value(`{{ ${'('.repeat(500)}1${')'.repeat(500)} }}`), /nested deeper than 100/)
  assert.throws(() => value("{{ '%999999999d' % 1 }}"), /too large/)
  assert.throws(() => value("{{ ('\\t' * 2000).expandtabs(10000)|length }}"), /built more than/)
})

test('a regular expression that goes back without end is stopped, or goes on in linear time', () => {
  const text = `${'a'.repeat(5000)}b`
  const search = (regex: string) =>
    expressions.value("{{ config['t'] | regex_search(config['r']) }}", { config: { t: text, r: regex } })
  assert.equal(search('^((a+)+)$'), '')
  assert.equal(search('((?:a|aa)+)c'), '')
  assert.throws(() => search('((a+)+)(?=c)d'), /did not end within 1000 ms/)
  const replaced = (regex: string) =>
    expressions.value("{{ config['t'] | regex_replace(config['r'], '') }}", { config: { t: text, r: regex } })
  assert.throws(() => replaced('(a+)+(?=c)d'), /did not end within 1000 ms/)
  assert.equal(replaced('(a+)+c'), text)
})

test('an expression reaches no attribute, file or variable outside the tables', () => {
  for (const template of [
    "{{ ''.__class__ }}",
    '{{ config.__class__.__mro__ }}',
    "{{ config['constructor'] }}",
    '{{ config.toString }}',
    '{{ now_utc.__globals__ }}',
    "{{ ''['__class__'] }}",
    '{{ config.__proto__ }}',
  ])
    assert.ok([''].includes(String(tried(template))), `${template} gave ${String(tried(template))}`)
  assert.throws(() => value('{{ process.env }}'), /the variable 'process', which does not exist/)
  assert.throws(() => value('{{ range(5) }}'), /the variable 'range', which does not exist/)
  assert.equal(value("{% include '/etc/passwd' %}"), "{% include '/etc/passwd' %}") // no other template exists
})

/** Empty, or refused because the value is undefined. */
function tried(template: string): unknown {
  try {
    return value(template)
  } catch (error) {
    assert.match(String(error), /has no attribute/)
    return ''
  }
}

const HEAD = 'version: 6.1.0\ntype: DeclarativeSource\ncheck: {type: CheckStream, stream_names: [a]}\n'

test('references in a circle and references that multiply are refused', () => {
  assert.throws(
    () =>
      loadManifest(
        `${HEAD}definitions: {a: {$ref: "#/definitions/b"}, b: {$ref: "#/definitions/a"}}\nstreams: ["#/definitions/a"]`,
      ),
    /leads back to itself/,
  )
  const bomb = Array.from(
    { length: 12 },
    (_, i) => `  d${i}: [${Array.from({ length: 10 }, () => `"#/definitions/d${i + 1}"`).join(', ')}]`,
  )
  assert.throws(() => loadManifest(`${HEAD}definitions:\n${bomb.join('\n')}\n  d12: x\nstreams: []`), /more than 3000000 nodes/)
  const aliases = Array.from(
    { length: 9 },
    (_, i) => `  a${i}: &a${i} [${Array.from({ length: 10 }, () => (i === 0 ? 'x' : `*a${i - 1}`)).join(', ')}]`,
  )
  assert.throws(
    () => loadManifest(`${HEAD}definitions:\n${aliases.join('\n')}\nstreams: []`),
    /aliases too often|more than 3000000 nodes/,
  )
})

test('a broken manifest names the line, the path and the nearest name', () => {
  assert.throws(() => loadManifest(`${HEAD}streams: [`), /not valid YAML: .*\(line \d+, column \d+\)/)
  assert.throws(
    () => loadManifest(`${HEAD}streams: ["#/definitons/a"]\ndefinitions: {a: 1}`),
    /names 'definitons', which does not exist. Did you mean 'definitions'\?/,
  )
  assert.throws(
    () => loadManifest(`${HEAD}streams:\n  - type: DeclarativeStream\n    retreiver: {}`),
    /streams\.0 \(line \d+\): the required field 'retriever' of DeclarativeStream is missing. Found 'retreiver'/,
  )
  assert.throws(() => loadManifest('[]'), /not an object/)
  const stream = (authenticator: string) =>
    `${HEAD}streams: [{type: DeclarativeStream, name: a, retriever: {type: SimpleRetriever, requester: {type: HttpRequester, url_base: "https://a.example", authenticator: {type: ${authenticator}}}, record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}}}]`
  assert.throws(
    () => loadManifest(stream('RateLimitedMultipleTokenAuthenticator')),
    /authenticator\.type \(line 4\): the component type 'RateLimitedMultipleTokenAuthenticator' exists since version 7\.24\.0 of the format and is not supported/,
  )
  assert.throws(() => loadManifest(stream('Quux')), /'Quux' is unknown\. This engine supports the types of version 7\.39/)
})

/** A manifest with one stream of an API on this port of loopback, read. */
function readStream(
  port: number,
  ofRetriever: object,
  ofStream: object = {},
  ofRequester: object = {},
  instant?: () => PyDatetime,
) {
  const retriever = {
    type: 'SimpleRetriever',
    requester: { type: 'HttpRequester', url_base: `http://127.0.0.1:${port}`, path: 'a', ...ofRequester },
    record_selector: { type: 'RecordSelector', extractor: { type: 'DpathExtractor', field_path: ['items'] } },
    ...ofRetriever,
  }
  const manifest = {
    version: '6.1.0',
    type: 'DeclarativeSource',
    check: { type: 'CheckStream', stream_names: ['a'] },
    streams: [{ type: 'DeclarativeStream', name: 'a', retriever, ...ofStream }],
  }
  const given = { name: 'hostile', now: '2026-03-15T12:00:00Z', manifest, config: {}, streams: [{ name: 'a' }] }
  return engine(given as unknown as Case, instant) // the rest of a case is for the comparison
}

test('an API that gives the same page for ever is asked a hundred times, and the reason is named', async (t) => {
  let count = 0
  const server = createServer((_request, response) => {
    count++
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[{"id":1}]}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const paginator = {
    type: 'DefaultPaginator',
    page_token_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'page' },
    pagination_strategy: { type: 'PageIncrement', page_size: 1 },
  }
  const outcome = await readStream((server.address() as AddressInfo).port, { paginator })
  assert.ok(outcome.failed)
  assert.match(outcome.why, /the same page 100 times in a row .* it ignores the page of the request/)
  assert.ok(count <= 102, `${count} requests`)
})

test('an API whose pages go in a circle is stopped, and one with as many pages that differ or are empty is not', async (t) => {
  let count = 0
  let kind: 'circle' | 'empty' | 'long' = 'circle'
  const server = createServer((request, response) => {
    count++
    const page = Number(new URL(request.url ?? '', 'http://api').searchParams.get('cursor') ?? 0)
    const next = page < 400 ? page + 1 : undefined
    if (kind === 'circle') return void response.end(JSON.stringify({ items: [{ id: page }], next: (page % 3) + 1 }))
    if (next !== undefined) response.setHeader('X-Next', String(next))
    const isEmpty = kind === 'empty' && page % 2 === 0
    response.end(JSON.stringify({ items: isEmpty ? [] : [{ id: page }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const read = (cursor_value: string) =>
    readStream((server.address() as AddressInfo).port, {
      paginator: {
        type: 'DefaultPaginator',
        page_token_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'cursor' },
        pagination_strategy: { type: 'CursorPagination', cursor_value },
      },
    })
  const circle = await read("{{ response.get('next') }}")
  assert.ok(circle.failed)
  assert.match(circle.why, /The pages of the API go in a circle .*: 100 times a page came again after others/)
  assert.ok(count <= 400, `${count} requests`)
  for (const other of ['empty', 'long'] as const) {
    kind = other
    count = 0
    const outcome = await read("{{ headers['X-Next'] }}")
    assert.deepEqual([outcome.failed, outcome.why, count], [false, '', 401])
  }
})

test('429 again and again: every wait is the one that the API names, every page is read once, and a refusal for good ends', async (t) => {
  const PARTITIONS = 60
  const tries = new Map<string, number>()
  let refusesForGood = false
  const server = createServer((request, response) => {
    const count = (tries.get(request.url ?? '') ?? 0) + 1
    tries.set(request.url ?? '', count)
    if (count > 4 && !refusesForGood) return void response.end(`{"items":[{"id":"${request.url}"}]}`)
    response.writeHead(429, { 'Retry-After': '7' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const values = Array.from({ length: PARTITIONS }, (_, i) => String(i + 1))
  const option = { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'part' }
  const router = { type: 'ListPartitionRouter', values, cursor_field: 'part', request_option: option }
  const backoff = [{ type: 'WaitTimeFromHeader', header: 'Retry-After' }]
  const read = () =>
    readStream(
      (server.address() as AddressInfo).port,
      { partition_router: router },
      {},
      { error_handler: { type: 'DefaultErrorHandler', backoff_strategies: backoff } },
    )
  const good = await read()
  assert.deepEqual([good.failed, good.why], [false, ''])
  assert.equal(new Set(good.records.a?.map((record) => (record as { id: string }).id)).size, PARTITIONS)
  assert.deepEqual([good.waits.length, new Set(good.waits)], [4 * PARTITIONS, new Set([8])])

  refusesForGood = true
  tries.clear()
  const refused = await read()
  assert.ok(refused.failed)
  assert.match(refused.why, /failed with status 429/)
  assert.deepEqual(new Set(tries.values()), new Set([6]))
})

test('tokens that expire between two pages, early or late, are renewed: every page is read once', async (t) => {
  const PAGES = 12
  const USES = 3
  for (const isRevoked of [false, true]) {
    let [issued, uses, refused, seconds] = [0, 0, 0, 0]
    const served: number[] = []
    const server = createServer((request, response) => {
      if (request.url?.startsWith('/token')) {
        issued++
        uses = 0
        response.end(JSON.stringify({ access_token: `token-${issued}`, expires_in: isRevoked ? 3600 : 10 }))
        return
      }
      const isGood = request.headers.authorization === `Bearer token-${issued}` && uses < USES
      if (!isGood) {
        refused++
        response.writeHead(401).end('{}')
        return
      }
      uses++
      if (!isRevoked) seconds += 4
      const page = Number(new URL(request.url ?? '', 'http://api').searchParams.get('page') ?? 0)
      served.push(page)
      response.end(JSON.stringify({ items: page < PAGES ? [{ id: page }] : [] }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const start = parseIso('2026-03-15T12:00:00Z').inUtc()
    const outcome = await readStream(
      port,
      {
        paginator: {
          type: 'DefaultPaginator',
          page_token_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'page' },
          pagination_strategy: { type: 'PageIncrement', inject_on_first_request: true },
        },
      },
      {},
      {
        authenticator: {
          type: 'OAuthAuthenticator',
          token_refresh_endpoint: `http://127.0.0.1:${port}/token`,
          client_id: 'id',
          client_secret: 'a client secret',
          refresh_token: 'a refresh token',
        },
        error_handler: {
          type: 'DefaultErrorHandler',
          response_filters: [{ type: 'HttpResponseFilter', http_codes: [401], action: 'REFRESH_TOKEN_THEN_RETRY' }],
        },
      },
      () => start.plus(new Timedelta(seconds)),
    )
    assert.deepEqual([outcome.failed, outcome.why], [false, ''])
    assert.deepEqual(
      served,
      Array.from({ length: PAGES + 1 }, (_, i) => i),
    )
    assert.equal(outcome.records.a?.length, PAGES)
    // A token that is known to expire is renewed before; one that the API no longer accepts costs one refusal.
    assert.deepEqual([issued, refused], isRevoked ? [5, 4] : [5, 0])
  }
})

test('after a thousand partitions that fail the others are not tried', async (t) => {
  let count = 0
  const server = createServer((_request, response) => {
    count++
    response.writeHead(403).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const values = Array.from({ length: 1500 }, (_, i) => String(i))
  const outcome = await readStream((server.address() as AddressInfo).port, {
    partition_router: { type: 'ListPartitionRouter', values, cursor_field: 'part' },
  })
  assert.ok(outcome.failed)
  assert.match(outcome.why, /1000 partitions or windows failed\. The others were not read\.$/)
  assert.equal(count, 1000)
})

test('answers of parents are kept as they came, and very many small ones do not fill the memory with what each takes beside its body', async () => {
  let sent = 0
  const send = createResponseCache(2 ** 20).wrap(async ({ url }) => {
    sent++
    return new HttpResponse(200, [], Buffer.from('{"a":1}'), url)
  })
  const request = { method: 'GET', url: 'http://api/twice', headers: {} }
  Object.assign((await send(request)).json() as object, { a: 2 }) // as a transformation of one of the streams
  assert.deepEqual([(await send(request)).json(), sent], [{ a: 1 }, 1])
  sent = 0
  for (let round = 0; round < 2; round++)
    for (let i = 0; i < 5000; i++) await send({ method: 'GET', url: `http://api/parents/${i}`, headers: {} })
  const kept = 10_000 - sent
  assert.ok(kept > 100 && kept <= 512, `${kept} of 5000 answers in a cache of 1 MiB`)
})

test('what a manifest asks for and the engine leaves out is a warning', async () => {
  const requester = '{type: HttpRequester, url_base: "https://a.example"}'
  const selector = '{type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}'
  const manifest = loadManifest(
    `${HEAD}stream_groups: {g: {streams: [], action: {type: BlockSimultaneousSyncsAction}}}\nstreams: [{type: DeclarativeStream, name: a, file_uploader: {type: FileUploader, requester: ${requester}, download_target_extractor: {type: DpathExtractor, field_path: [url]}}, retriever: {type: SimpleRetriever, requester: ${requester}, record_selector: ${selector}}}]`,
  )
  const warnings: string[] = []
  const now = () => parseIso('2026-03-15T12:00:00Z').inUtc()
  const source = createSource(
    manifest,
    {},
    {
      clock: { now, instant: now, elapsed: () => 0, wait: async () => {} },
      send: async () => assert.fail('nothing is requested'),
      hide: () => {},
      warn: (message) => warnings.push(message),
      saveConfig: () => {},
    },
  )
  await source.stream('a', undefined)
  assert.equal(warnings.length, 2)
  assert.match(warnings[0]!, /^The stream_groups of the manifest have no effect/)
  assert.match(warnings[1]!, /^The stream 'a' has a file_uploader: its records are read, its files are not\.$/)
})

test('a stream with components in Python is refused by name', async () => {
  const outcome = await readStream(
    1,
    {},
    { schema_loader: { type: 'CustomSchemaLoader', class_name: 'source.components.Loader' } },
  )
  assert.ok(outcome.failed)
  assert.match(outcome.why, /needs the component 'CustomSchemaLoader', which is Python code/)
})

test('parents are read one by one: beyond the partitions that a state keeps, memory does not grow with them', async (t) => {
  const PAGE = 1000
  const PARENTS = 30_000
  const router = createRouter(
    {
      type: 'SubstreamPartitionRouter',
      parent_stream_configs: [
        { type: 'ParentStreamConfig', parent_key: 'id', partition_field: 'pid', stream: { name: 'parents' } },
      ],
    },
    {
      config: {},
      expressions,
      childState: undefined,
      createParent: () => ({
        name: 'parents',
        state: () => ({}),
        async *records() {
          for (let page = 0; page < PARENTS / PAGE; page++)
            for (let i = 0; i < PAGE; i++) yield { record: { id: page * PAGE + i, text: 'x'.repeat(200) }, slice: EMPTY_SLICE }
        },
      }),
    } as unknown as RouterDeps, // what the router uses
  )
  const plan = planCursor(
    { type: 'DatetimeBasedCursor', cursor_field: 'u', datetime_format: '%Y-%m-%d', start_datetime: '2026-03-01' },
    { config: {}, expressions, clock: { now: () => parseIso('2026-03-15T12:00:00Z').inUtc() } } as unknown as Deps, // what a plan uses
  )
  const cursor = createPartitionCursor({ plan, router: router!, state: undefined, useGlobal: false, elapsed: () => 0 })
  let count = 0
  let early = 0
  for await (const slice of cursor.slices()) {
    cursor.observe({ u: '2026-03-10' }, slice)
    cursor.close(slice)
    if (++count === 15_000) early = usedHeap()
  }
  cursor.finish()
  assert.equal(count, PARENTS)
  assert.ok(usedHeap() - early < 8 * 2 ** 20, `${usedHeap() - early} bytes more than after 15,000`)
  const state = cursor.state()
  assert.deepEqual([state.use_global_cursor, state.state], [true, { u: '2026-03-10' }])
  t.diagnostic(`${Math.round(usedHeap() / 2 ** 20)} MiB`)
})

function usedHeap(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed
}

test('a schema that contains itself by reference is refused, and one that is deep is not', () => {
  assert.throws(
    () =>
      loadManifest(
        `${HEAD}definitions: {node: {type: object, properties: {next: {$ref: "#/definitions/node"}}}}\nstreams: [{type: DeclarativeStream, name: a, schema_loader: {type: InlineSchemaLoader, schema: {$ref: "#/definitions/node"}}, retriever: {type: SimpleRetriever, requester: {type: HttpRequester, url_base: "https://a.example"}, record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}}}]`,
      ),
    /leads back to itself/,
  )
})
