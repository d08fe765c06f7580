// One connection of a client: which statements it may send, and who answers each. Queries over tables run in the SQL engine, questions
// about tables are answered by a catalogue, and the rest (transactions, settings, cursors) is kept here.

import type { Catalog, CatalogAnswer, CatalogTable } from '../../../engines/pg-wire/catalogs.ts'
import { type CopyOptions, copyFrames, cutRows, rowFrames } from '../../../engines/pg-wire/rows.ts'
import { arrayTypeOf, OID } from '../../../engines/pg-wire/values.ts'
import {
  type Format,
  type WireColumn,
  WireError,
  type WirePortal,
  type WireResult,
  type WireSession,
  type WireStatement,
} from '../../../engines/pg-wire/wire-session.ts'
import type { SqlBytes, SqlSession, StatementOptions } from '../../../engines/sql/sql-engine.ts'
import { isQuery, placedStatements, type Statement, singleStatement, type TableName } from '../../../engines/sql/statements.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { doubleQuoted } from '../../../kit/text/double-quoted.ts'
import { dialectEdits } from './pg-dialect.ts'
import { type CopyInCommand, nameAt, readCopy, readCopyIn, readDeclare, readFetch } from './port-commands.ts'
import { copyInResult, createCopyIn } from './port-copy-in.ts'
import { placedIn } from './port-errors.ts'
import { literalEdits, parameterCount, untypedLists, withoutAny } from './port-parameters.ts'
import type { Runner, Taken } from './port-runners.ts'
import { createSavepoints, mayChange } from './port-savepoints.ts'
import { type PortSettings, readSet, SERVER_VERSION } from './port-settings.ts'
import { pgType, wireColumn } from './port-types.ts'
import { mayName, type Route, routeOf } from './statement-route.ts'
import { applyEdits, type EditedText, type TextEdit } from './text-edits.ts'

export interface PortSessionDeps {
  readonly runner: Runner
  readonly settings: PortSettings
  /** Throws if the client is no longer allowed to continue. */
  readonly check: () => Promise<void>
  /** Every table the client may read, for the catalogue and for names without a schema. */
  readonly listTables: (take: () => Promise<Taken>) => Promise<readonly CatalogTable[]>
  readonly catalog: () => Catalog
  /** The name that the client gave it. */
  readonly database: string
  readonly ended: Promise<WireError>
  readonly onClose: () => void
}

/** Texts whose route is remembered, and how long they may be. */
const MAX_ROUTES = 200
const MAX_ROUTE_LENGTH = 10_000
/** As PostgreSQL itself has it; clients count columns in 16 bits. */
const MAX_COLUMNS = 1664

/** What a statement is bound to. */
interface Bound {
  readonly values: readonly (string | null)[]
  /** Types that the client gives. */
  readonly types: readonly number[]
  readonly formats: readonly Format[]
  /** Types of the values; 0 or none if unknown. */
  readonly typesOfValues: () => Promise<readonly number[]>
}

const NOTHING_BOUND: Bound = { values: [], types: [], formats: [], typesOfValues: async () => [] }

interface Cursor {
  readonly isHeld: boolean
  readonly portal: WirePortal & { readonly result: (formats: readonly Format[]) => Promise<WireResult> }
  formats?: string
  rest: Buffer
}

