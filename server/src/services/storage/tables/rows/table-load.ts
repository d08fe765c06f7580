// Loading: a file becomes a table, or its rows become rows of a table. The slow part first (header, columns, the engine), then one
// transaction with the new state, the event and the job's success (invariants 3 and 4 of ARCHITECTURE.md).

import { columnNameFrom } from '../../../../../../contract/column-name.ts'
import type { Trx } from '../../../../engines/metadata-db/dialects.ts'
import { isOverdue } from '../../../../engines/table-engine/compaction.ts'
import { localKey } from '../../../../engines/table-engine/objects-and-local-files.ts'
import {
  columnNamed,
  dropPrimaryKey,
  emptySnapshot,
  LOAD_TIME_COLUMN,
  primaryKeyNames,
  setPrimaryKey,
  type TableSnapshot,
  truncate,
} from '../../../../engines/table-engine/snapshot.ts'
import type {
  CsvDialect,
  CsvSlice,
  CsvSource,
  DuplicateKey,
  LoadResult,
  RowFilter,
  StoredSource,
  TableEngine,
} from '../../../../engines/table-engine/table-engine.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { EventAttachment, NewEvent } from '../../../../model/event.ts'
import type { CheckedLoad, CheckLoad } from '../../../../model/load-check.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { JobHandler, JobOutcome, JobRun, Metrics } from '../../../../model/storage-job.ts'
import type { CommittedFile } from '../../../../model/table-commit.ts'
import { type BucketRef, STORAGE_PROVIDER, type Table, type TableParts, tableEvent } from '../catalog/table-catalog.ts'
import { columnNamesFrom, plain, quoted } from '../catalog/table-names.ts'
import { errorOfBackend } from '../changes/backend-types.ts'
import {
  checkDeduplication,
  checkRules,
  describeChanges,
  keyText,
  type LoadRules,
  spelledIn,
  withColumns,
  withTypes,
} from '../changes/table-structure.ts'
import { checkDefault, describeColumn, type TypedColumn } from '../changes/table-types.ts'
import type { KeptMetadata } from '../snapshots/table-snapshots.store.ts'
import { tableView } from '../views/table-view.ts'

/** The source of the rows, as stored in the job. */
export type LoadSource =
  | { readonly type: 'file'; readonly fileId: number }
  | { readonly type: 'snapshot'; readonly snapshotId: number }
  | { readonly type: 'timeTravel'; readonly sourceTableKey: number; readonly timestamp: number }
  | WorkspaceSource

/** A table of a workspace, and with whose rights it is read: it may be a view over tables of the project. */
export interface WorkspaceSource {
  readonly type: 'workspace'
  readonly workspaceId: number
  readonly tableName: string
  readonly scope: Scope
  /** The caller had no such workspace when the job was created. */
  readonly isMissing?: boolean
}

export interface CsvOptions extends CsvDialect {
  /** Names of the fields; the file then has no header. */
  readonly columns?: readonly string[]
  /** Lines to pass over in every file although `columns` names the fields; default none. */
  readonly linesBeforeRows?: number
  readonly withoutHeaders?: boolean
  readonly ignoredLinesCount?: number
}

export interface CreateInput {
  /** Undefined: there was no bucket of this id when the job was made, so it fails. */
  readonly bucketKey: number | undefined
  readonly bucketId: string
  readonly name: string
  readonly displayName: string
  readonly source: LoadSource | { readonly type: 'local' }
  readonly primaryKey: readonly string[]
  readonly csv: CsvOptions
  /** A typed table; its columns by name. Columns of the file it does not name are text. */
  readonly types?: readonly TypedColumn[]
  readonly nullValues?: readonly string[]
  readonly rules?: LoadRules
  readonly deletedColumn?: string
}

export interface ImportInput {
  readonly tableKey: number
  readonly source: LoadSource | { readonly type: 'local' }
  readonly incremental: boolean
  readonly csv: CsvOptions
  readonly nullValues?: readonly string[]
  readonly useTimestampFromDataFile?: boolean
  /** The key the table shall have from now on; absent: the one it has. */
  readonly primaryKey?: readonly string[]
  /** Rows that leave the table before the load. */
  readonly deleteWhere?: readonly RowFilter[]
  /** Types of columns by name, for a typed table: those it has must agree, those it lacks are added. */
  readonly types?: readonly TypedColumn[]
  readonly rules?: LoadRules
  /** A field of the file that is not a column: true in rows that leave the table by their key. */
  readonly deletedColumn?: string
}

