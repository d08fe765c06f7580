// Values of SQLite as texts. SQLite has no checksums: the functions are added to the connection.

import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import { numberText } from '../databases/numeric-type.ts'
import { type Dialect, floatText, HASH_DIGITS, joinedBy, ORDERED } from './dialect.ts'

type Value = bigint | number | string | null | Uint8Array

export function addCompareFunctions(db: DatabaseSync, textOf: (value: Value) => string | null): void {
  const options = { useBigIntArguments: true, deterministic: true }
  db.function('millrace_text', options, (value) => textOf(value as Value))
  db.function('millrace_float', options, (value) => (value === null ? null : floatText(Number(value))))
  db.function('millrace_length', options, (text) => (text === null ? null : BigInt(codePoints(String(text)))))
  db.function('millrace_hash', options, (text) =>
    BigInt(`0x${createHash('md5').update(String(text)).digest('hex').slice(0, HASH_DIGITS)}`),
  )
  // The sum of SQLite itself fails beyond 64 bits.
  db.aggregate('millrace_total', {
    ...{ useBigIntArguments: true, deterministic: true, start: () => 0n, result: (sum: bigint) => String(sum) },
    step: (sum: bigint, value: unknown) => sum + (value as bigint),
  } as unknown as Parameters<DatabaseSync['aggregate']>[1]) // its types lack bigints
}

/** As other databases count characters. */
function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

export const sqliteDialect: Dialect = {
  text: ({ name, base }) => `${base === 'FLOAT' ? 'millrace_float' : 'millrace_text'}(${quoted(name)})`,
  tagged: (value) => `('T' || millrace_length(${value}) || ':' || ${value})`,
  joined: (texts) => joinedBy('||', texts),
  hash: (value) => `millrace_hash(${value})`,
  asText: (number) => `cast(${number} as text)`,
  total: (number) => `millrace_total(${number})`,
  order(column) {
    if (!ORDERED.has(column.base)) return { value: sqliteDialect.text(column), literal: textLiteral }
    return { value: quoted(column.name), literal: numberText }
  },
}
