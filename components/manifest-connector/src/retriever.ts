// `SimpleRetriever`: pages of one slice, one after the other.

import { type Deps, dictOf } from './component.ts'
import { createDecoder } from './decode/decoder.ts'
import { ConnectorError } from './errors.ts'
import { combine } from './http/options.ts'
import { createRequester } from './http/requester.ts'
import { HttpResponse } from './http/response.ts'
import { PaginationReset } from './http/retry.ts'
import { createPaginator } from './pagination/paginator.ts'
import { CHILD_RESPONSE, StreamSlice } from './partitions/slice.ts'
import { createProperties } from './properties.ts'
import { asNumber, type Dict, isDict, isNumber } from './python/values.ts'
import { createSelector } from './records/selector.ts'
import type { Retriever, RetrieverOptions } from './retriever.types.ts'

/** That many equal pages in a row are an API that ignores the page. */
const MAX_EQUAL_PAGES = 100

export function createRetriever(
  definition: Dict,
  deps: Deps,
  { transformations, isNew, stopsAtOld, sliceOptions, schema, rest, isLazy }: RetrieverOptions = {},
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
  const ignoresSlicer = definition.ignore_stream_slicer_parameters_on_paginated_requests === true

  const reset = isDict(definition.pagination_reset) ? definition.pagination_reset : undefined
  const limits = isDict(reset?.limits) ? reset.limits : undefined
  const maxRecords = isNumber(limits?.number_of_records) ? asNumber(limits.number_of_records) : Number.POSITIVE_INFINITY
  const remaining = reset?.action === 'SPLIT_USING_CURSOR' ? rest : undefined

  async function* read(whole: StreamSlice): AsyncIterable<readonly Dict[]> {
    const known = selector.casts ? await schema?.() : undefined
    let slice = whole
    let token = paginator.initial
    let lastPage: Buffer | undefined
    let equal = 0
    let resets = 0
    let count = 0
    let given = isLazy ? whole.extraFields[CHILD_RESPONSE] : undefined
    for (;;) {
      sawOld = false
      const nextPageToken = token === null || token === undefined ? undefined : { next_page_token: token }
      const page =
        given instanceof HttpResponse
          ? recordsOf(given, slice, undefined, known)
          : await pageOf(slice, nextPageToken, token, known)
      yield page?.records ?? []
      count += page?.records.length ?? 0
      if (page?.failure !== undefined) throw page.failure
      if (page && (!page.response || (stopsAtOld && sawOld))) return
      if (!page?.response || count >= maxRecords) {
        // From the first page again, after what the cursor has seen. Where nothing was seen since, once more at most.
        const next = remaining?.(whole) ?? slice
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
      token = next
    }
  }

  /** Undefined when the API requests a restart. */
  async function pageOf(slice: StreamSlice, nextPageToken: Dict | undefined, token: unknown, known: Dict | undefined) {
    try {
      return properties
        ? await chunkedPage(slice, nextPageToken, token, known)
        : await onePage(slice, nextPageToken, token, known, undefined)
    } catch (error) {
      if (error instanceof PaginationReset) return undefined
      throw error
    }
  }

  async function onePage(
    slice: StreamSlice,
    nextPageToken: Dict | undefined,
    token: unknown,
    known: Dict | undefined,
    chunk: readonly string[] | undefined,
  ) {
    const { response } = await requester.send({
      slice: chunk ? new StreamSlice(slice.partition, slice.cursorSlice, { query_properties: chunk }) : slice,
      nextPageToken,
      properties: chunk,
      path: paginator.path(token),
      extra: (place) =>
        combine(
          [paginator.options(place, token), nextPageToken && ignoresSlicer ? {} : (sliceOptions?.(place, slice) ?? {})],
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
  async function chunkedPage(slice: StreamSlice, nextPageToken: Dict | undefined, token: unknown, known: Dict | undefined) {
    const { chunks, mergeKey } = await properties!.chunks()
    const merged = new Map<string, Dict>()
    const single: Dict[] = []
    let last: Awaited<ReturnType<typeof onePage>> | undefined
    for (const chunk of chunks) {
      last = await onePage(slice, nextPageToken, token, known, chunk)
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

  return { read }
}

function deepMerge(target: Dict, source: Dict): void {
  for (const [key, value] of Object.entries(source)) {
    const known = target[key]
    if (isDict(known) && isDict(value)) deepMerge(known, value)
    else target[key] = value
  }
}
