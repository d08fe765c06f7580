// The analysis of a SQL text before it runs: its statements, the tables of the project they name, and whether a session may run
// them. A session reads and changes tables; it does not touch files, settings or other databases. DuckDB refuses those too (its
// configuration is locked); refusing here gives one sentence, and closes the one way DuckDB leaves open: functions that read the
// files of the session directly, past the columns and rows an alias shows.

import { PlatformError } from '../../kit/errors.ts'
import { eachInTurns } from '../../kit/in-turns.ts'
import { type Tokens, tokensOf } from './tokens.ts'

export interface Statement {
  readonly text: string
  /** Where it begins in the whole text, in UTF-16 units. */
  readonly offset: number
  /** The first word, in lower case; `(` for a select in brackets. */
  readonly keyword: string
  readonly tokens: Tokens
}

/** A table as SQL names it: `"in.c-main"."orders"`. */
export interface TableName {
  readonly schema: string
  readonly name: string
}

export const MAX_SQL_BYTES = 1 << 20
/** Each has to be found, linked and bound before the statement runs. */
const MAX_TABLES = 1000

/** Statements are separated by `;`. Comments alone are none. */
export const statementsOf = (sql: string): AsyncGenerator<Statement, void> => eachStatement(sql, MAX_SQL_BYTES)

/** The text of a view as DuckDB keeps it, with brackets and names of its own: longer than what was sent. */
export const statementsOfView = (sql: string): AsyncGenerator<Statement, void> => eachStatement(sql, 8 * MAX_SQL_BYTES)

/** The texts of statements. */
export const splitStatements = async (sql: string): Promise<string[]> => (await placedStatements(sql)).map(({ text }) => text)

/** The texts of statements, and where each begins. */
export async function placedStatements(sql: string): Promise<Pick<Statement, 'text' | 'offset'>[]> {
  const { tokens, ranges } = await readTokens(sql, MAX_SQL_BYTES)
  const texts: Pick<Statement, 'text' | 'offset'>[] = []
  await eachInTurns(ranges.length / 2, (i) => {
    const [from, to] = [ranges[2 * i] ?? 0, ranges[2 * i + 1] ?? 0]
    texts.push({ text: textOf(sql, tokens, from, to), offset: tokens.start(from) })
  })
  return texts
}

/** The only statement of a text. */
export async function singleStatement(sql: string): Promise<Statement> {
  const { tokens, ranges } = await readTokens(sql, MAX_SQL_BYTES)
  const [from, to] = ranges
  if (from === undefined || to === undefined)
    throw new PlatformError('sql.invalid', { reason: 'it has no statement', position: 1 })
  if (ranges.length > 2) throw new PlatformError('sql.manyStatements', { count: ranges.length / 2 })
  return statementIn(sql, tokens, from, to)
}

async function* eachStatement(sql: string, maxBytes: number): AsyncGenerator<Statement, void> {
  const { tokens, ranges } = await readTokens(sql, maxBytes)
  for (let i = 0; i < ranges.length; i += 2) yield statementIn(sql, tokens, ranges[i] ?? 0, ranges[i + 1] ?? 0)
}

async function readTokens(sql: string, maxBytes: number): ReturnType<typeof tokensOf> {
  if (Buffer.byteLength(sql) > maxBytes) throw new PlatformError('sql.tooLong', { limit: maxBytes })
  const nul = sql.indexOf('\0')
  if (nul !== -1) throw new PlatformError('sql.invalid', { reason: 'it has a NUL', position: nul + 1 })
  return tokensOf(sql)
}

const textOf = (sql: string, tokens: Tokens, from: number, to: number): string =>
  sql.slice(tokens.start(from), tokens.end(to - 1))

const statementIn = (sql: string, tokens: Tokens, from: number, to: number): Statement => ({
  text: textOf(sql, tokens, from, to),
  offset: tokens.start(from),
  keyword: tokens.lower(from),
  tokens: tokens.slice(from, to),
})

/** Whether a word or a name of the statement is one of these, in lower case. */
export async function namesOneOf({ tokens }: Statement, names: ReadonlySet<string>): Promise<boolean> {
  let isNamed = false
  await eachInTurns(tokens.length, (i) => {
    isNamed = tokens.isName(i) && names.has(tokens.lower(i))
    return !isNamed
  })
  return isNamed
}

/** Ids of buckets have a dot, so that SQL can only name them in quotes: `"in.c-main".orders`. */
export const BUCKET_ID = /^(?:in|out|sys)\.[^.]+$/

