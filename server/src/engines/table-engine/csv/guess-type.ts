// The narrowest type that every one of some texts can be loaded as.

import { fitsType } from '../filter-values.ts'
import type { BaseType } from '../snapshot.ts'

/** Digits with a zero in front are mostly codes of something, and would lose it as numbers. */
const isPlainNumber = (text: string): boolean => !/^\s*[+-]?0\d/.test(text)

const CANDIDATES: readonly (readonly [BaseType, (text: string) => boolean])[] = [
  ['INTEGER', (text) => isPlainNumber(text) && fitsType('INTEGER', text) && isSafe(text)],
  ['NUMERIC', (text) => isPlainNumber(text) && /^\s*[+-]?\d{0,28}(\.\d{0,9})?\s*$/.test(text) && fitsType('NUMERIC', text)],
  ['FLOAT', (text) => isPlainNumber(text) && fitsType('NUMERIC', text)],
  ['BOOLEAN', (text) => /^\s*(true|false)\s*$/i.test(text)],
  ['DATE', (text) => /^\s*\d{4}-\d{2}-\d{2}\s*$/.test(text) && fitsType('DATE', text)],
  [
    'TIMESTAMP',
    (text) =>
      /^\s*\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?)?\s*$/.test(text) &&
      fitsType('TIMESTAMP', text),
  ],
]

export const guessType = (texts: readonly string[]): BaseType =>
  texts.length === 0 ? 'STRING' : (CANDIDATES.find(([, fits]) => texts.every(fits))?.[0] ?? 'STRING')

/** Within the 64 bits of an INTEGER. */
function isSafe(text: string): boolean {
  const number = BigInt(text.trim().replace(/^\+/, ''))
  return number >= -(2n ** 63n) && number < 2n ** 63n
}
