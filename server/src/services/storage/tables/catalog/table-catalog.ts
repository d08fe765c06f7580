// Rules of the catalogue of tables: finding them, who may read and write them, aliases, linked buckets. Independent of HTTP.
//  1. A table is read through `reading`: its snapshot, the columns and the filters that apply. Aliases and linked tables end there too.
//  2. Data changes only in a storage job that holds the lock of the table (`lockOf`), and only by `publish` in that job's transaction.
//  3. What is not of the asker's project is reachable only through a bucket that links it.

import { type Db, isUniqueViolation, type Trx } from '../../../../engines/metadata-db/dialects.ts'
import type { TableSnapshot } from '../../../../engines/table-engine/snapshot.ts'
import type { Filter } from '../../../../engines/table-engine/table-engine.ts'
import type { Freshness } from '../../../../http/freshness.ts'
import type { MetadataItem, MetadataWrite } from '../../../../http/metadata-items.ts'
import type { Page } from '../../../../http/page.ts'
import type { Clock } from '../../../../kit/clock.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { Actor } from '../../../../model/actor.ts'
import {
  type EventDetails,
  type EventSource,
  eventOf,
  type NewEvent,
  type Origin,
  type RecordEvent,
} from '../../../../model/event.ts'
import type { EventName, EventParams } from '../../../../model/event-definitions.ts'
import type { AliasOfTable, TablePlace } from '../../../../model/lineage.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { UsagePort } from '../../../../model/usage-port.ts'
import type { StateCommit } from '../snapshots/table-snapshots.store.ts'
import { createTablesStore, type TableLayout, type TableRow, type TablesStore } from '../tables.store.ts'
import { createTableBrowseStore, type VisibleBuckets } from './table-browse.store.ts'

/** A bucket, seen from here. */
export interface BucketRef {
  readonly key: number
  readonly projectId: number
  readonly branchId: number
  readonly id: string
  /** The bucket whose tables a linked bucket shows. */
  readonly sourceKey: number | undefined
}

export interface BucketsOfTables {
  get(scope: Scope, id: string): Promise<BucketRef>
  getForChange(scope: Scope, id: string, needed: 'write' | 'manage'): Promise<BucketRef>
  list(scope: Scope): Promise<readonly BucketRef[]>
  findByKey(key: number): Promise<BucketRef | undefined>
  findMany(keys: readonly number[]): Promise<readonly (BucketRef & { readonly sharing: string | null })[]>
  /** The buckets of `list`, for a statement of the database. */
  visibleTo(scope: Scope): Promise<VisibleBuckets>
  /** The bucket of the default branch, whatever the branch has under its name. */
  getInDefaultBranch(scope: Scope, id: string): Promise<BucketRef>
  /** The bucket of the same id in the branch, made when it is not there. */
  ensureInBranch(scope: Scope, bucket: BucketRef, origin: Origin): Promise<BucketRef>
  touch(trx: Trx, bucket: BucketRef): Promise<void>
  /** Buckets of any project that show the tables of this one. */
  listLinks(bucket: BucketRef): Promise<readonly BucketRef[]>
  /** As the API shows it, tables as an address. */
  view(bucket: BucketRef, baseUrl: string, trx?: Trx): Promise<object>
}

/** Without a column: of the table itself. */
export interface MetadataOfTables {
  listTables(projectId: number, tables: readonly number[], trx?: Trx): Promise<ReadonlyMap<number, readonly MetadataItem[]>>
  listColumns(
    projectId: number,
    tables: readonly number[],
    trx?: Trx,
  ): Promise<ReadonlyMap<number, Readonly<Record<string, readonly MetadataItem[]>>>>
  /** Numbers of the tables that have such metadata, on themselves or on a column. */
  findTables(
    projectId: number,
    wanted: { readonly key?: string | undefined; readonly value?: string | undefined; readonly provider?: string | undefined },
  ): Promise<readonly number[]>
  /** Whether a bucket has metadata of that key. */
  isOnBucket(projectId: number, bucket: number, key: string): Promise<boolean>
  set(trx: Trx, projectId: number, table: number, column: string | undefined, written: MetadataWrite): Promise<void>
  remove(trx: Trx, projectId: number, table: number, column: string | undefined, id: number): Promise<void>
  forget(trx: Trx, table: number, column?: string): Promise<void>
  renameColumn(trx: Trx, projectId: number, table: number, column: string, to: string): Promise<void>
}

