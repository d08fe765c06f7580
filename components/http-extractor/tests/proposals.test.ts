// What the builder actions propose: from an answer, from the description of an API, from the recording of a browser. A proposal counts when
// a run with it gives the tables that it should.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runAction } from '../src/actions/actions.ts'
import { readConfiguration } from '../src/configuration/configuration.ts'
import { createEgress } from '../src/http/egress.ts'
import { OPEN } from '../src/http/egress-policy.ts'
import type { JsonObject } from '../src/json/json.ts'
import { parseJson } from '../src/json/parse.ts'
import { exactJson } from '../src/json/text.ts'
import { createLog } from '../src/log.ts'
import { createRedactor } from '../src/redaction.ts'
import { openWire } from '../src/wire.ts'
import { extract, type Handler, json, serve } from './harness.ts'

interface Proposal<T> {
  readonly value: T
  readonly reason: string
}

interface Row {
  readonly name: string
  readonly configuration: { readonly parameters: { readonly config: { readonly jobs: readonly object[] } } }
}

/** What the actions answer, taken together. */
interface Answer {
  readonly dataField: Proposal<string>
  readonly pagination: Proposal<object | null>
  readonly primaryKey: Proposal<readonly string[]>
  readonly incremental: Proposal<{ readonly column: string }>
  readonly columns: readonly { readonly path: string; readonly type: string }[]
  readonly mapping: object
  readonly parameters: { readonly api: Readonly<Record<string, unknown>>; readonly config: Readonly<Record<string, unknown>> }
  readonly rows: readonly Row[]
  readonly notes: readonly string[]
}

async function act(name: string, parameters: object): Promise<Answer> {
  const file = parseJson(JSON.stringify({ action: name, parameters })) as JsonObject
  const redactor = createRedactor()
  const log = createLog({ debug: false, redactor, write: () => {} })
  const configuration = () => readConfiguration(file)
  const now = () => Date.now()
  const sleep = (_seconds: number, signal?: AbortSignal) =>
    new Promise<void>((_done, fail) => signal?.addEventListener('abort', () => fail(new Error('ended'))))
  const deps = { dataDir: '/nowhere', egress: createEgress(OPEN), now, sleep, log }
  return JSON.parse(
    exactJson(
      await runAction(name, {
        ...deps,
        redactor,
        file,
        configuration,
        openWire: (plan) => openWire(configuration(), plan, deps),
      }),
    ),
  )
}

const suggestFor = async (t: TestContext, handler: Handler, api: object = {}) => {
  const { url } = await serve(t, handler)
  return act('suggest', { api: { baseUrl: url, ...api }, config: { jobs: [{ endpoint: 'users' }] } })
}

test('suggest finds items, pages, key, columns and increment, and its configuration reads everything', async (t) => {
  const { url } = await serve(t, (q, r) => {
    const page = Number(new URL(q.url!, 'http://x').searchParams.get('cursor') ?? 0)
    const users = [0, 1].map((i) => ({
      id: page * 2 + i,
      kind: 'x',
      address: { city: 'Brno', zip: null },
      score: i + 0.5,
      vip: i === 0,
      updated_at: `2026-01-0${i + 1}T10:00:00Z`,
      tags: ['a', 'b'],
      lines: [{ sku: 'A' }],
    }))
    json(r, { data: { users, warnings: [] }, meta: { next_cursor: page < 2 ? page + 1 : null } })
  })
  const found = await act('suggest', { api: { baseUrl: url }, config: { jobs: [{ endpoint: 'users' }] } })
  assert.equal(found.dataField.value, 'data.users')
  assert.match(found.dataField.reason, /most likely of its lists \(also: data\.warnings\), with 2 elements/)
  assert.deepEqual(found.pagination.value, {
    method: 'response.param',
    responseParam: 'meta.next_cursor',
    queryParam: 'cursor',
    includeParams: true,
  })
  assert.match(found.pagination.reason, /is a guess: look it up/)
  assert.deepEqual(found.primaryKey.value, ['id'])
  assert.equal(found.incremental.value.column, 'updated_at')
  assert.deepEqual(
    found.columns.map(({ path, type }) => `${path} ${type}`),
    [
      'id INTEGER',
      'kind STRING',
      'address.city STRING',
      'address.zip STRING',
      'score NUMERIC',
      'vip BOOLEAN',
      'updated_at TIMESTAMP',
    ],
  )

  const { error, tables, manifests } = await extract({ parameters: found.parameters })
  assert.equal(error, undefined)
  assert.equal(tables.users!.trim().split('\n').length, 7, 'three pages of two, and the header')
  assert.deepEqual(manifests['users.manifest'], { incremental: false, primary_key: ['id'] })

  const { api, config } = found.parameters
  const { primaryKey: _, ...rest } = config
  const mapped = await extract({ parameters: { api, config: { ...rest, mappings: { users: found.mapping } } } })
  assert.equal(mapped.error, undefined)
  assert.deepEqual(Object.keys(mapped.tables).sort(), ['lines', 'tags', 'users'])
  assert.equal(mapped.tables.tags, `"value","users_pk"\n${[0, 1, 2, 3, 4, 5].map((id) => `"a","${id}"\n"b","${id}"\n`).join('')}`)
})

