// CSV records (RFC 4180, any one-byte delimiter and enclosure), streamed. Text is handled as Latin-1, one character for one byte,
// so that bytes which are not valid UTF-8 pass through unchanged; names from a manifest are brought into that form with `bytesOf`.

import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { finished } from 'node:stream/promises'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { Dialect } from './folder.ts'

export type CsvRecord = readonly string[]

export const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
export const textOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')

/** Records of a file, a batch for every chunk read: memory holds one chunk and one record. */
export async function* readRecords(path: string, dialect: Dialect): AsyncGenerator<CsvRecord[]> {
  const { delimiter, enclosure } = checkDialect(dialect)
  let rest = ''
  let first = true
  for await (const chunk of createReadStream(path, { encoding: 'latin1', highWaterMark: 2 ** 18 })) {
    rest += chunk
    if (first) rest = rest.replace(/^\u00ef\u00bb\u00bf/, '') // a byte order mark is no part of the first name
    first = false
    const end = lastRecordEnd(rest, enclosure)
    if (end === 0) continue
    yield splitRecords(rest.slice(0, end), delimiter, enclosure)
    rest = rest.slice(end)
  }
  if (rest !== '') yield splitRecords(rest, delimiter, enclosure)
}

/** The first record, or undefined for an empty file. */
export async function readHeader(path: string, dialect: Dialect): Promise<CsvRecord | undefined> {
  for await (const records of readRecords(path, dialect)) if (records[0]) return records[0]
  return undefined
}

function checkDialect(dialect: Dialect): Dialect {
  const delimiter = bytesOf(dialect.delimiter)
  const enclosure = bytesOf(dialect.enclosure)
  if (delimiter.length !== 1 || enclosure.length > 1 || delimiter === enclosure) {
    throw new UserError('The delimiter must be one character, and the enclosure another one or empty.')
  }
  return { delimiter, enclosure }
}

/** Where the last whole record ends: behind the last line end that is outside of quotes. */
function lastRecordEnd(text: string, enclosure: string): number {
  if (enclosure === '' || !text.includes(enclosure)) return text.lastIndexOf('\n') + 1
  let end = 0
  let quoted = false
  for (let at = 0; at < text.length; ) {
    if (quoted) {
      const close = text.indexOf(enclosure, at)
      if (close === -1) return end
      quoted = false
      at = close + 1
      continue
    }
    const open = text.indexOf(enclosure, at)
    const line = text.lastIndexOf('\n', open === -1 ? text.length : open)
    if (line >= at) end = line + 1
    if (open === -1) return end
    quoted = true
    at = open + 1
  }
  return end
}

function splitRecords(text: string, delimiter: string, enclosure: string): CsvRecord[] {
  if (enclosure === '' || !text.includes(enclosure)) {
    return withoutLastEnd(text)
      .split('\n')
      .map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line).split(delimiter))
  }
  const records: CsvRecord[] = []
  let fields: string[] = []
  let at = 0
  while (at < text.length) {
    let value = ''
    if (text[at] === enclosure) {
      at += 1
      for (;;) {
        const close = text.indexOf(enclosure, at)
        if (close === -1) throw new UserError('A quoted value is not closed before the end of the file.')
        value += text.slice(at, close)
        at = close + 1
        if (text[at] !== enclosure) break
        value += enclosure
        at += 1
      }
    }
    const start = at
    while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at += 1
    const plain = text.slice(start, at)
    const ends = at >= text.length || text[at] === '\n'
    fields.push(value + (ends && plain.endsWith('\r') ? plain.slice(0, -1) : plain))
    if (ends) {
      records.push(fields)
      fields = []
    } else if (at === text.length - 1) {
      // A delimiter as the very last byte: one more, empty value.
      fields.push('')
      records.push(fields)
      fields = []
    }
    at += 1
  }
  return records
}

const withoutLastEnd = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text)

export interface RecordWriter {
  write(record: CsvRecord): Promise<void> | void
  end(): Promise<void>
}

/** Writes every value in enclosures (without any when the enclosure is empty), records ended by a line feed. */
async function writeRecords(path: string, dialect: Dialect): Promise<RecordWriter> {
  await mkdir(dirname(path), { recursive: true })
  const stream = createWriteStream(path, { highWaterMark: 2 ** 18 })
  const format = formatter(dialect)
  let held = ''
  const flush = async (): Promise<void> => {
    const text = held
    held = ''
    if (!stream.write(text, 'latin1')) await once(stream, 'drain')
  }
  return {
    write(record) {
      held += format(record)
      return held.length > 2 ** 17 ? flush() : undefined
    },
    async end() {
      stream.end(held, 'latin1')
      await finished(stream)
    },
  }
}

export function formatter(dialect: Dialect): (record: CsvRecord) => string {
  const { delimiter, enclosure } = checkDialect(dialect)
  if (enclosure === '') return (record) => `${record.join(delimiter)}\n`
  const between = enclosure + delimiter + enclosure
  const quote = (value: string): string =>
    value.includes(enclosure) ? value.replaceAll(enclosure, enclosure + enclosure) : value
  return (record) => `${enclosure}${record.map(quote).join(between)}${enclosure}\n`
}

/** Rewrites a file record by record. */
export async function mapRecords(
  from: string,
  to: string,
  dialect: Dialect,
  change: (record: CsvRecord) => CsvRecord,
  target: Dialect = dialect,
): Promise<void> {
  const writer = await writeRecords(to, target)
  for await (const records of readRecords(from, dialect)) {
    for (const record of records) {
      const wait = writer.write(change(record))
      if (wait) await wait
    }
  }
  await writer.end()
}
