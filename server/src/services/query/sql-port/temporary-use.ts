// What a statement of a reader needs of the temporary tables of its connection, as the session and its tests ask it.

import type { CatalogTable } from '../../../engines/pg-wire/catalogs.ts'
import { type Statement, singleStatement, type TableName } from '../../../engines/sql/statements.ts'
import { bareNames, namesTemporary, schemaEdits, type TemporaryChange, temporaryChange } from './temporary-statements.ts'
import type { TemporaryTables } from './temporary-tables.ts'
import { applyEdits } from './text-edits.ts'

export interface TemporaryUse {
  /** As the database of the connection runs it. */
  readonly statement: Statement
  readonly originalPosition: (at: number) => number
  /** Undefined for a query. */
  readonly change: TemporaryChange | undefined
}

/** First words of statements that may change temporary tables. */
export const CHANGING_TEMPORARY = new Set([
  ...['insert', 'update', 'delete', 'merge', 'truncate'],
  ...['create', 'drop', 'alter', 'analyze'],
])

/** Undefined for a statement that needs none of them. `tables`: those of the project. */
export async function temporaryUse(
  temporary: TemporaryTables,
  statement: Statement,
  tables: () => Promise<readonly CatalogTable[]>,
): Promise<TemporaryUse | undefined> {
  if (statement.keyword === 'comment') return undefined // refused, as without temporary tables
  const names = temporary.names()
  const isOfProject = async ({ schema, name }: Partial<TableName>) =>
    (await tables()).some((table) => table.name === name && (schema === undefined || table.schema === schema))
  const change = CHANGING_TEMPORARY.has(statement.keyword)
    ? await temporaryChange(statement, { temporary: names, isOfProject })
    : undefined
  if (change?.creates) temporary.refuseTooMany()
  if (!change && !(await namesTemporary(statement, names))) return undefined
  const edits = [...(change?.edits ?? []), ...(await schemaEdits(statement))]
  if (edits.length === 0) return { statement, originalPosition: (at) => at, change }
  const { text, originalPosition } = await applyEdits(statement.text, edits)
  return { statement: await singleStatement(text), originalPosition, change }
}

/** Tables of the project that a change may name without their bucket. Ambiguous names are left to DuckDB, which does not find them. */
export async function shortNamesOfChange(
  statement: Statement,
  tables: readonly CatalogTable[],
  path: readonly string[],
  temporary: ReadonlySet<string>,
  isPathGiven: boolean,
): Promise<Record<string, TableName>> {
  const schemasOf = Map.groupBy(tables, ({ name }) => name)
  const names = await bareNames(statement, new Set(schemasOf.keys()))
  return Object.fromEntries(
    names.flatMap((name) => {
      if (temporary.has(name.toLowerCase())) return []
      const schemas = new Set(schemasOf.get(name)?.map(({ schema }) => schema))
      const [first, ...others] = path.filter((schema) => schemas.has(schema))
      return first === undefined || (others.length > 0 && !isPathGiven) ? [] : [[name, { schema: first, name }]]
    }),
  )
}
