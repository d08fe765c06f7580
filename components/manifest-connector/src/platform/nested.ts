// Objects and lists of objects inside records as tables of their own, with the key of the record they belong to.

import { join } from 'node:path'
import { cleanName } from '../../../http-extractor/src/tables/names.ts'
import { ConnectorError } from '../errors.ts'
import { type Dict, isDict } from '../python/values.ts'
import { createTable, type Table, type TableOptions } from './table.ts'

const MAX_TABLES = 100
const POSITION = '_position'

export interface NestedTables extends Table {
  /** Fields that the tables below have, by their path. */
  childFields(): ReadonlyMap<string, readonly string[]>
}

interface Child {
  readonly table: NestedTables
  readonly keys: readonly string[]
}

/** `knownBelow`: what earlier runs have seen, by path. */
export function createNestedTables(
  options: TableOptions,
  knownBelow: (path: string) => readonly string[],
  path = '',
): NestedTables {
  const { primaryKey, name } = options
  if (primaryKey.length === 0)
    throw new ConnectorError(
      `The table '${name}' has no primary key, so its objects cannot be tables. Set 'primaryKey', or 'nested' to json.`,
    )
  const schema = withoutNested(options.schema)
  const own = createTable({ ...options, schema })
  const namesIn = ({ properties }: Dict) => (isDict(properties) ? Object.keys(properties) : [])
  const stated = new Set(namesIn(options.schema).filter((field) => !namesIn(schema).includes(field)))
  const children = new Map<string, Child>()

  function childOf(field: string): Child {
    const known = children.get(field)
    if (known) return known
    if (children.size >= MAX_TABLES)
      throw new ConnectorError(`The table '${name}' has more than ${MAX_TABLES} fields with objects.`)
    const below = path === '' ? field : `${path}/${field}`
    const keys = [
      ...primaryKey.map((key) => `_parent_${key.replace(/^_parent_/, '')}${key.startsWith('_parent_') ? '_up' : ''}`),
      POSITION,
    ]
    const table = createNestedTables(
      {
        name: cleanName(`${name}_${field}`),
        outDir: options.outDir,
        workDir: join(options.workDir, `child-${children.size}`),
        schema: { properties: Object.fromEntries(keys.map((key) => [key, key === POSITION ? { type: 'integer' } : {}])) },
        primaryKey: keys,
        incremental: options.incremental,
        knownFields: knownBelow(below),
      },
      knownBelow,
      below,
    )
    const child = { table, keys }
    children.set(field, child)
    return child
  }

  function write(records: readonly Dict[]): void {
    own.write(
      records.map((record) => {
        const flat: Dict = {}
        for (const [field, value] of Object.entries(record)) {
          const items = itemsOf(value)
          if (!items && isEmpty(value) && (stated.has(field) || children.has(field))) continue
          if (!items) {
            flat[field] = value
            continue
          }
          const { table, keys } = childOf(field)
          const above = Object.fromEntries(primaryKey.map((key, i) => [keys[i]!, record[key] ?? null]))
          table.write(items.map((item, i) => ({ ...above, [POSITION]: i, ...item })))
        }
        return flat
      }),
    )
  }

  return {
    ...own,
    write,
    clear() {
      own.clear()
      for (const { table } of children.values()) table.clear()
    },
    async publish(replaces) {
      for (const { table } of children.values()) await table.publish(replaces)
      return own.publish(replaces)
    },
    childFields() {
      const found = new Map<string, readonly string[]>()
      for (const [field, { table }] of children) {
        found.set(path === '' ? field : `${path}/${field}`, table.fields())
        for (const [below, fields] of table.childFields()) found.set(below, fields)
      }
      return found
    },
  }
}

/** An object is one row; a list is rows when it has objects only. */
function itemsOf(value: unknown): readonly Dict[] | undefined {
  if (isDict(value)) return [value]
  return Array.isArray(value) && value.length > 0 && value.every(isDict) ? (value as Dict[]) : undefined
}

const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0)

/** Columns of objects would stay empty. */
function withoutNested(schema: Dict): Dict {
  if (!isDict(schema.properties)) return schema
  const isPlain = (type: unknown) => !isDict(type) || !([type.type].flat().includes('object') || hasObjects(type.items))
  return { ...schema, properties: Object.fromEntries(Object.entries(schema.properties).filter(([, type]) => isPlain(type))) }
}
const hasObjects = (items: unknown): boolean => isDict(items) && [items.type].flat().includes('object')
