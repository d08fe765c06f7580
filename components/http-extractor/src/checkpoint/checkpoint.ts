// config.resume: answers are kept while they come, in a folder that outlives a failed run (unfinished-run.ts). The next run of the same
// configuration, with the same state, is answered from there as far as it reaches, and requests the rest. It builds its tables again from
// all of them, so nothing is lost and nothing doubled.
//
// What must stay true:
// 1. The same run sends the same requests. Expressions see the time at which the first attempt began, and each answer is kept under its
//    place in the run (which job, which item, which page) together with the request that it answers.
// 2. An answer is kept only once it was understood, and before the next page is requested: what is kept has no gaps.
// 3. A part that leads nowhere goes: when a run that continues one fails again without a further page, and not for a reason that passes.

import { createHash } from 'node:crypto'
import { ApplicationError } from '../errors.ts'
import { addressText } from '../http/address.ts'
import type { HttpRequest, HttpResponse } from '../http/exchange.ts'
import type { JsonValue } from '../json/json.ts'
import { exactJson } from '../json/text.ts'
import { openUnfinishedRun, type UnfinishedRunOptions } from './unfinished-run.ts'

/** Where answers are found, and left for later. */
export interface KeptAnswers {
  /** Undefined: it has not been requested before. */
  find(place: string, request: HttpRequest): HttpResponse | undefined
  keep(place: string, request: HttpRequest, response: HttpResponse): void
}

export interface Checkpoint extends KeptAnswers {
  /** When the first attempt began, in milliseconds. */
  readonly began: number
  /** Whether an answer came that had not been kept. */
  readonly hasAdvanced: boolean
  /** Whether anything was kept by an earlier run. */
  readonly isContinued: boolean
  drop(): void
  close(): void
}

export interface CheckpointOptions extends Omit<UnfinishedRunOptions, 'run'> {
  /** Everything that determines the requests of the run. */
  readonly run: JsonValue
}

interface Head {
  readonly request: string
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string>>
}

export function openCheckpoint({ run, ...options }: CheckpointOptions): Checkpoint {
  const unfinished = openUnfinishedRun({ ...options, run: exactJson(run) })
  const { began, isContinued, drop, close } = unfinished
  return {
    ...{ began, isContinued, drop, close },
    get hasAdvanced() {
      return unfinished.hasAdvanced
    },
    find(place, request) {
      const kept = unfinished.find(place)
      if (kept === undefined) return undefined
      const { request: answered, status, statusText, headers } = kept.head as Head // written by keep
      if (answered !== requestKey(request))
        throw new ApplicationError(
          'The responses stored by an earlier run belong to other requests than those of this run. They are discarded.',
        )
      return { status, statusText, headers, body: kept.body }
    },
    keep(place, request, { status, statusText, headers, body }) {
      const { 'set-cookie': _, ...kept } = headers
      const head: Head = { request: requestKey(request), status, statusText, headers: kept }
      unfinished.keep(place, head, body)
    },
  }
}

/** Without headers: credentials are among them, and they may change. */
const requestKey = ({ method, address, body = '' }: HttpRequest) =>
  createHash('sha256')
    .update(`${method} ${addressText(address)}\n${body}`)
    .digest('base64')
