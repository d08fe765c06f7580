// One connection of a client: which statements it may send, and who answers each. Queries over tables run in the SQL engine, questions
// about tables are answered by a catalogue, and the rest (transactions, settings, cursors) is kept here.

import type { Catalog, CatalogAnswer, CatalogTable } from '../../../engines/pg-wire/catalogs.ts'
import { NamedItems } from '../../../engines/pg-wire/named-items.ts'
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
import type { SqlColumn, SqlSession, StatementOptions } from '../../../engines/sql/sql-engine.ts'
import { isQuery, placedStatements, type Statement, singleStatement, type TableName } from '../../../engines/sql/statements.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { doubleQuoted } from '../../../kit/text/double-quoted.ts'
import type { ConnectionSchema, SchemaUse } from './connection-schema.ts'
import { portEdits } from './pg-dialect.ts'
import { accountQuery, type PortUser, sessionChanges } from './port-account.ts'
import {
  type CopyInCommand,
  nameAt,
  readCopy,
  readCopyIn,
  readDeclare,
  readExecute,
  readFetch,
  readPrepare,
} from './port-commands.ts'
import { copyInResult, createCopyIn } from './port-copy-in.ts'
import { createPendingIndexes, type Ddl, ddlOf } from './port-ddl.ts'
import { placedIn } from './port-errors.ts'
import { castTypes, expressionEdits, literalEdits, parameterCount, untypedLists, withoutAny } from './port-parameters.ts'
import type { Runner, Taken } from './port-runners.ts'
import { CHANGING, createSavepoints, mayChange } from './port-savepoints.ts'
import { type PortSettings, readSet, SERVER_VERSION } from './port-settings.ts'
import { showQuery } from './port-show.ts'
import { pgType, wireColumn } from './port-types.ts'
import { type CursorMove, createScrollRows, type ScrollRows } from './scroll-cursor.ts'
import { mayName, type Route, routeOf } from './statement-route.ts'
import { isTemporarySchema, TEMPORARY_SCHEMA, type TemporaryChange, withoutInto } from './temporary-statements.ts'
import type { TakenTemporary, TemporaryTables } from './temporary-tables.ts'
import { CHANGING_TEMPORARY, shortNamesOfChange, type TemporaryUse, temporaryUse } from './temporary-use.ts'
import { applyEdits, type EditedText, type TextEdit } from './text-edits.ts'

export interface PortSessionDeps {
  readonly runner: Runner
  readonly settings: PortSettings
  /** Throws if the client is no longer allowed to continue. */
  readonly check: () => Promise<void>
  /** Every table the client may read, for the catalogue and for names without a schema. */
  readonly listTables: (take: () => Promise<Taken>) => Promise<readonly CatalogTable[]>
  readonly catalog: () => Catalog
  /** Of a reader. */
  readonly temporary: TemporaryTables | undefined
  /** Of a connection to a workspace. */
  readonly schema: ConnectionSchema | undefined
  /** The names that the client sent. */
  readonly user: string
  readonly database: string
  readonly describeUser: () => Promise<PortUser>
  readonly ended: Promise<WireError>
  readonly onClose: () => void
}

/** Texts whose route is remembered, and how long they may be. */
const MAX_ROUTES = 200
const MAX_ROUTE_LENGTH = 10_000
/** As PostgreSQL itself has it; clients count columns in 16 bits. */
const MAX_COLUMNS = 1664
/** Of the statements that PREPARE has named. */
const MAX_PREPARED_BYTES = 4 << 20

/** What a statement is bound to. */
interface Bound {
  readonly values: readonly (string | null)[]
  /** Types that the client gives. */
  readonly types: readonly number[]
  readonly formats: readonly Format[]
  /** Types of the values; 0 or none if unknown. */
  readonly typesOfValues: () => Promise<readonly number[]>
}

/** Why a portal is cancelled that is closed. Without a reason each one would be an exception with its stack. */
const CLOSED = 'closed'

const NOTHING_BOUND: Bound = { values: [], types: [], formats: [], typesOfValues: async () => [] }

interface Cursor {
  readonly isHeld: boolean
  readonly isScroll: boolean
  readonly portal: WirePortal & { readonly result: (formats: readonly Format[]) => Promise<WireResult> }
  formats?: string
  rest: Buffer
  /** Of a cursor that goes back as well. */
  kept?: ScrollRows
}

