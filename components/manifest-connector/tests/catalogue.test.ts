// The connectors that we ship, each read from an imitation of its API, and connectors of a public index.

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { createEgress } from '../../http-extractor/src/http/egress.ts'
import { OPEN } from '../../http-extractor/src/http/egress-policy.ts'
import { createTransport } from '../src/http/transport.ts'
import { connectorNamed, publicConnectors, shippedConnectors } from '../src/platform/catalogue.ts'
import { formOf } from '../src/platform/form.ts'
import { engine } from './engine.ts'

const asked: URL[] = []
const seen: IncomingMessage[] = []
const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://api')
  asked.push(url)
  seen.push(request)
  const { status = 200, headers = {}, body } = answerTo(url, request)
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP server has an address with a port
const transport = createTransport(createEgress(OPEN))
test.after(async () => {
  await transport.close()
  server.close()
})

interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body: unknown
}

const seconds = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000

function answerTo(url: URL, { headers }: IncomingMessage): Answer {
  const [, api = '', ...rest] = url.pathname.split('/')
  const query = url.searchParams
  if (api === 'stripe') {
    if (headers.authorization !== 'Bearer sk_test') return { status: 401, body: {} }
    const ids = ['c3', 'c2', 'c1'].filter((id) => !query.get('starting_after') || id < query.get('starting_after')!)
    return {
      body: {
        data: ids.slice(0, 2).map((id) => ({ id, created: seconds('2026-02-01') + Number(id[1]) })),
        has_more: ids.length > 2,
      },
    }
  }
  if (api === 'github') {
    const path = rest.slice(3).join('/')
    const next = `<${origin}${url.pathname}?page=2&per_page=100>; rel="next", <${origin}${url.pathname}?page=2>; rel="last"`
    if (path === '') return { body: { id: 7, full_name: rest.slice(1).join('/') } }
    if (path === 'commits') return { body: [{ sha: 'ab', commit: { committer: { date: '2026-02-03T04:05:06Z' } } }] }
    if (query.get('page') === '2') return { body: [{ id: 2, updated_at: '2026-02-02T00:00:00Z' }] }
    return { body: [{ id: 1, updated_at: '2026-02-01T00:00:00Z' }], headers: { link: next } }
  }
  if (api === 'hn')
    return { body: { hits: query.get('page') ? [] : [{ objectID: query.get('tags'), created_at_i: seconds('2026-02-09') }] } }
  if (api === 'usgs') {
    const offset = Number(query.get('offset') ?? 1)
    const count = offset === 1 ? 1000 : 1
    const feature = (i: number) => ({
      id: `us${offset + i}`,
      properties: { mag: 5.1, place: '10 km W of Nowhere', time: 1_770_000_000_123, updated: 1_770_000_100_456 },
      geometry: { type: 'Point', coordinates: [1, 2, 3] },
    })
    return { body: { features: Array.from({ length: count }, (_, i) => feature(i)) } }
  }
  if (api === 'wikimedia')
    return rest.at(-4) === 'None_such'
      ? { status: 404, body: {} }
      : { body: { items: [{ project: 'en.wikipedia', article: rest.at(-4), timestamp: '2026020100', views: 12 }] } }
  if (url.pathname === '/shop/login') return { body: { token: 't1', expiresIn: 600 } }
  if (api === 'shop') {
    if (headers['x-sample-session'] !== 't1') return { status: 401, body: {} }
    if (rest[0] === 'orders')
      return query.get('after')
        ? { body: { orders: [{ id: 2, created: '2026-02-02T00:00:00.000Z' }], next: null } }
        : { body: { orders: [{ id: 1, created: '2026-02-01T00:00:00.000Z' }], next: 'x' } }
    return {
      body: { customers: query.get('page') === '2' ? [] : Array.from({ length: 50 }, (_, id) => ({ id })), page: 1, pages: 1 },
    }
  }
  if (url.pathname === '/files/registries/v0/oss_registry.json') return { body: INDEX }
  if (url.pathname === '/files/metadata/airbyte/source-tides/1.2.3/manifest.yaml') return { body: TIDES }
  return { status: 404, body: {} }
}

