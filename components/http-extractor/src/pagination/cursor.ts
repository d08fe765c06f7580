// method cursor (spec extractor 6.1): the largest id of each response, or the smallest with `reverse`,
// plus `increment`, is sent with the next request. Ids may be larger than a double holds: nothing here rounds them.

import { at, flagAt, integerAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { isEmpty, JsonNumber, type JsonObject, type JsonValue, valueAt } from '../json/json.ts'
import { toInteger } from '../json/numbers.ts'
import { exactJson } from '../json/text.ts'
import { type Scroller, type ScrollerFactory, withParams } from './scroller.ts'

export const cursorSchema = {
  title: 'Cursor',
  description: 'Sends the largest (or smallest) id of a response with the next request. Ends when a response holds no items.',
  properties: {
    method: { const: 'cursor' },
    idKey: { type: 'string', description: 'Path of the id, relative to an item, e.g. fields.id.' },
    param: { type: 'string', description: 'Name of the parameter that carries the id.' },
    increment: { type: ['integer', 'string'], default: 0, description: 'Added to the id; may be negative.' },
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
  const increment = BigInt(integerAt(at(settings, 'increment'), 'api.pagination.increment') ?? 0)
  const reverse = flagAt(at(settings, 'reverse'), 'api.pagination.reverse')

  return (): Scroller => ({
    repeats: 'request',
    first: (job) => job,
    next: (job, { items }) => {
      if (items.length === 0) return { stop: 'the response holds no items' }
      const edge = edgeOf(items, idKey, reverse)
      return { request: withParams(job, [[param, integerValue(edge + increment)]]) }
    },
  })
}

/** Ids that a double holds are compared as such; the first that is larger, or text, moves the rest to exact integers. */
function edgeOf(items: readonly JsonValue[], idKey: string, reverse: boolean): bigint {
  let edge: number | undefined
  for (const [i, item] of items.entries()) {
    const id = valueAt(item, idKey)
    if (typeof id !== 'number' || !Number.isSafeInteger(id)) return exactEdgeOf(items, i, edge, idKey, reverse)
    if (edge === undefined || (reverse ? id < edge : id > edge)) edge = id
  }
  return BigInt(edge ?? 0)
}

function exactEdgeOf(
  items: readonly JsonValue[],
  from: number,
  soFar: number | undefined,
  idKey: string,
  reverse: boolean,
): bigint {
  let edge = soFar === undefined ? undefined : BigInt(soFar)
  for (let i = from; i < items.length; i++) {
    const id = cursorValue(valueAt(items[i]!, idKey))
    if (edge === undefined || (reverse ? id < edge : id > edge)) edge = id
  }
  return edge ?? 0n
}

function cursorValue(value: JsonValue | undefined): bigint {
  const id = toInteger(value)
  if (id === undefined) throw new UserError(`Cursor value '${value === undefined ? 'null' : exactJson(value)}' is not numeric.`)
  return id
}

export const integerValue = (n: bigint): JsonValue =>
  n >= BigInt(Number.MIN_SAFE_INTEGER) && n <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(n) : new JsonNumber(String(n))
