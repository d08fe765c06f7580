/** The tables of types with a mapping: one file per mapped table, made when its first row comes. */
import { rmSync } from 'node:fs'
import { CsvFile } from './csv.ts'
import { createMappedWriter, type MappedTarget } from './mapped-rows.ts'
import { type MappedTable, type Mappings, mappedTablesOf } from './mapping.ts'
import type { Page } from './page.ts'
import type { MadeTable } from './publish.ts'

export type MappedTypes = {
  readonly add: (page: Page) => void
  /** Every mapped table, those without a row too (contract 15). */
  readonly finish: () => readonly MadeTable[]
  readonly discard: () => void
}

export function createMappedTypes(mappings: Mappings, newFile: (suffix: string) => string): MappedTypes {
  const targets = new Map<MappedTable, MappedTarget>()
  const targetOf = (table: MappedTable): MappedTarget => {
    let target = targets.get(table)
    if (target === undefined) {
      const slots = new Map(table.columns.map((column, slot) => [column, slot]))
      target = { file: new CsvFile(newFile('csv'), table.columns), slots, cells: table.columns.map(() => '') }
      targets.set(table, target)
    }
    return target
  }
  const write = createMappedWriter(targetOf)

  return {
    add: ({ type, items, added = [] }) => {
      write(items, mappings.get(type)!, added)
      for (const { file } of targets.values()) file.commit()
    },
    finish: () => {
      const tables = [...mappings.values()].flatMap((table) => [...mappedTablesOf(table)])
      return tables.map((table) => {
        const isMissing = !targets.has(table)
        const { file } = targetOf(table)
        file.close()
        const { name, columns, primaryKey, type } = table
        return { name, path: file.path, columns, rows: file.rows, primaryKey, isMissing, origin: type }
      })
    },
    discard: () => {
      for (const { file } of targets.values()) {
        file.close()
        rmSync(file.path)
      }
    },
  }
}
