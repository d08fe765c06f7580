// The table engine: keys become local paths, work goes to a worker, files become objects, snapshots become snapshots.
// The order is always the same: open what is read, write into a scratch folder of the operation, adopt what was written, return. If
// anything fails on the way, adopted objects are deleted again; after a crash they are unreferenced and the sweeper's.

import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { DEFAULT_LIMITS } from '../../kit/default-limits.ts'
import { planCompaction } from './compaction.ts'
import { type InflateLimits, type LocalSlice, readSlice } from './csv/csv-bytes.ts'
import { checkDialect } from './csv/csv-dialect.ts'
import { readHeaderRow } from './csv/csv-header.ts'
import { type FileFormat, formatOf } from './formats/file-format.ts'
import { checkStored, load, localSlice } from './load.ts'
import { createObjectFiles, type FinishedFile, newKey } from './object-files.ts'
import { planOpenShape } from './open-shape.ts'
import { type LocalPaths, pruneSegments } from './relation.ts'
import { applyChange } from './segment-change.ts'
import { columnNamed, emptySnapshot, referencedKeys, type Segment, type TableSnapshot } from './snapshot.ts'
import type {
  DeleteRowsRequest,
  DeleteRowsResult,
  MaterialiseRequest,
  QueryRequest,
  RunOptions,
  TableEngine,
  TableEngineDeps,
  UnloadRequest,
  UnloadResult,
} from './table-engine.ts'
import { suffixOf } from './unloaded-name.ts'
import { WorkerPool } from './worker-pool.ts'

const DEFAULTS = { ...DEFAULT_LIMITS.tables, shortWorkers: 2, workerThreads: 1, maxColumns: 4096 }

export interface RunningTableEngine extends TableEngine {
  /** Process ids of the workers, for fault tests and benches. */
  workerPids(): readonly number[]
  /** Work that waits for a worker, and that is being done; short work (previews) has places of its own. */
  workload(): ReturnType<WorkerPool['load']>
}

