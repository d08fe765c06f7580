// Paths into JSON values, as the dpath library follows them: `*` stands for any key, `**` for any depth, digits index lists.

import { ValueError } from '../errors.ts'
import { type Dict, getKey, isDict, setKey } from './values.ts'

const isIndex = (segment: string) => /^-?\d+$/.test(segment)
const isPattern = (segment: string) => /[*?[]/.test(segment)

function member(value: unknown, segment: string): unknown {
  if (Array.isArray(value)) {
    if (!isIndex(segment)) return undefined
    const index = Number(segment)
    return value[index < 0 ? value.length + index : index]
  }
  return isDict(value) ? getKey(value, segment) : undefined
}

/** Shell patterns: * ? [abc]. */
function matcher(pattern: string): (key: string) => boolean {
  if (pattern === '*') return () => true
  const source = pattern
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
    .replaceAll('[!', '[^')
  try {
    const regexp = new RegExp(`^${source}$`, 's')
    return (key) => key === pattern || regexp.test(key)
  } catch {
    return (key) => key === pattern
  }
}

const entriesOf = (value: unknown): (readonly [string, unknown])[] =>
  Array.isArray(value) ? value.map((each, i) => [String(i), each] as const) : isDict(value) ? Object.entries(value) : []

/** Every value that the path leads to. */
export function* values(value: unknown, path: readonly string[]): Iterable<unknown> {
  const [segment, ...rest] = path
  if (segment === undefined) {
    yield value
    return
  }
  if (segment === '**') {
    yield* values(value, rest)
    for (const [, each] of entriesOf(value)) yield* values(each, path)
    return
  }
  if (!isPattern(segment)) {
    const found = member(value, segment)
    if (found !== undefined) yield* values(found, rest)
    return
  }
  const matches = matcher(segment)
  for (const [key, each] of entriesOf(value)) if (matches(key)) yield* values(each, rest)
}

/** The one value at the path; undefined when there is none. A pattern that finds several is an error. */
export function get(value: unknown, path: readonly string[]): unknown {
  let found = value
  for (const segment of path) {
    if (isPattern(segment) && member(found, segment) === undefined) {
      const [one, other] = [...values(value, path)]
      if (other !== undefined) throw new ValueError(`The path ${path.join('/')} leads to several values. Only * may.`)
      return one
    }
    found = member(found, segment)
    if (found === undefined) return undefined
  }
  return found
}

/** `a/b` as a path. */
export const split = (path: string): string[] => path.replace(/^\/+/, '').split('/')

/** Sets the value; objects on the way are created, and lists where the next segment is a number. A value on the way is an error. */
export function put(target: Dict, path: readonly string[], value: unknown): void {
  let at: unknown = target
  for (const [i, segment] of path.entries()) {
    const following = path[i + 1]
    const next = following === undefined ? value : (member(at, segment) ?? (/^\d+$/.test(following) ? [] : {}))
    if (following !== undefined && (hasNull(at, segment) || typeof next !== 'object'))
      throw new ValueError(`The path ${path.join('.')} leads through the value of '${segment}', which is not an object.`)
    if (Array.isArray(at)) {
      const index = Number(segment)
      if (!isIndex(segment) || Math.abs(index) > at.length + 10_000)
        throw new ValueError(`The path ${path.join('.')} leads into a list, where '${segment}' is not an index.`)
      while (at.length <= index) at.push(null)
      at[index < 0 ? at.length + index : index] = next
    } else setKey(at as Dict, segment, next) // an object, by the check above
    at = next
  }
}

const hasNull = (value: unknown, segment: string) => isDict(value) && Object.hasOwn(value, segment) && value[segment] === null

/** Removes what the path leads to. An element of a list leaves null in its place, unless it is the last one. */
export function remove(target: unknown, path: readonly string[], chosen: (value: unknown) => boolean = () => true): void {
  const [segment, ...rest] = path
  if (segment === undefined) return
  if (segment === '**' && rest.length > 0) {
    for (const [, value] of entriesOf(target).toReversed()) remove(value, path, chosen)
    remove(target, rest, chosen)
    return
  }
  const matches = isPattern(segment) ? matcher(segment) : undefined
  const found = matches ? entriesOf(target).filter(([key]) => matches(key)) : [[segment, member(target, segment)] as const]
  // From the end, so that the tail of a list can go whole.
  for (const [key, value] of found.toReversed()) {
    if (value === undefined) continue
    if (rest.length > 0) remove(value, rest, chosen)
    else if (chosen(value)) removeAt(target, key)
  }
}

/** Removes every value without members that is chosen, wherever it is. */
export function removeLeaves(target: unknown, chosen: (value: unknown) => boolean): void {
  for (const [key, value] of entriesOf(target).toReversed())
    if (Array.isArray(value) || isDict(value)) removeLeaves(value, chosen)
    else if (chosen(value)) removeAt(target, key)
}

function removeAt(target: unknown, key: string): void {
  if (isDict(target)) delete target[key]
  if (!Array.isArray(target)) return
  const index = Number(key) < 0 ? target.length + Number(key) : Number(key)
  if (index === target.length - 1) target.pop()
  else target[index] = null
}

/** Replaces what exists at the path; false when there is nothing. */
export function replace(target: unknown, path: readonly string[], value: unknown): boolean {
  const [segment, ...rest] = path
  if (segment === undefined) return false
  const matches = isPattern(segment) ? matcher(segment) : (key: string) => key === segment
  let replaced = false
  for (const [key, each] of entriesOf(target)) {
    if (!matches(key)) continue
    if (rest.length > 0) replaced = replace(each, rest, value) || replaced
    else {
      replaced = true
      if (Array.isArray(target)) target[Number(key)] = value
      else setKey(target as Dict, key, value)
    }
  }
  return replaced
}
