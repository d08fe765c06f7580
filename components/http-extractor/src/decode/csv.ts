// CSV as a value: a list of rows, each an object by the names in the first line.

import { type JsonValue, objectOf } from '../json/json.ts'
import { DecodeError } from './decode-error.ts'

export async function decodeCsv(body: Buffer, delimiter: string): Promise<JsonValue> {
  const [header, ...rows] = await linesOf(body, delimiter)
  if (header === undefined) return []
  const repeated = header.find((name, i) => header.indexOf(name) !== i)
  if (repeated !== undefined) throw new DecodeError(`the first line has the column '${repeated}' twice`)
  return rows.map((cells) => objectOf(header.map((name, i) => [name, cells[i] ?? ''])))
}

async function linesOf(body: Buffer, delimiter: string): Promise<string[][]> {
  const { CsvError, parse } = await import('csv-parse/sync')
  try {
    return parse(body, { bom: true, delimiter: delimiter === '\\t' ? '\t' : delimiter, skip_empty_lines: true })
  } catch (error) {
    if (error instanceof CsvError) throw new DecodeError(error.message)
    throw error
  }
}
