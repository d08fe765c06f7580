// Records of one stream as a CSV file without a header, and its manifest. Rows are written as they come. A column that appears later begins
// a new part; at the end the rows of earlier parts are filled up.

import {
  closeSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { columnName, uniqueName } from '../../../http-extractor/src/tables/names.ts'
import { ConnectorError } from '../errors.ts'
import { type Dict, isDict } from '../python/values.ts'
import { CsvCells } from './csv-cells.ts'

const BLOCK = 1 << 20
const MAX_COLUMNS = 2000

interface Part {
  readonly path: string
  columns: number
}

export interface TableOptions {
  readonly name: string
  readonly outDir: string
  readonly workDir: string
  readonly schema: Dict
  readonly primaryKey: readonly string[]
  readonly incremental: boolean
  /** Fields of earlier runs: the table has their columns. */
  readonly knownFields: readonly string[]
  /** What happens with fields that the schema does not name; `extend` by default. */
  readonly drift?: Drift | undefined
  /** Records that leave the table by their key. */
  readonly isDeleted?: ((record: Dict) => boolean) | undefined
}

export const DRIFTS = ['extend', 'ignore', 'fail'] as const
export type Drift = (typeof DRIFTS)[number]

export interface Table {
  write(records: readonly Dict[]): void
  /** Columns of a schema that became known later. */
  extend(schema: Dict): void
  /** Forgets the rows so far. */
  clear(): void
  /** Into the output folder; `replaces`: instead of the rows that the table has. */
  publish(replaces?: boolean): Promise<number>
  fields(): string[]
}

/** Marks rows that leave the table; the platform does not store it. */
const DELETED_COLUMN = '_deleted'

export function createTable(options: TableOptions): Table {
  const { name, outDir, workDir, schema, primaryKey, incremental, knownFields, drift = 'extend', isDeleted } = options
  const properties: Dict = { ...(isDict(schema.properties) ? schema.properties : {}) }
  const fields = new Map<string, number>()
  const columns: string[] = []
  const parts: Part[] = []
  /** Of the row that is being written, by column. */
  const values: unknown[] = []
  const cells = new CsvCells()
  let file = -1
  let rows = 0

  function addColumn(field: string): void {
    fields.set(field, columns.length)
    columns.push(uniqueName(columnName(field) || 'column', (taken) => columns.includes(taken)))
    if (columns.length > MAX_COLUMNS) throw new ConnectorError(`The stream '${name}' has more than ${MAX_COLUMNS} columns.`)
  }
  if (isDeleted) columns.push(DELETED_COLUMN)
  for (const field of new Set([...knownFields, ...Object.keys(properties)])) addColumn(field)

  function extend(next: Dict): void {
    const added = Object.entries(isDict(next.properties) ? next.properties : {})
    for (const [field, type] of added) properties[field] = type
    const unknown = added.map(([field]) => field).filter((field) => !fields.has(field))
    if (unknown.length === 0) return
    endPart()
    for (const field of unknown) addColumn(field)
  }

  function clear(): void {
    endPart()
    rows = 0
    for (const { path } of parts.splice(0)) rmSync(path)
  }

  function flush(): void {
    if (cells.length === 0) return
    if (file < 0) {
      mkdirSync(workDir, { recursive: true })
      parts.push({ path: join(workDir, `${parts.length}.csv`), columns: columns.length })
      file = openSync(parts.at(-1)!.path, 'w')
    }
    for (let at = 0; at < cells.length; ) at += writeSync(file, cells.bytes, at, cells.length - at)
    cells.length = 0
  }

  /** The rows so far have fewer columns than those that follow. */
  function endPart(): void {
    flush()
    if (file >= 0) closeSync(file)
    file = -1
  }

  /** The column of a field that the table does not have yet. The row that is being written belongs to the part that begins here. */
  function unknownField(field: string): number | undefined {
    if (drift === 'ignore') return undefined
    if (drift === 'fail')
      throw new ConnectorError(
        `The table '${name}' has no column for the field '${field}', and 'schemaDrift' is fail. Set it to extend or ignore.`,
      )
    endPart()
    addColumn(field)
    values.push(undefined)
    return columns.length - 1
  }

  function writeRow(record: Dict): void {
    values.length = columns.length
    values.fill(undefined)
    if (isDeleted) values[0] = isDeleted(record) ? 1 : 0
    for (const field in record) {
      const at = fields.get(field) ?? unknownField(field)
      if (at !== undefined) values[at] = record[field]
    }
    for (const value of values) cells.cell(value)
    cells.endRow()
    rows++
  }

  function write(records: readonly Dict[]): void {
    for (const record of records) {
      writeRow(record)
      if (cells.length >= BLOCK) flush()
    }
  }

  async function publish(replaces = false): Promise<number> {
    endPart()
    if (fields.size === 0) return 0
    mkdirSync(outDir, { recursive: true })
    const target = join(outDir, `${name}.csv`)
    const [first] = parts
    if (parts.length === 1 && first!.columns === columns.length) renameSync(first!.path, target)
    else {
      writeFileSync(target, '')
      for (const part of parts) {
        await pipeline(
          createReadStream(part.path),
          filled(columns.length - part.columns),
          createWriteStream(target, { flags: 'a' }),
        )
        rmSync(part.path)
      }
    }
    if (isDeleted && primaryKey.length === 0)
      throw new ConnectorError(`Rows of '${name}' cannot be deleted without a primary key. Set 'primaryKey'.`)
    const keys = new Set(primaryKey.map((field) => columns[fields.get(field) ?? -1]).filter((each) => each !== undefined))
    const typed = [...fields].map(([field, at]) => ({
      name: columns[at]!,
      ...typeOf(properties[field]),
      ...(keys.has(columns[at]!) && { primary_key: true, nullable: false }),
    }))
    const marked = isDeleted ? [{ name: DELETED_COLUMN, data_type: { base: { type: 'STRING' } } }, ...typed] : typed
    writeFileSync(
      `${target}.manifest`,
      JSON.stringify({
        incremental: incremental && !replaces,
        schema: marked,
        ...(isDeleted && { deleted_rows_column: DELETED_COLUMN }),
      }),
    )
    return rows
  }

  return { write, extend, clear, publish, fields: () => [...fields.keys()] }
}

const BASE_TYPES: Readonly<Record<string, string>> = { integer: 'INTEGER', number: 'NUMERIC', boolean: 'BOOLEAN' }

function typeOf(schema: unknown): { data_type: Dict } {
  const types = isDict(schema) ? [schema.type].flat().filter((each) => each !== 'null') : []
  const format = isDict(schema) ? schema.format : undefined
  const time = format === 'date' ? 'DATE' : format === 'date-time' ? 'TIMESTAMP' : undefined
  const type = types.length === 1 ? (types[0] === 'string' ? time : BASE_TYPES[String(types[0])]) : undefined
  return { data_type: { base: { type: type ?? 'STRING' } } }
}

/** Commas at the end of every row. A line break inside quotes ends no row. */
async function* padded(chunks: AsyncIterable<Buffer>, commas: Buffer): AsyncIterable<Buffer> {
  let quoted = false
  for await (const chunk of chunks) {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === 0x22) quoted = !quoted
      else if (byte === 0x0a && !quoted) {
        yield Buffer.concat([chunk.subarray(from, at), commas])
        from = at
      }
    }
    yield chunk.subarray(from)
  }
}

const filled = (missing: number) => (chunks: AsyncIterable<Buffer>) =>
  missing === 0 ? chunks : padded(chunks, Buffer.alloc(missing, ','))
