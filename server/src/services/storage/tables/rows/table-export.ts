// Exports and previews. An export reads one whole state of the table, whatever is loaded meanwhile, and needs no lock.

import { createHash, randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Trx } from '../../../../engines/metadata-db/dialects.ts'
import { localKey, takeBytes } from '../../../../engines/table-engine/objects-and-local-files.ts'
import type { Preview, QueryRequest, TableEngine, TableFormat } from '../../../../engines/table-engine/table-engine.ts'
import { suffixOf } from '../../../../engines/table-engine/unloaded-name.ts'
import { formatTimestamp } from '../../../../kit/clock.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { csvLine } from '../../../../kit/text/double-quoted.ts'
import type { EventAttachment, EventSource, Origin } from '../../../../model/event.ts'
import type { EventParams } from '../../../../model/event-definitions.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { JobHandler, JobOutcome, StorageJob } from '../../../../model/storage-job.ts'
import { type Table, type TableParts, tableEvent } from '../catalog/table-catalog.ts'
import { checkFilters } from '../table-checks.ts'
import { readTableQuery, type TableQuery } from './table-query.ts'
import { type ExportOptions, type Fields, isSet, readExportOptions, whole } from './table-requests.ts'

export interface ExportInput {
  readonly tableKey: number
  /** The bucket of the request, which may be a linked one. */
  readonly bucketKey: number
  readonly options: ExportOptions
  /** Where the file is seen; in the default branch when left out. */
  readonly fileBranchId?: number | undefined
}

/** A file that is invisible until it is published. */
export interface ReservedFile {
  readonly id: number
  readonly name: string
  readonly isSliced: boolean
  readonly sizeBytes?: number | undefined
  readonly createdAt: Date
  /** Slices are this key and a suffix; a plain file is the key itself. */
  readonly key: string
}

/** `F` is a file of the files module; this module only passes it on. */
export interface FilesOfExports<F extends ReservedFile> {
  /** `branchId`: the branch it is seen in; the default one when left out. */
  reserve(source: EventSource, file: NewExportFile, runId: string | null, branchId?: number): Promise<F>
  writeManifest(file: F, sliceKeys: readonly string[], baseUrl: string): Promise<void>
  publish(trx: Trx, source: EventSource, file: F, sizeBytes: number, origin: Origin): Promise<unknown>
  /** A file of an earlier export, when it can be given out again. */
  findVisible(projectId: number, fileId: number): Promise<F | undefined>
  /** Deletes the record; the bytes are removed by the next sweep. */
  forget(trx: Trx, projectId: number, fileId: number): Promise<unknown>
  /** The file is given out again, to a token that may read its rows, and to the run it works for. */
  giveAgain(trx: Trx, file: F, tokenId: number, runId: string | null): Promise<void>
}

interface WriteOptions extends Pick<NewExportFile, 'tags' | 'maxAgeDays' | 'isPermanent'> {
  readonly signal: AbortSignal
  readonly branchId?: number
}

export interface NewExportFile {
  readonly name: string
  readonly isSliced: boolean
  /** Exports lie encrypted at rest, as the object store keeps them. */
  readonly isEncrypted: boolean
  readonly tags: readonly string[]
  readonly maxAgeDays?: number
  /** Never expires. */
  readonly isPermanent?: boolean
}

export interface ExportDeps<F extends ReservedFile> {
  readonly parts: TableParts
  readonly engine: Pick<TableEngine, 'unload' | 'preview'>
  readonly files: FilesOfExports<F>
  /** For files that live for moments; emptied at every start. */
  readonly scratchDir: string
}

export interface Download {
  readonly bytes: Readable
  readonly size: number
  readonly format: TableFormat
  readonly name: string
}

/** Exports are computed again rather than cached. */
const EXPORT_DAYS = 2
const PREVIEW_ROWS = 100
/** Of a preview as CSV, unless the request names its columns or a higher limit. */
const PREVIEW_COLUMNS = 100
const MAX_PREVIEW_ROWS = 1000
const MAX_CELL_CHARS = 16_384

type ExportedParams = EventParams<'storage.tableExported'>

export type TableExports = ReturnType<typeof createTableExports>

/** Of the results of an export in slices (spec storage 2.5.6). */
const SLICED_NOTE =
  'The slices of this file have no header. For one file with a header send merged=true, ask GET tables/{id}/data, or run millrace table export.'

