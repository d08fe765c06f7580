// Which engine runs a statement. DuckDB's own parser finds the tables it names: those of PostgreSQL's catalogue are answered by a
// catalogue, the tables of the project by DuckDB. A text in a literal, an alias or a name in a WITH decides nothing.

import { WireError } from '../../../engines/pg-wire/wire-session.ts'
import type { SqlSession } from '../../../engines/sql/sql-engine.ts'
import type { StatementNames } from '../../../engines/sql/statement-names.ts'
import { namesOneOf, type Statement, type TableName } from '../../../engines/sql/statements.ts'

export type Route =
  | { readonly engine: 'catalog' }
  /** `unqualified`: names without a schema, which may be tables of the project. `results`: names of columns that a call gives. */
  | { readonly engine: 'tables'; readonly unqualified: readonly string[]; readonly results?: readonly string[] }
  /** DuckDB cannot read it. */
  | { readonly engine: 'unknown' }

/** Functions of PostgreSQL about itself. DuckDB has some of them and answers for itself. */
const ABOUT_POSTGRES =
  /^(pg_.*|version|current_(schemas?|database|catalog|setting|user|role)|session_user|user|set_config|format_type|(obj|col|shobj)_description|has_.*_privilege|to_reg\w+|inet_.*|quote_ident|array_lower|array_upper|txid_.*)$/
/** Functions that are written without brackets, which DuckDB reads as columns. */
const POSTGRES_WORDS = /^(current_(user|role|catalog|schema)|session_user|user)$/
const POSTGRES_TYPES = /^(reg\w+|name|oid|xid|cid)$/

export async function routeOf(session: SqlSession, sql: string): Promise<Route> {
  const named = await session.names(sql)
  if (named === 'unreadable') return { engine: 'unknown' }
  if (named === 'other') return { engine: 'tables', unqualified: [] }
  const isCatalog = ({ schema, name }: TableName) => isCatalogSchema(schema) || (schema === '' && /^pg_/i.test(name))
  const ofCatalog = named.tables.filter(isCatalog)
  const others = named.tables.filter((table) => !isCatalog(table))
  if (ofCatalog.length > 0 && others.length > 0)
    throw new WireError(
      '0A000',
      `A query reads the catalogue ("${ofCatalog[0]?.name}") or tables ("${others[0]?.name}"), not both in one statement.`,
    )
  if (ofCatalog.length > 0 || (others.length === 0 && isAboutPostgres(named))) return { engine: 'catalog' }
  return {
    engine: 'tables',
    unqualified: others.filter(({ schema }) => schema === '').map(({ name }) => name),
    results: named.results,
  }
}

const isCatalogSchema = (schema: string): boolean => /^(pg_catalog|information_schema|pg_toast)$/i.test(schema)

/** Whether any word of a text that DuckDB cannot read might be one of these tables. */
export const mayName = (statement: Statement, tables: readonly TableName[]): Promise<boolean> =>
  namesOneOf(statement, new Set(tables.flatMap(({ schema, name }) => [schema.toLowerCase(), name.toLowerCase()])))

/** Whether it uses something that only PostgreSQL has, such as its version or a regclass. */
const isAboutPostgres = ({ functions, columns, types }: StatementNames): boolean =>
  functions.some(({ schema, name }) => isCatalogSchema(schema) || ABOUT_POSTGRES.test(name)) ||
  columns.some((column) => POSTGRES_WORDS.test(column)) ||
  types.some((type) => POSTGRES_TYPES.test(type))
