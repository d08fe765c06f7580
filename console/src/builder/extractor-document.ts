// Where the builder's steps find their values in a configuration of the HTTP extractor, and how they describe them. Pure.

import {
  editAll,
  isRecord,
  type Path,
  parsed,
  putAt,
  renameAt,
  setAt,
  sliceAt,
  spliceAt,
  valueIn,
} from '../document/json-text.ts'

export const API: Path = ['parameters', 'api']
export const CONFIG: Path = ['parameters', 'config']
export const LOGIN: Path = [...API, 'authentication']
const HEADERS: Path = [...API, 'http', 'headers']
export const jobPath = (index: number): Path => [...CONFIG, 'jobs', index]

/** Where the pages of a job are described: its own scroller when there are several, else the one of the API. */
export function pagesPath(document: unknown, index: number): Path {
  const pagination = valueIn(document, [...API, 'pagination'])
  if (!isRecord(pagination) || pagination.method !== 'multiple') return [...API, 'pagination']
  const scroller = valueIn(document, [...jobPath(index), 'scroller']) ?? pagination.default
  return typeof scroller === 'string' ? [...API, 'pagination', 'scrollers', scroller] : [...API, 'pagination']
}

export const textAt = (document: unknown, path: Path): string => {
  const value = valueIn(document, path)
  return value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The table that the rows of a job go to. */
export function tableOf(document: unknown, index: number): string {
  const named = textAt(document, [...jobPath(index), 'dataType'])
  return named || textAt(document, [...jobPath(index), 'endpoint']).replace(/[^A-Za-z0-9-]+/g, '_')
}

export interface Kind {
  readonly id: string
  readonly name: string
  readonly note: string
}

export const LOGINS: readonly Kind[] = [
  { id: 'none', name: 'None', note: 'the API is open' },
  { id: 'header', name: 'Token in a header', note: 'Authorization: Bearer' },
  { id: 'basic', name: 'User and password', note: 'sent with every request' },
  { id: 'login', name: 'Login request', note: 'its answer gives a token' },
  { id: 'client', name: 'Client credentials', note: 'OAuth 2.0 without a person' },
  { id: 'query', name: 'Key in the address', note: 'signed or plain' },
  { id: 'oauth10', name: 'OAuth 1.0', note: 'signed requests' },
  { id: 'oauth20', name: 'OAuth 2.0', note: 'an authorisation of the stack' },
  { id: 'oauth20.login', name: 'OAuth 2.0 login', note: 'a token for a token' },
]

export function loginOf(document: unknown): string {
  const type = valueIn(document, [...LOGIN, 'type'])
  if (type === 'login' && valueIn(document, [...LOGIN, 'loginRequest', 'params', 'grant_type']) === 'client_credentials')
    return 'client'
  if (typeof type === 'string') return type === 'url.query' ? 'query' : type
  return headerLoginOf(document) ? 'header' : 'none'
}

/** Where an expression refers to something, directly or inside a function: `{"attr": "#token"}`, `{"response": "token"}`. */
function referenceIn(value: unknown, kind: 'attr' | 'response'): Path | undefined {
  if (isRecord(value) && typeof value[kind] === 'string') return [kind]
  const members: Iterable<readonly [string | number, unknown]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(isRecord(value) ? value : {})
  for (const [key, member] of members) {
    const found = referenceIn(member, kind)
    if (found) return [key, ...found]
  }
  return undefined
}

/** What is written before a token in the header that carries it: `Bearer `. Undefined where the header is made in another way. */
export function prefixAt(document: unknown, header: Path): string | undefined {
  const value = valueIn(document, header)
  if (!isRecord(value)) return undefined
  if (value.function === undefined) return ''
  const args = value.function === 'concat' && Array.isArray(value.args) ? (value.args as readonly unknown[]) : []
  return args.length === 2 && typeof args[0] === 'string' && isRecord(args[1]) && args[1].function === undefined
    ? args[0]
    : undefined
}

export function withPrefix(text: string, header: Path, prefix: string): string {
  const before = prefixAt(parsed(text), header)
  if (before === undefined || before === prefix) return text
  const isJoined = valueIn(parsed(text), [...header, 'function']) !== undefined
  return isJoined
    ? setAt(text, [...header, 'args', 0], prefix)
    : spliceAt(text, header, `{"function": "concat", "args": [${JSON.stringify(prefix)}, ${sliceAt(text, header)!}]}`)
}

/** The header that carries a token of the configuration, sent with every request. */
export interface HeaderLogin {
  readonly header: string
  readonly path: Path
  /** The name of the secret in it; undefined where the header holds the token itself. */
  readonly attribute: string | undefined
}

export function headerLoginOf(document: unknown): HeaderLogin | undefined {
  const headers = valueIn(document, HEADERS)
  const tokens = Object.entries(isRecord(headers) ? headers : {}).map(([header, value]) => {
    const found = referenceIn(value, 'attr')
    return { header, path: [...HEADERS, header], attribute: found && textAt(value, found) }
  })
  return (
    tokens.find(({ header }) => header.toLowerCase() === 'authorization') ??
    tokens.find(({ attribute }) => attribute?.startsWith('#'))
  )
}

/** Another name for the header; one that is taken is left alone. */
export function withLoginHeader(text: string, name: string): string {
  const found = headerLoginOf(parsed(text))
  if (!found || name === '' || valueIn(parsed(text), [...HEADERS, name]) !== undefined) return text
  return renameAt(text, found.path, name)
}

/** The attributes that hold user and password: each may be a secret or not. */
export function basicNames(document: unknown): { readonly user: string; readonly password: string } {
  const has = (name: string) => valueIn(document, [...CONFIG, name]) !== undefined
  return {
    user: has('#username') && !has('username') ? '#username' : 'username',
    password: has('password') && !has('#password') ? 'password' : '#password',
  }
}

const BEARER_OF_ACCOUNT = { Authorization: { function: 'concat', args: ['Bearer ', { authorization: 'data.access_token' }] } }

/** The public way to get a token for a client: a login request that is a form. */
const CLIENT_CREDENTIALS = {
  type: 'login',
  loginRequest: {
    endpoint: '',
    method: 'FORM',
    params: { grant_type: 'client_credentials', client_id: { attr: 'clientId' }, client_secret: { attr: '#clientSecret' } },
  },
  apiRequest: { headers: { Authorization: { function: 'concat', args: ['Bearer ', { response: 'access_token' }] } } },
  expires: { response: 'expires_in', relative: true },
}

/** A token for the refresh token of the account. */
const ACCOUNT_LOGIN = {
  type: 'oauth20.login',
  loginRequest: {
    endpoint: '',
    method: 'FORM',
    params: {
      grant_type: 'refresh_token',
      client_id: { consumer: 'client_id' },
      client_secret: { consumer: 'client_secret' },
      refresh_token: { user: 'refresh_token' },
    },
  },
  apiRequest: { headers: { Authorization: { function: 'concat', args: ['Bearer ', { response: 'access_token' }] } } },
}

/** What choosing a login writes. */
const LOGIN_STARTS: Readonly<Record<string, unknown>> = {
  basic: { type: 'basic' },
  login: { type: 'login', loginRequest: { endpoint: '', method: 'POST', params: {} }, apiRequest: { headers: {} } },
  client: CLIENT_CREDENTIALS,
  query: { type: 'query', query: {} },
  oauth10: { type: 'oauth10' },
  oauth20: { type: 'oauth20', format: 'json', headers: BEARER_OF_ACCOUNT },
  'oauth20.login': ACCOUNT_LOGIN,
}

/** Another way to log in. The one that was saved comes back as it was. */
export function withLogin(text: string, kind: string, saved: string): string {
  const [now, before] = [parsed(text), parsed(saved)]
  const old = loginOf(now) === 'header' || kind === 'none' ? headerLoginOf(now) : undefined
  const open = old ? setAt(text, old.path, undefined) : text
  if (loginOf(before) === kind)
    return [LOGIN, ...(kind === 'header' ? [headerLoginOf(before)!.path] : [])].reduce(
      (current, path) => putAt(current, path, sliceAt(saved, path)),
      open,
    )
  const bearer = { function: 'concat', args: ['Bearer ', { attr: '#token' }] }
  return editAll(open, [
    [LOGIN, LOGIN_STARTS[kind]],
    ...(kind === 'header' ? [[[...HEADERS, 'Authorization'], bearer] as const] : []),
  ])
}

const API_HEADERS: Path = [...LOGIN, 'apiRequest', 'headers']
const EXPIRES: Path = [...LOGIN, 'expires']
export const apiHeader = (name: string): Path => [...API_HEADERS, name]

interface TokenHeader {
  readonly header: string
  readonly answer: string
  /** Where the name of the value in the answer stands. */
  readonly path: Path
}

/** The header that carries the token of a login. */
export function tokenHeaderOf(document: unknown): TokenHeader {
  const headers = valueIn(document, API_HEADERS)
  for (const [header, source] of Object.entries(isRecord(headers) ? headers : {})) {
    const found = referenceIn(source, 'response')
    if (found) {
      const path = [...API_HEADERS, header, ...found]
      return { header, answer: textAt(document, path), path }
    }
  }
  return { header: '', answer: '', path: [...API_HEADERS, 'Authorization', 'response'] }
}

export const withToken = (text: string, answer: string): string => setAt(text, tokenHeaderOf(parsed(text)).path, answer)

/** Another name for the header of the token; one that is taken is left alone. */
export function withTokenHeader(text: string, name: string): string {
  const document = parsed(text)
  const { header } = tokenHeaderOf(document)
  if (name === '' || valueIn(document, [...API_HEADERS, name]) !== undefined) return text
  return header === '' ? setAt(text, [...API_HEADERS, name], { response: '' }) : renameAt(text, [...API_HEADERS, header], name)
}

/** When the login is repeated: a place in its answer, or seconds. */
export function expiryOf(document: unknown): string {
  const expires = valueIn(document, EXPIRES)
  return isRecord(expires) ? textAt(expires, ['response']) : textAt(document, EXPIRES)
}

export function withExpiry(text: string, expiry: string): string {
  if (expiry === '') return setAt(text, EXPIRES, undefined)
  if (/^\d{1,9}$/.test(expiry)) return setAt(text, EXPIRES, Number(expiry))
  const isPlace = isRecord(valueIn(parsed(text), EXPIRES))
  return isPlace ? setAt(text, [...EXPIRES, 'response'], expiry) : setAt(text, EXPIRES, { response: expiry, relative: true })
}

export interface Column {
  readonly destination: string
  readonly isKey: boolean
}

/** The mapping of one value of an item; undefined where it is not one column. */
export function columnOf(entry: unknown): Column | undefined {
  if (typeof entry === 'string') return { destination: entry, isKey: false }
  if (!isRecord(entry) || entry.type === 'table') return undefined
  return { destination: textAt(entry, ['mapping', 'destination']), isKey: valueIn(entry, ['mapping', 'primaryKey']) === true }
}

export function withColumn(text: string, path: Path, { destination, isKey }: Column): string {
  if (!isRecord(valueIn(parsed(text), path)) && !isKey) return setAt(text, path, destination)
  return editAll(text, [
    [[...path, 'mapping', 'destination'], destination],
    [[...path, 'mapping', 'primaryKey'], isKey || undefined],
  ])
}

/** What a real answer suggests, beside the columns that are mapped already. */
export const withColumns = (text: string, path: Path, suggested: Readonly<Record<string, unknown>>): string =>
  editAll(
    text,
    Object.entries(suggested)
      .map(([source, entry]) => [[...path, source], entry] as const)
      .filter(([place]) => valueIn(parsed(text), place) === undefined),
  )

/** Another way of paging. What only the old way has goes, what both or neither have stays; the saved way comes back as it was. */
export function withPages(
  text: string,
  path: Path,
  method: string,
  { saved, knownTo }: { readonly saved: string; readonly knownTo: (method: string) => readonly string[] },
): string {
  if (method === 'none') return setAt(text, path, undefined)
  if (textAt(parsed(saved), [...path, 'method']) === method) return spliceAt(text, path, sliceAt(saved, path)!)
  const known = knownTo(textAt(parsed(text), [...path, 'method'])).filter((name) => !knownTo(method).includes(name))
  return editAll(text, [
    ...known.map((name) => [[...path, name], undefined] as const),
    [[...path, 'method'], method],
    ...(method === 'response.param' ? [[[...path, 'includeParams'], true] as const] : []),
  ])
}

/** The one way of paging becomes the first of several. */
export function withSeveralPages(text: string): string {
  const path = [...API, 'pagination']
  const several = setAt(text, path, { method: 'multiple', scrollers: { first: null }, default: 'first' })
  return spliceAt(several, [...path, 'scrollers', 'first'], sliceAt(text, path) ?? '{}')
}

export const PAGES: readonly Kind[] = [
  { id: 'cursor', name: 'Cursor', note: 'largest id so far' },
  { id: 'offset', name: 'Offset', note: 'skip what was read' },
  { id: 'pagenum', name: 'Page number', note: '1, 2, 3' },
  { id: 'response.url', name: 'Next link', note: 'address in the answer' },
  { id: 'response.param', name: 'Next token', note: 'value in the answer' },
  { id: 'response.link', name: 'Link header', note: 'address in a header' },
  { id: 'zendesk.response.url', name: 'Next link of Zendesk', note: 'ends when it is up to date' },
  { id: 'none', name: 'One page only', note: 'one request' },
]

/** Plain names for the settings of each way, where the schema has only the key. */
export const PAGE_TITLES: Readonly<Record<string, string>> = {
  idKey: 'Id in each item',
  param: 'Sent as',
  increment: 'Add to it',
  reverse: 'Take the smallest',
  limit: 'Items in a page',
  limitParam: 'Limit sent as',
  offsetParam: 'Offset sent as',
  pageParam: 'Page sent as',
  firstPage: 'First page',
  firstPageParams: 'Send them with the first page',
  urlKey: 'Address in the answer',
  responseParam: 'Value in the answer',
  queryParam: 'Sent as',
  includeParams: 'Send the parameters again',
  rel: 'Relation',
  nextPageFlag: 'Stop at a flag in the answer',
  forceStop: 'Stop after pages, time or volume',
  limitStop: 'Stop when a total is reached',
  scrollRequest: 'Another request from page 2',
}

export interface Picture {
  readonly sent: string
  readonly values: readonly string[]
  readonly between: string
  readonly end: string
}

/** What a way of paging sends, in three requests. */
export function pictureOf(settings: unknown): Picture | undefined {
  const at = (key: string, otherwise: string) => textAt(settings, [key]) || otherwise
  const limit = Number(at('limit', '100'))
  const first = Number(at('firstPage', '1'))
  switch (valueIn(settings, ['method'])) {
    case 'cursor':
      return {
        sent: at('param', 'since_id'),
        values: ['', '500', '1000'],
        between: `largest ${at('idKey', 'id')}`,
        end: 'no items',
      }
    case 'offset':
      return {
        sent: at('offsetParam', 'offset'),
        values: ['0', `${limit}`, `${2 * limit}`],
        between: `${limit} items`,
        end: `under ${limit}`,
      }
    case 'pagenum':
      return {
        sent: at('pageParam', 'page'),
        values: [`${first}`, `${first + 1}`, `${first + 2}`],
        between: 'one more',
        end: 'no items',
      }
    case 'response.url':
    case 'zendesk.response.url':
      return { sent: 'address', values: ['', 'next', 'next'], between: at('urlKey', 'next_page'), end: 'empty' }
    case 'response.param':
      return {
        sent: at('queryParam', 'cursor'),
        values: ['', 'a81f', 'c03d'],
        between: at('responseParam', 'next'),
        end: 'empty',
      }
    case 'response.link':
      return { sent: 'address', values: ['', 'next', 'next'], between: `link ${at('rel', 'next')}`, end: 'no link' }
    default:
      return undefined
  }
}

export const SINCE_FORMATS: readonly (Kind & { readonly value: unknown })[] = [
  { id: 'date', name: 'as a date', note: '2026-01-31', value: { function: 'date', args: ['Y-m-d', { time: 'previousStart' }] } },
  {
    id: 'time',
    name: 'as a time',
    note: '2026-01-31T08:00:00+00:00',
    value: { function: 'date', args: ['c', { time: 'previousStart' }] },
  },
  { id: 'unix', name: 'as seconds', note: '1769846400', value: { time: 'previousStart' } },
]

/** The parameter that requests changes only: its name and how the time is written. */
export function sinceOf(document: unknown, index: number): { readonly name: string; readonly format: string } | undefined {
  const params = valueIn(document, [...jobPath(index), 'params'])
  for (const [name, value] of Object.entries(isRecord(params) ? params : {})) {
    const format = SINCE_FORMATS.find((one) => JSON.stringify(one.value) === JSON.stringify(value))
    if (format) return { name, format: format.id }
  }
  return undefined
}

/** Sends the time under this name; a name that something else has is left alone, an empty one takes the parameter away. */
export function withSince(text: string, index: number, { name, format }: { name: string; format: string }): string {
  const document = parsed(text)
  const at = (key: string) => [...jobPath(index), 'params', key]
  const before = sinceOf(document, index)
  const value = SINCE_FORMATS.find(({ id }) => id === format)!.value
  if (name === '') return before ? setAt(text, at(before.name), undefined) : text
  if (name !== before?.name && valueIn(document, at(name)) !== undefined) return text
  const named = before ? renameAt(text, at(before.name), name) : text
  return before?.format === format ? named : setAt(named, at(name), value)
}

const BASIC_NAMES = ['username', '#username', 'password', '#password']
const SHOWN_API = ['baseUrl', 'name', 'authentication', 'pagination', 'http']
/** Attributes of the login forms. */
const SHOWN_CONFIG = [
  'clientId',
  '#clientSecret',
  '#token',
  'jobs',
  'outputBucket',
  'mappings',
  'primaryKey',
  'incrementalOutput',
  'id',
]

/** Parts that no step shows; they stay as they are. */
export function keptPaths(document: unknown): readonly Path[] {
  const below = (path: Path, shown: readonly string[]) => {
    const value = valueIn(document, path)
    const attributes = JSON.stringify(valueIn(document, API) ?? {}) + JSON.stringify(valueIn(document, [...CONFIG, 'jobs']) ?? [])
    const isAttribute = (name: string) => attributes.includes(`{"attr":${JSON.stringify(name)}}`) || BASIC_NAMES.includes(name)
    return isRecord(value)
      ? Object.keys(value)
          .filter((name) => !shown.includes(name) && !isAttribute(name))
          .map((name) => [...path, name])
      : []
  }
  return [...below(API, SHOWN_API), ...below(CONFIG, SHOWN_CONFIG), ...below(['parameters'], ['api', 'config'])]
}