export function createTableExports<F extends ReservedFile>({ parts, engine, files, scratchDir }: ExportDeps<F>) {
  const { catalog, store, buckets, recordEvent, usage } = parts

  const run: JobHandler = async ({ job, signal, publish }) => {
    const { tableKey, bucketKey, options, fileBranchId } = job.input as ExportInput // written by the routes of this module
    const table = await tableOf(job.projectId, bucketKey, tableKey)
    const { snapshot, snapshotId } = await catalog.reading(table)
    const request = { snapshot, ...queryOf(table, options.query, options.limit) }
    // The same query on the same state: the file of the last response is reused, for any caller.
    const fingerprint = fingerprintOf(snapshotId, {
      ...options,
      query: queryOf(table, options.query, options.limit),
      ...defined({ fileBranchId }),
    })
    const known = await store.findExport(job.projectId, table.row.key, fingerprint)
    const cached = known === undefined ? undefined : await files.findVisible(job.projectId, known)
    const finish = async (trx: Trx, made: F, outBytes: number, params: ExportedParams, rows?: number): Promise<JobOutcome> => {
      const event = tableEvent(table, 'storage.tableExported', params, {
        ...(rows !== undefined && { results: { rows } }),
        performance: { outBytes },
        attachments: [attachmentOf(made, outBytes)],
      })
      await recordEvent(trx, job.source, event, job.origin)
      await usage.exported(trx, job.projectId, job.origin.runId, outBytes)
      return {
        results: { file: { id: made.id }, cacheHit: made === cached, ...(!options.merged && { note: SLICED_NOTE }) },
        metrics: {
          outCompressed: options.gzip,
          outBytes: options.gzip ? outBytes : 0,
          outBytesUncompressed: options.gzip ? 0 : outBytes,
        },
      }
    }
    const params = { columns: request.columns, limit: options.limit ?? null, gzip: options.gzip }
    if (cached)
      return publish(async (trx) => {
        await files.giveAgain(trx, cached, job.source.tokenId, job.origin.runId)
        return finish(trx, cached, cached.sizeBytes ?? 0, { ...params, fileId: cached.id, cacheHit: true })
      })

    const tag = options.merged ? 'storage-merged-export' : 'table-export'
    const { file, sizeBytes, rows } = await writeFile(job, table.id, request, options, {
      signal,
      tags: [tag],
      maxAgeDays: EXPORT_DAYS,
      ...defined({ branchId: fileBranchId }),
    })
    await publish(async (trx) => {
      await files.publish(trx, job.source, file, sizeBytes, job.origin)
      await store.saveExport(trx, job.projectId, table.row.key, fingerprint, file.id)
      return finish(trx, file, sizeBytes, { ...params, fileId: file.id }, rows)
    })
  }

  /** Rows in a file that is invisible until it is published. */
  async function writeFile(
    { source, origin, baseUrl }: Pick<StorageJob, 'source' | 'origin' | 'baseUrl'>,
    tableId: string,
    request: QueryRequest,
    { fileType, gzip, merged, includeInternalTimestamp }: Omit<ExportOptions, 'query' | 'limit'>,
    { signal, branchId, ...kept }: WriteOptions,
  ) {
    const name = `${tableId}${suffixOf(fileType, gzip)}`
    const file = await files.reserve(source, { name, isSliced: !merged, isEncrypted: true, ...kept }, origin.runId, branchId)
    const unloaded = await engine.unload(
      { ...request, format: fileType, gzip, includeLoadTime: includeInternalTimestamp, merged, keyPrefix: file.key },
      { signal },
    )
    if (!merged)
      await files.writeManifest(
        file,
        unloaded.slices.map((slice) => slice.key),
        baseUrl,
      )
    return { file, sizeBytes: unloaded.slices.reduce((sum, slice) => sum + slice.bytes, 0), rows: unloaded.rows }
  }

  async function tableOf(projectId: number, bucketKey: number, tableKey: number): Promise<Table> {
    const bucket = await buckets.findByKey(bucketKey)
    const row = await store.findByKey(tableKey)
    if (!bucket || bucket.projectId !== projectId || !row || row.bucketKey !== (bucket.sourceKey ?? bucket.key))
      throw new PlatformError('storage.tables.dropped')
    return catalog.resolve(bucket, row)
  }

  /** The first rows of a table; `fields` as a client sends them: a query, a limit and a format. */
  async function preview(scope: Scope, tableId: string, { limit, format = 'rfc', maxColumns, ...query }: Fields) {
    if (format !== 'rfc' && format !== 'json' && format !== '')
      throw new PlatformError('storage.tables.validation.invalidFormat', {
        format: String(format).slice(0, 40),
        known: 'rfc or json',
      })
    const table = await catalog.get(scope, tableId)
    const wanted = readTableQuery(query, table.columns, parts.clock.now())
    if (format !== 'json' && wanted.columns === undefined) checkWidth(table, maxColumns)
    const asked = limit === undefined || limit === '' ? 0 : whole('limit', limit)
    const rows = asked === 0 ? PREVIEW_ROWS : asked // the Go client sends 0 when the field is not set
    if (rows < 0 || rows > MAX_PREVIEW_ROWS)
      throw new PlatformError('storage.tables.validation', {
        reason: `The maximum number of rows in preview is ${MAX_PREVIEW_ROWS}; ${rows} were requested. Export the table to get more.`,
      })
    const { snapshot } = await catalog.reading(table)
    const found = await engine.preview({
      snapshot,
      ...queryOf(table, wanted),
      limit: rows + 1, // one more than is shown, to detect whether there are more
      ...(format === 'json' && { maxCellChars: PREVIEW_CELL_CHARS }),
      withMilliseconds: (await parts.backendName(scope.actor.projectId)) === 'snowflake',
    })
    return {
      format: format === 'json' ? ('json' as const) : ('rfc' as const),
      preview: { ...found, rows: found.rows.slice(0, rows) },
      isCut: found.rows.length > rows,
    }
  }

  /** One whole state of a table, or a part of it, as one file; `fields` as a client sends them: a query, a limit and a format. */
  async function download(scope: Scope, tableId: string, { format, ...fields }: Fields, signal: AbortSignal): Promise<Download> {
    const table = await catalog.get(scope, tableId)
    const { query, limit, fileType } = readExportOptions({ ...fields, fileType: format }, table.columns, parts.clock.now())
    await checkFilters(parts, table, query)
    const { snapshot } = await catalog.reading(table)
    const path = `${scratchDir}/download-${randomUUID()}`
    await engine.unload(
      { snapshot, ...queryOf(table, query, limit), format: fileType, merged: true, keyPrefix: localKey(path) },
      { signal },
    )
    return { ...(await takeBytes(path)), format: fileType, name: `${table.id}${suffixOf(fileType)}` }
  }

  return { run, preview, download, writeFile, publishFile: files.publish, forgetFile: files.forget }
}

