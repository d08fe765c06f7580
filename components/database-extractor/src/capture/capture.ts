// One run: tables that are new or have another shape are read whole, in the snapshot of a slot; of the others the changes since the last run.
//  (1) The position is part of the state, which is stored in one transaction with the rows.
//  (2) A position is confirmed to the server only by the next run, when it is stored. So nothing is lost, and what is read again has the same keys.
//  (3) A table that was read whole takes only changes that were committed after its snapshot.

import { randomBytes } from 'node:crypto'
import { createWriteStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { openWay } from '../../../connector-kit/src/database/connect.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Log } from '../../../http-extractor/src/log.ts'
import type { SourceColumn } from '../databases/columns.ts'
import { connectPostgresql } from '../databases/postgresql.ts'
import { selected } from '../databases/postgresql-values.ts'
import { withoutRange, writeManifest } from '../extract.ts'
import { type AppliedChanges, applyChanges } from './apply-changes.ts'
import { type ChangeFile, createChangeFile } from './change-file.ts'
import { positionFrom } from './pgoutput.ts'
import { freeSlot, type KnownTable, needsSnapshot, type Place, placeToResume } from './place.ts'
import { createSlot, streamChanges } from './replication.ts'
import type { CaptureSettings } from './settings.ts'
import {
  type Ask,
  askOf,
  checkServer,
  currentPosition,
  ensurePublication,
  flushedPosition,
  nameOf,
  rowsByKey,
  serverIdentity,
  shapeOf,
  type TableShape,
} from './source.ts'

/** The column that marks rows in the file, and the one that flags them in the table. */
const MARK = 'millrace_deleted_row'
const FLAG = 'deleted_in_source'

export interface CaptureRun {
  readonly settings: CaptureSettings
  readonly dataDir: string
  /** Where tables and state are written. */
  readonly outDir: string
  readonly guard: EgressGuard
  readonly log: Log
}

/** Rounds of one run, each from where the last stored one has ended. */
export interface Rounds {
  /** `outDir`: where tables and state are written. */
  round(outDir: string): Promise<Captured>
  stored(captured: Captured): void
  close(): Promise<void>
}

export interface Captured {
  /** What the state keeps. */
  readonly place: { readonly position: string }
  readonly rows: number
  /** Something is to be stored beside the position. */
  readonly hasFiles: boolean
  /** The position is another one. */
  readonly hasMoved: boolean
}

interface Session {
  readonly client: pg.Client
  /** Where the last stored round has ended; undefined: there is none. */
  last: Place | undefined
  /** Undefined: to be read again. */
  catalogue: Catalogue | undefined
}

interface Catalogue {
  readonly server: string
  readonly shapes: readonly TableShape[]
  readonly publication: string
  readonly readAt: number
}

export async function openPostgresqlRounds(run: CaptureRun): Promise<Rounds> {
  const { db, continuousMinutes } = run.settings
  const way = await openWay(db, run.guard)
  const client = await connectPostgresql(db, way)
  const session: Session = { client, last: undefined, catalogue: undefined }
  // A round that is followed by another one need not have everything.
  const end = continuousMinutes === undefined ? currentPosition : flushedPosition
  return {
    round: (outDir) => captureRound({ ...run, outDir }, session, end),
    stored({ place }) {
      session.last = place as Place // of a round of this session
    },
    async close() {
      await client.end().catch(() => {}) // it may be lost already
      way.close()
    },
  }
}

/** Tables that have changed are noticed by their next change; what has changed without one, and the slot, is looked at so often. */
const CATALOGUE_MS = 60_000

async function catalogueOf(run: CaptureRun, session: Session, ask: Ask): Promise<Catalogue> {
  const { settings } = run
  if (session.catalogue && Date.now() - session.catalogue.readAt < CATALOGUE_MS) return session.catalogue
  const isFirst = session.last === undefined
  await checkServer(ask)
  const server = await serverIdentity(ask)
  session.last = await placeToResume({ ...run, isFirst }, ask, server)
  const shapes: TableShape[] = []
  for (const table of settings.tables) shapes.push(withSettings(await shapeOf(ask, table), settings))
  const publication = await ensurePublication(ask, settings.publication, settings.slot, shapes)
  return { server, shapes, publication, readAt: Date.now() }
}

/** One round of reading. `end` finds out how far. */
async function captureRound(run: CaptureRun, session: Session, end: (ask: Ask) => Promise<string>): Promise<Captured> {
  const { settings, log, outDir } = run
  const { client } = session
  const ask = askOf(client)
  const catalogue = await catalogueOf(run, session, ask)
  session.catalogue = catalogue
  const { server, shapes, publication } = catalogue
  const { last } = session
  const fresh = shapes.filter((shape) => needsSnapshot(shape, last, settings, log))
  mkdirSync(join(outDir, 'tables'), { recursive: true })
  const from = fresh.length > 0 || !last ? await readWhole(run, client, fresh, last) : undefined
  const known = shapes.filter((shape) => !fresh.includes(shape))
  const changes = last
    ? await readChanges(run, ask, { publication, shapes: known, last, upTo: await end(ask) })
    : { position: from ?? '0/0', rows: 0, hasFiles: false, isCut: false } // the slot begins with the snapshot
  if (changes.isCut) session.catalogue = undefined
  const { position } = changes
  const place: Place = {
    ...{ slot: settings.slot, server, position, deletes: settings.deletes, invalidValues: settings.invalidValues },
    tables: Object.fromEntries(
      shapes.map((shape) => {
        const { table, id, fileNode, key, columns } = shape
        const begin = fresh.includes(shape) ? from : last?.tables[nameOf(table)]?.from
        const dropped = droppedColumns(shape, last)
        const kept = { id, fileNode, outputTable: table.outputTable, key, columns, dropped, from: begin ?? '0/0' }
        return [nameOf(table), kept satisfies KnownTable]
      }),
    ),
  }
  writeFileSync(join(outDir, 'state.json'), JSON.stringify({ changes: place }))
  return {
    place,
    rows: changes.rows,
    hasFiles: changes.hasFiles || fresh.length > 0,
    hasMoved: position !== last?.position,
  }
}

/** With what the settings make of types. */
const withSettings = (shape: TableShape, { deletes, invalidValues }: CaptureSettings): TableShape => {
  const full = nameOf(shape.table)
  if (deletes === 'flag' && !shape.isWhole)
    throw new UserError(
      `deletes "flag" needs the whole row that was deleted. Run ALTER TABLE ${full} REPLICA IDENTITY FULL; or choose another setting.`,
    )
  if (deletes === 'flag' && shape.columns.some(({ name }) => name === FLAG))
    throw new UserError(`${full} has a column "${FLAG}", which deletes "flag" adds. Choose another setting of deletes.`)
  if (invalidValues !== 'text') return shape
  return { ...shape, columns: shape.columns.map((column) => ({ ...column, ...withoutRange(column) })) }
}

const outputPath = ({ outDir }: CaptureRun, { table }: TableShape): string => join(outDir, 'tables', `${table.outputTable}.csv`)

const newMarker = (): string => `\\N${randomBytes(3).toString('hex')}`

/** Columns that a table had in an earlier run. They stay in the project, and rows have no value in them any more. */
function droppedColumns({ table, columns }: TableShape, last: Place | undefined): readonly SourceColumn[] {
  const known = last?.tables[nameOf(table)]
  if (!known || known.outputTable !== table.outputTable) return []
  return [...known.dropped, ...known.columns].filter(({ name }) => !columns.some((column) => column.name === name))
}

/** Columns of the table in the project, in the order of the file. */
const storedColumns = ({ columns }: TableShape, { deletes }: CaptureSettings, dropped: readonly SourceColumn[]) => [
  ...columns,
  ...(deletes === 'flag' ? [{ name: FLAG, native: 'boolean', base: 'BOOLEAN' as const }] : []),
  ...dropped,
]

/** Tables in the snapshot with which a slot begins. Answers its position. */
async function readWhole(
  run: CaptureRun,
  client: pg.Client,
  shapes: readonly TableShape[],
  last: Place | undefined,
): Promise<string> {
  const { settings, log } = run
  const isNewSlot = last === undefined
  return withReplication(run, async (replication) => {
    const name = isNewSlot ? settings.slot : `${settings.slot.slice(0, 50)}_${randomBytes(6).toString('hex')}`
    const { position, snapshot } = await createSlot(replication, name, { isTemporary: !isNewSlot })
    await client.query('begin isolation level repeatable read read only')
    await client.query(`set transaction snapshot ${pg.escapeLiteral(snapshot)}`)
    for (const shape of shapes) {
      const path = outputPath(run, shape)
      const nullMarker = newMarker()
      const dropped = droppedColumns(shape, last)
      const columns = storedColumns(shape, settings, dropped)
      const select = shape.columns.map((column) => selected(column, settings.invalidValues === 'null'))
      if (settings.deletes === 'flag') select.push('false')
      select.push(...dropped.map(() => 'null'))
      const rows = `select ${select.join(', ')} from ${nameOf(shape.table)}`
      const copy = client.query(copyTo(`copy (${rows}) to stdout (format csv, null ${pg.escapeLiteral(nullMarker)})`))
      await pipeline(copy, createWriteStream(path))
      writeManifest(path, { columns, primaryKey: shape.key, incremental: false, nullMarker })
      log.info(`Read ${copy.rowCount} ${copy.rowCount === 1 ? 'row' : 'rows'} of ${nameOf(shape.table)} whole.`)
    }
    await client.query('commit')
    return position
  })
}

interface ChangesToRead {
  readonly publication: string
  readonly shapes: readonly TableShape[]
  readonly last: Place
  readonly upTo: string
}

interface ReadChanges {
  /** After the last change that was read. */
  readonly position: string
  readonly rows: number
  readonly hasFiles: boolean
  /** Reading has ended at a change of a table that is another one now. */
  readonly isCut: boolean
}

async function readChanges(run: CaptureRun, ask: Ask, { publication, shapes, last, upTo }: ChangesToRead): Promise<ReadChanges> {
  const { settings } = run
  if (positionFrom(upTo) <= positionFrom(last.position) && !isBatchOfAll(run))
    return { position: last.position, rows: 0, hasFiles: false, isCut: false }
  const nullMarker = newMarker()
  const files = new Map<TableShape, ChangeFile>(
    shapes.map((shape) => [shape, createChangeFile(outputPath(run, shape), nullMarker)]),
  )
  const applied = applyChanges({
    shapes,
    fileOf: (shape) => files.get(shape)!, // made for all of them just now
    startOf: ({ table }) => positionFrom(last.tables[nameOf(table)]?.from ?? '0/0'),
    settings,
    droppedOf: (shape) => droppedColumns(shape, last).length,
  })
  let position = last.position
  for (let isChanged = true; isChanged; ) {
    const from = position
    await freeSlot(ask, settings.slot)
    position = await withReplication(run, (replication) =>
      streamChanges(replication, {
        slot: settings.slot,
        publication,
        confirmed: last.position,
        from,
        upTo,
        onMessage: applied.take,
      }),
    )
    isChanged = await isOldShape(run, ask, applied)
  }
  await readUnsent(ask, shapes, applied, settings)
  const isMapped = isBatchOfAll(run) ? mappedSources(run.dataDir) : () => false
  let [rows, hasFiles] = [0, false]
  for (const shape of shapes) {
    const file = files.get(shape)! // made above
    rows += file.rows
    if (finishFile(run, shape, file, { nullMarker, isMapped, last })) hasFiles = true
  }
  return { position, rows, hasFiles, isCut: applied.unknownShape !== undefined }
}

/** The one result of a run, in which every table of the mapping has its file. */
export const isBatchOfAll = ({ outDir, dataDir }: CaptureRun): boolean => outDir === join(dataDir, 'out')

/** The stream has ended at rows of another shape. True: it is an older one of a table that has changed since, and can be passed over. */
async function isOldShape({ log }: CaptureRun, ask: Ask, applied: AppliedChanges): Promise<boolean> {
  const { unknownShape } = applied
  if (!unknownShape) return false
  const { shape, relation } = unknownShape
  const now = await shapeOf(ask, shape.table)
  const text = ({ id, columns }: TableShape) =>
    JSON.stringify([id, columns.map(({ name, typeId, modifier }) => [name, typeId, modifier])])
  if (text(now) !== text(shape)) {
    log.info(`${nameOf(shape.table)} has changed while its changes were read. What follows is read by the next run.`)
    return false
  }
  applied.accept(relation)
  return true
}

/** How many rows are read by their keys with one statement. */
const KEYS_AT_ONCE = 2000

/** Rows with values that were not sent are read as they are now. A row that is gone was deleted since; that is among the next changes. */
async function readUnsent(
  ask: Ask,
  shapes: readonly TableShape[],
  applied: AppliedChanges,
  { invalidValues }: CaptureSettings,
): Promise<void> {
  for (const shape of shapes) {
    const keys = [...applied.unsentOf(shape)]
    const select = shape.columns.map((column) => `(${selected(column, invalidValues === 'null', 't')})::text`)
    for (let at = 0; at < keys.length; at += KEYS_AT_ONCE)
      for (const row of await rowsByKey(ask, shape, select, keys.slice(at, at + KEYS_AT_ONCE))) applied.write(shape, row)
  }
}

/** True: there is something to store. */
function finishFile(
  run: CaptureRun,
  shape: TableShape,
  file: ChangeFile,
  {
    nullMarker,
    isMapped,
    last,
  }: { readonly nullMarker: string; readonly isMapped: (name: string) => boolean; readonly last: Place },
): boolean {
  const path = outputPath(run, shape)
  const { isEmptied, hasChanges } = file
  file.close()
  if (!hasChanges && !isMapped(`${shape.table.outputTable}.csv`)) {
    rmSync(path)
    return false
  }
  const columns = storedColumns(shape, run.settings, droppedColumns(shape, last))
  writeManifest(path, { columns, primaryKey: shape.key, incremental: !isEmptied, nullMarker, deletedColumn: MARK })
  return true
}

/** An output mapping that names a file which is not there is an error. */
export function mappedSources(dataDir: string): (name: string) => boolean {
  const { storage } = JSON.parse(readFileSync(join(dataDir, 'config.json'), 'utf8')) as {
    readonly storage?: { readonly output?: { readonly tables?: readonly { readonly source?: string }[] } }
  } // written by the platform
  const sources = new Set(storage?.output?.tables?.map(({ source }) => source))
  return (name) => sources.has(name)
}

/** A connection for the time of some work: one that streams can do nothing else. */
async function withReplication<T>({ settings: { db }, guard }: CaptureRun, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const way = await openWay(db, guard)
  const client = await connectPostgresql(db, way, { replication: 'database' } as pg.ClientConfig).catch((error: unknown) => {
    if ((error as { code?: string }).code !== '42501') throw error
    throw new UserError(`The user ${db.user} may not replicate. Run ALTER ROLE "${db.user}" REPLICATION; first.`, {}, error)
  }) // `replication` is not among the types of pg
  try {
    return await work(client)
  } finally {
    way.close()
  }
}