/** The bytes of a load. */
export interface OpenSource {
  readonly name: string
  readonly isSliced: boolean
  /** The file of the project that holds them; none for files of this machine. */
  readonly attachment?: EventAttachment
  readonly slices: readonly (CsvSlice & { readonly sizeBytes: number })[]
  /** Parquet files of the object store instead of slices. */
  readonly stored?: readonly CommittedFile[]
}

export interface LoadDeps {
  readonly parts: TableParts
  readonly engine: Pick<TableEngine, 'readHeader' | 'withCsv' | 'load' | 'deleteRows' | 'findDuplicateKey' | 'compact'>
  /** The tests on the data of a table, before its new state is published. */
  readonly checkLoad: CheckLoad
  /** Which objects hold the bytes of a file, in order. */
  readonly openFile: (projectId: number, fileId: number) => Promise<OpenSource>
  /** The rows of a table of a workspace as one CSV file with a header; `remove` when they are loaded. */
  readonly openWorkspaceTable: (
    scope: Scope,
    workspaceId: number,
    table: string,
    signal: AbortSignal,
  ) => Promise<{ readonly path: string; readonly sizeBytes: number; readonly name: string; remove(): Promise<void> }>
}

/** A load whose slow part is done: files are written, nothing refers to them yet. */
export interface PreparedLoad {
  readonly table: { readonly id: string; readonly columns: readonly string[] }
  readonly loaded: LoadResult
  /** Warnings: parts of the request that could not be applied and are no errors. */
  readonly warnings: readonly string[]
  /** Stores the new state in the caller's transaction, which also ends the job. */
  publish(trx: Trx): Promise<JobOutcome & { readonly tableKey: number }>
}

/** What a load needs of the run it is part of. */
export type LoadRun = Pick<JobRun, 'job' | 'signal'>

/** Of a table, whatever adds them. */
export const MAX_COLUMNS = 4096

/** Parquet files of a table lie together; a table that was dropped and made again gets another number. */
export const keyPrefixOf = (projectId: number, tableKey: number | string): string => `tables/${projectId}/${tableKey}/`

/** Enough small loads or dead rows to be worth rewriting; the engine decides what exactly. */
export const needsCompaction = (snapshot: TableSnapshot): boolean =>
  snapshot.segments.length > 8 || snapshot.segments.some(({ rows, deletes }) => deletes !== null && deletes.rows * 5 > rows)

export type TableLoads = ReturnType<typeof createTableLoads>

