// harToConfig: what a browser recorded (HAR) becomes a configuration: one row per request that was answered with items in JSON. Credentials
// in headers and params become `#` attributes; data field and pagination are guessed from the answers, and marked so in `notes`.

import { parametersOf } from '../configuration/configuration.ts'
import { at, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { guessDataField } from '../guess/items.ts'
import { guessPagination } from '../guess/pagination.ts'
import { addressText, originOf, parseAddress } from '../http/address.ts'
import { entriesOf, isArray, isObject, type JsonObject, type JsonValue, keysOf, objectOf } from '../json/json.ts'
import { JsonSyntaxError, parseJson } from '../json/parse.ts'
import type { ActionDeps } from './action.ts'
import { convertRequest, type PlainRequest } from './curl-to-config.ts'

export async function harToConfig({ file }: ActionDeps): Promise<JsonValue> {
  const given = at(parametersOf(file), 'har')
  if (given === undefined || given === null || given === '')
    throw new UserError("The action 'harToConfig' needs the recording in 'har' in the parameters, as an object or as text.")
  return convertHar(typeof given === 'string' ? (jsonOf(given) ?? null) : given)
}

interface Recorded {
  readonly request: PlainRequest
  readonly origin: string
  readonly path: string
  readonly response: JsonValue
  readonly headers: Readonly<Record<string, string>>
}

function convertHar(har: JsonValue): JsonObject {
  const entries = at(at(har, 'log'), 'entries')
  if (!isArray(entries)) throw new UserError("The recording has no 'log.entries': it is not a HAR file.")
  const readable = entries.flatMap(recorded)
  const origin = frequentName(readable.map((entry) => entry.origin))
  if (origin === undefined) throw new UserError('No request of the recording was answered with JSON that holds items.')
  const own = new Map(
    readable.filter((entry) => entry.origin === origin).map((entry) => [`${entry.request.method} ${entry.path}`, entry]),
  )
  const notes: string[] = []
  const left = new Set(readable.filter((entry) => entry.origin !== origin).map((entry) => entry.origin))
  for (const other of left) notes.push(`Requests to ${other} are left out: a configuration has one API.`)
  const rows = [...own.values()].flatMap((entry) => readableRow(entry, notes))
  if (rows.length === 0) throw new UserError(`None of the recorded requests can be sent by the extractor. ${notes.join(' ')}`)
  return merged(rows, notes)
}

function frequentName(names: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0]
}

/** Nothing when the answer is not JSON with items, or the request is none that the extractor can send. */
function recorded(entry: JsonValue): Recorded[] {
  const request = at(entry, 'request')
  const address = parseAddress(textAt(at(request, 'url'), 'url', ''))
  const method = textAt(at(request, 'method'), 'method', 'GET').toUpperCase()
  const status = Number(at(at(entry, 'response'), 'status') ?? 0)
  const response = bodyOf(at(at(entry, 'response'), 'content'))
  if (address === undefined || response === undefined || status < 200 || status > 299 || (method !== 'GET' && method !== 'POST'))
    return []
  const found = guessDataField(response)
  if (found === undefined || !found.items.some(isObject)) return []
  const data = at(at(request, 'postData'), 'text')
  return [
    {
      request: { url: addressText(address), method, headers: headersOf(request), data: typeof data === 'string' ? [data] : [] },
      origin: originOf(address),
      path: address.path,
      response,
      headers: Object.fromEntries(headersOf(at(entry, 'response')).map(([name, value]) => [name.toLowerCase(), value])),
    },
  ]
}

function bodyOf(content: JsonValue | undefined): JsonValue | undefined {
  const text = at(content, 'text')
  if (typeof text !== 'string') return undefined
  return jsonOf(at(content, 'encoding') === 'base64' ? Buffer.from(text, 'base64').toString() : text)
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

/** What every browser sends, and no API requires. */
const OF_BROWSER =
  /^(?::|sec-|user-agent$|referer$|origin$|accept(?:-|$)|cache-control$|pragma$|priority$|dnt$|upgrade-|te$|if-)/i

function headersOf(message: JsonValue | undefined): [string, string][] {
  const headers = at(message, 'headers')
  return (isArray(headers) ? headers : [])
    .map((header): [string, string] => [textAt(at(header, 'name'), 'name', ''), textAt(at(header, 'value'), 'value', '')])
    .filter(([name]) => name !== '' && !OF_BROWSER.test(name))
}

interface Row {
  readonly api: JsonObject
  readonly config: JsonObject
  readonly job: JsonObject
  readonly pagination: JsonObject | undefined
}

function readableRow(entry: Recorded, notes: string[]): Row[] {
  try {
    return [rowOf(entry, notes)]
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    notes.push(`'${entry.path}' is left out: ${error.message}`)
    return []
  }
}

function rowOf({ request, path, response, headers }: Recorded, notes: string[]): Row {
  const { api, config, job } = convertRequest(request)
  const found = guessDataField(response)!
  const params = at(job, 'params')
  const sent = isObject(params) ? keysOf(params) : []
  const guess = guessPagination({ response, headers, itemCount: found.items.length, dataField: found.value, sent })
  notes.push(`'${path}': ${found.reason}${guess === undefined ? '' : ` Pagination is a guess: ${guess.reason}`}`)
  const dataType = path.replace(/^\/+|\/+$/g, '').replaceAll('/', '_') || 'items'
  const field: [string, JsonValue][] = found.value === '.' ? [] : [['dataField', found.value]]
  return { api, config, job: objectOf([...entriesOf(job), ['dataType', dataType], ...field]), pagination: guess?.value }
}

/** Address and credentials are those of the first request; each way to page has a name that its jobs pick. */
function merged(rows: readonly Row[], notes: string[]): JsonObject {
  const scrollers = new Map(rows.flatMap(({ pagination }, i) => (pagination ? [[`row ${i + 1}`, pagination] as const] : [])))
  const base = textAt(at(rows[0]!.api, 'baseUrl'), 'baseUrl', '')
  const origin = originOf(parseAddress(base)!)
  const attributes = objectOf(rows.flatMap(({ config }) => entriesOf(config)))
  const pagination: [string, JsonValue][] =
    scrollers.size === 0 ? [] : [['pagination', objectOf([['method', 'multiple'], ['scrollers', objectOf(scrollers)]])]] // biome-ignore format: pairs
  const api = objectOf([...entriesOf(rows[0]!.api), ['baseUrl', `${origin}/`], ...pagination])
  return objectOf([
    ['parameters', objectOf([['api', api], ['config', attributes]])], // biome-ignore format: pairs
    ['rows', rows.map(({ api: own, job }, i) => savedRow(own, job, scrollers.has(`row ${i + 1}`) ? `row ${i + 1}` : undefined))],
    ['notes', notes],
  ])
}

function savedRow(api: JsonObject, job: JsonObject, scroller: string | undefined): JsonObject {
  const path = parseAddress(textAt(at(api, 'baseUrl'), 'baseUrl', ''))!.path.replace(/^\//, '')
  const endpoint = `${path}${textAt(at(job, 'endpoint'), 'endpoint', '')}`
  const whole = objectOf([
    ...entriesOf(job),
    ['endpoint', endpoint],
    ...(scroller ? [['scroller', scroller] as [string, JsonValue]] : []),
  ])
  return objectOf([
    ['name', `/${endpoint}`],
    ['configuration', objectOf([['parameters', objectOf([['config', objectOf([['jobs', [whole]]])]])]])],
  ])
}
