// Streams of a program as tables: names, keys, how each is loaded, and what earlier runs have seen.

import { join } from 'node:path'
import { cleanName } from '../../http-extractor/src/tables/names.ts'
import { ConnectorError } from '../../manifest-connector/src/errors.ts'
import { createTable, type Table } from '../../manifest-connector/src/platform/table.ts'
import { type Dict, isDict, pyStr, truthy } from '../../manifest-connector/src/python/values.ts'
import type { Load, StreamSettings } from './parameters.ts'

export interface StreamTable {
  readonly table: Table
  readonly load: Load
}

export interface TablesOptions {
  readonly folder: string
  /** Fields that earlier runs have seen, by stream. */
  readonly fields: unknown
}

export interface Described {
  readonly schema: Dict
  readonly keys: readonly string[]
  readonly isIncremental: boolean
}

export function createTables({ folder, fields }: TablesOptions) {
  const tables = new Map<string, StreamTable>()
  const names = new Set<string>()

  function open(settings: StreamSettings, { schema, keys: own, isIncremental }: Described): StreamTable {
    const keys = settings.primaryKey ?? own
    const load = settings.load ?? (!isIncremental ? 'overwrite' : keys.length > 0 ? 'deduped' : 'append')
    if (load === 'deduped' && keys.length === 0)
      throw new ConnectorError(
        `The stream '${settings.name}' has no primary key, so it cannot be loaded deduped. Set 'primaryKey', or load append.`,
      )
    const name = cleanName(settings.table ?? settings.name)
    if (names.has(name)) throw new ConnectorError(`Two streams become the table '${name}'. Set 'table' for one of them.`)
    names.add(name)
    const known = isDict(fields) ? fields[settings.name] : undefined
    const deleted = settings.deletedField
    const table = createTable({
      name,
      outDir: join(folder, 'out', 'tables'),
      workDir: join(folder, 'program-connector', String(tables.size)),
      schema: chosenFields(schema, settings.fields),
      knownFields: Array.isArray(known) ? known.map(pyStr) : [],
      primaryKey: load === 'append' ? [] : keys,
      incremental: load !== 'overwrite',
      drift: settings.fields ? 'ignore' : settings.schemaDrift,
      isDeleted: deleted !== undefined && load === 'deduped' ? (record) => truthy(record[deleted]) : undefined,
    })
    tables.set(settings.name, { table, load })
    return { table, load }
  }

  return {
    open,
    get: (stream: string) => tables.get(stream),
    /** Into the output folder; how many records each stream had. */
    async publish(replaced: (stream: string) => boolean): Promise<Map<string, number>> {
      const counts = new Map<string, number>()
      for (const [stream, { table }] of tables) counts.set(stream, await table.publish(replaced(stream)))
      return counts
    },
    fields: (): Dict => ({
      ...(isDict(fields) ? fields : {}),
      ...Object.fromEntries([...tables].map(([stream, { table }]) => [stream, table.fields()])),
    }),
  }
}
export type Tables = ReturnType<typeof createTables>

function chosenFields(schema: Dict, fields: readonly string[] | undefined): Dict {
  if (!fields || !isDict(schema.properties)) return schema
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(schema.properties).filter(([name]) => fields.includes(name))),
  }
}
