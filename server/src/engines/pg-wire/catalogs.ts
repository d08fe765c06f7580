// Catalogues of PostgreSQL, each in a process of its own that starts on demand and ends when idle. Few at once: each takes
// about half a gigabyte.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { compileCacheVariable } from '../../kit/compile-cache.ts'
import { doubleQuoted } from '../../kit/text/double-quoted.ts'
import { singleQuoted } from '../../kit/text/single-quoted.ts'
import { formatOf, frame, int16, int32, reader } from './messages.ts'
import { type Format, type WireColumn, WireError } from './wire-session.ts'

const WORKER_FILE = fileURLToPath(new URL('./catalog-worker.ts', import.meta.url))
const ANSWER_MS = 60_000
/** A start takes three seconds of a processor, which is minutes on a machine that is busy. */
const START_MS = 300_000
/** The id of the message of a process that has started. */
export const STARTED = 0
/** Of a workspace; there before its first table is. */
const OWN_SCHEMA = 'main'

export interface CatalogTable {
  readonly schema: string
  readonly name: string
  /** Changes whenever the table must be defined again. */
  readonly version: string
  readonly columns: readonly { readonly name: string; readonly type: string; readonly nullable: boolean }[]
  readonly primaryKey: readonly string[]
  readonly isView?: boolean
  /** The number of the connection that alone sees it, in PostgreSQL's own schema for such tables. */
  readonly temporaryOf?: number
}

export interface CatalogQuestion {
  readonly sql: string
  /** The name of the database as the client sees it. */
  readonly database: string
  /** Schemas where names without one are looked for. */
  readonly searchPath: readonly string[]
  readonly types: readonly number[]
  readonly values: readonly (string | null)[]
  readonly formats: readonly Format[]
}

export interface CatalogAnswer {
  readonly columns: readonly WireColumn[] | undefined
  readonly parameters: readonly number[]
  /** Frames of rows. */
  readonly rows: Buffer
  readonly tag: string
}

export interface Catalog {
  /** Answers as a database would that has these tables and no others. */
  ask(tables: readonly CatalogTable[], question: CatalogQuestion): Promise<CatalogAnswer>
  /** Parameters and columns without an answer. */
  describe(
    tables: readonly CatalogTable[],
    question: Pick<CatalogQuestion, 'sql' | 'database' | 'searchPath' | 'types'>,
  ): Promise<Pick<CatalogAnswer, 'columns' | 'parameters'>>
}

export interface Question {
  readonly settings: string
  readonly messages: readonly Uint8Array[]
}

export interface ToCatalog {
  readonly id: number
  /** Definitions to change before the query; empty for none. */
  readonly define: string
  readonly ask: Question
}

/** With STARTED as its id: ready for queries. */
export type FromCatalog = { readonly id: number } & ({ readonly frames: Uint8Array } | { readonly error: string })

export interface CatalogsSettings {
  /** Processes at once; the least recently used one is stopped first. Default 3. */
  readonly max?: number
  /** Default 5 minutes. */
  readonly idleMs?: number
}

export type Catalogs = ReturnType<typeof createCatalogs>

export function createCatalogs({ max = 3, idleMs = 300_000 }: CatalogsSettings = {}) {
  /** In the order of their last use. */
  const open = new Map<string, CatalogProcess>()
  let isClosed = false

  /** A process that is ended by the system while it starts is replaced once: a start takes twice the memory it needs later. */
  function get(key: string): Catalog {
    const asking = async <T>(work: (catalog: Catalog) => Promise<T>): Promise<T> => {
      try {
        return await work(processOf(key))
      } catch (error) {
        if (!(error instanceof EndedAtStart) || isClosed) throw error
        return await work(processOf(key))
      }
    }
    return {
      ask: (tables, question) => asking((catalog) => catalog.ask(tables, question)),
      describe: (tables, question) => asking((catalog) => catalog.describe(tables, question)),
    }
  }

  function processOf(key: string): CatalogProcess {
    const found = open.get(key)
    const catalog = found && !found.isGone() ? found : startCatalog(idleMs)
    open.delete(key)
    open.set(key, catalog)
    for (const [other, { isBusy, end }] of open) {
      if (open.size <= max) break
      if (other === key || isBusy()) continue
      open.delete(other)
      end()
    }
    return catalog
  }

  return {
    get,
    pids: (): number[] => [...open.values()].flatMap(({ pid }) => pid() ?? []),
    close: async (): Promise<void> => {
      isClosed = true
      for (const { end } of open.values()) end()
      open.clear()
    },
  }
}

