// Values of ClickHouse as texts. Only functions that versions from 18 on have.

import { fractionOf } from '../../../connector-kit/src/database/clickhouse.ts'
import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import { literalOf, selected } from '../databases/clickhouse-values.ts'
import type { SourceColumn } from '../databases/columns.ts'
import { type Dialect, HASH_DIGITS, ORDERED } from './dialect.ts'

const HASH_BITS = HASH_DIGITS * 4
const WORD_BITS = 64
const MAX_SCALE = 38

export function clickhouseDialect(invalidAsNull: boolean): Dialect {
  function text(column: SourceColumn): string {
    const { native, base, length } = column
    const value = `toString(${selected(column)})`
    if (base === 'FLOAT') return floatOf(value, native === 'Float32' ? `toFloat64(${value})` : quoted(column.name))
    if (base === 'NUMERIC') return scaled(value, Number(length?.split(',')[1] ?? 0))
    // Newer versions write true, older ones 1.
    if (base === 'BOOLEAN') return `case ${quoted(column.name)} when 1 then 'true' when 0 then 'false' end`
    if (base !== 'DATE' && base !== 'TIMESTAMP') return native === 'String' ? quoted(column.name) : value
    const short = (fractionOf(native) ?? 0) > 0 ? `replaceRegexpOne(${value}, '[.]?0+$', '')` : value
    return invalidAsNull ? `if(startsWith(${value}, '0000'), null, ${short})` : short
  }
  return {
    text,
    tagged: (value) => `concat('T', toString(lengthUTF8(${value})), ':', ${value})`,
    joined: (texts) => (texts.length > 1 ? `concat(${texts.join(", ',', ")})` : (texts[0] ?? "''")),
    hash: (value) => `bitShiftRight(reinterpretAsUInt64(reverse(substring(MD5(${value}), 1, 8))), ${WORD_BITS - HASH_BITS})`,
    asText: (number) => `toString(${number})`,
    total: (number) => `sum(toDecimal128(${number}, 0))`,
    order(column) {
      const isOrdered = ORDERED.has(column.base)
      const value = isOrdered ? quoted(column.name) : text(column)
      return { value, literal: (one) => literalOf(isOrdered ? column : { ...column, base: 'STRING', native: 'String' }, one) }
    },
  }
}

/** All digits of the scale; newer versions omit zeros at the end. */
function scaled(value: string, scale: number): string {
  if (scale === 0) return value
  const zeros = (count: string) => `substring('${'0'.repeat(MAX_SCALE)}', 1, toUInt8(${count}))`
  const point = `position(${value}, '.')`
  return `if(${point} = 0, concat(${value}, '.', ${zeros(String(scale))}), concat(${value}, ${zeros(`${scale} - (length(${value}) - ${point})`)}))`
}

/** The server writes numbers below 1e-6 and from 1e21 on with an exponent. `number`: of double precision, as the table has it. */
function floatOf(value: string, number: string): string {
  const plain = `replaceOne(${value}, '-', '')`
  const sign = `if(${number} < 0, '-', '')`
  const withPoint = (digits: string) =>
    `concat(${sign}, substring(${digits}, 1, 1), if(length(${digits}) > 1, concat('.', substring(${digits}, 2)), ''), `
  const large = `replaceRegexpOne(${plain}, '0+$', '')`
  const small = `replaceRegexpOne(${plain}, '^0[.]0*', '')`
  const exponent = `toString(length(${plain}) - 1 - length(${small}))`
  return `case when isNaN(${number}) then 'nan' when isInfinite(${number}) then concat(${sign}, 'inf')
    when ${number} = 0 or (abs(${number}) >= 1e-4 and abs(${number}) < 1e16) then ${value}
    when abs(${number}) >= 1e16 and position(${value}, 'e') > 0 then replaceRegexpOne(${value}, 'e[+]?', 'e+')
    when abs(${number}) >= 1e16 then ${withPoint(large)}'e+', toString(length(${plain}) - 1))
    when position(${value}, 'e') > 0 then replaceRegexpOne(${value}, 'e-(.)$', 'e-0\\\\1')
    else ${withPoint(small)}'e-', if(length(${exponent}) < 2, '0', ''), ${exponent}) end`
}
