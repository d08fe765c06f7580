// Changes of MySQL and MariaDB: the binary log has the keys of rows that have changed, and the rows are then read by their keys, in one state of
// the database. So every value arrives as a whole read would give it, and a change that is read twice does no harm.
//  (1) The position is part of the state, which is stored in one transaction with the rows.
//  (2) A position is taken before the state of the database that is read, so that there is no gap between both.
//  (3) What the log does not contain row by row (another shape, a statement, TRUNCATE) makes that one table be read whole.

import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCsvFile } from '../../../../connector-kit/src/csv-file.ts'
import { openWay } from '../../../../connector-kit/src/database/connect.ts'
import { UserError } from '../../../../http-extractor/src/errors.ts'
import type { Database } from '../../databases/database.ts'
import { openMysql } from '../../databases/mysql.ts'
import { withoutRange, writeManifest } from '../../extract.ts'
import { type Captured, type CaptureRun, isBatchOfAll, mappedSources, type Rounds } from '../capture.ts'
import { nameOf } from '../source.ts'
import { createBinlogReader, type TableMap } from './binlog.ts'
import { type KeyValue, keyValue } from './keys.ts'
import {
  checkServer,
  connectServer,
  currentPosition,
  type MysqlShape,
  type Position,
  positionOf,
  positionText,
  readLog,
  type Server,
  shapeOf,
} from './server.ts'

export interface MysqlPlace {
  readonly server: string
  readonly position: string
  readonly deletes: string
  readonly invalidValues: string
  readonly tables: Readonly<Record<string, { readonly outputTable: string; readonly signature: string }>>
}

/** Keys that are remembered; with more of them a round ends, and the next one continues. */
const MAX_KEYS = 300_000
const KEYS_AT_ONCE = 1000
const MARK = 'millrace_deleted_row'

export async function openMysqlRounds(run: CaptureRun): Promise<Rounds> {
  const server = await connectServer(run.settings.db, run.guard)
  let last = readPlace(run.dataDir)
  return {
    round: (outDir) => captureRound({ ...run, outDir }, server, last),
    stored({ place }) {
      last = place as MysqlPlace // of a round of this file
    },
    close: async () => server.close(),
  }
}

function readPlace(dataDir: string): MysqlPlace | undefined {
  try {
    const state = JSON.parse(readFileSync(join(dataDir, 'in', 'state.json'), 'utf8')) as { readonly changes?: MysqlPlace } | []
    return Array.isArray(state) ? undefined : state.changes
  } catch {
    return undefined // the first run
  }
}

