// api.pagination: the map of methods (spec extractor 6). A method without an entry does not compile.

import { at } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { isEmpty, isObject, type JsonObject, type JsonValue } from '../json/json.ts'
import { createCursor } from './cursor.ts'
import { createMultiple } from './multiple.ts'
import { createNone } from './none.ts'
import { createOffset } from './offset.ts'
import { createPagenum } from './pagenum.ts'
import { createResponseLink } from './response-link.ts'
import { createResponseParam } from './response-param.ts'
import { createResponseUrl } from './response-url.ts'
import type { PaginationDeps, ScrollerFactory } from './scroller.ts'
import { withStoppingConditions } from './stopping.ts'
import { createZendesk } from './zendesk.ts'

export const PAGINATION_METHODS = [
  'cursor',
  'offset',
  'pagenum',
  'response.url',
  'response.param',
  'response.link',
  'multiple',
  'zendesk.response.url',
] as const
export type PaginationMethod = (typeof PAGINATION_METHODS)[number]

const CREATE = {
  cursor: createCursor,
  offset: createOffset,
  pagenum: createPagenum,
  'response.url': (settings) => createResponseUrl(settings),
  'response.param': createResponseParam,
  'response.link': createResponseLink,
  multiple: (settings, deps) => createMultiple(settings, (inner) => createPagination(inner, deps)),
  'zendesk.response.url': createZendesk,
} satisfies Record<PaginationMethod, (settings: JsonObject, deps: PaginationDeps) => ScrollerFactory>

const isKnown = (method: string): method is PaginationMethod => Object.hasOwn(CREATE, method)

export function createPagination(settings: JsonValue | undefined, deps: PaginationDeps): ScrollerFactory {
  if (isEmpty(settings)) return createNone
  if (!isObject(settings)) throw new UserError("Invalid configuration: 'api.pagination' must be an object.")
  checkPages(at(settings, 'pages'))
  return withStoppingConditions(createMethod(settings, deps), settings, deps)
}

function createMethod(settings: JsonObject, deps: PaginationDeps): ScrollerFactory {
  const method = at(settings, 'method')
  if (isEmpty(method)) return createNone
  const name = typeof method === 'string' ? method : JSON.stringify(method)
  if (!isKnown(name)) throw new UserError(`Unknown pagination method '${name}'. Known methods: ${PAGINATION_METHODS.join(', ')}.`)
  return CREATE[name](settings, deps)
}

/** Without a meaning, but a wrong one has always been refused. */
function checkPages(pages: JsonValue | undefined): void {
  if (pages !== undefined && pages !== null && !/^\d+$/.test(String(pages))) {
    throw new UserError("Parameter 'pagination.pages' is not an integer.")
  }
}
