// A provider as a file or the manage routes state it, in the member names that clients of the broker use (spec platform 6.2).

import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { PlatformError } from '../../../kit/errors.ts'

const Address = (description: string) => Type.String({ maxLength: 2000, description })
const Text = (description: string) => Type.String({ maxLength: 1000, description })

/** All settings of a provider; which of them are required depends on its version. */
export const ProviderFields = {
  friendly_name: Text('Display name.'),
  oauth_version: Type.Union([Type.Literal('2.0'), Type.Literal('1.0')], { description: 'OAuth version: `2.0` or `1.0`.' }),
  auth_url: Address('Authorization URL. `%%name%%` is replaced by values of userData.'),
  token_url: Address('Token URL.'),
  request_token_url: Address('OAuth 1.0: URL for request tokens.'),
  revoke_url: Address('Revocation URL (RFC 7009).'),
  test_url: Address('URL that returns 200 for a valid token, to test credentials.'),
  issuer: Text('Issuer of id tokens; they are verified only if it is set.'),
  scope: Text('The requested scope, in the syntax of the provider.'),
  pkce: Type.Boolean({ description: 'Whether to use PKCE; true by default.' }),
  client_authentication: Type.Union([Type.Literal('post'), Type.Literal('basic')], {
    description: 'Client authentication: in the body (`post`, default) or by Basic authentication (`basic`).',
  }),
  auth_parameters: Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 500 }), {
    maxProperties: 20,
    description: 'Parameters added to the authorization URL.',
  }),
  provider: Text('Id of another provider whose fields are the defaults of this one.'),
  app_key: Text('Client id issued by the provider.'),
}

const Stated = Type.Object(
  { id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,200}$' }), ...Type.Partial(Type.Object(ProviderFields)).properties },
  { additionalProperties: false },
)

/** As it was stated: members may be missing. */
export type ProviderDefinition = Static<typeof Stated>

/** A file of the providers folder may also hold the secret of its client. */
const ProviderFile = Compile(
  Type.Object(
    { ...Stated.properties, app_secret: Type.Optional(Type.String({ maxLength: 5000 })) },
    { additionalProperties: false },
  ),
)
export type ProviderFile = ProviderDefinition & { readonly app_secret?: string }

export interface Provider {
  readonly id: string
  readonly name: string
  readonly version: '1.0' | '2.0'
  readonly authUrl: string
  readonly tokenUrl: string
  readonly requestTokenUrl: string | undefined
  readonly revokeUrl: string | undefined
  readonly testUrl: string | undefined
  readonly issuer: string | undefined
  readonly scope: string | undefined
  readonly pkce: boolean
  readonly clientAuthentication: 'post' | 'basic'
  readonly authParameters: Readonly<Record<string, string>>
  readonly appKey: string | undefined
}

export function readProviderFile(text: string): ProviderFile {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalid('file', 'it is not valid JSON', cause)
  }
  if (!ProviderFile.Check(value)) {
    const [first] = ProviderFile.Errors(value)
    throw invalid(first?.instancePath.slice(1) || 'file', first?.message ?? 'it does not describe a provider')
  }
  return value
}

/** Refuses a definition that no round trip could work with. */
export function completeProvider(stated: ProviderDefinition): Provider {
  const version = stated.oauth_version ?? '2.0'
  const provider: Provider = {
    id: stated.id,
    name: stated.friendly_name ?? stated.id,
    version,
    authUrl: addressOf('auth_url', stated.auth_url),
    tokenUrl: addressOf('token_url', stated.token_url),
    requestTokenUrl: version === '1.0' ? addressOf('request_token_url', stated.request_token_url) : undefined,
    revokeUrl: stated.revoke_url === undefined ? undefined : addressOf('revoke_url', stated.revoke_url),
    testUrl: stated.test_url === undefined ? undefined : addressOf('test_url', stated.test_url),
    issuer: stated.issuer,
    scope: stated.scope,
    pkce: stated.pkce ?? true,
    clientAuthentication: stated.client_authentication ?? 'post',
    authParameters: stated.auth_parameters ?? {},
    appKey: stated.app_key,
  }
  return provider
}

const PLACEHOLDER = /%%(\w+)%%/g
/** A name of a host or a part of one: never a text that would change the requested host. */
const FILLING = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

function addressOf(field: string, value: string | undefined): string {
  if (value === undefined || value === '') throw invalid(field, 'it is missing')
  const sample = value.replace(PLACEHOLDER, 'x')
  if (!URL.canParse(sample)) throw invalid(field, `"${value.slice(0, 200)}" is not an address`)
  const { protocol, hostname, username, hash } = new URL(sample)
  if (username !== '' || hash !== '') throw invalid(field, 'an address here has neither a user nor a fragment')
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.test(hostname)))
    throw invalid(field, 'it must begin with https://; plain http is for the local machine only')
  return value
}

/** The provider with `%%name%%` filled in its addresses. */
export function fillProvider(provider: Provider, userData: Readonly<Record<string, string>>): Provider {
  const fill = <T extends string | undefined>(address: T): T =>
    address?.replace(PLACEHOLDER, (_, name: string) => {
      const value = Object.hasOwn(userData, name) ? userData[name]! : ''
      if (!FILLING.test(value))
        throw new PlatformError('oauth.userData', { provider: provider.id, name, value: value.slice(0, 100) })
      return value
    }) as T
  return {
    ...provider,
    authUrl: fill(provider.authUrl),
    tokenUrl: fill(provider.tokenUrl),
    requestTokenUrl: fill(provider.requestTokenUrl),
    revokeUrl: fill(provider.revokeUrl),
    testUrl: fill(provider.testUrl),
  }
}

/** Names that userData must bring. */
export const placeholdersOf = ({ authUrl, tokenUrl }: Provider): readonly string[] => [
  ...new Set([...`${authUrl} ${tokenUrl}`.matchAll(PLACEHOLDER)].map(([, name]) => name!)),
]

const invalid = (field: string, reason: string, cause?: unknown): PlatformError =>
  new PlatformError('oauth.invalidProvider', { field, reason }, cause === undefined ? {} : { cause })
