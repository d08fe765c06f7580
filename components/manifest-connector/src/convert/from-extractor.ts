// A configuration of the HTTP extractor as a manifest: what both can express is carried over, the rest is listed.

import { listOf } from '../component.ts'
import { ConnectorError } from '../errors.ts'
import { type Dict, isDict, pyStr } from '../python/values.ts'
import { toTemplate, toTemplates } from './expressions.ts'

export interface ManifestConversion {
  readonly manifest: Dict
  readonly notes: readonly string[]
}

const JOB_KEYS = ['endpoint', 'dataType', 'dataField', 'method', 'params', 'headers', 'children', 'placeholders', 'scroller']

export function fromExtractor(configuration: unknown, rows: readonly unknown[]): ManifestConversion {
  const parameters = isDict(configuration) && isDict(configuration.parameters) ? configuration.parameters : undefined
  const api = parameters && isDict(parameters.api) ? parameters.api : undefined
  if (!api) throw new ConnectorError("The configuration of the extractor has no 'parameters.api'.")
  const notes: string[] = []
  const used = new Set<string>()
  const use = (name: string) => void used.add(name)
  const base = toTemplate(api.baseUrl, use)
  if (base === undefined) throw new ConnectorError("'api.baseUrl' is computed by a function, which a manifest cannot say.")
  const http = isDict(api.http) ? api.http : {}
  const common = toTemplates(isDict(http.headers) ? http.headers : {}, use, (name) =>
    notes.push(`The header '${name}' is computed and is not carried over.`),
  )
  const authenticator = authenticatorOf(api.authentication, use, notes)
  const pagination = isDict(api.pagination) ? api.pagination : undefined
  const streams: Dict[] = []

  function add(job: unknown, parent: Dict | undefined): void {
    if (!isDict(job)) return
    const name = pyStr(job.dataType ?? job.endpoint ?? 'items')
    const note = (what: string) => notes.push(`The job '${name}': ${what}`)
    if (streams.some((stream) => stream.name === name)) {
      note('another job has the same dataType; it is left out.')
      return
    }
    for (const key of Object.keys(job)) if (!JOB_KEYS.includes(key)) note(`'${key}' is not carried over.`)
    const router = parent && routerOf(job, parent, note)
    if (parent && !router) return
    const params = toTemplates(isDict(job.params) ? job.params : {}, use, (each) =>
      note(`the parameter '${each}' is computed and is not carried over.`),
    )
    const headers = toTemplates(isDict(job.headers) ? job.headers : {}, use, (each) =>
      note(`the header '${each}' is computed and is not carried over.`),
    )
    const isPost = job.method === 'POST'
    const path = pyStr(job.endpoint ?? '').replace(/\{(?:\d+:)?(\w+)\}/g, (_, field: string) => `{{ stream_partition.${field} }}`)
    const stream: Dict = {
      type: 'DeclarativeStream',
      name,
      retriever: {
        type: 'SimpleRetriever',
        requester: {
          type: 'HttpRequester',
          url_base: base,
          path,
          ...(isPost && { http_method: 'POST' }),
          ...(Object.keys(params).length > 0 && (isPost ? { request_body_json: params } : { request_parameters: params })),
          ...(Object.keys({ ...common, ...headers }).length > 0 && { request_headers: { ...common, ...headers } }),
          ...(authenticator && { authenticator }),
        },
        record_selector: {
          type: 'RecordSelector',
          extractor: {
            type: 'DpathExtractor',
            field_path: typeof job.dataField === 'string' && job.dataField !== '' ? job.dataField.split('.') : [],
          },
        },
        ...paginatorOf(scrollerOf(pagination, job.scroller), note),
        ...(router && { partition_router: router }),
      },
    }
    streams.push(stream)
    for (const child of listOf(job.children)) add(child, stream)
  }
  const jobsIn = (of: unknown) => {
    const inner = isDict(of) && isDict(of.parameters) ? of.parameters : {}
    return isDict(inner.config) ? listOf(inner.config.jobs) : []
  }
  for (const each of [configuration, ...rows]) for (const job of jobsIn(each)) add(job, undefined)
  if (streams.length === 0) throw new ConnectorError('The configuration has no jobs, so there is nothing to convert.')
  return {
    manifest: {
      version: '6.1.0',
      type: 'DeclarativeSource',
      check: { type: 'CheckStream', stream_names: [streams[0]!.name] },
      streams,
      spec: specOf(used),
    },
    notes,
  }
}

