// Loads and exports of files on this machine, for whoever runs components here. Plain functions that wait for the end; the same rules,
// locks, events and jobs as over HTTP, without a copy of the bytes in between.

import type { TableEngine } from '../../engines/table-engine/table-engine.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { JobHandler, NewStorageJob, Requester, StorageJob } from '../../kit/storage-job.ts'
import { queryOf } from './table-export.ts'
import type { AlsoPublish, CreateInput, CsvOptions, ImportInput, OpenSource, TableLoads } from './table-load.ts'
import { checkTableName, columnNameFrom } from './table-names.ts'
import { type QueryInput, readTableQuery } from './table-query.ts'
import { type BucketRef, lockOf, refuseAlias, type Scope, type Tables } from './tables.ts'

export interface LocalFile {
  readonly path: string
  readonly sizeBytes: number
  readonly gzip?: boolean
  /** How messages call it; default: the last part of the path. */
  readonly name?: string
}

export interface LocalLoad {
  /** `in.c-main.orders`; the table, and its bucket, are made when they are not there yet. */
  readonly tableId: string
  /** One CSV file, or the slices of one in order (then `columns` is needed). */
  readonly files: readonly LocalFile[]
  readonly isSliced: boolean
  readonly csv?: CsvOptions
  readonly incremental?: boolean
  readonly primaryKey?: readonly string[]
  /** Rows that leave the table before the load: `{ column, operator: 'eq' | 'ne', values }`. */
  readonly deleteWhere?: { readonly column: string; readonly operator: 'eq' | 'ne'; readonly values: readonly string[] }
}

export interface LocalExport extends QueryInput {
  readonly tableId: string
  /** Where the CSV file, with a header, shall be. */
  readonly path: string
  readonly limit?: number
}

/** Who asks: as for a job, and in which branch. */
export type LocalRequester = Requester & Scope

export interface LocalTablesDeps {
  readonly tables: Tables
  readonly loads: TableLoads
  readonly engine: Pick<TableEngine, 'unload'>
  readonly runInline: (requester: Requester, job: NewStorageJob, run: JobHandler) => Promise<StorageJob>
  /** The key under which the engine finds a file of this machine. */
  readonly localKey: (path: string) => string
  readonly createBucket: (requester: LocalRequester, bucketId: string) => Promise<void>
}

export type LocalTables = ReturnType<typeof createLocalTables>

