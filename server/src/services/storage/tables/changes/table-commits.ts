// Publishes what programs wrote by themselves (spec platform 6.12): files that lie in the folder of their writer, and new columns. A storage job
// under the lock of the table, with the events of a load.
//  1. A file is copied to a name of ours before anything is checked: it cannot be changed after the check, and is not swept.
//  2. The state that the writer began with must still be the current one, or have the rows of the current one in other files; the
//     publishing transaction compares.
//  3. The same request twice is one commit, also when the first one was interrupted.

import { columnNameFrom } from '../../../../../../contract/column-name.ts'
import type { Trx } from '../../../../engines/metadata-db/dialects.ts'
import type { ObjectStore } from '../../../../engines/object-store/object-store.ts'
import { newKey } from '../../../../engines/table-engine/object-files.ts'
import {
  countRows,
  LOAD_TIME_FIELD_ID,
  primaryKeyNames,
  type Segment,
  type TableSnapshot,
} from '../../../../engines/table-engine/snapshot.ts'
import type { DuplicateKey, TableEngine } from '../../../../engines/table-engine/table-engine.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { mapBounded } from '../../../../kit/map-bounded.ts'
import type { NewEvent } from '../../../../model/event.ts'
import type { CheckedLoad, CheckLoad } from '../../../../model/load-check.ts'
import type { JobHandler, JobOutcome, JobRun } from '../../../../model/storage-job.ts'
import type { CommittedFile, TableCommit, TableCreation } from '../../../../model/table-commit.ts'
import { STORAGE_PROVIDER, type Table, type TableParts, tableEvent } from '../catalog/table-catalog.ts'
import { checkColumnName } from '../catalog/table-names.ts'
import { describeTypes, keyDetails, keyPrefixOf, MAX_COLUMNS, needsCompaction, resultView } from '../rows/table-load.ts'
import { describeColumn } from './table-types.ts'

export interface CommitDeps {
  readonly parts: TableParts
  readonly engine: Pick<TableEngine, 'checkFiles' | 'findDuplicateKey'>
  readonly objects: Pick<ObjectStore, 'copy' | 'delete'>
  readonly uriPrefix: string
  /** The tests on the data of a table, before its new state is published. */
  readonly checkLoad: CheckLoad
}

export interface CommitInput {
  readonly tableKey: number
  readonly commit: TableCommit
}

export interface CreationInput {
  readonly bucketKey: number
  readonly name: string
  readonly creation: TableCreation
}

const COPIES_AT_ONCE = 8