export function createTableLoads({ parts, engine, checkLoad, openFile, openWorkspaceTable }: LoadDeps) {
  const { catalog, store, buckets, recordEvent, clock } = parts

  const create: JobHandler = async (run) => {
    const input = run.job.input as CreateInput // written by the routes of this module
    const { source } = input
    await bucketOf(input, run.job.projectId)
    if (source.type === 'file') {
      const prepared = await fromFile(run, source.fileId, input.csv, (opened, csv) =>
        prepareCreate(run, { ...input, csv }, opened),
      )
      return run.publish(prepared.publish)
    }
    if (source.type === 'workspace')
      return fromWorkspace(run, source, async (opened) =>
        run.publish((await prepareCreate(run, { ...input, csv: {} }, opened)).publish),
      )
    if (source.type === 'local') throw new PlatformError('storage.jobs.workerLost') // its files went with the process that had them
    const { snapshot, metadata } = await stateOf(run.job.projectId, source)
    // A copy of the value is a copy of the table: its files never change.
    const backend = await parts.backendName(run.job.projectId)
    const types = snapshot.typed ? { types: snapshot.columns.map((column) => describeColumn(column, backend)) } : {}
    const bucket = await bucketOf(input, run.job.projectId)
    const checked = await checkNew(run, bucket, input.name, snapshot)
    await run.publish((trx) => insert(trx, run, { ...input, ...types }, { snapshot, checked, ...(metadata && { metadata }) }))
  }

  /** An earlier state of a table; a kept snapshot also has the metadata of that time. */
  async function stateOf(
    projectId: number,
    source: Exclude<LoadSource, { type: 'file' | 'workspace' }>,
  ): Promise<{ readonly snapshot: TableSnapshot; readonly metadata?: KeptMetadata | undefined }> {
    if (source.type === 'snapshot') {
      const kept = await store.findSnapshot(projectId, source.snapshotId)
      if (!kept) throw new PlatformError('storage.snapshots.notFound', { id: source.snapshotId })
      return kept
    }
    const state = await store.findStateAt(source.sourceTableKey, new Date(source.timestamp))
    if (!state) throw new PlatformError('storage.timetravel.invalid')
    return state
  }

  const load: JobHandler = async (run) => {
    const input = run.job.input as ImportInput // written by the routes of this module
    const { source } = input
    if (source.type === 'workspace')
      return fromWorkspace(run, source, async (opened) =>
        run.publish((await prepareImport(run, { ...input, csv: {} }, opened)).publish),
      )
    if (input.source.type !== 'file') throw new PlatformError('storage.jobs.workerLost')
    const prepared = await fromFile(run, input.source.fileId, input.csv, (opened, csv) =>
      prepareImport(run, { ...input, csv }, opened),
    )
    await run.publish(prepared.publish)
  }

  /** A file as it is, or, when it is JSON or Parquet, the CSV made of it. Settings of lines are then ignored. */
  async function fromFile(
    run: LoadRun,
    fileId: number,
    csv: CsvOptions,
    prepare: (source: OpenSource, csv: CsvOptions) => Promise<PreparedLoad>,
  ): Promise<PreparedLoad> {
    const opened = await openFile(run.job.projectId, fileId)
    if (csv.columns || csv.withoutHeaders) return prepare(opened, csv) // rows of a CSV file, whatever they look like
    const { name } = opened
    return engine.withCsv(
      opened,
      (converted) =>
        converted
          ? prepare(
              {
                ...opened,
                isSliced: false,
                slices: [{ key: localKey(converted.path), gzip: false, name, sizeBytes: converted.bytes }],
              },
              {},
            )
          : prepare(opened, csv),
      { signal: run.signal },
    )
  }

  async function fromWorkspace(
    run: LoadRun,
    { scope, workspaceId, tableName, isMissing }: WorkspaceSource,
    load: (source: OpenSource) => Promise<void>,
  ): Promise<void> {
    if (isMissing) throw new PlatformError('workspace.workspaceNotFound', { id: workspaceId })
    const { path, sizeBytes, name, remove } = await openWorkspaceTable(scope, workspaceId, tableName, run.signal)
    try {
      await load({ name, isSliced: false, slices: [{ key: localKey(path), gzip: false, name, sizeBytes }] })
    } finally {
      await remove()
    }
  }

  /** Errors of values are reported as the backend of the project reports them (corrections-2, dialect (b)). */
  const loadRows = async (projectId: number, ...load: Parameters<typeof engine.load>): Promise<LoadResult> =>
    engine.load(...load).catch(async (error: unknown) => {
      throw errorOfBackend(await parts.backendName(projectId), error)
    })

  async function prepareCreate(run: LoadRun, input: CreateInput, source: OpenSource): Promise<PreparedLoad> {
    const header = await headerOf(source, input.csv, run.signal)
    if (!header) throw new PlatformError('storage.tables.validation.noColumns', { file: source.name })
    const fileColumns = columnNamesFrom(header)
    const columns = fileColumns.filter((name) => name !== input.deletedColumn)
    checkPrimaryKey(input.primaryKey, columns)
    const bucket = await bucketOf(input, run.job.projectId)
    const tableId = `${bucket.id}.${input.name}`
    checkDeletedColumn(tableId, input, fileColumns, input.primaryKey)
    checkDeduplication(tableId, input.primaryKey, input.rules?.deduplication)
    for (const { column } of input.types ?? []) checkDefault(column)
    const typeOf = (name: string) => input.types?.find(({ column }) => column.name === name)?.column ?? { name }
    const loaded = await loadRows(
      run.job.projectId,
      {
        snapshot: emptySnapshot(columns.map(typeOf), { primaryKey: input.primaryKey, typed: input.types !== undefined }),
        mode: 'full',
        source: rowsOf(source, input.csv),
        fileColumns,
        ...defined({ deletedColumn: input.deletedColumn }),
        skipLines: await headerLines(run.signal, input, source),
        ...(input.nullValues && { nullValues: input.nullValues, bareEmptyIsNull: input.source.type === 'file' }),
        loadedAt: clock.now().getTime(),
        keyPrefix: keyPrefixOf(run.job.projectId, `new-${run.job.id}`),
      },
      { signal: run.signal },
    )
    const checked = await checkNew(run, bucket, input.name, loaded.snapshot)
    return {
      table: { id: tableId, columns },
      loaded,
      warnings: checked.warnings,
      publish: (trx) => insert(trx, run, input, { snapshot: loaded.snapshot, checked, load: { source, loaded, columns } }),
    }
  }

  /** Tests of a table that existed before under the same id, or exists in the default branch. */
  const checkNew = ({ job, signal }: LoadRun, { id, branchId }: BucketRef, name: string, after: TableSnapshot) =>
    checkLoad({ job, signal, branchId, tableId: `${id}.${name}`, before: undefined, after })

  /** The table, its event and, where rows came from a file, the event of that load. */
  async function insert(
    trx: Trx,
    { job }: LoadRun,
    input: CreateInput,
    {
      snapshot,
      checked,
      load,
      metadata,
    }: {
      readonly snapshot: TableSnapshot
      readonly checked: CheckedLoad
      readonly load?: { readonly source: OpenSource; readonly loaded: LoadResult; readonly columns: readonly string[] }
      readonly metadata?: KeptMetadata
    },
  ): Promise<JobOutcome & { readonly tableKey: number }> {
    const bucket = await bucketOf(input, job.projectId)
    const { name, displayName } = input
    const table = await catalog.insert(trx, bucket, { name, displayName }, snapshot, { importedAt: load && clock.now() })
    await checked.record(trx)
    if (input.types) await describeTypes(parts, trx, job.projectId, table.row.key, input.types)
    for (const { column, provider, key, value } of metadata ?? [])
      await parts.metadata.set(trx, job.projectId, table.row.key, column, { provider, pairs: [{ key, value }], at: clock.now() })
    const params = { name, primaryKey: table.primaryKey, columns: table.columns, source: input.source }
    await recordEvent(trx, job.source, tableEvent(table, 'storage.tableCreated', params), job.origin)
    if (load) {
      const whole = { ...input, incremental: false }
      await recordEvent(trx, job.source, importStartedEvent(table, whole, load.source), job.origin)
      await recordEvent(trx, job.source, importEvent(table, whole, load), job.origin)
      await countLoad(trx, job, load.loaded, table.row.sizeBytes)
    }
    return {
      results: await resultView(parts, trx, table, snapshot, job.baseUrl),
      metrics: load ? metricsOf(load.source, load.loaded) : {},
      tableId: table.id,
      tableKey: table.row.key,
    }
  }

  const countLoad = (
    trx: Trx,
    { projectId, origin }: LoadRun['job'],
    { rowsInFile, bytesInFile }: LoadResult,
    grownBytes: number,
  ) => parts.usage.loaded(trx, { projectId, runId: origin.runId, rows: rowsInFile, bytes: bytesInFile, grownBytes })

  async function bucketOf({ bucketKey, bucketId }: CreateInput, projectId: number): Promise<BucketRef> {
    const bucket = bucketKey === undefined ? undefined : await buckets.findByKey(bucketKey)
    if (bucket?.projectId !== projectId) throw new PlatformError('storage.buckets.notFound', { id: bucketId, project: projectId })
    return bucket
  }

  async function prepareImport(run: LoadRun, input: ImportInput, source: OpenSource): Promise<PreparedLoad> {
    const table = await catalog.getByKey(run.job.projectId, input.tableKey)
    const { snapshot: before } = await catalog.reading(table)
    const plan = await planOf(table.id, before, input, source, run.signal)
    const primaryKey = input.primaryKey?.map((name) => spelledIn(plan.snapshot, name)) ?? primaryKeyNames(before)
    checkRules(table.id, before, plan.snapshot, primaryKey, input.rules ?? {})
    const changes = describeChanges(before, plan.snapshot, await parts.backendName(run.job.projectId))
    const { snapshot, warnings } = await stateToLoadInto(run, { ...input, primaryKey }, table, plan.snapshot)
    checkDeletedColumn(table.id, input, plan.fileColumns, primaryKeyNames(snapshot))
    const loaded = await loadRows(
      run.job.projectId,
      {
        snapshot,
        mode: input.incremental ? 'incremental' : 'full',
        source: rowsOf(source, input.csv),
        fileColumns: plan.fileColumns,
        skipLines: plan.skipLines,
        ...defined({ deletedColumn: input.deletedColumn }),
        ...(input.nullValues && { nullValues: input.nullValues, bareEmptyIsNull: input.source.type === 'file' }),
        loadedAt: clock.now().getTime(),
        keyPrefix: keyPrefixOf(run.job.projectId, table.data.key),
      },
      { signal: run.signal },
    )
    const { job, signal } = run
    const { id: tableId, bucket } = table
    const checked = await checkLoad({ job, signal, branchId: bucket.branchId, tableId, before, after: loaded.snapshot })
    return {
      table: { id: table.id, columns: plan.snapshot.columns.map((column) => column.name) },
      loaded,
      warnings: [...warnings, ...checked.warnings],
      async publish(trx) {
        const load = { source, loaded, columns: plan.fileColumns, warnings: checked.warnings }
        const outcome = await publishImport(trx, run, input, table, load)
        await checked.record(trx)
        await describeColumns(parts, trx, table.row, changes)
        return outcome
      },
    }
  }

  /** The table after the deletion of rows and the change of key that the load requests. If old rows violate the key, it stays unchanged. */
  async function stateToLoadInto(
    { job, signal }: LoadRun,
    input: ImportInput & { readonly primaryKey: readonly string[] },
    table: Table,
    wanted: TableSnapshot,
  ): Promise<{ readonly snapshot: TableSnapshot; readonly warnings: readonly string[] }> {
    const keyPrefix = keyPrefixOf(job.projectId, table.data.key)
    let snapshot = input.incremental ? await tidied(wanted, keyPrefix, signal) : truncate(wanted)
    for (const rule of input.deleteWhere ?? []) {
      if (snapshot.segments.length === 0) break
      snapshot = (await engine.deleteRows({ ...rule, snapshot, keyPrefix }, { signal })).snapshot
    }
    const { primaryKey } = input
    if (primaryKey.join() === primaryKeyNames(snapshot).join()) return { snapshot, warnings: [] }
    checkPrimaryKey(
      primaryKey,
      snapshot.columns.map((column) => column.name),
    )
    if (primaryKey.length === 0) return { snapshot: dropPrimaryKey(snapshot), warnings: [] }
    const duplicate = await engine.findDuplicateKey({ snapshot, columns: primaryKey }, { signal })
    if (!duplicate) return { snapshot: setPrimaryKey(snapshot, primaryKey), warnings: [] }
    const reason = `The table ${table.id} keeps its primary key (${keyText(primaryKeyNames(snapshot))}).`
    return { snapshot, warnings: [`${reason} ${duplicateKey(primaryKey, duplicate).message}`] }
  }

  /** The lock is ours, so nothing outdates a compaction done here. The load does not depend on it. */
  async function tidied(snapshot: TableSnapshot, keyPrefix: string, signal: AbortSignal): Promise<TableSnapshot> {
    if (!isOverdue(snapshot)) return snapshot
    const compacted = await engine.compact({ snapshot, keyPrefix }, { signal }).catch((error: unknown) => {
      if (signal.aborted) throw error
      return null
    })
    return compacted ?? snapshot
  }

  async function publishImport(
    trx: Trx,
    { job }: LoadRun,
    input: ImportInput,
    table: Table,
    {
      source,
      loaded,
      columns,
      warnings,
    }: {
      readonly source: OpenSource
      readonly loaded: LoadResult
      readonly columns: readonly string[]
      readonly warnings: readonly string[]
    },
  ): Promise<JobOutcome & { readonly tableKey: number }> {
    const what = { imported: true, changed: true, needsCompaction: needsCompaction(loaded.snapshot) }
    await recordEvent(trx, job.source, importStartedEvent(table, input, source), job.origin)
    const value = importEvent(table, input, { source, loaded, columns })
    const sizeBefore = table.data.sizeBytes
    const row = await catalog.publish(trx, table, loaded.snapshot, what, { source: job.source, origin: job.origin, value })
    await countLoad(trx, job, loaded, row.sizeBytes - sizeBefore)
    return {
      results: {
        transaction: null,
        warnings,
        importedColumns: columns.filter((name) => name !== LOAD_TIME_COLUMN),
        totalRowsCount: row.rowsCount,
        totalDataSizeBytes: row.sizeBytes,
      },
      metrics: metricsOf(source, loaded),
      tableKey: row.key,
    }
  }

  /** Which field of the file goes where (spec storage 2.5.5), and the table with the columns it needs for that. */
  async function planOf(tableId: string, snapshot: TableSnapshot, input: ImportInput, source: OpenSource, signal: AbortSignal) {
    const names = snapshot.columns.map((column) => column.name)
    const { types = [] } = input
    const { columns, withoutHeaders, ignoredLinesCount = 0 } = input.csv
    // ignoredLinesCount beats withoutHeaders (spec storage 2.5.5). Without names the columns of the file are those of the table, in its order.
    if (ignoredLinesCount === 0 && withoutHeaders && !columns) return { snapshot, fileColumns: names, skipLines: 0 }
    if (ignoredLinesCount > 0 && !columns) return { snapshot, fileColumns: names, skipLines: ignoredLinesCount }
    if (source.isSliced && !columns) throw columnsNotMatch(names, names, source.name, input)
    const header = await headerOf(source, input.csv, signal)
    const keep = input.useTimestampFromDataFile ? LOAD_TIME_COLUMN : undefined
    const found = header ? columnNamesFrom(header, keep) : []
    // Files and workspaces name columns exactly (corrections-2, W13); components may spell them in another case.
    const fileColumns = input.source.type === 'local' ? found.map((name) => spelledIn(snapshot, name)) : found
    // Columns that a request names are exactly the ones to load; a header lists what the file has, and a file that lacks columns is wrong.
    const isNamed = columns !== undefined && input.source.type === 'file'
    const [ofFile, ofTable] = [new Set(fileColumns), new Set(names)]
    const missing = names.filter((name) => !ofFile.has(name) && !(isNamed && mayStayEmpty(snapshot, name)))
    if (keep && !fileColumns.includes(keep)) missing.push(keep)
    if (missing.length > 0) throw columnsNotMatch(missing, names, source.name, input)
    if (isNamed) await checkWidth(names, fileColumns, source, input.csv, signal)
    const added = fileColumns.filter((name) => !ofTable.has(name) && name !== LOAD_TIME_COLUMN && name !== input.deletedColumn)
    if (isNamed && !withoutHeaders && added.length > 0)
      throw new PlatformError('storage.invalidColumns', { columns: quoted(added), known: quoted(names) })
    refuseTooManyColumns(names.length + added.length, source.name)
    const wanted = withColumns(withTypes(tableId, snapshot, types), added, types, source.name)
    return {
      snapshot: input.incremental || columns ? wanted : inOrderOf(fileColumns, wanted),
      fileColumns,
      skipLines: ignoredLinesCount || (columns ? (input.csv.linesBeforeRows ?? 0) : 1),
    }
  }

  /** The names of the fields: given, or the first row of the file. Undefined for an empty file. */
  async function headerOf(source: OpenSource, csv: CsvOptions, signal: AbortSignal): Promise<readonly string[] | undefined> {
    if (csv.columns) return csv.columns
    if (source.isSliced)
      throw new PlatformError('storage.tables.validation.invalidColumnName', {
        reason: 'the file is sliced, so it has no header. Send the names of its columns in the parameter columns.',
      })
    const header = await engine.readHeader({ slices: source.slices, dialect: dialectOf(csv) }, { signal })
    return header.length === 0 ? undefined : header
  }

  /** When the names leave out columns and the first row has another number of values, the names are wrong and not the row (corrections-2, G14). */
  async function checkWidth(
    names: readonly string[],
    fileColumns: readonly string[],
    { name, slices }: OpenSource,
    csv: CsvOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const ofFile = new Set(fileColumns)
    const omitted = names.filter((column) => !ofFile.has(column))
    if (omitted.length === 0 || slices.length === 0 || csv.ignoredLinesCount) return
    const { length } = await engine.readHeader({ slices, dialect: dialectOf(csv) }, { signal })
    if (length !== 0 && length !== fileColumns.length) throw columnsNotMatch(omitted, names, name, { csv })
  }

  /**
   * Slices, and what components write with names, have no header. Of a plain file whose columns the request names, the first line is a
   * header when it has those names, and otherwise a row: no row is ever lost.
   */
  async function headerLines(signal: AbortSignal, { csv, source: from }: CreateInput, source: OpenSource): Promise<number> {
    if (!csv.columns) return 1
    if (csv.linesBeforeRows !== undefined) return csv.linesBeforeRows
    if (from.type !== 'file' || source.isSliced || csv.withoutHeaders) return 0
    const first = await engine.readHeader({ slices: source.slices, dialect: dialectOf(csv) }, { signal })
    const names = (list: readonly string[]) => list.map((name) => columnNameFrom(name).toLowerCase()).join('\n')
    return names(first) === names(csv.columns) ? 1 : 0
  }

  return { create, load, prepareCreate, prepareImport }
}

