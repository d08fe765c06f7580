// Bodies of the broker's routes, and values that clients write in several ways.

import { Type } from 'typebox'
import { optionalText } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { UserData } from './oauth.store.ts'

const Id = Type.String({ pattern: '^[A-Za-z0-9._-]{1,200}$', description: 'Id of the credentials, unique in the component.' })
const UserDataField = Type.Optional(
  Type.Union([Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 300 })), Type.String({ maxLength: 5000 })], {
    description: 'Values for `%%name%%` in the URLs of the provider: an object, or its JSON.',
  }),
)

export const NewCredentialsBody = Type.Object({
  id: Id,
  authorizedFor: Type.String({ maxLength: 1000, description: 'Display name of the authorisation.' }),
  '#data': Type.Union([Type.String({ maxLength: 65_536 }), Type.Record(Type.String(), Type.Unknown())], {
    description: 'Token response of the provider, as an object or its JSON. It is stored encrypted.',
  }),
  provider: optionalText('Id of the provider that issued the tokens; required for refresh, test and revoke.'),
  appKey: optionalText('Client id, if it is not that of the stack.'),
  appSecret: optionalText('Client secret that belongs to `appKey`.'),
  '#appSecret': optionalText('Alias, as in records.'),
  oauthVersion: Type.Optional(
    Type.Union([Type.Literal('1.0'), Type.Literal('2.0')], {
      description: 'OAuth version if there is no provider; 2.0 by default.',
    }),
  ),
  userData: UserDataField,
})

export const AuthoriseParameters = Type.Object({
  token: optionalText('Storage token, if no header can be sent.'),
  id: Type.Optional(Id),
  authorizedFor: Type.Optional(Type.String({ maxLength: 1000, description: 'Display name of the authorisation.' })),
  returnUrl: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: 'Return URL: a page of this stack or of an allowed origin.',
    }),
  ),
  userData: UserDataField,
  provider: optionalText('Id of the provider; by default the one managed under the id of the component.'),
  scope: Type.Optional(Type.String({ maxLength: 2000, description: 'The requested scope, instead of that of the provider.' })),
  appKey: Type.Optional(Type.String({ maxLength: 1000, description: 'Client id for these credentials only.' })),
  appSecret: Type.Optional(Type.String({ maxLength: 5000, description: 'Client secret that belongs to `appKey`.' })),
  configurationId: optionalText('The configuration that gets the credentials.'),
})

export function readUserData(given: Readonly<Record<string, string>> | string | undefined): UserData {
  if (given === undefined || given === '') return {}
  if (typeof given === 'object') return given
  try {
    const value: unknown = JSON.parse(given)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, String(one)]))
  } catch {
    // reported below
  }
  throw new PlatformError('validation.failed', { field: 'userData', reason: 'This value should be a JSON object of texts.' })
}
