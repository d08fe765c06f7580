// One acceptance case: a mock server plays the recorded answers, the engine reads, and requests, records, state and waits are compared
// with what the reference did. The rules of the comparison are those of the cases' own runner.

import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Pairs = readonly (readonly [string, string])[]

interface Body {
  readonly json?: unknown
  readonly form?: Pairs
  readonly text?: string
}
interface Request {
  readonly method: string
  readonly path: string
  readonly query: Pairs
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Body | undefined
}
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly text?: string
  readonly base64?: string
}
interface Exchange {
  readonly chain: string
  readonly shared?: boolean
  readonly auth?: boolean
  readonly request: Request
  readonly response: Answer
}
export interface Case {
  readonly name: string
  readonly covers?: readonly string[]
  readonly now: string
  readonly manifest?: Record<string, unknown>
  readonly manifestText?: string
  readonly config: Record<string, unknown>
  readonly streams: readonly { readonly name: string }[]
  readonly state?: unknown
  readonly strictCounts?: boolean
  readonly ignoreState?: boolean
  readonly exchanges: readonly Exchange[]
  readonly expected: {
    readonly exit: number
    readonly records: Readonly<Record<string, readonly (readonly unknown[])[]>>
    readonly state: Readonly<Record<string, unknown>>
    readonly waits: readonly number[]
  }
}

/** What the engine gave. */
export interface Outcome {
  readonly failed: boolean
  readonly why: string
  readonly records: Readonly<Record<string, readonly unknown[]>>
  readonly states: Readonly<Record<string, unknown>>
  readonly waits: readonly number[]
}
export type Engine = (given: Case) => Promise<Outcome>

