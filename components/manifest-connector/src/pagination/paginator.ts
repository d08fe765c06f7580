// Paginators: what each page adds to the request, and which page comes next.

import { contextOf, type Deps, dictOf, parametersOf } from '../component.ts'
import { type Decoder, firstDecoded } from '../decode/decoder.ts'
import { ConnectorError, ValueError } from '../errors.ts'
import type { Place } from '../http/options.ts'
import { createRequestOption, injected } from '../http/request-option.ts'
import type { HttpResponse } from '../http/response.ts'
import type { StreamSlice } from '../partitions/slice.ts'
import { asNumber, type Dict, isDict, isInt, isNumber, pyRepr, pyStr, truthy } from '../python/values.ts'
import { readsPageSize } from './stop-condition.ts'

export interface Page {
  readonly response: HttpResponse
  /** Records that were given, after the filter. */
  readonly size: number
  /** Records that the extractor found. */
  readonly found: number
  readonly lastRecord: Dict | null
  readonly token: unknown
  readonly slice: StreamSlice
  /** The size that was requested instead of the configured one. */
  readonly requested?: number | undefined
}

export interface Paginator {
  readonly initial: unknown
  readonly pageSize: unknown
  /** The token of the next page; null ends. */
  next(page: Page): unknown
  /** `size` takes the place of the configured page size. */
  options(place: Place, token: unknown, size?: number): Dict
  /** The path that replaces the requester's, if the token is one. */
  path(token: unknown): string | undefined
}

const NO_PAGES: Paginator = { initial: null, pageSize: null, next: () => null, options: () => ({}), path: () => undefined }

interface Strategy {
  readonly initial: unknown
  readonly pageSize: unknown
  next(page: Page): unknown
}

export function createPaginator(definition: unknown, decoder: Decoder, deps: Deps): Paginator {
  if (!isDict(definition) || definition.type === 'NoPagination') return NO_PAGES
  const strategy = createStrategy(dictOf(definition.pagination_strategy, 'pagination_strategy'), decoder, deps)
  const tokenOption = createRequestOption(definition.page_token_option, deps)
  const sizeOption = createRequestOption(definition.page_size_option, deps)
  const isPath = isDict(definition.page_token_option) && definition.page_token_option.type === 'RequestPath'
  if (sizeOption && !truthy(strategy.pageSize))
    throw new ValueError('page_size_option cannot be set if the pagination strategy does not have a page_size.')
  return {
    initial: strategy.initial,
    pageSize: strategy.pageSize,
    next(page) {
      const token = strategy.next(page)
      return truthy(token) ? token : null
    },
    options: (place, token, size) =>
      injected(place, [
        [token === null || token === undefined ? undefined : tokenOption, token],
        [truthy(size ?? strategy.pageSize) ? sizeOption : undefined, size ?? strategy.pageSize],
      ]),
    path: (token) => (isPath && truthy(token) ? pyStr(token) : undefined),
  }
}

function createStrategy(definition: Dict, decoder: Decoder, deps: Deps): Strategy {
  const { expressions } = deps
  const own = contextOf(definition, deps)
  const pageSize =
    definition.page_size === undefined || definition.page_size === null ? null : expressions.value(definition.page_size, own)
  if (truthy(pageSize) && !isInt(pageSize)) throw new ConnectorError(`page_size must be an integer, not ${pyRepr(pageSize)}.`)
  const size = pageSize === null || pageSize === '' ? 0 : asNumber(pageSize)
  const isShort = (count: number, requested = size) => (requested > 0 && count < requested) || count === 0
  const first = definition.inject_on_first_request === true
  switch (definition.type) {
    case 'PageIncrement': {
      const start = isNumber(definition.start_from_page) ? asNumber(definition.start_from_page) : 0
      return {
        initial: first ? start : null,
        pageSize,
        next: ({ found, token }) => (isShort(found) ? null : (token === null ? start : asNumber(token)) + 1),
      }
    }
    case 'OffsetIncrement':
      return {
        initial: first ? 0 : null,
        pageSize,
        next: ({ found, token, requested }) =>
          isShort(found, requested) ? null : (token === null ? 0 : asNumber(token)) + found,
      }
    case 'CursorPagination':
      refuseUnsetPageSize(definition, pageSize)
      return { initial: null, pageSize, next: (page) => nextCursor(definition, page, decoder, deps, pageSize) }
    default:
      throw new ConnectorError(`The pagination strategy '${pyStr(definition.type)}' is not supported.`)
  }
}

/** A comparison with a missing page size would be true: the reading would end after the first page. */
function refuseUnsetPageSize(definition: Dict, pageSize: unknown): void {
  if (pageSize !== null) return
  for (const field of ['stop_condition', 'cursor_value'])
    if (readsPageSize(definition[field]))
      throw new ValueError(
        `The ${field} '${pyStr(definition[field])}' reads page_size, but the pagination strategy has no page_size. Add it.`,
      )
}

function nextCursor(definition: Dict, page: Page, decoder: Decoder, { expressions, config }: Deps, pageSize: unknown): unknown {
  const context: Dict = {
    config,
    parameters: parametersOf(definition),
    response: firstDecoded(page.response, decoder),
    headers: page.response.headers(),
    last_record: page.lastRecord,
    last_page_size: page.size,
    page_size: page.requested ?? pageSize,
    stream_slice: page.slice,
  }
  if (truthy(definition.stop_condition) && expressions.truth(definition.stop_condition, context)) return null
  return expressions.value(definition.cursor_value, context)
}
