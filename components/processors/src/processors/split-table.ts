import { createWriteStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { type CsvRecord, formatter, readRecords, textOf } from '../csv.ts'
import {
  dialectOf,
  type Folder,
  type Item,
  listItems,
  outputPath,
  passOn,
  passOnAll,
  withColumns,
  writeManifest,
} from '../folder.ts'
import { choice, flag, integer, type Reader, readParameters } from '../parameters.ts'

const UNITS: Readonly<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, K: 1e3, M: 1e6, G: 1e9, '': 1 }

/** `500MB`, `4 M`, or a number of bytes. */
const bytes =
  (fallback: number): Reader<number> =>
  (value, name) => {
    const match = /^(\d+(?:\.\d+)?)\s*([KMG]?B?)$/i.exec(String(value ?? fallback))
    const size = match ? Math.floor(Number(match[1]) * (UNITS[match[2]!.toUpperCase()] ?? 1)) : 0
    if (size < 1) throw new UserError(`The parameter "${name}" must be a size such as 500MB, not ${JSON.stringify(value)}.`)
    return size
  }

interface Settings {
  /** Whether a slice that holds this much is full. */
  isFull(sliceBytes: number, sliceRows: number, part: number): boolean
  readonly gzipLevel: number | undefined
}

/** A CSV file becomes a folder of slices without header, its header the columns of the manifest. */
export async function splitTable(folder: Folder): Promise<void> {
  const given = readParameters(folder.parameters, {
    mode: choice(['bytes', 'rows', 'slices'], 'bytes'),
    bytesPerSlice: bytes(500e6),
    rowsPerSlice: integer(1_000_000),
    numberOfSlices: integer(60),
    minBytesPerSlice: bytes(4e6),
    gzip: flag(true),
    gzipLevel: integer(2),
  })
  if (given.rowsPerSlice < 1 || given.numberOfSlices < 1 || given.gzipLevel < 1 || given.gzipLevel > 9) {
    throw new UserError('rowsPerSlice and numberOfSlices must be at least 1, gzipLevel from 1 to 9.')
  }
  await passOnAll(folder, 'files')
  for (const table of await listItems(folder, 'tables')) {
    if (table.isFolder) {
      await passOn(folder, table)
      continue
    }
    const share = Math.max(given.minBytesPerSlice, Math.ceil((await stat(table.path)).size / given.numberOfSlices))
    await split(folder, table, {
      isFull: {
        bytes: (size: number) => size >= given.bytesPerSlice,
        rows: (_: number, rows: number) => rows >= given.rowsPerSlice,
        // What is written has more quotes than what was measured: the last slice takes the rest.
        slices: (size: number, _: number, part: number) => size >= share && part < given.numberOfSlices,
      }[given.mode],
      gzipLevel: given.gzip ? given.gzipLevel : undefined,
    })
  }
}

async function split(folder: Folder, table: Item, { isFull, gzipLevel }: Settings): Promise<void> {
  const dialect = dialectOf(table.manifest)
  const format = formatter(dialect)
  const records = flat(readRecords(table.path, dialect))
  const manifest = table.manifest ?? {}
  const hasColumns = manifest.columns !== undefined || manifest.schema !== undefined
  const header = hasColumns ? undefined : (await records.next()).value
  await mkdir(outputPath(folder, 'tables', table.name), { recursive: true })

  let next = await records.next()
  for (let part = 1; !next.done; part++) {
    async function* slice(): AsyncGenerator<Buffer> {
      let rows = 0
      let size = 0
      for (; !next.done && (rows === 0 || !isFull(size, rows, part)); next = await records.next()) {
        const line = Buffer.from(format(next.value), 'latin1')
        rows += 1
        size += line.length
        yield line
      }
    }
    const path = outputPath(folder, 'tables', `${table.name}/part${String(part).padStart(6, '0')}.csv${gzipLevel ? '.gz' : ''}`)
    if (gzipLevel) await pipeline(Readable.from(slice()), createGzip({ level: gzipLevel }), createWriteStream(path))
    else await pipeline(Readable.from(slice()), createWriteStream(path))
  }
  await writeManifest(folder, 'tables', table.name, header ? withColumns(manifest, header.map(textOf)) : manifest)
}

async function* flat(batches: AsyncIterable<CsvRecord[]>): AsyncGenerator<CsvRecord, undefined> {
  for await (const batch of batches) yield* batch
  return undefined
}
