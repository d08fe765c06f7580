// Patterns of paths: `*` and `?` within a name, `**` for any folders.

import { UserError } from '../../http-extractor/src/errors.ts'

const MAX_STARS = 8

export interface Glob {
  /** What every path that matches begins with. */
  readonly prefix: string
  matches(path: string): boolean
}

export function globOf(pattern: string, place: string): Glob {
  if (pattern === '')
    throw new UserError(`${place} is empty. "*.csv" takes all CSV files, "**/*.csv" also those of folders below.`)
  if ((pattern.match(/\*/g) ?? []).length > MAX_STARS) throw new UserError(`${place} has more than ${MAX_STARS} stars.`)
  const parts = pattern.split('/').map((part) =>
    part === '**'
      ? '(?:[^/]+/)*'
      : `${part
          .replace(/[.+^${}()|[\]\\]/g, '\\$&')
          .replaceAll('*', '[^/]*')
          .replaceAll('?', '[^/]')}/`,
  )
  const expression = new RegExp(`^${parts.join('')}$`)
  return { prefix: /^[^*?]*/.exec(pattern)?.[0] ?? '', matches: (path) => expression.test(`${path}/`) }
}