const TIDES = `
version: 5.0.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [tides]}
streams:
  - type: DeclarativeStream
    name: tides
    retriever:
      type: SimpleRetriever
      requester: {type: HttpRequester, url_base: https://tides.example, path: tides}
      record_selector: {type: RecordSelector, extractor: {type: CustomRecordExtractor, class_name: source_tides.components.Extractor}}
spec:
  type: Spec
  documentation_url: https://tides.example/docs
  connection_specification:
    type: object
    required: [key]
    properties:
      key: {type: string, airbyte_secret: true}
`
const INDEX = {
  sources: [
    {
      name: 'Tides',
      dockerRepository: 'airbyte/source-tides',
      dockerImageTag: '1.2.3',
      license: 'ELv2',
      tags: ['cdk:low-code', 'language:manifest-only'],
      sourceType: 'api',
      documentationUrl: 'https://docs.example/tides',
      iconUrl: 'https://icons.example/tides.svg',
    },
    { name: 'Postgres', dockerRepository: 'airbyte/source-postgres', dockerImageTag: '3.0.0', tags: ['language:java'] },
    { name: 'Hostile', dockerRepository: '../../etc', dockerImageTag: '1', tags: ['language:manifest-only'] },
  ],
}

async function read(name: string, streams: readonly string[], config: object) {
  asked.length = seen.length = 0
  const { manifest } = await connectorNamed(transport.send, name, undefined)
  const result = await engine({
    manifestText: manifest,
    config: config as Record<string, never>,
    streams: streams.map((stream) => ({ name: stream, syncMode: 'incremental' })),
    now: '2026-02-10T00:00:00Z',
  } as unknown as Parameters<typeof engine>[0]) // the fields that the engine reads
  assert.equal(result.failed, false, result.why)
  return result
}
const since = { start_date: '2026-02-01' }

test('sample shop: login, pages, a cursor and orders since the last run', async () => {
  const config = { base_url: `${origin}/shop`, username: 'ada', password: 'lovelace' }
  const { records, states } = await read('sample-shop', ['customers', 'orders'], config)
  assert.deepEqual([records.customers?.length, records.orders?.length], [50, 2])
  assert.deepEqual(states.orders, { created: String(seconds('2026-02-02')) })
})

test('Stripe: pages follow the last id, and only what is new is asked for', async () => {
  const { records, states } = await read('stripe', ['customers'], { ...since, api_key: 'sk_test', base_url: `${origin}/stripe` })
  assert.deepEqual(
    records.customers?.map((each) => (each as { id: string }).id),
    ['c3', 'c2', 'c1'],
  )
  assert.equal(asked[0]?.searchParams.get('created[gte]'), String(seconds('2026-02-01')))
  assert.equal(asked[1]?.searchParams.get('starting_after'), 'c2')
  assert.deepEqual(states.customers, { created: String(seconds('2026-02-01') + 3) })
})

test('GitHub: every repository, pages by the Link header, rows name their repository', async () => {
  const config = { ...since, token: 't', repositories: ['a/b', 'c/d'], base_url: `${origin}/github` }
  const { records } = await read('github', ['repositories', 'issues', 'pull_requests', 'commits'], config)
  assert.deepEqual(
    records.repositories?.map((each) => (each as { full_name: string }).full_name),
    ['a/b', 'c/d'],
  )
  const issues = records.issues as { id: number; repository: string }[]
  assert.deepEqual(
    issues.map(({ id, repository }) => `${repository} ${id}`),
    ['a/b 1', 'a/b 2', 'c/d 1', 'c/d 2'],
  )
  assert.deepEqual(records.commits?.[0], {
    sha: 'ab',
    commit: { committer: { date: '2026-02-03T04:05:06Z' } },
    repository: 'a/b',
    created_at: '2026-02-03T04:05:06Z',
  })
  assert.ok(seen.every(({ headers }) => headers.authorization === 'Bearer t'))
  const first = asked.find(({ pathname }) => pathname.endsWith('/issues'))!
  const commits = asked.find(({ pathname }) => pathname.endsWith('/commits'))!
  assert.deepEqual([...commits.searchParams.keys()].toSorted(), ['per_page', 'since'])
  assert.deepEqual([first.searchParams.get('state'), first.searchParams.get('since')], ['all', '2026-02-01T00:00:00Z'])
})

test('Hacker News: stories of each week', async () => {
  const { records } = await read('hacker-news', ['stories'], { ...since, query: 'duckdb', base_url: `${origin}/hn` })
  assert.deepEqual(
    asked.map(({ searchParams }) => searchParams.get('numericFilters')),
    [
      `created_at_i>=${seconds('2026-02-01')},created_at_i<=${seconds('2026-02-08') - 1}`,
      `created_at_i>=${seconds('2026-02-08')},created_at_i<=${seconds('2026-02-10')}`,
    ],
  )
  assert.equal(records.stories?.length, 2)
})