export async function createTableEngine(deps: TableEngineDeps): Promise<RunningTableEngine> {
  const { objects, scratchDir, uriPrefix, settings = {}, onNotLoaded } = deps
  const chosen = { ...DEFAULTS, ...settings }
  const { maxRowBytes, maxColumns, workerMemoryMb, workerThreads, warmWorkers, shortWorkers } = chosen
  const limits: InflateLimits = { maxInflatedBytes: chosen.maxInflatedBytes, maxInflateRatio: chosen.maxInflateRatio }
  const spillDir = join(scratchDir, 'spill')
  await rm(scratchDir, { recursive: true, force: true })
  await mkdir(spillDir, { recursive: true })
  const lanes = { long: settings.longWorkers ?? availableParallelism(), short: shortWorkers }
  const pool = new WorkerPool({ lanes, warmWorkers, workerMemoryMb, workerThreads, spillDir, onNotLoaded })
  const files = createObjectFiles(objects, scratchDir)

  const readHeader: TableEngine['readHeader'] = async (source, run) => {
    run?.signal?.throwIfAborted()
    const dialect = checkDialect(source.dialect)
    const slice = source.slices[0]
    if (!slice) return []
    return files.withLocal([slice.key], (local) => readHeaderRow(localSlice(slice, local), { dialect, limits, maxColumns }))
  }

  const withCsv: TableEngine['withCsv'] = async ({ slices, name }, work, run = {}) => {
    run.signal?.throwIfAborted()
    const [first] = slices
    const format = first && (await files.withLocal([first.key], (local) => formatOfSlice(localSlice(first, local), limits)))
    if (!format || format === 'csv') return work(undefined)
    return files.inScratch(async (dir) => {
      const path = join(dir, 'converted.csv')
      const keys = slices.map(({ key }) => key)
      const { bytes } = await files.withLocal(keys, async (local) => {
        const plain = await Promise.all(
          slices.map((slice, i) => unpackedSlice(localSlice(slice, local), join(dir, `slice-${i}`), limits)),
        )
        const job = { kind: 'convertFile', format, name, files: plain, outPath: path, maxRowBytes } as const
        return pool.run({ ...job, maxBytes: limits.maxInflatedBytes }, 'long', run)
      })
      return work({ path, bytes })
    })
  }

  async function unload(request: UnloadRequest, run: RunOptions = {}): Promise<UnloadResult> {
    const { keyPrefix, ...wanted } = pruneSegments(request)
    return files.inScratch((dir) =>
      files.withLocal(referencedKeys(wanted.snapshot), async (local) => {
        const done = await pool.run({ kind: 'unload', request: wanted, local, workDir: dir }, 'long', run)
        const suffix = suffixOf(request.format, request.gzip)
        const keyOf = (i: number) => (request.merged ? keyPrefix : `${keyPrefix}${String(i).padStart(6, '0')}${suffix}`)
        const slices = done.files.map(({ path, bytes }, i) => ({ key: keyOf(i), path, bytes }))
        await files.adoptAll(slices)
        return { slices: slices.map(({ key, bytes }) => ({ key, bytes })), columns: done.columns, rows: done.rows }
      }),
    )
  }

  async function deleteRows(request: DeleteRowsRequest, run: RunOptions = {}): Promise<DeleteRowsResult> {
    const { keyPrefix, ...wanted } = request
    const { snapshot } = request
    return files.inScratch((dir) =>
      files.withLocal(referencedKeys(snapshot), async (local) => {
        const { changes, deletedRows } = await pool.run(
          { kind: 'deleteRows', request: wanted, local, workDir: dir, uriPrefix },
          'long',
          run,
        )
        const finished: FinishedFile[] = []
        const segments = snapshot.segments.flatMap((segment) => applyChange(segment, changes[segment.key], keyPrefix, finished))
        await files.adoptAll(finished)
        return { snapshot: { ...snapshot, segments }, deletedRows }
      }),
    )
  }

  async function materialise(request: MaterialiseRequest, run: RunOptions = {}): Promise<TableSnapshot> {
    const { snapshot } = request
    const sources = request.columns?.map((name) => columnNamed(snapshot, name)) ?? snapshot.columns
    const empty = emptySnapshot(sources, { typed: snapshot.typed })
    const segment = await writeAsSegment({ ...request, columns: sources.map((c) => c.name) }, empty.columns, run)
    return { ...empty, segments: segment ? [segment] : [] }
  }

  const compact: TableEngine['compact'] = async ({ snapshot, keyPrefix, force }, run = {}) => {
    const runs = planCompaction(snapshot, force)
    return runs.length === 0 ? null : rewriteRuns(snapshot, runs, keyPrefix, run)
  }

  const rewriteAs: TableEngine['rewriteAs'] = ({ snapshot, shape, keyPrefix }, run = {}) => {
    const each = snapshot.segments.map((_, i) => [i, i + 1] as const)
    return rewriteRuns(snapshot, each, keyPrefix, run, shape)
  }

  const inOpenShape: TableEngine['inOpenShape'] = async ({ snapshot, keyPrefix }, run = {}) => {
    const plan = planOpenShape(snapshot, { keyPrefix, uriPrefix })
    if (!plan) return null
    const renamed = plan.renames.length === 0 ? snapshot : await nameDeletes(snapshot, plan.renames, keyPrefix, run)
    return rewriteRuns(renamed, plan.rewrites, keyPrefix, run)
  }

  /** Only the named segments change, and only the text in their delete files. */
  async function nameDeletes(
    snapshot: TableSnapshot,
    segments: readonly Segment[],
    keyPrefix: string,
    run: RunOptions,
  ): Promise<TableSnapshot> {
    const keys = segments.flatMap(({ deletes }) => (deletes ? [deletes.key] : []))
    return files.inScratch((dir) =>
      files.withLocal(keys, async (local) => {
        const changes = await pool.run({ kind: 'nameDeletes', segments, local, workDir: dir, uriPrefix }, 'long', run)
        const finished: FinishedFile[] = []
        const named = snapshot.segments.flatMap((segment) => applyChange(segment, changes[segment.key], keyPrefix, finished))
        await files.adoptAll(finished)
        return { ...snapshot, segments: named }
      }),
    )
  }

  /** Each run of neighbours as one segment, without dead rows and with every column. */
  async function rewriteRuns(
    snapshot: TableSnapshot,
    runs: readonly (readonly [from: number, to: number])[],
    keyPrefix: string,
    run: RunOptions,
    shape: TableSnapshot = snapshot,
  ): Promise<TableSnapshot> {
    const columns = snapshot.columns.map((c) => c.name)
    const written: string[] = []
    const segments: Segment[] = []
    let next = 0
    try {
      for (const [from, to] of runs) {
        const part = { ...snapshot, segments: snapshot.segments.slice(from, to) }
        const merged = await writeAsSegment({ snapshot: part, columns, keyPrefix }, shape.columns, run)
        segments.push(...snapshot.segments.slice(next, from), ...(merged ? [merged] : []))
        if (merged) written.push(merged.key)
        next = to
      }
    } catch (error) {
      await files.discard(written)
      throw error
    }
    return { ...shape, segments: [...segments, ...snapshot.segments.slice(next)] }
  }

  /** A query as one adopted segment with the field ids of `columns`; undefined when it has no rows. */
  async function writeAsSegment(
    { keyPrefix, ...request }: MaterialiseRequest,
    columns: TableSnapshot['columns'],
    run: RunOptions,
  ): Promise<Segment | undefined> {
    return files.inScratch((dir) =>
      files.withLocal(referencedKeys(request.snapshot), async (local) => {
        const path = join(dir, 'segment.parquet')
        const written = await pool.run({ kind: 'writeSegment', request, columns, local, outPath: path }, 'long', run)
        const { rows, bytes, minLoadedAt, maxLoadedAt } = written
        if (rows === 0) return undefined
        const key = newKey(keyPrefix)
        await files.adoptAll([{ key, path }])
        return { key, rows, bytes, fieldIds: columns.map((c) => c.fieldId), minLoadedAt, maxLoadedAt, deletes: null }
      }),
    )
  }

  /** Opens only what the query can touch: a preview of the first rows must not fetch a whole table from S3. */
  function reading<Request extends QueryRequest, T>(
    request: Request,
    work: (request: Request, local: LocalPaths) => Promise<T>,
  ): Promise<T> {
    const needed = pruneSegments(request)
    return files.withLocal(referencedKeys(needed.snapshot), (local) => work(needed, local))
  }

  return {
    readHeader,
    withCsv,
    load: (request, run = {}) => load({ pool, files, limits, maxRowBytes, maxColumns, uriPrefix }, request, run),
    unload,
    deleteRows,
    materialise,
    compact,
    inOpenShape,
    rewriteAs,
    preview: (asked, run) => reading(asked, (request, local) => pool.run({ kind: 'preview', request, local }, 'short', run)),
    count: (asked, run) => reading(asked, (request, local) => pool.run({ kind: 'count', request, local }, 'short', run)),
    findDuplicateKey: (request, run) =>
      files.withLocal(referencedKeys(request.snapshot), (local) =>
        pool.run({ kind: 'findDuplicateKey', request, local }, 'long', run),
      ),
    findUnfit: (request, run) =>
      files.withLocal(referencedKeys(request.snapshot), (local) => pool.run({ kind: 'findUnfit', request, local }, 'long', run)),
    checkFiles: (request, run = {}) => checkStored({ files, pool }, request, run),
    profile: (request, run) =>
      files.withLocal(referencedKeys(request.snapshot), (local) => pool.run({ kind: 'profile', request, local }, 'long', run)),
    workerPids: () => pool.pids(),
    workload: () => pool.load(),
    close: () => pool.close(),
  }
}

async function formatOfSlice(slice: LocalSlice, limits: InflateLimits): Promise<FileFormat> {
  for await (const chunk of readSlice(slice, limits)) return formatOf(chunk)
  return 'csv'
}

/** DuckDB reads the name of a file to find out how it is packed, and these have none. */
async function unpackedSlice(slice: LocalSlice, path: string, limits: InflateLimits): Promise<string> {
  if (!slice.gzip) return slice.path
  await pipeline(readSlice(slice, limits), createWriteStream(path))
  return path
}
