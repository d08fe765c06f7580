// Loads and exports of files on this machine, for the component runner. Plain functions that wait for the end; the same rules,
// locks, events and jobs as over HTTP, without a copy of the bytes in between.

import { randomUUID } from 'node:crypto'
import { columnNameFrom } from '../../../../../../contract/column-name.ts'
import type { FailureFacts } from '../../../../../../contract/failure-causes.ts'
import type { Trx } from '../../../../engines/metadata-db/dialects.ts'
import { LOAD_TIME_FIELD_ID } from '../../../../engines/table-engine/snapshot.ts'
import type { RowFilter, TableEngine } from '../../../../engines/table-engine/table-engine.ts'
import type { MetadataPair } from '../../../../http/metadata-items.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { CAUSE_OF_CODE } from '../../../../model/job-cause.ts'
import type { OnBytes, RunTarget, TablePart } from '../../../../model/run-ports.ts'
import type { Scope } from '../../../../model/scope.ts'
import { failureOf, type JobHandler, type NewStorageJob, type Requester, type StorageJob } from '../../../../model/storage-job.ts'
import type { CommittedFile } from '../../../../model/table-commit.ts'
import { type BucketRef, lockOf, refuseAlias, refuseLinked, type TableParts } from '../catalog/table-catalog.ts'
import { checkTableName } from '../catalog/table-names.ts'
import type { LoadRules } from '../changes/table-structure.ts'
import type { TypedColumn } from '../changes/table-types.ts'
import { type ExportInput, queryOf, type TableExports } from './table-export.ts'
import {
  type CreateInput,
  type CsvOptions,
  type ImportInput,
  keyPrefixOf,
  type LoadRun,
  type OpenSource,
  sourceBytes,
  type TableLoads,
} from './table-load.ts'
import type { TableQuery } from './table-query.ts'

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
  /** One CSV file, or the slices of one in order (then `csv.columns` is needed). */
  readonly files: readonly LocalFile[]
  /** Parquet files of the object store instead (then `csv.columns` is needed); they become part of the table as they are. */
  readonly stored?: readonly CommittedFile[]
  readonly isSliced: boolean
  readonly csv?: CsvOptions
  readonly incremental?: boolean
  /** Undefined: the table keeps the key it has. */
  readonly primaryKey?: readonly string[] | undefined
  /** Rows that leave the table before the load. */
  readonly deleteWhere?: readonly RowFilter[]
  /** Makes a typed table when there is none yet; a typed one that is there must agree. */
  readonly types?: readonly TypedColumn[] | undefined
  /** Texts that become null in columns of typed tables; default the empty one. */
  readonly nullValues?: readonly string[] | undefined
  readonly rules?: LoadRules
  /** A field of the files that is not a column: true in rows that leave the table by their key. */
  readonly deletedColumn?: string
  readonly metadata?: readonly LoadMetadata[]
}

/** Metadata that comes with a load: on the table when it is made, on every load, and on its columns. */
export interface LoadMetadata {
  readonly provider: string
  readonly whenCreated?: readonly MetadataPair[]
  readonly always?: readonly MetadataPair[]
  readonly columns?: Readonly<Record<string, readonly MetadataPair[]>>
}

export interface LocalResult {
  readonly tableId: string
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: number
  readonly bytes: number
  readonly warnings: readonly string[]
}

/** The requester of a job, and its branch. */
export type LocalRequester = Requester & Scope

export interface LocalTablesDeps {
  readonly parts: TableParts
  readonly loads: TableLoads
  readonly exports: Pick<TableExports, 'run'>
  readonly engine: Pick<TableEngine, 'unload' | 'materialise'>
  readonly runInline: (requester: Requester, job: NewStorageJob, run: JobHandler) => Promise<StorageJob>
  /** The key under which the engine finds a file of this machine. */
  readonly localKey: (path: string) => string
  readonly createBucket: (requester: LocalRequester, bucketId: string, metadata: readonly LoadMetadata[]) => Promise<void>
}

/** One load, and where it goes. */
interface Target {
  readonly id: string
  readonly name: string
  readonly bucket: BucketRef
  readonly request: LocalLoad
  readonly source: OpenSource
  readonly input: CreateInput | ImportInput
}

const bytesOf = ({ source }: Target): number => sourceBytes(source)

export type LocalTables = ReturnType<typeof createLocalTables>

