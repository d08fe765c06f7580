// A session: the tables that statements name are found, linked into the folder of the session and bound as views before each
// statement runs, so that every statement sees the newest state of each table, and nothing is opened that no statement refers to.

import { randomBytes, randomUUID } from 'node:crypto'
import { copyFile, link, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PlatformError } from '../../kit/errors.ts'
import { nextTurn } from '../../kit/next-turn.ts'
import { singleQuoted } from '../../kit/text/single-quoted.ts'
import { failedAt, positionOf } from './error-place.ts'
import { withHistory } from './history.ts'
import { type FromWorker, PROJECT_CATALOG, type RunMessage, type ToWorker, type View, type WorkerError } from './protocol.ts'
import type {
  CopyFormat,
  CsvFile,
  SessionOptions,
  SqlBytes,
  SqlEngineDeps,
  SqlLimits,
  SqlRows,
  SqlSession,
  SqlTable,
  SqlValue,
  StatementEnd,
  StatementOptions,
  StatementShape,
} from './sql-engine.ts'
import type { StatementNames } from './statement-names.ts'
import {
  checkAllowed,
  hasFewRows,
  isQuery,
  isTransaction,
  qualifyTables,
  type Statement,
  singleStatement,
  statementsOfView,
  type TableName,
  tablesNamed,
} from './statements.ts'
import { SERIALIZE_SQL } from './syntax-tree.ts'
import type { WorkerProcess } from './worker-process.ts'

/** What a session leaves to the next one of its reader, beside a DuckDB: the links to files that it has read. */
export interface Kept {
  /** The reader, and the limits of the DuckDB. */
  readonly key: string
  /** The file that it has open, of a session with a database of its own. */
  readonly database: string | undefined
  readonly dir: string
  readonly links: Map<string, Link>
  /** Tables of the project that views of the database may name, by schema and name. */
  readonly viewed: Map<string, TableName> | undefined
  /** The views in it. */
  readonly bound: ReadonlyMap<string, Bound>
}

interface Link {
  readonly path: string
  usedAt: number
}

export interface SessionDeps extends Pick<SqlEngineDeps, 'openLocal'> {
  readonly worker: WorkerProcess
  readonly limits: SqlLimits
  /** Where the DuckDB of the process is kept between sessions; undefined when it is not. */
  readonly key: string | undefined
  /** Left by the last session of the process, of this or of another key. */
  readonly left: Kept | undefined
  /** The process may serve another session; without an answer it is ended. */
  readonly release: (rssMb: number | undefined, kept?: Kept) => Promise<void>
}

/** A DuckDB that has grown beyond this share of the memory is not kept, nor is a process. */
export const RETIRE_SHARE = 0.5
/** A link keeps the bytes of an object that may be deleted meanwhile, so it is removed when it was not read for so long. */
const LINK_MS = 60_000

/** Of tables in views, some of which may be gone: beyond this the views are read again. */
const MAX_VIEWED = 1000

/** Of what one statement is to DuckDB, for its names. */
const MAX_TREE_BYTES = 256 << 20

/** A cancelled statement that has not ended by then takes its process with it. On a busy machine DuckDB may need seconds to notice. */
const CANCEL_MS = 30_000

interface Bound extends View {
  readonly version: string
}

