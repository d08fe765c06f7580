// Expressions inside the authentication settings, and the references that describe a request (spec extractor 9.3).

import { UserError } from '../errors.ts'
import { evaluate, type Scope } from '../functions/evaluate.ts'
import { kindOf } from '../functions/kind.ts'
import { addressText, targetOf } from '../http/address.ts'
import type { HttpRequest } from '../http/exchange.ts'
import { parseQuery } from '../http/query.ts'
import { entriesOf, isScalar, type JsonObject, objectOf } from '../json/json.ts'
import { toText } from '../json/text.ts'

export const nowSeconds = (now: () => number) => Math.floor(now() / 1000)

/** Evaluates every member to a text. `path` names the settings in the message about a value that is none. */
export function evaluateTexts(members: JsonObject, scope: Scope, path: string): [string, string][] {
  return entriesOf(members).map(([name, expression]) => {
    const value = evaluate(expression, scope)
    if (value !== null && !isScalar(value)) {
      throw new UserError(`Invalid configuration: '${path}.${name}' must give a text or a number, but it gives ${kindOf(value)}.`)
    }
    return [name, toText(value)]
  })
}

/** `request` and `query` references: the request as it stands before this authentication touches it. */
export function requestReferences(request: HttpRequest) {
  const { address, method } = request
  const query = address.query ?? ''
  return {
    request: objectOf([
      ['url', addressText(address)],
      ['path', address.path],
      ['queryString', query],
      ['method', method],
      ['hostname', address.hostname],
      ['port', address.port],
      ['resource', targetOf(address)],
    ]),
    query: objectOf(parseQuery(query).map(([name, value]) => [name, value ?? ''] as const)),
  }
}
