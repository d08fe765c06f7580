// `HttpRequester`: the address and the parts of a request, and the sending of it.

import { createAuthenticator } from '../auth/authenticator.ts'
import { contextOf, type Deps } from '../component.ts'
import { createErrorHandler } from '../errors/error-handler.ts'
import { ConnectorError, ValueError } from '../errors.ts'
import type { StreamSlice } from '../partitions/slice.ts'
import { jsonText } from '../python/json.ts'
import { type Dict, isDict, pyStr, setKey, truthy } from '../python/values.ts'
import { combine, type Place } from './options.ts'
import type { Requester, RequestInput } from './requester.types.ts'
import { sendWithRetries } from './retry.ts'
import { asLogin, type HttpRequest } from './transport.ts'
import { formText, urlFrom, urlOf, withParams } from './url.ts'

const REQUEST_TYPES = ['str', 'list'] as const

export function createRequester(definition: Dict, deps: Deps): Requester {
  const { expressions, clock } = deps
  const own = contextOf(definition, deps)
  const errors = createErrorHandler(definition.error_handler, deps)
  const send = definition.use_cache === true ? deps.cache.wrap(deps.send) : deps.send
  const placeContext = (slice: StreamSlice, nextPageToken: Dict | undefined): Dict => ({
    ...own,
    ...slice.extraFields,
    stream_slice: slice,
    next_page_token: nextPageToken ?? null,
  })
  const baseOf = (context: Dict) => {
    const base = pyStr(expressions.value(definition.url_base ?? '', context))
    return base === '' ? pyStr(expressions.value(definition.url ?? '', context)) : base
  }
  const authenticator = createAuthenticator(definition.authenticator, {
    ...deps,
    createRequester: (login) => createRequester(login, { ...deps, send: asLogin(deps.send) }),
    baseUrl: () => baseOf(own),
  })
  const { json: bodyJson, data: bodyData } = bodiesOf(definition)
  if (truthy(bodyJson) && truthy(bodyData))
    throw new ValueError('RequestOptionsProvider: only one of request_body_data and request_body_json can be used.')

  function ownPart(place: Place, { slice, nextPageToken, properties }: RequestInput): unknown {
    const context: Dict = { ...own, stream_slice: slice, next_page_token: nextPageToken ?? null }
    if (place === 'request_parameter') {
      if (!isDict(definition.request_parameters)) return {}
      return expressions.mapping(withProperties(definition.request_parameters, properties), context, REQUEST_TYPES)
    }
    if (place === 'header')
      return isDict(definition.request_headers)
        ? expressions.mapping(definition.request_headers, context)
        : textOption(definition.request_headers, context)
    if (place === 'body_data')
      return isDict(bodyData) ? expressions.mapping(bodyData, context, REQUEST_TYPES) : textOption(bodyData, context)
    if (typeof bodyJson === 'string') return expressions.optional(bodyJson, context)
    return isDict(bodyJson) ? expressions.nested(bodyJson, context) : {}
  }

  const textOption = (template: unknown, context: Dict) => {
    if (typeof template !== 'string') return {}
    // A text that reads as a Python dictionary becomes one, and is sent as a form.
    const value = expressions.optional(template, context)
    return value === null ? {} : isDict(value) ? value : pyStr(value)
  }

  async function partsOf(place: Place, input: RequestInput): Promise<unknown> {
    const ours = ownPart(place, input)
    const extra = input.extra?.(place) ?? {}
    const auth = await authenticator.options(place)
    return combine([ours, auth, extra], place === 'body_json')
  }

  async function build(input: RequestInput): Promise<HttpRequest> {
    const context = placeContext(input.slice, input.nextPageToken)
    const base = baseOf(context)
    const path =
      definition.path === undefined || definition.path === null ? '' : pyStr(expressions.value(definition.path, context))
    const url = input.path ? urlFrom(base, input.path) : urlOf(base, path)
    const headers = await partsOf('header', input)
    if (!isDict(headers)) throw new ValueError('Request headers cannot be a string.')
    const params = await partsOf('request_parameter', input)
    if (!isDict(params)) throw new ValueError('Request params cannot be a string.')
    for (const [key, value] of Object.entries(params))
      if (isDict(value))
        throw new ValueError(`Invalid value for \`${key}\` parameter. The values of request params cannot be an object.`)
    const json = await partsOf('body_json', input)
    const data = await partsOf('body_data', input)
    if (truthy(json) && truthy(data))
      throw new ConnectorError('At the same time only one of the request_body_data and request_body_json can be used.')
    const sent: Record<string, string> = {}
    for (const [name, value] of Object.entries(headers)) sent[name] = pyStr(value)
    const request = { method: pyStr(definition.http_method ?? 'GET').toUpperCase(), url: withParams(url, params), headers: sent }
    return authenticated(withBody(request, json, data))
  }

  /** The session's own authentication, after the options. */
  async function authenticated(request: HttpRequest): Promise<HttpRequest> {
    const auth = await authenticator.options('header')
    const headers = { ...request.headers }
    for (const [name, value] of Object.entries(auth)) {
      for (const known of Object.keys(headers))
        if (known.toLowerCase() === name.toLowerCase() && known !== name) delete headers[known]
      headers[name] = pyStr(value)
    }
    return { ...request, headers }
  }

  return {
    send: async (input) =>
      sendWithRetries(await build(input), {
        clock,
        send,
        errors,
        accept: deps.accept,
        reauthenticate: (request, force) => {
          if (force) authenticator.forget?.()
          return authenticated(request)
        },
      }),
  }
}

/** Properties of a chunk take the place of their definition. */
function withProperties(parameters: Dict, properties: readonly string[] | undefined): Dict {
  const out: Dict = {}
  for (const [name, value] of Object.entries(parameters)) {
    if (!isDict(value)) setKey(out, name, value)
    else if (properties !== undefined) setKey(out, name, properties.join(','))
  }
  return out
}

function bodiesOf(definition: Dict): { json: unknown; data: unknown } {
  const body = definition.request_body
  if (!isDict(body)) return { json: definition.request_body_json, data: definition.request_body_data }
  if (body.type === 'RequestBodyJsonObject' || body.type === 'RequestBodyGraphQL') return { json: body.value, data: undefined }
  return { json: undefined, data: body.value }
}

function withBody(request: HttpRequest, json: unknown, data: unknown): HttpRequest {
  const hasType = Object.keys(request.headers).some((name) => name.toLowerCase() === 'content-type')
  const typed = (type: string) => (hasType ? request.headers : { ...request.headers, 'Content-Type': type })
  if (truthy(json)) {
    if (typeof json === 'string') throw new ValueError(`The JSON body is a text, not an object: ${json.slice(0, 100)}`)
    return { ...request, headers: typed('application/json'), body: jsonText(json) }
  }
  if (typeof data === 'string' && data !== '') return { ...request, body: data }
  return isDict(data) && truthy(data)
    ? { ...request, headers: typed('application/x-www-form-urlencoded'), body: formText(data) }
    : request
}
