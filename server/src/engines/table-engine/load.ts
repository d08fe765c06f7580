// A load from start to end: slices into fresh segments (several workers at once), or files that lie in the store already; keys resolved against
// the table (one worker), files adopted, snapshot returned. Nothing refers to a file before the last step.

import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { allOrFirstFailure } from '../../kit/all-or-first-failure.ts'
import { defined } from '../../kit/defined.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { InflateLimits, LocalSlice } from './csv/csv-bytes.ts'
import { checkDialect } from './csv/csv-dialect.ts'
import { type FinishedFile, newKey, type ObjectFiles } from './object-files.ts'
import { type LocalPaths, pathOf } from './relation.ts'
import { applyChange } from './segment-change.ts'
import {
  type Column,
  columnNamed,
  LOAD_TIME_COLUMN,
  referencedKeys,
  type Segment,
  type TableSnapshot,
  truncate,
} from './snapshot.ts'
import type { CsvSlice, CsvSource, ForeignFile, LoadRequest, LoadResult, RunOptions, StoredFile } from './table-engine.ts'
import type { WorkerPool } from './worker-pool.ts'
import type { LoadedSegment, ResolvedKeys } from './worker-protocol.ts'

/** Slices are loaded together into segments of about this many bytes of CSV as it lies in the store. */
const BATCH_BYTES = 256 << 20

export interface LoadDeps {
  readonly pool: WorkerPool
  readonly files: ObjectFiles
  readonly limits: InflateLimits
  readonly maxRowBytes: number
  readonly maxColumns: number
  readonly uriPrefix: string
}

/** A segment that is to join the table. */
interface Written extends LoadedSegment, FinishedFile {
  /** It lies in the store already, and lacks the hidden load time. */
  readonly isStored?: true
}

const NOTHING_RESOLVED: ResolvedKeys = { existing: {}, fresh: {}, replaced: 0, unchanged: 0, duplicate: 0, deleted: 0, marked: 0 }

export async function load(deps: LoadDeps, request: LoadRequest, run: RunOptions): Promise<LoadResult> {
  const { snapshot, source } = request
  checkFileColumns(request, deps.maxColumns)
  const before = request.mode === 'full' ? truncate(snapshot) : snapshot
  const keyed = snapshot.primaryKey.length > 0
  const sources = 'stored' in source ? source.stored : source.slices
  // Without keys to resolve, files that lie in the store are looked into a few at a time.
  const isStored = 'stored' in source
  const needed = [...(isStored && !keyed ? [] : sources.map(({ key }) => key)), ...(keyed ? referencedKeys(before) : [])]
  return deps.files.inScratch((dir) =>
    deps.files.withLocal(needed, async (local) => {
      const written =
        'stored' in source
          ? await takeStored(deps, request, source.stored, run)
          : await writeSegments(deps, { ...request, source }, local, dir, run)
      const fresh = written.filter((s) => s.rows > 0)
      const resolved =
        keyed && fresh.length > 0 ? await resolve(deps, request, { before, fresh, local, workDir: dir }, run) : NOTHING_RESOLVED
      const segments = await publish(deps, request, before, fresh, resolved)
      const rowsInFile = sum(written, (s) => s.rows)
      const { replaced, unchanged, duplicate, deleted, marked } = resolved
      return {
        snapshot: { ...snapshot, segments },
        rowsInFile,
        bytesInFile: sum(written, (s) => s.csvBytes),
        rowsWritten: rowsInFile - duplicate - unchanged - marked,
        rowsReplaced: replaced,
        rowsUnchanged: unchanged,
        rowsDuplicate: duplicate,
        rowsDeleted: deleted,
      }
    }),
  )
}

/** Nothing is written: the figures of the snapshot are read from the files. */
async function takeStored(
  deps: LoadDeps,
  { snapshot, loadedAt }: LoadRequest,
  files: readonly StoredFile[],
  run: RunOptions,
): Promise<Written[]> {
  const written: Written[] = []
  await checkStored(deps, { snapshot, files }, run, async (local, some) => {
    for (const { key, rows, name, bytes: said } of some) {
      const path = pathOf(local, key)
      const { size: bytes } = await stat(path)
      if (bytes !== said)
        throw new PlatformError('iceberg.fileRefused', {
          file: name,
          reason: `has ${bytes} bytes, but its manifest has ${said}`,
        })
      const loaded = { minLoadedAt: loadedAt, maxLoadedAt: loadedAt }
      written.push({ key, path, rows, bytes, csvBytes: bytes, ...loaded, isStored: true })
    }
  })
  return written
}

/** Files that are on this machine at once while they are looked into; on S3 each is a download. */
const CHECKED_AT_ONCE = 8

/** `onChecked` has the files of one step while they are here. */
export async function checkStored<F extends ForeignFile>(
  { files, pool }: Pick<LoadDeps, 'files' | 'pool'>,
  request: { readonly snapshot: TableSnapshot; readonly files: readonly F[] },
  run: RunOptions,
  onChecked: (local: LocalPaths, some: readonly F[]) => Promise<void> = async () => {},
): Promise<void> {
  const snapshot = truncate(request.snapshot)
  for (let i = 0; i < request.files.length; i += CHECKED_AT_ONCE) {
    const some = request.files.slice(i, i + CHECKED_AT_ONCE)
    await files.withLocal(
      some.map(({ key }) => key),
      async (local) => {
        await pool.run({ kind: 'checkFiles', request: { snapshot, files: some }, local }, 'long', run)
        await onChecked(local, some)
      },
    )
  }
}

