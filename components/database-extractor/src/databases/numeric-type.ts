// Numbers: exact as NUMERIC where the declared precision fits, otherwise as text; and as the state of a run keeps them.

import { UserError } from '../../../http-extractor/src/errors.ts'
import type { BaseType, SourceColumn } from './columns.ts'

export const NUMBERS: ReadonlySet<BaseType> = new Set(['INTEGER', 'NUMERIC', 'FLOAT'])

/** A number of the state, to be written into a statement digit by digit. */
export function numberText(text: string): string {
  if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text))
    throw new UserError(`"${text.slice(0, 60)}" in the state is not a number. Reset the state of the row.`)
  return text
}

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
