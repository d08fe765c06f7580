// What the endpoints for clients and those for people share: fields of a request, and addresses of answers.

import type { FastifyRequest } from 'fastify'
import { optionalText } from '../../../http/parameters.ts'
import { SCOPES } from './agent-sign-in.ts'

export const resourceOf = ({ baseUrl }: Pick<FastifyRequest, 'baseUrl'>): string => `${baseUrl}/mcp`

/** The response to a caller of /mcp without a token, or without the required scope (RFC 9728, 5.1). */
export const challengeOf = ({ baseUrl }: Pick<FastifyRequest, 'baseUrl'>, scope: string, error?: string): string =>
  `Bearer ${error === undefined ? '' : `error="${error}", `}scope="${scope}", resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp"`

export const AuthorizationFields = {
  client_id: optionalText('Client id: the https URL of its metadata document, or a registered id.'),
  redirect_uri: optionalText('Redirect URI: one of those of the client.'),
  response_type: optionalText('Always `code`.'),
  code_challenge: optionalText('PKCE challenge.'),
  code_challenge_method: optionalText('Always `S256`.'),
  scope: optionalText(`Separated by blanks: ${SCOPES.join(', ')}. Default: read.`),
  state: optionalText('Returned unchanged.'),
  resource: optionalText('URL of `/mcp` (RFC 8707).'),
}

/** With the issuer, so that a client notices an answer of another server (RFC 9207). */
export function answerUrl(
  redirectUri: string,
  { baseUrl }: FastifyRequest,
  values: Readonly<Record<string, string | undefined>>,
) {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries({ ...values, iss: baseUrl }))
    if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

export const refusedUrl = (
  redirectUri: string,
  request: FastifyRequest,
  state: string | undefined,
  error: string,
  description: string,
): string => answerUrl(redirectUri, request, { error, error_description: description, state })
