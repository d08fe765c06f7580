// type oauth20: headers and query values built from what the OAuth broker returned, for every request. A signature form
// such as MAC is an expression over `request`, `authorization.nonce` and `authorization.timestamp`.

import { randomBytes } from 'node:crypto'
import { at, objectAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { withQuery } from '../http/address.ts'
import { withHeaders } from '../http/headers.ts'
import { parseQuery, replacePairs, writePairs } from '../http/query.ts'
import { keysOf, objectOf } from '../json/json.ts'
import type { AuthDeps, Authentication } from './authentication.types.ts'
import { readCredentials, readData } from './credentials.ts'
import { evaluateTexts, nowSeconds, requestReferences } from './expressions.ts'

export const oauth20Schema = {
  title: 'OAuth 2.0',
  description: 'Headers and query values built from the credentials of the OAuth broker.',
  properties: {
    type: { const: 'oauth20' },
    format: { enum: ['text', 'json'], default: 'text', description: 'How #data is read.' },
    headers: { $ref: '#/$defs/expressions', description: 'Header name to expression; may use authorization, request and query.' },
    query: {
      $ref: '#/$defs/expressions',
      description: 'Parameter name to expression; may use authorization, request and query.',
    },
  },
  required: ['type'],
} as const

const SECRET = new Set(['authorization'])

export function createOauth20(deps: AuthDeps): Authentication {
  const { settings, now, redactor } = deps
  const credentials = readCredentials(deps, '2.0')
  const format = textAt(at(settings, 'format'), 'api.authentication.format', 'text')
  if (format !== 'text' && format !== 'json') throw new UserError(`Unknown OAuth data format '${format}'.`)
  const data = format === 'json' ? readData(credentials, deps) : credentials.data
  const headers = objectAt(at(settings, 'headers'), 'api.authentication.headers')
  const query = objectAt(at(settings, 'query'), 'api.authentication.query')

  return async (request) => {
    const seconds = nowSeconds(now)
    const scope = {
      references: {
        authorization: objectOf([
          ['data', data],
          ['clientId', credentials.appKey],
          ['nonce', randomBytes(8).toString('hex')],
          ['timestamp', seconds],
        ]),
        ...requestReferences(request),
      },
      nowSeconds: () => seconds,
      secretReferences: SECRET,
      hide: redactor.addPassing,
    }
    const fields = evaluateTexts(headers, scope, 'api.authentication.headers')
    const signed = { ...request, headers: withHeaders(request.headers, fields) }
    if (keysOf(query).length === 0) return signed
    const values = evaluateTexts(query, scope, 'api.authentication.query')
    return { ...signed, address: withQuery(request.address, writePairs(replacePairs(parseQuery(request.address.query), values))) }
  }
}
