// The table engine put together: keys become local paths, work goes to a worker, files become objects, snapshots become snapshots.
// The order is always the same: open what is read, write into a scratch folder of the operation, adopt what was written, return. If
// anything fails on the way, adopted objects are deleted again; after a crash they are unreferenced and the sweeper's.

import { randomUUID } from 'node:crypto'
import { mkdir, rm, stat, symlink } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { PlatformError } from '../../kit/errors.ts'
import { planCompaction } from './compaction.ts'
import type { InflateLimits, LocalSlice } from './csv-bytes.ts'
import { checkDialect } from './csv-dialect.ts'
import { readHeaderRow } from './csv-header.ts'
import type { LocalPaths } from './relation.ts'
import {
  columnNamed,
  emptySnapshot,
  LOAD_TIME_COLUMN,
  referencedKeys,
  type Segment,
  type TableSnapshot,
  truncate,
} from './snapshot.ts'
import type {
  CsvSlice,
  DeleteRowsRequest,
  DeleteRowsResult,
  LoadRequest,
  LoadResult,
  LocalFile,
  MaterialiseRequest,
  RunOptions,
  TableEngine,
  TableEngineDeps,
  UnloadRequest,
  UnloadResult,
} from './table-engine.ts'
import { WorkerPool } from './worker-pool.ts'
import type { FreshSegment, LoadedSegment, ResolvedKeys, SegmentChange } from './worker-protocol.ts'

const DEFAULTS = {
  shortWorkers: 2,
  warmWorkers: 1,
  workerMemoryMb: 1536,
  workerThreads: 1,
  maxRowBytes: 32 << 20,
  maxColumns: 4096,
}
const INFLATE_DEFAULTS: InflateLimits = { maxInflatedBytes: 2 ** 40, maxInflateRatio: 500 }
/** Slices are loaded together into segments of about this many bytes of CSV as it lies in the store. */
const BATCH_BYTES = 256 << 20

export interface RunningTableEngine extends TableEngine {
  /** Process ids of the workers, for the fault tests. */
  workerPids(): readonly number[]
}

