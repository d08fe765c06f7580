// OAuth 2.0 with a refresh token, client credentials or a stored access token.

import { contextOf } from '../component.ts'
import { ConnectorError, ValueError } from '../errors.ts'
import type { HttpResponse } from '../http/response.ts'
import { asLogin, TransportError } from '../http/transport.ts'
import { formText, withParams } from '../http/url.ts'
import * as dpath from '../python/dpath.ts'
import { copied } from '../python/json.ts'
import { asNumber, type Dict, getKey, isDict, isNumber, pyStr, setKey, truthy } from '../python/values.ts'
import { PyDatetime, Timedelta } from '../time/datetime.ts'
import { parseDatetime, parseIso } from '../time/formats.ts'
import { jwtSource } from './jwt.ts'
import { type AuthDeps, type Authenticator, headerOption, tokenAuthenticator } from './token.ts'

const MAX_TRIES = 6
const DEFAULT_SECONDS = 3600

export function createOAuth(definition: Dict, deps: AuthDeps): Authenticator {
  const { expressions, clock, hide } = deps
  const updater = isDict(definition.refresh_token_updater) ? definition.refresh_token_updater : undefined
  let config = deps.config
  const context = () => ({ ...contextOf(definition, deps), config })
  const evaluated = (template: unknown): unknown =>
    template === undefined || template === null ? undefined : expressions.value(template, context())
  const name = (key: string, otherwise: string) => pyStr(evaluated(definition[key]) ?? otherwise)
  const configPath = (key: string, last: string) =>
    Array.isArray(updater?.[key]) ? (updater[key] as unknown[]).map(pyStr) : ['credentials', last]

  const storedToken = () =>
    updater ? dpath.get(config, configPath('access_token_config_path', 'access_token')) : evaluated(definition.access_token_value)
  let accessToken: unknown = storedToken()
  let expiry = storedExpiry()

  function storedExpiry(): PyDatetime {
    const stored = updater
      ? dpath.get(config, configPath('token_expiry_date_config_path', 'token_expiry_date'))
      : evaluated(definition.token_expiry_date)
    return truthy(stored) ? instantOf(stored) : clock.instant().minus(new Timedelta(86_400))
  }

  function refreshToken(): unknown {
    if (!updater) return evaluated(definition.refresh_token)
    return dpath.get(config, configPath('refresh_token_config_path', 'refresh_token')) ?? evaluated(definition.refresh_token)
  }

  function body(): Dict {
    if (definition.use_profile_assertion === true && isDict(definition.profile_assertion))
      return {
        grant_type: name('grant_type', 'refresh_token'),
        assertion: jwtSource(definition.profile_assertion, { ...deps, config })(),
      }
    const payload: Dict = {}
    setKey(payload, name('grant_type_name', 'grant_type'), name('grant_type', 'refresh_token'))
    // Credentials in the header are not repeated in the body.
    if (!Object.entries(headers()).some(([key, value]) => key.toLowerCase() === 'authorization' && value.startsWith('Basic '))) {
      setKey(payload, name('client_id_name', 'client_id'), evaluated(definition.client_id))
      setKey(payload, name('client_secret_name', 'client_secret'), evaluated(definition.client_secret))
    }
    setKey(payload, name('refresh_token_name', 'refresh_token'), refreshToken())
    hide(evaluated(definition.client_secret))
    hide(payload[name('refresh_token_name', 'refresh_token')])
    const scopes = Array.isArray(definition.scopes)
      ? definition.scopes.map((each) => evaluated(each))
      : evaluated(definition.scopes)
    if (truthy(scopes)) payload.scopes = scopes
    const extra = isDict(definition.refresh_request_body) ? expressions.mapping(definition.refresh_request_body, context()) : {}
    for (const [key, value] of Object.entries(extra)) if (!Object.hasOwn(payload, key)) setKey(payload, key, value)
    return payload
  }

  function headers(): Record<string, string> {
    const own = isDict(definition.refresh_request_headers)
      ? expressions.mapping(definition.refresh_request_headers, context())
      : {}
    return Object.fromEntries(Object.entries(own).map(([key, value]) => [key, pyStr(value)]))
  }

  async function requestToken(): Promise<Dict> {
    const url = pyStr(evaluated(definition.token_refresh_endpoint) ?? '')
    if (url === '') throw new ValueError('OAuthAuthenticator was unable to evaluate token_refresh_endpoint.')
    const values = body()
    const own = headers()
    hide(
      Object.values(own)
        .filter((value) => /^(?:Basic|Bearer) /.test(value))
        .map((value) => value.slice(value.indexOf(' ') + 1)),
    )
    const hasType = Object.keys(own).some((key) => key.toLowerCase() === 'content-type')
    for (let tries = 1; ; tries++) {
      let response: HttpResponse | undefined
      try {
        response = await asLogin(deps.send)(
          definition.send_refresh_request_as_query_params === true
            ? { method: 'POST', url: withParams(url, values), headers: own }
            : {
                method: 'POST',
                url,
                headers: { ...own, ...(!hasType && { 'Content-Type': 'application/x-www-form-urlencoded' }) },
                body: formText(values),
              },
        )
      } catch (error) {
        if (!(error instanceof TransportError) || tries === MAX_TRIES) throw error
      }
      if (response?.ok) {
        const answer = response.json()
        if (!isDict(answer)) throw new ConnectorError(`The token endpoint ${url} did not answer with a JSON object.`)
        return answer
      }
      if (response && response.status !== 429 && response.status < 500)
        throw new ConnectorError(
          `The token endpoint ${url} refused the login with status ${response.status}: ${response.text().slice(0, 300)}`,
        )
      if (tries === MAX_TRIES)
        throw new ConnectorError(`The token endpoint ${url} failed with status ${response?.status ?? 'none'}.`)
      await clock.wait(2 ** (tries - 1), 'backoff')
    }
  }

  async function refresh(): Promise<void> {
    const answer = await requestToken()
    const token = findIn(answer, name('access_token_name', 'access_token'))
    if (token === undefined)
      throw new ConnectorError(`The token endpoint answered without '${name('access_token_name', 'access_token')}'.`)
    hide(token)
    accessToken = token
    expiry = expiryOf(findIn(answer, name('expires_in_name', 'expires_in')))
    if (updater) saveTokens(answer)
  }

  function expiryOf(value: unknown): PyDatetime {
    if (value === undefined || value === null) return clock.instant().plus(new Timedelta(DEFAULT_SECONDS))
    const format = evaluated(definition.token_expiry_date_format)
    if (truthy(format) || definition.token_expiry_is_time_of_expiration === true) {
      if (!truthy(format)) throw new ValueError('token_expiry_date_format is missing.')
      return parseDatetime(value, pyStr(format))
    }
    const seconds = isNumber(value) ? asNumber(value) : Number(pyStr(value))
    if (Number.isNaN(seconds)) throw new ValueError(`Invalid expires_in value: ${pyStr(value)}.`)
    return clock.instant().plus(new Timedelta(Math.trunc(seconds)))
  }

  /** A refresh token that can be used once: the new one is part of the configuration from now on. */
  function saveTokens(answer: Dict): void {
    const next = copied(config)
    const token = findIn(answer, pyStr(evaluated(updater!.refresh_token_name) ?? 'refresh_token'))
    hide(token)
    if (token !== undefined) dpath.put(next, configPath('refresh_token_config_path', 'refresh_token'), token)
    dpath.put(next, configPath('access_token_config_path', 'access_token'), accessToken)
    dpath.put(next, configPath('token_expiry_date_config_path', 'token_expiry_date'), expiry.isoformat())
    config = next
    deps.saveConfig(next)
  }

  const isStoredOnly = () => !truthy(definition.token_refresh_endpoint) && accessToken !== undefined
  let running: Promise<void> | undefined

  async function token(): Promise<string> {
    const isExpired = (clock.instant().pyCompare(expiry) ?? 0) > 0
    if (!isStoredOnly() && isExpired) {
      running ??= refresh().finally(() => {
        running = undefined
      })
      await running
    }
    hide(accessToken)
    return `Bearer ${pyStr(accessToken)}`
  }
  return {
    ...tokenAuthenticator(headerOption('Authorization'), token),
    forget: () => {
      if (!isStoredOnly()) expiry = clock.instant().minus(new Timedelta(86_400))
    },
  }
}

function instantOf(value: unknown): PyDatetime {
  if (isNumber(value)) return new PyDatetime(Math.trunc(asNumber(value)), 0, 0)
  const text = pyStr(value).trim()
  return /^\d+$/.test(text) ? new PyDatetime(Number(text), 0, 0) : parseIso(text)
}

/** The key at the top, or anywhere below it. */
function findIn(value: unknown, key: string, depth = 0): unknown {
  if (depth > 5) return undefined
  if (Array.isArray(value)) {
    for (const each of value) {
      const found = findIn(each, key, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (!isDict(value)) return undefined
  if (Object.hasOwn(value, key)) return getKey(value, key)
  for (const each of Object.values(value)) {
    const found = findIn(each, key, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}
