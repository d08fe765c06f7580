// Arguments in the order of the parameters, as Python binds them.

import { asNumber, type Dict, isInt } from '../python/values.ts'
import { plain } from './markup.ts'
import { PyTypeError, typeName } from './runtime.ts'

export type Bind = (args: readonly unknown[], named: Dict) => readonly unknown[]

/**
 * `width? fill?` takes two arguments, in order or by name; those with a question mark may be missing, and are then undefined. After `/` no
 * argument has a name.
 */
export function parameters(name: string, list: string): Bind {
  const words = list.split(' ').filter(Boolean)
  const hasNames = words[0] !== '/'
  const all = words.slice(hasNames ? 0 : 1)
  const names = all.map((word) => word.replace('?', ''))
  const required = all.filter((word) => !word.endsWith('?')).length
  return (args, named) => {
    if (args.length > names.length)
      throw new PyTypeError(`${name}() takes at most ${names.length} arguments (${args.length} given)`)
    const bound = [...args]
    for (const [key, value] of Object.entries(named)) {
      const at = hasNames ? names.indexOf(key) : -1
      if (at < 0) throw new PyTypeError(`${name}() got an unexpected keyword argument '${key}'`)
      if (at < args.length) throw new PyTypeError(`${name}() got multiple values for argument '${key}'`)
      bound[at] = value
    }
    for (let i = 0; i < required; i++)
      if (bound[i] === undefined) throw new PyTypeError(`${name}() missing required argument: '${names[i]}'`)
    return bound
  }
}

/** A whole number, which a float is not. */
export function whole(value: unknown): number {
  if (typeof value !== 'boolean' && !isInt(value))
    throw new PyTypeError(`'${typeName(value)}' object cannot be interpreted as an integer`)
  return Math.min(Math.max(asNumber(value), -Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
}

export function textOf(given: unknown): string {
  const value = plain(given)
  if (typeof value !== 'string') throw new PyTypeError(`expected str, not ${typeName(value)}`)
  return value
}
