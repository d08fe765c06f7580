// A manifest as a configuration of the HTTP extractor, for the builder: what both can express is carried over, the rest is listed.

import { keysOf } from '../commands.ts'
import { listOf } from '../component.ts'
import { ConnectorError } from '../errors.ts'
import { type Dict, isDict, pyStr, truthy } from '../python/values.ts'
import { toExtractorValue } from './expressions.ts'

export interface Conversion {
  readonly parameters: Dict
  readonly rows: readonly { readonly name: string; readonly configuration: Dict }[]
  readonly notes: readonly string[]
}

/** `manifest` is loaded: references and parameters are resolved. */
export function toExtractor(manifest: Dict): Conversion {
  const notes: string[] = []
  const secrets = secretNames(manifest.spec)
  const value = (template: unknown) => toExtractorValue(template, (name) => secrets.has(name))
  const streams = listOf(manifest.streams)
    .map((each) => withParameters(each, {}))
    .filter(isDict)
  const first = streams.map(requesterOf).find((each) => each !== undefined)
  if (!first)
    throw new ConnectorError('The manifest has no stream that is read by HTTP requests, so there is nothing to convert.')
  const baseOf = (requester: Dict) => value(withDefault(requester.url_base ?? requester.url))
  const baseUrl = baseOf(first)
  if (baseUrl === undefined)
    throw new ConnectorError(`The address '${pyStr(first.url_base ?? first.url)}' cannot be written for the extractor.`)
  const scrollers = new Map<string, { readonly name: string; readonly pagination: Dict }>()
  const jobs = new Map<string, Dict>()
  const children: { readonly name: string; readonly parent: string; readonly job: Dict }[] = []

  for (const stream of streams) {
    const name = pyStr(stream.name ?? '')
    const leftOut = (reason: string) => notes.push(`The stream '${name}' is left out: ${reason}.`)
    const requester = requesterOf(stream)
    if (!requester) leftOut('it is not read by plain requests')
    else if (JSON.stringify(baseOf(requester)) !== JSON.stringify(baseUrl))
      leftOut('its address differs from that of the first stream')
    else {
      const job = jobOf(stream, requester, value, (what) => notes.push(`The stream '${name}': ${what}`), scrollers)
      const router = isDict(stream.retriever) ? stream.retriever.partition_router : undefined
      if (!job) leftOut(`its path '${pyStr(requester.path)}' is computed`)
      else if (!truthy(router)) jobs.set(name, job)
      else {
        const child = childOf(job, requester, router)
        if (child) children.push({ name, ...child })
        else leftOut('its partitions are not the records of one other stream')
      }
    }
  }
  for (const { name, parent, job } of children) {
    const above = jobs.get(parent) ?? children.find((each) => each.name === parent)?.job
    if (above) above.children = [...listOf(above.children), job]
    else notes.push(`The stream '${name}' is left out: its parent '${parent}' is not a stream of the manifest.`)
  }
  const pagination = [...scrollers.values()]
  const [only] = pagination
  if (pagination.length === 1) for (const job of [...jobs.values(), ...children.map((each) => each.job)]) delete job.scroller
  return {
    parameters: {
      api: {
        baseUrl,
        ...authOf(first.authenticator, value, notes),
        ...(pagination.length === 1 && only && { pagination: only.pagination }),
        ...(pagination.length > 1 && {
          pagination: {
            method: 'multiple',
            scrollers: Object.fromEntries(pagination.map((each) => [each.name, each.pagination])),
          },
        }),
      },
      config: {},
    },
    rows: [...jobs].map(([name, job]) => ({ name, configuration: { parameters: { config: { jobs: [job] } } } })),
    notes,
  }
}

