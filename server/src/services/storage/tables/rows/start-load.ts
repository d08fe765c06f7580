// Starts the jobs that move data: checks a request, then queues a create, an import or an export job.

import { formatTimestamp } from '../../../../kit/clock.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { CreateJob, NewStorageJob, Requester, StorageJob } from '../../../../model/storage-job.ts'
import { type BucketRef, lockOf, refuseAlias, type Table, type TableParts } from '../catalog/table-catalog.ts'
import { checkFilters, checkNewTable, writableBucket } from '../table-checks.ts'
import type { CreateInput } from './table-load.ts'
import {
  branchFrom,
  type CreateRequest,
  type Fields,
  isSet,
  readCreateRequest,
  readExportOptions,
  readImportRequest,
  type WorkspaceTable,
} from './table-requests.ts'

export interface LoadStarterDeps {
  readonly parts: TableParts
  readonly createJob: CreateJob
  readonly findBranch: (projectId: number, name: string) => Promise<Scope['branch'] | undefined>
  /** Refuses files the caller may not read. */
  readonly checkFile: (scope: Scope, fileId: number) => Promise<void>
  /** Refuses workspaces the caller may not use. */
  readonly checkWorkspace: (scope: Scope, workspaceId: number) => Promise<void>
}

/** A request of a route fits. */
export type LoadRequester = Requester & Scope

export type LoadStarter = ReturnType<typeof createLoadStarter>

