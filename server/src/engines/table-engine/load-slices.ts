// CSV slices into one Parquet segment. DuckDB reads the file on a thread of its own while the scanner walks the same bytes on this
// one; the segment counts only if the scanner found no fault and both saw the same number of rows. Otherwise, for a valid file that
// DuckDB reads differently (or not at all), the segment is written again from a normalised copy.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PlatformError } from '../../kit/errors.ts'
import { type LocalSlice, readSlice } from './csv/csv-bytes.ts'
import type { DialectBytes } from './csv/csv-dialect.ts'
import { NORMALISED, normaliseCsv } from './csv/csv-normalise.ts'
import { describeProblem } from './csv/csv-problem.ts'
import { type CsvScan, createCsvScanner } from './csv/csv-scanner.ts'
import type { Database } from './database.ts'
import { findBadValue, isBadValue, loadSelect } from './load-select.ts'
import { rowGroupRows, writeToSegment } from './segment-file.ts'
import { LOAD_TIME_COLUMN } from './snapshot.ts'
import { literal, paths } from './sql.ts'
import type { LoadedSegment, LoadSlicesJob } from './worker-protocol.ts'

/** DuckDB's own defaults; larger rows are rare and read in a second attempt. */
const LINE_BYTES = 2 << 20
const BUFFER_BYTES = 16 << 20

interface CsvReader {
  readonly files: readonly string[]
  readonly gzip: boolean
  readonly dialect: DialectBytes
  readonly skipLines: number
  readonly lineEnd: string
  readonly longestRowBytes: number
}

export async function loadSlices(db: Database, job: LoadSlicesJob): Promise<LoadedSegment> {
  return db.inFileOrder(() => loadOnce(db, job))
}

async function loadOnce(db: Database, job: LoadSlicesJob): Promise<LoadedSegment> {
  const first = await sniff(job)
  const emptyIsNull = job.snapshot.typed && job.bareEmptyIsNull
  const direct: CsvReader = {
    files: job.slices.map((s) => s.path),
    gzip: job.slices[0]?.gzip ?? false,
    dialect: job.dialect,
    skipLines: job.skipLines,
    lineEnd: first.lineEnd,
    longestRowBytes: 0,
  }
  const groupRows = rowGroupRows(first.bytesPerRow, job.fileColumns.length)
  const copy = (reader: CsvReader) =>
    writeToSegment(
      db,
      loadSelect(job, readCsv(reader, job.fileColumns.length, emptyIsNull)),
      job.snapshot.columns,
      job.outPath,
      groupRows,
    )

  const copying = job.dialect.escaper === -1 ? attempt(copy(direct)) : Promise.resolve(undefined)
  const scan = await scanSlices(job, () => db.interrupt()).catch(async (error: unknown) => {
    db.interrupt()
    await copying
    throw error
  })
  let outcome = await copying
  const wrongValue = outcome?.error !== undefined && isBadValue(outcome.error)
  if (scan.normalise || outcome === undefined || (outcome.rows !== scan.rows && !wrongValue)) {
    const reader = await secondReader(job, direct, scan)
    outcome = await attempt(copy(reader))
  }
  if (outcome.error !== undefined) {
    if (isBadValue(outcome.error)) {
      const csv = readCsv(await secondReader(job, direct, scan), job.fileColumns.length, emptyIsNull)
      throw await findBadValue(db, job, csv, scan.rowsPerSlice, groupRows)
    }
    throw outcome.error
  }
  if (outcome.rows !== scan.rows) throw new Error(`DuckDB read ${outcome.rows} rows of a file with ${scan.rows}`)
  return { rows: scan.rows, csvBytes: scan.bytes, bytes: (await stat(job.outPath)).size, ...(await loadTimes(db, job)) }
}

/** Rows too long for DuckDB's buffer only need a larger one; everything else that went differently is normalised. */
async function secondReader(job: LoadSlicesJob, direct: CsvReader, scan: SliceScan): Promise<CsvReader> {
  const plainlyLong = !scan.normalise && scan.longestRowBytes >= LINE_BYTES
  if (plainlyLong) return { ...direct, longestRowBytes: scan.longestRowBytes }
  const path = join(job.workDir, 'normalised.csv')
  await normaliseCsv({ ...job, columns: job.fileColumns.length }, path)
  // Quoting can at most double a row.
  return {
    files: [path],
    gzip: false,
    dialect: NORMALISED,
    skipLines: 0,
    lineEnd: '\n',
    longestRowBytes: 2 * scan.longestRowBytes + 64,
  }
}

/** `emptyIsNull`: an empty field without quotes is null, one with quotes is the empty text (corrections-2, A32). */
function readCsv(reader: CsvReader, columns: number, emptyIsNull: boolean): string {
  const { delimiter, enclosure } = reader.dialect
  const character = (byte: number) => (byte === -1 ? "''" : `chr(${byte})`)
  const line = Math.max(LINE_BYTES, reader.longestRowBytes + 1024)
  const names = Array.from({ length: columns }, (_, i) => `'f${i}': 'VARCHAR'`)
  const options = [
    'auto_detect=false',
    'header=false',
    `skip=${reader.skipLines}`,
    `delim=${character(delimiter)}`,
    `quote=${character(enclosure)}`,
    `escape=${character(enclosure)}`,
    // Else a character that the scanner refuses, so that no value is ever taken for null: an empty string stays an empty string.
    ...(emptyIsNull ? ["nullstr=''", 'allow_quoted_nulls=false'] : ['nullstr=chr(0)']),
    `new_line=${literal(reader.lineEnd === '\r\n' ? '\\r\\n' : '\\n')}`,
    `compression='${reader.gzip ? 'gzip' : 'none'}'`,
    'parallel=false',
    `max_line_size=${line}`,
    `buffer_size=${Math.max(BUFFER_BYTES, 2 * line)}`,
    `columns={${names.join(', ')}}`,
  ]
  return `read_csv(${paths(reader.files)}, ${options.join(', ')})`
}

