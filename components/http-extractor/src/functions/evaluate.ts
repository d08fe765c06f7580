// Value expressions (spec extractor 9.1): a literal, a reference such as {"attr": "name"}, or a call
// {"function": "concat", "args": [..]}. Which references exist depends on the place (spec extractor 9.3), which the caller passes.

import { UserError } from '../errors.ts'
import {
  entriesOf,
  isArray,
  isNumber,
  isObject,
  isScalar,
  type JsonObject,
  type JsonValue,
  keysOf,
  memberOf,
  objectOf,
} from '../json/json.ts'
import { FUNCTIONS, type FunctionContext } from './functions.ts'

export interface Scope extends FunctionContext {
  /** Reference name to what it looks into: {attr: <config>, time: {previousStart, currentStart}}. */
  readonly references: Readonly<Record<string, JsonValue>>
  readonly functions?: typeof FUNCTIONS
  /** Names of references whose every value is a secret (what a login returned, OAuth data). */
  readonly secretReferences?: ReadonlySet<string>
  /** Called with each value that was derived from a secret, so that the log can hide it. */
  readonly hide?: (derived: JsonValue) => void
}

interface Taint {
  secret: boolean
}

const scriptError = (message: string) => new UserError(`User script error: ${message}`)

/** The value of an expression. Lists are left alone unless they are arguments of a function (spec extractor 9.1). */
export function evaluate(expression: JsonValue, scope: Scope): JsonValue {
  const taint: Taint = { secret: false }
  const value = run(expression, scope, taint)
  if (taint.secret) scope.hide?.(value)
  return value
}

/** The members of an object, each evaluated on its own. */
export function evaluateMembers(object: JsonObject, scope: Scope): JsonObject {
  return objectOf(entriesOf(object).map(([key, value]) => [key, evaluate(value, scope)] as const))
}

function run(expression: JsonValue, scope: Scope, taint: Taint): JsonValue {
  if (!isObject(expression)) return expression
  const name = memberOf(expression, 'function')
  if (name !== undefined) return call(name, memberOf(expression, 'args'), scope, taint)
  const [key, ...others] = keysOf(expression)
  if (key !== undefined && others.length === 0 && Object.hasOwn(scope.references, key)) {
    return dereference(key, memberOf(expression, key)!, scope, taint)
  }
  return objectOf(entriesOf(expression).map(([k, value]) => [k, run(value, scope, taint)] as const))
}

function call(name: JsonValue, args: JsonValue | undefined, scope: Scope, taint: Taint): JsonValue {
  if (typeof name !== 'string') throw scriptError(`The name of a function must be a text, not ${JSON.stringify(name)}.`)
  const functions = scope.functions ?? FUNCTIONS
  const fn = Object.hasOwn(functions, name) ? functions[name] : undefined
  if (!fn) throw scriptError(`Illegal function '${name}'! Known functions: ${Object.keys(functions).join(', ')}.`)
  const list = args === undefined || args === null ? [] : isArray(args) ? args : [args]
  const values = list.map((arg, i) => argument(arg, name, i, scope, taint))
  try {
    return fn(values, scope)
  } catch (cause) {
    if (!(cause instanceof RangeError || cause instanceof TypeError)) throw cause
    if (cause.message.startsWith('Bad argument count')) throw scriptError(cause.message)
    throw scriptError(`Error evaluating user function - ${name}: ${cause.message}.`)
  }
}

function argument(arg: JsonValue, name: string, index: number, scope: Scope, taint: Taint): JsonValue {
  if (isArray(arg)) return arg.map((element) => argument(element, name, index, scope, taint))
  const value = run(arg, scope, taint)
  if (!isObject(value)) return value
  // A reference that does not exist at this place stays an object, and no function can use one.
  throw scriptError(
    `Error evaluating user function - argument ${index + 1} of '${name}' is ${JSON.stringify(keysOf(value))}: ` +
      `available references here: ${Object.keys(scope.references).join(', ') || 'none'}.`,
  )
}

function dereference(reference: string, name: JsonValue, scope: Scope, taint: Taint): JsonValue {
  if (typeof name !== 'string' && !isNumber(name)) {
    throw scriptError(`Error evaluating user function - ${reference} '${JSON.stringify(name)}' is not a string!`)
  }
  const path = String(name)
  const value = flatValue(scope.references[reference]!, path)
  if (value === undefined) throw scriptError(`Error evaluating user function - ${reference} '${path}' not found!`)
  if (/(?:^|\.)#/.test(path) || scope.secretReferences?.has(reference)) taint.secret = true
  return value
}

/**
 * References see a flattened view: nested keys joined by dots, arrays by index. A key may itself contain a dot, so every
 * way to cut the path is tried. Only scalars can be referenced; null counts as missing.
 */
export function flatValue(container: JsonValue, path: string): JsonValue | undefined {
  const step = (key: string): JsonValue | undefined => {
    if (isObject(container)) return memberOf(container, key)
    return isArray(container) && /^(?:0|[1-9]\d*)$/.test(key) ? container[Number(key)] : undefined
  }
  const whole = step(path)
  if (isScalar(whole)) return whole
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const inner = step(path.slice(0, dot))
    const value = inner === undefined || inner === null ? undefined : flatValue(inner, path.slice(dot + 1))
    if (value !== undefined) return value
  }
  return undefined
}