/** Each table once. */
export async function tablesNamed({ tokens }: Pick<Statement, 'tokens'>): Promise<TableName[]> {
  const found = new Map<string, TableName>()
  await eachInTurns(tokens.length, (i) => {
    if (!isTable(tokens, i)) return
    const [schema, name] = [tokens.text(i), tokens.text(i + 2)]
    const key = `${schema}.${name}` // the only dot of a bucket id is its first
    if (found.has(key)) return
    if (found.size === MAX_TABLES) throw new PlatformError('sql.tooManyTables', { limit: MAX_TABLES })
    found.set(key, { schema, name })
  })
  return [...found.values()]
}

/** The text of a statement with `catalog.` before each table of the project, and where a place in it was before. */
export async function qualifyTables(
  statement: Statement,
  catalog: string,
): Promise<{ text: string; originalPosition: (at: number) => number }> {
  const { tokens, offset, text } = statement
  const prefix = `${catalog}.`
  const starts: number[] = []
  const pieces: string[] = []
  let from = 0
  await eachInTurns(tokens.length, (i) => {
    if (tokens.isSymbol(i - 1, '.') || !isTable(tokens, i)) return
    const start = tokens.start(i) - offset
    starts.push(start)
    pieces.push(text.slice(from, start), prefix)
    from = start
  })
  pieces.push(text.slice(from))
  const before = (at: number) => starts.filter((start, i) => start + i * prefix.length < at).length
  return { text: pieces.join(''), originalPosition: (at) => at - before(at) * prefix.length }
}

/** Whether `"in.c-main".orders` begins here. */
const isTable = (tokens: Tokens, i: number): boolean =>
  tokens.isQuoted(i) && tokens.isSymbol(i + 1, '.') && tokens.isName(i + 2) && BUCKET_ID.test(tokens.text(i))

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

/** Rows of a LIMIT that a worker decodes itself: to have DuckDB write them as text costs more than reading them. */
const MAX_FEW_ROWS = 1000

/** Whether the text alone shows that a query has few rows: it ends with a small LIMIT, or it neither reads a table nor calls anything. */
export function hasFewRows({ keyword, tokens }: Statement): boolean {
  const last = tokens.length - 1
  const at = tokens.lower(last - 1) === 'offset' ? last - 2 : last
  if (tokens.kind(at - 1) === 'word' && tokens.lower(at - 1) === 'limit')
    return /^\d{1,4}$/.test(tokens.raw(at)) && Number(tokens.raw(at)) <= MAX_FEW_ROWS
  if (keyword !== 'select' || tokens.length > MAX_WORDS_OF_CONSTANTS) return false
  return !Array.from({ length: tokens.length }, (_, i) => tokens.lower(i)).some((word) => word === 'from' || word === '(')
}

const MAX_WORDS_OF_CONSTANTS = 20

export const isTransaction = ({ keyword }: Statement): boolean => TRANSACTIONS.includes(keyword)

