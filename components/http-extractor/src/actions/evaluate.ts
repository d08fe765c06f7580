// evaluate: the value of one expression, with the attributes of the configuration and, for trying out a login, a response.

import { parametersOf } from '../configuration/configuration.ts'
import { at, objectAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { evaluate } from '../functions/evaluate.ts'
import { PLACEHOLDER_FUNCTIONS } from '../functions/functions.ts'
import { type JsonValue, objectOf } from '../json/json.ts'
import type { ActionDeps } from './action.ts'

export async function evaluateAction({ file, now }: ActionDeps): Promise<JsonValue> {
  const parameters = parametersOf(file)
  const expression = at(parameters, 'expression')
  if (expression === undefined) throw new UserError("The action 'evaluate' needs 'expression' in the parameters.")
  const nowSeconds = () => Math.floor(now() / 1000)
  const time =
    at(parameters, 'time') ??
    objectOf([
      ['previousStart', 0],
      ['currentStart', nowSeconds()],
    ])
  const given = ['response', 'placeholder', 'request', 'query', 'authorization', 'consumer', 'user']
    .map((name) => [name, at(parameters, name)] as const)
    .filter((entry): entry is readonly [string, JsonValue] => entry[1] !== undefined)
  const references = { attr: objectAt(at(parameters, 'config'), 'config'), time, ...Object.fromEntries(given) }
  return objectOf([['result', evaluate(expression, { references, functions: PLACEHOLDER_FUNCTIONS, nowSeconds })]])
}
