// Manifests as configurations of the extractor and back: what both can express survives, the rest is listed.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { loadManifest } from '../manifest/load.ts'
import type { Dict } from '../python/values.ts'
import { fromExtractor } from './from-extractor.ts'
import { toExtractor } from './to-extractor.ts'

const configuration = {
  parameters: {
    api: {
      baseUrl: { function: 'concat', args: ['https://', { attr: 'shop' }, '.example.com/api'] },
      http: { headers: { Authorization: { function: 'concat', args: ['Bearer ', { attr: '#token' }] } } },
      pagination: { method: 'response.param', responseParam: 'meta.next', queryParam: 'after' },
    },
    config: {},
  },
}
const orders = {
  endpoint: 'orders',
  dataType: 'orders',
  dataField: 'data.items',
  params: { kind: 'all' },
  children: [{ endpoint: 'orders/{1:order}/lines', dataType: 'lines', dataField: 'items', placeholders: { '1:order': 'id' } }],
}
const rowOf = (job: object) => ({ configuration: { parameters: { config: { jobs: [job] } } } })

test('a configuration of the extractor becomes a manifest that loads, and comes back the same', () => {
  const { manifest, notes } = fromExtractor(configuration, [rowOf(orders).configuration])
  assert.deepEqual(notes, [])
  const loaded = loadManifest(JSON.stringify(manifest))
  const back = toExtractor(loaded)
  const { http, ...api } = configuration.parameters.api
  assert.deepEqual(back.parameters, { api, config: {} })
  // The header of the API is a header of each request.
  const headers = http.headers
  const [{ children, ...job }] = [orders] as [typeof orders]
  assert.deepEqual(
    back.rows.map((row) => row.configuration),
    [rowOf({ ...job, headers, children: children.map((child) => ({ ...child, headers })) }).configuration],
  )
  assert.deepEqual(back.notes, [])
})

test('every kind of pages that both have goes there and back', () => {
  for (const pagination of [
    { method: 'pagenum', pageParam: 'p', firstPage: 1, firstPageParams: true, limitParam: 'size', limit: 50 },
    { method: 'offset', offsetParam: 'from', firstPageParams: false, limitParam: 'size', limit: 50 },
    { method: 'response.url', urlKey: 'links.next' },
    { method: 'response.link' },
    { method: 'cursor', idKey: 'id', param: 'since' },
  ]) {
    const { manifest } = fromExtractor(
      {
        parameters: { api: { baseUrl: 'https://a.example/', pagination }, config: { jobs: [{ endpoint: 'x', dataType: 'x' }] } },
      },
      [],
    )
    const { parameters } = toExtractor(loadManifest(JSON.stringify(manifest)))
    assert.deepEqual((parameters.api as Dict).pagination, pagination)
  }
})

test('what the other format cannot say is listed, with the stream or job and the reason', () => {
  const stream = (name: string, more: Dict, retriever: Dict = {}): Dict => ({
    type: 'DeclarativeStream',
    name,
    retriever: {
      type: 'SimpleRetriever',
      requester: { type: 'HttpRequester', url_base: 'https://a.example', path: name, ...(more.requester as Dict) },
      record_selector: { type: 'RecordSelector', extractor: { type: 'DpathExtractor', field_path: [] } },
      ...retriever,
    },
    ...(more.stream as Dict),
  })
  const { rows, notes } = toExtractor({
    streams: [
      stream('plain', {
        requester: { request_parameters: { day: '{{ today_utc() }}' } },
        stream: { transformations: [{ type: 'KeysToLower' }] },
      }),
      stream(
        'pages',
        {},
        {
          paginator: {
            type: 'DefaultPaginator',
            page_token_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'after' },
            pagination_strategy: {
              type: 'CursorPagination',
              cursor_value: '{{ response.next }}',
              stop_condition: '{{ not response.more }}',
            },
          },
        },
      ),
      stream('other', { requester: { url_base: 'https://b.example' } }),
      stream('computed', { requester: { path: "{{ config['x'] | upper }}" } }),
      { type: 'DeclarativeStream', name: 'report', retriever: { type: 'AsyncRetriever' } },
    ],
  })
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['plain', 'pages'],
  )
  assert.deepEqual(notes, [
    "The stream 'plain': the parameter 'day' is computed and is not carried over.",
    "The stream 'plain': the transformation of records is not carried over.",
    "The stream 'pages': its stop_condition is not carried over: pages end with a response that names no next one.",
    "The stream 'other' is left out: its address differs from that of the first stream.",
    "The stream 'computed' is left out: its path '{{ config['x'] | upper }}' is computed.",
    "The stream 'report' is left out: it is not read by plain requests.",
  ])
  const back = fromExtractor(
    {
      parameters: {
        api: { baseUrl: 'https://a.example/', authentication: { type: 'login' } },
        config: { jobs: [{ endpoint: 'x', dataType: 'x', responseFilter: 'a', params: { since: { time: 'previousStart' } } }] },
      },
    },
    [],
  )
  assert.deepEqual(back.notes, [
    "The authentication 'login' is not carried over. Write it into the manifest.",
    "The job 'x': 'responseFilter' is not carried over.",
    "The job 'x': the parameter 'since' is computed and is not carried over.",
  ])
  assert.throws(() => fromExtractor({ parameters: { api: { baseUrl: 'x' } } }, []), /has no jobs/)
  assert.throws(() => toExtractor({ streams: [] }), /nothing to convert/)
})

test('a manifest that we ship opens in the builder with all its streams', () => {
  const text = readFileSync(new URL('../../catalogue/stripe.yaml', import.meta.url), 'utf8')
  const { rows, parameters } = toExtractor(loadManifest(text))
  assert.deepEqual(
    rows.map(({ name }) => name).filter((name) => ['customers', 'charges'].includes(name)),
    ['customers', 'charges'],
  )
  assert.equal((parameters.api as Dict).baseUrl, 'https://api.stripe.com/v1')
})