export function createPortSession(deps: PortSessionDeps): WireSession {
  const { runner, settings } = deps
  const cursors = new Map<string, Cursor>()
  const routes = new Map<string, Route>()
  const savepoints = createSavepoints()
  let status: 'I' | 'T' | 'E' = 'I'

  // --------------------------------------------------------------------------------------------------------------- one statement

  async function parse(sql: string, types: readonly number[]): Promise<WireStatement> {
    await deps.check()
    const statement = await singleStatement(sql)
    if (status === 'E' && !ENDING.has(statement.keyword))
      throw new WireError('25P02', 'The transaction has failed; nothing runs in it before ROLLBACK.')
    const command = commands[statement.keyword]
    return command ? command(statement, types) : queryStatement(statement, types)
  }

  const commands: Readonly<
    Record<string, (statement: Statement, types: readonly number[]) => WireStatement | Promise<WireStatement>>
  > = {
    begin: () => effect('BEGIN', begin),
    start: () => effect('START TRANSACTION', begin),
    commit: () =>
      effect(
        () => (status === 'E' ? 'ROLLBACK' : 'COMMIT'),
        () => finish(status === 'E' ? 'rollback' : 'commit'),
      ),
    end: () =>
      effect(
        () => (status === 'E' ? 'ROLLBACK' : 'COMMIT'),
        () => finish(status === 'E' ? 'rollback' : 'commit'),
      ),
    rollback: (statement) => {
      const name = savepointOf(statement, 'to')
      if (name === undefined) return effect('ROLLBACK', () => finish('rollback'))
      return effect('ROLLBACK', () => rollBackTo(name))
    },
    abort: () => effect('ROLLBACK', () => finish('rollback')),
    savepoint: (statement) => {
      const name = nameAt(statement, 1)
      return effect('SAVEPOINT', () => inTransaction('SAVEPOINT', async () => savepoints.set(name)))
    },
    release: (statement) => {
      const name = savepointOf(statement, 'release') ?? nameAt(statement, 1)
      return effect('RELEASE', () => inTransaction('RELEASE SAVEPOINT', async () => savepoints.release(name)))
    },
    set: (statement) => {
      const given = readSet(statement)
      return effect('SET', async () => given && settings.set(given.name, given.value))
    },
    reset: (statement) => {
      const name = nameAt(statement, 1)
      return effect('RESET', async () => (name === 'all' ? settings.reset() : settings.set(name, undefined)))
    },
    show: showStatement,
    discard: () => effect('DISCARD ALL', closeCursors, 'all'),
    deallocate: (statement) => {
      const at = statement.tokens.lower(1) === 'prepare' ? 2 : 1
      const name = nameAt(statement, at)
      return effect('DEALLOCATE', async () => {}, name === 'all' ? 'all' : { name })
    },
    listen: () => {
      throw new WireError('0A000', 'LISTEN and NOTIFY are not supported.')
    },
    unlisten: () => effect('UNLISTEN', async () => {}),
    declare: declareStatement,
    fetch: (statement) => fetchStatement(statement, 'FETCH'),
    move: (statement) => fetchStatement(statement, 'MOVE'),
    close: (statement) => {
      const name = nameAt(statement, 1)
      return effect('CLOSE CURSOR', () => (name === 'all' ? closeCursors() : closeCursor(name)))
    },
    copy: async (statement) => {
      const into = await readCopyIn(statement)
      if (into) return copyInStatement(into)
      const { query, options } = await readCopy(statement)
      return queryStatement(await singleStatement(query), [], options)
    },
  }

  // ---------------------------------------------------------------------------------------------------------------- transactions

  async function begin(): Promise<void> {
    if (status !== 'I') return // PostgreSQL warns and goes on
    await runner.begin()
    savepoints.clear()
    status = 'T'
  }

  async function finish(how: 'commit' | 'rollback'): Promise<void> {
    for (const [name, { isHeld }] of cursors) if (!isHeld) await closeCursor(name)
    const wasOpen = status !== 'I'
    status = 'I'
    if (wasOpen) await runner[how]()
  }

  async function inTransaction(what: string, work: () => Promise<void>): Promise<void> {
    if (status === 'I') throw new WireError('25P01', `${what} is only used in a transaction. Send BEGIN first.`)
    await work()
  }

  const rollBackTo = (name: string) =>
    inTransaction('ROLLBACK TO SAVEPOINT', async () => {
      for (const [cursor, { isHeld }] of cursors) if (!isHeld) await closeCursor(cursor)
      const session = async () => {
        const { session, release } = await runner.take(new AbortController().signal)
        await release() // stays with the transaction
        return session
      }
      await savepoints.rollBackTo(name, session, runner.isReadOnly)
      status = 'T'
    })

  // ------------------------------------------------------------------------------------------------------------- COPY FROM STDIN

  function copyInStatement({ table, columns: names, options }: CopyInCommand): WireStatement {
    if (runner.isReadOnly)
      throw new WireError(
        '0A000',
        'COPY ... FROM writes into tables of a workspace. Load tables of the project through the Storage API.',
      )
    const stop = new AbortController()
    return {
      describe: async () => ({ parameters: [], columns: undefined }),
      bind: () => ({
        columns: async () => undefined,
        open: () => openCopyIn({ table, columns: names, options }, stop.signal),
        cancel: () => stop.abort(),
        close: async () => {},
      }),
    }
  }

  /** Without a transaction of the client, the rows are one of their own: all of them arrive, or none. */
  async function openCopyIn({ table, columns: names, options }: CopyInCommand, signal: AbortSignal): Promise<WireResult> {
    const isAlone = status === 'I'
    if (isAlone) await runner.begin()
    const end = async (how: 'commit' | 'rollback') => {
      runner.waitForClient()
      if (isAlone) await runner[how]()
    }
    try {
      const { session } = await runner.take(signal)
      const target = (table.length === 3 ? table.slice(1) : table).map(doubleQuoted).join('.')
      const list = names.length > 0 ? names.map(doubleQuoted).join(', ') : '*'
      const { columns } = await session.describe(`SELECT ${list} FROM ${target}`)
      const timeoutMs = settings.timeoutMs()
      const statement = { signal, ...(timeoutMs !== undefined && { timeoutMs }) }
      const copy = createCopyIn({ session, table: target, columns, options, statement })
      runner.waitForClient()
      return copyInResult(options, columns, {
        write: async (chunk) => {
          await copy.write(chunk)
          runner.waitForClient()
        },
        end: async () => {
          const rows = await copy.end()
          if (!isAlone) await savepoints.changed(undefined, 'rows were copied into a table before it')
          await end('commit')
          return `COPY ${rows}`
        },
        abort: async () => {
          await copy.discard()
          await end('rollback').catch(() => {}) // a process that is gone has nothing to roll back
        },
      })
    } catch (error) {
      await end('rollback').catch(() => {})
      throw error
    }
  }

  // ------------------------------------------------------------------------------------------------------------------ SHOW, CLOSE

  async function showStatement(statement: Statement): Promise<WireStatement> {
    const { tokens } = statement
    if (tokens.length > 4) throw new WireError('42601', 'SHOW names one setting.')
    const words = Array.from({ length: tokens.length - 1 }, (_, i) => tokens.text(i + 1))
    if (/^(tables|all tables|databases)$/i.test(words.join(' '))) return queryStatement(await singleStatement(SHOW_TABLES), [])
    const name = words.join(' ').replace(/^time zone$/i, 'timezone')
    const column = { name: name.toLowerCase(), oid: OID.text, modifier: -1 }
    return rowsStatement([column], async () => [[settings.show(name)]], 'SHOW')
  }

  // --------------------------------------------------------------------------------------------------------------------- cursors

  function declareStatement(statement: Statement): WireStatement {
    const { name, query, isHeld } = readDeclare(statement)
    return effect('DECLARE CURSOR', async () => {
      if (status !== 'T' && !isHeld) throw new WireError('25P01', 'DECLARE CURSOR needs a transaction, or WITH HOLD.')
      if (cursors.has(name)) throw new WireError('42P03', `The cursor "${name}" exists already.`)
      const portal = queryPortal(await singleStatement(query), NOTHING_BOUND)
      await portal.columns() // what is wrong with it is said now
      cursors.set(name, { isHeld, portal, rest: Buffer.alloc(0) })
    })
  }

  function fetchStatement(statement: Statement, keyword: 'FETCH' | 'MOVE'): WireStatement {
    const { name, rows } = readFetch(statement)
    const columns = async () => (keyword === 'MOVE' ? undefined : cursorNamed(name).portal.columns())
    return {
      describe: async () => ({ parameters: [], columns: await columns() }),
      bind: (_, formats) => ({
        columns,
        open: async () => {
          const cursor = cursorNamed(name)
          let fetched = 0
          const frames = (async function* () {
            for await (const part of fetchRows(cursor, rows, formats)) {
              fetched += part.rows
              if (keyword === 'FETCH') yield part.frames
            }
          })()
          return { columns: await columns(), frames, tag: () => `${keyword} ${fetched}` }
        },
        cancel: () => cursors.get(name)?.portal.cancel(),
        close: async () => {},
      }),
    }
  }

  async function* fetchRows(cursor: Cursor, max: number, formats: readonly Format[]) {
    cursor.formats ??= formats.join()
    if (cursor.formats !== formats.join()) throw new WireError('0A000', 'A cursor keeps the formats of its first FETCH.')
    const { frames } = await cursor.portal.result(formats)
    for (let left = max; left > 0; ) {
      if (cursor.rest.length === 0) {
        const next = await frames.next()
        if (next.done) return
        cursor.rest = next.value
      }
      const { end, rows } = cutRows(cursor.rest, left)
      yield { frames: cursor.rest.subarray(0, end), rows }
      cursor.rest = cursor.rest.subarray(end)
      left -= rows
    }
  }

  function cursorNamed(name: string): Cursor {
    const cursor = cursors.get(name)
    if (!cursor) throw new WireError('34000', `There is no cursor "${name}".`)
    return cursor
  }

  async function closeCursor(name: string): Promise<void> {
    const cursor = cursorNamed(name)
    cursors.delete(name)
    await cursor.portal.close()
  }

  async function closeCursors(): Promise<void> {
    for (const name of [...cursors.keys()]) await closeCursor(name)
  }

  // --------------------------------------------------------------------------------------------------------------------- queries

  async function queryStatement(statement: Statement, types: readonly number[], copy?: CopyOptions): Promise<WireStatement> {
    let shape: ReturnType<WireStatement['describe']> | undefined
    const count = await parameterCount(statement)
    const describe = () => {
      shape ??= describeQuery(statement, types, count)
      shape.catch(() => {
        shape = undefined
      })
      return shape
    }
    /** What was described to the client: values have these types from then on, as its result was described with them. */
    const typesOf = async (values: readonly (string | null)[]) => {
      const isAsked = values.some((value, i) => !types[i] && (value === null || value.startsWith('\\x')))
      const described = shape || isAsked ? await describe().catch(() => undefined) : undefined
      return described?.parameters ?? types
    }
    return {
      describe,
      bind: (values, formats) => {
        if (values.length !== count && (values.length < count || count > 0))
          throw new WireError('08P01', `The statement has ${count} parameters; ${values.length} values were given.`)
        return queryPortal(statement, { values, types, formats, typesOfValues: () => typesOf(values) }, copy)
      },
    }
  }

  async function describeQuery(statement: Statement, types: readonly number[], count: number) {
    const constant = constantOf(statement)
    if (constant) return { parameters: [], columns: constant.columns }
    const signal = new AbortController().signal
    const route = await inSession(signal, (session) => routeFor(session, statement))
    if (route.engine === 'catalog') {
      const tables = await tablesNow(signal)
      const { database } = deps
      return deps.catalog().describe(tables, { sql: statement.text, database, searchPath: searchPath(tables), types })
    }
    const shortNames = await shortNamesFor(route, signal)
    const dialect = await dialectEdits(statement, deps.database)
    const lists = await untypedLists(statement)
    return inSession(signal, async (session) => {
      const describe = (edited: EditedText) => inPlace(edited, () => session.describe(edited.text, { shortNames }))
      const shape = await describe(await applyEdits(statement.text, [...(await withoutAny(statement)), ...dialect]))
      const parameters = Array.from({ length: count }, (_, i) => {
        const type = types[i] || typeOfParameter(shape.parameters[i])
        return types[i] || (lists.has(i + 1) ? (arrayTypeOf(type) ?? type) : type)
      })
      const isKnown = shape.columns.every(({ type }) => type !== 'UNKNOWN')
      const { columns } = isKnown ? shape : await describe(await withValues(statement, [], parameters, dialect))
      if (columns.length > MAX_COLUMNS) throw tooManyColumns(columns.length)
      return { parameters, columns: columns.length > 0 ? columns.map(wireColumn) : undefined }
    })
  }

  /** A statement with its values. Queries that cannot change anything start when their columns are asked for. */
  function queryPortal(statement: Statement, bound: Bound, copy?: CopyOptions): Cursor['portal'] {
    const stop = new AbortController()
    let opened: Promise<Answer> | undefined
    let shown: Promise<WireResult> | undefined
    const answer = () => {
      opened ??= answerQuery(statement, bound, stop.signal)
      opened.catch(() => {})
      return opened
    }
    const result = (wanted: readonly Format[]) => {
      shown ??= answer().then((given) => resultOf(given, wanted, copy))
      return shown
    }
    return {
      columns: async () => {
        if (copy) return undefined
        if (runner.isReadOnly || isQuery(statement)) return (await answer()).columns
        return (await describeQuery(statement, bound.types, bound.values.length)).columns
      },
      result,
      open: () => result(bound.formats),
      cancel: () => stop.abort(),
      close: async () => {
        if (!opened) return
        stop.abort()
        await opened.then(({ close }) => close()).catch(() => {})
      },
    }
  }

  /** What either engine answers, before it is written in the format that a client wants. */
  interface Answer {
    readonly columns: readonly WireColumn[] | undefined
    /** In the text format of COPY. */
    readonly lines?: AsyncIterable<Buffer>
    /** Frames of rows, where the engine writes them itself. */
    readonly rows?: Buffer
    tag(rows: number): string
    close(): Promise<void>
  }

  async function answerQuery(statement: Statement, bound: Bound, signal: AbortSignal): Promise<Answer> {
    const constant = constantOf(statement)
    if (constant)
      return {
        columns: constant.columns,
        lines: linesOf(constant.rows),
        tag: (rows) => `SELECT ${rows}`,
        close: async () => {},
      }
    const known = await bound.typesOfValues()
    const taken = await runner.take(signal)
    try {
      const route = await routeFor(taken.session, statement)
      if (route.engine === 'catalog') {
        await taken.release()
        return answerOfCatalog(await askCatalog(statement, bound, signal))
      }
      const shortNames = await shortNamesFor(route, signal)
      const edited = await withValues(statement, bound.values, known, await dialectEdits(statement, deps.database))
      const timeoutMs = settings.timeoutMs()
      const options: StatementOptions = { signal, shortNames, ...(timeoutMs !== undefined && { timeoutMs }) }
      return await inPlace(edited, () => answerOfTables(taken, edited.text, statement, options))
    } catch (error) {
      await taken.release()
      throw error
    }
  }

  /** PostgreSQL lets ALTER TABLE change views as well. */
  async function run(session: SqlSession, sql: string, statement: Statement, options: StatementOptions): Promise<SqlBytes> {
    const ran = session.copy(sql, 'postgres', options)
    if (statement.keyword !== 'alter') return ran
    return ran.catch((error: unknown) => {
      const isOfView = error instanceof PlatformError && error.message.includes('ALTER VIEW')
      if (!isOfView) throw error
      return session.copy(sql.replace(/^(alter\s+)table\b/i, '$1VIEW'), 'postgres', options)
    })
  }

  async function answerOfTables(taken: Taken, sql: string, statement: Statement, options: StatementOptions): Promise<Answer> {
    const { columns, bytes, end, cancel } = await run(taken.session, sql, statement, options)
    if (columns.length > MAX_COLUMNS) {
      await cancel()
      throw tooManyColumns(columns.length)
    }
    let changedRows: number | null = null
    const pieces = bytes[Symbol.asyncIterator]()
    let closing: Promise<void> | undefined
    const close = () => {
      closing ??= (async () => {
        await pieces.return?.()
        await taken.release()
      })()
      return closing
    }
    async function* lines(): AsyncGenerator<Buffer, void> {
      for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) yield piece.value
      changedRows = (await end).changedRows
      if (status === 'T' && (await mayChange(statement))) await savepoints.changed(sql)
      await close()
    }
    const hasColumns = columns.length > 0
    if (!hasColumns) for await (const _ of lines()); // done when its result is asked for
    return {
      columns: hasColumns ? columns.map(wireColumn) : undefined,
      lines: hasColumns ? lines() : linesOf([]),
      tag: (rows) => tagOf(statement, hasColumns ? rows : (changedRows ?? 0)),
      close,
    }
  }

  const answerOfCatalog = ({ columns, rows, tag }: CatalogAnswer): Answer => ({
    columns,
    rows,
    tag: () => tag,
    close: async () => {},
  })

  function resultOf(
    { columns, lines, rows, tag }: Answer,
    formats: readonly Format[],
    copy: CopyOptions | undefined,
  ): WireResult {
    if (copy && lines && columns) {
      const format: Format = copy.format === 'binary' ? 1 : 0
      let copied = 0
      const frames = counted(copyFrames(lines, columns, copy), (count) => {
        copied += count
      })
      return {
        columns: undefined,
        copy: { format, columns: columns.length },
        frames,
        tag: () => `COPY ${Math.max(0, copied - Number(copy.header) - format)}`,
      }
    }
    if (copy) throw new WireError('0A000', 'COPY takes rows of tables; what was asked is answered by a SELECT alone.')
    const frames = rows ? once(rows) : rowFrames(lines ?? linesOf([]), columns ?? [], formats)
    return { columns, frames, tag }
  }

  // ------------------------------------------------------------------------------------------------------------ routes, catalogue

  async function routeFor(session: SqlSession, statement: Statement): Promise<Route> {
    const known = routes.get(statement.text)
    if (known) return known
    let route = await routeOf(session, statement.text)
    // DuckDB cannot read it: PostgreSQL may, as long as no table of the project can be meant.
    if (route.engine === 'unknown')
      route = (await mayName(statement, await deps.listTables(async () => ({ session, release: async () => {} }))))
        ? { engine: 'tables', unqualified: [] }
        : { engine: 'catalog' }
    if (routes.size >= MAX_ROUTES) routes.clear()
    if (statement.text.length <= MAX_ROUTE_LENGTH) routes.set(statement.text, route)
    return route
  }

  async function inSession<T>(signal: AbortSignal, work: (session: SqlSession) => Promise<T>): Promise<T> {
    const { session, release } = await runner.take(signal)
    try {
      return await work(session)
    } finally {
      await release()
    }
  }

  const tablesNow = (signal: AbortSignal) => deps.listTables(() => runner.take(signal))

  async function askCatalog(
    statement: Statement,
    { values, types, formats }: Bound,
    signal: AbortSignal,
  ): Promise<CatalogAnswer> {
    const asked = (async () => {
      const tables = await tablesNow(signal)
      const { database } = deps
      return deps.catalog().ask(tables, { sql: statement.text, database, searchPath: searchPath(tables), types, values, formats })
    })()
    const cancelled = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new WireError('57014', 'The statement was cancelled.')), { once: true })
    })
    return Promise.race([asked, cancelled])
  }

  /** In a workspace names without a schema are its own first, as the engine reads them. */
  const searchPath = (tables: readonly CatalogTable[]): readonly string[] => {
    const given = settings.searchPath()
    if (given) return given
    const schemas = [...new Set(tables.map(({ schema }) => schema))].toSorted()
    const own = runner.isReadOnly ? [] : ['temp', 'main']
    return [...own, ...schemas.filter((schema) => !own.includes(schema))]
  }

  /** Tables of the project by the names that a statement gives without a schema. */
  async function shortNamesFor(route: Route, signal: AbortSignal): Promise<Record<string, TableName>> {
    if (route.engine !== 'tables' || route.unqualified.length === 0 || !runner.isReadOnly) return {}
    const tables = await tablesNow(signal)
    const path = searchPath(tables)
    return Object.fromEntries(
      route.unqualified.flatMap((name) => {
        const schema = path.find((one) => tables.some((table) => table.schema === one && table.name === name))
        return schema === undefined ? [] : [[name, { schema, name }]]
      }),
    )
  }

  return {
    split: placedStatements,
    parse,
    cursor: (name) => cursors.get(name)?.portal,
    status: () => status,
    failed: () => {
      if (status === 'T') status = 'E'
    },
    parameters: settings.reported(),
    ended: deps.ended,
    close: async () => {
      await closeCursors()
      await finish('rollback').catch(() => {}) // a process that is gone has nothing to roll back
      deps.onClose()
    },
  }
}