export function createLocalTables({ tables, loads, engine, runInline, localKey, createBucket }: LocalTablesDeps) {
  /**
   * Loads files into a table, made if need be. Throws what is wrong with them. `also` writes in the transaction that publishes the
   * load: it commits with it or not at all.
   */
  async function load(requester: LocalRequester, request: LocalLoad, also?: AlsoPublish): Promise<StorageJob> {
    const [stage, bucketName, name, ...rest] = request.tableId.split('.')
    if (!stage || !bucketName || !name || rest.length > 0)
      throw new PlatformError('storage.tables.validation', {
        reason: `"${request.tableId.slice(0, 120)}" is no id of a table. Ids look like in.c-main.orders.`,
      })
    const bucket = await bucketOf(requester, `${stage}.${bucketName}`)
    const existing = await tables.store.find(bucket.key, name)
    const source = openSource(request)
    const job = existing
      ? await importInto(requester, bucket, existing.key, request, source, also)
      : await create(requester, bucket, name, request, source, also)
    if (job.status === 'success') return job
    throw new PlatformError(
      'storage.jobs.failed',
      { message: job.error?.message ?? '' },
      { params: { job: job.id, code: job.error?.code } },
    )
  }

  async function bucketOf(requester: LocalRequester, bucketId: string): Promise<BucketRef> {
    try {
      return await tables.bucket.getForChange(requester, bucketId, 'write')
    } catch (error) {
      if (!(error instanceof PlatformError && error.code === 'storage.buckets.notFound')) throw error
      await createBucket(requester, bucketId).catch((failure: unknown) => {
        // Another load may have made it in between.
        if (!(failure instanceof PlatformError && failure.code === 'storage.buckets.alreadyExists')) throw failure
      })
      return tables.bucket.getForChange(requester, bucketId, 'write')
    }
  }

  const openSource = ({ files, isSliced }: LocalLoad): OpenSource => ({
    name: files[0] ? nameOf(files[0]) : 'the file',
    isSliced,
    slices: files.map((file) => ({
      key: localKey(file.path),
      gzip: file.gzip ?? /\.gz$/i.test(file.path),
      name: nameOf(file),
      sizeBytes: file.sizeBytes,
    })),
  })

  function create(
    requester: LocalRequester,
    bucket: BucketRef,
    name: string,
    request: LocalLoad,
    source: OpenSource,
    also?: AlsoPublish,
  ) {
    checkTableName(name)
    const primaryKey = (request.primaryKey ?? []).map(columnNameFrom)
    const input: CreateInput = {
      bucketKey: bucket.key,
      name,
      displayName: name,
      source: { type: 'local' },
      primaryKey,
      csv: request.csv ?? {},
    }
    const job = {
      operationName: 'tableCreate',
      operationParams: { params: { name, primaryKey }, source: input.source },
      input,
      branchId: bucket.branchId,
      lockKeys: [lockOf(bucket, name)],
    }
    return runInline(requester, job, (run) => loads.createFrom(run, input, source, also))
  }

  async function importInto(
    requester: LocalRequester,
    bucket: BucketRef,
    key: number,
    request: LocalLoad,
    source: OpenSource,
    also?: AlsoPublish,
  ) {
    const table = await tables.getByKey(bucket.projectId, key)
    refuseAlias(table)
    const incremental = request.incremental ?? false
    const input: ImportInput = {
      tableKey: key,
      source: { type: 'local' },
      incremental,
      csv: request.csv ?? {},
      ...(request.primaryKey && { primaryKey: request.primaryKey.map(columnNameFrom) }),
      ...(request.deleteWhere && { deleteWhere: [request.deleteWhere] }),
    }
    const job = {
      operationName: 'tableImport',
      operationParams: { params: { incremental }, source: input.source },
      input,
      tableId: table.id,
      branchId: bucket.branchId,
      lockKeys: [lockOf(bucket, table.row.name)],
    }
    return runInline(requester, job, (run) => loads.importFrom(run, input, source, also))
  }

  /** One whole state of a table, or a part of it, as a CSV file with a header. */
  async function exportTo(scope: Scope, request: LocalExport, signal?: AbortSignal) {
    const table = await tables.get(scope, request.tableId)
    const { snapshot } = await tables.reading(table)
    const query = readTableQuery(request, table.columns, tables.clock.now())
    const { columns, rows } = await engine.unload(
      { snapshot, ...queryOf(table, query, request.limit), format: 'csv', merged: true, keyPrefix: localKey(request.path) },
      signal ? { signal } : {},
    )
    return { columns, rows, table }
  }

  /** Metadata that came with a file, as output mapping sets it. */
  async function setMetadata(
    scope: Scope,
    tableId: string,
    provider: string,
    items: {
      readonly table: readonly { key: string; value: string }[]
      readonly columns: Readonly<Record<string, readonly { key: string; value: string }[]>>
    },
  ): Promise<void> {
    const table = await tables.getForChange(scope, tableId)
    const { projectId, key } = table.row
    await tables.inTransaction(async (trx) => {
      const now = tables.clock.now()
      if (items.table.length > 0) await tables.metadata.set(trx, projectId, key, undefined, provider, items.table, now)
      for (const [column, pairs] of Object.entries(items.columns))
        if (table.columns.includes(column)) await tables.metadata.set(trx, projectId, key, column, provider, pairs, now)
    })
  }

  return { load, exportTo, setMetadata }
}

const nameOf = (file: LocalFile): string => file.name ?? file.path.split('/').at(-1) ?? file.path
