// Authenticators: what each adds to a request. The reference builds the header twice per request (once as an option, once as the
// session's own), and so do we: a login before every use is seen by the API.

import { contextOf, type Deps, dictOf } from '../component.ts'
import { ConnectorError, ValueError } from '../errors.ts'
import { createRequestOption, type RequestOption } from '../http/request-option.ts'
import * as dpath from '../python/dpath.ts'
import { type Dict, isDict, pyStr, truthy } from '../python/values.ts'
import { createJwt } from './jwt.ts'
import { createLegacySession } from './legacy-session.ts'
import { createOAuth } from './oauth.ts'
import { createSessionToken } from './session-token.ts'
import { type AuthDeps, type Authenticator, headerOption, tokenAuthenticator } from './token.ts'

const NONE: Authenticator = { options: async () => ({}) }

export function createAuthenticator(definition: unknown, deps: AuthDeps): Authenticator {
  if (!isDict(definition)) return NONE
  const { expressions, hide } = deps
  const context = contextOf(definition, deps)
  const text = (template: unknown) => pyStr(expressions.value(template ?? '', context))
  const secret = (template: unknown) => {
    const value = text(template)
    hide(value)
    return value
  }
  switch (definition.type) {
    case 'NoAuth':
      return NONE
    case 'BearerAuthenticator':
      return tokenAuthenticator(headerOption('Authorization'), async () => `Bearer ${secret(definition.api_token)}`)
    case 'BasicHttpAuthenticator':
      return tokenAuthenticator(headerOption('Authorization'), async () =>
        basic(text(definition.username), secret(definition.password)),
      )
    case 'ApiKeyAuthenticator':
      return tokenAuthenticator(apiKeyOption(definition, deps), async () => secret(definition.api_token))
    case 'JwtAuthenticator':
      return createJwt(definition, deps)
    case 'OAuthAuthenticator':
      return createOAuth(definition, deps)
    case 'SessionTokenAuthenticator':
      return createSessionToken(definition, deps)
    case 'LegacySessionTokenAuthenticator':
      return createLegacySession(definition, deps)
    case 'SelectiveAuthenticator':
      return selective(definition, deps)
    default:
      throw new ConnectorError(`The authenticator '${pyStr(definition.type)}' is not supported.`)
  }
}

export const basic = (user: string, password: string): string => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

function apiKeyOption(definition: Dict, deps: Deps): RequestOption {
  const { header, inject_into } = definition
  if (truthy(header) && truthy(inject_into))
    throw new ValueError("'ApiKeyAuthenticator' accepts 'header' or 'inject_into', not both.")
  const option = createRequestOption(inject_into, deps)
  if (option) return option
  if (!truthy(header)) throw new ValueError("'ApiKeyAuthenticator' needs 'inject_into' or 'header'.")
  return headerOption(pyStr(deps.expressions.value(header, contextOf(definition, deps))))
}

function selective(definition: Dict, deps: AuthDeps): Authenticator {
  const path = (definition.authenticator_selection_path as unknown[]).map(pyStr)
  const chosen = dpath.get(deps.config, path)
  const authenticators = dictOf(definition.authenticators, 'authenticators')
  if (chosen === undefined)
    throw new ValueError(`The path from \`authenticator_selection_path\` is not found in the config: ${path.join('.')}.`)
  const name = pyStr(chosen)
  if (!Object.hasOwn(authenticators, name))
    throw new ValueError(`The authenticator '${name}' is not found. Available: ${Object.keys(authenticators).join(', ')}.`)
  return createAuthenticator(authenticators[name], deps)
}
