// `include` of list and detail routes: a comma-separated list; unknown words are refused, as real clients expect.

import { PlatformError } from '../kit/errors.ts'

export function includeFrom(text: string | undefined, known: readonly string[]): ReadonlySet<string> {
  const words = (text ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const unknown = words.find((word) => !known.includes(word))
  if (unknown === undefined) return new Set(words)
  const reason = `"${unknown.slice(0, 60)}" cannot be included. Known: ${known.join(', ')}.`
  throw new PlatformError('storage.validation', { field: 'include', reason }, { errors: [{ key: 'include', message: reason }] })
}
