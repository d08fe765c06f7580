// How values of ClickHouse are selected, and written into statements.

import { clickhouseLiteral, fractionOf, plainType } from '../../../connector-kit/src/database/clickhouse.ts'
import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import type { BaseType, SourceColumn } from './columns.ts'
import { numberText, numericType } from './numeric-type.ts'

const BASE: Readonly<Record<string, BaseType>> = {
  ...{
    Int8: 'INTEGER',
    Int16: 'INTEGER',
    Int32: 'INTEGER',
    Int64: 'INTEGER',
    UInt8: 'INTEGER',
    UInt16: 'INTEGER',
    UInt32: 'INTEGER',
  },
  ...{ Float32: 'FLOAT', Float64: 'FLOAT', Bool: 'BOOLEAN', Date: 'DATE', Date32: 'DATE', String: 'STRING' },
}
const MICROSECONDS = 6

export function columnOf(name: string, type: string): SourceColumn {
  const native = plainType(type)
  if (Object.hasOwn(BASE, native)) return { name, native, base: BASE[native]! } // just looked up
  if (native.startsWith('FixedString(')) return { name, native, base: 'STRING' }
  if (native === 'UInt64') return { name, native, ...numericType('(20,0)') }
  if (native.startsWith('Decimal(')) return { name, native, ...numericType(native) }
  const fraction = fractionOf(native)
  if (fraction !== undefined && fraction <= MICROSECONDS) return { name, native, base: 'TIMESTAMP' }
  const asText =
    fraction !== undefined
      ? 'tables have microseconds'
      : /^U?Int(128|256)$/.test(native)
        ? 'it has more than 38 digits'
        : 'tables have no such type'
  return { name, native, base: 'STRING', asText }
}

/** Types without a counterpart as the server writes them. FixedString loses the zero bytes that fill it up. */
export function selected({ name, native, base }: SourceColumn): string {
  if (fractionOf(native) !== undefined) return `${base === 'TIMESTAMP' ? '' : 'toString'}(toTimeZone(${quoted(name)}, 'UTC'))`
  return base === 'STRING' && native !== 'String' ? `toString(${quoted(name)})` : quoted(name)
}

/** A value of the type, from its text. */
export function literalOf({ base, native, length }: SourceColumn, text: string): string {
  const fraction = fractionOf(native)
  const literal = clickhouseLiteral(text)
  if (base === 'TIMESTAMP') return fraction ? `toDateTime64(${literal}, ${fraction}, 'UTC')` : `toDateTime(${literal}, 'UTC')`
  if (base === 'DATE') return `to${native}(${literal})`
  if (native.startsWith('Decimal(') && base === 'NUMERIC') return `toDecimal128(${literal}, ${length?.split(',')[1] ?? 0})`
  return base === 'INTEGER' || base === 'FLOAT' || native === 'UInt64' ? numberText(text) : literal
}