function specOf(used: ReadonlySet<string>): Dict {
  const names = [...used]
  return {
    type: 'Spec',
    connection_specification: {
      type: 'object',
      required: names.map((name) => name.replace(/^#/, '')),
      properties: Object.fromEntries(
        names.map((name) => [name.replace(/^#/, ''), { type: 'string', ...(name.startsWith('#') && { airbyte_secret: true }) }]),
      ),
    },
  }
}

function routerOf(job: Dict, parent: Dict, note: (what: string) => void): Dict | undefined {
  const placeholders = Object.entries(isDict(job.placeholders) ? job.placeholders : {})
  const [placeholder] = placeholders
  const path = placeholder && (isDict(placeholder[1]) ? placeholder[1].path : placeholder[1])
  if (
    placeholders.length !== 1 ||
    typeof path !== 'string' ||
    (isDict(placeholder?.[1]) && placeholder[1].function !== undefined)
  ) {
    note('it is left out: a manifest needs one placeholder, which is a field of the parent.')
    return undefined
  }
  const field = placeholder![0].replace(/^\d+:/, '')
  return {
    type: 'SubstreamPartitionRouter',
    parent_stream_configs: [
      { type: 'ParentStreamConfig', parent_key: path.replaceAll('.', '/'), partition_field: field, stream: parent },
    ],
  }
}

function scrollerOf(pagination: Dict | undefined, scroller: unknown): Dict | undefined {
  if (pagination?.method !== 'multiple') return pagination
  const scrollers = isDict(pagination.scrollers) ? pagination.scrollers : {}
  const found = scrollers[pyStr(scroller ?? pagination.default ?? '')]
  return isDict(found) ? found : undefined
}

function paginatorOf(pagination: Dict | undefined, note: (what: string) => void): Dict {
  if (!pagination) return {}
  const parameter = (name: unknown) => ({ type: 'RequestOption', inject_into: 'request_parameter', field_name: pyStr(name) })
  const paginator = (strategy: Dict, token: Dict, limitParam?: unknown): Dict => ({
    paginator: {
      type: 'DefaultPaginator',
      pagination_strategy: strategy,
      page_token_option: token,
      ...(typeof limitParam === 'string' &&
        limitParam !== '' &&
        strategy.page_size !== undefined && { page_size_option: parameter(limitParam) }),
    },
  })
  const size = pagination.limit === undefined ? {} : { page_size: Number(pagination.limit) }
  const isFirst = pagination.firstPageParams !== false
  const cursor = (path: unknown) =>
    `{{ response${pyStr(path)
      .split('.')
      .map((part) => `['${part}']`)
      .join('')} }}`
  switch (pagination.method) {
    case 'pagenum':
      return paginator(
        { type: 'PageIncrement', ...size, start_from_page: Number(pagination.firstPage ?? 1), inject_on_first_request: isFirst },
        parameter(pagination.pageParam ?? 'page'),
        pagination.limitParam ?? 'limit',
      )
    case 'offset':
      return paginator(
        { type: 'OffsetIncrement', ...size, inject_on_first_request: isFirst },
        parameter(pagination.offsetParam ?? 'offset'),
        pagination.limitParam ?? 'limit',
      )
    case 'response.param':
      return paginator(
        { type: 'CursorPagination', cursor_value: cursor(pagination.responseParam) },
        parameter(pagination.queryParam),
      )
    case 'response.url':
      return paginator(
        { type: 'CursorPagination', cursor_value: cursor(pagination.urlKey ?? 'next_page') },
        { type: 'RequestPath' },
      )
    case 'response.link':
      return paginator(
        { type: 'CursorPagination', cursor_value: "{{ headers['link'].get('next', {}).get('url', '') }}" },
        { type: 'RequestPath' },
      )
    case 'cursor':
      return paginator(
        { type: 'CursorPagination', cursor_value: `{{ last_record['${pyStr(pagination.idKey)}'] }}` },
        parameter(pagination.param),
      )
    default:
      note(`the pagination '${pyStr(pagination.method)}' is not carried over.`)
      return {}
  }
}

function authenticatorOf(authentication: unknown, use: (name: string) => void, notes: string[]): Dict | undefined {
  if (!isDict(authentication)) return undefined
  if (authentication.type === 'basic') {
    use('username')
    use('#password')
    return { type: 'BasicHttpAuthenticator', username: "{{ config['username'] }}", password: "{{ config['password'] }}" }
  }
  const query =
    authentication.type === 'query' || authentication.type === 'url.query'
      ? Object.entries(isDict(authentication.query) ? authentication.query : {})
      : []
  const [only] = query
  const token = query.length === 1 && only ? toTemplate(only[1], use) : undefined
  if (token !== undefined)
    return {
      type: 'ApiKeyAuthenticator',
      api_token: token,
      inject_into: { type: 'RequestOption', inject_into: 'request_parameter', field_name: only![0] },
    }
  notes.push(`The authentication '${pyStr(authentication.type)}' is not carried over. Write it into the manifest.`)
  return undefined
}