/** A statement and the session that runs it. */
interface Placed {
  readonly taken: Taken | TakenTemporary
  readonly use: TemporaryUse | SchemaUse | undefined
  readonly statement: Statement
  /** Types of its parameters. */
  readonly known: readonly number[]
  readonly signal: AbortSignal
}

/** As the session runs it. */
interface Run {
  readonly taken: Taken
  readonly sql: string
  readonly statement: Statement
  readonly options: StatementOptions
  /** What temporary tables need after the statement. */
  readonly noted: (() => Promise<void>) | undefined
}

type Command = (statement: Statement, types: readonly number[]) => WireStatement | Promise<WireStatement>

export function createPortSession(deps: PortSessionDeps): WireSession {
  const { runner, settings, temporary, schema: ownSchema } = deps
  const cursors = new Map<string, Cursor>()
  const routes = new Map<string, Route>()
  const savepoints = createSavepoints()
  const pendingIndexes = createPendingIndexes()
  const prepared = new NamedItems<{ readonly types: readonly string[]; readonly query: Statement }>(
    MAX_PREPARED_BYTES,
    `Statements that PREPARE has named have at most ${MAX_PREPARED_BYTES} bytes together. DEALLOCATE some of them.`,
  )
  let status: 'I' | 'T' | 'E' = 'I'

  // --------------------------------------------------------------------------------------------------------------- one statement

  async function parse(sql: string, types: readonly number[]): Promise<WireStatement> {
    await deps.check()
    const sent = await singleStatement(sql)
    const statement = await withoutInto(sent)
    if (status === 'E' && !ENDING.has(statement.keyword))
      throw new WireError('25P02', 'The transaction has failed; nothing runs in it before ROLLBACK.')
    const command = commands[statement.keyword]
    return command ? command(statement, types) : queryStatement(statement, types)
  }

  const commands: Readonly<Record<string, Command>> = {
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
      return effect('SAVEPOINT', () =>
        inTransaction('SAVEPOINT', async () => {
          savepoints.set(name)
          temporary?.mark(name)
        }),
      )
    },
    release: (statement) => {
      const name = savepointOf(statement, 'release') ?? nameAt(statement, 1)
      return effect('RELEASE', () =>
        inTransaction('RELEASE SAVEPOINT', async () => {
          savepoints.release(name)
          await temporary?.release(name)
        }),
      )
    },
    set: (statement) => {
      const given = readSet(statement)
      return effect('SET', async () => given && settings.set(given.name, given.value))
    },
    reset: (statement) => {
      const name = nameAt(statement, 1)
      return effect('RESET', async () => (name === 'all' ? settings.reset() : settings.set(name, undefined)))
    },
    alter: (statement, types) => {
      const changes = sessionChanges(statement)
      if (!changes) return queryStatement(statement, types)
      return effect('ALTER SESSION', async () => changes.forEach(([name, value]) => void settings.set(name, value)))
    },
    show: showStatement,
    desc: describeTable,
    describe: describeTable,
    use: useStatement,
    prepare: async (statement) => {
      const { name, types, query: text } = await readPrepare(statement)
      const query = await singleStatement(text)
      return effect('PREPARE', async () => {
        if (prepared.has(name)) throw new WireError('42P05', `The prepared statement "${name.slice(0, 60)}" already exists.`)
        prepared.checkRoom(name, 2 * text.length)
        prepared.set(name, { types, query }, 2 * text.length)
      })
    },
    execute: executeStatement,
    discard: (statement) => {
      if (['temp', 'temporary'].includes(statement.tokens.lower(1))) return effect('DISCARD TEMP', dropTemporary)
      return effect(
        'DISCARD ALL',
        async () => {
          prepared.clear()
          await closeCursors()
          await dropTemporary()
        },
        'all',
      )
    },
    deallocate: (statement) => {
      const at = statement.tokens.lower(1) === 'prepare' ? 2 : 1
      const name = nameAt(statement, at)
      if (name === 'all') return effect('DEALLOCATE', async () => prepared.clear(), 'all')
      return effect('DEALLOCATE', async () => void prepared.delete(name), prepared.has(name) ? undefined : { name })
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
    if (status !== 'I') return // PostgreSQL warns and continues
    await runner.begin()
    temporary?.begin()
    ownSchema?.begin()
    savepoints.clear()
    pendingIndexes.clear()
    status = 'T'
  }

  async function finish(how: 'commit' | 'rollback'): Promise<void> {
    for (const [name, { isHeld }] of cursors) if (!isHeld) await closeCursor(name)
    const wasOpen = status !== 'I'
    status = 'I'
    if (!wasOpen) return
    if (how === 'rollback') await rollBack()
    else await commit()
    await temporary?.[how]()
  }

  async function commit(): Promise<void> {
    try {
      await ownSchema?.commit(() => sessionOf(runner))
      await runner.commit(pendingIndexes.isEmpty() ? undefined : pendingIndexes.create)
    } catch (error) {
      await rollBack().catch(() => {}) // the first error is the one to report
      throw error
    }
  }

  async function rollBack(): Promise<void> {
    ownSchema?.rollback()
    await runner.rollback()
  }

  async function dropTemporary(): Promise<void> {
    await temporary?.dropAll()
    if (!ownSchema?.isUsed()) return
    const { session, release } = await runner.take(new AbortController().signal)
    try {
      await session.execute(ownSchema.drop)
      if (status === 'T') await savepoints.changed(ownSchema.drop)
      else ownSchema.dropped()
    } finally {
      await release()
    }
  }

  async function inTransaction(what: string, work: () => Promise<void>): Promise<void> {
    if (status === 'I') throw new WireError('25P01', `${what} is only used in a transaction. Send BEGIN first.`)
    await work()
  }

  const rollBackTo = (name: string) =>
    inTransaction('ROLLBACK TO SAVEPOINT', async () => {
      for (const [cursor, { isHeld }] of cursors) if (!isHeld) await closeCursor(cursor)
      await savepoints.rollBackTo(name, () => sessionOf(runner), runner.isReadOnly)
      await temporary?.rollBackTo(name)
      status = 'T'
    })

  // ------------------------------------------------------------------------------------------------------------- COPY FROM STDIN

  function copyInStatement({ table, columns: names, options }: CopyInCommand): WireStatement {
    const [schema, name] = [table.at(-2), table.at(-1) ?? '']
    if (runner.isReadOnly && !(schema === undefined ? temporary?.names().has(name.toLowerCase()) : isTemporarySchema(schema)))
      throw new WireError(
        '0A000',
        'COPY ... FROM writes into temporary tables and tables of a workspace. Load tables of the project through the Storage API.',
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
    const named = table.length === 3 ? table.slice(1) : table
    const parts = ownSchema?.partsOf(named) ?? named
    const { taken, isAlone, waitForClient, end } = await takeForRows(signal)
    try {
      const { session } = taken
      const target = temporary ? temporaryName(parts.at(-1) ?? '') : parts.map(doubleQuoted).join('.')
      const list = names.length > 0 ? names.map(doubleQuoted).join(', ') : '*'
      const { columns } = await session.describe(`SELECT ${list} FROM ${target}`)
      const timeoutMs = settings.timeoutMs()
      const statement = { signal: signalOf(taken, signal), ...(timeoutMs !== undefined && { timeoutMs }) }
      const copy = createCopyIn({ session, table: target, columns, options, statement })
      waitForClient()
      return copyInResult(options, columns, {
        write: async (chunk) => {
          await explaining(taken, () => copy.write(chunk))
          waitForClient()
        },
        end: async () => {
          const rows = await explaining(taken, () => copy.end())
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
      throw explained(taken, error)
    }
  }

  async function takeForRows(signal: AbortSignal) {
    if (!temporary) {
      const isAlone = status === 'I'
      if (isAlone) await runner.begin()
      if (isAlone) ownSchema?.begin()
      const taken = await takeWithSchema(deps, signal).catch(async (error: unknown) => {
        if (isAlone) await rollBack()
        throw error
      })
      const end = async (how: 'commit' | 'rollback') => {
        runner.waitForClient()
        if (isAlone) await (how === 'commit' ? commit() : rollBack())
      }
      return { taken, isAlone, waitForClient: runner.waitForClient, end }
    }
    const taken = await temporary.take(signal, true)
    await taken.session.execute('BEGIN').catch(async (error: unknown) => {
      await taken.release()
      throw error
    })
    const end = async (how: 'commit' | 'rollback') => {
      try {
        await taken.session.execute(how)
      } finally {
        await taken.release()
      }
      if (how === 'commit') await afterChange()
    }
    return { taken, isAlone: true, waitForClient: temporary.waitForClient, end }
  }

  /** Each change outside of a transaction is one of its own. */
  async function afterChange(): Promise<void> {
    if (status === 'I') await temporary?.commit()
  }

  // ------------------------------------------------------------------------------------------------------------------ SHOW, CLOSE

  async function showStatement(statement: Statement): Promise<WireStatement> {
    const { tokens } = statement
    const question = (await accountQuery(statement, deps)) ?? showQuery(statement, deps.database)
    if (question) return queryStatement(await singleStatement(question), [])
    if (tokens.length > 4) throw new WireError('42601', 'SHOW names one setting.')
    const words = Array.from({ length: tokens.length - 1 }, (_, i) => tokens.text(i + 1))
    if (/^(tables|all tables)$/i.test(words.join(' '))) return queryStatement(await singleStatement(SHOW_TABLES), [])
    const name = words.join(' ').replace(/^time zone$/i, 'timezone')
    const column = { name: name.toLowerCase(), oid: OID.text, modifier: -1 }
    return rowsStatement([column], async () => [[settings.show(name)]], 'SHOW')
  }

  async function describeTable(statement: Statement, types: readonly number[]): Promise<WireStatement> {
    const question = (await accountQuery(statement, deps)) ?? showQuery(statement, deps.database)
    return queryStatement(question ? await singleStatement(question) : statement, question ? [] : types)
  }

  /** `USE [SCHEMA] name`, as clients of Snowflake choose where names without a schema are looked for. */
  function useStatement(statement: Statement): WireStatement {
    const { tokens } = statement
    const kind = ['schema', 'database'].includes(tokens.lower(1)) ? tokens.lower(1) : ''
    const isName = kind !== '' || tokens.length === 2 || tokens.isSymbol(2, '.')
    const name = nameAt(statement, tokens.length - 1)
    return effect('USE', async () => {
      const isHere = kind === 'database' ? name === deps.database : runner.isReadOnly || name === 'main'
      if (!isName || !isHere)
        throw new WireError(
          '0A000',
          `${statement.text.slice(0, 60)} is not supported: the database is "${deps.database}", and a workspace has the schema main.`,
        )
      if (kind !== 'database' && runner.isReadOnly) settings.set('search_path', doubleQuoted(name))
    })
  }

  async function executeStatement(statement: Statement): Promise<WireStatement> {
    const { name, values } = await readExecute(statement)
    const found = prepared.get(name)
    if (!found) throw new WireError('26000', `There is no prepared statement "${name.slice(0, 60)}".`)
    const count = await parameterCount(found.query)
    if (values.length !== count)
      throw new WireError(
        '42601',
        `The prepared statement "${name.slice(0, 60)}" has ${count} parameters; ${values.length} values were given.`,
      )
    const typed = values.map((value, i) => (found.types[i] ? `CAST(${value} AS ${found.types[i]})` : value))
    const { text } = await applyEdits(found.query.text, await expressionEdits(found.query, typed))
    return queryStatement(await singleStatement(text), [])
  }

  // --------------------------------------------------------------------------------------------------------------------- cursors

  function declareStatement(statement: Statement): WireStatement {
    const { name, query, isHeld, isScroll } = readDeclare(statement)
    return effect('DECLARE CURSOR', async () => {
      if (status !== 'T' && !isHeld) throw new WireError('25P01', 'DECLARE CURSOR needs a transaction, or WITH HOLD.')
      if (cursors.has(name)) throw new WireError('42P03', `The cursor "${name}" exists already.`)
      const portal = queryPortal(await singleStatement(query), NOTHING_BOUND)
      await portal.columns() // reports its errors now
      cursors.set(name, { isHeld, isScroll, portal, rest: Buffer.alloc(0) })
    })
  }

  function fetchStatement(statement: Statement, keyword: 'FETCH' | 'MOVE'): WireStatement {
    const { name, move } = readFetch(statement)
    const columns = async () => (keyword === 'MOVE' ? undefined : cursorNamed(name).portal.columns())
    return {
      describe: async () => ({ parameters: [], columns: await columns() }),
      bind: (_, formats) => ({
        columns,
        open: async () => {
          const cursor = cursorNamed(name)
          let fetched = 0
          const frames = (async function* () {
            for await (const part of fetchRows(cursor, move, formats)) {
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

  function cursorNamed(name: string): Cursor {
    const cursor = cursors.get(name)
    if (!cursor) throw new WireError('34000', `Cursor "${name}" does not exist.`)
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
    const use = await useOf(statement, signal)
    if (use?.change && count === 0 && DEFINING.has(statement.keyword)) return { parameters: [], columns: undefined }
    return describeWith(use, use?.statement ?? statement, types, count, signal)
  }

  async function describeWith(
    use: TemporaryUse | undefined,
    statement: Statement,
    types: readonly number[],
    count: number,
    signal: AbortSignal,
  ): ReturnType<WireStatement['describe']> {
    const route = use?.change ? OF_TABLES : await inSession(use, signal, (session) => routeFor(session, statement))
    if (route.engine === 'catalog') {
      const tables = await tablesNow(signal)
      const { database } = deps
      const question = { sql: statement.text, database, searchPath: searchPath(tables), types }
      return deps.catalog().describe(withTemporary(temporary, tables), question)
    }
    const shortNames = await shortNamesFor(statement, route, use, signal)
    const dialect = await portEdits(statement, deps.database, runner.isReadOnly)
    const lists = await untypedLists(statement)
    return inSession(use, signal, async (session) => {
      const describe = (edited: EditedText) => inPlace(edited, use, () => session.describe(edited.text, { shortNames }))
      const shape = await describe(await applyEdits(statement.text, [...(await withoutAny(statement)), ...dialect]))
      // DuckDB reports no types while one parameter has none.
      const casts = shape.parameters.every(isUnknown) ? [...(await castTypes(statement))] : []
      const asked = `SELECT ${casts.map(([, type]) => `CAST(NULL AS ${type})`).join(', ')}`
      const cast = casts.length > 0 ? await session.describe(asked).catch(() => undefined) : undefined
      const castOf = new Map(casts.map(([number], at) => [number, cast?.columns[at]?.type]))
      const parameters = Array.from({ length: count }, (_, i) => {
        const type = types[i] || typeOfParameter(castOf.get(i + 1) ?? shape.parameters[i])
        return types[i] || (lists.has(i + 1) ? (arrayTypeOf(type) ?? type) : type)
      })
      const isKnown = shape.columns.every(({ type }) => type !== 'UNKNOWN')
      const { columns } = isKnown ? shape : await describe(await withValues(statement, [], parameters, dialect))
      if (columns.length > MAX_COLUMNS) throw tooManyColumns(columns.length)
      return { parameters, columns: columns.length > 0 ? columns.map(namedColumn(resultNames(route))) : undefined }
    })
  }

  /** A statement with its values. Queries that cannot change anything start when their columns are requested. */
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
        const isChange = CHANGING_TEMPORARY.has(statement.keyword)
        if ((runner.isReadOnly && !isChange) || isQuery(statement)) return (await answer()).columns
        return (await describeQuery(statement, bound.types, bound.values.length)).columns
      },
      result,
      open: () => result(bound.formats),
      cancel: () => stop.abort(),
      close: async () => {
        if (!opened) return
        stop.abort(CLOSED)
        await opened.then(({ close }) => close()).catch(() => {})
      },
    }
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
    const use = await useOf(statement, signal)
    if (use?.change?.isNothing) return answerOfNothing(statement)
    const taken = await takeFor(use, signal)
    try {
      return await answerWith({ taken, use, statement: use?.statement ?? statement, known, signal }, bound)
    } catch (error) {
      await taken.release()
      throw explained(taken, error)
    }
  }

  async function answerWith({ taken, use, statement, known, signal }: Placed, bound: Bound): Promise<Answer> {
    const route = use?.change ? OF_TABLES : await routeFor(taken.session, statement)
    if (route.engine === 'catalog') {
      await taken.release()
      return answerOfCatalog(await askCatalog(statement, bound, signal))
    }
    if (status === 'T' && ownSchema && use && 'creates' in use && use.creates) await savepoints.changed(ownSchema.create)
    const shortNames = await shortNamesFor(statement, route, use, signal)
    const schema = temporary ? TEMPORARY_SCHEMA : await ownSchema?.schemaOfAltered(statement, taken.session)
    const ddl = runner.isReadOnly && !use?.change ? undefined : await ddlOf(statement, taken.session, schema)
    const dialect = [...(await portEdits(statement, deps.database, runner.isReadOnly)), ...(ddl?.edits ?? [])]
    const edited = await withValues(statement, bound.values, known, dialect)
    const timeoutMs = settings.timeoutMs()
    const options: StatementOptions = {
      signal: signalOf(taken, signal),
      shortNames,
      ...(timeoutMs !== undefined && { timeoutMs }),
    }
    const ofSchema = ownSchema?.after(use && 'creates' in use ? use : undefined, taken.session, () => status === 'I')
    const noted = use?.change && 'changed' in taken ? () => taken.changed(use.change ?? NO_CHANGE, shortNames) : ofSchema
    const run: Run = { taken, sql: edited.text, statement, options, noted }
    return inPlace(edited, use, async () => (ddl ? answerOfDdl(run, ddl) : answerOfTables(run, resultNames(route))))
  }

  async function useOf(statement: Statement, signal: AbortSignal): Promise<TemporaryUse | SchemaUse | undefined> {
    return temporary ? temporaryUse(temporary, statement, () => tablesNow(signal)) : ownSchema?.useOf(statement, status !== 'I')
  }

  function takeFor(use: TemporaryUse | undefined, signal: AbortSignal): Promise<Taken | TakenTemporary> {
    return use && temporary ? temporary.take(signal, use.change !== undefined) : takeWithSchema(deps, signal)
  }

  /** A statement that is several to DuckDB: all of them, or none. */
  async function answerOfDdl({ taken, sql, statement, options, noted }: Run, ddl: Ddl): Promise<Answer> {
    const { session } = taken
    const isAlone = status === 'I' || temporary !== undefined // the process of temporary tables is held for this statement only
    try {
      if (isAlone) await session.execute('BEGIN')
      await ddl.before(session)
      const ran = await runBySession(session, sql, options)
      pendingIndexes.add(ddl)
      if (isAlone) await session.execute('COMMIT')
      if (isAlone) await pendingIndexes.create(session)
      else if (ddl.edits.length > 0 || ddl.indexes.length > 0)
        await savepoints.changed(undefined, 'a table that numbers its rows was created, or one with indexes renamed, before it')
      else await savepoints.changed(ran)
    } catch (error) {
      if (isAlone) {
        pendingIndexes.clear()
        await session.execute('ROLLBACK').catch(() => {}) // the first error is the one to report
      }
      throw error
    }
    await noted?.()
    await taken.release()
    if (noted) await afterChange()
    return answerOfNothing(statement)
  }

  async function answerOfTables({ taken, sql, statement, options, noted }: Run, names: readonly string[]): Promise<Answer> {
    const { columns, bytes, end, cancel } = await taken.session.copy(sql, 'postgres', options)
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
      const next = () => explaining(taken, () => pieces.next())
      for (let piece = await next(); !piece.done; piece = await next()) yield piece.value
      const { changedRows: changed, createdRows = null } = await end
      changedRows = changed ?? createdRows
      if (status === 'T' && (await mayChange(statement))) await savepoints.changed(sql)
      await noted?.()
      await close()
      if (noted) await afterChange()
    }
    const hasColumns = columns.length > 0
    if (!hasColumns) for await (const _ of lines()); // run when its result is requested
    return {
      columns: hasColumns ? columns.map(namedColumn(names)) : undefined,
      lines: hasColumns ? lines() : linesOf([]),
      tag: (rows) => tagOf(statement, hasColumns ? rows : changedRows),
      close,
    }
  }

  // ------------------------------------------------------------------------------------------------------------ routes, catalogue

  async function routeFor(session: SqlSession, statement: Statement): Promise<Route> {
    const known = routes.get(statement.text)
    if (known) return known
    // The catalogue changes nothing: what DuckDB cannot read as it is, it may read after edits.
    if (!runner.isReadOnly && CHANGING.has(statement.keyword)) return { engine: 'tables', unqualified: [] }
    let route = await routeOf(session, statement.text)
    // DuckDB cannot read it: PostgreSQL may, as long as no table of the project can be meant.
    if (route.engine === 'unknown')
      route = (await mayName(
        statement,
        withTemporary(temporary, await deps.listTables(async () => ({ session, release: async () => {} }))),
      ))
        ? { engine: 'tables', unqualified: [] }
        : { engine: 'catalog' }
    if (routes.size >= MAX_ROUTES) routes.clear()
    if (statement.text.length <= MAX_ROUTE_LENGTH) routes.set(statement.text, route)
    return route
  }

  async function inSession<T>(
    use: TemporaryUse | undefined,
    signal: AbortSignal,
    work: (session: SqlSession) => Promise<T>,
  ): Promise<T> {
    const { session, release } = await takeFor(use && { ...use, change: undefined }, signal)
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
      const question = { sql: statement.text, database, searchPath: searchPath(tables), types, values, formats }
      return deps.catalog().ask(withTemporary(temporary, tables), question)
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
    const lasting = tables.filter(({ temporaryOf }) => temporaryOf === undefined) // the others come first in any path
    const schemas = [...new Set(lasting.map(({ schema }) => schema))].toSorted()
    const own = runner.isReadOnly ? [] : ['main']
    return [...own, ...schemas.filter((schema) => !own.includes(schema))]
  }

  /** Tables of the project by the names that a statement gives without a schema. */
  async function shortNamesFor(
    statement: Statement,
    route: Route,
    use: TemporaryUse | undefined,
    signal: AbortSignal,
  ): Promise<Record<string, TableName>> {
    if (route.engine !== 'tables' || !runner.isReadOnly) return {}
    const isPathGiven = settings.searchPath() !== undefined
    if (!use) return route.unqualified.length === 0 ? {} : shortNamesOf(route.unqualified, await tablesNow(signal), isPathGiven)
    const own = temporary?.names() ?? new Set()
    const tables = await tablesNow(signal)
    const named = use.change
      ? await shortNamesOfChange(statement, tables, searchPath(tables), own, isPathGiven)
      : shortNamesOf(
          route.unqualified.filter((name) => !own.has(name.toLowerCase())),
          tables,
          isPathGiven,
        )
    const viewed = temporary?.viewed() ?? {}
    for (const [name, { schema }] of Object.entries(named))
      if (viewed[name] && viewed[name].schema !== schema)
        throw new WireError(
          '42P09',
          `The table name "${name}" is ambiguous: a temporary view of this connection reads the one of ${viewed[name].schema}. Write "${schema}"."${name}".`,
        )
    return { ...viewed, ...named }
  }

  function shortNamesOf(
    names: readonly string[],
    tables: readonly CatalogTable[],
    isPathGiven: boolean,
  ): Record<string, TableName> {
    const path = searchPath(tables)
    return Object.fromEntries(
      names.flatMap((name) => {
        const schemas = path.filter((one) => tables.some((table) => table.schema === one && table.name === name))
        const [schema, other] = schemas
        if (other !== undefined && !isPathGiven)
          throw new WireError(
            '42P09',
            `The table name "${name}" is ambiguous: it exists in ${schemas.slice(0, 3).join(', ')}. Write "${schema}"."${name}", or set search_path.`,
          )
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
      await temporary?.close()
      deps.onClose()
    },
  }
}

/** The result of either engine, before it is encoded in the requested format. */
interface Answer {
  readonly columns: readonly WireColumn[] | undefined
  /** In the text format of COPY. */
  readonly lines?: AsyncIterable<Buffer>
  /** Frames of rows, where the engine writes them itself. */
  readonly rows?: Buffer
  tag(rows: number): string
  close(): Promise<void>
}

const answerOfNothing = (statement: Statement): Answer => ({
  columns: undefined,
  lines: linesOf([]),
  tag: () => tagOf(statement, null),
  close: async () => {},
})

const answerOfCatalog = ({ columns, rows, tag }: CatalogAnswer): Answer => ({
  columns,
  rows,
  tag: () => tag,
  close: async () => {},
})

function resultOf({ columns, lines, rows, tag }: Answer, formats: readonly Format[], copy: CopyOptions | undefined): WireResult {
  if (copy && lines && columns) {
    const format: Format = copy.format === 'binary' ? 1 : 0
    return {
      columns: undefined,
      copy: { format, columns: columns.length },
      frames: copyFrames(lines, columns, copy),
      tag: (sent) => `COPY ${Math.max(0, sent - Number(copy.header) - format)}`,
    }
  }
  if (copy) throw new WireError('0A000', 'COPY takes rows of tables; what was asked is answered by a SELECT alone.')
  const frames = rows ? once(rows) : rowFrames(lines ?? linesOf([]), columns ?? [], formats)
  return { columns, frames, tag }
}

const withTemporary = (temporary: TemporaryTables | undefined, tables: readonly CatalogTable[]): readonly CatalogTable[] =>
  temporary ? [...temporary.tables(), ...tables] : tables

const resultNames = (route: Route): readonly string[] => (route.engine === 'tables' ? (route.results ?? []) : [])

/** A column with the name that PostgreSQL gives it: `count` where DuckDB has `count_star()`. */
const namedColumn =
  (names: readonly string[]) =>
  (column: SqlColumn, i: number): WireColumn => ({ ...wireColumn(column), name: names[i] || column.name })

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
const inPlace = <T>({ originalPosition }: EditedText, use: TemporaryUse | undefined, work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    throw placedIn(error, (at) => (use ? use.originalPosition(originalPosition(at)) : originalPosition(at)))
  })

const NO_CHANGE: TemporaryChange = { edits: [], definesTables: false }
const OF_TABLES: Route = { engine: 'tables', unqualified: [] }
/** First words of statements that have no result. */
const DEFINING = new Set(['create', 'drop', 'alter', 'truncate', 'analyze'])

const temporaryName = (name: string): string => `${TEMPORARY_SCHEMA}.${doubleQuoted(name)}`

/** Also when the workspace, or the files of temporary tables, have become too large. */
const signalOf = ({ stop }: Taken, signal: AbortSignal): AbortSignal => (stop ? AbortSignal.any([signal, stop]) : signal)

async function* fetchRows(cursor: Cursor, move: CursorMove, formats: readonly Format[]) {
  cursor.formats ??= formats.join()
  if (cursor.formats !== formats.join()) throw new WireError('0A000', 'A cursor keeps the formats of its first FETCH.')
  if (cursor.isScroll) {
    cursor.kept ??= createScrollRows(async () => (await cursor.portal.result(formats)).frames)
    for (const row of await cursor.kept.fetch(move)) yield { frames: row, rows: 1 }
    return
  }
  if (move.how !== 'forward') throw new WireError('55000', 'The cursor only goes forward. Declare it with SCROLL to go back.')
  const { frames } = await cursor.portal.result(formats)
  for (let left = move.count; left > 0; ) {
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

/** PostgreSQL lets ALTER TABLE change views as well. Answers what was run. */
async function runBySession(session: SqlSession, sql: string, options: StatementOptions): Promise<string> {
  try {
    await session.execute(sql, options)
    return sql
  } catch (error) {
    if (!(error instanceof PlatformError && error.message.includes('ALTER VIEW'))) throw error
    const ofView = sql.replace(/^(alter\s+)table\b/i, '$1VIEW')
    await session.execute(ofView, options)
    return ofView
  }
}

/** With the temporary tables of a connection to a workspace, once it has some. */
async function takeWithSchema(
  { runner, schema }: Pick<PortSessionDeps, 'runner' | 'schema'>,
  signal: AbortSignal,
): Promise<Taken> {
  const taken = await runner.take(signal)
  if (!schema?.isUsed()) return taken
  try {
    await taken.session.useSchema(schema.name)
    return taken
  } catch (error) {
    await taken.release()
    throw explained(taken, error)
  }
}

/** Of the transaction that is open. */
async function sessionOf(runner: Runner): Promise<SqlSession> {
  const { session, release } = await runner.take(new AbortController().signal)
  await release() // stays with the transaction
  return session
}

const explained = ({ explain }: Taken, error: unknown): unknown => (explain ? explain(error) : error)

const explaining = <T>(taken: Taken, work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    throw explained(taken, error)
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

/** Queries of clients at the start, answered without a catalogue, which takes seconds to start. */
const CONSTANTS: Readonly<Record<string, { readonly name: string; readonly value: string }>> = {
  'select version ( )': { name: 'version', value: `PostgreSQL ${SERVER_VERSION} (Millrace)` },
  'select pg_catalog . version ( )': { name: 'version', value: `PostgreSQL ${SERVER_VERSION} (Millrace)` },
}

function constantOf({ tokens }: Statement): { columns: WireColumn[]; rows: readonly (readonly string[])[] } | undefined {
  if (tokens.length > 8) return undefined
  const found = CONSTANTS[Array.from({ length: tokens.length }, (_, i) => tokens.lower(i)).join(' ')]
  return found && { columns: [{ name: found.name, oid: OID.text, modifier: -1 }], rows: [[found.value]] }
}

const isUnknown = (type: string | undefined): boolean => type === undefined || type === 'UNKNOWN'
const typeOfParameter = (type: string | undefined): number =>
  type === undefined || isUnknown(type) ? OID.text : pgType(type).oid

const CHANGES: Readonly<Record<string, string>> = { insert: 'INSERT 0', update: 'UPDATE', delete: 'DELETE', merge: 'MERGE' }

/** `SELECT 5`, `INSERT 0 3`, `CREATE TABLE`; CREATE TABLE AS is `SELECT 5` to PostgreSQL, and only it has rows among the others. */
function tagOf(statement: Statement, rows: number | null): string {
  const { keyword, tokens } = statement
  const change = CHANGES[keyword]
  if (change) return `${change} ${rows ?? 0}`
  if (isQuery(statement) || (keyword === 'create' && rows !== null)) return `SELECT ${rows ?? 0}`
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