export async function openSession(
  { worker, limits, openLocal, key, left, release }: SessionDeps,
  options: SessionOptions,
): Promise<SqlSession> {
  const { mode, database, schema, findTable } = options
  const inherited = left !== undefined && left.key === key ? left : undefined
  const dir = inherited?.dir ?? join(worker.dir, randomUUID())
  const links = inherited?.links ?? new Map<string, Link>()
  const filesDir = join(dir, 'files')
  const bound = new Map<string, Bound>()
  /** Views of the session before. A statement finds those that it names unchanged; the others are dropped before the first one runs. */
  const former = new Map(inherited?.bound)
  let viewed = inherited?.viewed
  /** True after a statement that may have dropped, replaced or rolled back views over tables of the project. */
  let isBoundUncertain = false
  let isOpen = true
  let isRunning = false
  let inTransaction = false
  let rssMb: number | undefined

  if (inherited) {
    await settled(worker.ask({ type: 'reopen' }))
    await unlinkUnused(links)
  } else {
    await mkdir(filesDir, { recursive: true })
    const spillDir = join(dir, 'spill')
    await settled(worker.ask({ type: 'open', mode, limits, filesDir, spillDir, fifo: worker.fifo, database, schema }))
    if (left) await rm(left.dir, { recursive: true, force: true })
  }

  async function settled(answer: ReturnType<WorkerProcess['ask']>): Promise<Extract<FromWorker, { type: 'done' }>> {
    const message = await answer
    rssMb = message.rssMb
    if (message.type === 'failed') throw named(message.error)
    return message
  }

  /** The tables a statement names, as they are now. DuckDB reports names that do not exist. */
  async function bindTables(statement: Statement, shortNames: StatementOptions['shortNames'] = {}): Promise<void> {
    const views: View[] = []
    const named = await tablesNamed(statement)
    for (const [i, table] of named.entries()) {
      if (i > 0) await nextTurn() // a lookup may hold the event loop for a moment, and a statement may name a thousand tables
      await findView(views, table.schema, table.name, table)
    }
    for (const [name, table] of Object.entries(shortNames)) await findView(views, 'main', name, table)
    if (isViewCreated(statement)) for (const table of named) viewed?.set(`${table.schema}.${table.name}`, table)
    await bind(views, [...former.values()])
    former.clear()
  }

  /** Creates the views that the statement needs. Views that may be gone are created again, since views of the database may read them. */
  async function bind(found: readonly View[], dropped: readonly View[] = []): Promise<void> {
    const isRepair = isBoundUncertain && !inTransaction
    const views = isRepair ? [...bound.values()] : found // those that were found are bound by now
    if (views.length === 0 && dropped.length === 0) return
    try {
      await settled(worker.ask({ type: 'bind', views, dropped }))
      if (isRepair) isBoundUncertain = false
    } catch (error) {
      for (const view of found) forget(keyOf(view.schema, view.name), view)
      isBoundUncertain = true
      throw error
    }
  }

  /** Whether the view exists is unknown: it is created when a statement names it, or dropped. */
  function forget(key: string, view: View): void {
    former.set(key, { ...view, version: '', select: '' })
    bound.delete(key)
  }

  /** Adds the view that a table is bound as, unless its state is bound already. */
  async function findView(views: View[], schema: string, name: string, named: TableName): Promise<void> {
    const key = keyOf(schema, name)
    const known = bound.get(key)
    if (known && (known.schema !== schema || known.name !== name))
      throw new PlatformError('sql.ambiguousTable', { table: `${schema}.${name}`, other: `${known.schema}.${known.name}` })
    if (known && inTransaction) return // a transaction reads one state
    const table = await findTable(named.schema, named.name)
    if (!table || table.version === known?.version) return
    const view = { schema, name, select: table.select(await linkFiles(table)) }
    if (!isSame(former.get(key), view)) views.push(view)
    former.delete(key)
    bound.set(key, { ...view, version: table.version })
  }

  /**
   * A database may have views over tables of the project. Those of tables that the asker may not read stay without them. The views are
   * read once for the DuckDB that has the file open; from then on what statements create is added.
   */
  async function bindViews(): Promise<void> {
    if (!viewed || viewed.size > MAX_VIEWED) viewed = await tablesOfViews()
    const views: View[] = []
    for (const table of viewed.values()) {
      await nextTurn()
      await findView(views, table.schema, table.name, table).catch((error: unknown) => {
        if (!(error instanceof PlatformError && error.kind === 'forbidden')) throw error
      })
    }
    await bind(views)
  }

  async function tablesOfViews(): Promise<Map<string, TableName>> {
    const found = new Map<string, TableName>()
    const { batches } = await query(VIEWS, { isOurs: true })
    for (const [text] of (await Array.fromAsync(batches)).flat()) {
      await nextTurn()
      for await (const statement of statementsOfView(String(text)))
        for (const table of await tablesNamed(statement)) found.set(`${table.schema}.${table.name}`, table)
    }
    return found
  }

  async function linkFiles(table: SqlTable): Promise<Record<string, string>> {
    const local: Record<string, string> = {}
    for (const objectKey of table.keys) local[objectKey] = await linkFile(objectKey)
    return local
  }

  /** A link of its own keeps the bytes while the session reads them, whatever becomes of the object. */
  async function linkFile(objectKey: string): Promise<string> {
    const known = links.get(objectKey)
    const path = known?.path ?? (await newLink(objectKey))
    links.set(objectKey, { path, usedAt: performance.now() })
    return path
  }

  async function newLink(objectKey: string): Promise<string> {
    const file = await openLocal(objectKey)
    if (!file) throw new PlatformError('tableEngine.objectMissing', { key: objectKey })
    const path = join(filesDir, randomUUID()) // no suffix: DuckDB must not take it for a table by its name
    try {
      await link(file.path, path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EXDEV') throw error
        return copyFile(file.path, path)
      })
      return path
    } finally {
      await file.release()
    }
  }

  /** Reads, checks and binds a statement, then starts it. */
  async function start(sql: string, output: RunMessage['output'], given: Given): Promise<Running> {
    if (!isOpen) throw new PlatformError('sql.sessionClosed')
    if (isRunning) throw new PlatformError('sql.sessionInUse')
    isRunning = true
    try {
      const sent = await singleStatement(sql)
      const { statement, originalPosition } = given.isOurs
        ? { statement: sent, originalPosition: undefined }
        : await withHistory(sent)
      if (!given.isOurs) await checkAllowed(statement, mode)
      const qualified = database === undefined ? asItIs(statement) : await qualifyTables(statement, PROJECT_CATALOG)
      await bindTables(statement, given.shortNames)
      if (given.signal?.aborted) throw new PlatformError('sql.cancelled')
      const placed = originalPosition && {
        text: qualified.text,
        originalPosition: (at: number) => originalPosition(qualified.originalPosition(at)),
      }
      return run(sent, placed ?? qualified, output, given, sql.slice(0, sent.offset))
    } catch (error) {
      isRunning = false
      throw error
    }
  }

  function run(
    statement: Statement,
    { text, originalPosition }: Qualified,
    output: RunMessage['output'],
    { signal, timeoutMs, limit, values = [] }: Given,
    head: string,
  ): Running {
    const marker = randomBytes(16).toString('hex')
    const shape = Promise.withResolvers<StatementShape>()
    const batches = createQueue<readonly (readonly SqlValue[])[]>()
    let isEnded = false
    let reason: PlatformError | undefined
    let killTimer: NodeJS.Timeout | undefined
    const stop = (why: PlatformError) => {
      if (reason || isEnded) return
      reason = why
      batches.end(why)
      worker.send({ type: 'cancel' })
      killTimer = setTimeout(() => void worker.kill(), CANCEL_MS)
    }
    const cancel = () => stop(new PlatformError('sql.cancelled'))
    const allowedMs = Math.min(timeoutMs ?? limits.timeoutMs, limits.timeoutMs)
    const outOfTime = () => stop(new PlatformError('sql.timeout', { seconds: Math.round(allowedMs / 100) / 10 }))
    const timer = setTimeout(outOfTime, allowedMs)
    signal?.addEventListener('abort', cancel, { once: true })

    async function untilEnd(): Promise<StatementEnd> {
      try {
        const kind = { isQuery: isQuery(statement), hasFewRows: hasFewRows(statement) }
        const request = { type: 'run', sql: text, ...kind, output, values, limit, marker } as const
        const { end } = await settled(
          worker.ask(request, (message) => {
            if (message.type === 'columns') shape.resolve(message)
            if (message.type === 'rows') batches.push(message.rows)
          }),
        )
        inTransaction = transactionAfter(statement, inTransaction)
        if (mayChangeViews(statement)) isBoundUncertain = true
        shape.resolve(NO_RESULT) // unless it had one
        batches.end()
        return end ?? { rows: null, changedRows: null }
      } catch (error) {
        if (isTransaction(statement)) isBoundUncertain = true // a COMMIT that fails rolls back
        const why = reason ?? placed(error, statement, originalPosition, head)
        shape.reject(why)
        batches.end(why)
        throw why
      } finally {
        isEnded = true
        clearTimeout(timer)
        clearTimeout(killTimer)
        signal?.removeEventListener('abort', cancel)
      }
    }
    const end = untilEnd()
    end.catch(() => {}) // reported to the reader of the result
    shape.promise.catch(() => {})
    return { shape: shape.promise, batches, end, marker, cancel }
  }

  async function query(sql: string, given: Given = {}): Promise<SqlRows> {
    const { shape, batches, end, cancel } = await start(sql, 'rows', given)
    const freed = end.then(free, free)
    const { columns } = await shape.catch((error: unknown) => freed.then(() => Promise.reject(error)))
    return {
      columns,
      end,
      batches: eachOf(batches, () => worker.send({ type: 'more' }), cancel),
      cancel: () => {
        cancel()
        return freed
      },
    }
  }

  async function copy(sql: string, format: CopyFormat, given: StatementOptions = {}): Promise<SqlBytes> {
    const { shape, end, marker, cancel } = await start(sql, format, given)
    const text = textOf(marker, end, cancel, format === 'postgres')
    const { columns } = await shape.catch((error: unknown) => text.return().then(() => Promise.reject(error)))
    if (columns.length === 0) free() // a statement without a result has no text
    const bytes = columns.length === 0 ? noText() : text
    return {
      columns,
      end,
      bytes,
      cancel: async () => {
        cancel()
        await bytes.return()
      },
    }
  }

  /** The text of a result. The session is free when it was read to its end, or left. */
  function textOf(marker: string, end: Promise<StatementEnd>, cancel: () => void, isLent: boolean) {
    const text = worker.readUntil(marker)
    let isOver = false
    /** The text can end before the message that the statement has: the next statement of the process would take that for its own. */
    const over = async () => {
      isOver = true
      await end.catch(() => {})
      free()
    }
    return {
      next: async (): Promise<IteratorResult<Buffer, undefined>> => {
        if (isOver) return { done: true, value: undefined }
        const { done, value } = await text.next().catch(async (error: unknown) => {
          await over()
          await end // has the reason why the process ended
          throw error
        })
        if (!done) return { done: false, value: isLent ? value : Buffer.from(value) }
        await over()
        await end // throws what the statement failed with
        return { done: true, value: undefined }
      },
      return: async (): Promise<IteratorResult<Buffer, undefined>> => {
        if (!isOver) {
          cancel()
          // The writer may wait for a reader; a process that ended sends no more text.
          await drain(text).catch(() => {})
          await over()
        }
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  function free(): void {
    isRunning = false
  }

  async function execute(sql: string, given: StatementOptions = {}): Promise<StatementEnd> {
    const { batches, end } = await query(sql, given)
    await drain(batches)
    return end
  }

  async function describe(sql: string, given: Pick<StatementOptions, 'shortNames'> = {}): Promise<StatementShape> {
    const { shape, end } = await start(sql, 'columns', given)
    await end.finally(free)
    return shape
  }

  async function names(sql: string): Promise<StatementNames | 'unreadable' | 'other'> {
    const readable = await readableByDuckDb(sql)
    const { batches, end } = await start(SERIALIZE_SQL, 'names', { values: [readable, MAX_TREE_BYTES] })
    await end.finally(free)
    const [[text] = []] = (await batches.next()) ?? []
    return JSON.parse(String(text)) as StatementNames | 'unreadable' | 'other' // written by our worker
  }

  async function csvFile(): Promise<CsvFile> {
    const path = join(filesDir, randomUUID())
    const file = await open(path, 'wx')
    let longestLine = 2 << 20
    const discard = async () => {
      await file.close().catch(() => {}) // closed already when it was read
      await rm(path, { force: true })
    }
    return {
      write: async (bytes, longest) => {
        longestLine = Math.max(longestLine, longest)
        await file.writeFile(bytes)
      },
      insert: async (into, values, given = {}) => {
        const names = ['line', ...values.map((_, i) => `c${i}`)].map((name) => `${name}: 'VARCHAR'`)
        const from = `read_csv(${singleQuoted(path)}, columns = {${names.join(', ')}}, ${csvOptions(longestLine)})`
        try {
          await file.close()
          const { batches, end } = await query(`INSERT INTO ${into} SELECT ${values.join(', ')} FROM ${from}`, {
            ...given,
            isOurs: true,
          })
          await drain(batches)
          await end
        } finally {
          await discard()
        }
      },
      discard,
    }
  }

  async function close(): Promise<void> {
    if (!isOpen) return
    isOpen = false
    // Views that a transaction made go with it, even if the list of the worker still has them.
    const isKept = key !== undefined && !isRunning && !inTransaction && isSmall()
    if (isBoundUncertain) for (const [key, view] of bound) forget(key, view)
    if (isKept) return release(rssMb, { key, database, dir, links, viewed, bound: new Map([...former, ...bound]) }) // cleaned by the next session of the process
    const isClean = !isRunning && (await closed())
    await rm(dir, { recursive: true, force: true })
    await release(isClean ? rssMb : undefined)
  }

  /** Names of the project in what a statement replaces, drops or alters may be those of views over its tables. */
  function mayChangeViews(statement: Statement): boolean {
    if (statement.keyword === 'rollback' || statement.keyword === 'abort') return true
    const lower = targetOf(statement).toLowerCase()
    return lower.includes(PROJECT_CATALOG) || [...bound.values()].some(({ schema }) => lower.includes(schema.toLowerCase()))
  }

  const closed = (): Promise<boolean> =>
    settled(worker.ask({ type: 'close' })).then(
      () => true,
      () => false,
    )

  const isSmall = (): boolean => rssMb !== undefined && rssMb < RETIRE_SHARE * limits.memoryMb

  if (database !== undefined) await bindViews()
  async function between(message: Extract<ToWorker, { type: 'checkpoint' | 'schema' }>): Promise<void> {
    if (!isOpen) throw new PlatformError('sql.sessionClosed')
    if (isRunning) throw new PlatformError('sql.sessionInUse')
    isRunning = true
    await settled(worker.ask(message)).finally(free)
  }
  const checkpoint = () => between({ type: 'checkpoint' })
  const useSchema = (schema: string) => between({ type: 'schema', schema })
  return { query, copy, execute, describe, names, csvFile, useSchema, checkpoint, close, [Symbol.asyncDispose]: close }
}

/** `AS OF` is not DuckDB's. A text that is no single statement stays as it is: DuckDB reports what is wrong with it. */
async function readableByDuckDb(sql: string): Promise<string> {
  if (!/\bas\s+of\b/i.test(sql)) return sql
  return singleStatement(sql).then(
    async (statement) => (await withHistory(statement)).statement.text,
    () => sql,
  )
}

async function unlinkUnused(links: Map<string, Link>): Promise<void> {
  for (const [key, { path, usedAt }] of links) {
    if (performance.now() - usedAt < LINK_MS) continue
    links.delete(key)
    await rm(path, { force: true })
  }
}

const keyOf = (schema: string, name: string): string => `${schema}.${name}`.toLowerCase()

const isSame = (one: View | undefined, { schema, name, select }: View): boolean =>
  one?.schema === schema && one.name === name && one.select === select

/** `CREATE [OR REPLACE] [TEMP] VIEW` */
const isViewCreated = ({ keyword, tokens }: Statement): boolean =>
  keyword === 'create' && [1, 2, 3, 4].some((i) => tokens.kind(i) === 'word' && tokens.lower(i) === 'view')

/** The part of a statement that names what it replaces, drops or alters. */
function targetOf({ keyword, text, tokens, offset }: Statement): string {
  if (keyword === 'drop' || keyword === 'alter') return text
  if (keyword !== 'create' || tokens.lower(1) !== 'or') return ''
  let i = 2
  while (i < tokens.length && tokens.lower(i) !== 'as') i++
  return i < tokens.length ? text.slice(0, tokens.start(i) - offset) : text
}

/** `isOurs`: the text is of this file, and may read what callers may not. */
type Given = StatementOptions & { readonly values?: readonly SqlValue[]; readonly isOurs?: boolean }

const VIEWS = `SELECT sql FROM duckdb_views() WHERE database_name = 'workspace' AND NOT internal`

const csvOptions = (longestLine: number): string =>
  `auto_detect = false, header = false, delim = ',', quote = '"', escape = '"', new_line = '\\n', nullstr = '', allow_quoted_nulls = false,
  parallel = false, max_line_size = ${longestLine}, buffer_size = ${4 * longestLine}`

interface Running {
  readonly shape: Promise<StatementShape>
  readonly batches: Queue<readonly (readonly SqlValue[])[]>
  readonly end: Promise<StatementEnd>
  readonly marker: string
  readonly cancel: () => void
}

const NO_RESULT: StatementShape = { columns: [], parameters: [] }

type Qualified = Awaited<ReturnType<typeof qualifyTables>>

const asItIs = ({ text }: Statement): Qualified => ({ text, originalPosition: (at: number) => at })

function transactionAfter(statement: Statement, isOpen: boolean): boolean {
  if (!isTransaction(statement)) return isOpen
  return statement.keyword === 'begin' || statement.keyword === 'start'
}

const named = ({ code, details, position, cause }: WorkerError): PlatformError =>
  new PlatformError(code, details, { cause, ...(position !== undefined && { params: { position } }) })

/** Where in the text that was sent DuckDB found the mistake; `head`: what precedes the statement, such as a comment. */
function placed(error: unknown, { text }: Statement, originalPosition: (at: number) => number, head: string): unknown {
  const at = positionOf(error)
  if (!(error instanceof PlatformError) || at === undefined) return error
  const before = Buffer.from(text).subarray(0, originalPosition(at)).toString()
  return failedAt(error, head + text, head.length + before.length)
}

// ------------------------------------------------------------------------------------------------------------------ batches

interface Queue<T> {
  push(value: T): void
  /** After an error nothing more is given out. */
  end(error?: unknown): void
  next(): Promise<T | undefined>
}

function createQueue<T>(): Queue<T> {
  const values: T[] = []
  let ended: { readonly error?: unknown } | undefined
  let wake = () => {}
  return {
    push: (value) => {
      if (!ended) values.push(value)
      wake()
    },
    end: (error) => {
      ended ??= error === undefined ? {} : { error }
      if (error !== undefined) values.length = 0
      wake()
    },
    next: async () => {
      while (values.length === 0 && !ended)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      if (ended && 'error' in ended) throw ended.error
      return values.shift()
    },
  }
}

/** Requests another batch with each one it yields; leaving early cancels. */
async function* eachOf<T>(queue: Queue<T>, more: () => void, cancel: () => void): AsyncGenerator<T> {
  let isWhole = false
  try {
    for (let batch = await queue.next(); batch !== undefined; batch = await queue.next()) {
      more()
      yield batch
    }
    isWhole = true
  } finally {
    if (!isWhole) cancel()
  }
}

async function* noText(): AsyncGenerator<Buffer, void> {}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}
