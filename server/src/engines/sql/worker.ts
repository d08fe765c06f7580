// The SQL worker process: one DuckDB instance per session, closed with it, so that nothing of one session is left for the next. For
// sessions of the same reader the instance stays, as one takes 50 ms to start; the next of them drops what the one before has made and
// the tables that it does not name itself.
// What SQL may do is bounded four times: the engine reads the text first (statements.ts), the kind of each statement is checked here,
// DuckDB has no access to anything but the folder of the session, and its configuration is locked.
// The process ends with its parent: when the channel closes, there is no process left to report to.

import { closeSync, openSync, readdirSync, readlinkSync, realpathSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  DuckDBBlobValue,
  type DuckDBConnection,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBMapValue,
  type DuckDBPreparedStatement,
  type DuckDBResult,
  DuckDBStructValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  ResultReturnType,
  StatementType,
} from '@duckdb/node-api'
import { dictionaryBytes } from '../../kit/dictionary-bytes.ts'
import { PlatformError } from '../../kit/errors.ts'
import { doubleQuoted } from '../../kit/text/double-quoted.ts'
import { singleQuoted } from '../../kit/text/single-quoted.ts'
import {
  BATCHES_AHEAD,
  type BindMessage,
  type FromWorker,
  type OpenMessage,
  PROJECT_CATALOG,
  type RunMessage,
  type ToWorker,
  type View,
  type WorkerError,
} from './protocol.ts'
import type { CopyFormat, SqlColumn, SqlValue, StatementEnd } from './sql-engine.ts'
import { namesIn } from './statement-names.ts'
import { readTree } from './syntax-tree.ts'

interface Session {
  readonly instance: DuckDBInstance
  /** Runs the statements of the session. */
  connection: DuckDBConnection
  /** Binds tables of the project, whatever transaction the session is in. */
  binder: DuckDBConnection
  /** Something may belong to the connection that another session must not find, such as a temporary table. */
  hasLeftovers: boolean
  readonly settings: OpenMessage
  /** The end of the FIFO that this process writes to by itself. */
  readonly out: number
}

const { SELECT, EXPLAIN, INSERT, UPDATE, DELETE, MERGE_INTO, CREATE, CREATE_FUNC, DROP, ALTER, ANALYZE, VACUUM, TRANSACTION } =
  StatementType
const READING: readonly StatementType[] = [SELECT, EXPLAIN, TRANSACTION]
const ALLOWED: Readonly<Record<'read' | 'write', readonly StatementType[]>> = {
  read: READING,
  write: [...READING, INSERT, UPDATE, DELETE, MERGE_INTO, CREATE, CREATE_FUNC, DROP, ALTER, ANALYZE, VACUUM],
}

const UNKNOWN = 'UNKNOWN'
/** Of tables, functions, columns and types in one statement: the main process reads them in one piece. */
const MAX_NAMES = 20_000
const WATCH_MS = 100
const INTERRUPT_MS = 20
/** The runtime and what DuckDB does not count. */
const BESIDE_DUCKDB_MB = 256

let session: Session | undefined
/** What precedes the statement in the last text that was sent to DuckDB. */
let bytesBefore = 0
let credits = 0
let isRunning = false
/** Whether the shape of a result was sent for the statement that runs. */
let hasResult = false
let interrupting: NodeJS.Timeout | undefined
let onCredit = () => {}

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')) // a plain exit would wait for DuckDB's running statement
process.on('message', (message: ToWorker) => {
  if (message.type === 'cancel') interruptUntilEnd()
  else if (message.type === 'more') {
    credits++
    onCredit()
  } else void answer(message)
})

/** DuckDB ignores an interruption before it begins to execute, so it is repeated until the statement has ended. */
function interruptUntilEnd(): void {
  if (!isRunning || interrupting) return // one that crossed the end of its statement must not meet the next
  const interrupt = () => session?.connection.interrupt()
  interrupting = setInterval(interrupt, INTERRUPT_MS)
  interrupt()
  onCredit() // rows that wait for a reader no longer have to
}

