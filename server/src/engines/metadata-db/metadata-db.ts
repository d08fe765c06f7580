// The metadata database: SQLite in the data folder by default, PostgreSQL by address. One code, one set of migrations.

import { backup } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import { type Clock, systemClock } from '../../kit/clock.ts'
import { DEFAULT_LIMITS } from '../../kit/default-limits.ts'
import { PlatformError } from '../../kit/errors.ts'
import { createDatabaseClock, type DatabaseClock, ownClock } from './database-clock.ts'
import { type Db, type DialectName, isDatabaseAway, type NoTables, type Trx } from './dialects.ts'
import { createPostgresHints, type Hints, NO_HINTS } from './hints.ts'
import { migrate, pendingMigrations } from './migrate.ts'
import { MIGRATIONS, type Migration } from './migrations/list.ts'
import { type CopiedTable, copyRows, listTables, restoreRows, type TableRows } from './postgres-copy.ts'
import { AWAY_MS, createPostgresDialect, createPostgresPool, cutConnections } from './postgres-dialect.ts'
import { stopWithin } from './postgres-stop.ts'
import { postgresVersion, type ReachOptions, reachPostgres } from './reach-postgres.ts'
import { openSqlite, openSqliteReader } from './sqlite-dialect.ts'
import { holdWorkerLease, type WorkerLease } from './worker-lease.ts'

