// HTTP for data of tables: create, import, export, preview (spec storage 2.5.3 to 2.5.6).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { callerGone } from '../../../../http/connection/caller-gone.ts'
import { DryRun, DryRunView, isDryRun } from '../../../../http/dry-run.ts'
import { readFormWithFile } from '../../../../http/forms/form-with-file.ts'
import { JobView, jobStarter, jobView } from '../../../../http/job-view.ts'
import { scopeOf } from '../../../../http/scope.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { DryRunJob } from '../../../../model/dry-run.ts'
import type { Origin } from '../../../../model/event.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { CreateJob, StorageJob } from '../../../../model/storage-job.ts'
import { refuseAlias } from '../catalog/table-catalog.ts'
import type { TableDryRuns } from '../changes/table-dry-run.ts'
import type { Tables } from '../tables.ts'
import {
  ByBucket,
  ByTable,
  DownloadQuery,
  ExportFields,
  LoadFromFile,
  LoadNamedTable,
  LoadWithData,
  NewTableFromSource,
  NewTableWithData,
  PreviewQuery,
} from '../views/table-route-shapes.ts'
import { TableView } from '../views/table-view.ts'
import type { LoadStarter } from './start-load.ts'
import { previewCsv, previewJson, type TableExports } from './table-export.ts'
import { type Fields, refuseKeyList } from './table-requests.ts'

export interface TableDataDeps {
  readonly tables: Pick<Tables, 'getForChange'>
  readonly starter: LoadStarter
  readonly exports: Pick<TableExports, 'preview' | 'download'>
  readonly createJob: CreateJob
  readonly dryRun: DryRunJob
  readonly dryRunOfCreate: TableDryRuns['ofCreate']
  /** Waits for the end; a failed job throws what it failed with. */
  readonly waitForJob: (job: StorageJob) => Promise<StorageJob>
  /** Stores bytes as a file, for the routes whose request carries the data. */
  readonly storeFile: (scope: Scope, name: string, body: AsyncIterable<Uint8Array>, origin: Origin) => Promise<number>
}

/** Clients send these fields in many forms; table-requests.ts reads them. */
const ImportResult = Type.Object({
  transaction: Type.Null(),
  warnings: Type.Array(Type.Unknown()),
  importedColumns: Type.Array(Type.String()),
  totalRowsCount: Type.Integer(),
  totalDataSizeBytes: Type.Integer(),
})

const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  jsonl: 'application/x-ndjson',
}

