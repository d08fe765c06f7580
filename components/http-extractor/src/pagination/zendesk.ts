// method zendesk.response.url: response.url for Zendesk's incremental exports, whose next address never ends: once its
// start_time is younger than six minutes there is nothing new.

import { at } from '../configuration/read.ts'
import { parseQuery } from '../http/query.ts'
import { type JsonObject, objectOf } from '../json/json.ts'
import { createResponseUrl, responseUrlSchema } from './response-url.ts'
import type { PaginationDeps, ScrollerFactory } from './scroller.ts'

const FRESH_SECONDS = 6 * 60

const { delimiter: _fixed, ...properties } = responseUrlSchema.properties

export const zendeskSchema = {
  title: 'Zendesk incremental export',
  description: 'As response.url, and ends when the next start_time lies within the last six minutes.',
  properties: { ...properties, method: { const: 'zendesk.response.url' } },
  required: ['method'],
} as const

export function createZendesk(settings: JsonObject, { now }: PaginationDeps): ScrollerFactory {
  const kept = ['urlKey', 'includeParams', 'paramIsQuery'].flatMap((key) => {
    const value = at(settings, key)
    return value === undefined ? [] : [[key, value] as const]
  })
  return createResponseUrl(objectOf(kept), (url) => {
    const start = parseQuery(url.split('?')[1]).find(([name]) => name === 'start_time')?.[1]
    return start !== undefined && Number(start) > now() / 1000 - FRESH_SECONDS
      ? 'the next start_time lies within the last six minutes'
      : undefined
  })
}