async function answer(message: Exclude<ToWorker, { type: 'cancel' | 'more' }>): Promise<void> {
  const watch = watchMemory()
  isRunning = message.type === 'run'
  hasResult = false
  let hasText = true
  try {
    const end = await handle(message)
    hasText = hasResult
    send({ type: 'done', rssMb: rssMb(), ...(end && { end }) })
  } catch (error) {
    send({ type: 'failed', error: portable(error), rssMb: rssMb() })
  } finally {
    clearInterval(watch)
    clearInterval(interrupting)
    interrupting = undefined
    isRunning = false
    if (message.type === 'run' && isText(message.output) && hasText && session) writeSync(session.out, message.marker)
  }
}

const isText = (output: RunMessage['output']): output is CopyFormat =>
  output !== 'rows' && output !== 'columns' && output !== 'names'

async function handle(message: Exclude<ToWorker, { type: 'cancel' | 'more' }>): Promise<StatementEnd | undefined> {
  if (message.type === 'open') session = await open(message)
  else if (message.type === 'close') await close()
  else if (!session) throw new Error(`${message.type} came before open`)
  else if (message.type === 'reopen') await reopen(session)
  else if (message.type === 'bind') await bind(session, message)
  else if (message.type === 'schema') await useSchema(session, message.schema)
  else if (message.type === 'checkpoint') await session.connection.run('CHECKPOINT workspace')
  else return run(session, message)
  return undefined
}

async function open(settings: OpenMessage): Promise<Session> {
  letGo()
  const { limits, filesDir, spillDir, fifo, database, schema } = settings
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(limits.threads),
    memory_limit: `${Math.floor(Math.max(limits.memoryMb - BESIDE_DUCKDB_MB, limits.memoryMb / 3))}MiB`,
    temp_directory: spillDir,
    errors_as_json: 'true',
    allow_persistent_secrets: 'false',
    // The engine is complete as shipped: nothing may be fetched from anywhere.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  })
  const connection = await instance.connect()
  if (database !== undefined) {
    await connection.run(`ATTACH ${singleQuoted(database)} AS workspace`)
    if (schema !== undefined) await connection.run(`CREATE SCHEMA IF NOT EXISTS workspace.${doubleQuoted(schema)}`)
    await useDatabase(connection, schema)
  }
  await connection.run(`SET max_temp_directory_size = '${limits.diskMb}MiB'`) // among the options above DuckDB shows it and does not obey
  await connection.run(`SET allowed_directories = [${singleQuoted(filesDir)}]`)
  await connection.run(`SET allowed_paths = [${singleQuoted(fifo)}]`)
  await connection.run('SET parquet_metadata_cache = true') // footers are read when a view is made, a statement is planned, and run
  await connection.run('SET enable_external_access = false')
  await connection.run('SET lock_configuration = true')
  const binder = database === undefined ? connection : await instance.connect()
  const out = openSync(fifo, 'r+') // r+: opening does not wait for a reader
  return { instance, connection, binder, settings, out, hasLeftovers: false }
}

async function reopen(open: Session): Promise<void> {
  const { instance, connection, settings } = open
  if (!open.hasLeftovers) return
  open.hasLeftovers = false
  open.connection = await instance.connect()
  if (settings.database === undefined) open.binder = open.connection
  else await useDatabase(open.connection, settings.schema)
  connection.closeSync()
}

/** Names without a schema are those of the database; with a schema of its own also short names of the project, which come after them. */
async function useDatabase(connection: DuckDBConnection, schema: string | undefined): Promise<void> {
  const path = schema === undefined ? undefined : [`workspace.${doubleQuoted(schema)}`, `${PROJECT_CATALOG}.main`].join()
  await connection.run(path === undefined ? 'USE workspace' : `SET search_path = ${singleQuoted(path)}`)
}

