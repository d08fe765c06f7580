// What DuckDB selects, as the CSV file of a result.

import { appendFileSync, createReadStream, createWriteStream, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import type { ReadRequest } from '../databases/database.ts'

type Target = Pick<ReadRequest, 'columns' | 'constants' | 'path' | 'nullMarker' | 'isAppended'>

/** Writes the rows of `from` with one field for each column; answers their number. `copy` runs a statement that answers it. */
export async function writeCsv(
  copy: (sql: string) => Promise<number>,
  { columns, constants = [], path, nullMarker, isAppended }: Target,
  fields: readonly string[],
  from: string,
): Promise<number> {
  const names = [...fields.map((_, at) => `c${at}`), ...constants.map((_, at) => `k${at}`)]
  const values = [...fields, ...constants.map((one) => (one === null ? 'null' : textLiteral(one)))]
  const rows = `select ${values.map((value, at) => `${value} as ${names[at]}`).join(', ')} from ${from}`
  const written = isAppended ? join(dirname(path), '.part.csv') : path
  // Quoted, so that an empty text is not an empty line.
  const texts = names.filter((_, at) => columns[at]?.base === 'STRING').map(quoted)
  const options = [`format csv, header false, nullstr ${textLiteral(nullMarker)}`]
  if (texts.length > 0) options.push(`force_quote (${texts.join(', ')})`)
  try {
    const count = await copy(`copy (${rows}) to ${textLiteral(written)} (${options.join(', ')})`)
    if (isAppended) await pipeline(createReadStream(written), createWriteStream(path, { flags: 'a' }))
    else appendFileSync(path, '') // no rows: there is no file
    return count
  } finally {
    if (isAppended) rmSync(written, { force: true })
  }
}
