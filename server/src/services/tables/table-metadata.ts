// `columnsMetadata` in the three shapes clients send (spec storage 2.5.9): an object by column (PHP), an object with the single
// key `all` (Go), a list of lists (Python). The item's own `columnName` decides; an outer key is only a grouping.

import { readMetadataItems } from '../../http/metadata-items.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { MetadataPair } from './tables.ts'

export function readColumnsMetadata(value: unknown, columns: readonly string[]): ReadonlyMap<string, readonly MetadataPair[]> {
  const found = new Map<string, MetadataPair[]>()
  for (const { column, item } of itemsOf(typeof value === 'string' && value !== '' ? parse(value) : value)) {
    if (!columns.includes(column))
      throw new PlatformError('storage.metadata.invalidStructure', {
        reason: `the table has no column "${column.slice(0, 100)}".`,
      })
    found.set(column, [...(found.get(column) ?? []), ...readMetadataItems([item])])
  }
  return found
}

function itemsOf(value: unknown): { column: string; item: unknown }[] {
  if (value === undefined || value === null || value === '') return []
  if (typeof value !== 'object') throw new PlatformError('storage.metadata.invalidParameter')
  const groups: [string, unknown][] = Array.isArray(value) ? value.map((group: unknown) => ['', group]) : Object.entries(value)
  return groups.flatMap(([key, group]) => {
    const items: unknown[] = Array.isArray(group) ? group : [group]
    return items.map((item) => {
      const named = typeof item === 'object' && item !== null && 'columnName' in item ? item.columnName : key
      if (typeof named !== 'string' || named === '')
        throw new PlatformError('storage.metadata.invalidStructure', {
          reason: 'every item of columnsMetadata needs a columnName.',
        })
      return { column: named, item }
    })
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new PlatformError('storage.metadata.invalidParameter')
  }
}
