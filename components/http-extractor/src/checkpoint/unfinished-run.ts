// What an unfinished run has received, in a folder that outlives it, for the run that continues it: answers by their place in the run.
// Those of a run with another configuration or state are dropped when the folder is opened.

import { createHash, randomBytes, type ScryptOptions, scryptSync } from 'node:crypto'
import { join } from 'node:path'
import { counted } from '../../../../contract/counted.ts'
import type { Log } from '../log.ts'
import { AnswerLog } from './answer-log.ts'

export interface UnfinishedRun {
  /** When the first attempt began, in milliseconds. */
  readonly began: number
  /** Whether an answer came that had not been kept. */
  readonly hasAdvanced: boolean
  /** Whether anything was kept by an earlier run. */
  readonly isContinued: boolean
  /** Undefined: it has not been requested before. */
  find(place: string): { readonly head: object; readonly body: Buffer } | undefined
  /** False when there are too many. */
  keep(place: string, head: object, body: Uint8Array): boolean
  drop(): void
  close(): void
}

export interface UnfinishedRunOptions {
  readonly folder: string
  /** Everything that determines the requests of the run. */
  readonly run: string
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

export function openUnfinishedRun({ folder, run, now, log, hashCost = {} }: UnfinishedRunOptions): UnfinishedRun {
  const positions = new Map<string, number>()
  let start: Start | undefined
  const answers = new AnswerLog(join(folder, 'answers'), (head, at) => {
    if (at === 0)
      start = JSON.parse(head) as Start // written below
    else positions.set((JSON.parse(head) as { place: string }).place, at) // written by keep
  })
  const fingerprintOf = (salt: string) =>
    scryptSync(createHash('sha256').update(run).digest(), salt, 32, hashCost).toString('hex')
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
    find(place) {
      const at = positions.get(place)
      if (at === undefined) return undefined
      const { head, body } = answers.read(at)
      return { head: JSON.parse(head) as object, body } // written by keep
    },
    keep(place, head, body) {
      hasAdvanced = true
      if (isFull) return false
      if (answers.bytes >= MAX_BYTES || positions.size >= MAX_ANSWERS) {
        stopKeeping('they have become too many')
        return false
      }
      try {
        positions.set(place, answers.add(JSON.stringify({ place, ...head }), body))
        return true
      } catch (error) {
        stopKeeping(error instanceof Error ? error.message : String(error)) // a full disk, most likely: the run continues without
        return false
      }
    },
    drop: () => answers.clear(),
    close: () => answers.close(),
  }
}