/** The path belongs to the connection: the next session gets another one. */
async function useSchema(open: Session, schema: string): Promise<void> {
  open.hasLeftovers = true
  const own = `workspace.${doubleQuoted(schema)}`
  await open.connection.run(`CREATE SCHEMA IF NOT EXISTS ${own};\nSET search_path = ${singleQuoted(`${own},workspace.main`)}`)
}

async function close(): Promise<void> {
  const database = session?.settings.database
  letGo()
  if (database !== undefined && isOpenHere(database)) throw new Error('the database is still open') // the engine ends this process
}

/**
 * A result that was not read to its end keeps its DuckDB, and with it the database file, until the garbage collector comes. Another session
 * of this process must not open the file before: locks do not separate two of one process, and the one that goes last truncates the log
 * of the other.
 */
function isOpenHere(file: string): boolean {
  try {
    const path = join(realpathSync(dirname(file)), basename(file)) // its log has the same name with an ending
    return readdirSync('/proc/self/fd').some((fd) => linkOf(`/proc/self/fd/${fd}`).startsWith(path))
  } catch {
    return true // a system that does not report it
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return '' // closed meanwhile
  }
}

function letGo(): void {
  if (!session) return
  const { connection, binder, instance, out } = session
  session = undefined
  connection.closeSync()
  if (binder !== connection) binder.closeSync()
  instance.closeSync()
  closeSync(out)
}

