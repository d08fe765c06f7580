// Commands of Snowflake about tables, which its clients send, as questions to the catalogue: SHOW TABLES, VIEWS, OBJECTS, COLUMNS, PRIMARY
// KEYS, SCHEMAS and DATABASES, and DESC TABLE.

import type { Statement } from '../../../engines/sql/statements.ts'
import { singleQuoted } from '../../../kit/text/single-quoted.ts'
import { stringOf } from './port-commands.ts'

const OWN = `NOT IN ('pg_catalog', 'information_schema')`
const NAMED = 'table_catalog AS database_name, table_schema AS schema_name'

const QUERIES: Readonly<Record<string, (where: string) => string>> = {
  tables: (where) =>
    `SELECT table_name AS name, ${NAMED}, table_type AS kind FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND ${where}
     ORDER BY 3, 1`,
  views: (where) =>
    `SELECT table_name AS name, ${NAMED}, table_type AS kind FROM information_schema.tables WHERE table_type = 'VIEW' AND ${where}
     ORDER BY 3, 1`,
  objects: (where) =>
    `SELECT table_name AS name, ${NAMED}, table_type AS kind FROM information_schema.tables WHERE ${where} ORDER BY 3, 1`,
  columns: (where) =>
    `SELECT table_name, table_schema AS schema_name, column_name, data_type, is_nullable AS "null?", column_default AS "default",
       'COLUMN' AS kind, table_catalog AS database_name FROM information_schema.columns WHERE ${where} ORDER BY 2, 1, ordinal_position`,
  keys: (where) =>
    `SELECT k.table_catalog AS database_name, k.table_schema AS schema_name, k.table_name, k.column_name, k.ordinal_position AS key_sequence,
       k.constraint_name FROM information_schema.key_column_usage k JOIN information_schema.table_constraints c
       USING (constraint_schema, constraint_name) WHERE c.constraint_type = 'PRIMARY KEY' AND ${where.replaceAll('table_', 'k.table_')}
     ORDER BY 2, 3, 5`,
  description: (where) =>
    `SELECT column_name AS name, data_type AS type, 'COLUMN' AS kind, left(is_nullable, 1) AS "null?", column_default AS "default",
       CASE WHEN EXISTS (SELECT 1 FROM information_schema.key_column_usage k WHERE k.table_schema = c.table_schema
         AND k.table_name = c.table_name AND k.column_name = c.column_name) THEN 'Y' ELSE 'N' END AS "primary key"
     FROM information_schema.columns c WHERE ${where} ORDER BY ordinal_position`,
}

/** The question that the command is; undefined for what PostgreSQL or DuckDB has by the same words. */
export function showQuery(statement: Statement, database: string): string | undefined {
  const { tokens, keyword } = statement
  if (keyword === 'desc' || keyword === 'describe') {
    if (!['table', 'view'].includes(tokens.lower(1)) || !tokens.isName(2)) return undefined
    return questionOf('description', statement, 2, database)
  }
  const place = placesQuery(tokens.lower(1), tokens.length, database)
  if (place) return place
  const isKeys = tokens.lower(1) === 'primary' && tokens.lower(2) === 'keys'
  const isTerse = tokens.lower(1) === 'terse'
  const what = isKeys ? 'keys' : tokens.lower(isTerse ? 2 : 1)
  if (!isKeys && !['tables', 'views', 'objects', 'columns'].includes(what)) return undefined
  const after = isKeys || isTerse ? 3 : 2
  if (what === 'tables' && tokens.length === after) return undefined
  return questionOf(what, statement, after, database)
}

/** `SHOW SCHEMAS` and `SHOW DATABASES`. */
function placesQuery(what: string, length: number, database: string): string | undefined {
  if (length !== 2) return undefined
  if (what === 'databases') return `SELECT ${singleQuoted(database)} AS name`
  if (what !== 'schemas') return undefined
  return `SELECT schema_name AS name, ${singleQuoted(database)} AS database_name FROM information_schema.schemata
    WHERE schema_name ${OWN} AND schema_name NOT IN ('pg_toast', 'public') ORDER BY 1`
}

/** `[LIKE 'x'] [IN | FROM [SCHEMA | TABLE | DATABASE | ACCOUNT] name]`, or a name alone; undefined for anything else. */
function questionOf(what: string, statement: Statement, from: number, database: string): string | undefined {
  const { tokens } = statement
  const conditions = [`table_schema ${OWN}`]
  let at = from
  if (tokens.lower(at) === 'like' && tokens.kind(at + 1) === 'string') {
    conditions.push(`${what === 'columns' ? 'column_name' : 'table_name'} ILIKE ${singleQuoted(stringOf(statement, at + 1))}`)
    at += 2
  }
  const isIn = ['in', 'from'].includes(tokens.lower(at)) && tokens.kind(at) === 'word'
  if (isIn) at++
  const kind = ['schema', 'table', 'view', 'database', 'account'].includes(tokens.lower(at)) ? tokens.lower(at) : ''
  if (isIn && kind) at++
  const parts: string[] = []
  for (; tokens.isName(at); at += tokens.isSymbol(at + 1, '.') ? 2 : 1) {
    parts.push(tokens.text(at))
    if (!tokens.isSymbol(at + 1, '.')) {
      at++
      break
    }
  }
  if (at < tokens.length) return undefined
  const isSchema = kind === 'schema' || (kind === '' && what !== 'description' && ['tables', 'views', 'objects'].includes(what))
  conditions.push(...placeOf(parts.slice(parts[0] === database && parts.length > 1 ? 1 : 0), isSchema, kind))
  return QUERIES[what]?.(conditions.join(' AND '))
}

function placeOf(parts: readonly string[], isSchema: boolean, kind: string): string[] {
  const [last, before] = [parts.at(-1), parts.at(-2)]
  if (last === undefined || kind === 'database' || kind === 'account') return []
  if (isSchema) return [`table_schema = ${singleQuoted(last)}`]
  return [`table_name = ${singleQuoted(last)}`, ...(before === undefined ? [] : [`table_schema = ${singleQuoted(before)}`])]
}
