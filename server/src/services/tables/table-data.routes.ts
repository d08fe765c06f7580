// HTTP for data of tables: create, import, export, preview (spec storage 2.5.3 to 2.5.6).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { checkFilter } from '../../engines/table-engine/filter-values.ts'
import { readFormWithFile } from '../../http/form-with-file.ts'
import { JobView, jobView } from '../../http/job-view.ts'
import { formatTimestamp } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { Actor } from '../../model/actor.ts'
import type { Origin } from '../../model/event.ts'
import type { NewStorageJob, Requester, StorageJob } from '../../model/storage-job.ts'
import { PREVIEW_CELL_CHARS, previewCsv, previewJson, type TableExports } from './table-export.ts'
import type { CreateInput } from './table-load.ts'
import { checkTableName } from './table-names.ts'
import { readTableQuery, type TableQuery } from './table-query.ts'
import {
  branchFrom,
  type CreateRequest,
  type Fields,
  isSet,
  readCreateRequest,
  readExportOptions,
  readImportRequest,
  whole,
} from './table-requests.ts'
import {
  ByBucket,
  ByTable,
  ExportFields,
  LoadFromFile,
  LoadNamedTable,
  LoadWithData,
  NewTableFromSource,
  NewTableWithData,
  PreviewQuery,
} from './table-route-shapes.ts'
import { TableView } from './table-view.ts'
import { type BucketRef, lockOf, refuseAlias, refuseLinked, type Scope, type Table, type Tables, tableExists } from './tables.ts'

export interface TableDataDeps {
  readonly tables: Tables
  readonly exports: TableExports
  readonly createJob: (requester: Requester, job: NewStorageJob) => Promise<StorageJob>
  readonly findBranch: (projectId: number, name: string) => Promise<Scope['branch'] | undefined>
  /** Waits for the end; a failed job throws what it failed with. */
  readonly waitForJob: (job: StorageJob) => Promise<StorageJob>
  /** Refuses files the asker may not read. */
  readonly checkFile: (actor: Actor, fileId: number) => Promise<void>
  /** Stores bytes as a file, for the routes that take the data along. */
  readonly storeFile: (actor: Actor, name: string, body: AsyncIterable<Uint8Array>, origin: Origin) => Promise<number>
}

/** Clients send these fields in many forms; table-requests.ts reads them. */
const ImportResult = Type.Object({
  transaction: Type.Null(),
  warnings: Type.Array(Type.Unknown()),
  importedColumns: Type.Array(Type.String()),
  totalRowsCount: Type.Integer(),
  totalDataSizeBytes: Type.Integer(),
})

