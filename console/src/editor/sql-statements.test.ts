import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeOfError, statementsOf } from './sql-statements.ts'

test('semicolons end statements, except in texts, names and comments', () => {
  const text = `select ';' as "a;b"; -- no; end\n select 2 /* ; */;\n;-- nothing\n`
  assert.deepEqual(
    statementsOf(text).map(({ sql }) => sql),
    [`select ';' as "a;b"`, `-- no; end\n select 2 /* ; */`],
  )
  for (const { sql, offset } of statementsOf(text)) assert.equal(text.slice(offset, offset + sql.length), sql)
  assert.deepEqual(statementsOf("select 'it''s; here'").length, 1)
  assert.deepEqual(statementsOf("select 'open; text").length, 1)
})

test('the place of an error is read from what the stack says', () => {
  const sql = 'select 1,\n  nope'
  assert.equal(sql.slice(placeOfError('Binder Error: no column "nope" (line 2, character 3)', sql)), 'nope')
  assert.equal(placeOfError('SQL syntax error at character 4: a quote is open.', sql), 3)
  assert.equal(placeOfError('Catalog Error: none', sql), undefined)
})
