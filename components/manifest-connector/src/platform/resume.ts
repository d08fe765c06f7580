// parameters.resume: good answers are kept in a folder that outlives a failed run, and the next run with the same parameters and state gets
// them instead of requesting them again. It builds its tables from all of them, so nothing is lost and nothing doubled.
//
// Answers are found by their request and by how often the same request was answered before: streams and partitions that are read at once
// send theirs in any order. A request that differs (a signature of the time) is sent. Answers to logins are never kept.

import { createHash } from 'node:crypto'
import { openUnfinishedRun, type UnfinishedRunOptions } from '../../../http-extractor/src/checkpoint/unfinished-run.ts'
import type { KeptAnswers } from '../component.ts'
import { HttpResponse } from '../http/response.ts'
import { StatusError } from '../http/retry.ts'
import { type HttpRequest, TransportError } from '../http/transport.ts'

export interface Resume extends KeptAnswers {
  /** When the first attempt began, in milliseconds. */
  readonly began: number
  /** From now on a failure is not the API's. */
  allRead(): void
  /** Drops what could only fail again. */
  failed(error: unknown): void
  close(): void
}

interface Head {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly url: string
}

export function openResume(options: UnfinishedRunOptions): Resume {
  const unfinished = openUnfinishedRun(options)
  const { began, isContinued, drop, close } = unfinished
  /** How many answers of a request were used. Without those that are not kept. */
  const used = new Map<string, number>()
  /** Requests of answers that were not accepted yet, by their body: the cache creates other answers of it. */
  const pending = new WeakMap<Buffer, string>()
  let hasEverything = false

  return {
    ...{ began, close },
    wrap: (send) => async (request) => {
      if (request.isLogin) return send(request)
      const key = keyOf(request)
      const number = used.get(key) ?? 0
      const kept = unfinished.find(`${key} ${number}`)
      if (kept) {
        used.set(key, number + 1)
        const { status, headers, url } = kept.head as Head // written by accept
        return new HttpResponse(status, headers, kept.body, url)
      }
      const response = await send(request)
      pending.set(response.body, key)
      return response
    },
    accept({ status, rawHeaders, body, url }) {
      const key = pending.get(body)
      if (key === undefined) return
      pending.delete(body)
      const number = used.get(key) ?? 0
      const headers = rawHeaders.filter(([name]) => name.toLowerCase() !== 'set-cookie')
      const head: Head = { status, headers, url }
      if (unfinished.keep(`${key} ${number}`, head, body)) used.set(key, number + 1)
    },
    allRead() {
      hasEverything = true
    },
    failed(error) {
      if (hasEverything || (isContinued && !unfinished.hasAdvanced && !isPassing(error))) drop()
    },
  }
}

/** Without headers: credentials are among them, and they may change. */
const keyOf = ({ method, url, body = '' }: HttpRequest): string =>
  createHash('sha256').update(`${method} ${url}\n${body}`).digest('base64').slice(0, 22)

/** A network or an API that is down for a while, or has had enough. */
function isPassing(error: unknown): boolean {
  if (error instanceof TransportError) return true
  if (error instanceof StatusError) return error.status === 429 || (error.status ?? 0) >= 500
  return error instanceof Error && error.cause !== undefined && isPassing(error.cause)
}