/** Clients rely on wide tables being refused (spec storage 2.5.6); a caller can opt in. */
function checkWidth({ columns }: Table, maxColumns: unknown): void {
  const limit = isSet(maxColumns) ? whole('maxColumns', maxColumns) : PREVIEW_COLUMNS
  if (columns.length > limit)
    throw new PlatformError(
      'storage.maxNumberOfColumnsExceed',
      {},
      {
        text: `The preview as CSV shows at most ${limit} columns, and the table has ${columns.length}. Name some in "columns", raise "maxColumns", or use format=json.`,
      },
    )
}

const attachmentOf = ({ id, name, isSliced, createdAt }: ReservedFile, sizeBytes: number): EventAttachment => ({
  id,
  name,
  isSliced,
  sizeBytes,
  created: formatTimestamp(createdAt),
})

const PREVIEW_CELL_CHARS = MAX_CELL_CHARS

/** The question to the engine, the filters of aliases included. */
export function queryOf(table: Table, query: TableQuery, limit?: number): Omit<QueryRequest, 'snapshot'> {
  return {
    columns: query.columns ?? table.columns,
    filters: [...table.filters, ...query.filters],
    orderBy: query.orderBy,
    ...defined({ changedSince: query.changedSince, changedUntil: query.changedUntil }),
    ...(query.search !== undefined && { search: query.search, searchColumns: table.columns }),
    ...defined({ limit }),
  }
}

const fingerprintOf = (...parts: readonly unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex')

/** Every value quoted, lines ended by LF; an absent value is an empty one, as in exports. */
export const previewCsv = ({ columns, rows }: Preview): string =>
  [columns, ...rows.map((row) => row.map(({ value }) => value ?? ''))].map(csvLine).join('')

export const previewJson = ({ columns, rows }: Preview) => ({
  columns,
  rows: rows.map((row) => row.map(({ value, isTruncated }, i) => ({ columnName: columns[i], value, isTruncated }))),
})
