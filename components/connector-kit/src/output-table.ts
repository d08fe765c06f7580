// A table that a component leaves in out/tables: a CSV file without a header line and its manifest.

import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCsvFile } from './csv-file.ts'
import type { BaseType, Cells } from './input-table.ts'

export interface OutputColumn {
  readonly name: string
  readonly base: BaseType
  readonly length?: string | undefined
}

export interface OutputTable {
  write(row: Cells): void | Promise<void>
  close(): Promise<void>
}

interface Options {
  readonly primaryKey?: readonly string[]
  readonly incremental?: boolean
  /** Stored also when the run fails. */
  readonly always?: boolean
  /** Id of the table in the project; default: by the mapping or the default bucket. */
  readonly destination?: string
}

export async function createOutputTable(
  dataDir: string,
  name: string,
  columns: readonly OutputColumn[],
  { primaryKey = [], incremental = false, always = false, destination }: Options = {},
): Promise<OutputTable> {
  const folder = join(dataDir, 'out', 'tables')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${name}.csv`)
  const nullMarker = `\\N${randomBytes(3).toString('hex')}`
  const manifest = {
    schema: columns.map((column) => ({
      name: column.name,
      data_type: { base: { type: column.base, ...(column.length !== undefined && { length: column.length }) } },
      nullable: !primaryKey.includes(column.name),
      ...(primaryKey.includes(column.name) && { primary_key: true }),
    })),
    ...{ has_header: false, incremental, write_always: always, treat_values_as_null: [nullMarker] },
    ...(destination !== undefined && { destination }),
  }
  writeFileSync(`${path}.manifest`, JSON.stringify(manifest))
  return createCsvFile(path, nullMarker)
}
