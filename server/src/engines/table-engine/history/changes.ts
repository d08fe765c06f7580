// What changed between two states of a table, as SQL. Segments that both states have in the same form are not opened: the rows of the
// others are compared, by key where there is one, so the work grows with the files that differ. What a compaction only moved is equal, and
// falls out.

import { type LocalPaths, pathOf, scan } from '../relation.ts'
import type { Column, Segment, TableSnapshot } from '../snapshot.ts'
import { fieldName, identifier, literal, sameness, sqlType } from '../sql.ts'

/** The kind of change, before the columns of the table. */
const CHANGE_COLUMN = '_change'

/** Rows that one state has and the other may not: whole segments, or those that a newer delete file names. */
interface Part {
  readonly segment: Segment
  /** Rows that must be dead in the other state; undefined: all rows of the segment. */
  readonly deadIn: string | undefined
}

interface Difference {
  readonly removed: readonly Part[]
  readonly added: readonly Part[]
}

function difference(before: TableSnapshot, after: TableSnapshot): Difference {
  const earlier = new Map(before.segments.map((segment) => [segment.key, segment]))
  const later = new Map(after.segments.map((segment) => [segment.key, segment]))
  const only = (own: ReadonlyMap<string, Segment>, other: ReadonlyMap<string, Segment>): Part[] =>
    [...own.values()].flatMap((segment): Part[] => {
      const same = other.get(segment.key)
      if (!same) return [{ segment, deadIn: undefined }]
      if (same.deletes === null || same.deletes.key === segment.deletes?.key) return []
      return [{ segment, deadIn: same.deletes.key }]
    })
  return { removed: only(earlier, later), added: only(later, earlier) }
}

/** Objects that the select reads. */
export function changedKeys(before: TableSnapshot, after: TableSnapshot): string[] {
  const { removed, added } = difference(before, after)
  const keys = [...removed, ...added].flatMap(({ segment, deadIn }) => [segment.key, segment.deletes?.key, deadIn])
  return [...new Set(keys.filter((key) => key !== undefined))]
}

/** `_change` (insert, delete, update_before or update_after) and the columns of the later state. */
export function changesSelect(before: TableSnapshot, after: TableSnapshot, local: LocalPaths): string {
  const { removed, added } = difference(before, after)
  const { columns } = after
  const old = rowsOf(removed, columns, after.typed, local)
  const fresh = rowsOf(added, columns, after.typed, local)
  const isKeyed = after.primaryKey.length > 0 && before.primaryKey.join() === after.primaryKey.join()
  return isKeyed ? byKey(old, fresh, after) : byRow(old, fresh, columns)
}

function rowsOf(parts: readonly Part[], columns: readonly Column[], typed: boolean, local: LocalPaths): string {
  const names = columns.map(({ fieldId }) => `s.${fieldName(fieldId)}`).join(', ')
  const selects = parts.map(({ segment, deadIn }) => {
    const from = `SELECT ${names} FROM ${scan([pathOf(local, segment.key)], columns, typed, segment.loadedAt)} s`
    const positions = (key: string) => `(SELECT pos FROM read_parquet(${literal(pathOf(local, key))}))`
    const alive = segment.deletes ? [`s.file_row_number NOT IN ${positions(segment.deletes.key)}`] : []
    const dead = deadIn === undefined ? [] : [`s.file_row_number IN ${positions(deadIn)}`]
    const conditions = [...alive, ...dead]
    return conditions.length > 0 ? `${from} WHERE ${conditions.join(' AND ')}` : from
  })
  if (selects.length > 0) return selects.join('\nUNION ALL\n')
  return `SELECT ${columns.map((column) => `NULL::${sqlType(column)} AS ${fieldName(column.fieldId)}`).join(', ')} WHERE false`
}

const namesOf = (columns: readonly Column[], alias: string): string =>
  columns.map(({ fieldId, name }) => `${alias}.${fieldName(fieldId)} AS ${identifier(name)}`).join(', ')

function byKey(old: string, fresh: string, { columns, primaryKey }: TableSnapshot): string {
  const same = primaryKey.map((id) => `o.${fieldName(id)} IS NOT DISTINCT FROM n.${fieldName(id)}`).join(' AND ')
  const rowIn = (alias: string) => `row(${columns.flatMap((column) => sameness(column, alias)).join(', ')})`
  const differs = `${rowIn('o')} IS DISTINCT FROM ${rowIn('n')}`
  const change = (kind: string) => `'${kind}' AS ${identifier(CHANGE_COLUMN)}`
  const pair = `FROM old o JOIN fresh n ON ${same} WHERE ${differs}`
  return `WITH old AS MATERIALIZED (${old}), fresh AS MATERIALIZED (${fresh})
SELECT ${change('insert')}, ${namesOf(columns, 'n')} FROM fresh n WHERE NOT EXISTS (SELECT 1 FROM old o WHERE ${same})
UNION ALL SELECT ${change('delete')}, ${namesOf(columns, 'o')} FROM old o WHERE NOT EXISTS (SELECT 1 FROM fresh n WHERE ${same})
UNION ALL SELECT ${change('update_before')}, ${namesOf(columns, 'o')} ${pair}
UNION ALL SELECT ${change('update_after')}, ${namesOf(columns, 'n')} ${pair}`
}

/** Without a key a row that changed is one that is gone and one that is new. */
function byRow(old: string, fresh: string, columns: readonly Column[]): string {
  const signs = columns
    .flatMap((column) =>
      sameness(column, 'r')
        .slice(1)
        .map((sign) => `, ${sign}`),
    )
    .join('')
  const rows = (of: string) => `SELECT r.*${signs} FROM ${of} r`
  const minus = (kind: string, left: string, right: string) =>
    `SELECT '${kind}' AS ${identifier(CHANGE_COLUMN)}, ${namesOf(columns, 't')} FROM (${rows(left)} EXCEPT ALL ${rows(right)}) t`
  return `WITH old AS MATERIALIZED (${old}), fresh AS MATERIALIZED (${fresh})
${minus('insert', 'fresh', 'old')}
UNION ALL ${minus('delete', 'old', 'fresh')}`
}