/** Functions that give tables and touch nothing beyond the session's own. Every other one that DuckDB has is refused. */
export const TABLE_FUNCTIONS: ReadonlySet<string> = new Set([
  'duckdb_columns',
  'duckdb_constraints',
  'duckdb_dependencies',
  'duckdb_functions',
  'duckdb_indexes',
  'duckdb_keywords',
  'duckdb_memory',
  'duckdb_schemas',
  'duckdb_sequences',
  'duckdb_tables',
  'duckdb_types',
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
  duckdb_coordinate_systems duckdb_databases duckdb_extensions duckdb_external_file_cache duckdb_log_contexts duckdb_logs duckdb_logs_parsed
  duckdb_optimizers duckdb_prepared_statements duckdb_profiling_settings duckdb_secret_types duckdb_secrets duckdb_settings
  duckdb_table_sample duckdb_temporary_files duckdb_variables duckdb_views enable_checkpoint_on_shutdown enable_logging enable_object_cache
  enable_optimizer enable_peg_parser enable_print_progress_bar enable_profile enable_profiling enable_progress_bar
  enable_verification extension_versions force_checkpoint functions glob import_database json_execute_serialized_sql metadata_info
  parquet_bloom_probe parquet_file_metadata parquet_full_metadata parquet_kv_metadata parquet_metadata parquet_scan parquet_schema
  platform pragma_collations pragma_database_size pragma_metadata_info pragma_platform pragma_show pragma_storage_info
  pragma_user_agent query query_table read_blob read_csv read_csv_auto read_duckdb read_json read_json_auto read_json_objects
  read_json_objects_auto read_ndjson read_ndjson_auto read_ndjson_objects read_parquet read_text seq_scan show show_databases
  show_tables show_tables_expanded sniff_csv sql_auto_complete storage_info table_info test_vector_types truncate_duckdb_logs
  user_agent verify_external verify_fetch_row verify_parallelism verify_serializer version which_secret`.split(/\s+/),
)

/** What shows paths of this machine: settings, the files of databases, and how tables of the project are read. By any name, called or not. */
const HIDDEN = new Set(
  `current_setting duckdb_databases duckdb_settings duckdb_views pg_settings pg_views pragma_database_list sqlite_master sqlite_schema
  sqlite_temp_master sqlite_temp_schema`.split(/\s+/),
)
const [SHORTEST_HIDDEN, LONGEST_HIDDEN] = [5, 30]

/** What a statement of DuckDB or PostgreSQL can begin with. Anything else is a mistake of writing, not a statement that is refused. */
const STATEMENT_KEYWORDS = new Set(
  `abort alter analyze attach begin call checkpoint close comment commit copy create deallocate declare delete desc describe detach discard do
  drop end execute explain export fetch force from grant import insert install into listen load lock merge move notify pivot pivot_longer
  pivot_wider pragma prepare refresh reindex release reset revoke rollback savepoint security select set show start summarize table truncate
  unlisten unload unpivot update use vacuum values with`.split(/\s+/),
)

const SHORTEST_REFUSED = Math.min(...[...REFUSED_FUNCTIONS].map(({ length }) => length))

/** Throws `sql.notAllowed` for what a session of the mode does not run. */
export async function checkAllowed(statement: Statement, mode: SessionMode): Promise<void> {
  const { keyword, tokens, offset } = statement
  const refuse = (what: string, position: number) => {
    throw new PlatformError('sql.notAllowed', { what, reason: REASONS[mode], position: position + 1 })
  }
  if (!ALLOWED[mode].has(keyword)) {
    const word = keyword.toUpperCase().slice(0, 40)
    if (!STATEMENT_KEYWORDS.has(keyword))
      throw new PlatformError('sql.invalid', { reason: `no statement begins with ${word}`, position: offset + 1 })
    refuse(word, offset)
  }
  if (keyword === 'create' && [1, 2, 3, 4].some((i) => tokens.kind(i) === 'word' && tokens.lower(i) === 'secret'))
    refuse('CREATE SECRET', offset)
  const called = await refusedCall(tokens)
  if (called !== undefined)
    refuse(isHidden(tokens, called) ? tokens.text(called) : `${tokens.text(called)}()`, tokens.start(called))
}

/** The first name that is hidden, or of a function that is refused with a bracket behind it. From the end, so that what follows has been read. */
async function refusedCall(tokens: Tokens): Promise<number | undefined> {
  let found: number | undefined
  let isBracketNext = false
  await eachInTurns(tokens.length, (fromEnd) => {
    const i = tokens.length - 1 - fromEnd
    if (tokens.isName(i) && ((isBracketNext && isRefused(tokens, i)) || isHidden(tokens, i))) found = i
    // Characters beyond ASCII may be in between, in case DuckDB treats one as a space.
    if (!tokens.isForeign(i)) isBracketNext = tokens.isSymbol(i, '(')
  })
  return found
}

function isHidden(tokens: Tokens, i: number): boolean {
  const length = tokens.end(i) - tokens.start(i)
  if (length < SHORTEST_HIDDEN || length > LONGEST_HIDDEN) return false
  const name = tokens.lower(i)
  if (name === 'views') return tokens.isSymbol(i - 1, '.') && tokens.lower(i - 2) === 'information_schema'
  return HIDDEN.has(name) && !isHarmlessSetting(tokens, i)
}

/** `current_setting('threads')` */
const isHarmlessSetting = (tokens: Tokens, i: number): boolean =>
  tokens.isSymbol(i + 1, '(') && tokens.isSymbol(i + 3, ')') && HARMLESS_SETTINGS.has(tokens.raw(i + 2).toLowerCase())

const HARMLESS_SETTINGS = new Set(
  `threads worker_threads memory_limit max_memory max_temp_directory_size timezone calendar search_path schema default_order default_null_order
  null_order preserve_insertion_order`
    .split(/\s+/)
    .map((name) => `'${name}'`),
)

/** Characters beyond ASCII do not count, should DuckDB ever take one for a space. */
function isRefused(tokens: Tokens, i: number): boolean {
  if (tokens.end(i) - tokens.start(i) < SHORTEST_REFUSED) return false
  const name = tokens.lower(i)
  return REFUSED_FUNCTIONS.has(FOREIGN.test(name) ? name.replaceAll(FOREIGNS, '') : name)
}

const FOREIGN = /[^\0-\x7f]/
const FOREIGNS = /[^\0-\x7f]+/g

const REASONS: Readonly<Record<SessionMode, string>> = {
  read: 'a query reads tables of the project and changes nothing',
  write: 'SQL here works on tables; it does not touch files, settings or other databases',
}
