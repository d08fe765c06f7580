// How the values of a column are spread. Tables without types hold texts, so what nearly all texts of a column can be read as counts.

import type { Database } from './database.ts'
import type { BaseType, Column } from './snapshot.ts'
import { fieldName } from './sql.ts'
import type { Histogram } from './table-engine.ts'

/** A column of texts is one of numbers or times when at least this share of its values can be read so. */
export const ENOUGH = 0.95

const KINDS: Readonly<Record<BaseType, readonly Histogram['kind'][]>> = {
  STRING: ['number', 'time'],
  INTEGER: ['number'],
  NUMERIC: ['number'],
  FLOAT: ['number'],
  BOOLEAN: [],
  DATE: ['time'],
  TIMESTAMP: ['time'],
}

/** Null where the column holds something else than numbers or times, or nothing at all. `rows` is a relation with the column. */
export async function histogram(db: Database, column: Column, rows: string, bins: number): Promise<Histogram | null> {
  const text = `nullif(CAST(${fieldName(column.fieldId)} AS VARCHAR), '')`
  for (const kind of KINDS[column.type]) {
    const found = await binsOf(db, `(SELECT ${text} AS text, ${NUMBER_OF[kind](text)} AS x FROM ${rows})`, bins)
    if (found && found.read >= ENOUGH * found.values)
      return {
        kind,
        otherRows: found.values - found.read,
        bins: found.bins.map(({ from, to, rows: n }) => ({ from: BORDER[kind](from), to: BORDER[kind](to), rows: n })),
      }
  }
  return null
}

/** The greatest time that a Date can show. */
const MAX_TIME_MS = 8_640_000_000_000_000
const NUMBER_OF = {
  number: (text: string) => `TRY_CAST(${text} AS DOUBLE)`,
  time: (text: string) => {
    const ms = `epoch_ms(TRY_CAST(${text} AS TIMESTAMP))`
    return `CASE WHEN ${ms} BETWEEN -${MAX_TIME_MS} AND ${MAX_TIME_MS} THEN CAST(${ms} AS DOUBLE) END`
  },
}
const BORDER = {
  number: (x: number) => String(x),
  time: (x: number) => new Date(Math.round(x)).toISOString(),
}

async function binsOf(db: Database, values: string, bins: number) {
  const [row = []] = await db.rows(
    `SELECT count(text), count(x) FILTER (WHERE isfinite(x)), min(x) FILTER (WHERE isfinite(x)), max(x) FILTER (WHERE isfinite(x)) FROM ${values}`,
  )
  const [all, read, min, max] = row
  if (typeof min !== 'number' || typeof max !== 'number') return undefined
  const width = max / bins - min / bins || 1 // divided first: the distance between the greatest and the least double is not a double
  const count = max === min ? 1 : bins
  const at = `least(${count - 1}, greatest(0, CAST(floor((x / 2 - ${sql(min / 2)}) / ${sql(width / 2)}) AS BIGINT)))`
  const counted = await db.rows(`SELECT ${at} AS bin, count(*) FROM ${values} WHERE isfinite(x) GROUP BY bin`)
  const rowsOf = new Map(counted.map(([bin, rows]) => [Number(bin), Number(rows)]))
  const border = (i: number) => (i === count ? max : min + i * width)
  return {
    values: Number(all),
    read: Number(read),
    bins: Array.from({ length: count }, (_, i) => ({ from: border(i), to: border(i + 1), rows: rowsOf.get(i) ?? 0 })),
  }
}

const sql = (x: number): string => `CAST('${x}' AS DOUBLE)`
