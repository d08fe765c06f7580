// type oauth20.login: the login authentication, whose request may also use the OAuth credentials (`consumer`, `user`): this is
// how a refresh token becomes an access token.

import { objectOf } from '../json/json.ts'
import type { AuthDeps, Authentication } from './authentication.types.ts'
import { readCredentials, readData } from './credentials.ts'
import { createLoginWith, loginSchema } from './login.ts'

export const oauth20LoginSchema = {
  ...loginSchema,
  title: 'OAuth 2.0 with login',
  description: 'A login request that may use the credentials of the OAuth broker through consumer and user references.',
  properties: { ...loginSchema.properties, type: { const: 'oauth20.login' } },
} as const

export function createOauth20Login(deps: AuthDeps): Authentication {
  const credentials = readCredentials(deps, '2.0')
  const consumer = objectOf([
    ['client_id', credentials.appKey],
    ['client_secret', credentials.appSecret],
  ])
  return createLoginWith(deps, { consumer, user: readData(credentials, deps) })
}
