// Stopping conditions that any method may carry (spec extractor 6.8), in the order in which they are checked:
// limitStop, forceStop, nextPageFlag, then the method itself. The counters belong to one run of one job.

import { counted } from '../../../../contract/counted.ts'
import { strtotime } from '../../../../contract/strtotime.ts'
import { at, flagAt, integerAt, objectAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { isEmpty, isObject, type JsonObject, valueAt } from '../json/json.ts'
import { isNumeric, toInteger } from '../json/numbers.ts'
import { serialize } from '../json/text.ts'
import type { PageView, PaginationDeps, ScrollerFactory } from './scroller.ts'

export const stoppingSchema = {
  nextPageFlag: {
    type: 'object',
    description: 'A value in the root of the response that says whether there is another page.',
    properties: { field: { type: 'string' }, stopOn: { type: 'boolean' }, ifNotSet: { type: 'boolean' } },
    required: ['field', 'stopOn'],
  },
  forceStop: {
    type: 'object',
    description: 'Ends a job after a number of pages, a time or a volume.',
    properties: {
      pages: { type: ['integer', 'string'] },
      time: { type: ['integer', 'string'], description: 'Seconds, or a text such as "1 hour".' },
      volume: { type: ['integer', 'string'], description: 'Bytes.' },
    },
  },
  limitStop: {
    type: 'object',
    description: 'Ends a job after a number of items, fixed or found in the response. Give one of the two.',
    properties: { count: { type: ['integer', 'string'] }, field: { type: 'string' } },
  },
} as const

/** Looks at a page and gives the reason to stop, as the end of a sentence, or nothing. */
type Condition = (page: PageView) => string | undefined

/** Makes the conditions of one run, with their counters at zero. */
type ConditionFactory = () => Condition

export function withStoppingConditions(factory: ScrollerFactory, settings: JsonObject, deps: PaginationDeps): ScrollerFactory {
  const conditions = [limitStop(settings), forceStop(settings, deps), nextPageFlag(settings)].filter((c) => c !== undefined)
  if (conditions.length === 0) return factory
  return (name) => {
    const scroller = factory(name)
    const run = conditions.map((create) => create())
    return {
      ...scroller,
      next: (job, page) => {
        for (const condition of run) {
          const stop = condition(page)
          if (stop !== undefined) return { stop }
        }
        return scroller.next(job, page)
      },
    }
  }
}

function limitStop(settings: JsonObject): ConditionFactory | undefined {
  const limit = at(settings, 'limitStop')
  if (isEmpty(limit)) return undefined
  const object = objectAt(limit, 'api.pagination.limitStop')
  const field = textAt(at(object, 'field'), 'api.pagination.limitStop.field')
  const count = integerAt(at(object, 'count'), 'api.pagination.limitStop.count')
  if (isEmpty(field) && isEmpty(count))
    throw new UserError("One of 'limitStop.field' or 'limitStop.count' attributes is required.")
  if (!isEmpty(field) && !isEmpty(count)) throw new UserError("Specify only one of 'limitStop.field' or 'limitStop.count'.")
  return () => {
    let items = 0
    return (page) => {
      items += page.items.length
      const total = field === undefined ? BigInt(count ?? 0) : (toInteger(valueAt(page.response, field)) ?? 0n)
      return BigInt(items) >= total ? `limit reached (current count: ${items}, limit: ${total})` : undefined
    }
  }
}

function forceStop(settings: JsonObject, { now }: PaginationDeps): ConditionFactory | undefined {
  const force = at(settings, 'forceStop')
  if (isEmpty(force)) return undefined
  const object = objectAt(force, 'api.pagination.forceStop')
  const pages = integerAt(at(object, 'pages'), 'api.pagination.forceStop.pages')
  const volume = integerAt(at(object, 'volume'), 'api.pagination.forceStop.volume')
  const seconds = forceTime(object)
  return () => {
    const began = now()
    let seen = 0
    let bytes = 0
    return (page) => {
      seen += 1
      if (pages !== undefined && seen >= pages) return `force stop, page limit reached (${counted(pages, 'page')})`
      if (seconds !== undefined && began + seconds * 1000 <= now())
        return `force stop, time limit reached (${counted(seconds, 'second')})`
      if (volume === undefined) return undefined
      bytes += serialize(page.response).length // ASCII only, so characters are bytes
      return bytes > volume ? `force stop, volume limit reached (${bytes} of ${volume} bytes)` : undefined
    }
  }
}

function forceTime(force: JsonObject): number | undefined {
  const time = at(force, 'time')
  if (time === undefined || time === null) return undefined
  if (isNumeric(time)) return Number(String(time))
  const seconds = typeof time === 'string' ? strtotime(time, 0) : undefined
  if (seconds === undefined)
    throw new UserError(`'api.pagination.forceStop.time' is neither seconds nor a time such as "1 hour": ${JSON.stringify(time)}`)
  return seconds
}

function nextPageFlag(settings: JsonObject): ConditionFactory | undefined {
  const flag = at(settings, 'nextPageFlag')
  if (isEmpty(flag)) return undefined
  const object = objectAt(flag, 'api.pagination.nextPageFlag')
  const field = at(object, 'field')
  if (isEmpty(field)) throw new UserError("'field' has to be specified for 'nextPageFlag'")
  const name = textAt(field, 'api.pagination.nextPageFlag.field', '')
  const stopOn = at(object, 'stopOn')
  if (typeof stopOn !== 'boolean') throw new UserError("'stopOn' value must be set to a boolean value for 'nextPageFlag'")
  const ifNotSet = flagAt(at(object, 'ifNotSet'), 'api.pagination.nextPageFlag.ifNotSet', stopOn)
  return () => (page) => {
    const found = isObject(page.response) ? at(page.response, name) : undefined
    const value = found === undefined || found === null ? ifNotSet : !isEmpty(found)
    return value === stopOn ? `the value of '${name}' is ${value}` : undefined
  }
}