export function tableDataRoutes({
  tables,
  starter,
  exports,
  createJob,
  dryRun,
  dryRunOfCreate,
  waitForJob,
  storeFile,
}: TableDataDeps): FastifyPluginAsyncTypebox {
  /** The data in the request itself: a file part, or text in `dataString` or `data`. */
  async function readWithData(req: FastifyRequest): Promise<{ fields: Fields; fileId: number }> {
    const { fields, file } = await readFormWithFile(req, 'data', (arriving) =>
      storeFile(scopeOf(req), arriving.filename, arriving.body, req.origin),
    )
    const text = fields.dataString ?? fields.data
    const fileId =
      file ?? (typeof text === 'string' ? await storeFile(scopeOf(req), 'data.csv', textBody(text), req.origin) : undefined)
    if (fileId === undefined)
      throw new PlatformError('storage.tables.validation', {
        reason: 'The data is missing: send it as the file "data" or the text "dataString".',
      })
    return { fields, fileId }
  }

  const start = jobStarter(createJob, dryRun)

  return async (app) => {
    app.post(
      '/v2/storage/buckets/:bucketId/tables-async',
      {
        config: {
          operation: 'tables.createAsync',
          summary: 'Create a table from a file, a snapshot or an earlier state',
          needs: 'bucketWrite',
          validationCode: 'storage.tables.validation',
        },
        schema: {
          params: ByBucket,
          querystring: Type.Object({ dryRun: DryRun }),
          body: NewTableFromSource,
          response: { 200: DryRunView, 202: JobView },
        },
      },
      async (req, reply) => {
        refuseKeyList(req.body)
        const job = await starter.planCreate(req, req.params.bucketId, req.body)
        if (isDryRun(req)) return reply.code(200).send(await dryRunOfCreate(req, job, callerGone(reply)))
        return reply.code(202).send(jobView(await createJob(req, job), req.baseUrl))
      },
    )

    app.post(
      '/v2/storage/buckets/:bucketId/tables',
      {
        config: {
          operation: 'tables.create',
          summary: 'Create a table from data in the request, synchronously',
          needs: 'bucketWrite',
          body: 'stream',
          form: NewTableWithData,
        },
        schema: { params: ByBucket, response: { 201: TableView } },
      },
      async (req, reply) => {
        const { bucketId } = req.params
        await starter.checkBucket(scopeOf(req), bucketId)
        const { fields, fileId } = await readWithData(req)
        refuseKeyList(fields)
        const job = await waitForJob(await starter.create(req, bucketId, fields, fileId))
        return reply.code(201).send(job.results as Type.Static<typeof TableView>) // the results of tableCreate are a table
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/import-async',
      {
        config: {
          operation: 'tables.importAsync',
          summary: 'Load a file into a table',
          needs: 'bucketWrite',
          validationCode: 'storage.tables.validation',
        },
        schema: {
          params: ByTable,
          querystring: Type.Object({ dryRun: DryRun }),
          body: LoadFromFile,
          response: { 200: DryRunView, 202: JobView },
        },
      },
      async (req, reply) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        return start(req, reply, await starter.planImport(req, table, req.body))
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/import',
      {
        config: {
          operation: 'tables.import',
          summary: 'Load data from the request into a table, synchronously',
          needs: 'bucketWrite',
          body: 'stream',
          form: LoadWithData,
        },
        schema: { params: ByTable, response: { 200: ImportResult } },
      },
      async (req) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        refuseAlias(table)
        const { fields, fileId } = await readWithData(req)
        const job = await waitForJob(await starter.importInto(req, table, fields, fileId))
        return job.results as Type.Static<typeof ImportResult> // the results of tableImport
      },
    )

    // The importer's address (spec storage 2.13). In this module, because it is an import like any other.
    app.post(
      '/import/write-table',
      {
        config: {
          operation: 'import.writeTable',
          summary: 'Load data from the request into an existing table, synchronously',
          needs: 'bucketWrite',
          body: 'stream',
          form: LoadNamedTable,
          branch: 'refused',
        },
        schema: { response: { 200: ImportResult } },
      },
      async (req) => {
        const { fields, fileId } = await readWithData(req)
        const table = await starter.tableInForm(scopeOf(req), fields)
        const job = await waitForJob(await starter.importInto(req, table, fields, fileId))
        return job.results as Type.Static<typeof ImportResult> // the results of tableImport
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/export-async',
      {
        config: {
          operation: 'tables.exportAsync',
          summary: 'Export a table into a file: slices without a header, or with `merged` one CSV with a header',
          needs: 'bucketRead',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByTable, body: ExportFields, response: { 202: JobView } },
      },
      async (req, reply) => reply.code(202).send(jobView(await starter.exportOf(req, req.params.tableId, req.body), req.baseUrl)),
    )

    app.get(
      '/v2/storage/tables/:tableId/data-preview',
      {
        config: {
          operation: 'tables.preview',
          summary: 'Preview the first rows of a table, as CSV or JSON',
          needs: 'bucketRead',
          produces: ['text/csv', 'application/json'],
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByTable, querystring: PreviewQuery, response: { 200: Type.Unknown() } },
      },
      async (req, reply) => {
        const { format, preview, isCut } = await exports.preview(scopeOf(req), req.params.tableId, req.query)
        reply.header('x-millrace-truncated', String(isCut))
        return format === 'json' ? previewJson(preview) : reply.type(CONTENT_TYPES.csv).send(previewCsv(preview))
      },
    )

    app.get(
      '/v2/storage/tables/:tableId/data',
      {
        config: {
          operation: 'tables.download',
          summary: 'Download a table, or selected rows, as one CSV, Parquet or JSON lines file',
          needs: 'bucketRead',
          produces: Object.values(CONTENT_TYPES).map((type) => type.split(';')[0]!),
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByTable, querystring: DownloadQuery, response: { 200: Type.Unknown() } },
      },
      async (req, reply) => {
        const { bytes, size, format, name } = await exports.download(
          scopeOf(req),
          req.params.tableId,
          req.query,
          callerGone(reply),
        )
        return reply
          .type(CONTENT_TYPES[format])
          .headers({ 'content-length': size, 'content-disposition': `attachment; filename="${name}"` })
          .send(bytes)
      },
    )
  }
}

async function* textBody(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}
