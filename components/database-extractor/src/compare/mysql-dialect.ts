// Values of MySQL and MariaDB as texts, as the extractor reads them.

import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import type { SourceColumn } from '../databases/columns.ts'
import { isBinary, selected } from '../databases/mysql-values.ts'
import { numberText } from '../databases/numeric-type.ts'
import { type Dialect, HASH_DIGITS, ORDERED } from './dialect.ts'

const asText = (value: string): string => `convert(${value} using utf8mb4)`

export function mysqlDialect(invalidAsNull: boolean): Dialect {
  function text(column: SourceColumn): string {
    const { native, base } = column
    const name = quoted(column.name)
    const bits = /^bit(?:\((\d+)\))?/.exec(native)
    if (bits) return `concat('0x', lower(lpad(hex(${name}), ${Math.ceil(Number(bits[1] ?? 1) / 8) * 2}, '0')))`
    if (isBinary(column)) return `concat('0x', lower(hex(${name})))`
    if (base === 'FLOAT') return floatOf(selected(column))
    if (base === 'INTEGER' || base === 'NUMERIC') return asText(native.includes('zerofill') ? `(${name} + 0)` : name)
    const value = asText(selected(column))
    if (base !== 'DATE' && base !== 'TIMESTAMP') return value
    const short = base === 'DATE' ? value : shortened(value)
    const isZero = ['0000%', '____-00%', '____-__-00%'].map((pattern) => `${value} like '${pattern}'`).join(' or ')
    return invalidAsNull ? `case when ${isZero} then null else ${short} end` : short
  }
  return {
    text,
    tagged: (value) => `concat('T', char_length(${value}), ':', ${value})`,
    joined: (texts) => `concat_ws(',', ${texts.join(', ')})`,
    hash: (value) => `cast(conv(substr(md5(${value}), 1, ${HASH_DIGITS}), 16, 10) as unsigned)`,
    asText: (number) => `cast(${number} as char)`,
    total: (number) => `cast(sum(${number}) as char)`,
    order(column) {
      const name = quoted(column.name)
      if (!ORDERED.has(column.base))
        return { value: `cast(${text(column)} as binary)`, literal: (one) => `cast(${textLiteral(one)} as binary)` }
      const isTime = column.base === 'DATE' || column.base === 'TIMESTAMP'
      return { value: name, literal: isTime ? textLiteral : numberText }
    },
  }
}

/** Without zeros at the end of a fraction. */
const shortened = (value: string): string =>
  `case when locate('.', ${value}) > 0 then trim(trailing '.' from trim(trailing '0' from ${value})) else ${value} end`

/** The server writes small numbers without an exponent, and exponents without a sign and zeros. */
function floatOf(name: string): string {
  const value = asText(name)
  const mantissa = `substring_index(${value}, 'e', 1)`
  const exponent = `substring_index(${value}, 'e-', -1)`
  const digits = `trim(leading '0' from substring_index(${value}, '.', -1))`
  const zeros = `(char_length(substring_index(${value}, '.', -1)) - char_length(${digits}))`
  const sign = `if(${name} < 0, '-', '')`
  const rest = `if(char_length(${digits}) > 1, concat('.', substr(${digits}, 2)), '')`
  return `case when ${name} is null then null
    when ${name} = 0 then ${value}
    when abs(${name}) >= 1e16 then concat(${mantissa}, 'e+', substring_index(${value}, 'e', -1))
    when abs(${name}) >= 1e15 then ${shortened(asText(`cast(${name} as decimal(40, 10))`))}
    when abs(${name}) >= 1e-4 then ${value}
    when locate('e', ${value}) > 0 then concat(${mantissa}, 'e-', if(char_length(${exponent}) < 2, '0', ''), ${exponent})
    else concat(${sign}, left(${digits}, 1), ${rest}, 'e-', lpad(${zeros} + 1, 2, '0')) end`
}