export async function createTableEngine({ objects, scratchDir, settings = {} }: TableEngineDeps): Promise<RunningTableEngine> {
  const { maxRowBytes, maxColumns, workerMemoryMb, workerThreads, warmWorkers, shortWorkers } = { ...DEFAULTS, ...settings }
  const limits = { ...INFLATE_DEFAULTS, ...pick(settings) }
  await rm(scratchDir, { recursive: true, force: true })
  const spillDir = join(scratchDir, 'spill')
  await mkdir(spillDir, { recursive: true })
  const pool = new WorkerPool({
    lanes: { long: settings.longWorkers ?? availableParallelism(), short: shortWorkers },
    warmWorkers,
    workerMemoryMb,
    workerThreads,
    spillDir,
  })

  async function inScratch<T>(work: (dir: string) => Promise<T>): Promise<T> {
    const dir = join(scratchDir, randomUUID())
    await mkdir(dir)
    try {
      return await work(dir)
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  }

  /** Local paths of objects while `work` runs. */
  async function withLocal<T>(keys: readonly string[], work: (local: LocalPaths) => Promise<T>): Promise<T> {
    const wanted = [...new Set(keys)]
    const opened = await Promise.allSettled(wanted.map((key) => objects.openLocal(key)))
    const links: string[] = []
    try {
      const local: Record<string, string> = {}
      for (const [i, key] of wanted.entries()) {
        const file = settledFile(opened[i])
        if (!file) throw new PlatformError('tableEngine.objectMissing', { key })
        local[key] = GLOB.test(file.path) ? await linkTo(file.path, links) : file.path
      }
      return await work(local)
    } finally {
      const files = opened.flatMap((result) => (result.status === 'fulfilled' && result.value ? [result.value] : []))
      await Promise.all([...files.map((file) => file.release()), ...links.map((link) => rm(link, { force: true }))])
    }
  }

  /** DuckDB reads paths as patterns; one that looks like a pattern gets a plain name. */
  async function linkTo(path: string, links: string[]): Promise<string> {
    const link = join(scratchDir, `${randomUUID()}.link`)
    await symlink(path, link)
    links.push(link)
    return link
  }

  /** All or none: what was adopted before a failure is deleted again. */
  async function adoptAll(files: readonly { readonly key: string; readonly path: string }[]): Promise<void> {
    const adopted: string[] = []
    try {
      for (const { key, path } of files) {
        await objects.adopt(key, path)
        adopted.push(key)
      }
    } catch (error) {
      await Promise.allSettled(adopted.map((key) => objects.delete(key)))
      throw error
    }
  }

  const readHeader: TableEngine['readHeader'] = async (source, run) => {
    run?.signal?.throwIfAborted()
    const dialect = checkDialect(source.dialect)
    const slice = source.slices[0]
    if (!slice) return []
    return withLocal([slice.key], (local) => readHeaderRow(localSlice(slice, local), { dialect, limits, maxColumns }))
  }

  async function load(request: LoadRequest, run: RunOptions = {}): Promise<LoadResult> {
    const { snapshot, source } = request
    const dialect = checkDialect(source.dialect)
    checkFileColumns(request, maxColumns)
    const keyed = snapshot.primaryKey.length > 0
    const kept = request.mode === 'full' ? truncate(snapshot) : snapshot
    const needed = [...source.slices.map((s) => s.key), ...(keyed ? referencedKeys(kept) : [])]
    return inScratch((dir) =>
      withLocal(needed, async (local) => {
        const batches = await inBatches(source.slices.map((slice) => localSlice(slice, local)))
        const one = { ...request, dialect, nullValues: request.nullValues ?? [''], maxRowBytes, limits }
        const written = await allOrFirstFailure(run, batches, async (slices, i, options) => {
          const workDir = join(dir, `batch-${i}`)
          await mkdir(workDir)
          const outPath = join(workDir, 'segment.parquet')
          const { skipLines, fileColumns, loadedAt } = request
          const { nullValues } = one
          const job = {
            snapshot: { ...snapshot, segments: [] },
            slices,
            dialect,
            skipLines,
            fileColumns,
            loadedAt,
            nullValues,
            maxRowBytes,
            limits,
          }
          const segment = await pool.run({ kind: 'loadSlices', ...job, outPath, workDir }, 'long', options)
          return { ...segment, key: newKey(request.keyPrefix), path: outPath }
        })
        const rowsInFile = sum(written, (s) => s.rows)
        const bytesInFile = sum(written, (s) => s.csvBytes)
        const fresh = written.filter((s) => s.rows > 0)
        const resolved =
          keyed && fresh.length > 0
            ? await pool.run(
                {
                  kind: 'resolveKeys',
                  snapshot: kept,
                  incremental: request.mode === 'incremental' && kept.segments.length > 0,
                  keepUnchanged: !request.fileColumns.includes(LOAD_TIME_COLUMN),
                  fresh: fresh.map(({ key, path, rows }): FreshSegment => ({ key, path, rows })),
                  local,
                  workDir: dir,
                },
                'long',
                run,
              )
            : NOTHING_RESOLVED
        const segments = await publish(request, kept, fresh, resolved)
        const { replaced, unchanged, duplicate } = resolved
        return {
          snapshot: { ...snapshot, segments },
          rowsInFile,
          bytesInFile,
          rowsWritten: rowsInFile - duplicate - unchanged,
          rowsReplaced: replaced,
          rowsUnchanged: unchanged,
          rowsDuplicate: duplicate,
        }
      }),
    )
  }

  async function publish(
    { keyPrefix, snapshot }: LoadRequest,
    kept: TableSnapshot,
    fresh: readonly (LoadedSegment & { readonly key: string; readonly path: string })[],
    resolved: ResolvedKeys,
  ): Promise<Segment[]> {
    const fieldIds = snapshot.columns.map((c) => c.fieldId)
    const files: { key: string; path: string }[] = []
    const old = kept.segments.flatMap((segment) => changed(segment, resolved.existing[segment.key], keyPrefix, files))
    const added = fresh.flatMap(({ key, path, rows, bytes, minLoadedAt, maxLoadedAt }) => {
      const segment: Segment = { key, rows, bytes, fieldIds, minLoadedAt, maxLoadedAt, deletes: null }
      const change = resolved.fresh[key]
      if (change?.kind !== 'gone') files.push({ key, path: change?.kind === 'rewritten' ? change.path : path })
      return changed(segment, change, keyPrefix, files)
    })
    await adoptAll(files)
    return [...old, ...added]
  }

  async function unload(request: UnloadRequest, run: RunOptions = {}): Promise<UnloadResult> {
    const { keyPrefix, ...wanted } = request
    return inScratch((dir) =>
      withLocal(referencedKeys(request.snapshot), async (local) => {
        const done = await pool.run({ kind: 'unload', request: wanted, local, workDir: dir }, 'long', run)
        const suffix = request.format === 'parquet' ? '.parquet' : request.gzip ? '.csv.gz' : '.csv'
        const keyOf = (i: number) => (request.merged ? keyPrefix : `${keyPrefix}${String(i).padStart(6, '0')}${suffix}`)
        const slices = done.files.map(({ path, bytes }, i) => ({ key: keyOf(i), path, bytes }))
        await adoptAll(slices)
        return { slices: slices.map(({ key, bytes }) => ({ key, bytes })), columns: done.columns, rows: done.rows }
      }),
    )
  }

  async function deleteRows(request: DeleteRowsRequest, run: RunOptions = {}): Promise<DeleteRowsResult> {
    const { keyPrefix, ...wanted } = request
    const { snapshot } = request
    return inScratch((dir) =>
      withLocal(referencedKeys(snapshot), async (local) => {
        const { changes, deletedRows } = await pool.run({ kind: 'deleteRows', request: wanted, local, workDir: dir }, 'long', run)
        const files: { key: string; path: string }[] = []
        const segments = snapshot.segments.flatMap((segment) => changed(segment, changes[segment.key], keyPrefix, files))
        await adoptAll(files)
        return { snapshot: { ...snapshot, segments }, deletedRows }
      }),
    )
  }

  async function materialise(request: MaterialiseRequest, run: RunOptions = {}): Promise<TableSnapshot> {
    const { snapshot, keyPrefix } = request
    const sources = request.columns?.map((name) => columnNamed(snapshot, name)) ?? snapshot.columns
    const empty = emptySnapshot(sources, { typed: snapshot.typed })
    const segment = await rewrite({ ...request, columns: sources.map((c) => c.name) }, empty.columns, keyPrefix, run)
    return { ...empty, segments: segment ? [segment] : [] }
  }

  const compact: TableEngine['compact'] = async ({ snapshot, keyPrefix, force }, run = {}) => {
    const runs = planCompaction(snapshot, force)
    if (runs.length === 0) return null
    const written: string[] = []
    const segments: Segment[] = []
    let next = 0
    try {
      for (const [from, to] of runs) {
        const part = { ...snapshot, segments: snapshot.segments.slice(from, to) }
        const merged = await rewrite(
          { snapshot: part, columns: snapshot.columns.map((c) => c.name) },
          snapshot.columns,
          keyPrefix,
          run,
        )
        segments.push(...snapshot.segments.slice(next, from), ...(merged ? [merged] : []))
        if (merged) written.push(merged.key)
        next = to
      }
    } catch (error) {
      await Promise.allSettled(written.map((key) => objects.delete(key)))
      throw error
    }
    return { ...snapshot, segments: [...segments, ...snapshot.segments.slice(next)] }
  }

  /** A query as one adopted segment; undefined when it has no rows. */
  async function rewrite(
    request: Omit<MaterialiseRequest, 'keyPrefix'>,
    columns: TableSnapshot['columns'],
    keyPrefix: string,
    run: RunOptions,
  ): Promise<Segment | undefined> {
    return inScratch((dir) =>
      withLocal(referencedKeys(request.snapshot), async (local) => {
        const outPath = join(dir, 'segment.parquet')
        const { rows, bytes, minLoadedAt, maxLoadedAt } = await pool.run(
          { kind: 'writeSegment', request, columns, local, outPath },
          'long',
          run,
        )
        if (rows === 0) return undefined
        const key = newKey(keyPrefix)
        await adoptAll([{ key, path: outPath }])
        return { key, rows, bytes, fieldIds: columns.map((c) => c.fieldId), minLoadedAt, maxLoadedAt, deletes: null }
      }),
    )
  }

  return {
    readHeader,
    load,
    unload,
    deleteRows,
    materialise,
    compact,
    preview: (request, run = {}) =>
      withLocal(referencedKeys(request.snapshot), (local) => pool.run({ kind: 'preview', request, local }, 'short', run)),
    count: (request, run = {}) =>
      withLocal(referencedKeys(request.snapshot), (local) => pool.run({ kind: 'count', request, local }, 'short', run)),
    findDuplicateKey: (request, run = {}) =>
      withLocal(referencedKeys(request.snapshot), (local) => pool.run({ kind: 'findDuplicateKey', request, local }, 'long', run)),
    profile: (request, run = {}) =>
      withLocal(referencedKeys(request.snapshot), (local) => pool.run({ kind: 'profile', request, local }, 'long', run)),
    workerPids: () => pool.pids(),
    close: () => pool.close(),
  }
}

const GLOB = /[*?[\]{}]/
const NOTHING_RESOLVED: ResolvedKeys = { existing: {}, fresh: {}, replaced: 0, unchanged: 0, duplicate: 0 }

function settledFile(result: PromiseSettledResult<LocalFile | undefined> | undefined): LocalFile | undefined {
  if (result?.status === 'rejected') throw result.reason
  return result?.value
}

const newKey = (prefix: string): string => `${prefix}${randomUUID()}.parquet`
const sum = <T>(items: readonly T[], of: (item: T) => number): number => items.reduce((total, item) => total + of(item), 0)

function pick({ maxInflatedBytes, maxInflateRatio }: Partial<InflateLimits>): Partial<InflateLimits> {
  return {
    ...(maxInflatedBytes === undefined ? {} : { maxInflatedBytes }),
    ...(maxInflateRatio === undefined ? {} : { maxInflateRatio }),
  }
}

function localSlice(slice: CsvSlice, local: LocalPaths): LocalSlice {
  const path = local[slice.key]
  if (path === undefined) throw new Error(`slice ${slice.key} was not opened`)
  return { path, gzip: slice.gzip, name: slice.name ?? slice.key }
}

function checkFileColumns({ fileColumns, snapshot, source }: LoadRequest, maxColumns: number): void {
  const file = source.slices[0]?.name ?? 'the file'
  if (fileColumns.length > maxColumns)
    throw new PlatformError('storage.maxNumberOfColumnsExceed', { limit: maxColumns, file, columns: fileColumns.length })
  const seen = new Set<string>()
  for (const name of fileColumns) {
    if (name === null) continue
    if (name !== LOAD_TIME_COLUMN) columnNamed(snapshot, name)
    if (seen.has(name)) throw new PlatformError('storage.tables.columnAlreadyExists', { column: name })
    seen.add(name)
  }
}

/** Neighbouring slices of one kind, up to a size, become one segment: many small slices must not become many small segments. */
async function inBatches(slices: readonly LocalSlice[]): Promise<LocalSlice[][]> {
  const batches: LocalSlice[][] = []
  let room = 0
  for (const slice of slices) {
    const { size } = await stat(slice.path)
    const last = batches.at(-1)
    if (last && last[0]?.gzip === slice.gzip && size <= room) {
      last.push(slice)
      room -= size
    } else {
      batches.push([slice])
      room = BATCH_BYTES - size
    }
  }
  return batches
}

/** Runs all at once; the first failure cancels the others and is the one thrown. */
async function allOrFirstFailure<T, R>(
  run: RunOptions,
  items: readonly T[],
  work: (item: T, i: number, options: RunOptions) => Promise<R>,
): Promise<R[]> {
  const stop = new AbortController()
  const signal = run.signal ? AbortSignal.any([run.signal, stop.signal]) : stop.signal
  let failed: { readonly error: unknown } | undefined
  const results = await Promise.allSettled(
    items.map(async (item, i) => {
      try {
        return await work(item, i, { ...run, signal })
      } catch (error) {
        failed ??= { error }
        stop.abort()
        throw error
      }
    }),
  )
  if (failed) throw failed.error
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}

/** A segment after its change; its new delete file joins `files`. */
function changed(
  segment: Segment,
  change: SegmentChange | undefined,
  keyPrefix: string,
  files: { key: string; path: string }[],
): Segment[] {
  if (!change) return [segment]
  if (change.kind === 'gone') return []
  if (change.kind === 'rewritten') return [{ ...segment, rows: change.rows, bytes: change.bytes, deletes: null }]
  const key = newKey(`${keyPrefix}deletes-`)
  files.push({ key, path: change.path })
  return [{ ...segment, deletes: { key, rows: change.rows, bytes: change.bytes } }]
}
