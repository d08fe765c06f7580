// Requests as the SDK of OpenTelemetry encodes them, in both encodings.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import { type OtlpEncoding, type OtlpSignal, otlpRecords } from './otlp.ts'

const resource = { attributes: { 'service.name': 'shop', 'service.instances': 3 } }
const instrumentationScope = { name: 'library', version: '1.2' }
const spanContext = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 }
const SPAN = {
  name: 'GET /orders',
  kind: 1,
  spanContext: () => spanContext,
  parentSpanContext: { ...spanContext, spanId: '00f067aa0ba902b7' },
  startTime: [1_700_000_000, 5],
  endTime: [1_700_000_001, 0],
  status: { code: 2, message: 'it failed' },
  attributes: { 'http.method': 'GET', retried: true, sizes: [1, 2.5], big: 9_007_199_254_740_991 },
  links: [{ context: { ...spanContext, spanId: '1111111111111111' }, attributes: { why: 'retry' } }],
  events: [{ name: 'exception', time: [1_700_000_000, 9], attributes: { type: 'Timeout' } }],
  resource,
  instrumentationScope,
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
}
const LOG = {
  hrTime: [1_700_000_000, 7],
  hrTimeObserved: [1_700_000_000, 8],
  spanContext,
  severityNumber: 9,
  severityText: 'INFO',
  body: { order: 7, tags: ['a', 'b'] },
  attributes: { user: 'ann' },
  resource,
  instrumentationScope,
  droppedAttributesCount: 0,
}
const metric = (dataPointType: number, name: string, value: unknown, more: object = {}) => ({
  descriptor: { name, description: 'd', unit: 'ms', type: 'COUNTER', valueType: 1 },
  aggregationTemporality: 1,
  dataPointType,
  dataPoints: [{ startTime: [1_700_000_000, 0], endTime: [1_700_000_060, 0], attributes: { route: '/a' }, value }],
  ...more,
})
const METRICS = {
  resource,
  scopeMetrics: [
    {
      scope: instrumentationScope,
      metrics: [
        metric(3, 'orders', 12.5, { isMonotonic: true }),
        metric(2, 'load', 0.5),
        metric(0, 'latency', { buckets: { boundaries: [1, 10], counts: [1, 2, 3] }, sum: 44, count: 6, min: 0.5, max: 12 }),
      ],
    },
  ],
}
/** The serializers require classes of the SDK, of which they read only these members. */
const encoded: Readonly<Record<OtlpSignal, Readonly<Record<OtlpEncoding, Buffer>>>> = {
  traces: {
    json: Buffer.from(JsonTraceSerializer.serializeRequest([SPAN as never])!),
    protobuf: Buffer.from(ProtobufTraceSerializer.serializeRequest([SPAN as never])!),
  },
  logs: {
    json: Buffer.from(JsonLogsSerializer.serializeRequest([LOG as never])!),
    protobuf: Buffer.from(ProtobufLogsSerializer.serializeRequest([LOG as never])!),
  },
  metrics: {
    json: Buffer.from(JsonMetricsSerializer.serializeRequest(METRICS as never)!),
    protobuf: Buffer.from(ProtobufMetricsSerializer.serializeRequest(METRICS as never)!),
  },
}

const recordsOf = (signal: OtlpSignal, encoding: OtlpEncoding) =>
  otlpRecords(signal, encoding, encoded[signal][encoding]).map((text) => JSON.parse(text) as Record<string, unknown>)

for (const encoding of ['json', 'protobuf'] as const)
  test(`each span, log record and data point becomes a record with its resource and scope (${encoding})`, () => {
    const [span, ...noSpans] = recordsOf('traces', encoding)
    const [log, ...noLogs] = recordsOf('logs', encoding)
    const points = recordsOf('metrics', encoding)
    assert.deepEqual([noSpans, noLogs, points.length], [[], [], 3])
    for (const record of [span!, log!, ...points]) {
      assert.deepEqual((record.resource as { attributes: unknown }).attributes, resource.attributes)
      assert.partialDeepStrictEqual(record.scope, instrumentationScope)
    }
    assert.partialDeepStrictEqual(span, {
      traceId: spanContext.traceId,
      spanId: spanContext.spanId,
      parentSpanId: '00f067aa0ba902b7',
      name: 'GET /orders',
      attributes: SPAN.attributes,
      status: { code: 2, message: 'it failed' },
    })
    assert.equal(String(span!.startTimeUnixNano), '1700000000000000005')
    assert.partialDeepStrictEqual((span!.links as object[])[0], { spanId: '1111111111111111', attributes: { why: 'retry' } })
    assert.partialDeepStrictEqual((span!.events as object[])[0], { name: 'exception', attributes: { type: 'Timeout' } })
    assert.partialDeepStrictEqual(log, { severityText: 'INFO', body: LOG.body, attributes: { user: 'ann' }, ...ids() })
    assert.partialDeepStrictEqual(points[0], { name: 'orders', unit: 'ms', type: 'sum', isMonotonic: true, asDouble: 12.5 })
    assert.partialDeepStrictEqual(points[1], { name: 'load', type: 'gauge', attributes: { route: '/a' }, asDouble: 0.5 })
    assert.partialDeepStrictEqual(points[2], { name: 'latency', type: 'histogram', sum: 44, explicitBounds: [1, 10], max: 12 })
    assert.deepEqual((points[2]!.bucketCounts as unknown[]).map(Number), [1, 2, 3])
  })