export interface TablesDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly buckets: BucketsOfTables
  readonly metadata: MetadataOfTables
  readonly projectName: (projectId: number) => Promise<string>
  /** The backend that the project reports instead of its own, if it does. */
  readonly backendName: (projectId: number) => Promise<string | undefined>
  readonly usage: UsagePort
  readonly freshnessAt: (place: TablePlace) => Promise<Freshness>
}

/** A table as a caller sees it, from the bucket they see it in. */
export interface Table {
  readonly id: string
  readonly bucket: BucketRef
  /** Its own record; of a table in a linked bucket, the record in the source. */
  readonly row: TableRow
  /** The record that holds the data: itself, or what an alias or a link leads to. */
  readonly data: TableRow
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
  /** Of the aliases on the way. */
  readonly filters: readonly Filter[]
  /** What it is an alias of; undefined for a table of its own. */
  readonly source:
    | {
        readonly key: number
        readonly id: string
        readonly name: string
        readonly isAlias: boolean
        readonly projectId: number
      }
    | undefined
}

/** Records the deletion of a table with its bucket. */
export interface DroppedTable {
  readonly id: string
  readonly name: string
  readonly branchId: number
}

export interface Reading {
  readonly snapshot: TableSnapshot
  readonly snapshotId: number
}

interface InsertOptions {
  readonly importedAt?: Date | undefined
  readonly layout?: TableLayout | undefined
  readonly commit?: (StateCommit & { readonly uuid?: string | undefined }) | undefined
}

/** Aliases of aliases end somewhere; this only bounds a loop that cannot be built. */
const MAX_ALIAS_DEPTH = 20

export type TableCatalog = ReturnType<typeof createTableCatalog>

/** What the use cases of this module work with. */
export interface TableParts extends TablesDeps {
  readonly store: TablesStore
  readonly catalog: TableCatalog
}

export function createTableParts(deps: TablesDeps): TableParts {
  const store = createTablesStore(deps.db)
  return { ...deps, store, catalog: createTableCatalog({ ...deps, store }) }
}