async function bind({ binder }: Session, { views, dropped }: BindMessage): Promise<void> {
  const schemas = new Set(views.map(({ schema }) => schemaOf(schema)))
  // In one text: each call waits for a thread.
  await binder.run(
    [
      ...dropped.map((view) => `DROP VIEW IF EXISTS ${nameOf(view)}`),
      ...[...schemas].map((schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`),
      ...views.map((view) => `CREATE OR REPLACE VIEW ${nameOf(view)} AS ${view.select}`),
    ].join(';\n'),
  )
}

const schemaOf = (schema: string): string => `${PROJECT_CATALOG}.${doubleQuoted(schema)}`
const nameOf = ({ schema, name }: Omit<View, 'select'>): string => `${schemaOf(schema)}.${doubleQuoted(name)}`

async function run(open: Session, message: RunMessage): Promise<StatementEnd> {
  bytesBefore = 0
  const prepared = await prepare(open, message)
  const columns = columnsOf(prepared)
  const parameters = Array.from({ length: prepared.parameterCount }, (_, i) => parameterType(prepared, i + 1))
  const sendShape = (shown = columns) => {
    hasResult = true
    send({ type: 'columns', columns: shown, parameters })
  }
  if (message.output === 'columns') {
    sendShape(isResult(prepared) ? columns : [])
    return { rows: null, changedRows: null }
  }
  if (isText(message.output) && message.isQuery && prepared.statementType === SELECT) {
    sendShape()
    if (message.output === 'postgres' && message.hasFewRows && message.limit === undefined)
      return writeFewRows(open, message.sql, prepared, columns)
    const copy = copyStatement(message, message.output, columns, open.settings.fifo)
    bytesBefore = Buffer.byteLength(copy.slice(0, copy.indexOf(message.sql)))
    const copied = await open.connection.run(copy)
    return { rows: copied.rowsChanged, changedRows: null }
  }
  bindValues(prepared, message.values)
  const result = await prepared.stream()
  if (result.returnType !== ResultReturnType.QUERY_RESULT) {
    const [first] = await result.fetchAllChunks()
    if (result.returnType === ResultReturnType.CHANGED_ROWS) return { rows: null, changedRows: result.rowsChanged }
    const counted = first?.getRows()[0]?.[0] // CREATE TABLE AS counts its rows, other statements without a result answer nothing
    return { rows: null, changedRows: null, ...(typeof counted === 'bigint' && { createdRows: Number(counted) }) }
  }
  sendShape()
  if (message.output === 'names') return sendNames(result)
  const isPlan = prepared.statementType === EXPLAIN // names the files that are read
  if (message.output === 'rows') return sendRows(result, message.limit, isPlan ? pathless : plain)
  if (message.output === 'parquet') throw noQuery()
  const toPlain = isPlan ? pathless : message.output === 'postgres' ? postgresPlain : plain
  return writeRows(batchesOf(result, message.limit, toPlain), columns, message.output, open.out)
}

/** DuckDB splits some statements: a PIVOT first queries its columns. All but the last run here. */
async function prepare(open: Session, { sql, isQuery }: RunMessage): Promise<DuckDBPreparedStatement> {
  const { connection, settings } = open
  const parts = await connection.extractStatements(sql)
  open.hasLeftovers ||= parts.count > 1 || (settings.mode === 'write' && TEMPORARY.test(sql))
  for (let i = 0; ; i++) {
    const prepared = await parts.prepare(i)
    const isLast = i >= parts.count - 1
    if (isLast || isQuery) checkKind(prepared.statementType, settings.mode)
    if (isLast) return prepared
    await prepared.run()
  }
}

/** What may make something that lasts as long as its connection. */
const TEMPORARY = /\b(temp|temporary|pg_temp)\b/i

function checkKind(kind: StatementType, mode: 'read' | 'write'): void {
  if (ALLOWED[mode].includes(kind)) return
  const reason = mode === 'read' ? 'a query reads tables of the project and changes nothing' : 'SQL here works on tables only'
  throw new PlatformError('sql.notAllowed', { what: StatementType[kind], reason, position: 1 })
}

const noQuery = () =>
  new PlatformError('sql.notAllowed', {
    what: 'This statement',
    reason: 'a Parquet file is made of the rows of a query',
    position: 1,
  })

const columnsOf = (prepared: DuckDBPreparedStatement): SqlColumn[] =>
  Array.from({ length: prepared.columnCount }, (_, i) => ({
    name: prepared.columnName(i),
    type: prepared.columnTypeId(i) === DuckDBTypeId.INVALID ? UNKNOWN : typeName(prepared.columnType(i)),
  }))

/** JSON is a text with another name to DuckDB. */
const typeName = (type: DuckDBType): string => (type.alias === 'JSON' ? 'JSON' : String(type))

/** DuckDB gives up on the type of a parameter that nothing in the statement decides. */
function parameterType(prepared: DuckDBPreparedStatement, i: number): string {
  return prepared.parameterTypeId(i) === DuckDBTypeId.INVALID ? UNKNOWN : typeName(prepared.parameterType(i))
}

/** A statement that changes rows has a column for their number, which is not a result. */
const isResult = (prepared: DuckDBPreparedStatement): boolean => {
  if ([SELECT, EXPLAIN].includes(prepared.statementType)) return true
  const isChange = [INSERT, UPDATE, DELETE, MERGE_INTO].includes(prepared.statementType)
  return isChange && (prepared.columnCount !== 1 || prepared.columnName(0) !== 'Count') // RETURNING
}

// ------------------------------------------------------------------------------------------------------------ text, by DuckDB

function copyStatement({ sql, limit }: RunMessage, format: CopyFormat, columns: readonly SqlColumn[], fifo: string): string {
  const upTo = limit === undefined ? '' : ` LIMIT ${limit}`
  const csvOptions = 'FORMAT csv, HEADER true, USE_TMP_FILE false'
  if (format === 'csv' && !columns.some(({ type }) => isFraction(type)))
    return `COPY (FROM (${sql}\n)${upTo}) TO ${singleQuoted(fifo)} (${csvOptions})`
  const parquetOptions = `FORMAT parquet, ${dictionaryBytes(columns.length)}, USE_TMP_FILE false`
  if (format === 'parquet') return `COPY (FROM (${sql}\n)${upTo}) TO ${singleQuoted(fifo)} (${parquetOptions})`
  const from = `FROM (${sql}\n) q(${columns.map((_, i) => `c${i}`).join(', ')})${upTo}`
  if (format === 'csv') {
    const value = (type: string, c: string) => (isFraction(type) ? fractionText(c) : c)
    const list = columns.map(({ name, type }, i) => `${value(type, `c${i}`)} AS ${doubleQuoted(name)}`)
    return `COPY (SELECT ${list.join(', ')} ${from}) TO ${singleQuoted(fifo)} (${csvOptions})`
  }
  if (format === 'postgres')
    return `COPY (SELECT ${columns.map(postgresValue).join(', ')} ${from}) TO ${singleQuoted(fifo)} (${COPY_TEXT}, USE_TMP_FILE false)`
  const select = `SELECT json_array(${columns.map(jsonValue).join(', ')}) ${from}`
  // JSON text has no line breaks and no control characters: without quotes and with a delimiter that cannot occur each line is one array.
  const raw = String.raw`FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER e'\x01'`
  return `COPY (${select}) TO ${singleQuoted(fifo)} (${raw}, USE_TMP_FILE false)`
}

/** JSON has no NaN and no Infinity, which DuckDB would write; decimals, which it would round, and huge integers go as text. */
function jsonValue({ type }: SqlColumn, i: number): string {
  if (isFraction(type)) return fractionText(`c${i}`)
  if (/^(DECIMAL|U?HUGEINT|BIGNUM)/.test(type)) return `c${i}::VARCHAR`
  if (type === 'DOUBLE' || type === 'FLOAT')
    return `CASE WHEN isfinite(c${i}) THEN to_json(c${i}) ELSE to_json(c${i}::VARCHAR) END`
  return /DOUBLE|FLOAT|DECIMAL/.test(type) ? `c${i}::VARCHAR` : `c${i}`
}

/** DuckDB writes `.5` for a decimal that has all its digits behind the point; other databases do not. */
const isFraction = (type: string): boolean => /^DECIMAL\((\d+),\1\)$/.test(type)
const fractionText = (c: string): string => `regexp_replace(${c}::VARCHAR, '^(-?)(\\.)', '\\10\\2')`

/** No value has a delimiter in it, so that none needs quotes. */
const COPY_TEXT = String.raw`FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER e'\t', NULLSTR '\N'`

/** A value as PostgreSQL writes it, in the text format of its COPY. */
function postgresValue({ type }: SqlColumn, i: number): string {
  const element = elementType(type)
  if (element !== undefined) return escaped(arrayText(element, `c${i}`))
  const text = postgresText(type, `c${i}`)
  return isSafe(type) ? text : escaped(text)
}

/** Whose text has nothing in it that COPY would have to escape. */
const isSafe = (type: string): boolean =>
  /^(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL\(\d+,\d+\)|BIGNUM|UUID|BOOLEAN|DOUBLE|FLOAT|DATE|TIMESTAMP.*|INTERVAL)$/.test(
    type,
  )

/** A value as PostgreSQL writes it. */
function postgresText(type: string, c: string): string {
  if (isFraction(type)) return fractionText(c)
  if (/^(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL\(\d+,\d+\)|BIGNUM|UUID)$/.test(type)) return c
  if (type === 'BOOLEAN') return `CASE ${c} WHEN true THEN 't' WHEN false THEN 'f' END`
  if (type === 'DOUBLE' || type === 'FLOAT')
    return `CASE WHEN isfinite(${c}) THEN ${c}::VARCHAR WHEN isnan(${c}) THEN 'NaN' WHEN ${c} > 0 THEN 'Infinity' WHEN ${c} < 0 THEN '-Infinity' END`
  if (/^TIMESTAMP_(S|MS|NS)$/.test(type)) return postgresTime(`${c}::TIMESTAMP`)
  if (/^(DATE|TIMESTAMP( WITH TIME ZONE)?)$/.test(type)) return postgresTime(c)
  if (type === 'INTERVAL') return `replace(${c}::VARCHAR, 'month', 'mon')`
  if (type === 'BLOB') return `'\\x' || lower(hex(${c}))`
  return /[\])]$/.test(type) && !type.startsWith('ENUM') ? `to_json(${c})::VARCHAR` : `${c}::VARCHAR`
}

/** Types whose lists are arrays of PostgreSQL; the others are JSON. */
const ELEMENT =
  /^(BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|JSON|BLOB|UUID|DATE|TIME( WITH TIME ZONE)?|TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?|INTERVAL)$/

function elementType(type: string): string | undefined {
  const element = type.endsWith('[]') ? type.slice(0, -2) : ''
  return ELEMENT.test(element) ? element : undefined
}

/** `{1,NULL,"a b"}` */
function arrayText(element: string, c: string): string {
  const text = `(${postgresText(element, 'e')})::VARCHAR`
  const quoted = `'"' || replace(replace(${text}, '\\', '\\\\'), '"', '\\"') || '"'`
  const isPlain = `regexp_full_match(${text}, '[A-Za-z0-9_.:+-]+') AND lower(${text}) <> 'null'`
  const value = `CASE WHEN e IS NULL THEN 'NULL' WHEN ${isPlain} THEN ${text} ELSE ${quoted} END`
  return `('{' || array_to_string(list_transform(${c}, lambda e: ${value}), ',') || '}')`
}

const postgresTime = (c: string): string =>
  `CASE WHEN ${c} >= '0001-01-01' THEN ${c}::VARCHAR ELSE regexp_replace(${c}::VARCHAR, '^(.*?) \\(BC\\)(.*)$', '\\1\\2 BC') END`

/** Four looks at each text are cheaper than four replacements or an expression, and few texts need more. */
const escaped = (text: string): string => {
  const replaced = ESCAPES.reduce((sql, [character, code]) => `replace(${sql}, ${character}, '${code}')`, text)
  const isSpecial = ESCAPES.map(([character]) => `contains(${text}, ${character})`).join(' OR ')
  return `CASE WHEN ${isSpecial} THEN ${replaced} ELSE ${text} END`
}

/** The backslash first: the others add some. */
const ESCAPES = [
  [`'\\'`, '\\\\'],
  ['chr(9)', '\\t'],
  ['chr(10)', '\\n'],
  ['chr(13)', '\\r'],
] as const

// ------------------------------------------------------------------------------------------------------------- rows, decoded here

async function sendRows(result: DuckDBResult, limit = Number.POSITIVE_INFINITY, toPlain = plain): Promise<StatementEnd> {
  credits = BATCHES_AHEAD
  let rows = 0
  for await (const batch of batchesOf(result, limit, toPlain)) {
    if (credits === 0 && !interrupting)
      await new Promise<void>((resolve) => {
        onCredit = resolve
      })
    if (interrupting) throw new PlatformError('sql.cancelled')
    credits--
    rows += batch.length
    send({ type: 'rows', rows: batch })
  }
  return { rows, changedRows: null }
}

async function sendNames(result: DuckDBResult): Promise<StatementEnd> {
  const [[text]] = (await Array.fromAsync(batchesOf(result))).flat() as [SqlValue[]] // to its end, which lets go of the database
  const parsed = readTree(text)
  const names = typeof parsed === 'string' ? parsed : namesIn(parsed.tree)
  const count = typeof names === 'string' ? 0 : Object.values(names).reduce((sum, { length }) => sum + length, 0)
  if (count > MAX_NAMES) throw new PlatformError('sql.tooManyNames', { count, limit: MAX_NAMES })
  send({ type: 'rows', rows: [[JSON.stringify(names)]] })
  return { rows: 1, changedRows: null }
}

/** Text for PostgreSQL of few rows, one row at a time: expressions that write and escape all values cost DuckDB more than such a query. */
async function writeFewRows(
  open: Session,
  sql: string,
  prepared: DuckDBPreparedStatement,
  columns: readonly SqlColumn[],
): Promise<StatementEnd> {
  const isPlainText = columns.every(({ type }) => PLAIN_TEXT.test(type))
  const head = `SELECT ${columns.map(({ type }, i) => unescapedValue(type, `c${i}`)).join(', ')} FROM (`
  if (!isPlainText) bytesBefore = Buffer.byteLength(head)
  const names = columns.map((_, i) => `c${i}`).join(', ')
  const result = isPlainText ? await prepared.stream() : await open.connection.stream(`${head}${sql}\n) q(${names})`)
  let rows = 0
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    const vectors = Array.from({ length: chunk.columnCount }, (_, i) => chunk!.getColumnVector(i))
    for (let row = 0; row < chunk.rowCount; row++) {
      if (interrupting) throw new PlatformError('sql.cancelled')
      writeAll(open.out, `${vectors.map((vector) => copyValue(plain(vector.getItem(row)))).join('\t')}\n`)
    }
    rows += chunk.rowCount
  }
  return { rows, changedRows: null }
}

/** Types whose values are the same text here as in DuckDB. */
const PLAIN_TEXT = /^(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|BOOLEAN|VARCHAR|JSON)$/

function unescapedValue(type: string, c: string): string {
  if (PLAIN_TEXT.test(type)) return c
  const element = elementType(type)
  return element === undefined ? `(${postgresText(type, c)})::VARCHAR` : arrayText(element, c)
}

/** The way out for statements that COPY does not take, such as EXPLAIN: short results. */
async function writeRows(
  batches: AsyncIterable<SqlValue[][]>,
  columns: readonly SqlColumn[],
  format: keyof typeof LINES,
  out: number,
): Promise<StatementEnd> {
  const line = LINES[format]
  if (format === 'csv') writeSync(out, `${columns.map(({ name }) => csvValue(name)).join(',')}\n`)
  let rows = 0
  for await (const batch of batches) {
    rows += batch.length
    writeAll(out, batch.map((row) => `${line(row)}\n`).join(''))
  }
  return { rows, changedRows: null }
}

const LINES: Readonly<Record<Exclude<CopyFormat, 'parquet'>, (row: readonly SqlValue[]) => string>> = {
  csv: (row) => row.map(csvValue).join(','),
  json: (row) => jsonLine(row),
  postgres: (row) => row.map(copyValue).join('\t'),
}

const COPY_CODES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function copyValue(value: SqlValue): string {
  if (value === null) return '\\N'
  if (typeof value === 'boolean') return value ? 't' : 'f'
  return String(value).replace(/[\\\t\n\r]/g, (character) => COPY_CODES[character] ?? character)
}

function writeAll(out: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(out, bytes, at)
}

const jsonLine = (row: readonly SqlValue[]): string =>
  `[${row.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))).join(',')}]`

const csvValue = (value: SqlValue): string => {
  if (value === null) return ''
  const text = String(value)
  return text === '' || /[",\r\n]/.test(text) ? doubleQuoted(text) : text
}

async function* batchesOf(result: DuckDBResult, limit = Number.POSITIVE_INFINITY, toPlain = plain): AsyncGenerator<SqlValue[][]> {
  for (let left = limit; left > 0; ) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) return
    const columns = Array.from({ length: chunk.columnCount }, (_, i) => chunk.getColumnValues(i).map(toPlain))
    const size = Math.min(chunk.rowCount, left)
    left -= size
    yield Array.from({ length: size }, (_, row) => columns.map((column) => column[row] ?? null))
  }
}

/** The few kinds of values that cross the channel; the others go as DuckDB writes them. */
function plain(value: DuckDBValue): SqlValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  return typeof value === 'bigint' || typeof value === 'boolean' ? value : String(value)
}

const pathless = (value: DuckDBValue): SqlValue => {
  const shown = plain(value)
  return typeof shown === 'string' ? shown.replaceAll(PATHS, '(file)') : shown
}

const postgresPlain = (value: DuckDBValue): SqlValue => {
  if (value instanceof DuckDBListValue && value.items.every(isPlainElement)) return `{${value.items.map(arrayElement).join()}}`
  return value instanceof DuckDBBlobValue ? `\\x${Buffer.from(value.bytes).toString('hex')}` : plain(value)
}

const isPlainElement = (value: DuckDBValue): boolean =>
  ![DuckDBListValue, DuckDBStructValue, DuckDBMapValue].some((nested) => value instanceof nested)

function arrayElement(value: DuckDBValue): string {
  const shown = postgresPlain(value)
  if (shown === null) return 'NULL'
  return typeof shown === 'string' ? `"${shown.replaceAll(/["\\]/g, '\\$&')}"` : copyValue(shown)
}