export function loadCase(file: string): Case {
  const bytes = readFileSync(file)
  return JSON.parse((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')) as Case // by the recorder
}

/** Answers to equal requests, one after the other. */
interface Variant {
  readonly headers: Readonly<Record<string, string>>
  readonly exchanges: Exchange[]
  used: number
  first: number
}

/** What differs from the reference; empty when the case passed. */
export async function runCase(raw: Case, engine: Engine): Promise<string[]> {
  const groups = new Map<string, Variant[]>()
  const variants: Variant[] = []
  const problems: string[] = []
  let count = 0

  const server = createServer(async (message, reply) => {
    const request = await requestOf(message)
    const order = count++
    const group = groups.get(keyOf(request))
    if (!group || order > 4 * raw.exchanges.length + 100) {
      problems.push(`request not expected: ${shown(request)}`)
      reply.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"this request is not in the case"}')
      return
    }
    const fitting = group.filter((each) => headerDifference(each.headers, request.headers) === undefined)
    const variant = fitting[0] ?? group[0]!
    if (fitting.length === 0) problems.push(`request ${shown(request)}: ${headerDifference(variant.headers, request.headers)}`)
    if (variant.used === 0) variant.first = order
    const answer = variant.exchanges[Math.min(variant.used++, variant.exchanges.length - 1)]!.response
    const body =
      answer.base64 === undefined ? Buffer.from(answer.text ?? JSON.stringify(answer.json)) : Buffer.from(answer.base64, 'base64')
    reply.writeHead(answer.status, { ...answer.headers, 'content-length': body.length }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // listens on TCP
  const given = substituted(raw as unknown as Json, port) as unknown as Case
  for (const exchange of given.exchanges) {
    const headers = normalHeaders(exchange.request.headers)
    const group = groups.get(keyOf(exchange.request)) ?? []
    groups.set(keyOf(exchange.request), group)
    let variant = group.find((each) => isDeepStrictEqual(each.headers, headers))
    if (!variant) {
      variant = { headers, exchanges: [], used: 0, first: -1 }
      group.push(variant)
      variants.push(variant)
    }
    variant.exchanges.push(exchange)
  }
  try {
    const outcome = await engine(given)
    problems.push(...requestProblems(given, variants), ...outcomeProblems(given, outcome))
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return problems
}

function requestProblems(given: Case, variants: readonly Variant[]): string[] {
  const problems: string[] = []
  for (const { exchanges, used } of variants) {
    const isFree = exchanges.every((each) => (each.shared || each.auth) && each.response.status < 300) && !given.strictCounts
    if (used === 0) problems.push(`request missing: ${shown(exchanges[0]!.request)}`)
    else if (!isFree && used !== exchanges.length)
      problems.push(`request sent ${used} times, expected ${exchanges.length}: ${shown(exchanges[0]!.request)}`)
  }
  const chains = Map.groupBy(
    given.exchanges.filter((each) => !each.auth && !each.shared),
    ({ chain }) => chain,
  )
  for (const [chain, exchanges] of chains) {
    const own = variants.filter((each) => each.exchanges.every((exchange) => exchange.chain === chain))
    const ordered = [
      ...new Set(
        exchanges.map((each) => own.find((variant) => variant.exchanges.includes(each))).filter((each) => each !== undefined),
      ),
    ]
    for (const [i, variant] of ordered.entries())
      if (i > 0 && variant.used > 0 && variant.first < ordered[i - 1]!.first)
        problems.push(`order in ${chain}: ${shown(variant.exchanges[0]!.request)} came too early`)
  }
  return problems
}

function outcomeProblems({ expected, ignoreState }: Case, outcome: Outcome): string[] {
  const problems: string[] = []
  for (const name of new Set([...Object.keys(expected.records), ...Object.keys(outcome.records)])) {
    const wanted = (expected.records[name] ?? []).flat().map(withoutNulls)
    const got = (outcome.records[name] ?? []).map(withoutNulls)
    const difference = recordDifference(wanted, got)
    if (difference) problems.push(`records of ${name}: ${difference}`)
    else problems.push(...orderProblems(name, expected.records[name] ?? [], got))
  }
  if (!ignoreState)
    for (const name of new Set([...Object.keys(expected.state), ...Object.keys(outcome.states)])) {
      const [wanted, got] = [normalState(expected.state[name]), normalState(outcome.states[name])]
      if (!isDeepStrictEqual(wanted, got)) problems.push(`state of ${name}: expected ${text(wanted)}, got ${text(got)}`)
    }
  if ((expected.exit === 0) === outcome.failed)
    problems.push(outcome.failed ? `the run failed: ${outcome.why}` : 'the run must fail')
  const rounded = (waits: readonly number[]) => waits.map((each) => Math.round(each * 100) / 100).sort((a, b) => a - b)
  if (expected.waits.length > 0 && !isDeepStrictEqual(rounded(expected.waits), rounded(outcome.waits)))
    problems.push(`waits: expected ${text(rounded(expected.waits))}, got ${text(rounded(outcome.waits))}`)
  return problems
}

function recordDifference(wanted: readonly unknown[], got: readonly unknown[]): string | undefined {
  if (wanted.length !== got.length) return `${got.length}, expected ${wanted.length}`
  const left = new Map<string, number>()
  for (const each of wanted) left.set(canonical(each), (left.get(canonical(each)) ?? 0) + 1)
  for (const each of got) {
    const rest = left.get(canonical(each)) ?? 0
    if (rest === 0) return `not expected: ${text(each)}; expected for example ${text(wanted[0])}`
    left.set(canonical(each), rest - 1)
  }
  return undefined
}

function orderProblems(name: string, partitions: readonly (readonly unknown[])[], got: readonly unknown[]): string[] {
  const places = new Map<string, number>()
  const repeated = new Set<string>()
  for (const [i, each] of got.entries()) {
    const key = canonical(each)
    if (places.has(key)) repeated.add(key)
    places.set(key, i)
  }
  for (const partition of partitions) {
    const order = partition.map((each) => canonical(withoutNulls(each))).filter((key) => !repeated.has(key))
    if (order.some((key, i) => i > 0 && places.get(key)! < places.get(order[i - 1]!)!))
      return [`records of ${name}: the order inside a partition differs`]
  }
  return []
}

const text = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 500)

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = value as Record<string, unknown>
  return Object.fromEntries(
    Object.keys(members)
      .sort()
      .map((key) => [key, sorted(members[key])]),
  )
}
const canonical = (value: unknown) => JSON.stringify(sorted(value))

/** A top-level field that is null equals a missing one. */
const withoutNulls = (record: unknown): unknown =>
  typeof record === 'object' && record !== null && !Array.isArray(record)
    ? Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
    : record

const LEFT_OUT = new Set(['__ab_no_cursor_state_message', '__ab_full_refresh_sync_complete', 'lookback_window'])

function normalState(state: unknown): unknown {
  if (typeof state !== 'object' || state === null || Array.isArray(state)) return state ?? null
  const out: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(state)) {
    if (LEFT_OUT.has(key)) continue
    if (key === 'states' && Array.isArray(value))
      out[key] = value.map((each) => sorted(each)).sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1))
    else if (key === 'parent_state') {
      const parents = Object.entries(value as object)
        .map(([name, parent]) => [name, normalState(parent)] as const)
        .filter(([, parent]) => parent !== null)
      if (parents.length > 0) out[key] = Object.fromEntries(parents)
    } else out[key] = value
  }
  return Object.keys(out).length === 0 ? null : JSON.parse(JSON.stringify(out))
}