class EndedAtStart extends WireError {}

interface CatalogProcess extends Catalog {
  isBusy(): boolean
  isGone(): boolean
  pid(): number | undefined
  end(): void
}

function startCatalog(idleMs: number): CatalogProcess {
  const child: ChildProcess = fork(WORKER_FILE, {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Nothing of the server's, which may hold secrets.
    env: { TZ: 'UTC', ...compileCacheVariable() },
  })
  const waiting = new Map<number, (answer: FromCatalog) => void>()
  const known = new Map<string, CatalogTable>()
  const temporaries = createTemporaries()
  let named = ''
  let isGone = false
  /** Questions that are not answered yet. */
  let pending = 0
  let number = 0
  let idle = setTimeout(end, idleMs).unref()

  const starting = new Promise<boolean>((resolve) => {
    child.on('message', (answer: FromCatalog) => (answer.id === STARTED ? resolve(true) : waiting.get(answer.id)?.(answer)))
    for (const event of ['error', 'exit'])
      child.on(event, () => {
        gone()
        resolve(false)
      })
  })
  const late = setTimeout(end, START_MS)
  void starting.then(() => clearTimeout(late))

  function gone(): void {
    isGone = true
    clearTimeout(idle)
    for (const [id, resolve] of waiting) resolve({ id, error: 'the process ended' })
  }

  function end(): void {
    isGone = true
    child.kill('SIGKILL')
  }

  async function send(message: Omit<ToCatalog, 'id'>): Promise<Buffer> {
    const id = ++number
    clearTimeout(idle)
    if (pending++ === 0 && !isGone) refer(child, true)
    let timer: NodeJS.Timeout | undefined
    try {
      if (!(await starting)) throw new EndedAtStart('58000', 'The catalogue did not start. Ask again.')
      timer = setTimeout(end, ANSWER_MS)
      const answer = await new Promise<FromCatalog>((resolve) => {
        if (isGone) return resolve({ id, error: 'the process ended' })
        waiting.set(id, resolve)
        child.send({ id, ...message }, () => {}) // a closed channel is followed by the exit
      })
      if ('error' in answer) {
        end() // its definitions may be incomplete
        throw new WireError('58000', `The catalogue did not answer: ${answer.error}. Ask again.`)
      }
      return Buffer.from(answer.frames)
    } finally {
      clearTimeout(timer)
      waiting.delete(id)
      if (--pending === 0 && !isGone) {
        refer(child, false)
        idle = setTimeout(end, idleMs).unref()
      }
    }
  }

  /** What has to change for the catalogue to show these tables; from then on it counts as done, since messages keep their order. */
  function changesFor(tables: readonly CatalogTable[], database: string, searchPath: readonly string[]): string {
    const wanted = new Map(tables.map((table) => [qualified(table), table]))
    const gone = [...known].filter(([name, { version }]) => wanted.get(name)?.version !== version)
    const added = [...wanted].filter(([name, { version }]) => known.get(name)?.version !== version)
    const schemas = new Set([...tables.map(({ schema }) => schema), ...searchPath.filter((schema) => schema === OWN_SCHEMA)])
    const emptied = new Set([...gone.map(([, { schema }]) => schema), OWN_SCHEMA].filter((schema) => !schemas.has(schema)))
    for (const [name] of gone) known.delete(name)
    for (const [name, table] of added) known.set(name, table)
    const isRenamed = named !== database
    named = database
    return [
      ...(isRenamed ? [RENAME_DATABASE(cut(database))] : []),
      ...gone.map(([name, { isView }]) => `DROP ${isView ? 'VIEW' : 'TABLE'} IF EXISTS ${name};`),
      ...[...emptied].map((schema) => `DROP SCHEMA IF EXISTS ${doubleQuoted(schema)};`),
      ...[...new Set([...added.map(([, { schema }]) => schema), ...[...schemas].filter((schema) => schema === OWN_SCHEMA)])].map(
        (schema) => `CREATE SCHEMA IF NOT EXISTS ${doubleQuoted(schema)};`,
      ),
      ...added.map(([name, table]) =>
        table.isView
          ? `CREATE OR REPLACE VIEW ${name} AS SELECT ${viewColumns(table)};`
          : `CREATE TABLE IF NOT EXISTS ${name} (${definitions(table)});`,
      ),
    ].join('\n')
  }

  const questionOf = (shown: string, searchPath: readonly string[], ...messages: Buffer[]): Question => ({
    settings: [
      shown,
      'SET TRANSACTION READ ONLY;',
      `SET LOCAL search_path TO ${[...searchPath, 'public'].map(doubleQuoted).join(', ')}`,
    ].join('\n'),
    messages: [...messages, frame('S')],
  })

  /** Definitions to change, and what the question needs besides. */
  function prepared(tables: readonly CatalogTable[], database: string, searchPath: readonly string[]) {
    const lasting = tables.filter(({ temporaryOf }) => temporaryOf === undefined)
    const changes = changesFor(lasting, database, searchPath)
    const { define, shown } = temporaries.changesFor(tables.filter(({ temporaryOf }) => temporaryOf !== undefined))
    return { define: [changes, define].filter((part) => part !== '').join('\n'), shown }
  }

  return {
    isBusy: () => pending > 0,
    isGone: () => isGone,
    pid: () => (isGone ? undefined : child.pid),
    end,
    ask: async (tables, { sql, database, searchPath, types, values, formats }) => {
      const messages = [parse(sql, types), bind(values, formats), DESCRIBE_PORTAL, frame('E', text(''), int32(0))]
      const { define, shown } = prepared(tables, database, searchPath)
      return answerFrom(await send({ define, ask: questionOf(shown, searchPath, ...messages) }))
    },
    describe: async (tables, { sql, database, searchPath, types }) => {
      const { define, shown } = prepared(tables, database, searchPath)
      return answerFrom(await send({ define, ask: questionOf(shown, searchPath, parse(sql, types), DESCRIBE_STATEMENT) }))
    },
  }
}

