// The one connection that writes, and the transactions that take turns on it.
//
// Writers of one turn of the event loop are synced together: a transaction that ends leaves the database's own transaction open, and the next
// one joins it as a savepoint. When the turn has dealt with everything that arrived, one commit, one fsync, and all of them are acknowledged.
// (Without the wait for the end of the turn nothing would ever be shared: SQLite answers at once, so a request is through before Node
// looks at the next socket.) What must stay true:
//  (1) no caller is answered before the commit that holds their work has returned;
//  (2) a member that rolls back undoes only its own work;
//  (3) when SQLite gives up the whole transaction by itself (disk full, I/O error), every member of the group fails;
//  (4) no transaction waits longer than the turn: a lone one is committed at its end;
//  (5) no commit while a member is at work, because it would tear that member in two.

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFairMutex } from './fair-mutex.ts'

const WRITER_PATIENCE_MS = 60_000
const BUSY_PATIENCE_MS = 10_000
const BUSY_PAUSE_MS = 5
const SQLITE_BUSY = 5
const SESSION =
  'pragma busy_timeout = 10000; pragma case_sensitive_like = on; pragma journal_mode = wal; pragma synchronous = full; ' +
  'pragma foreign_keys = on; pragma cache_size = -32000; pragma busy_timeout = 0'

export interface WriterTransaction {
  /** Resolves when the work is on disk. */
  commit(): Promise<void>
  /** `cause` is why: it may be what made the database give up. */
  rollback(cause?: unknown): void
}

export interface SqliteWriter {
  readonly db: DatabaseSync
  begin(): Promise<WriterTransaction>
  /** For what SQLite refuses inside a transaction, such as most pragmas. */
  outsideTransaction<T>(work: () => T): Promise<T>
  close(): void
}

interface Member {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export function openSqliteWriter(path: string): SqliteWriter {
  const db = new DatabaseSync(path)
  db.exec(SESSION)
  const control = Object.fromEntries(
    ['begin immediate', 'commit', 'rollback', 'savepoint member', 'release member', 'rollback to member'].map((sql) => [
      sql,
      db.prepare(sql),
    ]),
  ) as Record<string, StatementSync> // every name used below is in the list
  const run = (sql: string) => control[sql]!.run()
  let group: Member[] = []
  let memberAtWork = false

  const mutex = createFairMutex({
    patienceMs: WRITER_PATIENCE_MS,
    explain: () =>
      `Waited ${WRITER_PATIENCE_MS / 1000} s for the database writer. A transaction is held open that long, or code inside a transaction writes through the database instead of the transaction.`,
    onPause: () => setImmediate(commitGroup),
  })

  function commitGroup(): void {
    if (group.length === 0 || memberAtWork) return // called again at the end of its own turn
    const members = group
    group = []
    try {
      run('commit')
      for (const member of members) member.resolve()
    } catch (error) {
      if (db.isTransaction) run('rollback')
      for (const member of members) member.reject(error)
    }
  }

  /** The database has rolled everything back by itself: the work of all members is lost. */
  function failGroup(cause?: unknown): Error {
    const error = new Error('The database gave up the transaction, or one that shared its commit, because it could not write.', {
      cause,
    })
    for (const member of group) member.reject(error)
    group = []
    return error
  }

  async function begin(): Promise<WriterTransaction> {
    const release = await mutex.acquire()
    const endTurn = () => {
      memberAtWork = false
      release()
    }
    memberAtWork = true
    const joins = group.length > 0
    try {
      if (joins) run('savepoint member')
      else await whenNotBusy(() => run('begin immediate'))
    } catch (error) {
      endTurn()
      throw error
    }
    return {
      commit: () =>
        new Promise<void>((resolve, reject) => {
          try {
            if (!db.isTransaction) throw failGroup()
            if (joins) run('release member')
            group.push({ resolve, reject })
          } catch (error) {
            reject(error)
          } finally {
            endTurn()
          }
        }),
      rollback(cause) {
        try {
          if (!db.isTransaction) failGroup(cause)
          else if (joins) {
            run('rollback to member')
            run('release member')
          } else run('rollback')
        } finally {
          endTurn()
        }
      },
    }
  }

  async function outsideTransaction<T>(work: () => T): Promise<T> {
    const endTurn = await mutex.acquire()
    try {
      commitGroup()
      return await whenNotBusy(work)
    } finally {
      endTurn()
    }
  }

  return {
    db,
    begin,
    outsideTransaction,
    close() {
      commitGroup()
      db.close()
    },
  }
}

/** Another process (the command line, a second node by mistake) may hold the file: wait without blocking this one. */
async function whenNotBusy<T>(work: () => T): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += BUSY_PAUSE_MS) {
    try {
      return work()
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY || waitedMs >= BUSY_PATIENCE_MS) throw error
      await sleep(BUSY_PAUSE_MS)
    }
  }
}