export interface MetadataDb {
  readonly db: Db
  readonly dialect: DialectName
  /** The time of the stack, once the database was reached: see database-clock.ts. */
  readonly clock: DatabaseClock
  /** Connections to PostgreSQL by state, and work that waits for one; nothing on SQLite. */
  connections(): Readonly<Record<string, number>>
  /** Waits until the database can be used; what is in a file can be at once. */
  reach(options: ReachOptions): Promise<void>
  /** Brings the schema to this version; answers the names of the migrations it ran. */
  migrate(): Promise<readonly string[]>
  /** What `migrate` would run; nothing is changed. */
  pending(): Promise<readonly Pick<Migration, 'name' | 'changesOld'>[]>
  /** Of the PostgreSQL that holds it; undefined for SQLite, which comes with Node. */
  serverVersion(): Promise<string | undefined>
  /** All or nothing. On PostgreSQL the work runs again after a deadlock or a serialisation failure: no effects outside `trx` in it. */
  inTransaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  /** Another number after every commit of any process; undefined on PostgreSQL, where that would be expensive. */
  version(): number | undefined
  /** Renews the lease of this worker until it is released: see worker-lease.ts. */
  holdWorkerLease(worker: string): Promise<WorkerLease>
  /** Between the nodes that share the database. */
  readonly hints: Hints
  /** A consistent copy, taken while the database is used: one file of SQLite, or the rows of each table of PostgreSQL. */
  backUp(target: MetadataTarget): Promise<void>
  /** Refuses a database that holds something, or a copy of a newer release, before anything is changed. */
  checkRestore(migrations: readonly string[]): Promise<void>
  /** Fills a PostgreSQL database that holds nothing with the rows of a copy; it then has the migrations that the copy had. */
  restore(tables: readonly CopiedTable[], migrations: readonly string[]): Promise<void>
  /** What is wrong with the database; nothing when it is whole. */
  check(): Promise<readonly string[]>
  /** Runs the stop of a node. A database that does not answer meanwhile is given up: what waits for it fails. */
  stopWithin<T>(work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface MetadataTarget {
  file(write: (path: string) => Promise<void>): Promise<void>
  rows(rows: TableRows): Promise<void>
}

export interface MetadataDbOptions {
  /** The SQLite file. Used when there is no `url`. */
  readonly path?: string
  /** `postgres://user:password@host/database` */
  readonly url?: string
  readonly maxConnections?: number
  readonly log?: Record<'info' | 'warn', (details: object, text: string) => void>
  /** Of this node. */
  readonly clock?: Clock
  /** For tests: how far the time of the stack is ahead of PostgreSQL's. */
  readonly aheadMs?: number
  /** For tests that move the clock: the stack keeps to it on PostgreSQL, too. */
  readonly keepsNodeClock?: boolean
  /** Tests of the migrator bring their own. */
  readonly migrations?: readonly Migration[]
}

export async function openMetadataDb(options: MetadataDbOptions): Promise<MetadataDb> {
  const {
    path,
    url,
    maxConnections = DEFAULT_LIMITS.databaseConnections,
    log,
    clock = systemClock,
    aheadMs = 0,
    keepsNodeClock = false,
    migrations = MIGRATIONS,
  } = options
  const migrateAndLog = async (db: Db, at: Clock): Promise<readonly string[]> => {
    const ran = await migrate(db, migrations, at)
    if (ran.length > 0) log?.info({ migrations: ran }, 'the metadata database was migrated')
    return ran
  }
  if (url !== undefined) {
    const pool = createPostgresPool(url, {
      maxConnections,
      onLost: (error) => log?.warn({ err: error }, 'A connection to PostgreSQL was lost'),
    })
    const cutAll = cutConnections(pool)
    const db = new Kysely<NoTables>({ dialect: createPostgresDialect(pool) })
    let isGivenUp = false
    const giveUp = () => {
      isGivenUp = true
      log?.warn({}, 'PostgreSQL does not answer; the node stops without it')
      void db.destroy() // no new connections from here on
      cutAll()
    }
    const checkRestore = async (names: readonly string[]): Promise<void> => {
      const found = (await listTables(pool))[0]
      if (found !== undefined) throw new PlatformError('backup.databaseNotEmpty', { found })
      const unknown = names.filter((name) => !migrations.some((one) => one.name === name))
      if (unknown.length > 0) throw new PlatformError('stack.databaseNewer', { migrations: unknown.join(', ') })
    }
    const hints = createPostgresHints({ url, query: (text, values) => pool.query(text, [...values]) })
    const measured = createDatabaseClock({
      nodeClock: clock,
      ask: async () => Number((await pool.query(NOW)).rows[0]?.now) + aheadMs,
      log,
    })
    return {
      db,
      dialect: 'postgres',
      clock: keepsNodeClock ? ownClock(clock) : measured,
      connections: () => ({
        used: pool.totalCount - pool.idleCount,
        idle: pool.idleCount,
        waiting: pool.waitingCount,
      }),
      reach: async (reach) => {
        await reachPostgres(pool, url, reach)
        if (!keepsNodeClock) await measured.start()
      },
      migrate: () => migrateAndLog(db, measured),
      pending: () => pendingMigrations(db, migrations),
      serverVersion: async () => (await postgresVersion(pool)).version,
      inTransaction: (work) => inPostgresTransaction(db, work),
      version: () => undefined,
      holdWorkerLease: (worker) => holdWorkerLease(url, worker),
      hints,
      backUp: (target) => copyRows(pool, target.rows),
      checkRestore,
      restore: async (tables, names) => {
        await checkRestore(names)
        await migrate(
          db,
          migrations.filter(({ name }) => names.includes(name)),
          measured,
        )
        await restoreRows(pool, tables)
      },
      check: async () => {
        const { rows } = await sql<{ locale: string }>`
          select case datlocprovider when 'c' then datcollate else concat(datlocprovider, ' ', to_jsonb(d) ->> 'datlocale') end as locale
          from pg_database d where datname = current_database()`.execute(db)
        const locale = rows[0]?.locale ?? ''
        return BYTE_ORDER.has(locale)
          ? []
          : [`Its locale is "${locale}", not C: lists sort differently, and lists by run id may leave out children.`]
      },
      stopWithin: (work) => stopWithin(url, giveUp, work),
      async close() {
        measured.stop()
        await hints.close()
        if (!isGivenUp) await db.destroy()
      },
    }
  }
  if (path === undefined) throw new Error('openMetadataDb needs a path or a url.')
  const { db, inTransaction } = openFile(path)
  const watcher = watchSqlite(path)
  return {
    db,
    dialect: 'sqlite',
    clock: ownClock(clock),
    connections: () => ({}),
    reach: async () => {},
    migrate: () => migrateAndLog(db, clock),
    pending: () => pendingMigrations(db, migrations),
    serverVersion: async () => undefined,
    inTransaction,
    version: watcher.version,
    holdWorkerLease: async () => ({ release: async () => {} }), // no other process looks
    hints: NO_HINTS,
    backUp: ({ file }) => file((target) => backUpSqlite(path, target)),
    checkRestore: async () => {}, // the check of the data folder is enough
    restore: () => Promise.reject(new Error('A SQLite database is restored as the file it is.')),
    check: async () => checkSqlite(path),
    stopWithin: (work) => work(),
    async close() {
      watcher.close()
      await db.destroy()
    },
  }
}

function openFile(path: string) {
  try {
    return openSqlite<NoTables>(path)
  } catch (cause) {
    throw new PlatformError('stack.databaseDamaged', { path, reason: (cause as Error).message }, { cause }) // of node:sqlite
  }
}

/** In milliseconds since 1970. */
const NOW = 'select extract(epoch from clock_timestamp()) * 1000 as now'

/** Locales that compare texts byte by byte, as SQLite does. */
const BYTE_ORDER = new Set(['C', 'POSIX', 'C.UTF-8', 'C.utf8', 'b C', 'b C.UTF-8'])

const RETRYABLE = new Set(['40001', '40P01']) // serialization_failure, deadlock_detected
const ATTEMPTS = 5

/**
 * Begins again after a conflict, and when the connection was lost. If it was lost with the commit, the server is queried whether the
 * transaction was committed, because the work must be done exactly once.
 */
async function inPostgresTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  const end = performance.now() + AWAY_MS
  for (let attempt = 1; ; attempt++) {
    const written: { done: T; id: string }[] = [] // one, once the work is done and only the commit is missing
    try {
      return await db.transaction().execute(async (trx) => {
        const done = await work(trx)
        const id = await transactionId(trx)
        if (id !== null) written.push({ done, id })
        return done
      })
    } catch (error) {
      const isConflict = attempt < ATTEMPTS && RETRYABLE.has((error as { code?: string }).code ?? '')
      const isAway = isDatabaseAway(error) && performance.now() < end
      if (!isConflict && !isAway) throw error
      for (const { done, id } of isAway ? written : []) if (await isCommitted(db, id, error)) return done
      await sleep(10 * 2 ** Math.min(attempt, ATTEMPTS) * Math.random())
    }
  }
}

/** Null when nothing was written. */
async function transactionId(trx: Trx): Promise<string | null> {
  const { rows } = await sql<{ id: string | null }>`select pg_current_xact_id_if_assigned()::text as id`.execute(trx)
  return rows[0]?.id ?? null
}

/** Throws the error of the commit when the server does not report it within the time that work waits for it. */
async function isCommitted(db: Db, id: string, lost: unknown): Promise<boolean> {
  const end = performance.now() + AWAY_MS
  const ask = async (): Promise<string | null | undefined> =>
    (await sql<{ status: string | null }>`select pg_xact_status(${id}::xid8) as status`.execute(db)).rows[0]?.status
  while (performance.now() < end) {
    const status = await ask().catch((error: unknown) => {
      if (isDatabaseAway(error)) return 'in progress'
      throw error
    })
    if (status === 'committed' || status === 'aborted') return status === 'committed'
    if (status !== 'in progress') break // older than the server's record
    await sleep(20) // it may not have noticed yet that the connection is gone
  }
  throw lost
}

/** The open read transaction pins the snapshot, so commits that happen meanwhile neither show nor make the copy start over. */
async function backUpSqlite(path: string, target: string): Promise<void> {
  const reader = openSqliteReader(path)
  try {
    reader.exec('begin')
    reader.prepare('select count(*) from sqlite_master').get()
    await backup(reader, target, { rate: 1000 })
  } finally {
    reader.close()
  }
}

/**
 * `data_version` of a connection that never writes counts the commits of all others, in any process. It is read once per turn of the
 * event loop: a caller that learned of a commit reads it in a later turn.
 */
function watchSqlite(path: string) {
  const reader = openSqliteReader(path)
  const ask = reader.prepare('pragma data_version')
  let known: number | undefined
  return {
    version(): number {
      if (known === undefined) {
        known = Number(ask.get()?.data_version)
        setImmediate(() => {
          known = undefined
        })
      }
      return known
    },
    close: () => reader.close(),
  }
}

function checkSqlite(path: string): readonly string[] {
  const reader = openSqliteReader(path)
  try {
    const integrity = reader
      .prepare('pragma integrity_check')
      .all()
      .map((row) => String(row.integrity_check))
    const orphans = reader
      .prepare('pragma foreign_key_check')
      .all()
      .map((row) => `Row ${row.rowid} of ${row.table} refers to a missing row of ${row.parent}.`)
    return [...integrity.filter((line) => line !== 'ok'), ...orphans]
  } finally {
    reader.close()
  }
}
