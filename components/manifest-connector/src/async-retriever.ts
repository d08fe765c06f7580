// `AsyncRetriever`: a job of the API is created, polled until it is done, and its files are downloaded.

import { type Deps, dictOf, listOf } from './component.ts'
import { createDecoder, JSON_DECODER } from './decode/decoder.ts'
import { ConnectorError } from './errors.ts'
import { createRequester } from './http/requester.ts'
import type { Requester } from './http/requester.types.ts'
import type { HttpResponse } from './http/response.ts'
import { refuseSmallerRequests } from './pagination/page-size-reduction.ts'
import { createPaginator } from './pagination/paginator.ts'
import { StreamSlice } from './partitions/slice.ts'
import { asNumber, type Dict, isDict, isNumber, pyStr } from './python/values.ts'
import { createExtractor, type Extractor } from './records/extractor.ts'
import { createSelector } from './records/selector.ts'
import type { Retriever, RetrieverOptions } from './retriever.types.ts'

const POLL_SECONDS = 5
const MAX_ATTEMPTS = 3
const DEFAULT_MINUTES = 60

type Status = 'running' | 'completed' | 'failed' | 'timeout' | 'skipped'

export function createAsyncRetriever(
  definition: Dict,
  deps: Deps,
  { transformations, sliceOptions, schema }: RetrieverOptions,
): Retriever {
  const requester = (field: string): Requester | undefined => {
    const given = definition[field]
    if (!isDict(given)) return undefined
    refuseSmallerRequests(given, `${field} of an AsyncRetriever`)
    return createRequester(given, deps)
  }
  const creation = requester('creation_requester')!
  const polling = requester('polling_requester')!
  const target = requester('download_target_requester')
  const download = requester('download_requester')!
  const [abort, remove] = [requester('abort_requester'), requester('delete_requester')]
  const decoder = createDecoder(definition.download_decoder ?? definition.decoder)
  const jobDecoder = createDecoder(definition.decoder)
  const selector = createSelector(dictOf(definition.record_selector, 'record_selector'), decoder, deps, { transformations })
  const statusExtractor = createExtractor(dictOf(definition.status_extractor, 'status_extractor'), jobDecoder, deps)
  const targets: Extractor | undefined = isDict(definition.download_target_extractor)
    ? createExtractor(definition.download_target_extractor, jobDecoder, deps)
    : undefined
  const extractor: Extractor = isDict(definition.download_extractor)
    ? createExtractor(definition.download_extractor, decoder, deps)
    : { extract: (response) => decoder.decode(response) }
  const paginator = createPaginator(definition.download_paginator, decoder, deps)
  const statuses = statusesOf(dictOf(definition.status_mapping, 'status_mapping'))
  const minutes = isNumber(definition.polling_job_timeout)
    ? asNumber(definition.polling_job_timeout)
    : typeof definition.polling_job_timeout === 'string'
      ? asNumber(deps.expressions.value(definition.polling_job_timeout, { config: deps.config, parameters: {} }))
      : DEFAULT_MINUTES

  const withExtra = (slice: StreamSlice, extra: Dict) =>
    new StreamSlice(slice.partition, slice.cursorSlice, { ...slice.extraFields, ...extra })
  const first = (response: HttpResponse): unknown => {
    for (const value of JSON_DECODER.decode(response)) return value
    return {}
  }

  function statusOf(response: HttpResponse): Status {
    for (const value of statusExtractor.extract(response)) {
      const status = statuses.get(pyStr(value))
      if (!status) throw new ConnectorError(`The job has the status '${pyStr(value)}', which status_mapping does not know.`)
      return status
    }
    throw new ConnectorError('The answer to the poll holds no status.')
  }

  /** Until the job is finished. Undefined when it failed. */
  async function completed(slice: StreamSlice, creationResponse: unknown): Promise<HttpResponse | Status> {
    const start = deps.clock.elapsed()
    for (let polls = 0; ; polls++) {
      const { response } = await polling.send({ slice: withExtra(slice, { creation_response: creationResponse }) })
      const status = statusOf(response)
      if (status === 'completed') return response
      if (status !== 'running') return status
      if (deps.clock.elapsed() - start > minutes * 60 || polls > 100_000) return 'timeout'
      await deps.clock.wait(POLL_SECONDS, 'poll')
    }
  }

  async function* read(slice: StreamSlice): AsyncIterable<readonly Dict[]> {
    for (let attempt = 1; ; attempt++) {
      const created = await creation.send({ slice, extra: (place) => sliceOptions?.(place, slice) ?? {} })
      const creationResponse = first(created.response)
      const result = await completed(slice, creationResponse)
      const job = { creation_response: creationResponse, polling_response: typeof result === 'string' ? {} : first(result) }
      if (result === 'skipped') return
      if (typeof result === 'string') {
        await abort?.send({ slice: withExtra(slice, job) })
        if (attempt >= MAX_ATTEMPTS) throw new ConnectorError(`The job ended with the status '${result}' ${MAX_ATTEMPTS} times.`)
        continue
      }
      yield* downloaded(slice, job, result)
      await remove?.send({ slice: withExtra(slice, job) })
      return
    }
  }

  async function* downloaded(slice: StreamSlice, job: Dict, polled: HttpResponse): AsyncIterable<readonly Dict[]> {
    const known = selector.casts ? await schema?.() : undefined
    const source = target ? (await target.send({ slice: withExtra(slice, job) })).response : polled
    const urls = targets ? [...targets.extract(source)] : [undefined]
    for (const url of urls) {
      const place = withExtra(slice, url === undefined ? job : { ...job, download_target: url })
      let token = paginator.initial
      for (;;) {
        const nextPageToken = token === null || token === undefined ? undefined : { next_page_token: token }
        const { response, ignored } = await download.send({
          slice: place,
          nextPageToken,
          path: paginator.path(token),
          extra: (where) => paginator.options(where, token),
        })
        if (ignored && !response.ok) break
        let found = 0
        const counted = function* () {
          for (const item of extractor.extract(response)) {
            found++
            yield item
          }
        }
        const records = [...selector.select(counted(), slice, nextPageToken, known)]
        yield records
        token = paginator.next({
          response,
          size: records.length,
          found,
          lastRecord: records.at(-1) ?? null,
          token: token ?? null,
          slice,
        })
        if (token === null || token === undefined) break
      }
    }
  }

  return { read }
}

function statusesOf(mapping: Dict): Map<string, Status> {
  const statuses = new Map<string, Status>()
  for (const status of ['running', 'completed', 'failed', 'timeout', 'skipped'] as const)
    for (const name of listOf(mapping[status])) {
      if (statuses.has(pyStr(name))) throw new ConnectorError(`status_mapping names '${pyStr(name)}' twice.`)
      statuses.set(pyStr(name), status)
    }
  return statuses
}
