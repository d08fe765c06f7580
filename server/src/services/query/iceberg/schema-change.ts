// Which columns a writer adds. Everything else of a schema is changed through the Storage API, where its other users are considered.

import type { Column, TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import { sqlType } from '../../../engines/table-engine/sql.ts'
import { refused } from './commit-request.ts'

export function addedColumns(
  { columns, nextFieldId, typed }: TableSnapshot,
  wanted: readonly Column[] | undefined,
): readonly Column[] {
  if (!wanted) return []
  const byId = new Map(wanted.map((column) => [column.fieldId, column]))
  for (const { fieldId, name, type, length } of columns) {
    const same = byId.get(fieldId)
    if (!same) throw refused(`it drops the column "${name}". Columns are dropped through the Storage API`)
    if (same.name !== name) throw refused(`it renames the column "${name}". Columns are renamed through the Storage API`)
    if (sqlType(same) !== sqlType({ type, length } as Column)) throw refused(`it changes the type of the column "${name}"`)
  }
  const known = new Set(columns.map(({ fieldId }) => fieldId))
  const added = wanted.filter(({ fieldId }) => !known.has(fieldId))
  if (wanted.slice(0, columns.length).some(({ fieldId }, i) => fieldId !== columns[i]?.fieldId))
    throw refused('it changes the order of the columns. New columns come last')
  for (const [i, { fieldId, name, nullable, type }] of added.entries()) {
    if (fieldId !== nextFieldId + i)
      throw refused(`the column "${name}" has the field id ${fieldId}; the next one is ${nextFieldId + i}`)
    if (!nullable) throw refused(`the column "${name}" is required, and the rows that are there have no value for it`)
    if (!typed && type !== 'STRING') throw refused(`the column "${name}" is not a string, and this table has no types`)
  }
  return added.map((column) => (typed ? column : { ...column, nullable: false }))
}
