// Relations of a workspace as tables of the project: which become which, and the manifest of each result. Pure.

import type { SqlDryRunColumn } from '../../../../model/run-ports.ts'

/** The table that a relation is stored as; undefined when its schema is not mapped. */
export const tableOf =
  (buckets: ReadonlyMap<string, string>) =>
  (schema: string, name: string): string | undefined => {
    const bucket = buckets.get(schema.toLowerCase())
    return bucket === undefined ? undefined : `${bucket}.${name}`
  }

/** `kept`: columns that the table has and the relation lacks, as the table describes them. They are last in the file. */
export function manifestOf(tableId: string, columns: readonly SqlDryRunColumn[], kept: readonly object[]) {
  return {
    destination: tableId,
    incremental: false,
    has_header: true,
    schema: [...columns.map(({ name, type }) => ({ name, nullable: true, data_type: { base: baseType(type) } })), ...kept],
  }
}

function baseType(type: string): { readonly type: string; readonly length?: string } {
  const decimal = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(type)
  if (decimal) return { type: 'NUMERIC', length: `${decimal[1]},${decimal[2]}` }
  if (/^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type)) return { type: 'INTEGER' }
  if (type === 'DOUBLE' || type === 'FLOAT') return { type: 'FLOAT' }
  if (type === 'BOOLEAN' || type === 'DATE') return { type }
  return { type: type.startsWith('TIMESTAMP') ? 'TIMESTAMP' : 'STRING' }
}