interface SliceScan extends Pick<CsvScan, 'rows' | 'bytes' | 'longestRowBytes' | 'normalise'> {
  readonly rowsPerSlice: readonly number[]
}

/** Walks all slices; `onNormalise` is called as soon as DuckDB's attempt has failed. */
async function scanSlices(job: LoadSlicesJob, onNormalise: () => void): Promise<SliceScan> {
  const scans: CsvScan[] = []
  for (const slice of job.slices) {
    const scan = await scanSlice(job, slice)
    if (scan.normalise && !scans.some((s) => s.normalise)) onNormalise()
    scans.push(scan)
  }
  const sum = (of: (scan: CsvScan) => number) => scans.reduce((total, scan) => total + of(scan), 0)
  return {
    rows: sum((s) => s.rows),
    bytes: sum((s) => s.bytes),
    longestRowBytes: Math.max(0, ...scans.map((s) => s.longestRowBytes)),
    normalise: scans.some((s) => s.normalise),
    rowsPerSlice: scans.map((s) => s.rows),
  }
}

async function scanSlice(job: LoadSlicesJob, slice: LocalSlice): Promise<CsvScan> {
  const scanner = createCsvScanner({ ...job, columns: job.fileColumns.length })
  let problem = null
  for await (const chunk of readSlice(slice, job.limits)) {
    problem = scanner.write(chunk)
    if (problem) break
  }
  problem ??= scanner.end()
  if (!problem) return scanner.result()
  const columnNames = job.fileColumns.map((name, i) => name ?? `number ${i + 1}`)
  throw await describeProblem(problem, { slice, limits: job.limits, columnNames, maxRowBytes: job.maxRowBytes })
}

/** Enough lines to estimate their length. */
const LOOK_BYTES = 1 << 16

/** A look at the first lines: how they end and how long they are. A wrong guess costs a second attempt, never a wrong row. */
async function sniff(job: LoadSlicesJob): Promise<{ lineEnd: string; bytesPerRow: number }> {
  const slice = job.slices[0]
  if (!slice) return { lineEnd: '\n', bytesPerRow: 1 }
  for await (const chunk of readSlice(slice, job.limits)) {
    const lf = chunk.indexOf(10)
    if (lf === -1) return { lineEnd: '\n', bytesPerRow: chunk.length }
    const looked = chunk.subarray(0, Math.max(LOOK_BYTES, lf + 1))
    let lines = 0
    for (let i = lf; i !== -1; i = looked.indexOf(10, i + 1)) lines++
    return { lineEnd: lf > 0 && chunk[lf - 1] === 13 ? '\r\n' : '\n', bytesPerRow: looked.length / lines }
  }
  return { lineEnd: '\n', bytesPerRow: 1 }
}

interface Outcome {
  readonly rows: number
  readonly error?: unknown
}

const attempt = (work: Promise<number>): Promise<Outcome> =>
  work.then(
    (rows) => ({ rows }),
    (error: unknown) => ({ rows: -1, error }),
  )

async function loadTimes(db: Database, job: LoadSlicesJob): Promise<{ minLoadedAt: number; maxLoadedAt: number }> {
  if (!job.fileColumns.includes(LOAD_TIME_COLUMN)) return { minLoadedAt: job.loadedAt, maxLoadedAt: job.loadedAt }
  return segmentLoadTimes(db, job.outPath, job.loadedAt)
}

/** The range of load times in a written segment. */
export async function segmentLoadTimes(
  db: Database,
  path: string,
  otherwise: number,
): Promise<{ minLoadedAt: number; maxLoadedAt: number }> {
  const [row] = await db.rows(
    `SELECT epoch_ms(min("_timestamp")), epoch_ms(max("_timestamp")) FROM read_parquet(${literal(path)})`,
  )
  const [min, max] = row ?? []
  if (typeof min !== 'number' || typeof max !== 'number') return { minLoadedAt: otherwise, maxLoadedAt: otherwise }
  return { minLoadedAt: min, maxLoadedAt: max + 1 } // a timestamp of the file may have parts of a millisecond
}

/** Out of memory and a full disk are the only failures of a load that are not a bug. */
export function nameDuckDbError(error: unknown, limitMb: number): unknown {
  if (error instanceof PlatformError) return error
  const text = error instanceof Error ? error.message : String(error)
  if (/out of memory|could not allocate|failed to (?:pin|allocate)/i.test(text)) return outOfMemory(limitMb, error)
  if (/no space left|disk full|ENOSPC|max_temp_directory_size/i.test(text))
    return new PlatformError('tableEngine.diskFull', {}, { cause: error })
  return error
}

export const outOfMemory = (limitMb: number, cause?: unknown): PlatformError =>
  new PlatformError('tableEngine.outOfMemory', { limit: limitMb }, { cause })