export function createTableCommits({ parts, engine, objects, uriPrefix, checkLoad }: CommitDeps) {
  const { catalog, store, buckets, metadata, recordEvent, clock } = parts

  const commit: JobHandler = async (run) => {
    const { tableKey, commit: asked } = run.job.input as CommitInput // written by open-tables.ts
    const table = await catalog.getByKey(run.job.projectId, tableKey)
    if (await store.hasCommit(table.data.key, asked.digest)) return { results: null }
    const { snapshot: before, base } = await stateFor(table, asked)
    const widened = withColumns(before, asked)
    const keyPrefix = keyPrefixOf(run.job.projectId, table.data.key)
    const after = await taken(run, asked.addedFiles, keyPrefix, (added) => ({
      ...widened,
      segments: [...remaining(before, asked), ...added],
    }))
    const backend = await parts.backendName(run.job.projectId)
    const { job, signal } = run
    const { id: tableId, bucket } = table
    const checked = await checkLoad({ job, signal, branchId: bucket.branchId, tableId, before, after })
    await run.publish((trx) => publish(trx, run, table, { before, after, asked, base, backend, checked }))
    return undefined
  }

  /**
   * What the commit changes: the state that its writer began with, unless only files were rewritten since and the commit removes none of
   * them: then the current one, or a writer that keeps its metadata would undo every compaction.
   */
  async function stateFor(table: Table, { base, removedFiles }: TableCommit) {
    const { snapshot, snapshotId } = await catalog.reading(table)
    if (snapshotId === base) return { snapshot, base }
    if (snapshotId === undefined || !(await store.isTidied(table.data, base, snapshotId))) throw outdated()
    if (removedFiles.length === 0) return { snapshot, base: snapshotId }
    const began = await store.findStateOf(table.data.key, base)
    if (!began) throw outdated()
    return { snapshot: began.snapshot, base }
  }

  const create: JobHandler = async (run) => {
    const { bucketKey, name, creation } = run.job.input as CreationInput // written by open-tables.ts
    const { columns } = creation
    checkColumns(columns.map((column) => column.name))
    const nextFieldId = Math.max(LOAD_TIME_FIELD_ID, ...columns.map(({ fieldId }) => fieldId)) + 1
    const empty: TableSnapshot = { typed: true, columns, primaryKey: [], nextFieldId, segments: [] }
    const keyPrefix = keyPrefixOf(run.job.projectId, `new-${run.job.id}`)
    const snapshot = await taken(run, creation.addedFiles, keyPrefix, (segments) => ({ ...empty, segments }))
    const backend = await parts.backendName(run.job.projectId)
    const { job, signal } = run
    const bucket = await buckets.findByKey(bucketKey)
    if (bucket?.projectId !== job.projectId) throw new PlatformError('storage.tables.dropped')
    const { id: bucketId, branchId } = bucket
    const checked = await checkLoad({ job, signal, branchId, tableId: `${bucketId}.${name}`, before: undefined, after: snapshot })
    await run.publish(async (trx) => {
      const hasRows = snapshot.segments.length > 0
      const options = { importedAt: hasRows ? clock.now() : undefined, commit: creation }
      const table = await catalog.insert(trx, bucket, { name, displayName: name }, snapshot, options)
      await checked.record(trx)
      await describeTypes(
        parts,
        trx,
        job.projectId,
        table.row.key,
        columns.map((column) => describeColumn(column, backend)),
      )
      const created = { name, primaryKey: table.primaryKey, columns: table.columns, source: sourceOf(creation) }
      await recordEvent(trx, job.source, tableEvent(table, 'storage.tableCreated', created), job.origin)
      if (hasRows)
        await recordLoad(trx, run, table, { ...creation, removedFiles: [], rowsReplaced: 0, grownBytes: table.row.sizeBytes })
      return { results: await resultView(parts, trx, table, snapshot, job.baseUrl), tableId: table.id }
    })
  }

  /** The files under names of ours, checked as a load checks its rows. What is refused is removed again. */
  async function taken(
    { signal }: JobRun,
    files: readonly CommittedFile[],
    keyPrefix: string,
    stateWith: (added: readonly Segment[]) => TableSnapshot,
  ): Promise<TableSnapshot> {
    if (files.length === 0) return stateWith([])
    const keys = files.map(() => newKey(keyPrefix))
    try {
      await mapBounded(files, COPIES_AT_ONCE, (file, i) => copy(file, keys[i] ?? ''))
      const after = stateWith(segmentsOf(files, keys, stateWith([])))
      const named = files.map(({ key, rows }, i) => ({ key: keys[i] ?? '', rows, name: `${uriPrefix}${key}` }))
      await engine.checkFiles({ snapshot: after, files: named }, { signal })
      const columns = primaryKeyNames(after)
      const duplicate = columns.length > 0 ? await engine.findDuplicateKey({ snapshot: after, columns }, { signal }) : null
      if (duplicate) throw keyTaken(columns, duplicate)
      return after
    } catch (error) {
      await objects.delete(keys).catch(() => {}) // nothing names them: else the sweep finds them
      throw error
    }
  }

  function segmentsOf(files: readonly CommittedFile[], keys: readonly string[], { columns }: TableSnapshot): Segment[] {
    const loadedAt = clock.now().getTime()
    const fieldIds = columns.map(({ fieldId }) => fieldId)
    const times = { minLoadedAt: loadedAt, maxLoadedAt: loadedAt, loadedAt }
    return files.flatMap(({ rows, bytes }, i) =>
      rows === 0 ? [] : [{ key: keys[i] ?? '', rows, bytes, fieldIds, ...times, deletes: null }],
    )
  }

  async function copy({ key, bytes }: CommittedFile, to: string): Promise<void> {
    const copied = await objects.copy(key, to)
    const refuse = (reason: string) => new PlatformError('iceberg.fileRefused', { file: `${uriPrefix}${key}`, reason })
    if (!copied) throw refuse('is not there')
    if (copied.sizeBytes !== bytes) throw refuse(`has ${copied.sizeBytes} bytes, but its manifest has ${bytes}`)
  }

  async function publish(
    trx: Trx,
    run: JobRun,
    table: Table,
    {
      before,
      after,
      asked,
      base,
      backend,
      checked,
    }: {
      readonly checked: CheckedLoad
      readonly before: TableSnapshot
      readonly after: TableSnapshot
      readonly asked: TableCommit
      /** The state of `before`. */
      readonly base: number
      readonly backend: string | undefined
    },
  ): Promise<JobOutcome> {
    const { job } = run
    const changesData = asked.addedFiles.length + asked.removedFiles.length > 0
    const what = {
      onlyOver: base,
      orTidied: true,
      commit: asked,
      imported: asked.addedFiles.length > 0,
      changed: changesData,
      needsCompaction: needsCompaction(after),
    }
    const row = await store.publish(trx, table.data, after, clock.now(), what)
    if (!row) throw outdated()
    await checked.record(trx)
    await buckets.touch(trx, table.bucket)
    for (const column of asked.addedColumns) {
      const event = tableEvent(table, 'storage.tableColumnAdded', { column: column.name })
      await recordEvent(trx, job.source, event, job.origin)
      const { metadata: pairs } = describeColumn(column, backend)
      const written = { provider: STORAGE_PROVIDER, pairs, at: clock.now() }
      if (after.typed) await metadata.set(trx, job.projectId, table.row.key, column.name, written)
    }
    const removedRows = countRows({ ...before, segments: before.segments.filter(({ key }) => asked.removedFiles.includes(key)) })
    if (asked.addedFiles.length > 0)
      await recordLoad(trx, run, table, { ...asked, rowsReplaced: removedRows, grownBytes: row.sizeBytes - table.data.sizeBytes })
    else if (asked.removedFiles.length > 0)
      await recordEvent(trx, job.source, tableEvent(table, 'storage.tableRowsDeleted', { deletedRows: removedRows }), job.origin)
    return { results: { totalRowsCount: row.rowsCount, totalDataSizeBytes: row.sizeBytes }, metrics: { inBytes: bytesOf(asked) } }
  }

  /** As a load of the same rows through the API. */
  async function recordLoad(
    trx: Trx,
    { job }: JobRun,
    table: Table,
    asked: Pick<TableCommit, 'addedFiles' | 'removedFiles' | 'snapshotId'> & { rowsReplaced: number; grownBytes: number },
  ): Promise<void> {
    const { rowsReplaced, grownBytes } = asked
    const incremental = asked.removedFiles.length === 0
    const source = sourceOf(asked)
    const rows = asked.addedFiles.reduce((sum, file) => sum + file.rows, 0)
    const started = tableEvent(table, 'storage.tableImportStarted', { incremental, source })
    const params = { incremental, partial: false, csv: null, importedColumns: table.columns, source }
    const results = { rowsInFile: rows, rowsWritten: rows, rowsReplaced, rowsUnchanged: 0, rowsDuplicate: 0 }
    const done: NewEvent = tableEvent(table, 'storage.tableImportDone', params, {
      results,
      performance: { inBytes: bytesOf(asked) },
    })
    for (const event of [started, done]) await recordEvent(trx, job.source, event, job.origin)
    const { projectId, origin } = job
    await parts.usage.loaded(trx, { projectId, runId: origin.runId, rows, bytes: bytesOf(asked), grownBytes })
  }

  return { tableCommit: commit, tableCommitCreate: create }
}