/** Temporary tables of other connections whose definitions are kept. */
const MAX_OTHERS = 100

/**
 * Temporary tables are tables of the one session that the catalogue has, each under a name with its connection in front: their numbers
 * (oid) stay, since clients read a table by name first and then by number. In the transaction of a question those of its connection get
 * their names, and the others are dropped; the transaction is rolled back.
 */
function createTemporaries() {
  /** In the order of their last question. */
  const byConnection = new Map<number, ReadonlyMap<string, CatalogTable>>()
  const stored = ({ temporaryOf, name }: CatalogTable): string => doubleQuoted(cut(`${temporaryOf} ${name}`))
  const kind = ({ isView }: CatalogTable): string => (isView ? 'VIEW' : 'TABLE')
  const drop = (table: CatalogTable): string => `DROP ${kind(table)} pg_temp.${stored(table)};`
  const create = (table: CatalogTable): string =>
    table.isView
      ? `CREATE TEMP VIEW ${stored(table)} AS SELECT ${viewColumns(table)};`
      : `CREATE TEMP TABLE ${stored(table)} (${definitions(table)});`

  /** Those of the connections whose last question is oldest, while there are too many. */
  function* forgotten(except: number | undefined): Generator<CatalogTable> {
    const count = () => [...byConnection].reduce((sum, [id, { size }]) => sum + (id === except ? 0 : size), 0)
    for (const [id, tables] of [...byConnection]) {
      if (count() <= MAX_OTHERS) return
      if (id === except) continue
      byConnection.delete(id)
      yield* tables.values()
    }
  }

  return {
    changesFor: (tables: readonly CatalogTable[]): { readonly define: string; readonly shown: string } => {
      const connection = tables[0]?.temporaryOf
      const wanted = new Map(tables.map((table) => [stored(table), table]))
      const known = connection === undefined ? undefined : byConnection.get(connection)
      const gone = [...(known ?? [])].filter(([name, { version }]) => wanted.get(name)?.version !== version)
      const added = [...wanted].filter(([name, { version }]) => known?.get(name)?.version !== version)
      if (connection !== undefined) {
        byConnection.delete(connection)
        byConnection.set(connection, wanted)
      }
      const old = [...forgotten(connection), ...gone.map(([, table]) => table)]
      const others = [...byConnection].flatMap(([id, kept]) => (id === connection ? [] : [...kept.values()]))
      const named = new Map([...wanted.values()].map((table) => [cut(table.name), table]))
      const renamed = [...named].map(
        ([name, table]) => `ALTER ${kind(table)} pg_temp.${stored(table)} RENAME TO ${doubleQuoted(name)};`,
      )
      return {
        define: [...old.map(drop), ...added.map(([, table]) => create(table))].join('\n'),
        shown: [...others.map(drop), ...renamed].join('\n'),
      }
    },
  }
}

/** An idle process does not keep the server alive. */
function refer(child: ChildProcess, isKept: boolean): void {
  for (const held of [child, child.channel]) isKept ? held?.ref() : held?.unref()
}

