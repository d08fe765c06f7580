// Values of JSON by pointer.

import { PlatformError } from '../../../kit/errors.ts'

/** A copy with values at JSON pointers; objects on the way are created. */
export function withValues(content: unknown, values: Readonly<Record<string, unknown>>): unknown {
  return Object.entries(values).reduce((changed, [pointer, value]) => withValue(changed, namesOf(pointer), value), content)
}

function namesOf(pointer: string): readonly string[] {
  if (!pointer.startsWith('/'))
    throw new PlatformError('mcp.invalidCall', { reason: `${pointer.slice(0, 80)} is no JSON pointer: it begins with a slash.` })
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function withValue(place: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value
  if (Array.isArray(place)) {
    const at = name === '-' ? place.length : Number(name)
    if (!Number.isInteger(at) || at < 0 || at > place.length)
      throw new PlatformError('mcp.invalidCall', {
        reason: `The list has ${place.length} items; ${name.slice(0, 40)} is none of them.`,
      })
    return Object.assign([...place], { [at]: withValue(place[at], rest, value) })
  }
  const members = typeof place === 'object' && place !== null ? Object.entries(place) : []
  const own = members.find(([key]) => key === name)?.[1]
  const changed = withValue(own, rest, value)
  const kept = members.map(([key, member]) => [key, key === name ? changed : member] as const)
  return Object.fromEntries(own === undefined ? [...kept.filter(([key]) => key !== name), [name, changed]] : kept)
}
