// method response.url: each response has the URL of the next page.

import { at, flagAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { kindOf } from '../functions/kind.ts'
import { queryParams } from '../http/query.ts'
import { isEmpty, isObject, isScalar, type JsonObject, type JsonValue, keysOf, valueAt } from '../json/json.ts'
import { toText } from '../json/text.ts'
import { type Next, type Scroller, type ScrollerFactory, withoutParams, withParams } from './scroller.ts'

export const responseUrlSchema = {
  title: 'Next address',
  description: 'Follows the address of the next page found in the response. Ends when there is none.',
  properties: {
    method: { const: 'response.url' },
    urlKey: { type: 'string', default: 'next_page', description: 'Path of the address in the response.' },
    delimiter: { type: 'string', default: '.', description: 'Separates the segments of urlKey.' },
    includeParams: { type: 'boolean', default: false, description: "true: the job's params are added to the address." },
    paramIsQuery: { type: 'boolean', default: false, description: 'true: the value is only a query string.' },
  },
  required: ['method'],
} as const

/** `check` may stop before the address is followed (zendesk.response.url does). */
export function createResponseUrl(
  settings: JsonObject,
  check: (url: string) => string | undefined = () => undefined,
): ScrollerFactory {
  const urlKey = textAt(at(settings, 'urlKey'), 'api.pagination.urlKey', 'next_page')
  const delimiter = textAt(at(settings, 'delimiter'), 'api.pagination.delimiter', '.')
  const includeParams = flagAt(at(settings, 'includeParams'), 'api.pagination.includeParams')
  const paramIsQuery = flagAt(at(settings, 'paramIsQuery'), 'api.pagination.paramIsQuery')

  return (): Scroller => ({
    repeats: 'request',
    first: (job) => job,
    next: (job, { response }): Next => {
      const value = valueAt(response, urlKey, delimiter)
      if (isEmpty(value) || isBare(value!)) return { stop: `the response has no more pages ('${urlKey}' is empty)` }
      if (!isScalar(value)) throw notAnAddress(urlKey, value!)
      const url = toText(value)
      const reason = check(url)
      if (reason !== undefined) return { stop: reason }
      const carried = includeParams ? job : withoutParams(job)
      return {
        request: paramIsQuery ? withParams(carried, [...queryParams(url.replace(/^\?/, ''))]) : { ...carried, endpoint: url },
      }
    },
  })
}

const isBare = (value: JsonValue) => isObject(value) && keysOf(value).length === 0

/** Ending here would lose every further page without a word. */
const notAnAddress = (urlKey: string, value: JsonValue) =>
  new UserError(
    `The value of '${urlKey}' in the response is ${kindOf(value)}, not the address of the next page. Set "urlKey" to the text inside it.`,
  )
