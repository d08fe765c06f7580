// How the tables of methods are written: the parameters of each, and what it does.

import type { Dict } from '../python/values.ts'
import { parameters } from './arguments.ts'
import { PyFunction, type Run } from './runtime.ts'

// biome-ignore lint/suspicious/noExplicitAny: arguments are values of an expression, which each method checks
type Given = readonly any[]
type Method<T> = (self: T, args: Given, run: Run, named: Dict) => unknown
export type Methods<T> = Readonly<Record<string, readonly [parameters: string, Method<T>]>>

/** Any arguments, which the method reads itself. */
export const ANY = '*'

export function methodsOf<T>(methods: Methods<T>): (self: T, name: string) => PyFunction | undefined {
  const all = new Map(
    Object.entries(methods).map(([name, [list, method]]) => [
      name,
      { bind: list === ANY ? undefined : parameters(name, list), method },
    ]),
  )
  return (self, name) => {
    const found = all.get(name)
    if (!found) return undefined
    return new PyFunction(name, (args, named, run) =>
      found.bind ? found.method(self, found.bind(args, named), run, {}) : found.method(self, args, run, named),
    )
  }
}
