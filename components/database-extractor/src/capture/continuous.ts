// A continuous run: it reads what was committed, has it stored with its position, and only then confirms the position to the server and continues.

import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { counted } from '../../../../contract/counted.ts'
import type { Batches } from './batches.ts'
import type { Captured, CaptureRun, Rounds } from './capture.ts'

/** A position without changes is stored so often, so that the server can remove its log. */
const POSITION_MS = 15_000
const REPORT_MS = 60_000

export interface Continuous {
  readonly batches: Batches
  /** When the run ends, in milliseconds. */
  readonly until: number
  readonly everyMs: number
}

/** Ends at its time, between two rounds. */
export async function captureOn(run: CaptureRun, rounds: Rounds, { batches, until, everyMs }: Continuous): Promise<void> {
  const report = newReport(run)
  let positionAt = 0
  try {
    do {
      const began = Date.now()
      const captured = await rounds.round(batches.begin())

      const isDue = captured.hasMoved && began - positionAt >= POSITION_MS
      if (captured.hasFiles || isDue) {
        await batches.store()
        rounds.stored(captured)
        // Where it begins again after a lost connection.
        writeFileSync(join(run.dataDir, 'in', 'state.json'), JSON.stringify({ changes: captured.place }))
        report.stored(captured, Date.now() - began)
        positionAt = began
      }
      await wait(Math.max(0, Math.min(everyMs, until - Date.now()) - (Date.now() - began)))
    } while (Date.now() < until)
    copyFileSync(join(run.dataDir, 'in', 'state.json'), join(run.dataDir, 'out', 'state.json'))
  } finally {
    report.tell()
  }
}

function newReport({ log }: CaptureRun) {
  let [changes, rounds, slowestMs, position, since] = [0, 0, 0, '', Date.now()]
  const tell = (): void => {
    if (rounds === 0) return
    log.info(
      `Stored ${counted(changes, 'change')} in ${counted(rounds, 'batch', 'batches')}, up to ${position}; reading and storing a batch took ${slowestMs} ms at most.`,
    )
    ;[changes, rounds, slowestMs, since] = [0, 0, 0, Date.now()]
  }
  return {
    stored(captured: Captured, tookMs: number): void {
      changes += captured.rows
      rounds++
      slowestMs = Math.max(slowestMs, tookMs)
      position = captured.place.position
      if (Date.now() - since >= REPORT_MS) tell()
    },
    tell,
  }
}
