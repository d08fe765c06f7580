// Rows of files: CSV and JSON lines as they come, the others as one document, which has a limit.

import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { parse } from 'csv-parse'
import { DecodeError } from '../../http-extractor/src/decode/decode-error.ts'
import { decodeXml } from '../../http-extractor/src/decode/xml.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { bytesText } from './exact-text.ts'
import type { Format, RowSettings } from './settings.ts'

export type Cells = ReadonlyMap<string, string | null>

export interface FoundRow {
  readonly line: number
  readonly cells: Cells
}

/** A row that cannot be read. */
export interface BadRow {
  readonly line: number
  readonly reason: string
  readonly text: string
}

export interface PlainFile {
  /** How messages call it. */
  readonly name: string
  readonly path: string
  readonly packing: Packing
  /** The part to read, of a file that grows: bytes, lines before it, and the columns that its first line named. */
  readonly part?: {
    readonly start: number
    readonly end: number
    readonly lines: number
    readonly columns: readonly string[] | undefined
  }
}

export type Packing = 'none' | 'gzip' | 'zstd'

export const packingOf = (name: string): Packing => (/\.gz$/i.test(name) ? 'gzip' : /\.zst(d)?$/i.test(name) ? 'zstd' : 'none')

/** Documents are held in memory. */
const MAX_DOCUMENT_BYTES = 64 << 20
const MAX_LINE = 32 << 20

const SUFFIXES: Readonly<Record<string, Format>> = {
  csv: 'csv',
  tsv: 'csv',
  txt: 'csv',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  json: 'json',
  xml: 'xml',
  xlsx: 'excel',
  parquet: 'parquet',
  avro: 'avro',
}

export function formatOf(name: string, { format }: RowSettings): Format {
  if (format !== 'auto') return format
  const suffix = /\.([^.]+?)(\.(gz|zst|zstd))?$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  const known = SUFFIXES[suffix]
  if (!known) throw new UserError(`The format of ${name} is not known by its name. Set format.`)
  return known
}

/** Every row of the file goes to `take`, or to `refuse`. */
export async function readRows(
  file: PlainFile,
  settings: RowSettings,
  take: (row: FoundRow) => void | Promise<void>,
  refuse: (row: BadRow) => void | Promise<void>,
  onColumns: (columns: readonly string[]) => void = () => {},
): Promise<void> {
  const format = formatOf(file.name, settings)
  try {
    if (format === 'csv') return await readCsv(file, settings, take, refuse, onColumns)
    if (format === 'jsonl') return await readJsonLines(file, take, refuse)
    if (format === 'parquet' || format === 'avro') return await readBinary(file, format, take)
    const records = format === 'excel' ? await excelRows(file, settings) : await documentRows(file, format, settings)
    let line = 0
    for (const cells of records) await take({ line: ++line, cells })
  } catch (error) {
    if (error instanceof UserError) throw error
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (
      error instanceof DecodeError ||
      error instanceof SyntaxError ||
      code.startsWith('Z_') ||
      code.startsWith('ZSTD_') ||
      isBinary(format)
    )
      throw new UserError(`${file.name} cannot be read as ${format}: ${(error as Error).message}.`, {}, error)
    throw error
  }
}

const isBinary = (format: Format): boolean => format === 'parquet' || format === 'avro'

function contentOf({ path, packing, part }: PlainFile): Readable {
  if (part && part.start === part.end) return Readable.from([])
  const stream = createReadStream(path, part && { start: part.start, end: part.end - 1 })
  const unpack = packing === 'gzip' ? createGunzip() : packing === 'zstd' ? createZstdDecompress() : undefined
  if (!unpack) return stream
  stream.on('error', (error) => unpack.destroy(error))
  return stream.pipe(unpack).on('close', () => stream.destroy())
}

/** Both formats are read at many places, so a packed file is unpacked first. */
async function readBinary(
  file: PlainFile,
  format: 'parquet' | 'avro',
  take: (row: FoundRow) => void | Promise<void>,
): Promise<void> {
  const path = file.packing === 'none' ? file.path : `${file.path}-plain`
  if (file.packing !== 'none') await pipeline(contentOf(file), createWriteStream(path))
  const rows =
    format === 'parquet' ? (await import('./parquet.ts')).parquetRows(path) : (await import('./avro.ts')).avroRows(path)
  let line = 0
  for await (const values of rows) await take({ line: ++line, cells: cellsOf(values) })
}

async function readCsv(
  file: PlainFile,
  { delimiter, enclosure, columns }: RowSettings,
  take: (row: FoundRow) => void | Promise<void>,
  refuse: (row: BadRow) => void | Promise<void>,
  onColumns: (columns: readonly string[]) => void,
): Promise<void> {
  const before = file.part?.lines ?? 0
  const skipped: BadRow[] = []
  const parser = parse({
    bom: true,
    delimiter: /\.tsv(\.\w+)?$/i.test(file.name) && delimiter === ',' ? '\t' : delimiter,
    quote: enclosure,
    escape: enclosure,
    relax_column_count: true,
    info: true,
    raw: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: MAX_LINE,
    on_skip: (error, text) => {
      skipped.push({ line: before + Number(error?.lines ?? 0), reason: error?.message ?? 'cannot be read', text: text ?? '' })
      return undefined
    },
  })
  const content = contentOf(file)
  content.on('error', (error) => parser.destroy(error))
  let header = columns ?? file.part?.columns
  // Each record with the line at which it ends, and as it was written.
  for await (const { record, info, raw } of content.pipe(parser) as AsyncIterable<CsvRecord>) {
    for (const bad of skipped.splice(0)) await refuse(bad)
    if (!header) {
      header = headerOf(record, file.name)
      onColumns(header)
      continue
    }
    const line = before + info.lines
    if (record.length === header.length) await take({ line, cells: new Map(header.map((name, at) => [name, record[at] ?? ''])) })
    else
      await refuse({ line, reason: `has ${record.length} fields instead of ${header.length}`, text: raw.replace(/\r?\n$/, '') })
  }
  for (const bad of skipped) await refuse(bad)
}