/** Metadata of typed columns that only the platform writes. */
export async function describeTypes(
  parts: TableParts,
  trx: Trx,
  projectId: number,
  key: number,
  columns: readonly TypedColumn[],
): Promise<void> {
  const enabled = [{ key: 'KBC.dataTypesEnabled', value: 'true' }]
  await parts.metadata.set(trx, projectId, key, undefined, { provider: STORAGE_PROVIDER, pairs: enabled, at: parts.clock.now() })
  await describeColumns(parts, trx, { projectId, key }, columns)
}

async function describeColumns(
  { metadata, clock }: TableParts,
  trx: Trx,
  { projectId, key }: { readonly projectId: number; readonly key: number },
  columns: readonly TypedColumn[],
): Promise<void> {
  for (const { column, metadata: pairs } of columns)
    if (pairs.length > 0)
      await metadata.set(trx, projectId, key, column.name, { provider: STORAGE_PROVIDER, pairs, at: clock.now() })
}

/** What the engine loads. */
const rowsOf = ({ name, slices, stored }: OpenSource, csv: CsvOptions): CsvSource | StoredSource =>
  stored ? { stored: stored.map((file) => ({ ...file, name: `${name} (${file.key})` })) } : { slices, dialect: dialectOf(csv) }

export function dialectOf({ delimiter, enclosure, escapedBy }: CsvOptions): CsvDialect {
  return {
    ...defined({ delimiter, enclosure, escapedBy }),
  }
}