function bindValues(prepared: DuckDBPreparedStatement, values: readonly SqlValue[]): void {
  if (prepared.parameterCount !== values.length)
    throw new PlatformError('sql.failed', {
      message: `The statement has ${prepared.parameterCount} parameters; ${values.length} values were given.`,
    })
  for (const [i, value] of values.entries()) {
    if (value === null) prepared.bindNull(i + 1)
    else if (typeof value === 'string') prepared.bindVarchar(i + 1, value)
    else if (typeof value === 'boolean') prepared.bindBoolean(i + 1, value)
    else if (typeof value === 'bigint') prepared.bindBigInt(i + 1, value)
    else prepared.bindDouble(i + 1, value)
  }
}

// ------------------------------------------------------------------------------------------------------------- errors, memory

/** DuckDB keeps to its share, but not everything it does is counted: a process that outgrows its limit ends, not the machine. */
function watchMemory(): NodeJS.Timeout {
  const watch = setInterval(() => {
    const limits = session?.settings.limits
    if (!limits || rssMb() <= limits.memoryMb) return
    clearInterval(watch)
    const failed: FromWorker = { type: 'failed', error: portable(tooMuch('its process outgrew the limit')), rssMb: rssMb() }
    process.send?.(failed, () => process.kill(process.pid, 'SIGKILL'))
  }, WATCH_MS)
  return watch
}