function withColumns(before: TableSnapshot, { addedColumns }: TableCommit): TableSnapshot {
  const columns = [...before.columns, ...addedColumns]
  if (addedColumns.length > 0) checkColumns(columns.map(({ name }) => name))
  return { ...before, columns, nextFieldId: before.nextFieldId + addedColumns.length }
}

function checkColumns(names: readonly string[]): void {
  if (names.length > MAX_COLUMNS)
    throw new PlatformError('storage.maxNumberOfColumnsExceed', { limit: MAX_COLUMNS, file: 'the schema', columns: names.length })
  const seen = new Set<string>()
  for (const [i, name] of names.entries()) {
    if (columnNameFrom(name) !== name) throw invalidName(name)
    checkColumnName(name, `column ${i + 1} ("${name.slice(0, 60)}")`)
    if (seen.has(name.toLowerCase())) throw new PlatformError('storage.tables.columnAlreadyExists', { column: name })
    seen.add(name.toLowerCase())
  }
}

const invalidName = (name: string) =>
  new PlatformError('storage.tables.validation.invalidColumnName', {
    reason: `"${name.slice(0, 60)}" has characters other than letters, digits and underscores. "${columnNameFrom(name).slice(0, 60)}" would do.`,
  })

const remaining = ({ segments }: TableSnapshot, { removedFiles }: TableCommit): Segment[] => {
  const gone = new Set(removedFiles)
  return segments.filter(({ key }) => !gone.has(key))
}

const sourceOf = ({ snapshotId }: { readonly snapshotId?: string | undefined }) => ({
  type: 'iceberg',
  snapshotId: snapshotId ?? null,
})

const bytesOf = ({ addedFiles }: Pick<TableCommit, 'addedFiles'>): number => addedFiles.reduce((sum, { bytes }) => sum + bytes, 0)

const keyTaken = (columns: readonly string[], duplicate: DuplicateKey) =>
  new PlatformError('iceberg.keyTaken', keyDetails(columns, duplicate))

const outdated = () => new PlatformError('iceberg.commitFailed', { reason: 'another change was published in between' })