export function checkPrimaryKey(primaryKey: readonly string[], columns: readonly string[]): void {
  const known = new Set(columns)
  const missing = primaryKey.filter((name) => !known.has(name))
  if (missing.length > 0)
    throw new PlatformError('storage.tables.validation.invalidPrimaryKeyColumns', {
      columns: quoted(missing),
      known: quoted(columns),
    })
}

/** Rows leave the table by their key, so it must have one; and what marks them must not be a column of the table. */
function checkDeletedColumn(
  table: string,
  { deletedColumn }: Pick<ImportInput, 'deletedColumn'>,
  fileColumns: readonly string[],
  primaryKey: readonly string[],
): void {
  if (deletedColumn === undefined) return
  const refuse = (reason: string): never => {
    throw new PlatformError('storage.tables.validation', { reason })
  }
  if (!fileColumns.includes(deletedColumn))
    refuse(`The file for the table ${table} has no column "${deletedColumn}", which should mark deleted rows.`)
  if (primaryKey.length === 0)
    refuse(`The table ${table} has no primary key, so rows marked by "${deletedColumn}" cannot be deleted. Set a primary key.`)
}

/** A full load gives the table the order of the file's header (spec storage 2.5.5). */
function inOrderOf(fileColumns: readonly string[], snapshot: TableSnapshot): TableSnapshot {
  const placeOf = new Map(fileColumns.map((name, at) => [name, at]))
  const place = ({ name }: { readonly name: string }): number => placeOf.get(name) ?? fileColumns.length
  return { ...snapshot, columns: snapshot.columns.toSorted((a, b) => place(a) - place(b)) }
}

