// config.resume: answers are kept while they come, in a folder that outlives a failed run. The next run of the same configuration, with the
// same state, is answered from there as far as it reaches, and requests the rest. It builds its tables again from all of them, so
// nothing is lost and nothing doubled.
//
// What must stay true:
// 1. The same run sends the same requests. Expressions see the time at which the first attempt began, and each answer is kept under its
//    place in the run (which job, which item, which page) together with the request that it answers.
// 2. An answer is kept only once it was understood, and before the next page is requested: what is kept has no gaps.
// 3. A part that leads nowhere goes: when a run that continues one fails again without a further page, and not for a reason that passes.

import { createHash, randomBytes, type ScryptOptions, scryptSync } from 'node:crypto'
import { join } from 'node:path'
import { counted } from '../../../../contract/counted.ts'
import { ApplicationError } from '../errors.ts'
import { addressText } from '../http/address.ts'
import type { HttpRequest, HttpResponse } from '../http/exchange.ts'
import type { JsonValue } from '../json/json.ts'
import { exactJson } from '../json/text.ts'
import type { Log } from '../log.ts'
import { AnswerLog } from './answer-log.ts'

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

export interface CheckpointOptions {
  readonly folder: string
  /** Everything that determines the requests of the run. */
  readonly run: JsonValue
  /** Milliseconds. */
  readonly now: () => number
  readonly log: Log
  /** Of the fingerprint of `run`: slow on purpose, because it holds secrets and its fingerprint outlives the run. Tests use less. */
  readonly hashCost?: ScryptOptions | undefined
}

/** Of the file, compressed: beyond it answers are not kept, and would be requested again. */
const MAX_BYTES = 2 ** 30
/** The places of all of them are in memory. */
const MAX_ANSWERS = 250_000
const FORMAT = 1

interface Start {
  readonly format: number
  readonly salt: string
  readonly fingerprint: string
  readonly began: number
}

interface Head {
  readonly place: string
  readonly request: string
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string>>
}

export function openCheckpoint({ folder, run, now, log, hashCost = {} }: CheckpointOptions): Checkpoint {
  const positions = new Map<string, number>()
  let start: Start | undefined
  const answers = new AnswerLog(join(folder, 'answers'), (head, at) => {
    if (at === 0)
      start = JSON.parse(head) as Start // written below
    else positions.set((JSON.parse(head) as Head).place, at) // written by keep
  })
  const text = exactJson(run)
  const fingerprintOf = (salt: string) =>
    scryptSync(createHash('sha256').update(text).digest(), salt, 32, hashCost).toString('hex')
  if (start === undefined || start.format !== FORMAT || start.fingerprint !== fingerprintOf(start.salt)) {
    if (positions.size > 0) log.info('What an earlier run has kept is of another configuration or state: it is not used.')
    positions.clear()
    answers.clear()
    const salt = randomBytes(16).toString('hex')
    start = { format: FORMAT, salt, fingerprint: fingerprintOf(salt), began: now() }
    answers.add(JSON.stringify(start), Buffer.alloc(0))
  }
  const { began } = start
  const isContinued = positions.size > 0
  if (isContinued)
    log.info(
      `Continuing the run that began at ${new Date(began).toISOString()}: ` +
        `${counted(positions.size, 'response')} stored, not requested again.`,
    )
  let hasAdvanced = false
  let isFull = false

  function stopKeeping(why: string): void {
    isFull = true
    log.warning(`No further answers are kept for a run that continues this one: ${why}.`)
  }

  return {
    began,
    isContinued,
    get hasAdvanced() {
      return hasAdvanced
    },
    find(place, request) {
      const at = positions.get(place)
      if (at === undefined) return undefined
      const { head, body } = answers.read(at)
      const { request: answered, status, statusText, headers } = JSON.parse(head) as Head // written by keep
      if (answered !== requestKey(request))
        throw new ApplicationError(
          'The responses stored by an earlier run belong to other requests than those of this run. They are discarded.',
        )
      return { status, statusText, headers, body }
    },
    keep(place, request, { status, statusText, headers, body }) {
      hasAdvanced = true
      if (isFull) return
      if (answers.bytes >= MAX_BYTES || positions.size >= MAX_ANSWERS) return stopKeeping('they have become too many')
      const { 'set-cookie': _, ...kept } = headers
      const head: Head = { place, request: requestKey(request), status, statusText, headers: kept }
      try {
        positions.set(place, answers.add(JSON.stringify(head), body))
      } catch (error) {
        stopKeeping(error instanceof Error ? error.message : String(error)) // a full disk, most likely: the run continues without
      }
    },
    drop: () => answers.clear(),
    close: () => answers.close(),
  }
}

/** Without headers: credentials are among them, and they may change. */
const requestKey = ({ method, address, body = '' }: HttpRequest) =>
  createHash('sha256')
    .update(`${method} ${addressText(address)}\n${body}`)
    .digest('base64')
