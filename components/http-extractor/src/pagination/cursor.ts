// method cursor (spec extractor 6.1): the largest id of each response, or the smallest with `reverse`,
// plus `increment`, is sent with the next request. Ids may have more digits than a double holds: nothing here rounds them.

import { at, flagAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { kindOf } from '../functions/kind.ts'
import type { RequestSettings } from '../http/request.ts'
import { isEmpty, JsonNumber, type JsonObject, type JsonValue, valueAt } from '../json/json.ts'
import { addDecimals, compareDecimals, type Decimal, decimalText, toDecimal } from '../json/numbers.ts'
import { exactJson } from '../json/text.ts'
import { type Scroller, type ScrollerFactory, withParams } from './scroller.ts'

export const cursorSchema = {
  title: 'Cursor',
  description: 'Sends the largest (or smallest) id of a response with the next request. Ends when a response holds no items.',
  properties: {
    method: { const: 'cursor' },
    idKey: { type: 'string', description: 'Path of the id, relative to an item, e.g. fields.id.' },
    param: { type: 'string', description: 'Name of the parameter that carries the id.' },
    increment: { type: ['number', 'string'], default: 0, description: 'Added to the id; may be negative.' },
    reverse: { type: 'boolean', default: false, description: 'true: take the smallest id.' },
  },
  required: ['method', 'idKey', 'param'],
} as const

export function createCursor(settings: JsonObject): ScrollerFactory {
  const required = (key: string) => {
    const value = at(settings, key)
    if (isEmpty(value)) throw new UserError(`Missing 'pagination.${key}' attribute required for cursor pagination`)
    return textAt(value, `api.pagination.${key}`, '')
  }
  const idKey = required('idKey')
  const param = required('param')
  const increment = readIncrement(at(settings, 'increment'))
  const reverse = readReverse(at(settings, 'reverse'))

  return (): Scroller => ({
    repeats: 'request',
    first: (job) => job,
    next: (job, { items }) => {
      if (items.length === 0) return { stop: 'the response holds no items' }
      const next = addDecimals(edgeOf(items, idKey, reverse), increment)
      return { request: withParams(job, [[param, sentValue(next, job)]]) }
    },
  })
}

/** No other text than `true` and `false`: "no" would be read as true and turn the order round. */
function readReverse(value: JsonValue | undefined): boolean {
  if (typeof value === 'string' && !/^(true|false|1|0|)$/.test(value))
    throw new UserError(`Invalid configuration: 'api.pagination.reverse' must be true or false, given ${JSON.stringify(value)}.`)
  return flagAt(value, 'api.pagination.reverse')
}

function readIncrement(value: JsonValue | undefined): Decimal {
  const increment = toDecimal(value ?? 0)
  if (increment === undefined)
    throw new UserError(`Invalid configuration: 'api.pagination.increment' must be a number, given ${kindOf(value)}.`)
  return increment
}

/** In a query a decimal is its text, digit by digit; in a JSON body it stays a number. */
function sentValue(next: Decimal, { method }: RequestSettings): JsonValue {
  const text = decimalText(next)
  if (!text.includes('.')) return integerValue(BigInt(text))
  return method === 'POST' ? new JsonNumber(text) : text
}

/** Ids that a double holds are compared as such; the first that is larger, or no integer, or text, moves the rest to exact numbers. */
function edgeOf(items: readonly JsonValue[], idKey: string, reverse: boolean): Decimal {
  let edge: number | undefined
  for (const [i, item] of items.entries()) {
    const id = valueAt(item, idKey)
    if (typeof id !== 'number' || !Number.isSafeInteger(id)) return exactEdgeOf(items, i, edge, idKey, reverse)
    if (edge === undefined || (reverse ? id < edge : id > edge)) edge = id
  }
  return decimalOf(edge ?? 0)
}

const decimalOf = (n: number): Decimal => ({ digits: BigInt(n), scale: 0 })

function exactEdgeOf(
  items: readonly JsonValue[],
  from: number,
  soFar: number | undefined,
  idKey: string,
  reverse: boolean,
): Decimal {
  let edge = soFar === undefined ? undefined : decimalOf(soFar)
  for (let i = from; i < items.length; i++) {
    const id = cursorValue(valueAt(items[i]!, idKey))
    const order = edge === undefined ? 0 : compareDecimals(id, edge)
    if (edge === undefined || (reverse ? order < 0 : order > 0)) edge = id
  }
  return edge ?? decimalOf(0)
}

function cursorValue(value: JsonValue | undefined): Decimal {
  const id = toDecimal(value)
  if (id === undefined) throw new UserError(`Cursor value '${value === undefined ? 'null' : exactJson(value)}' is not numeric.`)
  return id
}

export const integerValue = (n: bigint): JsonValue =>
  n >= BigInt(Number.MIN_SAFE_INTEGER) && n <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(n) : new JsonNumber(String(n))