/** A column of the key never, one that takes no null only with a default or as text. */
function mayStayEmpty(snapshot: TableSnapshot, name: string): boolean {
  const { fieldId, nullable, type, default: fallback } = columnNamed(snapshot, name)
  if (snapshot.primaryKey.includes(fieldId)) return false
  return !snapshot.typed || nullable || fallback !== undefined || type === 'STRING'
}

function columnsNotMatch(
  missing: readonly string[],
  expected: readonly string[],
  file: string,
  { csv: { delimiter = ',' }, source }: Pick<ImportInput, 'csv'> & Partial<Pick<ImportInput, 'source'>>,
): PlatformError {
  const error = new PlatformError(
    'csvImport.columnsNotMatch',
    { missing: plain(missing), expected: plain(expected), file, delimiter: delimiter === '\t' ? '\\t' : delimiter },
    { params: { missingColumns: missing, expectedColumns: expected } },
  )
  if (source?.type !== 'workspace') return error
  // A table of a workspace has no delimiter; clients compare the text with its last space (corrections-2, W13).
  const text = error.message.replace(/Please check if the expected delimiter .*$/s, '')
  return new PlatformError(error.code, error.details, { text, params: error.params ?? {} })
}

export const duplicateKey = (columns: readonly string[], duplicate: DuplicateKey) =>
  new PlatformError('storage.tables.primaryKeyDuplicateValues', keyDetails(columns, duplicate))