/** The text with literals for parameters. */
const withValues = async (
  statement: Statement,
  values: readonly (string | null)[],
  types: readonly number[],
  dialect: readonly TextEdit[],
): Promise<EditedText> => {
  const literals = await literalEdits(statement, values, (number) => types[number - 1] ?? 0)
  return applyEdits(statement.text, [...literals, ...dialect])
}

/** An error of the edited text leads to its place in the text of the client. */
const inPlace = <T>({ originalPosition }: EditedText, work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    throw placedIn(error, originalPosition)
  })

/** The name in `ROLLBACK [WORK | TRANSACTION] TO [SAVEPOINT] name` and `RELEASE [SAVEPOINT] name`; undefined without that word. */
function savepointOf(statement: Statement, word: 'to' | 'release'): string | undefined {
  const { tokens } = statement
  const at = [0, 1, 2].find((i) => tokens.kind(i) === 'word' && tokens.lower(i) === word)
  if (at === undefined) return undefined
  return nameAt(statement, tokens.lower(at + 1) === 'savepoint' && tokens.isName(at + 2) ? at + 2 : at + 1)
}

/** What runs in a transaction that has failed. */
const ENDING = new Set(['commit', 'end', 'rollback', 'abort'])

const tooManyColumns = (count: number) =>
  new WireError('54011', `The result has ${count} columns; at most ${MAX_COLUMNS} are allowed. Select fewer of them.`)

