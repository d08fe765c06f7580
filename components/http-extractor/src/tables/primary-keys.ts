/** Primary keys of tables without a mapping (`config.primaryKey`), so that a second incremental run updates rows instead of adding them again. */
import { columnName } from './names.ts'
import type { TablesLog } from './page.ts'
import type { MadeTable } from './publish.ts'
import { TablesError } from './tables-error.ts'

/** Columns by data type or by name of a table. */
export type PrimaryKeys = ReadonlyMap<string, readonly string[]>

export function withPrimaryKeys(made: readonly MadeTable[], keys: PrimaryKeys, log: TablesLog): readonly MadeTable[] {
  const used = new Set<string>()
  const keyed = made.map((table) => {
    if (table.dataType === undefined) return table
    const name = [table.dataType, table.name].find((candidate) => candidate !== '' && keys.has(candidate))
    if (name === undefined) return table
    used.add(name)
    return { ...table, primaryKey: keys.get(name)!.map((column) => columnOf(column, name, table)) }
  })
  for (const name of keys.keys())
    if (!used.has(name)) log.warning(`config.primaryKey names '${name}', and this run has no table of that data type or name.`)
  return keyed
}

/** By its name, or by the path that gave it. */
function columnOf(given: string, name: string, { columns }: MadeTable): string {
  const found = [given, columnName(given)].find((column) => columns.includes(column))
  if (found !== undefined) return found
  throw new TablesError(
    `config.primaryKey.${name} names the column '${given}', which the table does not have. It has: ${columns.join(', ')}.`,
  )
}
