// The functions an expression may call (spec extractor 9.2). Each takes evaluated arguments and returns a value, or
// throws a RangeError that names what is wrong with them.

import { createHash } from 'node:crypto'
import { strtotime } from '../../../../contract/strtotime.ts'
import { isEmpty, isNumber, isScalar, JsonNumber, type JsonValue } from '../json/json.ts'
import { toInteger } from '../json/numbers.ts'
import { toText } from '../json/text.ts'
import { formEncode } from '../percent.ts'
import { formatDate } from './date.ts'
import { hash, hashHmac } from './hash.ts'
import { kindOf } from './kind.ts'
import { type Printable, sprintf } from './sprintf.ts'

export interface FunctionContext {
  /** Unix time, in whole seconds. */
  readonly nowSeconds: () => number
}

type Fn = (args: readonly JsonValue[], context: FunctionContext) => JsonValue

function text(args: readonly JsonValue[], index: number): string {
  const value = args[index]
  if (value === undefined) throw new RangeError(`argument ${index + 1} is missing`)
  if (value !== null && !isScalar(value))
    throw new RangeError(`argument ${index + 1} must be a text or a number, not ${kindOf(value)}`)
  return toText(value)
}

function seconds(args: readonly JsonValue[], index: number, fallback: number): number {
  const value = args[index]
  if (value === undefined || value === null) return fallback
  if (typeof value === 'boolean') return Number(value) // strtotime of a text it does not understand is false
  const whole = toInteger(value)
  if (whole === undefined) throw new RangeError(`argument ${index + 1} must be a Unix time, not ${JSON.stringify(value)}`)
  return Number(whole)
}

function printable(value: JsonValue, index: number): Printable {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (isNumber(value)) {
    if (value instanceof JsonNumber) return value.isInteger ? BigInt(value.text) : value.double
    return Number.isInteger(value) ? BigInt(value) : value
  }
  throw new RangeError(`argument ${index + 1} must be a text or a number, not ${kindOf(value)}`)
}

export const FUNCTIONS: Readonly<Record<string, Fn>> = {
  md5: (args) => createHash('md5').update(text(args, 0)).digest('hex'),
  sha1: (args) => createHash('sha1').update(text(args, 0)).digest('hex'),
  base64_encode: (args) => Buffer.from(text(args, 0)).toString('base64'),
  hash: (args) => hash(text(args, 0), text(args, 1)),
  hash_hmac: (args) => hashHmac(text(args, 0), text(args, 1), text(args, 2)),
  time: (_args, { nowSeconds }) => nowSeconds(),
  date: (args, { nowSeconds }) => formatDate(text(args, 0), seconds(args, 1, nowSeconds())),
  strtotime: (args, { nowSeconds }) => strtotime(text(args, 0), seconds(args, 1, nowSeconds())) ?? false,
  sprintf: (args) =>
    sprintf(
      text(args, 0),
      args.slice(1).map((value, i) => printable(value, i + 1)),
    ),
  concat: (args) => args.map((_, i) => text(args, i)).join(''),
  implode: (args) => {
    const list = args[1]
    if (!Array.isArray(list)) throw new RangeError(`argument 2 must be a list, not ${kindOf(list)}`)
    return list.map((_, i) => text(list, i)).join(text(args, 0))
  },
  ifempty: (args) => {
    if (args.length !== 2) throw new RangeError("Bad argument count for function 'ifempty'!")
    return isEmpty(args[0]) ? args[1]! : args[0]!
  },
}

/** Only for placeholders: they go into an address, where everything else is encoded later. */
export const PLACEHOLDER_FUNCTIONS: Readonly<Record<string, Fn>> = {
  ...FUNCTIONS,
  urlencode: (args) => formEncode(text(args, 0)),
}
