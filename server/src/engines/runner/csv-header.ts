// The first record of a CSV file, for results that bring their own column names.

import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { named } from '../../kit/errors.ts'

export interface CsvDialect {
  readonly delimiter: string
  readonly enclosure: string
}

/** A header is short; a file whose first record is longer than this has none. */
const HEADER_BYTES = 2 ** 20

/** Undefined for an empty file, and when the first record does not end within reason. A name that ends in .gz is a packed file. */
export async function readCsvHeader(path: string, { delimiter, enclosure }: CsvDialect): Promise<string[] | undefined> {
  let text = ''
  for await (const chunk of textOf(path)) {
    text += chunk
    const header = firstRecord(text, delimiter, enclosure, false)
    if (header) return header
    if (text.length > HEADER_BYTES) break
  }
  return text === '' || text.length > HEADER_BYTES ? undefined : firstRecord(text, delimiter, enclosure, true)
}

async function* textOf(path: string): AsyncGenerator<string> {
  const file = createReadStream(path, { highWaterMark: 2 ** 16 })
  const isPacked = /\.gz$/i.test(path)
  const plain = isPacked ? pipeline(file, createGunzip(), () => {}) : file
  try {
    for await (const chunk of plain.setEncoding('utf8')) yield chunk as string // by its encoding
  } catch (cause) {
    if (!isPacked) throw cause
    throw named('jobRunner.outputInvalid', { reason: `${basename(path)} is not a whole gzip file.` }, cause)
  } finally {
    file.destroy()
    plain.destroy()
  }
}

function firstRecord(given: string, delimiter: string, enclosure: string, isWhole: boolean): string[] | undefined {
  const text = given.replace(/^\uFEFF/, '')
  const fields: string[] = []
  let field = ''
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (quoted) {
      if (character !== enclosure) field += character
      else if (text[at + 1] === enclosure) {
        field += enclosure
        at += 1
      } else quoted = false
    } else if (character === enclosure && enclosure !== '') quoted = true
    else if (character === delimiter) {
      fields.push(field)
      field = ''
    } else if (character === '\n') return [...fields, field.replace(/\r$/, '')]
    else field += character
  }
  return isWhole ? [...fields, field] : undefined
}
