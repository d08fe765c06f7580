// openapiToConfig: the description of an API (OpenAPI 3 or Swagger 2, JSON or YAML) becomes a configuration with one row per list that can
// be read: address, authentication, parameters that are required, data field, pagination, and children below the lists they belong to.
// A description does not contain how pages follow each other, so that part is marked as a guess in `notes`.

import { parametersOf } from '../configuration/configuration.ts'
import { at, objectAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { guessFromParameters } from '../guess/pagination.ts'
import { entriesOf, isArray, isObject, type JsonObject, type JsonValue, memberOf, objectOf } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { exactJson } from '../json/text.ts'
import type { ActionDeps } from './action.ts'

export async function openapiToConfig({ file }: ActionDeps): Promise<JsonValue> {
  const given = at(parametersOf(file), 'openapi')
  if (given === undefined || given === null || given === '')
    throw new UserError(
      "The action 'openapiToConfig' needs the description of the API in 'openapi' in the parameters, as an object or as text.",
    )
  return convertOpenapi(typeof given === 'string' ? await parsed(given) : given)
}

async function parsed(text: string): Promise<JsonValue> {
  try {
    if (/^\s*\{/.test(text)) return parseJson(text)
    const { parse } = await import('yaml')
    return parseJson(JSON.stringify(parse(text, { maxAliasCount: 100 }) ?? null))
  } catch (cause) {
    throw new UserError(`The description of the API is neither JSON nor YAML: ${(cause as Error).message}`, {}, cause)
  }
}

interface Endpoint {
  readonly path: string
  readonly operation: JsonObject
  readonly parameters: readonly JsonObject[]
  /** Where the response has its list; undefined when it has none. */
  readonly dataField: string | undefined
}

function convertOpenapi(value: JsonValue): JsonObject {
  if (!isObject(value) || (at(value, 'openapi') === undefined && at(value, 'swagger') === undefined))
    throw new UserError("The description has neither 'openapi' nor 'swagger': it is not the description of an API.")
  const resolve = resolver(value)
  const endpoints = entriesOf(objectAt(at(value, 'paths'), 'paths')).flatMap(([path, item]) => endpointOf(path, item, resolve))
  const lists = endpoints.filter(({ dataField }) => dataField !== undefined)
  if (lists.length === 0) throw new UserError('The description has no GET request that answers with a list in JSON.')
  const notes: string[] = []
  const scrollers = new Map<string, JsonObject>()
  const top = lists.filter(({ path }) => !path.includes('{'))
  const jobs = top.map((endpoint) => ({ endpoint, job: jobOf(endpoint, lists, scrollers, notes) }))
  for (const { path } of lists.filter(({ path }) => path.includes('{') && !isBelowAny(path, top)))
    notes.push(`'${path}' is left out: no list in the description has the values of its placeholders.`)
  const { authentication, headers, attributes } = securityOf(value, resolve, notes)
  const baseUrl = baseUrlOf(value, notes)
  return objectOf([
    [
      'parameters',
      objectOf([
        [
          'api',
          objectOf([
            ['baseUrl', baseUrl],
            ...(headers.length > 0 ? [['http', objectOf([['headers', objectOf(headers)]])] as [string, JsonValue]] : []),
            ...(authentication ? [['authentication', authentication] as [string, JsonValue]] : []),
            ...paginationOf(scrollers),
          ]),
        ],
        ['config', objectOf(attributes)],
      ]),
    ],
    [
      'rows',
      jobs.map(({ endpoint: { path, operation }, job }) =>
        objectOf([
          ['name', textAt(at(operation, 'summary'), 'summary', '') || path],
          ['description', textAt(at(operation, 'description'), 'description', '')],
          ['configuration', objectOf([['parameters', objectOf([['config', objectOf([['jobs', [job]]])]])]])],
        ]),
      ),
    ],
    ['notes', notes],
  ])
}

/** One way to page is the pagination of the API; several are named, and each job picks its own. */
function paginationOf(scrollers: ReadonlyMap<string, JsonObject>): [string, JsonValue][] {
  if (scrollers.size === 0) return []
  return [['pagination', objectOf([['method', 'multiple'], ['scrollers', objectOf(scrollers)]])]] // biome-ignore format: pairs
}

const endpointText = (path: string) => path.replace(/^\/+/, '')
const isBelow = (path: string, list: string) =>
  new RegExp(`^${escaped(list.replace(/\/+$/, ''))}/\\{[^{}]+\\}/[^{}]+$`).test(path)
const isBelowAny = (path: string, lists: readonly Endpoint[]): boolean =>
  lists.some((list) => isBelow(path, list.path)) || (path.match(/\{/g) ?? []).length > 1
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function jobOf(endpoint: Endpoint, lists: readonly Endpoint[], scrollers: Map<string, JsonObject>, notes: string[]): JsonObject {
  const { path, parameters, dataField } = endpoint
  const names = parameters.filter((p) => at(p, 'in') === 'query').map((p) => textAt(at(p, 'name'), 'name', ''))
  const guess = guessFromParameters(names)
  const children = lists.filter((other) => isBelow(other.path, path))
  const job: [string, JsonValue][] = [
    ['endpoint', endpointText(path)],
    [
      'dataType',
      endpointText(path)
        .replace(/\{[^{}]*\}\/?/g, '')
        .replace(/\/+$/, '')
        .replaceAll('/', '_'),
    ],
  ]
  if (dataField !== '.') job.push(['dataField', dataField!])
  const required = requiredParams(parameters, notes, path)
  if (required.length > 0) job.push(['params', objectOf(required)])
  if (guess !== undefined) {
    job.push(['scroller', scrollerOf(guess.value, scrollers)])
    notes.push(`The pagination of '${path}' is a guess. ${guess.reason}`)
  }
  const placeholder = /\{([^{}]+)\}\/[^{}]+$/.exec(path)?.[1]
  if (placeholder !== undefined) {
    job.push(['placeholders', objectOf([[placeholder, 'id']])])
    notes.push(`'{${placeholder}}' of '${path}' is taken from 'id' of each item above it, which is a guess.`)
  }
  if (children.length > 0) job.push(['children', children.map((child) => jobOf(child, lists, scrollers, notes))])
  return objectOf(job)
}

/** The same way to page has one name. */
function scrollerOf(value: JsonObject, scrollers: Map<string, JsonObject>): string {
  const text = exactJson(value)
  for (const [name, known] of scrollers) if (exactJson(known) === text) return name
  const base = String(at(value, 'method'))
  const name = scrollers.has(base) ? `${base} ${scrollers.size + 1}` : base
  scrollers.set(name, value)
  return name
}

function requiredParams(parameters: readonly JsonObject[], notes: string[], path: string): [string, JsonValue][] {
  return parameters.flatMap((parameter): [string, JsonValue][] => {
    if (at(parameter, 'in') !== 'query' || at(parameter, 'required') !== true) return []
    const name = textAt(at(parameter, 'name'), 'name', '')
    const schema = at(parameter, 'schema')
    const value = at(schema, 'default') ?? at(parameter, 'default') ?? at(parameter, 'example') ?? at(schema, 'example')
    if (value === undefined) notes.push(`'${path}' needs the parameter '${name}': fill it in.`)
    return [[name, value ?? '']]
  })
}

type Resolve = (value: JsonValue | undefined) => JsonObject | undefined

/** Follows references inside the description; a circle ends. */
function resolver(root: JsonObject): Resolve {
  return (value) => {
    let found = value
    for (let hops = 0; isObject(found) && typeof at(found, '$ref') === 'string'; hops++) {
      const path = String(at(found, '$ref'))
      if (!path.startsWith('#/') || hops > 20) return undefined
      found = path
        .slice(2)
        .split('/')
        .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
        .reduce<JsonValue | undefined>((inner, segment) => (isObject(inner) ? memberOf(inner, segment) : undefined), root)
    }
    return isObject(found) ? found : undefined
  }
}

function endpointOf(path: string, given: JsonValue, resolve: Resolve): Endpoint[] {
  const item = resolve(given)
  const operation = resolve(at(item, 'get'))
  if (operation === undefined) return []
  const lists = [at(item, 'parameters'), at(operation, 'parameters')]
  const parameters = lists
    .flatMap((list) => (isArray(list) ? list : []))
    .map(resolve)
    .filter((parameter) => parameter !== undefined)
  return [{ path, operation, parameters, dataField: listIn(answerSchema(operation, resolve), resolve) }]
}

function answerSchema(operation: JsonObject, resolve: Resolve): JsonObject | undefined {
  const responses = objectAt(at(operation, 'responses'), 'responses')
  const good = entriesOf(responses).find(([status]) => /^2|^default$/i.test(status))?.[1]
  const response = resolve(good)
  const content = at(response, 'content')
  const json = isObject(content) ? entriesOf(content).find(([type]) => /json/i.test(type))?.[1] : undefined
  return resolve(at(json, 'schema')) ?? resolve(at(response, 'schema'))
}

/** The path of the list in an answer of this schema. */
function listIn(schema: JsonObject | undefined, resolve: Resolve, depth = 0): string | undefined {
  if (schema === undefined || depth > 3) return undefined
  if (at(schema, 'type') === 'array' || at(schema, 'items') !== undefined) return '.'
  const all = at(schema, 'allOf')
  const parts = isArray(all) ? all.map(resolve).filter((part) => part !== undefined) : [schema]
  const members = parts.flatMap((part) => entriesOf(objectAt(at(part, 'properties'), 'properties')))
  for (const isDirect of [true, false]) {
    for (const [name, member] of members) {
      const inner = resolve(member)
      const isList = at(inner, 'type') === 'array'
      if (isDirect && isList) return name
      const below = isDirect || isList ? undefined : listIn(inner, resolve, depth + 1)
      if (below !== undefined && below !== '.') return `${name}.${below}`
    }
  }
  return undefined
}

function baseUrlOf(root: JsonObject, notes: string[]): string {
  const servers = at(root, 'servers')
  const first = isArray(servers) ? servers[0] : undefined
  const host = textAt(at(root, 'host'), 'host', '')
  const schemes = at(root, 'schemes')
  const scheme = isArray(schemes) && schemes.includes('http') && !schemes.includes('https') ? 'http' : 'https'
  const old = host === '' ? '' : `${scheme}://${host}${textAt(at(root, 'basePath'), 'basePath', '')}`
  const url = textAt(at(first, 'url'), 'servers.0.url', '') || old
  const filled = url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = at(at(at(first, 'variables'), name), 'default')
    return typeof value === 'string' ? value : whole
  })
  if (!/^https?:\/\//i.test(filled)) {
    notes.push(`The description names no full address${filled === '' ? '' : ` (only '${filled}')`}: fill in api.baseUrl.`)
    return `https://api.example.com/${filled.replace(/^\/+/, '').replace(/\/*$/, filled === '' ? '' : '/')}`
  }
  return `${filled.replace(/\/+$/, '')}/`
}

interface Security {
  readonly authentication?: JsonObject
  readonly headers: [string, JsonValue][]
  readonly attributes: [string, JsonValue][]
}

const attr = (name: string) => objectOf([['attr', name]])
const bearer = (value: JsonValue) => objectOf([['function', 'concat'], ['args', ['Bearer ', value]]]) // biome-ignore format: pairs

/** The first scheme that the extractor can do; values are left empty for the user. */
function securityOf(root: JsonObject, resolve: Resolve, notes: string[]): Security {
  const schemes = at(at(root, 'components'), 'securitySchemes') ?? at(root, 'securityDefinitions')
  for (const [name, given] of isObject(schemes) ? entriesOf(schemes) : []) {
    const found = schemeOf(resolve(given))
    if (found === undefined) continue
    notes.push(`Authentication '${name}': fill in ${found.attributes.map(([key]) => `config.${key}`).join(', ')}.`)
    return found
  }
  return { headers: [], attributes: [] }
}

function schemeOf(scheme: JsonObject | undefined): Security | undefined {
  const type = at(scheme, 'type')
  const name = textAt(at(scheme, 'name'), 'name', '')
  if (type === 'basic' || (type === 'http' && String(at(scheme, 'scheme')).toLowerCase() === 'basic')) {
    const attributes: [string, JsonValue][] = [['username', ''], ['#password', '']] // biome-ignore format: pairs
    return { authentication: objectOf([['type', 'basic']]), headers: [], attributes }
  }
  if (type === 'http') return { headers: [['Authorization', bearer(attr('#token'))]], attributes: [['#token', '']] }
  if (type === 'apiKey' && at(scheme, 'in') === 'header')
    return { headers: [[name, attr('#apiKey')]], attributes: [['#apiKey', '']] }
  if (type === 'apiKey' && at(scheme, 'in') === 'query') {
    const query = objectOf([[name, attr('#apiKey')]])
    return { authentication: objectOf([['type', 'query'], ['query', query]]), headers: [], attributes: [['#apiKey', '']] } // biome-ignore format: pairs
  }
  if (type !== 'oauth2') return undefined
  const flow = at(at(scheme, 'flows'), 'clientCredentials') ?? (at(scheme, 'flow') === 'application' ? scheme : undefined)
  const tokenUrl = textAt(at(flow, 'tokenUrl'), 'tokenUrl', '')
  return tokenUrl === ''
    ? { headers: [['Authorization', bearer(attr('#token'))]], attributes: [['#token', '']] }
    : clientCredentials(tokenUrl)
}

function clientCredentials(tokenUrl: string): Security {
  const params = objectOf([
    ['grant_type', 'client_credentials'],
    ['client_id', attr('clientId')],
    ['client_secret', attr('#clientSecret')],
  ])
  const authentication = objectOf([
    ['type', 'login'],
    ['loginRequest', objectOf([['endpoint', tokenUrl], ['method', 'FORM'], ['params', params]])], // biome-ignore format: pairs
    ['apiRequest', objectOf([['headers', objectOf([['Authorization', bearer(objectOf([['response', 'access_token']]))]])]])],
    ['expires', objectOf([['response', 'expires_in'], ['relative', true]])], // biome-ignore format: pairs
  ])
  return { authentication, headers: [], attributes: [['clientId', ''], ['#clientSecret', '']] } // biome-ignore format: pairs
}