/** PostgreSQL cuts names at 63 bytes; a table that is then named as another is left out. */
const qualified = ({ schema, name }: CatalogTable): string => `${doubleQuoted(cut(schema))}.${doubleQuoted(cut(name))}`
const cut = (name: string): string =>
  Buffer.from(name)
    .subarray(0, 63)
    .toString()
    .replace(/\ufffd$/, '')

/** The database that the process is in cannot be renamed by ALTER DATABASE. */
const RENAME_DATABASE = (name: string): string =>
  `UPDATE pg_catalog.pg_database SET datname = ${singleQuoted(name)} WHERE datname = current_database();`

/** Most columns of a table, and of a key. */
const [MAX_COLUMNS, MAX_OF_KEY] = [1600, 32]

const keptColumns = (columns: CatalogTable['columns']) => [
  ...new Map(columns.slice(0, MAX_COLUMNS).map((column) => [cut(column.name), column])),
]

/** A view of no rows: the catalogue has none anyway. */
const viewColumns = ({ columns }: CatalogTable): string =>
  keptColumns(columns)
    .map(([name, { type }]) => `NULL::${type} AS ${doubleQuoted(name)}`)
    .join(', ')

function definitions({ columns, primaryKey }: CatalogTable): string {
  const kept = keptColumns(columns)
  const key = primaryKey.map(cut)
  const hasKey = key.length > 0 && key.length <= MAX_OF_KEY && key.every((name) => kept.some(([other]) => other === name))
  return [
    ...kept.map(([name, { type, nullable }]) => `${doubleQuoted(name)} ${type}${nullable ? '' : ' NOT NULL'}`),
    ...(hasKey ? [`PRIMARY KEY (${key.map(doubleQuoted).join(', ')})`] : []),
  ].join(', ')
}

// -------------------------------------------------------------------------------------------------------- messages of a client

const text = (value: string): Buffer => Buffer.from(`${value}\0`)
const DESCRIBE_PORTAL = frame('D', Buffer.from('P'), text(''))
const DESCRIBE_STATEMENT = frame('D', Buffer.from('S'), text(''))

/** Columns that newer versions of PostgreSQL have by another name, and clients of older ones query: psql 15 and 16 for `\\l`. */
const withNewNames = (sql: string): string => sql.replaceAll(/\bdaticulocale\b/g, 'datlocale')

const parse = (sql: string, types: readonly number[]): Buffer =>
  frame('P', text(''), text(withNewNames(sql)), int16(types.length), ...types.map(int32))

const bind = (values: readonly (string | null)[], formats: readonly Format[]): Buffer =>
  frame(
    'B',
    text(''),
    text(''),
    int16(0),
    int16(values.length),
    ...values.flatMap((value) => (value === null ? [int32(-1)] : [int32(Buffer.byteLength(value)), Buffer.from(value)])),
    int16(formats.length),
    ...formats.map((_, i) => int16(formatOf(formats, i))),
  )

function answerFrom(frames: Buffer): CatalogAnswer {
  let columns: WireColumn[] | undefined
  let parameters: number[] = []
  let tag = ''
  const rows: Buffer[] = []
  for (let at = 0; at < frames.length; ) {
    const end = at + 1 + frames.readInt32BE(at + 1)
    const kind = String.fromCharCode(frames[at] ?? 0)
    const read = reader(frames.subarray(at + 5, end))
    if (kind === 'E') throw errorFrom(read)
    if (kind === 'T') columns = Array.from({ length: read.int16() }, () => columnFrom(read))
    if (kind === 't') parameters = Array.from({ length: read.int16() }, read.int32)
    if (kind === 'D') rows.push(frames.subarray(at, end))
    if (kind === 'C') tag = read.text()
    at = end
  }
  return { columns, parameters, rows: Buffer.concat(rows), tag }
}

function columnFrom(read: ReturnType<typeof reader>): WireColumn {
  const name = read.text()
  read.bytes(6)
  const oid = read.int32()
  read.bytes(2)
  const modifier = read.int32()
  read.bytes(2)
  return { name, oid, modifier }
}

function errorFrom(read: ReturnType<typeof reader>): WireError {
  const fields: Record<string, string> = {}
  for (let kind = read.byte(); kind !== '\0'; kind = read.byte()) fields[kind] = read.text()
  const { C = '58000', M = 'The catalogue did not answer.', H, P } = fields
  return new WireError(C, M, { ...(H !== undefined && { hint: H }), ...(P !== undefined && { position: Number(P) }) })
}