export function createLocalTables({ parts, loads, exports, engine, runInline, localKey, createBucket }: LocalTablesDeps) {
  const { catalog, store, buckets, metadata, clock } = parts

  /**
   * Loads files into tables, side by side, as one job that holds the locks of all of them. They become visible together, with
   * whatever `commit` writes, or not at all; the error then has a line for each table that could not be loaded.
   */
  async function load(
    requester: LocalRequester,
    requests: readonly LocalLoad[],
    commit?: (trx: Trx, loaded: readonly LocalResult[]) => Promise<void>,
    signal?: AbortSignal,
    onLoaded?: OnBytes,
  ): Promise<readonly LocalResult[]> {
    const targets: Target[] = []
    for (const request of requests) targets.push(await targetOf(requester, request))
    const [first] = targets
    if (!first) throw new Error('Nothing to load.')
    let results: readonly LocalResult[] = []
    let facts: FailureFacts = {}
    const job = await runInline(requester, jobOf(first, targets), async (run) => {
      const either = signal ? AbortSignal.any([run.signal, signal]) : run.signal
      // Now that the locks are ours: another job may have made a table since it was looked for.
      const current = await Promise.all(targets.map((target) => targetOf(requester, target.request)))
      const prepared = await prepareAll({ job: run.job, signal: either }, current, onLoaded).catch((error: unknown) => {
        if (error instanceof PlatformError) facts = error.facts
        throw error
      })
      results = prepared.map(({ target, load: { table, loaded, warnings } }) => ({
        tableId: table.id,
        name: target.name,
        columns: table.columns,
        rows: loaded.rowsInFile,
        bytes: bytesOf(target),
        warnings,
      }))
      await run.publish(async (trx) => {
        const outcomes = []
        for (const { target, load: one } of prepared) {
          const outcome = await one.publish(trx)
          await setMetadata(trx, requester.actor.projectId, outcome.tableKey, target, one.table.columns)
          outcomes.push(outcome)
        }
        await commit?.(trx, results)
        return outcomes.length === 1 ? outcomes[0] : { results: { tables: results.map(({ tableId }) => ({ id: tableId })) } }
      })
    })
    if (job.status === 'success') return results
    throw failureOf(job, facts)
  }

  /** All of them to the end, so that one message can name every table that is wrong. */
  async function prepareAll(run: LoadRun, targets: readonly Target[], onLoaded?: OnBytes) {
    const total = targets.reduce((sum, target) => sum + bytesOf(target), 0)
    let done = 0
    const ends = await Promise.allSettled(
      targets.map(async (target) => {
        const { input, source } = target
        const load = await ('tableKey' in input
          ? loads.prepareImport(run, input, source)
          : loads.prepareCreate(run, input, source))
        done += bytesOf(target)
        onLoaded?.(done, total)
        return load
      }),
    )
    const failed = ends.flatMap((end, i) =>
      end.status === 'rejected' ? [{ id: targets[i]?.id ?? '', reason: end.reason as unknown }] : [],
    )
    // One table's error keeps its code; ours, and those worth another try, come before theirs.
    const bug = failed.find(({ reason }) => !(reason instanceof PlatformError && ['invalid', 'too-large'].includes(reason.kind)))
    if (bug) throw bug.reason
    const [first] = failed
    if (first && targets.length === 1) throw withFacts(first.id, first.reason)
    if (first)
      throw new PlatformError(
        'storage.tables.loadsFailed',
        { lines: failed.map(({ id, reason }) => `${id}: ${reason instanceof Error ? reason.message : ''}`).join('\n') },
        { facts: loadFacts(first.id, first.reason) },
      )
    return ends.flatMap((end, i) => (end.status === 'fulfilled' ? [{ target: targets[i]!, load: end.value }] : []))
  }

  async function targetOf(requester: LocalRequester, request: LocalLoad): Promise<Target> {
    const { stage, bucketName, name } = idParts(request.tableId)
    const bucket = await bucketOf(requester, `${stage}.${bucketName}`, request.metadata ?? [])
    refuseLinked(bucket)
    const existing = await store.find(bucket.key, name)
    const input = existing ? await importInput(bucket, existing.key, request) : createInput(bucket, name, request)
    return { id: request.tableId, name, bucket, request, source: openSource(request), input }
  }

  /** What a load into this table will find, without making anything. The folder is of no other writer. */
  async function describeTarget(requester: Scope, tableId: string): Promise<RunTarget> {
    const { projectId } = requester.actor
    const { stage, bucketName, name } = idParts(tableId)
    const bucket = await buckets.getForChange(requester, `${stage}.${bucketName}`, 'write').catch((error: unknown) => {
      if (error instanceof PlatformError && error.code === 'storage.buckets.notFound') return undefined
      throw error
    })
    const existing = bucket && (await store.find(bucket.key, name))
    if (!bucket || !existing)
      return { typed: false, columns: [], nextFieldId: FIRST_FIELD_ID, folder: keyPrefixOf(projectId, `new-${randomUUID()}`) }
    const table = await catalog.getByKey(bucket.projectId, existing.key)
    refuseAlias(table)
    const { snapshot } = await catalog.reading(table)
    const folder = `${keyPrefixOf(projectId, existing.key)}run-${randomUUID()}/`
    return { typed: snapshot.typed, columns: snapshot.columns, nextFieldId: snapshot.nextFieldId, folder }
  }

  /** A bucket that is created for a load has metadata about its creator, like the table. */
  async function bucketOf(requester: LocalRequester, bucketId: string, about: readonly LoadMetadata[]): Promise<BucketRef> {
    try {
      return await buckets.getForChange(requester, bucketId, 'write')
    } catch (error) {
      if (!(error instanceof PlatformError && error.code === 'storage.buckets.notFound')) throw error
      await createBucket(requester, bucketId, about).catch((failure: unknown) => {
        // Another load may have made it in between.
        if (!(failure instanceof PlatformError && failure.code === 'storage.buckets.alreadyExists')) throw failure
      })
      return buckets.getForChange(requester, bucketId, 'write')
    }
  }

  const openSource = ({ tableId, files, stored, isSliced }: LocalLoad): OpenSource => ({
    name: files[0] ? nameOf(files[0]) : stored ? tableId : 'the file',
    isSliced,
    ...(stored && { stored }),
    slices: files.map((file) => ({
      key: localKey(file.path),
      gzip: file.gzip ?? /\.gz$/i.test(file.path),
      name: nameOf(file),
      sizeBytes: file.sizeBytes,
    })),
  })

  function createInput(bucket: BucketRef, name: string, request: LocalLoad): CreateInput {
    checkTableName(name)
    return {
      bucketKey: bucket.key,
      bucketId: bucket.id,
      name,
      displayName: name,
      primaryKey: (request.primaryKey ?? []).map(columnNameFrom),
      ...loadOptions(request),
    }
  }

  async function importInput(bucket: BucketRef, key: number, request: LocalLoad): Promise<ImportInput> {
    refuseAlias(await catalog.getByKey(bucket.projectId, key))
    return {
      tableKey: key,
      incremental: request.incremental ?? false,
      ...(request.primaryKey && { primaryKey: request.primaryKey.map(columnNameFrom) }),
      ...(request.deleteWhere && { deleteWhere: request.deleteWhere }),
      ...loadOptions(request),
    }
  }

  /** What a load into a new table and one into an old table have in common. */
  const loadOptions = ({ csv = {}, types, nullValues, rules, deletedColumn }: LocalLoad) => ({
    source: { type: 'local' } as const,
    csv,
    ...(types && { types }),
    ...(nullValues && { nullValues }),
    ...(rules && { rules }),
    ...(deletedColumn !== undefined && { deletedColumn: columnNameFrom(deletedColumn) }),
  })

  function jobOf(first: Target, targets: readonly Target[]): NewStorageJob {
    const isCreate = targets.length === 1 && !('tableKey' in first.input)
    return {
      operationName: isCreate ? 'tableCreate' : 'tableImport',
      operationParams: {
        params: { tables: targets.map(({ id, request }) => ({ id, incremental: request.incremental ?? false })) },
        source: { type: 'local' },
      },
      tableId: targets.length === 1 && !isCreate ? first.id : null,
      branchId: first.bucket.branchId,
      lockKeys: targets.map(({ bucket, name }) => lockOf(bucket, name)),
    }
  }

  async function setMetadata(trx: Trx, projectId: number, key: number, target: Target, known: readonly string[]): Promise<void> {
    const now = clock.now()
    const isNew = !('tableKey' in target.input)
    for (const { provider, whenCreated = [], always = [], columns = {} } of target.request.metadata ?? []) {
      const pairs = [...(isNew ? whenCreated : []), ...always]
      if (pairs.length > 0) await metadata.set(trx, projectId, key, undefined, { provider, pairs, at: now })
      for (const [said, items] of Object.entries(columns)) {
        const column = known.find((name) => name.toLowerCase() === said.toLowerCase())
        if (column) await metadata.set(trx, projectId, key, column, { provider, pairs: items, at: now })
      }
    }
  }

  /** The same as a file of the project, in slices: the result of an export by a client. Answers the id of the file. */
  async function exportFile(
    requester: LocalRequester,
    tableId: string,
    { limit, ...query }: LocalQuery,
    signal: AbortSignal,
  ): Promise<number> {
    const table = await catalog.get(requester, tableId)
    const input: ExportInput = {
      tableKey: table.row.key,
      bucketKey: table.bucket.key,
      fileBranchId: table.bucket.branchId,
      options: {
        query: { filters: [], orderBy: [], ...query },
        ...defined({ limit }),
        gzip: true,
        fileType: 'csv',
        includeInternalTimestamp: false,
        merged: false,
      },
    }
    const job = await runInline(
      requester,
      { operationName: 'tableExport', input, tableId: table.id, branchId: table.bucket.branchId },
      (run) => exports.run({ ...run, signal: AbortSignal.any([run.signal, signal]) }),
    )
    if (job.status !== 'success') throw failureOf(job)
    return (job.results as { readonly file: { readonly id: number } }).file.id // the results of tableExport
  }

  /** One whole state of a table, or a part of it, as a CSV file with a header at `path`. */
  async function exportTo(
    scope: Scope,
    tableId: string,
    path: string,
    { limit, bareNulls, ...query }: LocalQuery & { readonly bareNulls?: boolean } = {},
    signal?: AbortSignal,
  ): Promise<{ readonly columns: readonly string[]; readonly rows: number }> {
    const table = await catalog.get(scope, tableId)
    const { snapshot } = await catalog.reading(table)
    const { columns, rows } = await engine.unload(
      {
        snapshot,
        ...queryOf(table, { filters: [], orderBy: [], ...query }, limit),
        format: 'csv',
        merged: true,
        ...(bareNulls && { bareNulls }),
        keyPrefix: localKey(path),
      },
      signal ? { signal } : {},
    )
    return { columns, rows }
  }

  /** The same as Parquet files below `folder` of the object store, for another engine. */
  async function materialise(
    scope: Scope,
    tableId: string,
    folder: string,
    { limit, ...query }: LocalQuery,
    signal: AbortSignal,
  ): Promise<TablePart> {
    const table = await catalog.get(scope, tableId)
    const { snapshot } = await catalog.reading(table)
    const asked = queryOf(table, { filters: [], orderBy: [], ...query }, limit)
    const { columns, segments } = await engine.materialise({ snapshot, ...asked, keyPrefix: folder }, { signal })
    return { columns, files: segments.map(({ key, rows, bytes }) => ({ key, rows, bytes })) }
  }

  return { load, describeTarget, exportTo, exportFile, materialise }
}