test('suggest knows the usual ways to page', async (t) => {
  const items = [{ id: 1 }, { id: 2 }]
  const paginationOf = async (body: unknown, headers: Record<string, string> = {}) =>
    (await suggestFor(t, (_q, r) => json(r, body, 200, headers))).pagination.value
  assert.deepEqual(await paginationOf(items, { link: '</users?page=2>; rel="next"' }), { method: 'response.link' })
  assert.deepEqual(await paginationOf({ items, links: { next: 'https://x/y?p=2' } }), {
    method: 'response.url',
    urlKey: 'links.next',
  })
  assert.deepEqual(await paginationOf({ items, next: 'b3JkZXI6MQ' }), {
    method: 'response.param',
    responseParam: 'next',
    queryParam: 'after',
    includeParams: true,
  })
  assert.deepEqual(await paginationOf({ items, page: 1, next: 2 }), { method: 'pagenum' })
  assert.deepEqual(await paginationOf({ items, offset: 0, total: 9 }), { method: 'offset', limit: 2, offsetParam: 'offset' })
  assert.deepEqual(await paginationOf({ items, page: 1, total_pages: 4 }), { method: 'pagenum' })
  assert.deepEqual(await paginationOf({ items, has_more: true }), {
    method: 'pagenum',
    nextPageFlag: { field: 'has_more', stopOn: false },
  })
  assert.equal(await paginationOf({ items }), null)
  assert.equal(await paginationOf(items), null)
})

test('suggest names the size of a page as the request or the response does, and adds no parameter of its own', async (t) => {
  const items = [{ id: 1 }, { id: 2 }]
  const { url } = await serve(t, (q, r) =>
    json(r, q.url!.includes('/own') ? { items, page: 1 } : { items, page: 1, page_size: 2 }),
  )
  const paginationOf = async (endpoint: string, params: object) =>
    (await act('suggest', { api: { baseUrl: url }, config: { jobs: [{ endpoint, params }] } })).pagination.value
  assert.deepEqual(await paginationOf('own', { per_page: 2 }), { method: 'pagenum', limit: 2, limitParam: 'per_page' })
  assert.deepEqual(await paginationOf('own', { limit: 2 }), { method: 'pagenum', limit: 2 })
  assert.deepEqual(await paginationOf('repeated', {}), { method: 'pagenum', limit: 2, limitParam: 'page_size' })
  assert.deepEqual(await paginationOf('own', {}), { method: 'pagenum' })
})

test('suggest changes nothing that is already configured, and says when there is nothing to learn from', async (t) => {
  const found = await suggestFor(t, (_q, r) => json(r, { items: [] }), { pagination: { method: 'pagenum' } })
  assert.deepEqual(found.parameters.api.pagination, { method: 'pagenum' })
  assert.match(found.primaryKey.reason, /no items to learn from/)
})

const openapi = (url: string) => ({
  openapi: '3.0.0',
  servers: [{ url: `${url}{version}`, variables: { version: { default: 'v1' } } }],
  components: {
    securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Users: { type: 'object', properties: { users: { type: 'array', items: { type: 'object' } }, total: { type: 'integer' } } },
    },
    parameters: { Page: { name: 'page', in: 'query', schema: { type: 'integer' } } },
  },
  paths: {
    '/users': {
      get: {
        summary: 'All users',
        parameters: [
          { $ref: '#/components/parameters/Page' },
          { name: 'kind', in: 'query', required: true, schema: { default: 'all' } },
        ],
        responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Users' } } } } },
      },
      post: { responses: {} },
    },
    '/users/{userId}': { get: { responses: { 200: { content: { 'application/json': { schema: { type: 'object' } } } } } } },
    '/users/{userId}/orders': {
      get: { responses: { 200: { content: { 'application/json': { schema: { type: 'array', items: {} } } } } } },
    },
    '/teams/{teamId}/members': {
      get: { responses: { 200: { content: { 'application/json': { schema: { type: 'array', items: {} } } } } } },
    },
  },
})

test('the description of an API becomes a configuration that runs', async (t) => {
  const { url, seen } = await serve(t, (q, r) => {
    if (q.headers.authorization !== 'Bearer secret-token') return json(r, {}, 401)
    if (q.url === '/v1/users?page=1&kind=all' || q.url === '/v1/users?kind=all&page=1')
      return json(r, { users: [{ id: 7 }], total: 1 })
    if (q.url === '/v1/users/7/orders') return json(r, [{ oid: 1 }])
    return json(r, { users: [] })
  })
  const { parameters, rows, notes } = await act('openapiToConfig', { openapi: openapi(url) })
  assert.equal(parameters.api.baseUrl, `${url}v1/`)
  assert.deepEqual(parameters.config, { '#token': '' })
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['All users'],
  )
  assert.ok(
    notes.some((note) => /pagination of '\/users' is a guess/.test(note)),
    notes.join('\n'),
  )
  assert.ok(
    notes.some((note) => /'\/teams\/\{teamId\}\/members' is left out/.test(note)),
    notes.join('\n'),
  )
  const row = rows[0]!.configuration.parameters.config
  const { error, tables } = await extract({
    parameters: { api: parameters.api, config: { ...parameters.config, '#token': 'secret-token', ...row } },
  })
  assert.equal(error, undefined, seen.join('\n'))
  assert.deepEqual(tables, { users: '"id"\n"7"\n', users_orders: '"oid","parent_id"\n"1","7"\n' })
})