export function tableDataRoutes(deps: TableDataDeps): FastifyPluginAsyncTypebox {
  const { tables, exports, createJob, findBranch, waitForJob, checkFile, storeFile } = deps
  const { clock } = tables

  async function startCreate(req: FastifyRequest, bucket: BucketRef, request: CreateRequest): Promise<StorageJob> {
    const { name, displayName, primaryKey, csv } = request
    await checkNewTable(tables, bucket, name, displayName)
    const source = await sourceOf(req, request)
    const input: CreateInput = { bucketKey: bucket.key, name, displayName, source, primaryKey, csv }
    const { delimiter = ',', enclosure = '"', escapedBy = '', columns = [] } = csv
    return createJob(req, {
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
      branchId: bucket.branchId,
      lockKeys: [lockOf(bucket, name)],
    })
  }

  /** Whatever the rows come from must exist and be the asker's to read. */
  async function sourceOf(req: FastifyRequest, { source }: CreateRequest): Promise<CreateInput['source']> {
    if (source.type === 'file') {
      await checkFile(req.actor, source.fileId)
      return source
    }
    if (source.type === 'snapshot') {
      const kept = await tables.store.findKept(req.actor.projectId, source.snapshotId)
      if (!kept) throw new PlatformError('storage.snapshots.notFound', { id: source.snapshotId })
      await tables.bucket.get(scopeOf(req), kept.tableId.split('.').slice(0, 2).join('.')).catch((error: unknown) => {
        // A snapshot outlives its bucket; what it may not outlive is the permission to read it.
        if (!(error instanceof PlatformError && error.kind === 'not-found')) throw error
      })
      return source
    }
    const table = await tables.get(scopeOf(req), source.sourceTableId)
    // The earlier state is the whole table, with all that an alias hides.
    if (table.source) throw new PlatformError('storage.validation.timeTravelNotSupported', { table: table.id })
    const { timestamp } = source
    if (timestamp > clock.now().getTime() || !(await tables.store.findSnapshotAt(table.data.key, new Date(timestamp))))
      throw new PlatformError('storage.timetravel.invalid')
    return { type: 'timeTravel', sourceTableKey: table.data.key, timestamp }
  }

  async function startImport(req: FastifyRequest, table: Table, fields: Fields, fileId?: number): Promise<StorageJob> {
    refuseAlias(table)
    const request = readImportRequest(fields, fileId)
    await checkFile(req.actor, request.source.fileId)
    const { delimiter = ',', enclosure = '"', escapedBy = '', columns = [], withoutHeaders = false } = request.csv
    return createJob(req, {
      operationName: 'tableImport',
      operationParams: {
        params: { incremental: request.incremental, source: [], withoutHeaders, columns, delimiter, enclosure, escapedBy },
        source: request.source,
      },
      input: { ...request, tableKey: table.row.key },
      tableId: table.id,
      branchId: table.bucket.branchId,
      lockKeys: [lockOf(table.bucket, table.row.name)],
    })
  }

  /** Exports and the importer name a branch in a field. */
  async function scopeIn(req: FastifyRequest, branchName: string | undefined): Promise<Scope> {
    const branch = branchName === undefined ? req.branch : await findBranch(req.actor.projectId, branchName)
    if (!branch) throw new PlatformError('notFound', { what: `Branch id:"${branchName}"` })
    return { actor: req.actor, branch }
  }

  /** The data in the request itself: a file part, or text in `dataString` or `data`. */
  async function readWithData(req: FastifyRequest): Promise<{ fields: Fields; fileId: number }> {
    const { fields, file } = await readFormWithFile(req, 'data', (arriving) =>
      storeFile(req.actor, arriving.filename, arriving.body, req.origin),
    )
    const text = fields.dataString ?? fields.data
    const fileId =
      file ?? (typeof text === 'string' ? await storeFile(req.actor, 'data.csv', textBody(text), req.origin) : undefined)
    if (fileId === undefined)
      throw new PlatformError('storage.tables.validation', {
        reason: 'The data is missing: send it as the file "data" or the text "dataString".',
      })
    return { fields, fileId }
  }

  return async (app) => {
    app.post(
      '/v2/storage/buckets/:bucketId/tables-async',
      {
        config: {
          operation: 'tables.createAsync',
          summary: 'Create a table from a file, a snapshot or an earlier state',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByBucket, body: NewTableFromSource, response: { 202: JobView } },
      },
      async (req, reply) => {
        const bucket = await writable(tables, scopeOf(req), req.params.bucketId)
        const job = await startCreate(req, bucket, readCreateRequest(req.body, clock.now()))
        return reply.code(202).send(jobView(job, req.baseUrl))
      },
    )

    app.post(
      '/v2/storage/buckets/:bucketId/tables',
      {
        config: {
          operation: 'tables.create',
          summary: 'Create a table from data in the request, and wait for it',
          body: 'stream',
          form: NewTableWithData,
        },
        schema: { params: ByBucket, response: { 201: TableView } },
      },
      async (req, reply) => {
        const bucket = await writable(tables, scopeOf(req), req.params.bucketId)
        const { fields, fileId } = await readWithData(req)
        const job = await waitForJob(await startCreate(req, bucket, readCreateRequest(fields, clock.now(), fileId)))
        return reply.code(201).send(job.results as Type.Static<typeof TableView>) // the results of tableCreate are a table
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/import-async',
      {
        config: {
          operation: 'tables.importAsync',
          summary: 'Load a file into a table',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByTable, body: LoadFromFile, response: { 202: JobView } },
      },
      async (req, reply) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        return reply.code(202).send(jobView(await startImport(req, table, req.body), req.baseUrl))
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/import',
      {
        config: {
          operation: 'tables.import',
          summary: 'Load data of the request into a table, and wait for it',
          body: 'stream',
          form: LoadWithData,
        },
        schema: { params: ByTable, response: { 200: ImportResult } },
      },
      async (req) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        refuseAlias(table)
        const { fields, fileId } = await readWithData(req)
        const job = await waitForJob(await startImport(req, table, fields, fileId))
        return job.results as Type.Static<typeof ImportResult> // the results of tableImport
      },
    )

    // The importer's address (spec storage 2.13). In this room, because it is an import like any other.
    app.post(
      '/import/write-table',
      {
        config: {
          operation: 'import.writeTable',
          summary: 'Load data of the request into an existing table, and wait for it',
          body: 'stream',
          form: LoadNamedTable,
          branch: 'refused',
        },
        schema: { response: { 200: ImportResult } },
      },
      async (req) => {
        const { fields, fileId } = await readWithData(req)
        if (typeof fields.tableId !== 'string')
          throw new PlatformError('storage.tables.validation', {
            reason: 'The field "tableId" is missing: which table shall the data go to?',
          })
        const table = await tables.getForChange(await scopeIn(req, branchFrom(fields, 'branchId')), fields.tableId)
        const job = await waitForJob(await startImport(req, table, fields, fileId))
        return job.results as Type.Static<typeof ImportResult> // the results of tableImport
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/export-async',
      {
        config: {
          operation: 'tables.exportAsync',
          summary: 'Export a table into a file',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByTable, body: ExportFields, response: { 202: JobView } },
      },
      async (req, reply) => {
        const table = await tables.get(await scopeIn(req, branchFrom(req.body, 'sourceBranchId')), req.params.tableId)
        const options = readExportOptions(req.body, table.columns, clock.now())
        const { query } = options
        await checkFilters(tables, table, query)
        const job = await createJob(req, {
          operationName: 'tableExport',
          operationParams: {
            export: {
              tableName: null,
              columns: query.columns ?? [],
              limit: options.limit ?? null,
              changedSince: req.body.changedSince ?? null,
              changedUntil: req.body.changedUntil ?? null,
              gzipOutput: options.gzip,
              format: 'rfc',
              whereFilters: query.filters,
              orderBy: query.orderBy,
              fileType: options.fileType,
              timezone: isSet(req.body.timezone) ? String(req.body.timezone) : null,
            },
          },
          input: { tableKey: table.row.key, bucketKey: table.bucket.key, options },
          tableId: table.id,
          branchId: table.bucket.branchId,
        })
        return reply.code(202).send(jobView(job, req.baseUrl))
      },
    )

    app.get(
      '/v2/storage/tables/:tableId/data-preview',
      {
        config: {
          operation: 'tables.preview',
          summary: 'The first rows of a table, as CSV or JSON',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByTable, querystring: PreviewQuery, response: { 200: Type.Unknown() } },
      },
      async (req, reply) => {
        const { limit, format = 'rfc', ...query } = req.query
        if (format !== 'rfc' && format !== 'json' && format !== '')
          throw new PlatformError('storage.tables.validation.invalidFormat', {
            format: String(format).slice(0, 40),
            known: 'rfc or json',
          })
        const table = await tables.get(scopeOf(req), req.params.tableId)
        const wanted = readTableQuery(query, table.columns, clock.now())
        const rows = limit === undefined || limit === '' ? undefined : whole('limit', limit)
        if (format === 'json') return previewJson(await exports.preview(table, wanted, rows, PREVIEW_CELL_CHARS))
        return reply.type('text/csv').send(previewCsv(await exports.preview(table, wanted, rows)))
      },
    )
  }
}

export const scopeOf = (req: FastifyRequest): Scope => ({ actor: req.actor, branch: req.branch })

/** A bucket that can take a new table: not one that only shows another's. */
export async function writable(tables: Tables, scope: Scope, bucketId: string): Promise<BucketRef> {
  const bucket = await tables.bucket.getForChange(scope, bucketId, 'write')
  refuseLinked(bucket)
  return bucket
}

export async function checkNewTable(tables: Tables, bucket: BucketRef, name: string, displayName: string): Promise<void> {
  checkTableName(name)
  if (displayName !== name) checkTableName(displayName, 'display name')
  for (const wanted of new Set([name, displayName]))
    if (await tables.store.findNamed(bucket.key, wanted)) throw tableExists(name, displayName)
}

/** Refuses what a filter cannot be asked, before a job is made of it: values that are none of the column's type. */
export async function checkFilters(tables: Tables, table: Table, { filters }: Pick<TableQuery, 'filters'>): Promise<void> {
  if (filters.length === 0) return
  const { snapshot } = await tables.reading(table)
  for (const filter of filters) checkFilter(snapshot, filter)
}

async function* textBody(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}
