// Rows of many files as one table. A column that appears later is added; what was written before it gets it when the table is closed.

import { randomBytes } from 'node:crypto'
import { createReadStream, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse'
import { type CsvFile, createCsvFile } from '../../connector-kit/src/csv-file.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { Cells } from './formats.ts'

export interface GrowingTable {
  write(cells: Cells): Promise<void>
  columns(): readonly string[]
  /** Answers the number of rows; nothing is left when there is none. */
  close(): Promise<number>
}

interface Slice {
  readonly path: string
  readonly file: CsvFile
  readonly columns: number
}

const MAX_COLUMNS = 4000

export function createGrowingTable(
  dataDir: string,
  name: string,
  {
    primaryKey,
    incremental,
    first,
  }: { readonly primaryKey: readonly string[]; readonly incremental: boolean; readonly first: readonly string[] },
): GrowingTable {
  const folder = join(dataDir, 'out', 'tables', `${name}.csv`)
  mkdirSync(folder, { recursive: true })
  const nullMarker = `\\N${randomBytes(3).toString('hex')}`
  const places = new Map(first.map((column, at) => [column, at]))
  const slices: Slice[] = []
  let current: Slice | undefined
  let rows = 0

  async function nextSlice(): Promise<Slice> {
    const path = join(folder, `part-${String(slices.length).padStart(5, '0')}`)
    const slice = { path, file: await createCsvFile(path, nullMarker), columns: places.size }
    slices.push(slice)
    return slice
  }

  /** The same rows with empty fields for the columns that came later. */
  async function widen({ path, columns }: Slice, at: number): Promise<void> {
    const wide = await createCsvFile(`${path}-${at}-wide`, nullMarker)
    const more = Array.from({ length: places.size - columns }, () => null)
    for await (const cells of createReadStream(path).pipe(parse({ relax_column_count: true })) as AsyncIterable<string[]>)
      await wide.write([...cells.map((cell) => (cell === nullMarker ? null : cell)), ...more])
    await wide.close()
    rmSync(path)
  }

  return {
    async write(cells) {
      for (const column of cells.keys()) if (!places.has(column)) places.set(column, places.size)
      if (places.size > MAX_COLUMNS)
        throw new UserError(
          `The files have more than ${MAX_COLUMNS} different columns. Choose fewer files, or another recordPath.`,
        )
      if (current && current.columns < places.size) {
        await current.file.close()
        current = undefined
      }
      current ??= await nextSlice()
      const row: (string | null)[] = Array.from({ length: places.size }, () => null)
      for (const [column, value] of cells) row[places.get(column)!] = value // every one has its place
      rows++
      await current.file.write(row)
    },
    columns: () => [...places.keys()],
    async close() {
      await current?.file.close()
      if (rows === 0) {
        rmSync(folder, { recursive: true })
        return 0
      }
      for (const [at, slice] of slices.entries()) if (slice.columns < places.size) await widen(slice, at)
      const unknown = primaryKey.find((column) => !places.has(column))
      if (unknown !== undefined)
        throw new UserError(
          `primaryKey names "${unknown}", which is not a column of the files. They have ${[...places.keys()].join(', ')}.`,
        )
      const schema = [...places.keys()].map((column) => ({
        name: column,
        data_type: { base: { type: 'STRING' } },
        nullable: !primaryKey.includes(column),
        ...(primaryKey.includes(column) && { primary_key: true }),
      }))
      const manifest = { schema, has_header: false, incremental, treat_values_as_null: [nullMarker] }
      writeFileSync(`${folder}.manifest`, JSON.stringify(manifest))
      return rows
    },
  }
}
