// Values of DuckDB as texts: of a file that is the source, and what it shares with the tables of the stack, which DuckDB reads, too.

import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import type { BaseType, SourceColumn } from '../databases/columns.ts'
import { inUtc, selected, ZONED } from '../databases/duckdb-values.ts'
import { type Dialect, HASH_DIGITS, ORDERED } from './dialect.ts'

export const duckdbSums: Pick<Dialect, 'tagged' | 'joined' | 'hash' | 'asText' | 'total'> = {
  tagged: (value) => `'T' || length(${value}) || ':' || ${value}`,
  joined: (texts) => `concat_ws(',', ${texts.join(', ')})`,
  hash: (value) => `('0x' || substr(md5(${value}), 1, ${HASH_DIGITS}))::bigint`,
  asText: (number) => `(${number})::varchar`,
  total: (number) => `sum(${number})::varchar`,
}

/** Whole floating-point numbers have no digits behind the point elsewhere. */
export function duckdbText(value: string, base: BaseType): string {
  const text = `${value}::varchar`
  return base === 'FLOAT' ? `case when suffix(${text}, '.0') then left(${text}, -2) else ${text} end` : text
}

export function duckdbDialect(invalidAsNull: boolean): Dialect {
  // A table has numbers of double precision: the one that the digits of a single one stand for.
  const text = (column: SourceColumn): string =>
    column.base === 'FLOAT'
      ? duckdbText(`${quoted(column.name)}${column.native === 'FLOAT' ? '::varchar::double' : ''}`, 'FLOAT')
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
