// One client per iteration: the order in which the wrappers around a request stand.
//
//   redirects -> retries -> authentication -> gate -> AWS signature -> record or replay -> transport
//
// Authentication stands below redirects and retries, so every attempt has a signature of its own (spec extractor 4). The login goes the
// same way without the authentication.

import type { Authentication } from '../auth/authentication.types.ts'
import type { KeptAnswers } from '../checkpoint/checkpoint.ts'
import type { Decode } from '../decode/decode.ts'
import { DecodeError } from '../decode/decode-error.ts'
import { isObject, type JsonValue, objectOf } from '../json/json.ts'
import { JsonSyntaxError, parseJson } from '../json/parse.ts'
import type { Log } from '../log.ts'
import { withoutCredentials } from '../redaction.ts'
import type { Address } from './address.ts'
import { requestLine, shownRequest } from './confidential.ts'
import type { HttpRequest, HttpResponse, Send } from './exchange.ts'
import type { Gate } from './gate.ts'
import { headersOf, underHeaders } from './headers.ts'
import { withRedirects } from './redirect.ts'
import { buildRequest, type Method, mergeUnder, type RequestDefaults, type RequestSettings } from './request.ts'
import { excerpt, failedRequest, undecodable } from './response.ts'
import { type RetryDeps, withRetries } from './retry.ts'

export interface Fetched {
  readonly request: HttpRequest
  readonly status: number
  readonly headers: HttpResponse['headers']
  readonly body: Buffer
  readonly response: JsonValue
  /** False when the response is not what parsing the body gives. */
  readonly isBodyDecoded: boolean
}

export interface Client {
  /** One page: the decoded answer, or a UserError that names what came back. `place`: where in the run it is requested. */
  fetch(settings: RequestSettings, decode?: Decode, place?: string): Promise<Fetched>
  /** What fetch would send, before authentication. */
  request(settings: RequestSettings): HttpRequest
  readonly defaultMethod: Method
}

export interface ClientOptions {
  readonly base: Address
  /** api.http.headers with config.http.headers over them. */
  readonly headers: readonly (readonly [string, string])[]
  readonly defaults: RequestDefaults
  readonly ignoreErrors: ReadonlySet<number>
  readonly retry: Omit<RetryDeps, 'pause'>
  readonly gate: Gate
  /** The innermost wrappers and the transport: everything below authentication. */
  readonly send: Send
  /** Makes the authentication; it is handed the way a login takes. */
  readonly authenticate: (sendLogin: Send) => Authentication
  readonly isSecret: (text: string) => boolean
  /** Answers of an earlier run come before all of the above. */
  readonly kept?: KeptAnswers | undefined
  readonly log: Log
}

export function createClient(options: ClientOptions): Client {
  const { base, defaults, ignoreErrors, kept, log } = options
  const wire = logged(options.gate.around(options.send), log)
  const retry = { ...options.retry, pause: options.gate.pause }
  const unsigned = withRetries(wire, retry)
  const login = withRedirects({ send: unsigned, sendUnsigned: unsigned, isSecret: options.isSecret })
  const sign = options.authenticate(login)
  const signed = withRetries(renewing(sign, wire, ignoreErrors), retry)
  const send = withRedirects({ send: signed, sendUnsigned: unsigned, isSecret: options.isSecret })

  function request(settings: RequestSettings): HttpRequest {
    const params = mergeUnder(defaults.params, settings.params)
    const built = buildRequest(base, {
      ...settings,
      params: isObject(params) ? params : objectOf([]),
      headers: [...headersOf(defaults.headers, settings.headers).values()],
    })
    return { ...built, headers: underHeaders(built.headers, options.headers) }
  }

  async function fetch(settings: RequestSettings, decode?: Decode, place = ''): Promise<Fetched> {
    const sent = request(settings)
    const found = kept?.find(place, sent)
    const response = found ?? (await send(sent))
    const fetched = await understood(sent, response, decode)
    if (found === undefined) kept?.keep(place, sent, response)
    return fetched
  }

  async function understood(sent: HttpRequest, response: HttpResponse, decode: Decode | undefined): Promise<Fetched> {
    const { status, headers, body } = response
    if (ignoreErrors.has(status)) return { request: sent, status, headers, body, ...ignored(sent, response, log) }
    if (status >= 400) throw failedRequest(response, sent, 'job')
    const value = decode ? await decodedBy(decode, sent, response) : decoded(sent, response)
    return { request: sent, status, headers, body, response: value, isBodyDecoded: decode === undefined }
  }

  return { fetch, request, defaultMethod: defaults.method }
}

/** A 401 to credentials that worked before: they have ended early. One more login, and the request is sent again. */
function renewing(sign: Authentication, wire: Send, ignoreErrors: ReadonlySet<number>): Send {
  return async (request) => {
    const sent = await sign(request)
    const response = await wire(sent)
    if (response.status !== 401 || ignoreErrors.has(401) || !sign.renew?.(sent)) return response
    return wire(await sign(request))
  }
}

function decoded(request: HttpRequest, response: HttpResponse): JsonValue {
  try {
    return parseJson(response.body)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw undecodable('Invalid JSON response from API', error, request, response)
  }
}

async function decodedBy(decode: Decode, request: HttpRequest, response: HttpResponse): Promise<JsonValue> {
  try {
    return await decode(response.body)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw undecodable('Invalid response from API', error, request, response, '')
  }
}

/** An ignored status counts as success; what is not JSON becomes an item of its own (spec extractor 10.6). */
function ignored(
  request: HttpRequest,
  { status, statusText, body }: HttpResponse,
  log: Log,
): Pick<Fetched, 'response' | 'isBodyDecoded'> {
  log.warning(`Failed to get response ${status} ${statusText}: ${requestLine(request)} ${excerpt(body)}`)
  try {
    return { response: parseJson(body), isBodyDecoded: true }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    log.warning(`Failed to parse response ${error.message}`)
    return { response: objectOf([['errorData', body.toString()]]), isBodyDecoded: false }
  }
}

/** DEBUG: each request with its headers, each answer with its status. */
function logged(send: Send, log: Log): Send {
  if (!log.isDebug) return send
  return async (request) => {
    const { headers, body } = shownRequest(request)
    log.debug(requestLine(request), {
      headers: Object.fromEntries(withoutCredentials(headers.values())),
      body: body ?? null,
    })
    const response = await send(request)
    log.debug(`${response.status} ${response.statusText}`, { bytes: response.body.length })
    return response
  }
}
