// type query: expressions added to the query string of every request, in place of values of the same name.

import { at } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { withQuery } from '../http/address.ts'
import { parseQuery, replacePairs, writePairs } from '../http/query.ts'
import { isEmpty, isObject } from '../json/json.ts'
import type { AuthDeps, Authentication } from './authentication.types.ts'
import { evaluateTexts, nowSeconds, requestReferences } from './expressions.ts'

export const querySchema = {
  title: 'Query',
  description: 'Values added to the query string of every request.',
  properties: {
    type: { enum: ['query', 'url.query'] },
    query: { $ref: '#/$defs/expressions', description: 'Parameter name to expression; may use attr, query and request.' },
  },
  required: ['type', 'query'],
} as const

export function createQuery({ settings, attributes, now, redactor }: AuthDeps): Authentication {
  const query = at(settings, 'query')
  if (isEmpty(query) || !isObject(query)) {
    throw new UserError("The query authentication method requires 'query' configuration in 'authentication' section.")
  }
  return async (request) => {
    const scope = {
      references: { attr: attributes, ...requestReferences(request) },
      nowSeconds: () => nowSeconds(now),
      hide: redactor.addPassing,
    }
    const values = evaluateTexts(query, scope, 'api.authentication.query')
    return {
      ...request,
      address: withQuery(request.address, writePairs(replacePairs(parseQuery(request.address.query), values))),
    }
  }
}
