/** The tables of types with a mapping: one file per mapped table, made when its first row comes. */
import { batchBytes, CsvFile } from './csv.ts'
import { createMappedWriter } from './mapped-rows.ts'
import { type MappedTable, type Mappings, mappedTablesOf } from './mapping.ts'
import type { Page } from './page.ts'
import type { MadeTable } from './publish.ts'

export type MappedTypes = {
  readonly has: (type: string) => boolean
  /** There is no mapping at all. */
  readonly isEmpty: boolean
  readonly add: (page: Page) => void
  /** Every mapped table, those without a row too (spec extractor 15). */
  readonly finish: () => readonly MadeTable[]
}

export function createMappedTypes(mappings: Mappings, newFile: (suffix: string) => string): MappedTypes {
  const files = new Map<MappedTable, CsvFile>()
  const fileOf = (table: MappedTable): CsvFile => {
    let file = files.get(table)
    if (file === undefined) {
      file = new CsvFile(newFile('csv'), table.columns)
      files.set(table, file)
    }
    return file
  }
  const write = createMappedWriter(fileOf)

  return {
    has: (type) => mappings.has(type),
    isEmpty: mappings.size === 0,
    add: ({ type, items, added = [] }) => {
      write(items, mappings.get(type)!, added)
      const batch = batchBytes(files.size)
      for (const file of files.values()) file.commit(batch)
    },
    finish: () => {
      const tables = [...mappings.values()].flatMap((table) => [...mappedTablesOf(table)])
      return tables.map((table) => {
        const isMissing = !files.has(table)
        const file = fileOf(table)
        file.flush()
        const { name, columns, primaryKey, origin } = table
        return { name, path: file.path, columns, rows: file.rows, primaryKey, isMissing, origin }
      })
    },
  }
}