export function createLoadStarter({ parts, createJob, findBranch, checkFile, checkWorkspace }: LoadStarterDeps) {
  const { catalog, clock } = parts

  /** A new table from a file, a snapshot or an earlier state. `fileId`: the file that came with the request itself. */
  const create = async (requester: LoadRequester, bucketId: string, fields: Fields, fileId?: number): Promise<StorageJob> =>
    createJob(requester, await planCreate(requester, bucketId, fields, fileId))

  async function planCreate(
    requester: LoadRequester,
    bucketId: string,
    fields: Fields,
    fileId?: number,
  ): Promise<NewStorageJob & { readonly input: CreateInput }> {
    const request = readCreateRequest(fields, clock.now(), fileId)
    const { name, displayName, primaryKey, csv } = request
    const bucket = await findBucket(requester, bucketId)
    if (bucket) await checkNewTable(parts, bucket, name, displayName)
    const source = await sourceOf(requester, request)
    const input: CreateInput = { bucketKey: bucket?.key, bucketId, name, displayName, source, primaryKey, csv }
    const { delimiter = ',', enclosure = '"', escapedBy = '', columns = [] } = csv
    return {
      operationName: 'tableCreate',
      operationParams: {
        params: { name, displayName, primaryKey, delimiter, enclosure, escapedBy, columns, incremental: false },
        source:
          request.source.type === 'timeTravel'
            ? {
                ...request.source,
                timestamp: formatTimestamp(new Date(request.source.timestamp)),
                destinationTableName: name,
              }
            : request.source,
      },
      input,
      branchId: bucket?.branchId ?? requester.branch.id,
      lockKeys: bucket ? [lockOf(bucket, name)] : [],
    }
  }

  /** Undefined when there is none: clients expect a job that fails then (spec storage 2.5.3). */
  const findBucket = (scope: Scope, bucketId: string): Promise<BucketRef | undefined> =>
    writableBucket(parts, scope, bucketId).catch((error: unknown) => {
      if (error instanceof PlatformError && error.code === 'storage.buckets.notFound') return undefined
      throw error
    })

  /** The source of the rows must exist, and the caller must be allowed to read it. */
  async function sourceOf({ actor, branch }: Scope, { source }: CreateRequest): Promise<CreateInput['source']> {
    if (source.type === 'file') await checkFile({ actor, branch }, source.fileId)
    if (source.type === 'workspace') return workspaceSource({ actor, branch }, source)
    if (source.type === 'snapshot') await checkSnapshot({ actor, branch }, source.snapshotId)
    if (source.type !== 'timeTravel') return source
    const table = await catalog.get({ actor, branch }, source.sourceTableId)
    // The earlier state is the whole table, with all that an alias hides.
    if (table.source) throw new PlatformError('storage.validation.timeTravelNotSupported', { table: table.id })
    const { timestamp } = source
    if (timestamp > clock.now().getTime() || !(await parts.store.findStateAt(table.data.key, new Date(timestamp))))
      throw new PlatformError('storage.timetravel.invalid')
    return { type: 'timeTravel', sourceTableKey: table.data.key, timestamp }
  }

  /** The load reads it with the rights of the caller. Clients expect a job that fails for an unknown one (corrections-2, A20). */
  async function workspaceSource({ actor, branch }: Scope, source: WorkspaceTable) {
    const isMissing = await checkWorkspace({ actor, branch }, source.workspaceId).then(
      () => false,
      (error: unknown) => {
        if (error instanceof PlatformError && error.kind === 'not-found') return true
        throw error
      },
    )
    return { ...source, scope: { actor, branch }, ...(isMissing && { isMissing }) }
  }

  async function checkSnapshot(scope: Scope, snapshotId: number): Promise<void> {
    const kept = await parts.store.findSnapshot(scope.actor.projectId, snapshotId)
    if (!kept) throw new PlatformError('storage.snapshots.notFound', { id: snapshotId })
    await parts.buckets.get(scope, kept.tableId.split('.').slice(0, 2).join('.')).catch((error: unknown) => {
      // A snapshot may outlive its bucket, but not the permission to read it.
      if (!(error instanceof PlatformError && error.kind === 'not-found')) throw error
    })
  }

  const importInto = async (requester: LoadRequester, table: Table, fields: Fields, fileId?: number): Promise<StorageJob> =>
    createJob(requester, await planImport(requester, table, fields, fileId))

  async function planImport(requester: LoadRequester, table: Table, fields: Fields, fileId?: number): Promise<NewStorageJob> {
    refuseAlias(table)
    const request = readImportRequest(fields, fileId)
    if (request.source.type === 'file') await checkFile(requester, request.source.fileId)
    const source = request.source.type === 'file' ? request.source : await workspaceSource(requester, request.source)
    const { delimiter = ',', enclosure = '"', escapedBy = '', columns = [], withoutHeaders = false } = request.csv
    return {
      operationName: 'tableImport',
      operationParams: {
        params: { incremental: request.incremental, source: [], withoutHeaders, columns, delimiter, enclosure, escapedBy },
        source: request.source,
      },
      input: { ...request, source, tableKey: table.row.key },
      tableId: table.id,
      branchId: table.bucket.branchId,
      lockKeys: [lockOf(table.bucket, table.row.name)],
    }
  }

  async function exportOf(requester: LoadRequester, tableId: string, fields: Fields): Promise<StorageJob> {
    const table = await catalog.get(await scopeIn(requester, branchFrom(fields, 'sourceBranchId')), tableId)
    const options = readExportOptions(fields, table.columns, clock.now())
    const { query } = options
    await checkFilters(parts, table, query)
    // A caller outside of the branch could not open a file that is visible only in it.
    const fileBranchId = requester.branch.id === table.bucket.branchId ? table.bucket.branchId : undefined
    return createJob(requester, {
      operationName: 'tableExport',
      operationParams: {
        export: {
          tableName: null,
          columns: query.columns ?? [],
          limit: options.limit ?? null,
          changedSince: fields.changedSince ?? null,
          changedUntil: fields.changedUntil ?? null,
          gzipOutput: options.gzip || options.fileType === 'parquet', // which is packed by itself
          format: 'rfc',
          whereFilters: query.filters,
          orderBy: query.orderBy,
          fileType: options.fileType,
          timezone: isSet(fields.timezone) ? String(fields.timezone) : null,
        },
      },
      input: { tableKey: table.row.key, bucketKey: table.bucket.key, options, fileBranchId },
      tableId: table.id,
      branchId: table.bucket.branchId,
    })
  }

  /** Exports and the importer name a branch in a field. */
  async function scopeIn({ actor, branch }: Scope, branchName: string | undefined): Promise<Scope> {
    if (branchName === undefined) return { actor, branch }
    const named = await findBranch(actor.projectId, branchName)
    if (!named) throw new PlatformError('notFound', { what: `Branch id:"${branchName}"` })
    return { actor, branch: named }
  }

  return {
    create,
    planCreate,
    importInto,
    planImport,
    exportOf,
    /** Refuses before the data of a request is read. */
    checkBucket: async (scope: Scope, bucketId: string): Promise<void> => {
      await writableBucket(parts, scope, bucketId)
    },
    /** The table that the importer's form names, in the branch it names. */
    async tableInForm(scope: Scope, fields: Fields): Promise<Table> {
      if (typeof fields.tableId !== 'string')
        throw new PlatformError('storage.tables.validation', {
          reason: 'The field "tableId" is missing: name the table that takes the data.',
        })
      return catalog.getForChange(await scopeIn(scope, branchFrom(fields, 'branchId')), fields.tableId)
    },
  }
}
