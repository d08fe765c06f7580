// method pagenum: pages are counted.

import { counted } from '../../../../contract/counted.ts'
import { at, flagAt, integerAt, textAt } from '../configuration/read.ts'
import type { RequestSettings } from '../http/request.ts'
import { type JsonObject, type JsonValue, memberOf } from '../json/json.ts'
import { pageSize, sentSize } from './offset.ts'
import { type Scroller, type ScrollerFactory, withParams } from './scroller.ts'

export const pagenumSchema = {
  title: 'Page number',
  description: 'Sends the number of the page. Ends with an empty page, or with one smaller than the limit when a limit is known.',
  properties: {
    method: { const: 'pagenum' },
    pageParam: { type: 'string', default: 'page' },
    limit: { type: ['integer', 'string'] },
    limitParam: { type: 'string', default: 'limit' },
    firstPage: { type: ['integer', 'string'], default: 1 },
    firstPageParams: { type: 'boolean', default: true, description: 'false: the first request carries neither parameter.' },
  },
  required: ['method'],
} as const

export function createPagenum(settings: JsonObject): ScrollerFactory {
  const limit = at(settings, 'limit')
  pageSize(undefined, limit)
  const pageParam = textAt(at(settings, 'pageParam'), 'api.pagination.pageParam', 'page')
  const limitParam = textAt(at(settings, 'limitParam'), 'api.pagination.limitParam', 'limit')
  const firstPage = integerAt(at(settings, 'firstPage'), 'api.pagination.firstPage') ?? 1
  const firstPageParams = flagAt(at(settings, 'firstPageParams'), 'api.pagination.firstPageParams', true)

  return (): Scroller => {
    let page = firstPage
    const request = (job: RequestSettings) => {
      const own = memberOf(job.params, limitParam)
      const size = pageSize(own, limit)
      const values: [string, JsonValue][] = [[pageParam, page]]
      if (size !== undefined) values.push([limitParam, sentSize(own, size)])
      return withParams(job, values)
    }
    return {
      first: (job) => (firstPageParams ? request(job) : job),
      next: (job, { items }) => {
        const size = pageSize(memberOf(job.params, limitParam), limit)
        if (items.length === 0) return { stop: 'the page is empty' }
        if (size !== undefined && BigInt(items.length) < size)
          return { stop: `the page holds ${counted(items.length, 'item')}, fewer than the limit of ${size}` }
        page += 1
        return { request: request(job) }
      },
    }
  }
}
