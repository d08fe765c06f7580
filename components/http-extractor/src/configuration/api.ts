// parameters.api (spec extractor 3), read into what the client needs.

import { getHeapStatistics } from 'node:v8'
import { UserError } from '../errors.ts'
import { evaluate, evaluateMembers, type Scope } from '../functions/evaluate.ts'
import { type Address, parseAddress } from '../http/address.ts'
import { headersOf } from '../http/headers.ts'
import type { RequestDefaults } from '../http/request.ts'
import { DEFAULT_RETRY, type RetryRules } from '../http/retry.ts'
import { isEmpty, isObject, isScalar, type JsonObject, type JsonValue } from '../json/json.ts'
import { JsonSyntaxError, parseJson } from '../json/parse.ts'
import { toText } from '../json/text.ts'
import type { Log } from '../log.ts'
import { at, headerPairs, integerAt, integersAt, listAt, methodAt, objectAt, secondsAt, textAt } from './read.ts'

export interface ApiSettings {
  readonly base: Address
  readonly name: string
  readonly headers: readonly (readonly [string, string])[]
  readonly defaults: RequestDefaults
  readonly ignoreErrors: ReadonlySet<number>
  readonly connectTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly maxBodyBytes: number
  readonly retry: RetryRules
  readonly tls: { readonly ca?: string; readonly certificate?: string }
}

const CONNECT_TIMEOUT_S = 30
const REQUEST_TIMEOUT_S = 300
/** Parsed JSON takes several times its text: a larger answer would end the process without a word. */
const HEAP_PER_BODY = 6
const MAX_BODY_BYTES = Math.min(256 * 1024 * 1024, Math.floor(getHeapStatistics().heap_size_limit / HEAP_PER_BODY))

/** `scope` has the attributes of this run's config; `paramScope`, for default params, the times of the state as well. */
export function readApi(api: JsonObject, config: JsonObject, scope: Scope, paramScope: Scope, log: Log): ApiSettings {
  const http = objectAt(at(api, 'http'), 'api.http')
  const defaults = objectAt(at(http, 'defaultOptions'), 'api.http.defaultOptions')
  const ca = at(api, 'caCertificate')
  const certificate = at(api, '#clientCertificate')
  return {
    base: readBaseUrl(at(api, 'baseUrl'), scope, log),
    name: textAt(at(api, 'name'), 'api.name', 'generic'),
    headers: readHeaders(http, config, scope),
    defaults: {
      method: methodAt(at(defaults, 'method'), 'api.http.defaultOptions.method') ?? 'GET',
      params: evaluateMembers(objectAt(at(defaults, 'params'), 'api.http.defaultOptions.params'), paramScope),
      headers: headerPairs(
        evaluateMembers(objectAt(at(defaults, 'headers'), 'api.http.defaultOptions.headers'), scope),
        'api.http.defaultOptions.headers',
      ),
    },
    ignoreErrors: new Set(integersAt(at(http, 'ignoreErrors'), 'api.http.ignoreErrors') ?? []),
    connectTimeoutMs: secondsAt(at(http, 'connectTimeout'), CONNECT_TIMEOUT_S) * 1000,
    requestTimeoutMs: secondsAt(at(http, 'requestTimeout'), REQUEST_TIMEOUT_S) * 1000,
    maxBodyBytes: integerAt(at(http, 'maxResponseBytes'), 'api.http.maxResponseBytes') || MAX_BODY_BYTES,
    retry: readRetry(at(api, 'retryConfig')),
    tls: {
      ...(isEmpty(ca) ? {} : { ca: pem(ca, 'api.caCertificate') }),
      ...(isEmpty(certificate) ? {} : { certificate: pem(certificate, 'api.#clientCertificate') }),
    },
  }
}

function readBaseUrl(value: JsonValue | undefined, scope: Scope, log: Log): Address {
  if (isEmpty(value)) throw new UserError("The 'baseUrl' attribute must be set in API configuration")
  if (typeof value !== 'string') return evaluatedBaseUrl(value!, scope)
  const address = parseAddress(value)
  if (address) return address
  const expression = parsedOrUndefined(value)
  if (!isObject(expression)) throw new UserError("The 'baseUrl' attribute in API configuration is not a valid URL")
  log.warning("Passing 'api.baseUrl' as JSON text is deprecated, use an object.")
  return evaluatedBaseUrl(expression, scope)
}

function evaluatedBaseUrl(expression: JsonValue, scope: Scope): Address {
  const result = evaluate(expression, scope)
  const text = isScalar(result) ? toText(result) : JSON.stringify(result)
  const address = parseAddress(text)
  if (!address) throw new UserError(`The "baseUrl" attribute in API configuration resulted in an invalid URL (${text})`)
  return address
}

function parsedOrUndefined(text: string): JsonValue | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

function readHeaders(http: JsonObject, config: JsonObject, scope: Scope): [string, string][] {
  const own = objectAt(at(objectAt(at(config, 'http'), 'config.http'), 'headers'), 'config.http.headers')
  for (const required of listAt(at(http, 'requiredHeaders'), 'api.http.requiredHeaders')) {
    const name = textAt(required, 'api.http.requiredHeaders', '')
    if (isEmpty(at(own, name))) throw new UserError(`Missing required header ${name} in 'config.http.headers'.`)
  }
  const evaluated = (headers: JsonObject, path: string) => headerPairs(evaluateMembers(headers, scope), path)
  const merged = headersOf(
    evaluated(objectAt(at(http, 'headers'), 'api.http.headers'), 'http.headers'),
    evaluated(own, 'config.http.headers'),
  )
  return [...merged.values()].map(([name, value]) => [name, value])
}

/** Old names beside the new ones: one of the old http names discards a given `http` object as a whole (spec extractor 10.4). */
function readRetry(value: JsonValue | undefined): RetryRules {
  const config = objectAt(value, 'api.retryConfig')
  const old = !isEmpty(at(config, 'headerName')) || !isEmpty(at(config, 'httpCodes'))
  const http = old ? undefined : objectAt(at(config, 'http'), 'api.retryConfig.http')
  const curl = isEmpty(at(config, 'curlCodes')) ? objectAt(at(config, 'curl'), 'api.retryConfig.curl') : undefined
  const httpCodes = integersAt(old ? at(config, 'httpCodes') : at(http, 'codes'), 'api.retryConfig.http.codes')
  const curlCodes = integersAt(curl ? at(curl, 'codes') : at(config, 'curlCodes'), 'api.retryConfig.curl.codes')
  const header = textAt(old ? at(config, 'headerName') : at(http, 'retryHeader'), 'api.retryConfig.http.retryHeader')
  return {
    maxRetries: integerAt(at(config, 'maxRetries'), 'api.retryConfig.maxRetries') ?? DEFAULT_RETRY.maxRetries,
    retryHeader: header?.toLowerCase() ?? DEFAULT_RETRY.retryHeader,
    httpCodes: httpCodes ? new Set(httpCodes) : DEFAULT_RETRY.httpCodes,
    curlCodes: curlCodes ? new Set(curlCodes) : DEFAULT_RETRY.curlCodes,
  }
}

function pem(value: JsonValue | undefined, path: string): string {
  if (typeof value !== 'string') throw new UserError(`Invalid configuration: '${path}' must be a text in PEM format.`)
  return value
}
