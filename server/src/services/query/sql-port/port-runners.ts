// Where statements of a connection run. A connection holds a process of the SQL engine only while a statement runs, its result is
// read, or a transaction in a workspace is open: any number of idle connections cost none.

import type { SessionOwner, SqlEngine, SqlSession, SqlTable } from '../../../engines/sql/sql-engine.ts'

/** A session for one statement; `release` it when its result was read. */
export interface Taken {
  readonly session: SqlSession
  /** Aborted when what it writes has become too large. */
  readonly stop?: AbortSignal
  /** The reason behind a statement that was stopped. */
  explain?(error: unknown): unknown
  release(): Promise<void>
}

/** A session with the bounds of its workspace. */
export type BoundedSession = Required<Omit<Taken, 'release'>>

export interface Runner {
  readonly isReadOnly: boolean
  take(signal: AbortSignal): Promise<Taken>
  begin(): Promise<void>
  /** `then` runs in the same session, when the transaction is committed. */
  commit(then?: (session: SqlSession) => Promise<void>): Promise<void>
  rollback(): Promise<void>
  /** The client has the next word in the middle of a statement: it has as long as for the next statement of a transaction. */
  waitForClient(): void
}

export type FindTable = (schema: string, name: string) => Promise<SqlTable | undefined>

export interface ReadRunnerDeps {
  readonly engine: Pick<SqlEngine, 'open'>
  readonly reader: string
  readonly owner: SessionOwner
  readonly findTable: FindTable
  /** How long a statement took. */
  readonly onClosed: (ms: number) => void
}

export interface ReadRunner extends Runner {
  /** A table as statements of the current transaction see it. */
  readonly findTable: FindTable
}

/** Reads tables of the project. A transaction sees each table as it was when it was first named. */
export function createReadRunner({ engine, reader, owner, findTable, onClosed }: ReadRunnerDeps): ReadRunner {
  let seen: Map<string, Promise<SqlTable | undefined>> | undefined

  const find: FindTable = (schema, name) => {
    if (!seen) return findTable(schema, name)
    const key = JSON.stringify([schema, name])
    const known = seen.get(key)
    if (known) return known
    const found = findTable(schema, name)
    seen.set(key, found)
    found.catch(() => seen?.delete(key))
    return found
  }
  const end = async () => {
    seen = undefined
  }
  return {
    isReadOnly: true,
    findTable: find,
    take: async (signal) => {
      const session = await engine.open({ mode: 'read', reader, owner, findTable: find, signal, onClosed })
      return { session, release: session.close }
    },
    begin: async () => {
      seen = new Map()
    },
    commit: end,
    rollback: end,
    waitForClient: () => {},
  }
}

/** Runs `work` in a session of the workspace, exclusively. */
export type UseWorkspace = (work: (open: BoundedSession) => Promise<void>, signal: AbortSignal) => Promise<void>

export interface WorkspaceRunnerDeps {
  readonly use: UseWorkspace
  readonly endOfConnection: AbortSignal
  /** Called when a transaction has waited so long for its next statement: it blocks the workspace for all others. */
  readonly onIdle: () => void
  readonly idleMs: number
}

/** Reads and writes tables of a workspace. A transaction keeps its session from its first statement on: others work until then. */
export function createWorkspaceRunner({ use, endOfConnection, onIdle, idleMs }: WorkspaceRunnerDeps): Runner {
  let held: Taken | undefined
  /** BEGIN was sent, and no statement yet. */
  let isBegun = false
  let idle: NodeJS.Timeout | undefined
  const waitForNext = () => {
    clearTimeout(idle)
    idle = setTimeout(onIdle, idleMs).unref()
  }

  async function hold(signal: AbortSignal): Promise<Taken> {
    const opened = Promise.withResolvers<BoundedSession>()
    const done = Promise.withResolvers<void>()
    const used = use((open) => {
      opened.resolve(open)
      return done.promise
    }, signal)
    used.catch(opened.reject)
    const { session, stop, explain } = await opened.promise
    return {
      ...{ session, stop, explain },
      release: () => {
        done.resolve()
        return used
      },
    }
  }

  async function startTransaction(signal: AbortSignal): Promise<void> {
    const taken = await hold(AbortSignal.any([endOfConnection, signal]))
    await taken.session.execute('BEGIN').catch(async (error: unknown) => {
      await taken.release()
      throw error
    })
    isBegun = false
    held = taken
  }

  async function end(statement: 'COMMIT' | 'ROLLBACK', then?: (session: SqlSession) => Promise<void>): Promise<void> {
    const taken = held
    held = undefined
    isBegun = false
    clearTimeout(idle)
    if (!taken) return
    try {
      await taken.session.execute(statement)
      await then?.(taken.session)
    } finally {
      await taken.release()
    }
  }

  return {
    isReadOnly: false,
    take: async (signal) => {
      if (isBegun) await startTransaction(signal)
      if (!held) return hold(signal)
      clearTimeout(idle)
      return {
        ...held,
        release: async () => {
          clearTimeout(idle)
          if (held) waitForNext()
        },
      }
    },
    begin: async () => {
      isBegun = true
    },
    commit: (then) => end('COMMIT', then),
    rollback: () => end('ROLLBACK'),
    waitForClient: waitForNext,
  }
}
