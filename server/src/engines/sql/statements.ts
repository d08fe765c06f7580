// What a text of SQL is before anybody runs it: its statements, the tables of the project they name, and whether a session may run
// them. A session reads and changes tables; it does not touch files, settings or other databases. DuckDB refuses those too (its
// configuration is locked); refusing here gives one sentence, and closes the one way DuckDB leaves open: functions that read the
// files of the session directly, past the columns and rows an alias shows.

import { PlatformError } from '../../kit/errors.ts'
import { type Token, tokensOf } from './tokens.ts'

export interface Statement {
  readonly text: string
  /** Where it begins in the whole text, in UTF-16 units. */
  readonly offset: number
  /** The first word, in lower case; `(` for a select in brackets. */
  readonly keyword: string
  readonly tokens: readonly Token[]
}

/** A table as SQL names it: `"in.c-main"."orders"`. */
export interface TableName {
  readonly schema: string
  readonly name: string
}

const MAX_SQL_BYTES = 1 << 20

/** Statements are separated by `;`. Comments alone are none. */
export function statementsOf(sql: string): Statement[] {
  if (Buffer.byteLength(sql) > MAX_SQL_BYTES) throw new PlatformError('sql.tooLong', { limit: MAX_SQL_BYTES })
  if (sql.includes('\0')) throw new PlatformError('sql.invalid', { reason: 'it has a NUL', position: sql.indexOf('\0') + 1 })
  const statements: Statement[] = []
  let open: Token[] = []
  const close = () => {
    const [first, last] = [open[0], open.at(-1)]
    if (first && last)
      statements.push({
        text: sql.slice(first.start, last.end),
        offset: first.start,
        keyword: first.text.toLowerCase(),
        tokens: open,
      })
    open = []
  }
  for (const token of tokensOf(sql)) {
    if (token.kind === 'symbol' && token.text === ';') close()
    else open.push(token)
  }
  close()
  return statements
}

/** The only statement of a text. */
export function singleStatement(sql: string): Statement {
  const statements = statementsOf(sql)
  const [statement] = statements
  if (!statement) throw new PlatformError('sql.invalid', { reason: 'it has no statement', position: 1 })
  if (statements.length > 1) throw new PlatformError('sql.manyStatements', { count: statements.length })
  return statement
}

/** Ids of buckets have a dot, so that SQL can only name them in quotes: `"in.c-main".orders`. */
const BUCKET_ID = /^(?:in|out|sys)\.[^.]+$/

export function tablesNamed({ tokens }: Pick<Statement, 'tokens'>): TableName[] {
  return placesOfTables(tokens).map(({ schema, name }) => ({ schema: schema.text, name: name.text }))
}

/** The text of a statement with `catalog.` before each table of the project, and where a place in it was before. */
export function qualifyTables(statement: Statement, catalog: string): { text: string; originalPosition: (at: number) => number } {
  const starts = placesOfTables(statement.tokens)
    .filter(({ isQualified }) => !isQualified)
    .map(({ schema }) => schema.start - statement.offset)
  const prefix = `${catalog}.`
  let text = ''
  let from = 0
  for (const start of starts) {
    text += statement.text.slice(from, start) + prefix
    from = start
  }
  const before = (at: number) => starts.filter((start, i) => start + i * prefix.length < at).length
  return { text: text + statement.text.slice(from), originalPosition: (at) => at - before(at) * prefix.length }
}

interface TablePlace {
  readonly schema: Token
  readonly name: Token
  readonly isQualified: boolean
}

function placesOfTables(tokens: readonly Token[]): TablePlace[] {
  return tokens.flatMap((schema, i) => {
    const [dot, name] = [tokens[i + 1], tokens[i + 2]]
    const isBucket = schema.kind === 'quoted' && BUCKET_ID.test(schema.text)
    if (!isBucket || dot?.text !== '.' || dot.kind !== 'symbol' || !name) return []
    const isQualified = tokens[i - 1]?.text === '.' && tokens[i - 1]?.kind === 'symbol'
    return name.kind === 'quoted' || name.kind === 'word' ? [{ schema, name, isQualified }] : []
  })
}

export type SessionMode = 'read' | 'write'

const READING = [
  'select',
  'with',
  'from',
  'values',
  'table',
  '(',
  'describe',
  'desc',
  'show',
  'summarize',
  'explain',
  'pivot',
  'unpivot',
]
const TRANSACTIONS = ['begin', 'start', 'commit', 'end', 'rollback', 'abort']
const WRITING = ['insert', 'update', 'delete', 'merge', 'create', 'drop', 'alter', 'truncate', 'comment', 'analyze']

const ALLOWED: Readonly<Record<SessionMode, ReadonlySet<string>>> = {
  read: new Set([...READING, ...TRANSACTIONS]),
  write: new Set([...READING, ...TRANSACTIONS, ...WRITING]),
}

