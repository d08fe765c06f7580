// Excel workbooks and Avro files as CSV with a header, written row by row.

import { createReadStream, createWriteStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import avro from 'avsc'
import { avroRecords } from './avro-files.ts'

type Row = readonly (string | null)[]

/** A workbook is read whole. */
const MAX_WORKBOOK_BYTES = 64 << 20
const OLD_EXCEL = [0xd0, 0xcf, 0x11, 0xe0]

/** Throws sentences about the file. Several files are one table: all of them must have the columns of the first. */
export async function convertRecords(
  format: 'excel' | 'avro',
  files: readonly string[],
  outPath: string,
  maxBytes: number,
): Promise<void> {
  let header: Row | undefined
  let bytes = 0
  async function* lines(): AsyncGenerator<string> {
    for (const file of files) {
      let isFirst = true
      for await (const row of format === 'excel' ? sheetRows(file) : avroRows(file)) {
        if (isFirst && header && row.join('\n') !== header.join('\n')) throw new Error('its slices have different columns')
        const isRepeated = isFirst && header !== undefined
        isFirst = false
        header ??= row
        if (isRepeated) continue
        const line = lineOf(row)
        bytes += Buffer.byteLength(line)
        if (bytes > maxBytes) throw new Error(`it unpacks to more than ${maxBytes} bytes`)
        yield line
      }
    }
    if (!header) throw new Error('it has no rows')
  }
  await pipeline(Readable.from(lines()), createWriteStream(outPath))
}

const lineOf = (row: Row): string => `${row.map((cell) => fieldOf(cell, row.length === 1)).join(',')}\n`

/** Null is nothing, the empty text is quoted; a line with nothing at all would be no row. */
const fieldOf = (cell: string | null, isAlone: boolean): string =>
  cell === null && !isAlone ? '' : /^$|[",\r\n]/.test(cell ?? '') ? `"${(cell ?? '').replaceAll('"', '""')}"` : (cell ?? '')

/** The first sheet; its first row names the columns. */
async function* sheetRows(path: string): AsyncGenerator<Row> {
  if ((await stat(path)).size > MAX_WORKBOOK_BYTES)
    throw new Error(`a workbook may have ${MAX_WORKBOOK_BYTES >> 20} MiB; save the sheet as CSV`)
  const bytes = await readFile(path)
  if (OLD_EXCEL.every((byte, i) => bytes[i] === byte)) throw new Error('it is a workbook of Excel 97 to 2003; save it as .xlsx')
  const { readSheet } = await import('read-excel-file/node')
  // Numbers stay the text that the workbook has.
  const rows = (await readSheet(bytes, 1, {
    parseNumber: (text) => text as unknown as number,
  })) as readonly (readonly unknown[])[]
  const isEmpty = (value: unknown) => value === null || value === ''
  const names = rows[0] ?? []
  const width = names.findLastIndex((name) => !isEmpty(name)) + 1
  if (width === 0) throw new Error('the first row of its first sheet, which names the columns, is empty')
  yield names.slice(0, width).map((name, at) => cellText(name) ?? `column_${at + 1}`)
  for (const [at, row] of rows.slice(1).entries()) {
    if (row.every(isEmpty)) continue
    if (row.findLastIndex((value) => !isEmpty(value)) >= width)
      throw new Error(`row ${at + 2} of its first sheet has more cells than the first row names columns`)
    yield Array.from({ length: width }, (_, column) => cellText(row[column] ?? null))
  }
}

function cellText(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  return value instanceof Date ? timeText(value.getTime()).replace(/ 00:00:00$/, '') : String(value)
}

async function* avroRows(path: string): AsyncGenerator<Row> {
  let names: readonly string[] | undefined
  const records = avroRecords(createReadStream(path), LOGICAL_TYPES, (type) => {
    if (!(type instanceof avro.types.RecordType)) throw new Error('its values are not records')
    names = type.fields.map(({ name }) => name)
  })
  let isNamed = false
  for await (const record of records) {
    if (!isNamed) yield names!
    isNamed = true
    const fields = record as Readonly<Record<string, unknown>> // by its type
    yield names!.map((name) => avroText(fields[name]))
  }
  if (!isNamed && names) yield names
}

function avroText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (Buffer.isBuffer(value)) return value.toString('base64')
  return typeof value === 'object' ? JSON.stringify(value, exact) : String(value)
}

/** Integers keep all their digits. */
function exact(this: unknown, name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(value)) // of Node 24; not among the types yet
  const own = (this as Readonly<Record<string, unknown>>)[name]
  return Buffer.isBuffer(own) ? own.toString('base64') : value
}

const timeText = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/(\.000)?Z$/, '')

/** A value of Avro as the text that a load reads. */
const shownAs = (show: (value: unknown, schema: Readonly<Record<string, unknown>>) => unknown) =>
  class extends avro.types.LogicalType {
    readonly #schema: Readonly<Record<string, unknown>>
    constructor(schema: avro.Schema, opts?: unknown) {
      super(schema, opts as ConstructorParameters<typeof avro.types.LogicalType>[1])
      this.#schema = schema as unknown as Readonly<Record<string, unknown>> // a logical type is always an object
    }
    protected override _fromValue(value: unknown): unknown {
      return show(value, this.#schema)
    }
    protected override _toValue(value: unknown): unknown {
      return value // nothing is written
    }
    protected override _resolve(): never {
      throw new Error('has no other schema')
    }
  }

function microsText(micros: bigint): string {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n
  const seconds = timeText(Number((micros - fraction) / 1000n))
  return fraction === 0n ? seconds : `${seconds}.${String(fraction).padStart(6, '0')}`
}

function decimalText(value: unknown, scale: unknown): string {
  const bytes = value as Buffer // bytes or fixed
  const unsigned = BigInt(`0x${bytes.toString('hex') || '0'}`)
  const whole = BigInt.asIntN(Math.max(8, bytes.length * 8), unsigned)
  const places = typeof scale === 'number' && scale >= 0 && scale <= 1000 ? scale : 0
  if (places === 0) return String(whole)
  const digits = String(whole < 0n ? -whole : whole).padStart(places + 1, '0')
  return `${whole < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`
}

const LOGICAL_TYPES = {
  date: shownAs((days) => timeText(Number(days) * 86_400_000).slice(0, 10)),
  'timestamp-millis': shownAs((ms) => `${timeText(Number(ms))}+00`),
  'timestamp-micros': shownAs((micros) => `${microsText(BigInt(micros as bigint))}+00`),
  'local-timestamp-millis': shownAs((ms) => timeText(Number(ms))),
  'local-timestamp-micros': shownAs((micros) => microsText(BigInt(micros as bigint))),
  decimal: shownAs((bytes, { scale }) => decimalText(bytes, scale)),
}
