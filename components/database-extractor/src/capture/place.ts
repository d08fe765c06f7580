// Where the last run has ended, as the state keeps it, and whether the server still has what follows.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Log } from '../../../http-extractor/src/log.ts'
import type { SourceColumn } from '../databases/columns.ts'
import { positionFrom } from './pgoutput.ts'
import type { CaptureSettings } from './settings.ts'
import { type Ask, type CaptureColumn, dropSlot, nameOf, type SlotStatus, slotStatus, type TableShape } from './source.ts'

/** What is kept of a table between runs. */
export interface KnownTable {
  readonly id: number
  readonly fileNode: number
  readonly outputTable: string
  readonly key: readonly string[]
  readonly columns: readonly CaptureColumn[]
  /** Columns that the table in the project still has. */
  readonly dropped: readonly SourceColumn[]
  /** Changes before it are in the snapshot. */
  readonly from: string
}

export interface Place {
  readonly slot: string
  readonly server: string
  readonly position: string
  readonly deletes: string
  readonly invalidValues: string
  readonly tables: Readonly<Record<string, KnownTable>>
}

interface Resumed {
  readonly settings: CaptureSettings
  readonly dataDir: string
  readonly log: Log
  /** Later checks of the same run report only what is wrong. */
  readonly isFirst: boolean
}

/** Where the last run has ended; undefined: all tables are read whole, and a slot is made. */
export async function placeToResume(
  { settings, dataDir, log, isFirst }: Resumed,
  ask: Ask,
  server: string,
): Promise<Place | undefined> {
  const { slot, onLostPosition, walWarningMb, walLimitMb } = settings
  const last = readPlace(dataDir)
  const status = await freeSlot(ask, slot)
  if (!last || last.slot !== slot) {
    if (!status) return undefined
    refuseForeign(settings)
    log.warning(`The slot ${slot} is of a run that did not finish. It is made again.`)
    await dropSlot(ask, slot)
    return undefined
  }
  const lost = reasonOfLoss(last, status, server, walLimitMb)
  if (lost === undefined) {
    const keptMb = Math.round((status?.keptBytes ?? 0) / 2 ** 20)
    const text = `The server keeps ${keptMb} MB of WAL for the slot ${slot}.`
    if (keptMb >= walWarningMb) log.warning(`${text} Run the capture more often, or it may run out of disk.`)
    else if (isFirst) log.info(text)
    return last
  }
  // Its disk must not fill up, whatever becomes of the position.
  const isTooLarge = status !== undefined && status.isLost === false && last.server === server && isAboveLimit(status, walLimitMb)
  if (onLostPosition === 'fail') {
    if (isTooLarge) await dropSlot(ask, slot)
    throw new UserError(
      `${lost} Changes since the last run cannot be read. Set onLostPosition to "snapshot" to read the tables again, or reset the state.`,
    )
  }
  log.warning(`${lost} All tables are read again.`)
  if (status && last.server !== server) refuseForeign(settings)
  if (status) await dropSlot(ask, slot)
  return undefined
}

/** A slot with a chosen name may be of another program, which would lose its place. */
function refuseForeign({ slot, isOwnSlot }: CaptureSettings): void {
  if (!isOwnSlot)
    throw new UserError(
      `The slot ${slot} already exists, and no run of this configuration has used it. Choose another slotName, or remove it with the action removeSlot if no program needs it.`,
    )
}

function reasonOfLoss(
  last: Place,
  status: SlotStatus | undefined,
  server: string,
  limitMb: number | undefined,
): string | undefined {
  const { slot } = last
  if (last.server !== server) return 'The server or the database is not the one of the last run.'
  if (!status) return `The slot ${slot} does not exist any more.`
  if (status.isLost) return `The server has removed WAL that the slot ${slot} needs (max_slot_wal_keep_size).`
  if (status.confirmed !== null && positionFrom(status.confirmed) > positionFrom(last.position))
    return `The slot ${slot} is at ${status.confirmed}, after the last run, which ended at ${last.position}.`
  if (isAboveLimit(status, limitMb))
    return `The server keeps ${Math.round(status.keptBytes / 2 ** 20)} MB of WAL for the slot ${slot}, more than walLimitMb (${limitMb}).`
  return undefined
}

const isAboveLimit = ({ keptBytes }: SlotStatus, limitMb: number | undefined): boolean =>
  limitMb !== undefined && keptBytes > limitMb * 2 ** 20

/** A process that was killed may hold its slot until the server notices (wal_sender_timeout, a minute by default). */
const BUSY_MS = 90_000

/** The slot, once no other program uses it. */
export async function freeSlot(ask: Ask, slot: string): Promise<SlotStatus | undefined> {
  for (let [end, pause] = [Date.now() + BUSY_MS, 10]; ; pause = Math.min(250, pause * 2)) {
    const status = await slotStatus(ask, slot)
    if (!status?.isActive) return status
    if (Date.now() > end) throw new UserError(`The slot ${slot} is in use by another program. Run the job again later.`)
    await wait(pause)
  }
}

/** A column that was added without a value for older rows is the only change that the stream contains. */
export function needsSnapshot(shape: TableShape, last: Place | undefined, settings: CaptureSettings, log: Log): boolean {
  if (!last) return true
  const full = nameOf(shape.table)
  const known = last.tables[full]
  const why = !known ? 'it is new here' : reasonToReadAgain(shape, known, last, settings)
  if (why !== undefined) log.info(`${full} is read whole: ${why}.`)
  return why !== undefined
}

function reasonToReadAgain(
  { id, fileNode, key, columns, table }: TableShape,
  known: KnownTable,
  last: Place,
  settings: CaptureSettings,
): string | undefined {
  if (known.id !== id) return 'it was made again'
  if (known.outputTable !== table.outputTable) return 'its name in the project has changed'
  if (last.deletes !== settings.deletes || last.invalidValues !== settings.invalidValues) return 'settings have changed'
  if (known.key.join('\n') !== key.join('\n')) return 'its key has changed'
  for (const column of columns) {
    const before = known.columns.find(({ number }) => number === column.number)
    if (!before) {
      if (column.hasDefault || known.fileNode !== fileNode) return `the column "${column.name}" was added with values`
    } else if (before.name !== column.name) return `the column "${before.name}" is now "${column.name}"`
    else if (before.typeId !== column.typeId || before.modifier !== column.modifier)
      return `the type of the column "${column.name}" has changed`
  }
  return undefined
}

function readPlace(dataDir: string): Place | undefined {
  try {
    const state = JSON.parse(readFileSync(join(dataDir, 'in', 'state.json'), 'utf8')) as { readonly changes?: Place } | []
    return Array.isArray(state) ? undefined : state.changes
  } catch {
    return undefined // the first run
  }
}