/** `{{ parameters['x'] }}` is resolved here. */
function withParameters(node: unknown, parameters: Dict): unknown {
  if (Array.isArray(node)) return node.map((each) => withParameters(each, parameters))
  if (typeof node === 'string')
    return node.replace(/\{\{\s*parameters(?:\.(\w+)|\[['"](\w+)['"]\])\s*\}\}/g, (found, a?: string, b?: string) => {
      const value = parameters[(a ?? b)!]
      return typeof value === 'string' || typeof value === 'number' ? String(value) : found
    })
  if (!isDict(node)) return node
  const own = isDict(node.$parameters) ? node.$parameters : parameters
  return Object.fromEntries(
    Object.entries(node).map(([name, member]) => [name, name === '$parameters' ? member : withParameters(member, own)]),
  )
}

/** An address that the configuration may replace is the one it has otherwise. */
const withDefault = (template: unknown): unknown =>
  typeof template === 'string'
    ? template.replace(/\{\{\s*config\.get\(\s*['"]\w+['"]\s*,\s*['"]([^'"]*)['"]\s*\)\s*\}\}/g, '$1')
    : template

function requesterOf(stream: Dict): Dict | undefined {
  const retriever = isDict(stream.retriever) && stream.retriever.type === 'SimpleRetriever' ? stream.retriever : undefined
  return isDict(retriever?.requester) && retriever.requester.type === 'HttpRequester' ? retriever.requester : undefined
}

function secretNames(spec: unknown): Set<string> {
  const schema = isDict(spec) ? spec.connection_specification : undefined
  const properties = isDict(schema) && isDict(schema.properties) ? schema.properties : {}
  return new Set(
    Object.entries(properties).flatMap(([name, each]) => (isDict(each) && each.airbyte_secret === true ? [name] : [])),
  )
}

type Value = (template: unknown) => unknown

/** Undefined when an endpoint cannot express its path. */
function jobOf(
  stream: Dict,
  requester: Dict,
  value: Value,
  note: (what: string) => void,
  scrollers: Map<string, { name: string; pagination: Dict }>,
): Dict | undefined {
  const retriever = stream.retriever as Dict // by requesterOf
  const selector = isDict(retriever.record_selector) ? retriever.record_selector : {}
  const path = pyStr(requester.path ?? '').replace(
    /\{\{\s*stream_(?:partition|slice)(?:\.(\w+)|\[['"](\w+)['"]\])\s*\}\}/g,
    (_, a?: string, b?: string) => `{1:${a ?? b}}`,
  )
  if (path.includes('{{') || path.includes('{%')) return undefined
  const values = (part: unknown, what: string): Dict => {
    const out: Dict = {}
    for (const [name, template] of Object.entries(isDict(part) ? part : {})) {
      const translated = value(template)
      if (translated === undefined) note(`the ${what} '${name}' is computed and is not carried over.`)
      else out[name] = translated
    }
    return out
  }
  const isPost = requester.http_method === 'POST'
  const params = {
    ...(isPost ? {} : values(requester.request_parameters, 'parameter')),
    ...(isPost ? values(requester.request_body_json ?? requester.request_body_data, 'field of the body') : {}),
  }
  if (isPost && truthy(requester.request_parameters)) note('parameters of the address beside a body are not carried over.')
  const headers = values(requester.request_headers, 'header')
  const extractor = isDict(selector.extractor) ? selector.extractor : {}
  const field = listOf(extractor.field_path).map(pyStr)
  if (field.some((part) => /[*{]/.test(part))) note(`the path '${field.join('.')}' to the records is not carried over.`)
  for (const [present, what] of [
    [selector.record_filter, 'the filter of records'],
    [stream.transformations, 'the transformation of records'],
    [stream.incremental_sync, 'what is incremental (set a parameter with {"time": "previousStart"})'],
    [requester.error_handler, 'how errors are handled'],
    [retriever.decoder && (retriever.decoder as Dict).type !== 'JsonDecoder' ? retriever.decoder : undefined, 'the decoder'],
    [extractor.record_expander, 'the expansion of records'],
  ] as const)
    if (truthy(present)) note(`${what} is not carried over.`)
  const pagination = paginationOf(retriever.paginator, note)
  const scroller = pagination && scrollerOf(pagination, scrollers)
  const keys = keysOf(stream.primary_key).filter((key) => key.length === 1)
  if (keys.length > 0) note(`its primary key (${keys.flat().join(', ')}) is set with a mapping or the output of the row.`)
  return {
    endpoint: path.replace(/^\/+/, ''),
    dataType: pyStr(stream.name ?? ''),
    ...(field.length > 0 && { dataField: field.join('.') }),
    ...(isPost && { method: 'POST' }),
    ...(Object.keys(params).length > 0 && { params }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(scroller !== undefined && { scroller }),
  }
}

function scrollerOf(pagination: Dict, scrollers: Map<string, { name: string; pagination: Dict }>): string {
  const key = JSON.stringify(pagination)
  const known = scrollers.get(key) ?? { name: `pages${scrollers.size + 1}`, pagination }
  scrollers.set(key, known)
  return known.name
}

const optionName = (option: unknown): string | undefined =>
  isDict(option) &&
  option.type === 'RequestOption' &&
  option.inject_into === 'request_parameter' &&
  typeof option.field_name === 'string'
    ? option.field_name
    : undefined
/** `response['a']['b']`, `response.a.b`, `response.get('a')`. */
const responsePath = (template: string): string | undefined => {
  const found =
    /^\s*\{\{\s*response((?:\.get\(\s*['"][\w-]+['"](?:\s*,[^)]*)?\)|\.\w+|\[\s*['"][\w-]+['"]\s*\])+)\s*\}\}\s*$/.exec(template)
  return found
    ? [...found[1]!.matchAll(/\.get\(\s*['"]([\w-]+)|\.(?!get\()(\w+)|\[\s*['"]([\w-]+)/g)]
        .map(([, a, b, c]) => a ?? b ?? c)
        .join('.')
    : undefined
}

function paginationOf(paginator: unknown, note: (what: string) => void): Dict | undefined {
  if (!isDict(paginator) || paginator.type !== 'DefaultPaginator' || !isDict(paginator.pagination_strategy)) return undefined
  const strategy = paginator.pagination_strategy
  const token = optionName(paginator.page_token_option)
  const limitParam = optionName(paginator.page_size_option)
  const isPath = isDict(paginator.page_token_option) && paginator.page_token_option.type === 'RequestPath'
  const size = typeof strategy.page_size === 'number' ? { limit: strategy.page_size } : {}
  const limit = limitParam === undefined ? { limitParam: '' } : { limitParam }
  if (strategy.type === 'PageIncrement' && token !== undefined)
    return {
      method: 'pagenum',
      pageParam: token,
      firstPage: strategy.start_from_page ?? 0,
      firstPageParams: strategy.inject_on_first_request === true,
      ...limit,
      ...size,
    }
  if (strategy.type === 'OffsetIncrement' && token !== undefined && size.limit !== undefined)
    return { method: 'offset', offsetParam: token, firstPageParams: strategy.inject_on_first_request === true, ...limit, ...size }
  if (strategy.type === 'CursorPagination' && typeof strategy.cursor_value === 'string') {
    if (strategy.stop_condition !== undefined)
      note('its stop_condition is not carried over: pages end with a response that names no next one.')
    const path = responsePath(strategy.cursor_value)
    if (path !== undefined && isPath) return { method: 'response.url', urlKey: path }
    if (path !== undefined && token !== undefined) return { method: 'response.param', responseParam: path, queryParam: token }
    if (isPath && /headers\[['"]link['"]\]/.test(strategy.cursor_value)) return { method: 'response.link' }
    const last = /^\s*\{\{\s*last_record(?:\.(\w+)|\[['"](\w+)['"]\])\s*\}\}\s*$/.exec(strategy.cursor_value)
    if (last && token !== undefined) return { method: 'cursor', idKey: last[1] ?? last[2]!, param: token }
  }
  note('how its pages follow each other is not carried over.')
  return undefined
}

function childOf(job: Dict, requester: Dict, router: unknown): { readonly parent: string; readonly job: Dict } | undefined {
  const [parent, ...others] =
    isDict(router) && router.type === 'SubstreamPartitionRouter' ? listOf(router.parent_stream_configs) : []
  if (!isDict(parent) || others.length > 0 || !isDict(parent.stream)) return undefined
  const field = pyStr(parent.partition_field)
  if (!pyStr(requester.path ?? '').includes(field)) return undefined
  return {
    parent: pyStr(parent.stream.name ?? ''),
    job: { ...job, placeholders: { [`1:${field}`]: pyStr(parent.parent_key).replaceAll('/', '.') } },
  }
}

function authOf(authenticator: unknown, value: Value, notes: string[]): Dict {
  if (!isDict(authenticator) || authenticator.type === 'NoAuth') return {}
  const token = value(authenticator.api_token)
  const option = isDict(authenticator.inject_into) ? authenticator.inject_into : undefined
  const header =
    typeof authenticator.header === 'string'
      ? authenticator.header
      : option?.inject_into === 'header'
        ? option.field_name
        : undefined
  if (authenticator.type === 'BearerAuthenticator' && token !== undefined)
    return { http: { headers: { Authorization: { function: 'concat', args: ['Bearer ', token] } } } }
  if (authenticator.type === 'ApiKeyAuthenticator' && token !== undefined && typeof header === 'string')
    return { http: { headers: { [header]: token } } }
  if (authenticator.type === 'ApiKeyAuthenticator' && token !== undefined && option?.inject_into === 'request_parameter')
    return { authentication: { type: 'query', query: { [pyStr(option.field_name)]: token } } }
  if (authenticator.type === 'BasicHttpAuthenticator') {
    notes.push(
      "The user and the password of the basic authentication are set as 'username' and '#password' of the configuration.",
    )
    return { authentication: { type: 'basic' } }
  }
  notes.push(`The authentication (${pyStr(authenticator.type)}) is not carried over. Set it in the builder.`)
  return {}
}
