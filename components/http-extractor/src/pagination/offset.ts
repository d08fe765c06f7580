// method offset: limit and offset count items.

import { counted } from '../../../../contract/counted.ts'
import { at, flagAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { isEmpty, type JsonObject, type JsonValue, memberOf } from '../json/json.ts'
import { toInteger } from '../json/numbers.ts'
import { exactJson } from '../json/text.ts'
import { integerValue } from './cursor.ts'
import { type Scroller, type ScrollerFactory, withParams } from './scroller.ts'

export const offsetSchema = {
  title: 'Offset',
  description: 'Sends how many items to skip. Ends when a response holds fewer items than the limit.',
  properties: {
    method: { const: 'offset' },
    limit: { type: ['integer', 'string'], description: 'Items per page, unless the job sets the parameter itself.' },
    limitParam: { type: 'string', default: 'limit' },
    offsetParam: { type: 'string', default: 'offset' },
    firstPageParams: { type: 'boolean', default: true, description: 'false: the first request carries neither parameter.' },
    offsetFromJob: { type: 'boolean', default: false, description: "true: start from the job's own offset parameter." },
  },
  required: ['method', 'limit'],
} as const

/** The page size: the job's own parameter when it is set and not empty, otherwise the setting. */
export function pageSize(own: JsonValue | undefined, setting: JsonValue | undefined): bigint | undefined {
  const given = isEmpty(own) ? setting : own
  if (isEmpty(given)) return undefined
  const size = toInteger(given)
  if (size === undefined) throw new UserError(`Parameter 'pagination.limit' is not numeric. Value '${exactJson(given!)}'.`)
  if (size <= 0n) throw new UserError(`Parameter 'pagination.limit' must be above 0. Value '${exactJson(given!)}'.`)
  return size
}

/** The job's own value as it is written there, otherwise the setting. */
export const sentSize = (own: JsonValue | undefined, size: bigint): JsonValue => (isEmpty(own) ? integerValue(size) : own!)

export function createOffset(settings: JsonObject): ScrollerFactory {
  const limit = at(settings, 'limit')
  if (pageSize(undefined, limit) === undefined)
    throw new UserError("Missing 'pagination.limit' attribute required for offset pagination")
  const limitParam = textAt(at(settings, 'limitParam'), 'api.pagination.limitParam', 'limit')
  const offsetParam = textAt(at(settings, 'offsetParam'), 'api.pagination.offsetParam', 'offset')
  const firstPageParams = flagAt(at(settings, 'firstPageParams'), 'api.pagination.firstPageParams', true)
  const offsetFromJob = flagAt(at(settings, 'offsetFromJob'), 'api.pagination.offsetFromJob')

  return (): Scroller => {
    let offset = 0n
    const request = (job: Parameters<Scroller['first']>[0], size: bigint) =>
      withParams(job, [
        [limitParam, sentSize(memberOf(job.params, limitParam), size)],
        [offsetParam, integerValue(offset)],
      ])
    const sizeOf = (job: Parameters<Scroller['first']>[0]) => pageSize(memberOf(job.params, limitParam), limit)!
    return {
      first: (job) => {
        if (offsetFromJob) offset = toInteger(memberOf(job.params, offsetParam)) ?? 0n
        return firstPageParams ? request(job, sizeOf(job)) : job
      },
      next: (job, { items }) => {
        const size = sizeOf(job)
        if (BigInt(items.length) < size)
          return { stop: `the response holds ${counted(items.length, 'item')}, fewer than the limit of ${size}` }
        if (items.length === 0) return { stop: 'the response holds no items' }
        offset += size
        return { request: request(job, size) }
      },
    }
  }
}
