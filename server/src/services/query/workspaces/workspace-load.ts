// Loading tables of the project into a workspace: copies, or views that always show the newest state. All of a request or nothing.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { singleQuoted } from '../../../kit/text/single-quoted.ts'
import type { Actor } from '../../../model/actor.ts'
import { eventOf, type NewEvent, type RecordEvent } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import { identifier, type SqlColumnMapping, sqlColumn } from '../../../model/sql-columns.ts'
import type { JobHandler } from '../../../model/storage-job.ts'
import { workspaceEvent } from './workspace-events.ts'
import { objectsIn } from './workspace-objects.ts'
import type { FindTable, WorkspaceSession, WorkspaceSessions } from './workspace-sessions.ts'
import type { Workspace } from './workspaces.store.ts'
import type { Workspaces } from './workspaces.ts'

export type LoadType = 'COPY' | 'VIEW'

/** One table of a load, as stored in the job. */
export interface LoadItem {
  readonly source: string
  readonly destination: string
  /** The branch of the source; absent: that of the workspace. */
  readonly sourceBranch?: Scope['branch']
  readonly columns?: readonly SqlColumnMapping[]
  /** Filters, times and a limit, as the client sent them. */
  readonly query: Readonly<Record<string, unknown>>
  readonly incremental: boolean
  readonly overwrite: boolean
  /** A clone has the column `_timestamp` behind the others (corrections-2, W9). */
  readonly withLoadTime: boolean
  readonly loadType: LoadType
  /** What else the load could be; for dry runs. */
  readonly possibleLoadTypes: readonly LoadType[]
}

export interface LoadInput {
  readonly workspaceId: number
  readonly preserve: boolean
  readonly items: readonly LoadItem[]
  readonly actor: Actor
  readonly branch: Scope['branch']
}

/** A part of a table of the project. */
interface TablePart {
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
  sizeBytes(): Promise<number>
  open(withLoadTime?: boolean): ReturnType<FindTable>
}

export interface WorkspaceLoadDeps {
  readonly workspaces: Pick<Workspaces, 'find'>
  readonly sessions: Pick<WorkspaceSessions, 'use'>
  readonly findTable: FindTable
  readonly recordEvent: RecordEvent
  /** Counts bytes that leave the tables. */
  readonly exported: (trx: Trx, projectId: number, runId: string | null, bytes: number) => Promise<void>
  readonly partOf: (scope: Scope, tableId: string, query: Readonly<Record<string, unknown>>) => Promise<TablePart>
}

/** The schema under which a load sees its parts; no bucket has this name. */
const PARTS = 'sys.load'

export function createWorkspaceLoad({
  workspaces,
  sessions,
  findTable,
  recordEvent,
  exported,
  partOf,
}: WorkspaceLoadDeps): JobHandler {
  return async ({ job, signal, publish }) => {
    const { workspaceId, items, preserve, actor, branch } = job.input as LoadInput // written by the routes of this module
    const workspace = await workspaces.find(job.projectId, workspaceId)
    const parts = await Promise.all(
      items.map((item) =>
        partOf({ actor, branch: item.sourceBranch ?? branch }, item.source, {
          ...item.query,
          ...(item.columns && { columns: item.columns.map(({ source }) => source) }),
        }),
      ),
    )
    const find: FindTable = async (scope, schema, name) =>
      schema === PARTS ? parts[Number(name)]?.open(items[Number(name)]?.withLoadTime) : findTable(scope, schema, name)
    await sessions.use({ actor, branch }, workspace, (open) => loadAll(open, items, parts, preserve), {
      signal,
      findTable: find,
    })
    const outBytes = (await Promise.all(parts.map((part) => part.sizeBytes()))).reduce((sum, bytes) => sum + bytes, 0)
    const tables = items.map(({ source, destination, loadType }) => ({ source, destination, loadType }))
    await publish(async (trx) => {
      for (const event of eventsOf(job.operationName, workspace, tables, preserve))
        await recordEvent(trx, job.source, event, job.origin)
      await exported(trx, job.projectId, job.origin.runId, outBytes)
      return { results: { tables }, metrics: { outBytes } }
    })
  }
}

/** A clone leaves one for each table, any other load one in all. */
function eventsOf(
  operationName: string,
  workspace: Workspace,
  tables: readonly Pick<LoadItem, 'source' | 'destination' | 'loadType'>[],
  preserve: boolean,
): NewEvent[] {
  if (operationName !== 'workspaceLoadClone') return [workspaceEvent('storage.workspaceLoaded', workspace, { preserve, tables })]
  return tables.map(({ source, destination }) =>
    eventOf(
      'storage.workspaceTableCloned',
      { source, destination, workspace: String(workspace.id) },
      { objectId: source, branchId: workspace.branchId },
    ),
  )
}

async function loadAll(
  open: WorkspaceSession,
  items: readonly LoadItem[],
  parts: readonly TablePart[],
  preserve: boolean,
): Promise<void> {
  const { session, signal } = open
  const run = (sql: string) => session.execute(sql, { signal })
  // Named before the transaction, so that all of them are visible in it.
  for (const [i, item] of items.entries()) await named(item, session.describe(`FROM ${placeOf(item, i)}`))
  await run('BEGIN')
  try {
    if (!preserve) {
      const kept = new Set(items.filter(({ incremental }) => incremental).map(({ destination }) => destination.toLowerCase()))
      const dropped = (await objectsIn(session)).filter(({ name }) => !kept.has(name.toLowerCase()))
      for (const { name, type } of dropped) await run(`DROP ${type} IF EXISTS ${identifier(name)}`)
    }
    for (const [i, item] of items.entries()) {
      const part = parts[i]
      if (part) await named(item, loadOne(open, item, `${placeOf(item, i)}`, part))
    }
    await run('COMMIT')
  } catch (error) {
    await session.execute('ROLLBACK').catch(() => {}) // a session that died has rolled back
    throw error
  }
}

