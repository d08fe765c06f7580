// Reading values of the configuration: each function takes a value and its path, and either returns the value in the type we
// need or an error that names the wrong value and what it should be. PHP's leniency is kept where configurations rely on it: a number
// may come as text, true as 1.

import { UserError } from '../errors.ts'
import { kindOf } from '../functions/kind.ts'
import type { Method } from '../http/request.ts'
import {
  entriesOf,
  isArray,
  isNumber,
  isObject,
  isScalar,
  type JsonObject,
  type JsonValue,
  memberOf,
  objectOf,
} from '../json/json.ts'
import { isNumeric, toInteger } from '../json/numbers.ts'
import { toText } from '../json/text.ts'

export type Maybe = JsonValue | undefined

const NOTHING: JsonObject = objectOf([])

const wrong = (path: string, expected: string, value: Maybe) =>
  new UserError(`Invalid configuration: '${path}' must be ${expected}, given ${kindOf(value)}.`)

/** The member of an object that may be missing altogether. */
export function at(object: Maybe, key: string): Maybe {
  return isObject(object) ? memberOf(object, key) : undefined
}

const isAbsent = (value: Maybe): value is null | undefined => value === undefined || value === null
/** PHP does not distinguish an empty list from an empty object, so configurations saved by it hold `[]` for `{}`. */
const isEmptyList = (value: Maybe) => isArray(value) && value.length === 0

export function objectAt(value: Maybe, path: string): JsonObject {
  if (isAbsent(value) || isEmptyList(value)) return NOTHING
  if (!isObject(value)) throw wrong(path, 'an object', value)
  return value
}

export function listAt(value: Maybe, path: string): readonly JsonValue[] {
  if (isAbsent(value)) return []
  if (!isArray(value)) throw wrong(path, 'a list', value)
  return value
}

export function textAt(value: Maybe, path: string): string | undefined
export function textAt(value: Maybe, path: string, fallback: string): string
export function textAt(value: Maybe, path: string, fallback?: string): string | undefined {
  if (isAbsent(value)) return fallback
  if (typeof value !== 'string' && !isNumber(value)) throw wrong(path, 'a text', value)
  return toText(value)
}

export function flagAt(value: Maybe, path: string, fallback = false): boolean {
  if (isAbsent(value)) return fallback
  if (typeof value === 'boolean') return value
  if (value === 'false') return false
  if (!isScalar(value)) throw wrong(path, 'true or false', value)
  return !(value === '' || value === '0' || toText(value) === '0')
}

/** A number of any size below 2^53; text with digits counts as one. */
export function integerAt(value: Maybe, path: string): number | undefined {
  if (isAbsent(value)) return undefined
  const whole = typeof value === 'boolean' ? undefined : toInteger(value)
  if (whole === undefined) throw wrong(path, 'an integer', value)
  return Number(whole)
}

/** A timer that is set to more than this ends at once. */
const MAX_TIMER_SECONDS = (2 ** 31 - 1) / 1000

/** Seconds, as a positive number; 0 and everything that is not numeric mean the default (spec extractor 3.2). */
export function secondsAt(value: Maybe, fallback: number): number {
  if (!isNumeric(value)) return fallback
  const seconds = Number(String(value))
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, MAX_TIMER_SECONDS) : fallback
}

export function integersAt(value: Maybe, path: string): number[] | undefined {
  if (isAbsent(value)) return undefined
  return listAt(value, path).map((entry, i) => integerAt(entry, `${path}.${i}`) ?? 0)
}

/** In any letter case. The text of the message, slip included, is the one people search for. */
export function methodAt(value: Maybe, path: string): Method | undefined {
  if (isAbsent(value)) return undefined
  const method = typeof value === 'string' ? value.toUpperCase() : ''
  if (method !== 'GET' && method !== 'POST' && method !== 'FORM') {
    throw new UserError(`The "method" property must be on of "GET", "POST", "FORM". (${path})`)
  }
  return method
}

/** Header names and values. What is not a scalar after evaluation is named with its path. */
export function headerPairs(value: Maybe, path: string): [string, string][] {
  return entriesOf(objectAt(value, path)).map(([name, header]): [string, string] => {
    if (header !== null && !isScalar(header)) {
      throw new UserError(`Invalid configuration: invalid type "${kindOf(header)}" in headers at path: ${path}.${name}`)
    }
    return [name, toText(header)]
  })
}
