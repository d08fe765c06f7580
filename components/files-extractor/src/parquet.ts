// Rows of Parquet files, a row group at a time. Values are texts with all their digits, as those of the other formats.

import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { asyncBufferFromFile, type FileMetaData, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { decimalText, microsText } from './exact-text.ts'

export type Values = Readonly<Record<string, unknown>>

const compressors = {
  GZIP: (bytes: Uint8Array) => gunzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliDecompressSync(bytes),
  ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes),
}

/** The reader makes dates of times, which have milliseconds only. */
const parsers = {
  timestampFromMilliseconds: (value: bigint) => microsText(BigInt(value) * 1000n),
  timestampFromMicroseconds: (value: bigint) => microsText(BigInt(value)),
  timestampFromNanoseconds: (value: bigint) => microsText(BigInt(value) / 1000n),
  dateFromDays: (days: number) => microsText(BigInt(days) * 86_400_000_000n).slice(0, -9),
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('utf8'),
}

const BATCH_ROWS = 10_000

export async function* parquetRows(path: string): AsyncGenerator<Values> {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  const scales = takeDecimals(metadata)
  const total = Number(metadata.num_rows)
  for (let at = 0; at < total; at += BATCH_ROWS) {
    const options = { file, metadata, compressors, parsers, utf8: false, rowStart: at, rowEnd: Math.min(at + BATCH_ROWS, total) }
    const rows = (await parquetReadObjects(options as Parameters<typeof parquetReadObjects>[0])) as Values[]
    for (const row of rows)
      yield Object.fromEntries(
        Object.entries(row).map(([name, value]) => {
          const scale = scales.get(name)
          return [name, scale === undefined || value === null || value === undefined ? value : decimalText(wholeOf(value), scale)]
        }),
      )
  }
}

/** The reader makes floating-point numbers of decimal ones: columns are read as the whole numbers that are stored. */
function takeDecimals({ schema }: FileMetaData): ReadonlyMap<string, number> {
  const scales = new Map<string, number>()
  let below = 0
  for (const element of schema.slice(1)) {
    const isTop = below === 0
    below = Math.max(0, below - 1) + (element.num_children ?? 0)
    if (!isTop || (element.converted_type !== 'DECIMAL' && element.logical_type?.type !== 'DECIMAL')) continue
    scales.set(element.name, element.scale ?? 0)
    delete element.converted_type
    delete element.logical_type
  }
  return scales
}

/** Bytes are a number of two's complement, the most significant one first. */
function wholeOf(value: unknown): bigint {
  if (!(value instanceof Uint8Array)) return BigInt(value as number | bigint) // 32 or 64 bits
  return BigInt.asIntN(value.length * 8, value.length === 0 ? 0n : BigInt(`0x${Buffer.from(value).toString('hex')}`))
}
