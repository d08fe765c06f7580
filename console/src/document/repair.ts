// Which values of a configuration can fix a failure that points at a place in it. Pure.

import { isRecord, type Path, valueIn } from './json-text.ts'

/** A JSON pointer as a path in this document: numbers where lists are. */
export function pathOfPointer(document: unknown, pointer: string): Path {
  const path: (string | number)[] = []
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    path.push(Array.isArray(valueIn(document, path)) && /^\d+$/.test(key) ? Number(key) : key)
  }
  return path
}

const MOST = 8

/** The single values at or below a place, and the attributes they are taken from: the password of a login is one of them. */
export function repairPlaces(document: unknown, path: Path): readonly Path[] {
  const value = valueIn(document, path)
  const places = typeof value === 'object' && value !== null ? placesBelow(value, path) : [path]
  const attributes = [...new Set(places.filter(isAttribute).map((at) => String(valueIn(document, at))))]
  const values = attributes.map((name) => [...CONFIG, name]).filter((at) => valueIn(document, at) !== undefined)
  return [...places.filter((at) => !isAttribute(at)), ...values].slice(0, MOST)
}

const CONFIG: Path = ['parameters', 'config']

const isAttribute = (path: Path): boolean => path.at(-1) === 'attr'

function placesBelow(value: object, path: Path): readonly Path[] {
  const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? [...value.entries()]
    : isRecord(value)
      ? Object.entries(value)
      : []
  return entries.flatMap(([key, one]) =>
    typeof one === 'object' && one !== null ? placesBelow(one, [...path, key]) : [[...path, key]],
  )
}
