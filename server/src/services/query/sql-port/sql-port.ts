// The PostgreSQL port: a listener, logins, a session for each connection.

import { randomBytes } from 'node:crypto'
import { type CatalogTable, createCatalogs } from '../../../engines/pg-wire/catalogs.ts'
import { createWireListener, type WireListenerDeps } from '../../../engines/pg-wire/listener.ts'
import { type Startup, WireError, type WireSession } from '../../../engines/pg-wire/wire-session.ts'
import type { SqlEngine, SqlTable } from '../../../engines/sql/sql-engine.ts'
import { readerOf, type Scope } from '../../../model/scope.ts'
import { type ConnectionSchema, createConnectionSchema } from './connection-schema.ts'
import type { PortUser } from './port-account.ts'
import { wireErrorOf } from './port-errors.ts'
import { createPortLogin, type PortLogin, type PortLoginDeps, type PortWorkspace } from './port-login.ts'
import { type BoundedSession, createReadRunner, createWorkspaceRunner, type Taken } from './port-runners.ts'
import { createPortSession } from './port-session.ts'
import { createPortSettings } from './port-settings.ts'
import { pgType } from './port-types.ts'
import { createTemporaryTables, definitionsIn, type TemporaryStore } from './temporary-tables.ts'

/** A table as the tables module lists it. */
export interface ListedTable extends Omit<CatalogTable, 'columns' | 'version'> {
  readonly state: string
  columns(): Promise<CatalogTable['columns']>
}

export interface SqlPortDeps<W extends PortWorkspace> extends PortLoginDeps<W> {
  readonly engine: Pick<SqlEngine, 'open'>
  readonly temporaryStore: TemporaryStore
  readonly tls?: WireListenerDeps['tls']
  readonly findTable: (scope: Scope, bucketId: string, name: string) => Promise<SqlTable | undefined>
  readonly listTables: (scope: Scope) => Promise<readonly ListedTable[]>
  readonly useWorkspace: (
    scope: Scope,
    workspace: W,
    work: (open: BoundedSession) => Promise<void>,
    signal: AbortSignal,
  ) => Promise<void>
  /** Drops the schema of a connection that has ended. */
  readonly dropSchema: (scope: Scope, workspace: W, schema: string) => Promise<void>
  /** Without a workspace the password is a token. */
  readonly describeUser: (workspace: W | undefined) => Promise<PortUser>
  /** A session of the project has ended. */
  readonly onSession: (projectId: number, ms: number) => void
  readonly onBug: (error: unknown) => void
  readonly maxConnections?: number
}

/** A token that was deleted ends its connections within this time. */
const CHECK_MS = 1000
/** A transaction in a workspace that is idle for so long is rolled back: it blocks all other users. */
const IDLE_TRANSACTION_MS = 300_000
const idleTransaction = () =>
  new WireError('25P03', `The transaction had no statement for ${IDLE_TRANSACTION_MS / 1000} seconds and was undone.`)

/** As the programs of runs connect. */
export interface RunConnection {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  close(): void
}

export type SqlPort = ReturnType<typeof createSqlPort>

