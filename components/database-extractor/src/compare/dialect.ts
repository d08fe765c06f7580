// How a database writes values for a comparison: the same value has the same text in every database, and the same row the same checksum.
//
//  text     INTEGER 42; NUMERIC with all digits of its scale 0.10; BOOLEAN true; DATE 2026-02-28; TIMESTAMP 2026-02-28 23:59:59.5, in UTC;
//           FLOAT with the fewest digits that give the same number: 0.1, 1e+16, 1e-05, nan, inf; STRING as it is read
//  row      texts with commas between them; N for NULL; a STRING is T, its length and a colon before the text, so that no two rows look alike
//  checksum the first 60 bits of the MD5 of a row, added up: the order of rows does not matter

import type { BaseType, SourceColumn } from '../databases/columns.ts'

export interface Dialect {
  /** The text of a value; NULL when there is none. */
  text(column: SourceColumn): string
  /** `T5:hello` of a text. */
  tagged(text: string): string
  /** Texts with commas between them; none is NULL. */
  joined(texts: readonly string[]): string
  /** A whole number of 60 bits. */
  hash(text: string): string
  /** A number as text. */
  asText(number: string): string
  /** The exact sum, as text. */
  total(number: string): string
  /** What rows are ordered by, and how a text of the value is written into a statement. Every database has the same order. */
  order(column: SourceColumn): Order
}

export interface Order {
  readonly value: string
  literal(text: string): string
}

export const HASH_DIGITS = 15

/** These have an order that is the same everywhere; others are ordered by the bytes of their text. */
export const ORDERED: ReadonlySet<BaseType> = new Set(['INTEGER', 'NUMERIC', 'DATE', 'TIMESTAMP'])

const cell = (dialect: Dialect, column: SourceColumn): string => {
  const text = dialect.text(column)
  return `coalesce(${column.base === 'STRING' ? dialect.tagged(text) : text}, 'N')`
}

export const rowHash = (dialect: Dialect, columns: readonly SourceColumn[]): string =>
  dialect.hash(dialect.joined(columns.map((column) => cell(dialect, column))))

/** From `from` on and before `to`; undefined: no bound. Rows without a value belong to the first range. */
export interface KeyRange {
  readonly from: string | undefined
  readonly to: string | undefined
}

export function rangeCondition({ value, literal }: Order, { from, to }: KeyRange): string {
  if (from === undefined && to === undefined) return '1 = 1'
  if (from === undefined) return `(${value} < ${literal(to ?? '')} or ${value} is null)`
  const lower = `${value} >= ${literal(from)}`
  return to === undefined ? lower : `(${lower} and ${value} < ${literal(to)})`
}

/** The number of the range that a row belongs to, found by halving. */
export function bucketOf(order: Order, bounds: readonly string[], first = 0): string {
  if (bounds.length === 0) return String(first)
  const middle = bounds.length >> 1
  const above = bucketOf(order, bounds.slice(middle + 1), first + middle + 1)
  const below = bucketOf(order, bounds.slice(0, middle), first)
  return `case when ${order.value} >= ${order.literal(bounds[middle] ?? '')} then ${above} else ${below} end`
}

/** For databases that join texts with an operator: as a tree, since a chain of 1,600 would be too deep. */
export function joinedBy(operator: string, texts: readonly string[]): string {
  if (texts.length <= 1) return texts[0] ?? "''"
  const middle = texts.length >> 1
  return `(${joinedBy(operator, texts.slice(0, middle))} ${operator} ',' ${operator} ${joinedBy(operator, texts.slice(middle))})`
}

const [PLAIN_FROM, PLAIN_BELOW] = [-4, 16]

/** A floating-point number as text. */
export function floatText(number: number): string {
  if (Number.isNaN(number)) return 'nan'
  if (!Number.isFinite(number)) return number > 0 ? 'inf' : '-inf'
  if (number === 0) return Object.is(number, -0) ? '-0' : '0'
  const [mantissa = '', exponent = '0'] = number.toExponential().split('e')
  const at = Number(exponent)
  const sign = mantissa.startsWith('-') ? '-' : ''
  const digits = mantissa.replace(/[-.]/g, '')
  if (at < PLAIN_FROM || at >= PLAIN_BELOW) return `${mantissa}e${at < 0 ? '-' : '+'}${String(Math.abs(at)).padStart(2, '0')}`
  if (at < 0) return `${sign}0.${'0'.repeat(-at - 1)}${digits}`
  const whole = digits.slice(0, at + 1).padEnd(at + 1, '0')
  const part = digits.slice(at + 1)
  return `${sign}${whole}${part === '' ? '' : `.${part}`}`
}
