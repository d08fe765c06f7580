// COPY ... FROM STDIN into a table of a workspace: rows of the client become a CSV file in the folder of the session, which DuckDB adds
// to the table. Files are of moderate size; all of them are one transaction.

import { type CopiedRow, createCopyDecoder } from '../../../engines/pg-wire/copy-decoder.ts'
import type { CopyOptions } from '../../../engines/pg-wire/rows.ts'
import { ARRAY_OF, bytesOf, elementsOf, OID } from '../../../engines/pg-wire/values.ts'
import { WireError, type WireResult } from '../../../engines/pg-wire/wire-session.ts'
import type { CsvFile, SqlColumn, SqlSession, StatementOptions } from '../../../engines/sql/sql-engine.ts'
import { nextTurn } from '../../../kit/next-turn.ts'
import { doubleQuoted } from '../../../kit/text/double-quoted.ts'
import { pgType, wireColumn } from './port-types.ts'

export interface CopyInDeps {
  readonly session: SqlSession
  /** The table and its columns as SQL names them. */
  readonly table: string
  readonly columns: readonly SqlColumn[]
  readonly options: CopyOptions
  readonly statement: StatementOptions
}

/** Bytes of a file that is added to the table at once. */
const FILE_BYTES = 32 << 20
/** Bytes of a message that are read before everything else in the process has its turn. */
const TURN_BYTES = 256 * 1024

export function createCopyIn({ session, table, columns, options, statement }: CopyInDeps) {
  const types = columns.map(({ type }) => pgType(type).oid)
  const decoder = createCopyDecoder(options, types)
  const line = csvLine(types)
  let file: CsvFile | undefined
  let rows = 0
  let bytes = 0

  async function write(chunk: Buffer): Promise<void> {
    for (let from = 0; from < chunk.length; from += TURN_BYTES) {
      await save(decoder.push(chunk.subarray(from, from + TURN_BYTES)))
      if (from > 0) await nextTurn()
    }
  }

  async function save(copied: Iterable<CopiedRow>): Promise<void> {
    const lines: string[] = []
    let longest = 0
    for (const row of copied) {
      const written = line(row)
      lines.push(written)
      longest = Math.max(longest, 3 * written.length) // in UTF-8
      rows++
    }
    if (lines.length === 0) return
    const text = Buffer.from(lines.join(''))
    file ??= await session.csvFile()
    bytes += text.length
    await file.write(text, longest)
    if (bytes >= FILE_BYTES) await insert()
  }

  async function insert(): Promise<void> {
    if (!file) return
    const full = file
    file = undefined
    bytes = 0
    await full.insert(
      `${table} (${columns.map(({ name }) => doubleQuoted(name)).join(', ')})`,
      columns.map(columnValue),
      statement,
    )
  }

  return {
    write,
    /** How many rows there were. */
    end: async (): Promise<number> => {
      await save(decoder.end())
      await insert()
      return rows
    },
    discard: async (): Promise<void> => file?.discard(),
  }
}

export const copyInResult = (
  { format }: CopyOptions,
  columns: readonly SqlColumn[],
  receive: NonNullable<WireResult['receive']>,
): WireResult => ({
  columns: undefined,
  copy: { format: format === 'binary' ? 1 : 0, columns: columns.map(wireColumn).length },
  receive,
  frames: (async function* (): AsyncGenerator<Buffer, void> {})(),
  tag: () => '',
})

/** Every value in quotes, null without them. A first column that is always there: a line is never empty. */
const csvLine =
  (types: readonly number[]) =>
  (row: CopiedRow): string =>
    `1${row.map((value, i) => (value === null ? ',' : `,"${textFor(types[i] ?? 0, value).replaceAll('"', '""')}"`)).join('')}\n`

/** As `columnValue` reads it. */
function textFor(oid: number, value: string): string {
  if (value.includes('\0')) throw new WireError('22021', 'A value of COPY has a NUL, which no text may have.')
  if (oid === OID.bytea) return hexOf(value)
  const element = ARRAY_OF[oid]
  if (element === undefined) return value
  const elements = elementsOf(value)
  if (!elements) throw new WireError('22P02', `"${value.slice(0, 60)}" is not an array of one dimension, such as {1,2}.`)
  return JSON.stringify(elements.map((one) => (one === null || element !== OID.bytea ? one : hexOf(one))))
}

function hexOf(text: string): string {
  const bytes = bytesOf(text)
  if (!bytes)
    throw new WireError('22P02', `"${text.slice(0, 60)}" is not valid for the type bytea. Write the bytes in hex, as \\x6162.`)
  return bytes.toString('hex')
}

/** A column of the file as a value of the column's type. INSERT casts texts to the other types itself. */
function columnValue({ type }: SqlColumn, i: number): string {
  const { oid } = pgType(type)
  if (oid === OID.bytea) return `from_hex(c${i})`
  if (ARRAY_OF[oid] === OID.bytea) return `list_transform(CAST(CAST(c${i} AS JSON) AS VARCHAR[]), lambda e: from_hex(e))`
  return ARRAY_OF[oid] === undefined ? `c${i}` : `CAST(CAST(c${i} AS JSON) AS ${type})`
}
