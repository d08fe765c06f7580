// A table of the input mapping: its manifest and its rows. An absent value is nothing at all, an empty text is `""`.

import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../http-extractor/src/errors.ts'

/** Types of columns in tables of the project. */
export type BaseType = 'STRING' | 'INTEGER' | 'NUMERIC' | 'FLOAT' | 'BOOLEAN' | 'DATE' | 'TIMESTAMP'

export interface InputColumn {
  readonly name: string
  readonly base: BaseType
  /** Precision and scale of NUMERIC. */
  readonly length: string | undefined
  readonly nullable: boolean
}

export interface InputTable {
  /** In the project. */
  readonly id: string
  readonly path: string
  readonly columns: readonly InputColumn[]
  readonly primaryKey: readonly string[]
  /** Of the whole table, whatever part of it was given. */
  readonly rowsCount: number
}

export type Cells = readonly (string | null)[]

interface Manifest {
  readonly id: string
  readonly columns: readonly string[]
  readonly primary_key: readonly string[]
  readonly rows_count: number
  readonly schema?: readonly {
    readonly name: string
    readonly data_type: { readonly base: { readonly type: BaseType; readonly length?: string } }
    readonly nullable: boolean
  }[]
}

/** Tables of the input mapping, in the order of their names. */
export function inputTables(dataDir: string): readonly InputTable[] {
  const folder = join(dataDir, 'in', 'tables')
  return filesOf(folder).map((name) => {
    const path = join(folder, name)
    const manifest = JSON.parse(readFileSync(`${path}.manifest`, 'utf8')) as Manifest // written by the platform
    return {
      id: manifest.id,
      path,
      columns: manifest.columns.map((column) => {
        const typed = manifest.schema?.find((one) => one.name === column)
        return {
          name: column,
          base: typed?.data_type.base.type ?? 'STRING',
          length: typed?.data_type.base.length,
          nullable: typed?.nullable ?? true,
        }
      }),
      primaryKey: manifest.primary_key,
      rowsCount: manifest.rows_count,
    }
  })
}

export function onlyInputTable(dataDir: string): InputTable {
  const tables = inputTables(dataDir)
  const [table] = tables
  if (!table || tables.length > 1)
    throw new UserError(`Each row delivers one table: add exactly one to its input mapping (found ${tables.length}).`)
  return table
}

function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.endsWith('.manifest'))
      .toSorted()
  } catch {
    return []
  }
}

const CHUNK_BYTES = 2 ** 18

/** Rows as they are read, many at a time. The header line is passed over. */
export async function* batchesOf({ path, columns }: InputTable): AsyncGenerator<Cells[]> {
  let rest = ''
  let enough = 0 // a row that is longer than a chunk is not looked at again before it has doubled
  let isFirst = true
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: CHUNK_BYTES })) {
    rest += chunk as string // by its encoding
    if (rest.length < enough) continue
    const { rows, end } = completeRows(rest, columns.length, false)
    enough = rows.length === 0 ? rest.length * 2 : 0
    rest = rest.slice(end)
    if (isFirst && rows.length > 0) {
      rows.shift()
      isFirst = false
    }
    if (rows.length > 0) yield rows
  }
  const { rows } = completeRows(rest, columns.length, true)
  if (isFirst) rows.shift()
  if (rows.length > 0) yield rows
}

export async function* rowsOf(table: InputTable): AsyncGenerator<Cells> {
  for await (const rows of batchesOf(table)) yield* rows
}

/** Whole lines at the beginning of a text, and where they end. */
export function completeRows(text: string, width: number, isLast: boolean): { readonly rows: Cells[]; readonly end: number } {
  const rows: Cells[] = []
  let end = 0
  let row: (string | null)[] = []
  let at = 0
  while (at < text.length) {
    let value: string | null
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1)
      let isPlain = true
      while (close !== -1 && text[close + 1] === '"') {
        isPlain = false
        close = text.indexOf('"', close + 2)
      }
      if (close === -1 || (close + 1 >= text.length && !isLast)) break
      value = isPlain ? text.slice(at + 1, close) : text.slice(at + 1, close).replaceAll('""', '"')
      at = close + 1
    } else {
      let stop = at
      while (stop < text.length && text[stop] !== ',' && text[stop] !== '\n') stop++
      if (stop >= text.length && !isLast) break
      value = stop === at ? null : text.slice(at, stop)
      at = stop
    }
    row.push(value)
    const mark = text[at]
    if (mark !== ',' && mark !== '\n' && mark !== undefined) throw malformed()
    at++
    if (mark === ',' && at < text.length) continue
    if (mark === ',') {
      if (!isLast) break
      row.push(null)
    }
    if (row.length !== width) throw malformed()
    rows.push(row)
    row = []
    end = at
  }
  return { rows, end }
}

const malformed = () => new Error('a table of the input mapping is not CSV as the platform writes it')