const FIRST_FIELD_ID = LOAD_TIME_FIELD_ID + 1

function idParts(tableId: string): { readonly stage: string; readonly bucketName: string; readonly name: string } {
  const [stage, bucketName, name, ...rest] = tableId.split('.')
  if (!stage || !bucketName || !name || rest.length > 0)
    throw new PlatformError('storage.tables.validation', {
      reason: `"${tableId.slice(0, 120)}" is not the id of a table. Ids look like in.c-main.orders.`,
    })
  return { stage, bucketName, name }
}

type LocalQuery = Partial<TableQuery> & { readonly limit?: number | undefined }

const nameOf = (file: LocalFile): string => file.name ?? file.path.split('/').at(-1) ?? file.path

/** Which table, file, line and column a load was refused for. */
function loadFacts(table: string, reason: unknown): FailureFacts {
  if (!(reason instanceof PlatformError)) return { subject: table, place: { table } }
  const { file, line, row, column } = reason.details
  const at = Number(line ?? row)
  return {
    ...reason.facts,
    ...defined({ kind: reason.facts.kind ?? CAUSE_OF_CODE[reason.code] }),
    subject: table,
    place: {
      table,
      ...(file !== undefined && { file: String(file) }),
      ...(Number.isSafeInteger(at) && { line: at }),
      ...(column !== undefined && { column: String(column) }),
    },
  }
}

function withFacts(table: string, reason: unknown): unknown {
  if (!(reason instanceof PlatformError)) return reason
  const { code, details, message: text, kind, params, errors, cause } = reason
  return new PlatformError(code, details, { text, kind, cause, ...defined({ params, errors }), facts: loadFacts(table, reason) })
}