const ids = () => ({ traceId: spanContext.traceId, spanId: spanContext.spanId })

test('what is not OTLP is refused with a sentence', () => {
  const refused = (encoding: OtlpEncoding, body: Buffer, reason: RegExp) =>
    assert.throws(() => otlpRecords('logs', encoding, body), { code: 'stream.invalidOtlp', message: reason })
  refused('json', Buffer.from('{'), /not valid JSON/)
  refused('json', Buffer.from('[]'), /the body is not an object/)
  refused('json', Buffer.from('{"resourceLogs": 7}'), /resourceLogs is not a list/)
  refused('json', Buffer.from('{"resourceLogs": [{"scopeLogs": [7]}]}'), /scopeLogs\[\] is not an object/)
  refused('protobuf', Buffer.from('not protobuf'), /not a valid ExportLogsServiceRequest/)
  // A value in a value, a thousand times.
  let deep: Buffer = Buffer.alloc(0)
  for (let i = 0; i < 1_000; i++) deep = field(5, field(1, deep))
  const attribute = Buffer.concat([field(1, Buffer.from('k')), field(2, deep)])
  refused('protobuf', field(1, field(2, field(2, field(6, attribute)))), /not a valid/)
  assert.deepEqual(otlpRecords('traces', 'protobuf', Buffer.alloc(0)), [])
})

/** A member of a message in protobuf: its number, its length, its bytes. */
function field(number: number, content: Buffer): Buffer {
  const length: number[] = []
  for (let rest = content.length; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest)
    if (rest <= 127) break
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content])
}

const SOURCES = '/stream/v1/branches/default/sources'

async function otlpStack(t: TestContext) {
  let aheadMs = 0
  const stack = await startTestStack(t, { clock: { now: () => new Date(Date.now() + aheadMs) } })
  const created = await stack.request('POST', SOURCES, { json: { name: 'telemetry', sourceId: 'telemetry', type: 'otlp' } })
  assert.equal(created.status, 202, created.text)
  const columns = [
    { type: 'path', name: 'name', path: 'name', rawString: true },
    { type: 'path', name: 'method', path: 'attributes["http.method"]', rawString: true, defaultValue: '-' },
    { type: 'path', name: 'service', path: 'resource.attributes["service.name"]', rawString: true },
  ]
  const table = { tableId: 'in.c-otlp.all', mapping: { columns } }
  assert.equal((await stack.request('POST', `${SOURCES}/telemetry/sinks`, { json: { name: 'all', table } })).status, 202)
  const { otlp } = (await stack.request('GET', `${SOURCES}/telemetry`)).json<{ otlp: { url: string } }>()
  const advance = (ms: number): void => {
    aheadMs += ms
  }
  return { ...stack, address: new URL(otlp.url).pathname, advance }
}

test('telemetry becomes rows, with the secret in the address or as a bearer token, packed or not', async (t) => {
  const stack = await otlpStack(t)
  const [, , projectId, , secret] = stack.address.split('/')
  const send = (path: string, body: Buffer, headers: Record<string, string>) =>
    stack.request('POST', path, { body: new Uint8Array(body), headers, token: null })
  const protobuf = { 'content-type': 'application/x-protobuf' }
  const traces = await send(`${stack.address}/v1/traces`, encoded.traces.protobuf, protobuf)
  assert.deepEqual([traces.status, traces.text, traces.headers.get('content-type')], [200, '', 'application/x-protobuf'])
  const json = { 'content-type': 'application/json', 'content-encoding': 'gzip', authorization: `Bearer ${secret}` }
  const metrics = await send(`/otlp/${projectId}/telemetry/v1/metrics`, gzipSync(encoded.metrics.json), json)
  assert.deepEqual([metrics.status, metrics.text], [200, '{}'], metrics.text)
  const wrong: readonly (readonly [string, Buffer, Record<string, string>, number])[] = [
    [`/otlp/${projectId}/telemetry/v1/logs`, encoded.logs.protobuf, protobuf, 404],
    [`${stack.address}x/v1/logs`, encoded.logs.protobuf, protobuf, 404],
    [`${stack.address}/v1/profiles`, encoded.logs.protobuf, protobuf, 400],
    [`${stack.address}/v1/logs`, encoded.logs.protobuf, { 'content-type': 'text/plain' }, 400],
    [`${stack.address}/v1/logs`, encoded.logs.protobuf, { ...protobuf, 'content-encoding': 'gzip' }, 400],
    [`${stack.address}/v1/logs`, gzipSync(Buffer.alloc(9 << 20)), { ...protobuf, 'content-encoding': 'gzip' }, 413],
    [stack.address.replace('/otlp/', '/stream/'), encoded.logs.json, { 'content-type': 'application/json' }, 404],
  ]
  for (const [path, body, headers, status] of wrong) {
    const answer = await send(path, body, headers)
    assert.equal(answer.status, status, `${path}: ${answer.text}`)
  }
  stack.advance(60_000)
  const preview = '/v2/storage/tables/in.c-otlp.all/data-preview?format=json'
  const rows = await until('the rows are loaded', async () => {
    const answer = await stack.request('GET', preview)
    return (
      answer.status === 200 && answer.json<{ rows: { value: string }[][] }>().rows.map((row) => row.map(({ value }) => value))
    )
  })
  assert.deepEqual(rows.sort(), [
    ['GET /orders', 'GET', 'shop'],
    ['latency', '-', 'shop'],
    ['load', '-', 'shop'],
    ['orders', '-', 'shop'],
  ])
})