interface CsvRecord {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
  readonly raw: string
}

function headerOf(names: readonly string[], file: string): readonly string[] {
  const header = names.map((name, at) => name.trim() || `column_${at + 1}`)
  const repeated = header.find((name, at) => header.indexOf(name) !== at)
  if (repeated !== undefined) throw new UserError(`The first line of ${file} has the column "${repeated}" twice.`)
  return header
}

async function readJsonLines(
  file: PlainFile,
  take: (row: FoundRow) => void | Promise<void>,
  refuse: (row: BadRow) => void | Promise<void>,
): Promise<void> {
  const content = contentOf(file)
  const guarded = content.pipe(lineGuard(file.name))
  content.on('error', (error) => guarded.destroy(error))
  let line = file.part?.lines ?? 0
  for await (const text of createInterface({ input: guarded, crlfDelay: Number.POSITIVE_INFINITY })) {
    line++
    if (text.trim() === '') continue
    try {
      await take({ line, cells: cellsOf(parseExact(text)) })
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      await refuse({ line, reason: error.message, text })
    }
  }
  if (guarded.errored) throw guarded.errored
}

/** A file without line ends must not be held in memory whole. */
function lineGuard(name: string): Transform {
  let since = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const last = chunk.lastIndexOf(10)
      since = last === -1 ? since + chunk.length : chunk.length - last
      if (since > MAX_LINE) done(new UserError(`${name} has a line of more than ${MAX_LINE >> 20} MB.`))
      else done(null, chunk)
    },
  })
}

async function bytesOf(file: PlainFile): Promise<Buffer> {
  const tooLarge = () =>
    new UserError(`${file.name} has more than ${MAX_DOCUMENT_BYTES >> 20} MB. Use CSV or JSON lines for large files.`)
  if (statSync(file.path).size > MAX_DOCUMENT_BYTES) throw tooLarge()
  if (file.packing === 'none') return readFile(file.path)
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of contentOf(file)) {
    bytes += (chunk as Buffer).length
    if (bytes > MAX_DOCUMENT_BYTES) throw tooLarge()
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

async function documentRows(file: PlainFile, format: 'json' | 'xml', { recordPath }: RowSettings): Promise<readonly Cells[]> {
  const bytes = await bytesOf(file)
  const document: unknown = format === 'xml' ? await decodeXml(bytes) : parseExact(bytes.toString('utf8').replace(/^\uFEFF/, ''))
  const found = recordPath.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | null | undefined)?.[name],
    document,
  )
  if (found === undefined || found === null)
    throw new UserError(`${file.name} has nothing at recordPath "${recordPath.join('.')}". It has ${namesIn(document)}.`)
  return (Array.isArray(found) ? found : [found]).map(cellsOf)
}

const namesIn = (value: unknown): string =>
  Array.isArray(value)
    ? 'a list'
    : typeof value === 'object' && value !== null
      ? Object.keys(value).slice(0, 20).join(', ')
      : 'a plain value'

async function excelRows(file: PlainFile, { sheet, range }: RowSettings): Promise<readonly Cells[]> {
  const { readSheet } = await import('read-excel-file/node')
  const bytes = await bytesOf(file)
  const rows = await readSheet(bytes, /^\d+$/.test(sheet) ? Number(sheet) : sheet || 1).catch((error: Error) => {
    throw new UserError(`${file.name} cannot be read as Excel: ${error.message}`, {}, error)
  })
  const [names = [], ...others] = range
    ? rows.slice(range.top - 1, range.bottom).map((row) => row.slice(range.left - 1, range.right))
    : rows
  const header = headerOf(
    names.map((name) => textOf(name) ?? ''),
    file.name,
  )
  return others
    .filter((row) => row.some((value) => value !== null))
    .map((row) => new Map(header.map((name, at) => [name, textOf(row[at] ?? null)])))
}

/** Digits of a number that has more of them than a number of JavaScript. */
class ExactNumber {
  readonly digits: string
  constructor(digits: string) {
    this.digits = digits
  }
  toJSON(): unknown {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.digits) // of Node 24; not among the types yet
  }
}

const parseExact = (text: string): unknown =>
  JSON.parse(text, ((_name: string, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? new ExactNumber(source)
      : value) as Parameters<typeof JSON.parse>[1])

function cellsOf(value: unknown): Cells {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof ExactNumber)
    return new Map([['value', textOf(value)]])
  return new Map(Object.entries(value).map(([name, inner]) => [name || 'value', textOf(inner)]))
}

/** Values of binary formats within lists and records. */
function exactly(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return new ExactNumber(String(value)).toJSON()
  return value instanceof Uint8Array ? bytesText(value) : value
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (value instanceof ExactNumber) return value.digits
  if (value instanceof Date)
    return value
      .toISOString()
      .replace('T', ' ')
      .replace(/(\.000)?Z$/, '')
      .replace(/ 00:00:00$/, '')
  if (value instanceof Uint8Array) return bytesText(value)
  return typeof value === 'object' ? JSON.stringify(value, exactly) : String(value)
}