/** Whether DuckDB can write the result by itself: a query, and nothing that only looks like one. */
export const isQuery = ({ keyword }: Statement): boolean => ['select', 'with', 'from', 'values', 'table', '('].includes(keyword)

export const isTransaction = ({ keyword }: Statement): boolean => TRANSACTIONS.includes(keyword)

/** Functions that give tables and touch nothing beyond the session's own. Every other one that DuckDB has is refused. */
export const TABLE_FUNCTIONS: ReadonlySet<string> = new Set([
  'duckdb_columns',
  'duckdb_constraints',
  'duckdb_databases',
  'duckdb_dependencies',
  'duckdb_functions',
  'duckdb_indexes',
  'duckdb_keywords',
  'duckdb_memory',
  'duckdb_schemas',
  'duckdb_sequences',
  'duckdb_tables',
  'duckdb_types',
  'duckdb_views',
  'generate_series',
  'histogram',
  'histogram_values',
  'icu_calendar_names',
  'json_each',
  'json_tree',
  'pg_timezone_names',
  'pragma_table_info',
  'pragma_version',
  'range',
  'repeat',
  'repeat_row',
  'summary',
  'test_all_types',
  'unnest',
])

/** The others; statements.test.ts compares both lists with the DuckDB that is installed. */
export const REFUSED_FUNCTIONS: ReadonlySet<string> = new Set(
  `add_parquet_key all_profiling_output arrow_scan arrow_scan_dumb check_peg_parser checkpoint collations copy_database database_list
  database_size disable_checkpoint_on_shutdown disable_logging disable_object_cache disable_optimizer disable_peg_parser
  disable_print_progress_bar disable_profile disable_profiling disable_progress_bar disable_verification disable_verify_external
  disable_verify_fetch_row disable_verify_parallelism disable_verify_serializer duckdb_approx_database_count duckdb_connection_count
  duckdb_coordinate_systems duckdb_extensions duckdb_external_file_cache duckdb_log_contexts duckdb_logs duckdb_logs_parsed
  duckdb_optimizers duckdb_prepared_statements duckdb_profiling_settings duckdb_secret_types duckdb_secrets duckdb_settings
  duckdb_table_sample duckdb_temporary_files duckdb_variables enable_checkpoint_on_shutdown enable_logging enable_object_cache
  enable_optimizer enable_peg_parser enable_print_progress_bar enable_profile enable_profiling enable_progress_bar
  enable_verification extension_versions force_checkpoint functions glob import_database json_execute_serialized_sql metadata_info
  parquet_bloom_probe parquet_file_metadata parquet_full_metadata parquet_kv_metadata parquet_metadata parquet_scan parquet_schema
  platform pragma_collations pragma_database_size pragma_metadata_info pragma_platform pragma_show pragma_storage_info
  pragma_user_agent query query_table read_blob read_csv read_csv_auto read_duckdb read_json read_json_auto read_json_objects
  read_json_objects_auto read_ndjson read_ndjson_auto read_ndjson_objects read_parquet read_text seq_scan show show_databases
  show_tables show_tables_expanded sniff_csv sql_auto_complete storage_info table_info test_vector_types truncate_duckdb_logs
  user_agent verify_external verify_fetch_row verify_parallelism verify_serializer version which_secret`.split(/\s+/),
)

/** Throws `sql.notAllowed` for what a session of the mode does not run. */
export function checkAllowed(statement: Statement, mode: SessionMode): void {
  const { keyword, tokens, offset } = statement
  const refuse = (what: string, position: number) => {
    throw new PlatformError('sql.notAllowed', { what, reason: REASONS[mode], position: position + 1 })
  }
  if (!ALLOWED[mode].has(keyword)) refuse(keyword.toUpperCase().slice(0, 40), offset)
  if (keyword === 'create' && tokens.slice(1, 5).some(({ kind, text }) => kind === 'word' && text.toLowerCase() === 'secret'))
    refuse('CREATE SECRET', offset)
  for (const [i, token] of tokens.entries()) {
    if (token.kind === 'string' || token.kind === 'symbol') continue
    if (isCalled(tokens, i) && REFUSED_FUNCTIONS.has(token.text.toLowerCase())) refuse(`${token.text}()`, token.start)
  }
}

const REASONS: Readonly<Record<SessionMode, string>> = {
  read: 'a query reads tables of the project and changes nothing',
  write: 'SQL here works on tables; it does not touch files, settings or other databases',
}

/** A bracket follows. Characters that no token has may stand between, should DuckDB take them for a space. */
function isCalled(tokens: readonly Token[], i: number): boolean {
  const next = tokens.slice(i + 1).find(({ kind, text }) => kind !== 'symbol' || text.charCodeAt(0) < 128)
  return next?.kind === 'symbol' && next.text === '('
}