export function createSqlPort<W extends PortWorkspace>(deps: SqlPortDeps<W>) {
  const catalogs = createCatalogs()
  const login = createPortLogin(deps)
  const definitions = createDefinitions()
  const checks = new Set<() => void>()
  /** Schemas that are being dropped. */
  const drops = new Set<Promise<void>>()
  const ticker = setInterval(() => {
    for (const check of checks) check()
  }, CHECK_MS).unref()

  const open = async (startup: Startup, password: string): Promise<WireSession> =>
    sessionOf(await login(startup, password), startup)

  function sessionOf(known: PortLogin<W>, startup: Startup): WireSession {
    const ended = Promise.withResolvers<WireError>()
    const closed = new AbortController()
    const check = async () => {
      if (await known.isValid()) return
      const gone = new WireError('57P01', 'The token or the workspace of this connection was deleted or changed.')
      ended.resolve(gone)
      throw gone
    }
    const tick = () => void check().catch(() => {}) // a database that does not respond is queried again
    checks.add(tick)
    const runs = runnerOf(known, closed.signal, () => ended.resolve(idleTransaction()))
    return createPortSession({
      ...runs,
      settings: createPortSettings(startup.user, startup.parameters),
      check,
      listTables: tablesOf(known, runs.schema),
      catalog: () => catalogs.get(String(known.scope.actor.projectId)),
      user: startup.user,
      database: startup.database,
      describeUser: () => deps.describeUser(known.workspace),
      ended: ended.promise,
      onClose: () => {
        checks.delete(tick)
        closed.abort()
        if (known.workspace && runs.schema?.isUsed()) drop(known.scope, known.workspace, runs.schema.name)
      },
    })
  }

  /** In the background: others may use the workspace. What fails is dropped with the next use of the workspace. */
  function drop(scope: Scope, workspace: W, schema: string): void {
    const dropped = deps.dropSchema(scope, workspace, schema).catch(() => {})
    drops.add(dropped)
    void dropped.then(() => drops.delete(dropped))
  }

  function runnerOf({ scope, workspace }: PortLogin<W>, endOfConnection: AbortSignal, onIdle: () => void) {
    if (workspace) {
      const use = (work: (open: BoundedSession) => Promise<void>, signal: AbortSignal) =>
        deps.useWorkspace(scope, workspace, work, signal)
      return {
        runner: createWorkspaceRunner({ use, endOfConnection, onIdle, idleMs: IDLE_TRANSACTION_MS }),
        temporary: undefined,
        schema: createConnectionSchema(deps.temporaryStore.newConnection()),
      }
    }
    const common = {
      engine: deps.engine,
      reader: readerOf(scope),
      owner: scope.actor,
      onClosed: (ms: number) => deps.onSession(scope.actor.projectId, ms),
    }
    const runner = createReadRunner({ ...common, findTable: (schema, name) => deps.findTable(scope, schema, name) })
    const { findTable } = runner
    const store = deps.temporaryStore
    return {
      runner,
      temporary: createTemporaryTables({ ...common, findTable, store, onIdle, idleMs: IDLE_TRANSACTION_MS }),
      schema: undefined,
    }
  }

  const tablesOf =
    ({ scope, workspace }: PortLogin<W>, schema: ConnectionSchema | undefined) =>
    async (take: () => Promise<Taken>): Promise<readonly CatalogTable[]> => {
      const ofProject = await Promise.all((await deps.listTables(scope)).map(definitions.of))
      return workspace ? [...(schema?.visible(await ofSession(take)) ?? []), ...ofProject] : ofProject
    }

  const listener = createWireListener({
    tls: deps.tls,
    maxConnections: deps.maxConnections ?? 200,
    login: open,
    wireError: (error) => wireErrorOf(error, deps.onBug),
  })
  let number: number | undefined

  /** What runs have open now, by password. Programs of runs reach this listener alone, and it lets nothing in but them. */
  const ofRuns = new Map<string, PortLogin<W>>()
  const runListener = createWireListener({
    maxConnections: deps.maxConnections ?? 200,
    login: async (startup, password) => {
      const known = ofRuns.get(password)
      if (!known) throw new WireError('28P01', 'The password is not that of a run.')
      return sessionOf(known, startup)
    },
    wireError: (error) => wireErrorOf(error, deps.onBug),
  })
  let runPort: Promise<number> | undefined

  /** A connection to a workspace for the program of a run, with the rights of the run and for as long as it is open. */
  async function openForRun(scope: Scope, workspace: W): Promise<RunConnection> {
    runPort ??= runListener.listen(0, '127.0.0.1')
    const password = randomBytes(24).toString('base64url')
    const port = await runPort
    ofRuns.set(password, { scope, workspace, isValid: async () => ofRuns.has(password) })
    return {
      ...{ host: '127.0.0.1', port, user: `workspace_${workspace.id}`, password, database: 'default' },
      close: () => void ofRuns.delete(password),
    }
  }

  return {
    openForRun,
    listen: async (wanted: number, host: string): Promise<number> => {
      number = await listener.listen(wanted, host)
      return number
    },
    /** Undefined until it listens. */
    number: () => number,
    catalogPids: catalogs.pids,
    close: async (): Promise<void> => {
      clearInterval(ticker)
      await listener.close()
      if (runPort) await runListener.close()
      await Promise.all(drops)
      await catalogs.close()
    },
  }
}

const MAX_DEFINITIONS = 20_000

/** Definitions of tables, read again when the table has changed. */
function createDefinitions() {
  const known = new Map<string, Promise<CatalogTable>>()

  async function read({ schema, name, primaryKey, columns }: ListedTable): Promise<CatalogTable> {
    const typed = (await columns()).map((column) => ({ ...column, type: pgType(column.type).name }))
    return { schema, name, primaryKey, columns: typed, version: JSON.stringify([typed, primaryKey]) }
  }

  return {
    of: (table: ListedTable): Promise<CatalogTable> => {
      const key = JSON.stringify([table.schema, table.name, table.primaryKey, table.state])
      const found = known.get(key)
      if (found) return found
      if (known.size >= MAX_DEFINITIONS) known.clear()
      const reading = read(table)
      known.set(key, reading)
      reading.catch(() => known.delete(key))
      return reading
    },
  }
}

/** Tables of a workspace. Clients such as dbt compare the columns of its temporary tables with those of the table to load. */
async function ofSession(take: () => Promise<Taken>): Promise<CatalogTable[]> {
  const { session, release } = await take()
  try {
    return await definitionsIn(session)
  } finally {
    await release()
  }
}