/** A key that several rows share, for messages. */
export const keyDetails = (columns: readonly string[], { values, rows }: DuplicateKey) => ({
  columns: quoted(columns),
  values: values.map((value) => (value === null ? 'null' : `"${value.slice(0, 60)}"`)).join(', '),
  rows,
})

/** Written with the end of the load: a load that fails leaves no trace on the table. */
const importStartedEvent = (
  table: Table,
  { incremental, source: from }: Pick<ImportInput, 'incremental' | 'source'>,
  source: OpenSource,
): NewEvent =>
  tableEvent(table, 'storage.tableImportStarted', {
    incremental,
    source: { name: source.name, isSliced: source.isSliced, ...from },
  })

/** How the rows were loaded, and from which file, so that the load can be repeated (spec storage 7). */
function importEvent(
  table: Table,
  { incremental, csv, source: from }: Pick<ImportInput, 'incremental' | 'csv' | 'source'>,
  { source, loaded, columns }: { readonly source: OpenSource; readonly loaded: LoadResult; readonly columns: readonly string[] },
): NewEvent {
  const { delimiter = ',', enclosure = '"', escapedBy = '' } = csv
  const { rowsInFile, rowsWritten, rowsReplaced, rowsUnchanged, rowsDuplicate, rowsDeleted } = loaded
  const params = {
    incremental,
    partial: false,
    csv: { delimiter, enclosure, escapedBy },
    importedColumns: columns.filter((name) => name !== LOAD_TIME_COLUMN),
    source: { name: source.name, isSliced: source.isSliced, ...from },
  }
  return tableEvent(table, 'storage.tableImportDone', params, {
    results: { rowsInFile, rowsWritten, rowsReplaced, rowsUnchanged, rowsDuplicate, ...(rowsDeleted > 0 && { rowsDeleted }) },
    performance: { inBytes: sourceBytes(source) },
    ...(source.attachment && { attachments: [source.attachment] }),
  })
}

