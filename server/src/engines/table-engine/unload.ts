// A query into files: CSV slices without a header, every value quoted, LF; or one file with a header for people; or Parquet; or JSON
// lines. DuckDB writes plain text, and each slice it has finished is gzipped beside it at a low level: its own gzip writer is several times slower.

import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip, gzipSync } from 'node:zlib'
import { dictionaryBytes } from '../../kit/dictionary-bytes.ts'
import { csvLine } from '../../kit/text/double-quoted.ts'
import type { Database } from './database.ts'
import { asText, LOAD_TIME, outAs, query } from './relation.ts'
import { rowGroupRows, ZSTD } from './segment-file.ts'
import { type Column, countBytes, countRows } from './snapshot.ts'
import { fieldName, identifier, literal } from './sql.ts'
import type { UnloadedFiles, UnloadJob } from './worker-protocol.ts'

const SLICE_BYTES = 64 << 20
/** Text is at most about this many times as large as the Parquet it comes from; tables that give one slice are written to one file. */
const UNPACKING = 8
const GZIP_LEVEL = 1
const GZIP_AT_ONCE = 2
const POLL_MS = 25

export async function unload(db: Database, job: UnloadJob): Promise<UnloadedFiles> {
  const { request, local } = job
  const { from, columns } = query(request, local, request.includeLoadTime ? [LOAD_TIME] : [])
  const out = request.includeLoadTime ? [...columns, LOAD_TIME] : [...columns]
  const csv = request.snapshot.typed && !request.bareNulls ? quotable : asText
  const written = { csv, jsonl: outAsJson, parquet: outAs }
  const select = `SELECT ${out.map(written[request.format]).join(', ')} ${from}`
  const dir = join(job.workDir, 'out')
  await mkdir(dir, { recursive: true })

  const sliceBytes = request.sliceBytes ?? SLICE_BYTES
  const wantsOneFile = request.merged && request.format === 'parquet' // which cannot be joined from slices
  const sliced = !wantsOneFile && countBytes(request.snapshot) * UNPACKING > sliceBytes
  const target = sliced ? dir : join(dir, 'data_0.csv')
  const split = sliced ? `, FILE_SIZE_BYTES ${sliceBytes}, OVERWRITE_OR_IGNORE true` : ''
  const plain = request.format === 'parquet' && (await hasMinusZero(db, out, from)) ? ', DICTIONARY_SIZE_LIMIT 0' : ''
  const copying = db.run(`COPY (${select}) TO ${literal(target)} (${copyOptions(request, out.length)}${plain}${split})`)

  const gzip = request.format !== 'parquet' && (request.gzip ?? false)
  const { rows, files } = gzip ? await gzipBeside(dir, copying) : { rows: await copying, files: await slicesIn(dir) }
  const names = out.map((c) => c.name)
  if (files.length === 0) files.push(await emptySlice(dir, gzip))
  const header = request.format === 'csv' ? csvLine(names) : ''
  const merged = request.merged && !wantsOneFile ? [await mergeSlices(files, header, join(job.workDir, 'merged'), gzip)] : files
  const sizes = await Promise.all(merged.map(async (path) => ({ path, bytes: (await stat(path)).size })))
  return { files: sizes, columns: names, rows }
}

/** DuckDB leaves nulls unquoted in every case, so those of typed tables become empty strings first, unless they are requested. */
const quotable = (column: Column): string => `coalesce(${asText(column)}, '')`

/** A dictionary would make it 0, as in segments. */
async function hasMinusZero(db: Database, columns: readonly Column[], from: string): Promise<boolean> {
  const floats = columns.filter(({ type }) => type === 'FLOAT').map(({ fieldId }) => fieldName(fieldId))
  if (floats.length === 0) return false
  const isThere = floats.map((name) => `${name} = 0 AND signbit(${name})`).join(' OR ')
  const [row] = await db.rows(`SELECT bool_or(${isThere}) FROM (SELECT ${floats.join(', ')} ${from})`)
  return row?.[0] === true
}

function copyOptions({ format, snapshot }: UnloadJob['request'], columns: number): string {
  if (format === 'csv') return 'FORMAT csv, HEADER false, FORCE_QUOTE *'
  if (format === 'jsonl') return 'FORMAT json'
  const bytesPerRow = (UNPACKING * countBytes(snapshot)) / Math.max(1, countRows(snapshot))
  return ['FORMAT parquet', ...ZSTD, `ROW_GROUP_SIZE ${rowGroupRows(bytesPerRow, columns)}`, dictionaryBytes(columns)].join(', ')
}

/** JSON has no NaN and no Infinity; DuckDB would write them. */
const outAsJson = (column: Column): string =>
  column.type === 'FLOAT'
    ? `CASE WHEN isfinite(${fieldName(column.fieldId)}) THEN ${fieldName(column.fieldId)} END AS ${identifier(column.name)}`
    : outAs(column)

const NUMBERED = /^data_(\d+)\./

/** Finished slices in order. */
async function slicesIn(dir: string): Promise<string[]> {
  const names = (await readdir(dir)).filter((name) => NUMBERED.test(name))
  const numberOf = (name: string) => Number(NUMBERED.exec(name)?.[1])
  return names.toSorted((a, b) => numberOf(a) - numberOf(b)).map((name) => join(dir, name))
}

/** While DuckDB writes slice n + 1, slice n is complete and can be packed. */
async function gzipBeside(dir: string, copying: Promise<number>): Promise<{ rows: number; files: string[] }> {
  let finished = false
  const settled = copying.finally(() => {
    finished = true
  })
  settled.catch(() => {}) // awaited below
  const taken = new Set<string>()
  const running = new Set<Promise<void>>()
  for (;;) {
    const last = finished // read before the folder, so that nothing is overlooked
    const slices = (await slicesIn(dir)).filter((path) => !path.endsWith('.gz'))
    const ready = (last ? slices : slices.slice(0, -1)).filter((path) => !taken.has(path))
    const next = ready[0]
    if (next !== undefined && running.size < GZIP_AT_ONCE) {
      taken.add(next)
      const packing = gzipFile(next).finally(() => running.delete(packing))
      packing.catch(() => {}) // awaited by the race or the end
      running.add(packing)
    } else if (last && ready.length === 0) break
    else await Promise.race([...running, ...(last ? [] : [settled]), pause(POLL_MS)])
  }
  await Promise.all(running)
  return { rows: await settled, files: await slicesIn(dir) }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function gzipFile(path: string): Promise<void> {
  const packed = `${path}.gz`
  const gzip = createGzip({ level: GZIP_LEVEL, chunkSize: 1 << 18 })
  await pipeline(createReadStream(path, { highWaterMark: 1 << 18 }), gzip, createWriteStream(packed))
  await rm(path)
}

async function emptySlice(dir: string, gzip: boolean): Promise<string> {
  const path = join(dir, gzip ? 'data_0.csv.gz' : 'data_0.csv')
  await writeFile(path, gzip ? gzipSync('') : '')
  return path
}

/** Gzip members in a row are one gzip file, so packed slices are joined as they are. */
async function mergeSlices(files: readonly string[], header: string, path: string, gzip: boolean): Promise<string> {
  await writeFile(path, gzip ? gzipSync(header) : header)
  for (const file of files) {
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), createWriteStream(path, { flags: 'a' }))
    await rm(file)
  }
  return path
}
