// Values of PostgreSQL as texts. The connection has set the time zone, the style of dates, and the form of bytes and numbers.

import pg from 'pg'
import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import type { SourceColumn } from '../databases/columns.ts'
import { numberText } from '../databases/numeric-type.ts'
import { selected } from '../databases/postgresql-values.ts'
import { type Dialect, HASH_DIGITS } from './dialect.ts'

const PLAIN_TEXT = /^(text|character varying(\(\d+\))?)$/
/** Types that a cast to text writes as COPY does. */
const CAST_AS_COPIED = /^(jsonb?|uuid)$/
/** A function of PostgreSQL has at most 100 arguments. */
const MAX_ARGUMENTS = 90
const ZONED = /^timestamp(\(\d\))? with time zone$/

export function postgresqlDialect(invalidAsNull: boolean): Dialect {
  /** As COPY writes it: a cast to text would drop the spaces of char(n) and add a mask to an address. */
  function text(column: SourceColumn): string {
    const value = selected(column, invalidAsNull)
    // A table has numbers of double precision: the one that the digits of a real number stand for.
    if (column.base === 'FLOAT') return floatOf(column.native === 'real' ? `(${value})::text::double precision` : value)
    if (column.base !== 'STRING') return `(${value})::text`
    if (PLAIN_TEXT.test(column.native)) return value
    if (CAST_AS_COPIED.test(column.native)) return `(${value})::text`
    return `case when ${quoted(column.name)} is not null then format('%s', ${value}) end`
  }
  return {
    text,
    tagged: (value) => `'T' || length(${value}) || ':' || ${value}`,
    joined,
    hash: (value) => `('x' || substr(md5(${value}), 1, ${HASH_DIGITS}))::bit(${HASH_DIGITS * 4})::bigint`,
    asText: (number) => `(${number})::text`,
    total: (number) => `sum(${number})::text`,
    order(column) {
      const { base, native } = column
      const name = quoted(column.name)
      if (base === 'INTEGER' || base === 'NUMERIC') return { value: name, literal: numberText }
      if (base === 'DATE') return { value: name, literal: (one) => `${pg.escapeLiteral(one)}::date` }
      if (base === 'TIMESTAMP')
        return {
          value: name,
          literal: (one) => (ZONED.test(native) ? `'${one}+00'::timestamptz` : `${pg.escapeLiteral(one)}::timestamp`),
        }
      if (native === 'uuid') return { value: name, literal: (one) => `${pg.escapeLiteral(one)}::uuid` }
      return { value: `(${text(column)}) collate "C"`, literal: (one) => pg.escapeLiteral(one) }
    },
  }
}

/** One function takes a little less time than a tree of operators, and has no limit of depth. */
function joined(texts: readonly string[]): string {
  if (texts.length <= MAX_ARGUMENTS) return texts.length > 0 ? `concat_ws(',', ${texts.join(', ')})` : "''"
  const width = Math.ceil(texts.length / MAX_ARGUMENTS)
  const parts = Array.from({ length: Math.ceil(texts.length / width) }, (_, at) => texts.slice(at * width, (at + 1) * width))
  return joined(parts.map(joined))
}

/** PostgreSQL writes numbers from 1e15 on with an exponent, the others from 1e16 on. */
function floatOf(value: string): string {
  const short = `(${value})::text`
  const plain = `trim_scale(${short}::numeric)::text`
  return `case when abs(${value}) < 1e15 then ${short} when abs(${value}) < 1e16 then ${plain} when ${value} = 'NaN' then 'nan'
    when ${value} = 'Infinity' then 'inf' when ${value} = '-Infinity' then '-inf' else ${short} end`
}
