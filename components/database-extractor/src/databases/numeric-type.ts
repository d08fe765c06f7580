// Decimal numbers: exact as NUMERIC where the declared precision fits, otherwise as text.

import type { SourceColumn } from './database.ts'

/** Digits of a NUMERIC column. */
const MAX_PRECISION = 38

/** Of `numeric(10,2)` and its like. */
export function numericType(native: string): Pick<SourceColumn, 'base' | 'length' | 'asText'> {
  const [, precision, scale = '0'] = /\((\d+)(?:,\s*(-?\d+))?\)/.exec(native) ?? []
  if (precision === undefined) return { base: 'STRING', asText: 'it has no declared precision' }
  // A negative scale rounds to tens: what is stored are whole numbers with more digits.
  const digits = Number(precision) + Math.max(0, -Number(scale))
  if (digits > MAX_PRECISION || Number(scale) > digits)
    return { base: 'STRING', asText: `it has more than ${MAX_PRECISION} digits` }
  return { base: 'NUMERIC', length: `${digits},${Math.max(0, Number(scale))}` }
}