test('earthquakes: the second page begins at the last record of the first', async () => {
  const { records, states } = await read('earthquakes', ['earthquakes'], { ...since, base_url: `${origin}/usgs` })
  assert.deepEqual(
    asked.map(({ searchParams }) => searchParams.get('offset')),
    [null, '1000'],
  )
  assert.equal(records.earthquakes?.length, 1001)
  const { updated, time, magnitude } = records.earthquakes![0] as Record<string, unknown>
  assert.deepEqual([updated, time, magnitude], [1_770_000_100_456, 1_770_000_000_123, 5.1])
  assert.deepEqual(states.earthquakes, { updated: '2026-02-02T02:41:40Z' })
})

test('Wikipedia page views: one request for each article, and articles without views are left out', async () => {
  const config = { ...since, articles: ['Ada Lovelace', 'None such'], base_url: `${origin}/wikimedia` }
  const { records } = await read('wikipedia-page-views', ['page_views'], config)
  assert.equal(
    asked[0]?.pathname,
    '/wikimedia/metrics/pageviews/per-article/en.wikipedia/all-access/user/Ada_Lovelace/daily/2026020100/2026021000',
  )
  assert.deepEqual(
    records.page_views?.map((each) => (each as { views: number }).views),
    [12],
  )
})

test('every shipped connector has a title, a description, a licence and a form without mistakes', async () => {
  const shipped = shippedConnectors()
  assert.equal(shipped.length, 6)
  for (const { name, title, description, licence, version } of shipped) {
    assert.ok(title && description && licence === 'Apache-2.0' && version, name)
    const { form, streams, pythonClasses } = await connectorNamed(transport.send, name, undefined)
    assert.ok(streams.length > 0, name)
    assert.deepEqual(pythonClasses, [])
    const { properties, required } = form as { properties: Record<string, unknown>; required: string[] }
    for (const field of required) assert.ok(field in properties, `${name}: ${field}`)
  }
})

test('a public index is listed without the connectors that are programs; a manifest comes with its licence and what needs Python', async () => {
  const index = `${origin}/files/registries/v0/oss_registry.json`
  const { connectors, withoutManifest } = await publicConnectors(transport.send, index)
  assert.deepEqual(
    connectors.map(({ name, version, licence }) => [name, version, licence]),
    [['tides', '1.2.3', 'ELv2']],
  )
  assert.equal(withoutManifest, 2)
  const tides = await connectorNamed(transport.send, 'tides', index)
  assert.match(tides.licenceNotice, /may not offer it to others/)
  assert.deepEqual(
    [tides.manifest, tides.streams, tides.pythonClasses],
    [TIDES, ['tides'], ['source_tides.components.Extractor']],
  )
  assert.deepEqual(tides.form, {
    type: 'object',
    properties: { '#key': { type: 'string', airbyte_secret: true } },
    required: ['#key'],
  })
  const byUrl = await connectorNamed(transport.send, tides.source, undefined)
  assert.deepEqual([byUrl.name, byUrl.documentationUrl], ['1.2.3', 'https://tides.example/docs'])

  await assert.rejects(
    connectorNamed(transport.send, 'stripes', undefined),
    /'stripes' is not in the catalogue\. Did you mean 'stripe'\?/,
  )
  await assert.rejects(connectorNamed(transport.send, `${origin}/none.yaml`, undefined), /answers with status 404/)
  await assert.rejects(publicConnectors(transport.send, `${origin}/github/x`), /is not an index of connectors/)
})

test('a form has secrets under names with #, in the order of the specification, also in choices', () => {
  const form = formOf({
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    required: ['token', 'login'],
    properties: {
      later: { type: 'string' },
      login: {
        type: 'object',
        order: 1,
        oneOf: [
          {
            properties: { kind: { const: 'basic' }, password: { type: 'string', airbyte_secret: true } },
            required: ['password'],
          },
        ],
      },
      token: { type: 'string', airbyte_secret: true, order: 0 },
    },
  })
  assert.deepEqual(Object.keys(form.properties as object), ['#token', 'login', 'later'])
  assert.deepEqual(form.required, ['#token', 'login'])
  const [choice] = (form.properties as { login: { oneOf: { properties: object; required: string[] }[] } }).login.oneOf
  assert.deepEqual([Object.keys(choice!.properties), choice!.required], [['kind', '#password'], ['#password']])
  let deep: object = {}
  for (let i = 0; i < 100_000; i++) deep = { properties: { a: deep } }
  assert.ok(formOf(deep as Record<string, unknown>))
})
