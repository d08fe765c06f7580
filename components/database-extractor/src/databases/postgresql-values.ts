// How values of PostgreSQL are selected.

import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import type { SourceColumn } from './columns.ts'

/** What the server writes for these would be read differently, or not at all. */
export function selected({ name, native, base }: SourceColumn, invalidAsNull: boolean, alias?: string): string {
  const column = alias === undefined ? quoted(name) : `${alias}.${quoted(name)}`
  if (/^(geometry|geography)\b/.test(native)) return `ST_AsText(${column})`
  const value = /^timestamp(\(\d\))? with time zone$/.test(native) ? `${column} at time zone 'UTC'` : column
  if (!invalidAsNull) return value
  if (base === 'NUMERIC') return `nullif(${column}, 'NaN')`
  if (base !== 'DATE' && base !== 'TIMESTAMP') return value
  return `case when ${column} >= '0001-01-01' and ${column} < '10000-01-01' then ${value} end`
}