function tooMuch(reason: string): PlatformError {
  const { memoryMb = 0, diskMb = 0 } = session?.settings.limits ?? {}
  return new PlatformError('sql.tooMuch', { memoryMb, diskMb, reason })
}

interface DuckDbError {
  readonly exception_type?: string
  readonly exception_message?: string
  readonly position?: string
}

function portable(error: unknown): WorkerError {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (error instanceof PlatformError) return { code: error.code, details: error.details, cause }
  const { exception_type: kind, exception_message: said, position } = readError(error)
  if (kind === 'Out of Memory') {
    const { code, details } = tooMuch(/temp|disk/i.test(said) ? 'its temporary files are full' : 'its memory is full')
    return { code, details, cause }
  }
  if (/No space left on device|Disk quota exceeded/i.test(said)) return { code: 'sql.diskFull', details: {}, cause }
  if (kind === 'INTERRUPT') return { code: 'sql.cancelled', details: {}, cause }
  const message = `${kind ? `${kind} Error: ` : ''}${withoutPaths(said)}`
  const at = Number(position) - bytesBefore
  return { code: 'sql.failed', details: { message }, cause, ...(at >= 0 && { position: at }) }
}

function readError(error: unknown): {
  exception_type: string | undefined
  exception_message: string
  position: string | undefined
} {
  const text = error instanceof Error ? error.message : String(error)
  const start = text.indexOf('{')
  try {
    const { exception_type, exception_message, position } = JSON.parse(text.slice(start)) as DuckDbError
    return { exception_type, exception_message: exception_message ?? text, position }
  } catch {
    return { exception_type: undefined, exception_message: text.split('\n')[0] ?? '', position: undefined }
  }
}

/** Paths of this machine are the log's business. */
const PATHS = /"?(?:\/[\w.-]+){2,}"?/g
const withoutPaths = (text: string): string => text.replace(PATHS, '(file)').slice(0, 2000)

const send = (message: FromWorker): void => {
  process.send?.(message, () => {}) // a parent that is gone does not listen, and the disconnect ends this process
}
const rssMb = (): number => process.memoryUsage.rss() / (1 << 20)