function substituted(value: Json, port: number): Json {
  if (typeof value === 'string')
    return value.replaceAll('__MOCKHOST__', `127.0.0.1:${port}`).replaceAll('__MOCK__', `http://127.0.0.1:${port}`)
  if (Array.isArray(value)) return value.map((each) => substituted(each, port))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [substituted(key, port) as string, substituted(each, port)]),
  )
}

const shown = ({ method, path, query, body }: Request) =>
  `${method} ${path}?${query.map(([key, value]) => `${key}=${value}`).join('&')} ${body ? text(body) : ''}`

function decoded(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch {
    return part
  }
}

const pairsOf = (form: string): Pairs =>
  form
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=')
      return at < 0 ? [decoded(pair), ''] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))]
    })

function pathOf(path: string): string {
  const parts = path.split('/').map((part) => {
    let plain = part
    try {
      plain = decodeURIComponent(part)
    } catch {
      // kept as it is
    }
    return encodeURIComponent(plain).replace(/%(?:24|26|2B|2C|3B|3D|3A|40)/g, (sign) => decodeURIComponent(sign))
  })
  return parts.join('/') || '/'
}

const sortedPairs = (pairs: Pairs) => [...pairs].sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0))
const keyOf = ({ method, path, query, body }: Request) =>
  canonical([method, pathOf(path), sortedPairs(query), body?.form ? { form: sortedPairs(body.form) } : (body ?? null)])

function bodyOf(raw: Buffer, type: string): Body | undefined {
  if (raw.length === 0) return undefined
  const content = raw.toString('utf8')
  if (type.includes('x-www-form-urlencoded')) return { form: pairsOf(content) }
  if (!type.includes('json')) return { text: content }
  try {
    return { json: JSON.parse(content) as unknown }
  } catch {
    return { text: content }
  }
}

async function requestOf(message: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const [path = '', ...query] = (message.url ?? '').split('?')
  const headers = normalHeaders(message.headers)
  return {
    method: message.method ?? '',
    path,
    query: pairsOf(query.join('?')),
    headers,
    body: bodyOf(Buffer.concat(chunks), headers['content-type'] ?? ''),
  }
}

/** Headers that a client may send as it likes. */
const FREE = new Set(
  'host connection content-length transfer-encoding accept-encoding accept user-agent accept-language sec-fetch-mode keep-alive cookie expect te traceparent'.split(
    ' ',
  ),
)

const normalHeaders = (headers: object) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), normalHeader(name.toLowerCase(), String(value))]),
  )

/** Of a type the media type counts, of a JWT everything but the signature. */
function normalHeader(name: string, value: string): string {
  if (name === 'content-type') return (value.split(';')[0] ?? '').trim().toLowerCase()
  return value.replace(/([\w-]{10,})\.([\w-]{10,})\.([\w-]*)/g, (all, head: string, claims: string) => {
    try {
      const part = (coded: string) => canonical(JSON.parse(Buffer.from(coded, 'base64url').toString()))
      return `jwt(${part(head)}.${part(claims)})`
    } catch {
      return all
    }
  })
}

function headerDifference(wanted: Readonly<Record<string, string>>, got: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(wanted))
    if (got[name] !== value) return `header ${name}: expected ${text(value)}, got ${text(got[name])}`
  const more = Object.keys(got).find((name) => !Object.hasOwn(wanted, name) && !FREE.has(name) && name !== 'content-type')
  return more === undefined ? undefined : `header ${more} is not expected`
}