test('Swagger 2 and YAML are read, and what is no description is refused in words', async () => {
  const yaml = `
swagger: "2.0"
host: api.example.com
basePath: /v2
schemes: [https]
securityDefinitions:
  key: { type: apiKey, in: query, name: api_key }
paths:
  /items:
    get:
      parameters: [{ name: offset, in: query, type: integer }, { name: limit, in: query, type: integer }]
      responses: { "200": { schema: { type: array, items: { type: object } } } }
`
  const { parameters, rows } = await act('openapiToConfig', { openapi: yaml })
  assert.deepEqual(parameters.api, {
    baseUrl: 'https://api.example.com/v2/',
    authentication: { type: 'query', query: { api_key: { attr: '#apiKey' } } },
    pagination: {
      method: 'multiple',
      scrollers: { offset: { method: 'offset', limit: 100, limitParam: 'limit', offsetParam: 'offset' } },
    },
  })
  assert.deepEqual(rows[0]!.configuration.parameters.config.jobs, [{ endpoint: 'items', dataType: 'items', scroller: 'offset' }])
  for (const [given, expected] of [
    [undefined, /needs the description/],
    ['{', /neither JSON nor YAML/],
    [{ a: 1 }, /neither 'openapi' nor 'swagger'/],
    [{ openapi: '3.0.0', paths: {} }, /no GET request that answers with a list/],
    [{ openapi: '3.0.0', paths: { '/x': { $ref: '#/paths/~1x' } } }, /no GET request that answers with a list/],
    [{ openapi: '3.0.0', paths: 5 }, /'paths' must be an object/],
  ] as const)
    await assert.rejects(act('openapiToConfig', { openapi: given }), expected)
})

test('the recording of a browser becomes a configuration that runs', async (t) => {
  const { url } = await serve(t, (q, r) => {
    if (q.headers['x-api-key'] !== 'secret-key-1') return json(r, {}, 403)
    if (q.url === '/api/users?kind=all') return json(r, { users: [{ id: 1 }], next: '/api/users?kind=all&after=1' })
    if (q.url?.startsWith('/api/users')) return json(r, { users: [{ id: 2 }], next: null })
    return json(r, [{ q: q.text }])
  })
  const entry = (method: string, path: string, body: unknown, more: object = {}) => ({
    request: {
      method,
      url: `${url}${path}`,
      headers: [
        { name: 'X-Api-Key', value: 'secret-key-1' },
        { name: 'User-Agent', value: 'browser' },
        { name: 'Content-Type', value: 'application/json' },
      ],
      ...more,
    },
    response: { status: 200, headers: [], content: { mimeType: 'application/json', text: JSON.stringify(body) } },
  })
  const entries = [
    entry('GET', 'logo.png', 'not items'),
    entry('GET', 'api/users?kind=all', { users: [{ id: 1 }], next: '/api/users?kind=all&after=1' }),
    entry('POST', 'search', [{ q: 1 }], { postData: { text: '{"filter":{"a":1}}' } }),
    entry('POST', 'odd', [{ q: 1 }], { postData: { text: '[1]' } }),
    { ...entry('GET', 'x', [{ a: 1 }]), request: { method: 'GET', url: 'https://elsewhere.example.com/x', headers: [] } },
  ]
  const { parameters, rows, notes } = await act('harToConfig', { har: JSON.stringify({ log: { entries } }) })
  assert.ok(!JSON.stringify(parameters.api).includes('secret-key-1'))
  assert.equal(parameters.config['#x-api-key'], 'secret-key-1')
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['/api/users', '/search'],
  )
  assert.ok(notes.some((note) => note.includes('https://elsewhere.example.com')))
  assert.ok(notes.some((note) => /'\/odd' is left out/.test(note)))
  const jobs = rows.flatMap(({ configuration }) => configuration.parameters.config.jobs)
  const { error, tables } = await extract({ parameters: { api: parameters.api, config: { ...parameters.config, jobs } } })
  assert.equal(error, undefined)
  assert.deepEqual(tables, { api_users: '"id"\n"1"\n"2"\n', search: '"q"\n"{""filter"":{""a"":1}}"\n' })
  await assert.rejects(act('harToConfig', { har: '{}' }), /no 'log\.entries'/)
  await assert.rejects(act('harToConfig', { har: { log: { entries: [] } } }), /No request of the recording/)
})