function createTableCatalog(deps: TablesDeps & { readonly store: TablesStore }) {
  const { clock, recordEvent, buckets, metadata, store } = deps
  const browse = createTableBrowseStore(deps.db)

  async function get(scope: Scope, id: string): Promise<Table> {
    const [bucketId, name] = partsOf(scope.actor, id)
    const bucket = await orTableNotFound(scope.actor, bucketId, name, buckets.get(scope, bucketId))
    return getInBucket(bucket, name).catch(async (error: unknown) => {
      // A table that an agent creates in a bucket of its branch does not hide the others from it, nor does a rehearsal.
      const isHidden = scope.actor.onlyProposes && !scope.branch.isDefault && bucket.branchId === scope.branch.id
      if (!isHidden || !(error instanceof PlatformError && error.kind === 'not-found')) throw error
      return getInDefaultBranch(scope, id).catch(() => Promise.reject(error))
    })
  }

  /** The caller may write to the bucket it is in, and the table is of this project. Aliases are found as well; see `refuseAlias`. */
  async function getForChange(scope: Scope, id: string): Promise<Table> {
    const [bucketId, name] = partsOf(scope.actor, id)
    const bucket = await orTableNotFound(scope.actor, bucketId, name, buckets.getForChange(scope, bucketId, 'write'))
    const table = await getInBucket(bucket, name)
    refuseLinked(table.bucket)
    return table
  }

  async function getInDefaultBranch(scope: Scope, id: string): Promise<Table> {
    const [bucketId, name] = partsOf(scope.actor, id)
    return getInBucket(await buckets.getInDefaultBranch(scope, bucketId), name)
  }

  async function getInBucket(bucket: BucketRef, name: string): Promise<Table> {
    const row = await store.find(bucket.sourceKey ?? bucket.key, name)
    if (!row || !isShownIn(bucket, row)) throw tableNotFound(bucket.projectId, bucket.id, name)
    return resolve(bucket, row)
  }

  /** For jobs: the table by its number, or a clear end when it was dropped in between. */
  async function getByKey(projectId: number, key: number): Promise<Table> {
    const row = await store.findByKey(key)
    const bucket = row && (await buckets.findByKey(row.bucketKey))
    if (!row || !bucket || row.projectId !== projectId) throw new PlatformError('storage.tables.dropped')
    return resolve(bucket, row)
  }

  async function resolve(bucket: BucketRef, row: TableRow): Promise<Table> {
    let data = row
    let columns: readonly string[] | undefined
    const filters: Filter[] = []
    for (let depth = 0; data.alias; depth++) {
      columns = columns ? columns : data.alias.columns
      if (data.alias.filter) filters.push(data.alias.filter)
      const next = depth < MAX_ALIAS_DEPTH ? await store.findByKey(data.alias.sourceKey) : undefined
      if (!next) throw new PlatformError('storage.tables.dropped')
      data = next
    }
    const kept = columns?.filter((name) => data.columns.includes(name)) ?? data.columns
    return {
      id: `${bucket.id}.${row.name}`,
      bucket,
      row,
      data,
      columns: kept,
      primaryKey: data.primaryKey.every((name) => kept.includes(name)) ? data.primaryKey : [],
      filters,
      source: await sourceOf(bucket, row),
    }
  }

  async function sourceOf(bucket: BucketRef, row: TableRow): Promise<Table['source']> {
    const source = row.alias ? await store.findByKey(row.alias.sourceKey) : bucket.sourceKey === undefined ? undefined : row
    const home = source && (await buckets.findByKey(source.bucketKey))
    if (!source || !home) return undefined
    return {
      key: source.key,
      id: `${home.id}.${source.name}`,
      name: source.name,
      isAlias: source.alias !== undefined,
      projectId: source.projectId,
    }
  }

  /** Where the rows of a table are. */
  async function placeOf({ id, bucket, row, data }: Table): Promise<TablePlace> {
    const isOwn = data.key === row.key && bucket.sourceKey === undefined
    const home = isOwn ? bucket : await buckets.findByKey(data.bucketKey)
    if (!home) throw new PlatformError('storage.tables.dropped')
    return { projectId: home.projectId, branchId: home.branchId, tableId: isOwn ? id : `${home.id}.${data.name}` }
  }

  /** Of the branch, with the tables they show; those of a linked bucket under the name they have here. */
  async function listAliases(scope: Scope): Promise<AliasOfTable[]> {
    const visible = (await buckets.list(scope)).filter(({ branchId }) => branchId === scope.branch.id)
    const ids = new Map(visible.map(({ key, sourceKey, id }) => [sourceKey ?? key, id]))
    const pairs = await store.listAliasPairs(scope.actor.projectId)
    return pairs.flatMap(({ alias, source }) => {
      const [aliasBucket, sourceBucket] = [ids.get(alias.bucketKey), ids.get(source.bucketKey)]
      if (aliasBucket === undefined || sourceBucket === undefined) return []
      return [{ aliasId: `${aliasBucket}.${alias.name}`, sourceId: `${sourceBucket}.${source.name}` }]
    })
  }

  async function listOfBucket(bucket: BucketRef): Promise<Table[]> {
    const rows = await store.listOfBuckets([bucket.sourceKey ?? bucket.key])
    return Promise.all(rows.filter((row) => isShownIn(bucket, row)).map((row) => resolve(bucket, row)))
  }

  async function list(scope: Scope): Promise<Table[]> {
    const visible = await buckets.list(scope)
    const rows = await store.listOfBuckets([...new Set(visible.map((bucket) => bucket.sourceKey ?? bucket.key))])
    const byBucket = Map.groupBy(rows, (row) => row.bucketKey)
    const found = visible.flatMap((bucket) =>
      (byBucket.get(bucket.sourceKey ?? bucket.key) ?? [])
        .filter((row) => isShownIn(bucket, row))
        .map((row) => ({ bucket, row })),
    )
    return Promise.all(found.map(({ bucket, row }) => resolve(bucket, row)))
  }

  /** A page of the list, and how many tables there are: with 100,000 of them, only those of the page are read. */
  async function listPage(scope: Scope, page: Page): Promise<{ readonly tables: Table[]; readonly total: number }> {
    const { found, total } = await browse.tables(await buckets.visibleTo(scope), page)
    const [shown, rows] = await Promise.all([
      buckets.findMany([...new Set(found.map(({ bucketKey }) => bucketKey))]),
      store.findMany(found.map(({ tableKey }) => tableKey)),
    ])
    const bucketOf = new Map(shown.map((bucket) => [bucket.key, bucket]))
    const rowOf = new Map(rows.map((row) => [row.key, row]))
    const tables = found.map(async ({ bucketKey, tableKey }): Promise<Table[]> => {
      const [bucket, row] = [bucketOf.get(bucketKey), rowOf.get(tableKey)]
      return bucket && row && isShownIn(bucket, row) ? [await resolve(bucket, row)] : [] // or deleted since
    })
    return { tables: (await Promise.all(tables)).flat(), total }
  }

  /** One whole state of the table: whatever is loaded meanwhile, this stays readable. */
  async function reading(table: Table): Promise<Reading> {
    const id = table.data.snapshotId
    const stored = id === undefined ? undefined : await store.findState(id)
    if (stored) return { snapshot: stored.snapshot, snapshotId: stored.id }
    // Published and tidied between the two reads, or dropped: look again once.
    const fresh = await store.findByKey(table.data.key)
    const again = fresh?.snapshotId === undefined ? undefined : await store.findState(fresh.snapshotId)
    if (!again) throw new PlatformError('storage.tables.dropped')
    return { snapshot: again.snapshot, snapshotId: again.id }
  }

  /** In the transaction that ends a job: a new table, in its own bucket only. */
  async function insert(
    trx: Trx,
    bucket: BucketRef,
    names: { readonly name: string; readonly displayName: string },
    snapshot: TableSnapshot,
    { importedAt, layout, commit }: InsertOptions = {},
  ): Promise<Table> {
    const { projectId, key: bucketKey } = bucket
    const table = { projectId, bucketKey, ...names, alias: undefined, createdAt: clock.now(), layout, openUuid: commit?.uuid }
    const row = await store.insert(trx, table, snapshot, importedAt, commit).catch((error: unknown) => {
      throw isUniqueViolation(error) ? tableExists(names.name, names.displayName) : error
    })
    await buckets.touch(trx, bucket)
    const { columns, primaryKey } = row
    return { id: `${bucket.id}.${names.name}`, bucket, row, data: row, columns, primaryKey, filters: [], source: undefined }
  }

  /** In the transaction that ends a job: the new state, the bucket's date and the event. */
  async function publish(
    trx: Trx,
    table: Table,
    snapshot: TableSnapshot,
    what: {
      readonly imported?: boolean
      readonly changed?: boolean
      readonly isTidying?: boolean
      readonly needsCompaction?: boolean
    },
    event: { readonly source: EventSource; readonly origin: Origin; readonly value: NewEvent },
  ): Promise<TableRow> {
    const row = await store.publish(trx, table.data, snapshot, clock.now(), what)
    if (!row) throw new PlatformError('storage.tables.dropped')
    await buckets.touch(trx, table.bucket)
    await recordEvent(trx, event.source, event.value, event.origin)
    return row
  }

  async function drop(trx: Trx, table: Table): Promise<void> {
    const aliases = await aliasesOf(table.row.key)
    for (const { key } of [...aliases, table.row]) await metadata.forget(trx, key)
    await store.remove(trx, [...aliases.map((alias) => alias.key), table.row.key])
  }

  /** All aliases of a table, those of aliases included. */
  async function aliasesOf(key: number): Promise<TableRow[]> {
    const found: TableRow[] = []
    for (let keys = [key]; keys.length > 0; ) {
      const next = await store.listAliasesOf(keys)
      found.push(...next)
      keys = next.map((alias) => alias.key)
    }
    return found
  }

  /** With a bucket go its tables and every alias to them. */
  async function dropAllOfBucket(trx: Trx, _projectId: number, bucketKey: number): Promise<readonly DroppedTable[]> {
    const own = await store.listOfBuckets([bucketKey], trx)
    const aliases = (await Promise.all(own.map(({ key }) => aliasesOf(key)))).flat()
    const dropped = new Map([...own, ...aliases].map((row) => [row.key, row]))
    for (const key of dropped.keys()) await metadata.forget(trx, key)
    await store.remove(trx, [...dropped.keys()])
    return droppedTables([...dropped.values()])
  }

  async function droppedTables(rows: readonly TableRow[]): Promise<readonly DroppedTable[]> {
    const places = new Map<number, BucketRef | undefined>()
    for (const { bucketKey } of rows) if (!places.has(bucketKey)) places.set(bucketKey, await buckets.findByKey(bucketKey))
    return rows.flatMap(({ bucketKey, name }) => {
      const bucket = places.get(bucketKey)
      return bucket ? [{ id: `${bucket.id}.${name}`, name, branchId: bucket.branchId }] : []
    })
  }

  /** Aliases of a project that show tables of a bucket of another one, and the aliases of these. */
  async function aliasesInto(projectId: number, bucketKey: number): Promise<TableRow[]> {
    const direct = await store.listAliasesInto(projectId, bucketKey)
    return [...direct, ...(await Promise.all(direct.map(({ key }) => aliasesOf(key)))).flat()]
  }

  async function dropAliasesInto(trx: Trx, projectId: number, bucketKey: number): Promise<void> {
    const keys = new Set((await aliasesInto(projectId, bucketKey)).map(({ key }) => key))
    for (const key of keys) await metadata.forget(trx, key)
    await store.remove(trx, [...keys])
  }

  return {
    get,
    getForChange,
    getInDefaultBranch,
    getInBucket,
    getByKey,
    resolve,
    list,
    listPage,
    listOfBucket,
    reading,
    insert,
    publish,
    drop,
    aliasesOf,
    placeOf,
    listAliases,
    dropAllOfBucket,
    listAliasesInto: async (projectId: number, bucketKey: number) =>
      (await aliasesInto(projectId, bucketKey)).map(({ name }) => name),
    dropAliasesInto,
  }
}

