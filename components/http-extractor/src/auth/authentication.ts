// Authentication (spec extractor 4): one file per type, each with its schema and its `create`. The map below is complete by
// construction: the compiler refuses a type without an entry.

import { at } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { isEmpty, isObject, type JsonValue } from '../json/json.ts'
import type { AuthDeps, Authentication } from './authentication.types.ts'
import { createBasic } from './basic.ts'
import { createLogin } from './login.ts'
import { createOauth10 } from './oauth10.ts'
import { createOauth20 } from './oauth20.ts'
import { createOauth20Login } from './oauth20-login.ts'
import { createQuery } from './query.ts'

export const AUTHENTICATION_TYPES = ['basic', 'query', 'login', 'oauth10', 'oauth20', 'oauth20.login'] as const
export type AuthenticationType = (typeof AUTHENTICATION_TYPES)[number]

const CREATE = {
  basic: createBasic,
  query: createQuery,
  login: createLogin,
  oauth10: createOauth10,
  oauth20: createOauth20,
  'oauth20.login': createOauth20Login,
} satisfies Record<AuthenticationType, (deps: AuthDeps) => Authentication>

const unsigned: Authentication = async (request) => request

const isKnown = (type: string): type is AuthenticationType => Object.hasOwn(CREATE, type)

/** `settings` is api.authentication; without a type nothing is added to requests. */
export function createAuthentication(settings: JsonValue | undefined, deps: Omit<AuthDeps, 'settings'>): Authentication {
  if (isEmpty(settings)) return unsigned
  if (!isObject(settings)) throw new UserError("Invalid configuration: 'api.authentication' must be an object.")
  const given = at(settings, 'type')
  if (isEmpty(given)) return unsigned
  const type = typeof given === 'string' ? given : JSON.stringify(given)
  const name = type === 'url.query' ? 'query' : type
  if (!isKnown(name))
    throw new UserError(`Unknown authorization type '${type}'. Known types: ${AUTHENTICATION_TYPES.join(', ')}.`)
  return CREATE[name]({ ...deps, settings })
}
