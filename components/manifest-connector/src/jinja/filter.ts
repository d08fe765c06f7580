// How the tables of filters are written: the parameters of each, and what it does.

import type { Dict } from '../python/values.ts'
import { parameters } from './arguments.ts'
import { iterate, type Run } from './runtime.ts'

export type Filter = (value: unknown, args: readonly unknown[], named: Dict, run: Run) => unknown

// biome-ignore lint/suspicious/noExplicitAny: arguments are values of an expression, which each filter checks
type Given = readonly any[]
export type Filters = Readonly<
  Record<string, readonly [parameters: string, (value: unknown, args: Given, run: Run, named: Dict) => unknown]>
>

/** Any arguments, which the filter reads itself. */
export const ANY = '*'

export const bound = (filters: Filters): [string, Filter][] =>
  Object.entries(filters).map(([name, [list, filter]]) => {
    if (list === ANY) return [name, (value, args, named, run) => filter(value, args, run, named)]
    const bind = parameters(name, list)
    return [name, (value, args, named, run) => filter(value, bind(args, named), run, named)]
  })

export function listOf(value: unknown, run: Run): unknown[] {
  const items = [...iterate(value)]
  run.step(items.length)
  return items
}
