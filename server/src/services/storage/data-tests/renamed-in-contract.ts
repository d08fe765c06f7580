// A data contract keeps what it states when a column of its table is renamed. Only the names are replaced, so that comments and the form of
// the text stay; queries of quality rules are SQL of people, who change them.

import { isScalar, parseDocument, stringify } from 'yaml'
import { PlatformError } from '../../../kit/errors.ts'
import { MAX_ALIASES, objectOf, readContract } from './contract-rules.ts'
import type { RenamedColumn } from './renamed-columns.ts'

type Path = readonly (string | number)[]

/** The same text where it does not name the column. */
export function contractAfterRename(text: string, { tableId, from, to }: RenamedColumn): string {
  const document = parseDocument(text)
  const root = document.toJS({ maxAliasCount: MAX_ALIASES })
  const named = pathsOfColumns(root, tableId).flatMap((path) => {
    const scalar = document.getIn(path, true)
    if (!isScalar(scalar) || typeof scalar.value !== 'string' || !scalar.range) return []
    const [start, end] = scalar.range
    const prefix = path[0] === 'slaProperties' ? scalar.value.slice(0, scalar.value.lastIndexOf('.') + 1) : ''
    return scalar.value === prefix + from ? [{ start, end, name: prefix + to }] : []
  })
  const renamed = named
    .toSorted((a, b) => b.start - a.start)
    .reduce((before, { start, end, name }) => before.slice(0, start) + scalarText(name) + before.slice(end), text)
  return isReadable(renamed, tableId) ? renamed : text
}

/** Where names of columns stand, whether they are there or not. */
function pathsOfColumns(root: unknown, tableId: string): readonly Path[] {
  const objects = listAt(root, 'schema')
  const object = objectOf(objects as Readonly<Record<string, unknown>>[], tableId) // the contract was read when it was saved
  const at: Path = ['schema', object ? objects.indexOf(object) : -1]
  const columnsOf = (quality: unknown, place: Path): readonly Path[] => [
    ...listAt(quality, 'columns').map((_, i) => [...place, 'columns', i]),
    ...listAt(memberOf(quality, 'arguments'), 'properties').map((_, i) => [...place, 'arguments', 'properties', i]),
  ]
  return [
    ...listAt(object, 'properties').flatMap((_, i) => ['name', 'physicalName'].map((name) => [...at, 'properties', i, name])),
    ...listAt(object, 'quality').flatMap((quality, i) => columnsOf(quality, [...at, 'quality', i])),
    ...listAt(root, 'slaProperties').map((_, i) => ['slaProperties', i, 'element']),
  ]
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

function listAt(value: unknown, name: string): readonly unknown[] {
  const found = memberOf(value, name)
  return Array.isArray(found) ? found : []
}

/** Quoted where a bare word would be something else, also within brackets. */
function scalarText(name: string): string {
  const isBare = /^[A-Za-z_][\w.]*$/.test(name) && stringify(name).trimEnd() === name
  return isBare ? name : JSON.stringify(name)
}

function isReadable(text: string, tableId: string): boolean {
  try {
    readContract(text, tableId)
    return true
  } catch (error) {
    if (error instanceof PlatformError) return false // such as the new name twice
    throw error
  }
}
