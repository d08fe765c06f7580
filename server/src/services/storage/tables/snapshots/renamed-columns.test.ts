import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptySnapshot, renameColumn, type Segment, type TableSnapshot } from '../../../../engines/table-engine/snapshot.ts'
import { createSqlTables } from '../rows/sql-tables.ts'

const { ofState } = createSqlTables({} as Parameters<typeof createSqlTables>[0]) // a state needs none of it

test('a table with renamed columns is read by the names in its files', () => {
  const created = emptySnapshot([{ name: 'id' }, { name: 'a' }])
  const first = loaded(created, 'one')
  const renamed = loaded(renameColumn(renameColumn(first, 'a', 'b'), 'b', 'c'), 'two')
  const select = (snapshot: TableSnapshot) =>
    ofState({ snapshot }, '1')
      .select({ one: '/one', two: '/two', three: '/three' })
      .replaceAll(/CAST\("(\w+)" AS VARCHAR\)/g, '$1')
  assert.equal(
    select(loaded(renamed, 'three')),
    `SELECT id AS "id", a AS "c" FROM read_parquet(['/one']) UNION ALL SELECT id AS "id", c AS "c" FROM read_parquet(['/two', '/three'])`,
  )
  const back = renameColumn(renamed, 'c', 'a')
  assert.match(
    select(back),
    /^SELECT id AS "id", a AS "a" FROM read_parquet\(\['\/one'\]\) UNION ALL SELECT id AS "id", c AS "a"/,
  )
  const old = { ...first, columns: first.columns.map((column) => ({ ...column, isRenamed: true as const })) }
  assert.doesNotMatch(
    select(old),
    /^SELECT id AS "id", a AS "a" FROM read_parquet\(\[/,
    'of an earlier version: the name is not known',
  )
})

function loaded(snapshot: TableSnapshot, key: string): TableSnapshot {
  const fieldIds = snapshot.columns.map(({ fieldId }) => fieldId)
  const segment: Segment = { key, rows: 1, bytes: 1, fieldIds, minLoadedAt: 1, maxLoadedAt: 1, deletes: null }
  return { ...snapshot, segments: [...snapshot.segments, segment] }
}