/** A table as the results of its job show it, with the metadata of the job's transaction so far. */
export async function resultView(
  { metadata, buckets }: TableParts,
  trx: Trx,
  table: Table,
  snapshot: TableSnapshot,
  baseUrl: string,
) {
  const { projectId, key } = table.row
  const [own, columns] = await Promise.all([
    metadata.listTables(projectId, [key], trx),
    metadata.listColumns(projectId, [key], trx),
  ])
  return tableView(table, baseUrl, {
    columns: true,
    metadata: own.get(key) ?? [],
    columnMetadata: columns.get(key) ?? {},
    attributes: true,
    bucket: await buckets.view(table.bucket, baseUrl, trx),
    definition: { columns: snapshot.columns, said: columns.get(key) ?? {} },
  })
}

/** spec storage 2.7: the unpacked size of a packed file is not measured. */
function metricsOf(source: OpenSource, loaded: LoadResult): Partial<Metrics> {
  const inCompressed = source.slices.some((slice) => slice.gzip)
  return { inCompressed, inBytes: sourceBytes(source), inBytesUncompressed: inCompressed ? 0 : loaded.bytesInFile }
}

export const sourceBytes = ({ slices, stored = [] }: OpenSource): number =>
  slices.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) + stored.reduce((sum, { bytes }) => sum + bytes, 0)

function refuseTooManyColumns(columns: number, file: string): void {
  if (columns > MAX_COLUMNS) throw new PlatformError('storage.maxNumberOfColumnsExceed', { limit: MAX_COLUMNS, file, columns })
}
