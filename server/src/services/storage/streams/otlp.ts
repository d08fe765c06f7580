// OTLP/HTTP: one request holds many log records, data points or spans, and each of them becomes one record whose body is JSON with its
// resource and scope. Attributes become plain objects, ids are hexadecimal and times decimal, as OTLP/JSON writes them.

import protobuf from 'protobufjs'
import { PlatformError } from '../../../kit/errors.ts'
import { OTLP_SCHEMA } from './otlp-schema.ts'

export const OTLP_SIGNALS = ['logs', 'metrics', 'traces'] as const
export type OtlpSignal = (typeof OTLP_SIGNALS)[number]
export type OtlpEncoding = 'json' | 'protobuf'

type Json = Readonly<Record<string, unknown>>

interface Shape {
  readonly message: string
  readonly resources: string
  readonly scopes: string
  readonly items: string
}

const SHAPES: Readonly<Record<OtlpSignal, Shape>> = {
  logs: { message: 'ExportLogsServiceRequest', resources: 'resourceLogs', scopes: 'scopeLogs', items: 'logRecords' },
  metrics: { message: 'ExportMetricsServiceRequest', resources: 'resourceMetrics', scopes: 'scopeMetrics', items: 'metrics' },
  traces: { message: 'ExportTraceServiceRequest', resources: 'resourceSpans', scopes: 'scopeSpans', items: 'spans' },
}
const METRIC_TYPES = ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'] as const
const IDS = new Set(['traceId', 'spanId', 'parentSpanId'])

/** The bodies of the records that a request holds. */
export function otlpRecords(signal: OtlpSignal, encoding: OtlpEncoding, body: Buffer): string[] {
  const { message, resources, scopes, items } = SHAPES[signal]
  const request = encoding === 'json' ? parsedJson(body) : decoded(message, body)
  const records: string[] = []
  for (const ofResource of listAt(request, resources, ''))
    for (const ofScope of listAt(ofResource, scopes, resources))
      for (const item of listAt(ofScope, items, scopes)) {
        const source = { resource: plain(ofResource.resource ?? {}), scope: plain(ofScope.scope ?? {}) }
        for (const record of signal === 'metrics' ? dataPoints(item) : [item])
          records.push(JSON.stringify({ ...source, ...(plain(record) as Json) })) // a record is an object
      }
  return records
}

/** A metric holds one kind of data points; each gets the name and the unit of its metric. */
function dataPoints(metric: Json): Json[] {
  const { name, description, unit } = metric
  for (const type of METRIC_TYPES) {
    if (metric[type] === undefined) continue
    const { dataPoints: _, ...data } = objectAt(metric, type)
    return listAt(objectAt(metric, type), 'dataPoints', type).map((point) => ({
      name,
      description,
      unit,
      type,
      ...data,
      ...point,
    }))
  }
  return []
}

let schema: protobuf.Root | undefined

function decoded(message: string, body: Buffer): Json {
  schema ??= protobuf.parse(OTLP_SCHEMA).root
  const type = schema.lookupType(message)
  try {
    return type.toObject(type.decode(body), { longs: String })
  } catch (cause) {
    throw invalidOtlp(`it is not a valid ${message} in protobuf`, cause)
  }
}

function parsedJson(body: Buffer): Json {
  try {
    return asObject(JSON.parse(body.toString('utf8')), 'the body')
  } catch (error) {
    throw error instanceof PlatformError ? error : invalidOtlp('it is not valid JSON')
  }
}

function listAt(of: Json, name: string, inside: string): Json[] {
  const value = of[name] ?? []
  if (!Array.isArray(value)) throw invalidOtlp(`${inside === '' ? '' : `${inside}[].`}${name} is not a list`)
  return value.map((item: unknown) => asObject(item, `${name}[]`))
}

const objectAt = (of: Json, name: string): Json => asObject(of[name], name)

function asObject(value: unknown, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidOtlp(`${name} is not an object`)
  return value as Json // neither null nor a list, by the line above
}

const invalidOtlp = (reason: string, cause?: unknown) => new PlatformError('stream.invalidOtlp', { reason }, { cause })

/** Values of OTLP as plain JSON: `{"stringValue": "x"}` is "x", and a list of keys and values an object. */
function plain(value: unknown, name = ''): unknown {
  if (Buffer.isBuffer(value) || value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString(IDS.has(name) ? 'hex' : 'base64')
  if (Array.isArray(value)) return name.toLowerCase().endsWith('attributes') ? keyValues(value) : value.map((item) => plain(item))
  if (typeof value !== 'object' || value === null) return value
  if (name === 'body') return anyValue(value as Json)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member, key)]))
}

const keyValues = (pairs: readonly unknown[]): Json =>
  Object.fromEntries(
    pairs.map((pair) => {
      const { key, value } = asObject(pair, 'attributes[]')
      return [String(key ?? ''), anyValue((value ?? {}) as Json)]
    }),
  )

function anyValue(value: Json): unknown {
  const [[kind, content] = []] = Object.entries(value)
  if (kind === 'arrayValue') return listAt(asObject(content, kind), 'values', kind).map(anyValue)
  if (kind === 'kvlistValue') return keyValues(listAt(asObject(content, kind), 'values', kind))
  // A number where a number holds it exactly.
  if (kind === 'intValue') return Number.isSafeInteger(Number(content)) ? Number(content) : content
  return content === undefined ? null : plain(content)
}