const SHOW_TABLES =
  `SELECT table_schema AS schema, table_name AS name FROM information_schema.tables ` +
  `WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2`

/** What clients ask at the start, answered without a catalogue: that takes seconds to start. */
const CONSTANTS: Readonly<Record<string, { readonly name: string; readonly value: string }>> = {
  'select version ( )': { name: 'version', value: `PostgreSQL ${SERVER_VERSION} (Millrace)` },
  'select pg_catalog . version ( )': { name: 'version', value: `PostgreSQL ${SERVER_VERSION} (Millrace)` },
}

function constantOf({ tokens }: Statement): { columns: WireColumn[]; rows: readonly (readonly string[])[] } | undefined {
  if (tokens.length > 8) return undefined
  const found = CONSTANTS[Array.from({ length: tokens.length }, (_, i) => tokens.lower(i)).join(' ')]
  return found && { columns: [{ name: found.name, oid: OID.text, modifier: -1 }], rows: [[found.value]] }
}

const typeOfParameter = (type: string | undefined): number =>
  type === undefined || type === 'UNKNOWN' ? OID.text : pgType(type).oid

const CHANGES: Readonly<Record<string, string>> = { insert: 'INSERT 0', update: 'UPDATE', delete: 'DELETE', merge: 'MERGE' }

