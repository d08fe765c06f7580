// `SimpleRetriever`: pages of one slice, one after the other.

import { type Deps, dictOf } from './component.ts'
import { createDecoder } from './decode/decoder.ts'
import { ConnectorError } from './errors.ts'
import { combine } from './http/options.ts'
import { createRequester } from './http/requester.ts'
import { HttpResponse } from './http/response.ts'
import { PageTooLarge, PaginationReset, WindowTooLarge } from './http/retry.ts'
import { createReducer, planReduction } from './pagination/page-size-reduction.ts'
import { createPaginator } from './pagination/paginator.ts'
import { CHILD_RESPONSE, StreamSlice } from './partitions/slice.ts'
import { createProperties } from './properties.ts'
import { asNumber, type Dict, isDict, isNumber } from './python/values.ts'
import { createSelector } from './records/selector.ts'
import type { Retriever, RetrieverOptions } from './retriever.types.ts'

/** A window is halved at most this many times. */
const MAX_SPLITS = 10

/** That many equal pages in a row are an API that ignores the page, that many returns to a page one whose pages go in a circle. */
const MAX_EQUAL_PAGES = 100

export function createRetriever(
  definition: Dict,
  deps: Deps,
  { name = '', transformations, isNew, stopsAtOld, sliceOptions, schema, rest, isLazy, splitOf }: RetrieverOptions = {},
): Retriever {
  const decoder = createDecoder(definition.decoder)
  const requesterDefinition = dictOf(definition.requester, 'requester')
  const requester = createRequester(requesterDefinition, deps)
  let sawOld = false
  const watching =
    isNew &&
    ((record: Dict, slice: StreamSlice) => {
      const fresh = isNew(record, slice)
      if (!fresh) sawOld = true
      return fresh
    })
  const selector = createSelector(dictOf(definition.record_selector, 'record_selector'), decoder, deps, {
    transformations,
    isNew: watching,
  })
  const paginator = createPaginator(definition.paginator, decoder, deps)
  const properties = createProperties(requesterDefinition, deps, (each) => createRetriever(each, deps))
  const hasProperties = properties !== undefined
  const reduction = planReduction(definition, name, { warn: deps.warn, hasProperties })
  const split = splitOf?.(hasProperties)
  const ignoresSlicer = definition.ignore_stream_slicer_parameters_on_paginated_requests === true

  const reset = isDict(definition.pagination_reset) ? definition.pagination_reset : undefined
  const limits = isDict(reset?.limits) ? reset.limits : undefined
  const maxRecords = isNumber(limits?.number_of_records) ? asNumber(limits.number_of_records) : Number.POSITIVE_INFINITY
  const remaining = reset?.action === 'SPLIT_USING_CURSOR' ? rest : undefined

  /** Records of a window that was rejected after its first page are read again with its halves, as the reference does. */
  async function* read(slice: StreamSlice, whole = slice, splits = 0): AsyncIterable<readonly Dict[]> {
    let halves: readonly StreamSlice[]
    try {
      yield* readPages(slice, whole)
      return
    } catch (error) {
      if (!(error instanceof WindowTooLarge)) throw error
      halves = halvesOf(slice, splits, error.message)
    }
    for (const half of halves) yield* read(half, whole, splits + 1)
  }

  function halvesOf(slice: StreamSlice, splits: number, rejection: string): readonly StreamSlice[] {
    if (!split)
      throw new ConnectorError(
        `The stream '${name}' cannot split its window. Add request_window_splitting to its retriever. ${rejection}`,
      )
    const halves = splits < MAX_SPLITS ? split.halves(slice) : undefined
    if (halves) return halves
    const why =
      splits < MAX_SPLITS ? 'also with the smallest window that its cursor allows' : `after it was split ${MAX_SPLITS} times`
    const text = `The API rejects the window ${slice.pyStr()} of the stream '${name}' ${why}.`
    throw new ConnectorError([text, split.failureMessage, rejection].filter(Boolean).join(' '))
  }

  async function* readPages(whole: StreamSlice, observed: StreamSlice): AsyncIterable<readonly Dict[]> {
    const reducer = reduction && createReducer(reduction, paginator.pageSize, name, deps.clock)
    const known = selector.casts ? await schema?.() : undefined
    let slice = whole
    let token = paginator.initial
    let lastPage: Buffer | undefined
    let equal = 0
    const circle = createCircleWatch()
    let resets = 0
    let count = 0
    let given = isLazy ? whole.extraFields[CHILD_RESPONSE] : undefined
    for (;;) {
      sawOld = false
      const nextPageToken = token === null || token === undefined ? undefined : { next_page_token: token }
      const requested = reducer?.size
      let page: Awaited<ReturnType<typeof pageOf>>
      try {
        page =
          given instanceof HttpResponse
            ? recordsOf(given, slice, undefined, known)
            : await pageOf({ slice, nextPageToken, token, known, size: requested })
      } catch (error) {
        if (!(error instanceof PageTooLarge) || !reducer) throw error
        await reducer.reduce(error.message)
        continue
      }
      reducer?.succeeded()
      yield page?.records ?? []
      count += page?.records.length ?? 0
      if (page?.failure !== undefined) throw page.failure
      if (page && (!page.response || (stopsAtOld && sawOld))) return
      if (!page?.response || count >= maxRecords) {
        // From the first page again, after what the cursor has seen. Where nothing was seen since, once more at most.
        const next = remaining?.(whole, observed) ?? slice
        resets = next.pyEquals(slice) ? resets + 1 : 0
        if (resets >= (remaining ? 1 : 2))
          throw new ConnectorError(
            'The pages were begun again for the same part of the stream, and the API asks for it once more.',
          )
        slice = next
        token = paginator.initial
        count = 0
        continue
      }
      const next = paginator.next({
        response: page.response,
        size: page.records.length,
        found: page.found,
        lastRecord: page.records.at(-1) ?? null,
        token: given === undefined ? (token ?? null) : null,
        slice,
        requested,
      })
      given = undefined
      if (next === null || next === undefined) return
      const { body } = page.response
      equal = lastPage?.equals(body) ? equal + 1 : 0
      lastPage = body
      if (equal >= MAX_EQUAL_PAGES)
        throw new ConnectorError(
          `The API gave the same page ${MAX_EQUAL_PAGES} times in a row (${page.response.url.split('?')[0]}): it ignores the page of the request. The reading was stopped.`,
        )
      if (page.found > 0 && circle.returned(body) >= MAX_EQUAL_PAGES)
        throw new ConnectorError(
          `The pages of the API go in a circle (${page.response.url.split('?')[0]}): ${MAX_EQUAL_PAGES} times a page came again after others. The reading was stopped.`,
        )
      token = next
    }
  }

  /** Undefined when the API requests a restart. */
  async function pageOf(input: PageInput) {
    try {
      return properties ? await chunkedPage(input) : await onePage(input)
    } catch (error) {
      if (error instanceof PaginationReset) return undefined
      throw error
    }
  }

  async function onePage({ slice, nextPageToken, token, known, size }: PageInput, chunk?: readonly string[]) {
    const { response } = await requester.send({
      slice: chunk ? new StreamSlice(slice.partition, slice.cursorSlice, { query_properties: chunk }) : slice,
      nextPageToken,
      properties: chunk,
      path: paginator.path(token),
      extra: (place) =>
        combine(
          [paginator.options(place, token, size), nextPageToken && ignoresSlicer ? {} : (sliceOptions?.(place, slice) ?? {})],
          place === 'body_json',
        ),
    })
    if (!response.ok) return { records: [] as Dict[], found: 0, response: undefined, failure: undefined }
    return recordsOf(response, slice, nextPageToken, known)
  }

  function recordsOf(response: HttpResponse, slice: StreamSlice, nextPageToken: Dict | undefined, known: Dict | undefined) {
    let found = 0
    const counted = function* () {
      for (const item of selector.extractor.extract(response)) {
        found++
        yield item
      }
    }
    const records: Dict[] = []
    try {
      for (const record of selector.select(counted(), slice, nextPageToken, known)) records.push(record)
    } catch (failure) {
      return { records, found, response, failure } // what came before it is given
    }
    return { records, found, response, failure: undefined }
  }

  /** The same page once per chunk of properties; records with one key become one, after those without a key. */
  async function chunkedPage(input: PageInput) {
    const { chunks, mergeKey } = await properties!.chunks()
    const merged = new Map<string, Dict>()
    const single: Dict[] = []
    let last: Awaited<ReturnType<typeof onePage>> | undefined
    for (const chunk of chunks) {
      last = await onePage(input, chunk)
      if (last.failure !== undefined) throw last.failure
      for (const record of last.records) {
        const key = mergeKey?.(record)
        const first = key === undefined ? undefined : merged.get(key)
        if (first) deepMerge(first, record)
        else if (key === undefined) single.push(record)
        else merged.set(key, record)
      }
    }
    const records = [...single, ...merged.values()]
    return { records, found: Math.max(last?.found ?? 0, records.length), response: last?.response, failure: undefined }
  }

  return { read: (slice) => read(slice) }
}

/** Finds a circle of any length with one page in memory: the one at each power of two is compared with those that follow. */
function createCircleWatch(): { returned(page: Buffer): number } {
  let kept: Buffer | undefined
  let count = 0
  let returns = 0
  return {
    returned(page) {
      if (kept?.equals(page)) returns++
      count++
      if ((count & (count - 1)) === 0 && returns === 0) kept = page
      return returns
    },
  }
}

interface PageInput {
  readonly slice: StreamSlice
  readonly nextPageToken: Dict | undefined
  readonly token: unknown
  readonly known: Dict | undefined
  /** Of the page, instead of the configured one. */
  readonly size: number | undefined
}

function deepMerge(target: Dict, source: Dict): void {
  for (const [key, value] of Object.entries(source)) {
    const known = target[key]
    if (isDict(known) && isDict(value)) deepMerge(known, value)
    else target[key] = value
  }
}
