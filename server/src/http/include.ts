// `include` of list and detail routes: a comma-separated list; unknown words are refused, as real clients expect.

import { PlatformError } from '../kit/errors.ts'

export function includeFrom(text: string | undefined, known: readonly string[]): ReadonlySet<string> {
  const words = (text ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const unknown = words.filter((word) => !known.includes(word)).map((word) => `"${word.slice(0, 60)}"`)
  if (unknown.length === 0) return new Set(words)
  const reason = `Invalid include parameters: ${unknown.join(', ')}. Only following are allowed: ${known.join(', ')}.`
  throw new PlatformError('storage.validation', { field: 'include', reason }, { errors: [{ key: 'include', message: reason }] })
}
