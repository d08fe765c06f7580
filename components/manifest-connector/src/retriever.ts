// `SimpleRetriever`: pages of one slice, one after the other.

import { createHash } from 'node:crypto'
import { type Deps, dictOf } from './component.ts'
import { createDecoder } from './decode/decoder.ts'
import { ConnectorError } from './errors.ts'
import { combine } from './http/options.ts'
import { createRequester } from './http/requester.ts'
import { PaginationReset } from './http/retry.ts'
import { createPaginator } from './pagination/paginator.ts'
import type { StreamSlice } from './partitions/slice.ts'
import { createProperties } from './properties.ts'
import { type Dict, isDict } from './python/values.ts'
import { createSelector } from './records/selector.ts'
import type { Retriever, RetrieverOptions } from './retriever.types.ts'

/** That many equal pages in a row are an API that ignores the page. */
const MAX_EQUAL_PAGES = 100
const MAX_RESETS = 10

export function createRetriever(
  definition: Dict,
  deps: Deps,
  { transformations, isNew, stopsAtOld, sliceOptions, schema }: RetrieverOptions = {},
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

  async function* read(slice: StreamSlice): AsyncIterable<readonly Dict[]> {
    for (let resets = 0; ; resets++) {
      try {
        yield* pages(slice)
        return
      } catch (error) {
        if (!(error instanceof PaginationReset) || resets === MAX_RESETS) throw error
      }
    }
  }

  async function* pages(slice: StreamSlice): AsyncIterable<readonly Dict[]> {
    const known = selector.casts ? await schema?.() : undefined
    let token = paginator.initial
    let lastPage = ''
    let equal = 0
    for (;;) {
      sawOld = false
      const nextPageToken = token === null || token === undefined ? undefined : { next_page_token: token }
      const page = properties
        ? await chunkedPage(slice, nextPageToken, token, known)
        : await onePage(slice, nextPageToken, token, known, undefined)
      yield page.records
      if (!page.response || (stopsAtOld && sawOld)) return
      const next = paginator.next({
        response: page.response,
        size: page.records.length,
        found: page.found,
        lastRecord: page.records.at(-1) ?? null,
        token: token ?? null,
        slice,
      })
      if (next === null || next === undefined) return
      const fingerprint = createHash('sha1').update(page.response.body).digest('base64')
      equal = fingerprint === lastPage ? equal + 1 : 0
      lastPage = fingerprint
      if (equal >= MAX_EQUAL_PAGES)
        throw new ConnectorError(
          `The API gave the same page ${MAX_EQUAL_PAGES} times in a row (${page.response.url.split('?')[0]}): it ignores the page of the request. The reading was stopped.`,
        )
      token = next
    }
  }

  async function onePage(
    slice: StreamSlice,
    nextPageToken: Dict | undefined,
    token: unknown,
    known: Dict | undefined,
    chunk: readonly string[] | undefined,
  ) {
    const { response, ignored } = await requester.send({
      slice,
      nextPageToken,
      properties: chunk,
      path: paginator.path(token, () => requester.baseUrl(slice, nextPageToken)),
      extra: (place) =>
        combine(
          [paginator.options(place, token), nextPageToken && ignoresSlicer ? {} : (sliceOptions?.(place, slice) ?? {})],
          place === 'body_json',
        ),
    })
    if (ignored && !response.ok) return { records: [] as Dict[], found: 0, response: undefined }
    let found = 0
    const counted = function* () {
      for (const item of selector.extractor.extract(response)) {
        found++
        yield item
      }
    }
    const records = [...selector.select(counted(), slice, nextPageToken, known)]
    return { records, found, response }
  }

  /** The same page once per chunk of properties; records with one key become one. */
  async function chunkedPage(slice: StreamSlice, nextPageToken: Dict | undefined, token: unknown, known: Dict | undefined) {
    const { chunks, mergeKey } = await properties!.chunks()
    const merged = new Map<string, Dict>()
    const records: Dict[] = []
    let last: Awaited<ReturnType<typeof onePage>> | undefined
    for (const chunk of chunks) {
      last = await onePage(slice, nextPageToken, token, known, chunk)
      for (const record of last.records) {
        const key = mergeKey?.(record)
        const first = key === undefined ? undefined : merged.get(key)
        if (first) deepMerge(first, record)
        else {
          records.push(record)
          if (key !== undefined) merged.set(key, record)
        }
      }
    }
    return { records, found: Math.max(last?.found ?? 0, records.length), response: last?.response }
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
