// type login (spec extractor 5): a request of its own whose answer provides headers and query values for
// every API request, and which is repeated when its answer expires.
//
//   no credentials --first API request--> login sent --> credentials valid --expired--> login sent again
//
// What must stay true:
//  (1) only loginRequest.headers are sent with the login; no defaults, no authentication;
//  (2) with `expires: 0` every request, also a retry, is preceded by a login of its own;
//  (3) values from several sources become an indexed list, the login's value last.

import { strtotime } from '../../../../contract/strtotime.ts'
import { at, flagAt, headerPairs, methodAt, objectAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { evaluate, evaluateMembers, flatValue, type Scope } from '../functions/evaluate.ts'
import { kindOf } from '../functions/kind.ts'
import { withQuery } from '../http/address.ts'
import type { HttpRequest, HttpResponse } from '../http/exchange.ts'
import { withHeaders } from '../http/headers.ts'
import { mergeAsLists, parseQuery, writePairs } from '../http/query.ts'
import { buildRequest, type Method } from '../http/request.ts'
import { failedRequest, undecodable } from '../http/response.ts'
import { entriesOf, isEmpty, isObject, isScalar, type JsonObject, type JsonValue, objectOf } from '../json/json.ts'
import { isNumeric } from '../json/numbers.ts'
import { JsonSyntaxError, parseJson } from '../json/parse.ts'
import { toText } from '../json/text.ts'
import { hideCredentialHeaders, type Redactor } from '../redaction.ts'
import type { AuthDeps, Authentication } from './authentication.types.ts'
import { nowSeconds } from './expressions.ts'
import { createSessions, type Session } from './sessions.ts'

export const loginSchema = {
  title: 'Login',
  description: 'A login request whose answer provides headers and query values for the API requests.',
  properties: {
    type: { const: 'login' },
    format: { enum: ['json', 'text'], default: 'json', description: 'Expected format of the login response.' },
    loginRequest: {
      type: 'object',
      properties: {
        endpoint: { type: 'string', description: 'Relative to api.baseUrl, or a full address.' },
        method: { enum: ['GET', 'POST', 'FORM'], default: 'GET' },
        params: { $ref: '#/$defs/params' },
        headers: { $ref: '#/$defs/expressions', description: 'The only headers of the login request.' },
      },
      required: ['endpoint'],
    },
    apiRequest: {
      type: 'object',
      properties: {
        headers: { $ref: '#/$defs/expressions', description: 'Header name to expression; may use response and attr.' },
        query: { $ref: '#/$defs/expressions', description: 'Parameter name to expression; may use response and attr.' },
      },
    },
    expires: {
      description: 'When the login is repeated: seconds, or where the response says so.',
      oneOf: [
        { type: ['integer', 'string'] },
        {
          type: 'object',
          properties: {
            response: { type: 'string', description: 'Path of the expiry in the login response.' },
            relative: { type: 'boolean', default: false, description: 'true: seconds from now. false: an absolute time.' },
          },
          required: ['response'],
        },
      ],
    },
  },
  required: ['type', 'loginRequest'],
} as const

interface Credentials {
  readonly headers: readonly [string, string][]
  readonly query: readonly [string, string][]
  /** In milliseconds; undefined: never. */
  readonly expiresAt: number | undefined
}

type Expiry = { readonly seconds: number } | { readonly response: string; readonly relative: boolean } | undefined

export const createLogin = (deps: AuthDeps): Authentication => createLoginWith(deps, {})

export function createLoginWith(deps: AuthDeps, loginReferences: Readonly<Record<string, JsonObject>>): Authentication {
  const { settings, attributes, base, send, now, redactor, log } = deps
  const request = readLoginRequest(settings)
  const format = readFormat(settings)
  const expiry = readExpiry(at(settings, 'expires'))
  const apiRequest = objectAt(at(settings, 'apiRequest'), 'api.authentication.apiRequest')
  const headers = objectAt(at(apiRequest, 'headers'), 'api.authentication.apiRequest.headers')
  const query = objectAt(at(apiRequest, 'query'), 'api.authentication.apiRequest.query')

  const scope = (references: Readonly<Record<string, JsonValue>>): Scope => ({
    references: { attr: attributes, ...references },
    nowSeconds: () => nowSeconds(now),
    secretReferences: new Set(['response', 'consumer', 'user']),
    hide: redactor.addPassing,
  })

  const said = new Set<string>()
  const warnOnce = (text: string) => {
    if (!said.has(text)) log.warning(text)
    said.add(text)
  }

  async function login(): Promise<Credentials> {
    const sentAt = now()
    const inLogin = scope(loginReferences)
    const loginHeaders = headerPairs(evaluateMembers(request.headers, inLogin), 'api.authentication.loginRequest.headers')
    const params = evaluateMembers(request.params, inLogin)
    hideCredentialHeaders(loginHeaders, redactor.addPassing)
    hideTokens(objectOf([...entriesOf(params), ...loginHeaders]), redactor)
    const { endpoint, method } = request
    const built = buildRequest(base, { endpoint, method, params, headers: loginHeaders }, '{}')
    const response = await send({ ...built, isLogin: true })
    // For messages: without params, which hold the credentials.
    const named = buildRequest(base, { ...request, params: objectOf([]), headers: [] })
    if (response.status >= 400) throw failedRequest(response, named, 'login')
    const answer = readAnswer(response, named, format)
    hideTokens(answer, redactor)
    const inApi = scope({ response: answer })
    const value = (expression: JsonValue) => applied(expression, answer, inApi, warnOnce)
    log.debug('Logged in.')
    return {
      headers: entriesOf(headers).map(([name, expression]) => [name, value(expression)]),
      query: entriesOf(query).map(([name, expression]) => [name, value(expression)]),
      expiresAt: expiresAt(expiry, answer, sentAt, now(), warnOnce),
    }
  }

  const sessions = createSessions({
    login,
    isExpired: ({ expiresAt }) => expiresAt !== undefined && now() >= expiresAt,
    isEachTime: expiry !== undefined && 'seconds' in expiry && expiry.seconds <= 0,
  })
  const usedBy = new WeakMap<HttpRequest, Session<Credentials>>()

  async function sign(target: HttpRequest): Promise<HttpRequest> {
    const session = await sessions.next()
    const signed = signedWith(session.credentials, target)
    usedBy.set(signed, session)
    return signed
  }

  function renew(refused: HttpRequest): boolean {
    const session = usedBy.get(refused)
    if (session === undefined || !sessions.end(session)) return false
    log.info('The API refused the credentials of the login with 401: the request is sent again with those of a new login.')
    return true
  }

  return Object.assign(sign, { renew })
}

function signedWith(credentials: Credentials, target: HttpRequest): HttpRequest {
  const signed = { ...target, headers: withHeaders(target.headers, credentials.headers) }
  if (credentials.query.length === 0) return signed
  return {
    ...signed,
    address: withQuery(target.address, writePairs(mergeAsLists(parseQuery(target.address.query), credentials.query))),
  }
}

/**
 * A plain text is sent as written. One with a dot that is the path of a value of the login response stands for that value, as older
 * configurations have it.
 */
function applied(expression: JsonValue, answer: JsonObject, scope: Scope, warn: (text: string) => void): string {
  if (typeof expression === 'string') {
    const found = expression.includes('.') ? flatValue(answer, expression) : undefined
    if (!isScalar(found)) return expression
    scope.hide?.(found)
    warn(`'${expression}' in apiRequest is taken as a path in the login response. Write {"response": "${expression}"} instead.`)
    return toText(found)
  }
  const value = evaluate(expression, scope)
  if (value !== null && !isScalar(value)) {
    throw new UserError(
      `Invalid configuration: a value of 'api.authentication.apiRequest' must be a text or a number, but it gives ${kindOf(value)}.`,
    )
  }
  return toText(value)
}

function readLoginRequest(settings: JsonObject): { endpoint: string; method: Method; params: JsonObject; headers: JsonObject } {
  const request = at(settings, 'loginRequest')
  if (isEmpty(request) || !isObject(request)) throw new UserError("'loginRequest' is not configured for Login authentication")
  const endpoint = textAt(at(request, 'endpoint'), 'api.authentication.loginRequest.endpoint')
  if (endpoint === undefined || endpoint === '')
    throw new UserError('Request endpoint must be set for the Login authentication method.')
  return {
    endpoint,
    method: methodAt(at(request, 'method'), 'api.authentication.loginRequest.method') ?? 'GET',
    params: objectAt(at(request, 'params'), 'api.authentication.loginRequest.params'),
    headers: objectAt(at(request, 'headers'), 'api.authentication.loginRequest.headers'),
  }
}

function readFormat(settings: JsonObject): 'json' | 'text' {
  const format = at(settings, 'format') ?? 'json'
  if (format !== 'json' && format !== 'text') throw new UserError("'format' must be either 'json' or 'text'.")
  return format
}

function readExpiry(expires: JsonValue | undefined): Expiry {
  if (expires === undefined || expires === null) return undefined
  if (typeof expires !== 'boolean' && /^\s*[-+]?\d+\s*$/.test(String(expires)) && !Array.isArray(expires))
    return { seconds: Number(String(expires)) }
  const response = at(expires, 'response')
  if (typeof response !== 'string' || response === '') {
    throw new UserError(
      "The 'expires' attribute must be either an integer or an array with 'response' key containing a path in the response",
    )
  }
  return { response, relative: flagAt(at(expires, 'relative'), 'api.authentication.expires.relative') }
}

function readAnswer(response: HttpResponse, request: HttpRequest, format: 'json' | 'text'): JsonObject {
  // A line end belongs to the text file that the answer is, not to the token in it, and no header can hold it.
  if (format === 'text') return objectOf([['data', response.body.toString().replace(/[\r\n]+$/, '')]])
  let answer: JsonValue
  try {
    answer = parseJson(response.body)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw undecodable('Invalid JSON response to the login request', error, request, response)
  }
  if (isObject(answer)) return answer
  if (isScalar(answer)) return objectOf([['data', answer]])
  throw new UserError(
    `The response to the login request should be an object or a scalar value, given "${kindOf(answer)}".`,
  ).withFacts({
    kind: 'login.failed',
  })
}

/** What is not used now may still give access to the API: a refresh token, a session. */
const TOKEN_NAME = /token|secret|pass|pwd|pin$|key|code|session|auth|credential|assertion|sign|jwt|sid$|^data$/i

function hideTokens(value: JsonValue, redactor: Redactor, name = ''): void {
  if (Array.isArray(value)) for (const element of value) hideTokens(element, redactor, name)
  else if (isObject(value)) for (const [key, member] of entriesOf(value)) hideTokens(member, redactor, key)
  else if (typeof value === 'string' && TOKEN_NAME.test(name)) redactor.addPassing(value)
}

function expiresAt(
  expiry: Expiry,
  answer: JsonObject,
  sentAt: number,
  now: number,
  warn: (text: string) => void,
): number | undefined {
  if (expiry === undefined) return undefined
  if ('seconds' in expiry) return sentAt + expiry.seconds * 1000
  const value = flatValue(answer, expiry.response)
  if (value === undefined) {
    warn(`The login response has no '${expiry.response}', which api.authentication.expires names: the login is not repeated.`)
    return undefined
  }
  const time = expiryTime(value, expiry.relative, now)
  // Times are whole seconds: the current one is not over yet.
  if (time === undefined || time < Math.floor(now / 1000) * 1000) {
    throw new UserError(
      `Login authentication returned expiry time before current time: '${isScalar(value) ? toText(value) : kindOf(value)}'`,
    ).withFacts({ kind: 'login.failed' })
  }
  return time
}

/**
 * In milliseconds. A number is a Unix time or, when relative, seconds from now. A text is for strtotime, also one of digits
 * ("2033.123" is a day of that year); digits that it does not read are a number, as is every text of digits when relative.
 */
function expiryTime(value: JsonValue, relative: boolean, now: number): number | undefined {
  const number = isNumeric(value) ? Math.round(Number(String(value))) * 1000 : undefined
  if (relative && number !== undefined) return now + number
  const seconds = typeof value === 'string' ? strtotime(value, Math.floor(now / 1000)) : undefined
  return seconds === undefined ? number : seconds * 1000
}