async function captureRound(run: CaptureRun, server: Server, before: MysqlPlace | undefined): Promise<Captured> {
  const { settings, outDir, log } = run
  mkdirSync(join(outDir, 'tables'), { recursive: true })
  const identity = await checkServer(server.ask)
  let last = await usablePlace(run, server, identity, before)
  const shapes: MysqlShape[] = []
  for (const table of settings.tables) shapes.push(await shapeOf(server.ask, table))
  const now = await currentPosition(server.ask)
  const whole = new Set(shapes.filter((shape) => needsWhole(shape, last, run)))
  const isIdle = last !== undefined && last.position === positionText(now)
  let changes: LogChanges = { position: now, keys: new Map(), whole: new Map() }
  if (last && !isIdle) {
    const found = await changesSince(run, positionOf(last.position), shapes)
    if (found) changes = found
    else last = undefined
  }
  if (!last) for (const shape of shapes) whole.add(shape)
  for (const [shape, why] of changes.whole) {
    whole.add(shape)
    log.info(`${nameOf(shape.table)} is read whole: ${why}.`)
  }
  const isMapped = isBatchOfAll(run) ? mappedSources(run.dataDir) : () => false
  const isWritten = (shape: MysqlShape) => whole.has(shape) || (changes.keys.get(shape)?.size ?? 0) > 0
  const tables = shapes.filter((shape) => isWritten(shape) || isMapped(`${shape.table.outputTable}.csv`))
  const rows = tables.length === 0 ? 0 : await readTables(run, tables, whole, changes)
  const place: MysqlPlace = {
    ...{ server: identity, position: positionText(changes.position) },
    ...{ deletes: settings.deletes, invalidValues: settings.invalidValues },
    tables: Object.fromEntries(
      shapes.map(({ table, signature }) => [nameOf(table), { outputTable: table.outputTable, signature: hashOf(signature) }]),
    ),
  }
  writeFileSync(join(outDir, 'state.json'), JSON.stringify({ changes: place }))
  return { place, rows, hasFiles: tables.length > 0, hasMoved: place.position !== before?.position }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Undefined: everything is read whole. */
async function usablePlace(run: CaptureRun, { ask }: Server, identity: string, last: MysqlPlace | undefined) {
  if (!last) return undefined
  if (last.server !== identity) return lostPlace(run, 'The server is not the one of the last run.')
  const { file } = positionOf(last.position)
  const logs = await ask('show binary logs').catch(() => undefined) // the right to see them is not needed otherwise
  if (logs && !logs.some(([name]) => name === file)) return lostPlace(run, `The server no longer has the log ${file}.`)
  return last
}

function lostPlace({ settings, log }: CaptureRun, reason: string): undefined {
  if (settings.onLostPosition === 'fail')
    throw new UserError(
      `${reason} Changes since the last run cannot be read. Set onLostPosition to "snapshot" to read the tables again, or reset the state.`,
    )
  log.warning(`${reason} All tables are read again.`)
  return undefined
}

function needsWhole({ table, signature }: MysqlShape, last: MysqlPlace | undefined, { settings, log }: CaptureRun): boolean {
  if (!last) return true
  const known = last.tables[nameOf(table)]
  const why = !known
    ? 'it is new here'
    : known.outputTable !== table.outputTable
      ? 'its name in the project has changed'
      : known.signature !== hashOf(signature)
        ? 'its columns or its key have changed'
        : last.deletes !== settings.deletes || last.invalidValues !== settings.invalidValues
          ? 'settings have changed'
          : undefined
  if (why !== undefined) log.info(`${nameOf(table)} is read whole: ${why}.`)
  return why !== undefined
}

interface LogChanges {
  readonly position: Position
  readonly keys: ReadonlyMap<MysqlShape, ReadonlyMap<string, readonly KeyValue[]>>
  readonly whole: ReadonlyMap<MysqlShape, string>
}

/** A number that no other reader of the log has. */
const serverIdOf = (slot: string): number => (createHash('sha256').update(slot).digest().readUInt32BE(0) | 0x4000_0000) >>> 0

/** Undefined: the log is gone, and everything is to be read whole. */
async function changesSince(run: CaptureRun, from: Position, shapes: readonly MysqlShape[]): Promise<LogChanges | undefined> {
  const byName = new Map(shapes.map((shape) => [`${shape.table.schema}\n${shape.table.name}`, shape]))
  const shapeAt = ({ schema, table }: TableMap) => byName.get(`${schema}\n${table}`)
  const keys = new Map<MysqlShape, Map<string, readonly KeyValue[]>>(shapes.map((shape) => [shape, new Map()]))
  const whole = new Map<MysqlShape, string>()
  const reader = createBinlogReader((map) => shapeAt(map)?.key.map(({ place }) => place))
  let [file, position, gathered] = [from.file, from, 0]

  function takeRows(map: TableMap, found: () => Iterable<readonly Buffer[]>): void {
    const shape = shapeAt(map)
    if (!shape || whole.has(shape)) return
    if (map.types.length !== shape.columns) return void whole.set(shape, 'it had other columns')
    const known = keys.get(shape)! // made for all of them
    for (const bytes of found()) {
      const key = shape.key.map((column, at) => keyValue(column, bytes[at]!)) // as many as columns
      const text = JSON.stringify(key.map((one) => one.text))
      if (!known.has(text)) gathered++
      known.set(text, key)
    }
  }

  function takeStatement(schema: string, sql: string): void {
    for (const shape of shapes) {
      const { table } = shape
      if (!sql.toLowerCase().includes(table.name.toLowerCase())) continue
      if (schema !== table.schema && !sql.toLowerCase().includes(table.schema.toLowerCase())) continue
      if (!/^(create|grant|revoke|analyze|optimize|flush)\b/i.test(sql)) whole.set(shape, `"${sql.slice(0, 40)}" was run`)
    }
  }

  /** False: enough for one round. */
  function take(bytes: Buffer): boolean {
    const { event, endsAt } = reader.read(bytes)
    const end = () => {
      if (endsAt > 0) position = { file, at: endsAt }
    }
    if (event.kind === 'rotate') {
      file = event.file
      if (endsAt > 0 || file !== position.file) position = { file, at: event.position }
    } else if (event.kind === 'rows') takeRows(event.map, event.keys)
    else if (event.kind === 'query') {
      takeStatement(event.schema, event.sql)
      end()
    } else if (event.kind === 'commit') {
      end()
      return gathered < MAX_KEYS
    } else if (event.kind === 'unreadable') throw new UserError(`The binary log cannot be read: ${event.why}. Switch that off.`)
    return true
  }

  const dump = await connectServer(run.settings.db, run.guard)
  try {
    await readLog(dump, from, serverIdOf(run.settings.slot), take)
  } catch (error) {
    if ((error as { errno?: number }).errno !== 1236) throw error
    return lostPlace(run, `The server no longer has the log from ${positionText(from)} on.`)
  }
  return { position, keys, whole }
}

/** In one state of the database, which is newer than the position. */
async function readTables(run: CaptureRun, shapes: readonly MysqlShape[], whole: ReadonlySet<MysqlShape>, changes: LogChanges) {
  const { db } = run.settings
  const database = await openMysql(db, await openWay(db, run.guard))
  try {
    let rows = 0
    for (const shape of shapes) {
      if (whole.has(shape)) rows += await readWhole(run, database, shape)
      else rows += await readByKeys(run, database, shape, [...(changes.keys.get(shape)?.values() ?? [])])
    }
    return rows
  } finally {
    await database.close()
  }
}

async function requestOf({ settings, outDir }: CaptureRun, database: Database, { table }: MysqlShape) {
  const source = { kind: 'table', table, columns: undefined, filter: undefined } as const
  const { columns: found } = await database.describe(source)
  return {
    source,
    columns: settings.invalidValues === 'text' ? found.map(withoutRange) : found,
    increment: undefined,
    path: join(outDir, 'tables', `${table.outputTable}.csv`),
    nullMarker: `\\N${randomBytes(3).toString('hex')}`,
    invalidAsNull: settings.invalidValues === 'null',
  }
}

async function readWhole(run: CaptureRun, database: Database, shape: MysqlShape): Promise<number> {
  const request = await requestOf(run, database, shape)
  const rows = await database.read(request)
  const primaryKey = shape.key.map(({ name }) => name)
  writeManifest(request.path, { ...request, primaryKey, incremental: false })
  run.log.info(`Read ${rows} ${rows === 1 ? 'row' : 'rows'} of ${nameOf(shape.table)} whole.`)
  return rows
}

async function readByKeys(
  run: CaptureRun,
  database: Database,
  shape: MysqlShape,
  keys: readonly (readonly KeyValue[])[],
): Promise<number> {
  const request = await requestOf(run, database, shape)
  const { columns, path, nullMarker, invalidAsNull, source } = request
  const dialect = database.dialect(invalidAsNull)
  const keyColumns = shape.key.map(({ name }) => columns.find((column) => column.name === name)!) // the columns have all of them
  const names = shape.key.map(({ name }) => `"${name.replaceAll('"', '""')}"`).join(', ')
  writeFileSync(path, '')
  let rows = 0
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const some = keys.slice(at, at + KEYS_AT_ONCE)
    const where = `(${names}) in (${some.map((key) => `(${key.map(({ literal }) => literal).join(', ')})`).join(', ')})`
    const texts = keyColumns.map((column) => dialect.text(column)).join(', ')
    const there = new Set(
      (await database.ask(`select ${texts} from ${database.relation(source)} where ${where}`)).map((row) => JSON.stringify(row)),
    )
    rows += await database.read({ ...request, where, constants: ['false'], isAppended: true })
    const gone = some.map((key) => key.map(({ text }) => text)).filter((key) => !there.has(JSON.stringify(key)))
    if (run.settings.deletes === 'ignore' || gone.length === 0) continue
    const csv = await createCsvFile(path, nullMarker, { isAppended: true })
    for (const key of gone) await csv.write([...columns.map((column) => key[keyColumns.indexOf(column)] ?? null), 'true'])
    await csv.close()
    rows += gone.length
  }
  const primaryKey = shape.key.map(({ name }) => name)
  writeManifest(path, { columns, primaryKey, incremental: true, nullMarker, deletedColumn: MARK })
  return rows
}