async function writeSegments(
  deps: LoadDeps,
  request: LoadRequest & { readonly source: CsvSource },
  local: LocalPaths,
  dir: string,
  run: RunOptions,
): Promise<Written[]> {
  const { snapshot, source, skipLines, fileColumns, loadedAt, nullValues = [''], bareEmptyIsNull = false } = request
  const { limits, maxRowBytes } = deps
  const dialect = checkDialect(source.dialect)
  const mark = deletedMark(request)
  const table = { ...snapshot, columns: mark ? [...snapshot.columns, mark] : snapshot.columns, segments: [] }
  const job = {
    kind: 'loadSlices',
    snapshot: table,
    dialect,
    skipLines,
    fileColumns,
    loadedAt,
    nullValues,
    bareEmptyIsNull,
    maxRowBytes,
    limits,
  } as const
  const batches = await inBatches(source.slices.map((slice) => localSlice(slice, local)))
  const write = (slices: readonly LocalSlice[], i: number) => async (signal: AbortSignal) => {
    const workDir = join(dir, `batch-${i}`)
    await mkdir(workDir)
    const path = join(workDir, 'segment.parquet')
    const segment = await deps.pool.run({ ...job, slices, outPath: path, workDir }, 'long', { ...run, signal })
    return { ...segment, key: newKey(request.keyPrefix), path }
  }
  return allOrFirstFailure(run.signal, batches.map(write))
}

interface ToResolve {
  readonly before: TableSnapshot
  readonly fresh: readonly Written[]
  readonly local: LocalPaths
  readonly workDir: string
}

/** Beside the columns of the table while the load is prepared; the segments that join the table do not have it. */
const deletedMark = ({ deletedColumn, snapshot }: LoadRequest): Column | undefined =>
  deletedColumn === undefined
    ? undefined
    : { fieldId: snapshot.nextFieldId, name: deletedColumn, type: snapshot.typed ? 'BOOLEAN' : 'STRING', nullable: true }

function resolve(
  { pool, uriPrefix }: LoadDeps,
  request: LoadRequest,
  { before, fresh, local, workDir }: ToResolve,
  run: RunOptions,
): Promise<ResolvedKeys> {
  const { mode, fileColumns, loadedAt } = request
  const job = {
    kind: 'resolveKeys',
    ...defined({ deletedMark: deletedMark(request) }),
    snapshot: before,
    incremental: mode === 'incremental' && before.segments.length > 0,
    keepUnchanged: !fileColumns.includes(LOAD_TIME_COLUMN),
    // The paths at which stored files were looked into have been let go since.
    fresh: fresh.map(({ key, path, rows, isStored }) =>
      isStored ? { key, path: pathOf(local, key), rows, loadedAt } : { key, path, rows },
    ),
    local,
    workDir,
    uriPrefix,
  } as const
  return pool.run(job, 'long', run)
}

async function publish(
  { files }: LoadDeps,
  { keyPrefix, snapshot, loadedAt }: LoadRequest,
  before: TableSnapshot,
  fresh: readonly Written[],
  resolved: ResolvedKeys,
): Promise<Segment[]> {
  const fieldIds = snapshot.columns.map((c) => c.fieldId)
  const finished: FinishedFile[] = []
  const old = before.segments.flatMap((segment) => applyChange(segment, resolved.existing[segment.key], keyPrefix, finished))
  const added = fresh.flatMap(({ key, path, rows, bytes, minLoadedAt, maxLoadedAt, isStored }) => {
    const change = resolved.fresh[key]
    const isRewritten = change?.kind === 'rewritten'
    const segment: Segment = {
      // Rewritten files get a new name: the stored file belongs to its writer.
      key: isStored && isRewritten ? newKey(keyPrefix) : key,
      ...{ rows, bytes, fieldIds, minLoadedAt, maxLoadedAt, deletes: null },
      ...(isStored && !isRewritten && { loadedAt }),
    }
    if (isRewritten) finished.push({ key: segment.key, path: change.path })
    else if (change?.kind !== 'gone' && !isStored) finished.push({ key, path })
    return applyChange(segment, change, keyPrefix, finished)
  })
  await files.adoptAll(finished)
  return [...old, ...added]
}

export function localSlice(slice: CsvSlice, local: LocalPaths): LocalSlice {
  const path = local[slice.key]
  if (path === undefined) throw new Error(`slice ${slice.key} was not opened`)
  return { path, gzip: slice.gzip, name: slice.name ?? slice.key }
}

function checkFileColumns({ fileColumns, snapshot, source, deletedColumn }: LoadRequest, maxColumns: number): void {
  const [first] = 'stored' in source ? source.stored : source.slices
  const file = first?.name ?? 'the file'
  if (fileColumns.length > maxColumns)
    throw new PlatformError('storage.maxNumberOfColumnsExceed', { limit: maxColumns, file, columns: fileColumns.length })
  const seen = new Set<string>()
  for (const name of fileColumns) {
    if (name === null) continue
    if (name !== LOAD_TIME_COLUMN && name !== deletedColumn) columnNamed(snapshot, name)
    if (seen.has(name)) throw new PlatformError('storage.tables.columnAlreadyExists', { column: name })
    seen.add(name)
  }
}

/** Neighbouring slices of one kind, up to a size, become one segment: many small slices must not become many small segments. */
async function inBatches(slices: readonly LocalSlice[]): Promise<LocalSlice[][]> {
  const batches: LocalSlice[][] = []
  let freeBytes = 0
  for (const slice of slices) {
    const { size } = await stat(slice.path)
    const last = batches.at(-1)
    if (last && last[0]?.gzip === slice.gzip && size <= freeBytes) {
      last.push(slice)
      freeBytes -= size
    } else {
      batches.push([slice])
      freeBytes = BATCH_BYTES - size
    }
  }
  return batches
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number => items.reduce((total, item) => total + of(item), 0)
