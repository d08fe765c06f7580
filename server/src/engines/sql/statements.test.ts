import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { qualifyTables, REFUSED_FUNCTIONS, singleStatement, statementsOf, TABLE_FUNCTIONS, tablesNamed } from './statements.ts'

test('every function of DuckDB that gives a table is allowed or refused by name', async () => {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const found = await connection.runAndReadAll(
    `SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN ('table', 'table_macro', 'pragma')`,
  )
  connection.closeSync()
  const unknown = found.getRows().flatMap(([name]) => {
    const text = String(name)
    return TABLE_FUNCTIONS.has(text) || REFUSED_FUNCTIONS.has(text) ? [] : [text]
  })
  assert.deepEqual(unknown, [])
  assert.deepEqual(
    [...TABLE_FUNCTIONS].filter((name) => REFUSED_FUNCTIONS.has(name)),
    [],
  )
})

test('statements end at semicolons that are not in strings, names or comments', () => {
  const texts = statementsOf(`SELECT ';' ; -- ;\n SELECT ";" /* ; */ , E'\\';' ; SELECT $$;$$, $a$ $$ ; $a$;;`).map(
    ({ text }) => text,
  )
  assert.deepEqual(texts, [`SELECT ';'`, `SELECT ";" /* ; */ , E'\\';'`, 'SELECT $$;$$, $a$ $$ ; $a$'])
  assert.deepEqual(statementsOf(' -- nothing\n;;'), [])
  for (const broken of [`SELECT 'a`, 'SELECT "a', 'SELECT /* a', 'SELECT $$a', 'SELECT /* /* */ */ 1'])
    assert.throws(() => statementsOf(broken), { code: 'sql.invalid' }, broken)
})

test('tables of the project are found wherever SQL may name them', () => {
  const names = (sql: string) => tablesNamed(singleStatement(sql)).map(({ schema, name }) => `${schema}/${name}`)
  assert.deepEqual(names('SELECT "in.c-a".t.x FROM "in.c-a".T JOIN "out.c-b" . "u""v" ON true'), [
    'in.c-a/t',
    'in.c-a/T',
    'out.c-b/u"v',
  ])
  assert.deepEqual(names(`SELECT '"in.c-a".t', "in.c-a" FROM x."y"`), [])
})

test('a catalog stands before tables of the project, and places lead back', () => {
  const statement = singleStatement('SELECT "in.c-a".t.x FROM "in.c-a".t, memory."in.c-a".u')
  const { text, originalPosition } = qualifyTables(statement, 'memory')
  assert.equal(text, 'SELECT memory."in.c-a".t.x FROM memory."in.c-a".t, memory."in.c-a".u')
  assert.equal(statement.text.slice(originalPosition(text.indexOf('FROM'))), 'FROM "in.c-a".t, memory."in.c-a".u')
  assert.equal(originalPosition(3), 3)
})
