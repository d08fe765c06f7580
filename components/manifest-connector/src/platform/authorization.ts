// Where a connector gets its credentials from: those of the OAuth broker are put where the manifest's specification expects them, and those
// that the connector itself has renewed are kept between runs.

import { ConnectorError } from '../errors.ts'
import * as dpath from '../python/dpath.ts'
import { copied, jsonText, parseJson } from '../python/json.ts'
import { type Dict, isDict, pyStr, setKey } from '../python/values.ts'

/** Names that specifications without `advanced_auth` have for the same. */
const USUAL = ['client_id', 'client_secret', 'access_token', 'refresh_token'] as const

/** The configuration with the credentials of `authorization.oauth_api`, and their secrets. */
export function authorizedConfig(
  config: Dict,
  authorization: unknown,
  spec: Dict,
): { readonly config: Dict; readonly secrets: readonly unknown[] } {
  const credentials = memberAt(authorization, 'oauth_api', 'credentials')
  if (credentials === undefined) return { config, secrets: [] }
  const answer = answerOf(credentials['#data'])
  const values: Dict = {
    ...answer,
    client_id: credentials.appKey,
    client_secret: credentials['#appSecret'],
    // As the broker writes times: in UTC. Without one the connector gets a new access token when it begins.
    ...(typeof credentials.expires === 'string' && { token_expiry_date: `${credentials.expires.replace(' ', 'T')}Z` }),
  }
  const next = copied(config)
  let isUsed = false
  for (const [name, path] of placesOf(spec)) {
    const value = values[name]
    if (value === undefined || value === null) continue
    dpath.put(next, path, value)
    isUsed ||= name !== 'client_id' && name !== 'client_secret'
  }
  if (!isUsed)
    throw new ConnectorError(
      "The manifest does not say where OAuth credentials belong ('spec.advanced_auth'), and its settings have no access_token or refresh_token. Remove 'authorization' and enter the credentials as settings.",
    )
  const advanced = memberAt(spec, 'advanced_auth')
  if (Array.isArray(advanced?.predicate_key) && advanced.predicate_value !== undefined)
    dpath.put(next, advanced.predicate_key.map(pyStr), advanced.predicate_value)
  return { config: next, secrets: [answer, credentials['#appSecret']] }
}

/** Where the specification expects each value of an authorisation. */
export function placesOf(spec: Dict): ReadonlyMap<string, readonly string[]> {
  const oauth = memberAt(spec, 'advanced_auth', 'oauth_config_specification')
  const places = new Map<string, readonly string[]>()
  for (const part of ['complete_oauth_output_specification', 'complete_oauth_server_output_specification'])
    for (const [name, member] of Object.entries(memberAt(oauth, part, 'properties') ?? {}))
      if (isDict(member) && Array.isArray(member.path_in_connector_config))
        places.set(name, member.path_in_connector_config.map(pyStr))
  if (places.size > 0) return places
  const settings = memberAt(spec, 'connection_specification', 'properties') ?? {}
  const inner = memberAt(settings, 'credentials', 'properties') ?? {}
  for (const name of USUAL)
    if (Object.hasOwn(settings, name)) places.set(name, [name])
    else if (Object.hasOwn(inner, name)) places.set(name, ['credentials', name])
  return places
}

function answerOf(data: unknown): Dict {
  try {
    const answer = typeof data === 'string' ? parseJson(data) : data
    if (isDict(answer)) return answer
  } catch {
    // reported below
  }
  throw new ConnectorError("The credentials of 'authorization.oauth_api' hold no answer of a token endpoint. Authorise again.")
}

function memberAt(value: unknown, ...path: readonly string[]): Dict | undefined {
  let at = value
  for (const name of path) at = isDict(at) ? at[name] : undefined
  return isDict(at) ? at : undefined
}

/** A configuration that the connector has changed (a refresh token that can be used once), and the one that it was made of. */
export interface RenewedConfig {
  readonly base: Dict
  readonly config: Dict
}

/** What the connector has renewed holds until its user changes the same value. */
export function withRenewed(current: Dict, renewed: RenewedConfig | undefined): Dict {
  if (!renewed) return current
  const merged: Dict = {}
  for (const name of new Set([...Object.keys(current), ...Object.keys(renewed.config)])) {
    const [now, before, later] = [current[name], renewed.base[name], renewed.config[name]]
    if (isDict(now) && isDict(before) && isDict(later)) setKey(merged, name, withRenewed(now, { base: before, config: later }))
    else {
      const isKept = jsonText(now ?? null) === jsonText(before ?? null)
      const value = isKept ? later : now
      if (value !== undefined) setKey(merged, name, value)
    }
  }
  return merged
}