const placeOf = ({ loadType, source }: LoadItem, i: number): string =>
  loadType === 'VIEW' ? sqlNameOf(source) : `${identifier(PARTS)}.${identifier(String(i))}`

async function loadOne({ session, signal }: WorkspaceSession, item: LoadItem, place: string, part: TablePart): Promise<void> {
  const run = (sql: string) => session.execute(sql, { signal })
  const { destination, loadType, incremental, overwrite } = item
  const target = identifier(destination)
  const existing = (await objectsIn(session)).find(({ name }) => name.toLowerCase() === destination.toLowerCase())
  const columns =
    item.columns ?? part.columns.map((name) => ({ source: name, destination: name, isNullable: true, emptyIsNull: false }))
  const loadTime = item.withLoadTime ? `, strftime(CAST("_timestamp" AS TIMESTAMP), '%Y-%m-%d %H:%M:%S') AS "_timestamp"` : ''
  const select = `SELECT ${columns.map(sqlColumn).join(', ')}${loadTime} FROM ${place}`
  if (existing?.type === 'table' && incremental && loadType === 'COPY') {
    await compareColumns(session, item, existing.name, columns, select)
    const renamed = (name: string) => columns.find(({ source }) => source === name)?.destination
    const key = part.primaryKey.map(renamed)
    if (key.length > 0 && key.every((name) => name !== undefined))
      await run(`DELETE FROM ${target} WHERE (${key.map((name) => identifier(name ?? '')).join(', ')}) IN
        (SELECT (${key.map((name) => identifier(name ?? '')).join(', ')}) FROM (${select}))`)
    const names = columns.map((column) => identifier(column.destination)).join(', ')
    await run(`INSERT INTO ${target} (${names}) ${select}`)
    return
  }
  if (existing && !overwrite) throw new PlatformError('workspace.duplicateTable', { destination })
  if (existing) await run(`DROP ${existing.type} ${target}`)
  await run(`CREATE ${loadType === 'VIEW' ? 'VIEW' : 'TABLE'} ${target} AS ${select}`)
  if (loadType === 'VIEW') return
  for (const column of columns.filter(({ isNullable }) => !isNullable))
    await run(`ALTER TABLE ${target} ALTER COLUMN ${identifier(column.destination)} SET NOT NULL`)
}

/** Rows are added to a table of the same columns, types and constraints only (corrections-2, W8). */
async function compareColumns(
  session: WorkspaceSession['session'],
  { source, destination }: LoadItem,
  table: string,
  mapping: readonly SqlColumnMapping[],
  select: string,
): Promise<void> {
  const { batches } = await session.query(
    `SELECT column_name, data_type, is_nullable FROM duckdb_columns()
     WHERE database_name = 'workspace' AND NOT internal AND table_name = ${singleQuoted(table)} ORDER BY column_index`,
  )
  const there = (await Array.fromAsync(batches)).flat().map(([name, type, nullable]) => ({
    name: String(name),
    says: mappingText(String(type), nullable === true),
  }))
  const { columns: shape } = await session.describe(select)
  const ours = shape.map(({ name, type }, i) => ({ name, says: mappingText(type, mapping[i]?.isNullable ?? true) }))
  const isIn = (list: readonly { readonly name: string }[]) => (one: { readonly name: string }) =>
    list.some(({ name }) => name.toLowerCase() === one.name.toLowerCase())
  const names = (list: readonly { readonly name: string }[]) =>
    list
      .map(({ name }) => name)
      .join(', ')
      .slice(0, 500)
  const missingThere = ours.filter((one) => !isIn(there)(one))
  if (missingThere.length > 0)
    throw new PlatformError('workspace.columnsNotMatch', {
      reason: `Some columns are missing in workspace table "${destination}": ${names(missingThere)}.`,
    })
  const missingHere = there.filter((one) => !isIn(ours)(one))
  if (missingHere.length > 0)
    throw new PlatformError('workspace.columnsNotMatch', {
      reason: `Some columns are missing in source table "${source}": ${names(missingHere)}.`,
    })
  const other = ours.flatMap((one) => {
    const match = there.find(({ name }) => name.toLowerCase() === one.name.toLowerCase())
    return match && match.says !== one.says ? [`"${one.name}" is ${match.says} there and ${one.says} in the load`] : []
  })
  if (other.length > 0)
    throw new PlatformError('workspace.columnsTypesNotMatch', { source, destination, columns: other.join(', ').slice(0, 500) })
}

const mappingText = (type: string, isNullable: boolean): string => (isNullable ? type : `${type} NOT NULL`)

/** Adds the name of the table to an error of DuckDB. */
async function named<T>({ source, destination }: LoadItem, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof PlatformError) || error.code !== 'sql.failed') throw error
    throw new PlatformError(
      'workspace.tableLoad',
      { source, destination, reason: String(error.details.message) },
      { cause: error },
    )
  })
}

const sqlNameOf = (tableId: string): string => {
  const at = tableId.lastIndexOf('.')
  return `${identifier(tableId.slice(0, at))}.${identifier(tableId.slice(at + 1))}`
}