/** A linked bucket shows whole tables: an alias through a filter stays in the project that made it. */
export const isShownIn = (bucket: Pick<BucketRef, 'sourceKey'>, { alias }: TableRow): boolean =>
  bucket.sourceKey === undefined || alias?.filter === undefined

const tableNotFound = (project: number, bucket: string, name: string) =>
  new PlatformError('storage.tables.notFound', { table: name.slice(0, 200), bucket: bucket.slice(0, 200), project })

/** A table of a bucket that does not exist does not exist either: clients create it only after this answer. */
const orTableNotFound = (actor: Actor, bucketId: string, name: string, found: Promise<BucketRef>): Promise<BucketRef> =>
  found.catch((error: unknown) => {
    const isMissing = error instanceof PlatformError && error.code === 'storage.buckets.notFound'
    throw isMissing ? tableNotFound(actor.projectId, bucketId, name) : error
  })

function partsOf(actor: Actor, id: string): [bucketId: string, name: string] {
  const [stage, bucket, name, ...rest] = id.split('.')
  if (!stage || !bucket || !name || rest.length > 0)
    throw tableNotFound(actor.projectId, `${stage}.${bucket ?? ''}`, [name ?? id, ...rest].join('.'))
  return [`${stage}.${bucket}`, name]
}

export const tableExists = (name: string, displayName: string) =>
  new PlatformError('storage.buckets.tableAlreadyExists', { name, displayName })

/** Aliases and linked tables show data; they hold none. */
export function refuseAlias(table: Table): void {
  if (table.source) throw new PlatformError('storage.tables.aliasImportNotAllowed', { table: table.id, source: table.source.id })
}

/** A linked bucket shows tables of another project, which are not for this one to change. */
export function refuseLinked(bucket: BucketRef): void {
  if (bucket.sourceKey !== undefined) throw new PlatformError('storage.buckets.readOnly', { bucket: bucket.id })
}

/** Jobs on one table run one after the other. A table that is being created is locked by the same name. */
export const lockOf = (bucket: BucketRef, name: string): string => `table:${bucket.branchId}:${bucket.id}.${name}`

export const tableEvent = <N extends EventName>(
  table: Pick<Table, 'id' | 'bucket'>,
  name: N,
  params: EventParams<N>,
  more: EventDetails = {},
): NewEvent =>
  eventOf(name, params, {
    objectId: table.id,
    objectName: table.id.slice(table.bucket.id.length + 1),
    branchId: table.bucket.branchId,
    ...more,
  })

/** What the platform sets on typed tables and columns: readable for all, writable only by the platform. */
export const STORAGE_PROVIDER = 'storage'
