// Bodies of the broker's routes, and values that clients write in several ways.

import { Type } from 'typebox'
import { optionalText } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { UserData } from './oauth.store.ts'

const Id = Type.String({ pattern: '^[A-Za-z0-9._-]{1,200}$', description: 'Id of the credentials, unique in the component.' })
const UserDataField = Type.Optional(
  Type.Union([Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 300 })), Type.String({ maxLength: 5000 })], {
    description: 'Values for `%%name%%` in the addresses of the provider: an object, or its JSON text.',
  }),
)

export const NewCredentialsBody = Type.Object({
  id: Id,
  authorizedFor: Type.String({ maxLength: 1000, description: 'Name of the authorisation, for people.' }),
  '#data': Type.Union([Type.String({ maxLength: 65_536 }), Type.Record(Type.String(), Type.Unknown())], {
    description: 'The token answer of the provider: its JSON text, or the object. It is encrypted before it is stored.',
  }),
  provider: optionalText('Id of the provider the tokens came from; needed for refresh, test and revoke.'),
  appKey: optionalText('Client id, when it is not the one the stack has at the provider.'),
  appSecret: optionalText('Client secret that belongs to `appKey`.'),
  '#appSecret': optionalText('The same, under the name that records have it.'),
  oauthVersion: Type.Optional(
    Type.Union([Type.Literal('1.0'), Type.Literal('2.0')], {
      description: 'Version of OAuth, without a provider; 2.0 by default.',
    }),
  ),
  userData: UserDataField,
})

export const AuthoriseParameters = Type.Object({
  token: optionalText('Storage API token, where no header can be sent.'),
  id: Type.Optional(Id),
  authorizedFor: Type.Optional(Type.String({ maxLength: 1000, description: 'Name of the authorisation, for people.' })),
  returnUrl: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: 'Where the person goes in the end: a page of this stack, or of an allowed origin.',
    }),
  ),
  userData: UserDataField,
  provider: optionalText('Id of the provider; by default the one that is managed under the id of the component.'),
  scope: Type.Optional(Type.String({ maxLength: 2000, description: 'The requested scope, instead of that of the provider.' })),
  appKey: Type.Optional(Type.String({ maxLength: 1000, description: 'Client id for these credentials alone.' })),
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
