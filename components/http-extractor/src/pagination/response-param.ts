// method response.param: a value of the response is sent with the next request.

import { at, flagAt, headerPairs, methodAt, objectAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { headersOf } from '../http/headers.ts'
import { mergeUnder } from '../http/request.ts'
import { isEmpty, isObject, type JsonObject, memberOf, valueAt } from '../json/json.ts'
import { type Next, type Scroller, type ScrollerFactory, withoutParams, withParams } from './scroller.ts'

export const responseParamSchema = {
  title: 'Next parameter',
  description: 'Sends a value of the response as a parameter of the next request. Ends when the value is empty.',
  properties: {
    method: { const: 'response.param' },
    responseParam: { type: 'string', description: 'Path of the value in the response.' },
    queryParam: { type: 'string', description: 'Name of the parameter that carries it.' },
    includeParams: { type: 'boolean', default: false, description: "true: the job's params are sent as well." },
    scrollRequest: {
      type: 'object',
      description: 'Replaces parts of the job from the second page on.',
      properties: {
        endpoint: { type: 'string' },
        method: { type: 'string', enum: ['GET', 'POST', 'FORM'] },
        params: { $ref: '#/$defs/params' },
        headers: { $ref: '#/$defs/headers' },
      },
    },
  },
  required: ['method', 'responseParam', 'queryParam'],
} as const

export function createResponseParam(settings: JsonObject): ScrollerFactory {
  const required = (key: string) => {
    const value = at(settings, key)
    if (isEmpty(value)) throw new UserError(`Missing required 'pagination.${key}' parameter.`)
    return textAt(value, `api.pagination.${key}`, '')
  }
  const responseParam = required('responseParam')
  const queryParam = required('queryParam')
  const includeParams = flagAt(at(settings, 'includeParams'), 'api.pagination.includeParams')
  const scroll = objectAt(at(settings, 'scrollRequest'), 'api.pagination.scrollRequest')
  const endpoint = textAt(at(scroll, 'endpoint'), 'api.pagination.scrollRequest.endpoint')
  const method = methodAt(at(scroll, 'method'), 'api.pagination.scrollRequest.method')
  const params = objectAt(memberOf(scroll, 'params'), 'api.pagination.scrollRequest.params')
  const headers = headerPairs(at(scroll, 'headers'), 'api.pagination.scrollRequest.headers')

  return (): Scroller => ({
    repeats: 'items',
    first: (job) => job,
    next: (job, { response }): Next => {
      const value = valueAt(response, responseParam)
      if (isEmpty(value)) return { stop: `the response has no more pages ('${responseParam}' is empty)` }
      const carried = includeParams ? job : withoutParams(job)
      const merged = mergeUnder(carried.params, params)
      const request = {
        ...carried,
        endpoint: endpoint ?? carried.endpoint,
        method: method ?? carried.method,
        params: isObject(merged) ? merged : carried.params,
        headers: [...headersOf(carried.headers, headers).values()],
      }
      return { request: withParams(request, [[queryParam, value!]]) }
    },
  })
}
