// How values of DuckDB are selected, as texts.

import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import type { SourceColumn } from './columns.ts'

export const ZONED = 'TIMESTAMP WITH TIME ZONE'

/** A time without a zone, in UTC. Infinite ones have none. */
export const inUtc = (name: string): string => `make_timestamp(epoch_us(${name}))`

export function selected({ name, native, base }: SourceColumn, invalidAsNull: boolean): string {
  const column = quoted(name)
  if (native === 'BLOB') return `'0x' || lower(hex(${column}))`
  const text =
    native === ZONED
      ? `case when isfinite(${column}) then ${inUtc(column)}::varchar else ${column}::varchar end`
      : `${column}::varchar`
  if (!invalidAsNull || (base !== 'DATE' && base !== 'TIMESTAMP')) return text
  return `case when isfinite(${column}) and year(${column}) between 1 and 9999 then ${text} end`
}
