// What can follow at a place of a SQL text: tables of the project by their bare names, columns of the tables that the statement reads,
// functions and words of DuckDB. Pure. The completion of the editor's own package takes the dots of bucket names for nesting.

export interface SqlTable {
  /** Empty: a table of a script, which its name alone names. */
  readonly bucket: string
  readonly name: string
  readonly columns: readonly string[]
}

export interface SqlOption {
  readonly label: string
  /** What is inserted, where it is not the label. */
  readonly apply?: string
  readonly detail?: string
  readonly type: 'table' | 'column' | 'alias' | 'function' | 'keyword'
}

export interface SqlCompletion {
  /** Where the word begins that an option replaces. */
  readonly from: number
  readonly options: readonly SqlOption[]
}

/** Where a table is expected. */
const BEFORE_TABLE = /\b(?:from|join|into|update|table|describe|summarize)\s+$/i
/** Texts, and names with the quotes and dots that belong to them, of which the last may be unfinished: `"in.c-ma`, `o.pri`, `cou`. */
const TOKEN = /'(?:[^']|'')*'?|(?:"(?:[^"]|"")*(?:"|$)|[\w$]+)(?:\.(?:"(?:[^"]|"")*(?:"|$)|[\w$]*))*/g
/** `"bucket"."table"`, with or without an alias. */
const SOURCE = /"((?:[^"\n]|"")+)"\s*\.\s*"((?:[^"\n]|"")+)"(?:\s+(?:as\s+)?("(?:[^"\n]|"")+"|[a-z_]\w*))?/gi
/** A name alone, with or without an alias. */
const BARE_SOURCE = /\b(?:from|join)\s+("(?:[^"\n]|"")+"|[a-z_]\w*)(?!\s*\.)(?:\s+(?:as\s+)?("(?:[^"\n]|"")+"|[a-z_]\w*))?/gi
const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/

/** Words after a table that are no alias of it. */
const CLAUSES = new Set(
  'where group order limit join left right inner full cross natural on using having union except intersect qualify window sample asof positional semi anti set values offset pivot unpivot'.split(
    ' ',
  ),
)
/** Of DuckDB, beyond those of PostgreSQL that the editor has. */
const KEYWORDS =
  'qualify pivot unpivot exclude replace columns sample asof positional semi anti describe summarize struct map list'.split(' ')
const FUNCTIONS =
  'abs age any_value arg_max arg_min array_agg avg bool_and bool_or ceil coalesce concat concat_ws contains corr count count_if covar_pop current_date date_add date_diff date_part date_trunc day dayofweek dense_rank ends_with epoch extract first first_value floor format generate_series greatest hash hour ifnull isnan json_extract json_extract_string lag last last_day last_value lead least len length list_aggregate ln log lower lpad ltrim make_date max md5 median min minute mode month monthname now ntile nullif percent_rank position quantile_cont quarter random range rank regexp_extract regexp_matches regexp_replace replace reverse round row_number rpad rtrim sha256 sign split_part sqrt starts_with stddev strftime string_agg string_split strip_accents strlen strptime substr substring sum to_timestamp today trim trunc try_cast unnest upper uuid var_pop variance week year'.split(
    ' ',
  )

export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`

const unquoted = (text: string): string => (text.startsWith('"') ? text.replace(/^"|"$/g, '').replaceAll('""', '"') : text)

const columnOption = (name: string, detail: string): SqlOption => ({
  label: name,
  ...(PLAIN_NAME.test(name) ? {} : { apply: quotedName(name) }),
  detail,
  type: 'column',
})

/** Tables that `completionAt` needs at a place, of a project that has too many to load all. */
export interface WantedTables {
  /** Named by the statement: with their columns. */
  readonly ids: readonly string[]
  /** What is typed where a table is expected; undefined elsewhere. */
  readonly name: string | undefined
}

export function wantedAt(text: string, at: number): WantedTables {
  const { before, word } = wordAt(text, at)
  const isTable = !word.startsWith("'") && BEFORE_TABLE.test(before.slice(0, before.length - word.length))
  return { ids: idsNamed(statementAt(text, at)), name: isTable ? word.replaceAll('"', '') : undefined }
}

/** Ids of the tables that a text names with their buckets. */
export const idsNamed = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(SOURCE)].map(([, bucket = '', name = '']) => [bucket, name].join('.').replaceAll('""', '"'))),
]

/** The text of the statement before the place, and the word that ends there. */
function wordAt(text: string, at: number): { readonly before: string; readonly word: string } {
  const before = text.slice(text.lastIndexOf(';', at - 1) + 1, at)
  const last = [...before.matchAll(TOKEN)].at(-1)
  return { before, word: last && last.index + last[0].length === before.length ? last[0] : '' }
}

/** Undefined where nothing is to be offered: in an empty place, unless a table or a column is expected there. */
export function completionAt(text: string, at: number, tables: readonly SqlTable[]): SqlCompletion | undefined {
  const { before, word } = wordAt(text, at)
  if (word.startsWith("'")) return undefined
  const from = at - word.length
  const read = sourcesOf(statementAt(text, at), tables)
  const dot = word.lastIndexOf('.')
  const owner =
    dot > 0 && !isInQuotes(word) ? read.find(({ alias, table }) => namesIt(word.slice(0, dot), alias, table)) : undefined
  if (owner) return { from: from + dot + 1, options: owner.table.columns.map((name) => columnOption(name, owner.table.name)) }
  if (BEFORE_TABLE.test(before.slice(0, before.length - word.length))) return { from, options: tables.flatMap(tableOptions) }
  if (word === '') return undefined
  return {
    from,
    options: [
      ...read.flatMap(({ table }) => table.columns.map((name) => columnOption(name, table.name))),
      ...read.flatMap(({ alias }) => (alias === undefined ? [] : [{ label: alias, type: 'alias' } as const])),
      ...FUNCTIONS.map((name) => ({ label: name, apply: `${name}(`, type: 'function' }) as const),
      ...KEYWORDS.map((name) => ({ label: name, type: 'keyword' }) as const),
    ],
  }
}

/** By its bare name, and as it is written, for a person who begins with a quote. */
function tableOptions({ bucket, name }: SqlTable): readonly SqlOption[] {
  if (bucket === '') return [{ label: name, ...(PLAIN_NAME.test(name) ? {} : { apply: quotedName(name) }), type: 'table' }]
  const whole = `${quotedName(bucket)}.${quotedName(name)}`
  return [
    { label: name, apply: whole, detail: bucket, type: 'table' },
    { label: whole, type: 'table' },
  ]
}

const isInQuotes = (word: string): boolean => (word.match(/"/g)?.length ?? 0) % 2 === 1

function namesIt(owner: string, alias: string | undefined, { bucket, name }: SqlTable): boolean {
  if (owner.replace(/\s/g, '') === `${quotedName(bucket)}.${quotedName(name)}`) return true
  return unquoted(owner).toLowerCase() === (alias ?? name).toLowerCase()
}

/** Between the semicolons around the cursor. */
function statementAt(text: string, at: number): string {
  const start = text.lastIndexOf(';', at - 1) + 1
  const end = text.indexOf(';', at)
  return text.slice(start, end < 0 ? text.length : end)
}

interface Source {
  readonly table: SqlTable
  readonly alias: string | undefined
}

function sourcesOf(statement: string, tables: readonly SqlTable[]): readonly Source[] {
  const source = (table: SqlTable | undefined, alias: string | undefined): readonly Source[] =>
    table ? [{ table, alias: alias === undefined || CLAUSES.has(alias.toLowerCase()) ? undefined : unquoted(alias) }] : []
  const whole = [...statement.matchAll(SOURCE)].flatMap(([, bucket, name, alias]) =>
    source(
      tables.find((one) => quotedName(one.bucket) === `"${bucket}"` && quotedName(one.name) === `"${name}"`),
      alias,
    ),
  )
  const own = tables.filter(({ bucket }) => bucket === '')
  if (own.length === 0) return whole
  const bare = [...statement.matchAll(BARE_SOURCE)].flatMap(([, name = '', alias]) =>
    source(
      own.find((one) => one.name.toLowerCase() === unquoted(name).toLowerCase()),
      alias,
    ),
  )
  return [...whole, ...bare]
}