/** `SELECT 5`, `INSERT 0 3`, `CREATE TABLE`. */
function tagOf(statement: Statement, rows: number): string {
  const { keyword, tokens } = statement
  if (isQuery(statement)) return `SELECT ${rows}`
  const change = CHANGES[keyword]
  if (change) return `${change} ${rows}`
  const object = [1, 2, 3, 4, 5]
    .map((i) => tokens.text(i))
    .find((text) => /^(table|view|schema|index|sequence|type|macro|function)$/i.test(text))
  return `${keyword.toUpperCase()}${object && ['create', 'drop', 'alter'].includes(keyword) ? ` ${object.toUpperCase()}` : ''}`
}

/** A statement without a result, and what it does. */
function effect(tag: string | (() => string), work: () => Promise<unknown>, forget?: WireResult['forget']): WireStatement {
  return {
    describe: async () => ({ parameters: [], columns: undefined }),
    bind: () => ({
      columns: async () => undefined,
      open: async () => {
        const said = typeof tag === 'string' ? tag : tag()
        await work()
        return { columns: undefined, frames: linesOf([]), tag: () => said, forget }
      },
      cancel: () => {},
      close: async () => {},
    }),
  }
}

function rowsStatement(
  columns: readonly WireColumn[],
  rows: () => Promise<readonly (readonly string[])[]>,
  tag: string,
): WireStatement {
  return {
    describe: async () => ({ parameters: [], columns }),
    bind: (_, formats) => ({
      columns: async () => columns,
      open: async () => ({ columns, frames: rowFrames(linesOf(await rows()), columns, formats), tag: () => tag }),
      cancel: () => {},
      close: async () => {},
    }),
  }
}

const LINE_CODES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

async function* linesOf(rows: readonly (readonly string[])[]): AsyncGenerator<Buffer, void> {
  const escaped = (text: string) => text.replace(/[\\\t\n\r]/g, (character) => LINE_CODES[character] ?? character)
  if (rows.length > 0) yield Buffer.from(rows.map((row) => `${row.map(escaped).join('\t')}\n`).join(''))
}

async function* once(frames: Buffer): AsyncGenerator<Buffer, void> {
  if (frames.length > 0) yield frames
}

async function* counted(frames: AsyncIterable<Buffer>, count: (frames: number) => void): AsyncGenerator<Buffer, void> {
  for await (const part of frames) {
    count(cutRows(part, Number.POSITIVE_INFINITY).rows)
    yield part
  }
}
