// Values of DuckDB as texts: of a file that is the source, and what it shares with the tables of the stack, which DuckDB reads, too.

import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import type { SourceColumn } from '../databases/columns.ts'
import { inUtc, selected, ZONED } from '../databases/duckdb-values.ts'
import { type Dialect, HASH_DIGITS, ORDERED } from './dialect.ts'

export const duckdbSums: Pick<Dialect, 'tagged' | 'joined' | 'hash' | 'asText' | 'total'> = {
  tagged: (value) => `'T' || length(${value}) || ':' || ${value}`,
  joined: (texts) => `concat_ws(',', ${texts.join(', ')})`,
  hash: (value) => `('0x' || substr(md5(${value}), 1, ${HASH_DIGITS}))::bigint`,
  asText: (number) => `(${number})::varchar`,
  total: (number) => `sum(${number})::varchar`,
}

/** Elsewhere whole floating-point numbers have no digits behind the point, and decimal numbers below one have a zero before it. */
export function duckdbText(value: string, { base, length }: Pick<SourceColumn, 'base' | 'length'>): string {
  const text = `${value}::varchar`
  if (base === 'FLOAT') return `case when suffix(${text}, '.0') then left(${text}, -2) else ${text} end`
  const [precision, scale] = length?.split(',') ?? []
  return base === 'NUMERIC' && precision === scale ? `replace('0' || ${text}, '0-.', '-0.')` : text
}

export function duckdbDialect(invalidAsNull: boolean): Dialect {
  // A table has numbers of double precision: the one that the digits of a single one stand for.
  const text = (column: SourceColumn): string =>
    column.base === 'FLOAT' || column.base === 'NUMERIC'
      ? duckdbText(`${quoted(column.name)}${column.native === 'FLOAT' ? '::varchar::double' : ''}`, column)
      : selected(column, invalidAsNull)
  return {
    text,
    ...duckdbSums,
    order(column) {
      const { base, native } = column
      const name = quoted(column.name)
      if (!ORDERED.has(base)) return { value: `(${text(column)})`, literal: textLiteral }
      if (native === ZONED) return { value: inUtc(name), literal: (one) => `cast(${textLiteral(one)} as timestamp)` }
      return { value: name, literal: (one) => `cast(${textLiteral(one)} as ${native})` }
    },
  }
}
