import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { cpuMs } from '../../../../tests/support/cpu-time.ts'
import { HOSTILE_SQL } from './hostile-sql.fixture.ts'
import {
  checkAllowed,
  qualifyTables,
  REFUSED_FUNCTIONS,
  singleStatement,
  splitStatements,
  statementsOf,
  TABLE_FUNCTIONS,
  tablesNamed,
} from './statements.ts'

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
  const sql = `SELECT ';' ; -- ;\n SELECT ";" /* ; */ , E'\\';' ; SELECT $$;$$, $a$ $$ ; $a$;;`
  const texts = [...statementsOf(sql)].map(({ text }) => text)
  assert.deepEqual(splitStatements(sql), texts)
  assert.deepEqual(texts, [`SELECT ';'`, `SELECT ";" /* ; */ , E'\\';'`, 'SELECT $$;$$, $a$ $$ ; $a$'])
  assert.deepEqual(splitStatements(' -- nothing\n;;'), [])
  for (const broken of [`SELECT 'a`, 'SELECT "a', 'SELECT /* a', 'SELECT $$a', 'SELECT /* /* */ */ 1'])
    assert.throws(() => splitStatements(broken), { code: 'sql.invalid' }, broken)
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

test('a text is cut as DuckDB cuts it: its spaces, and names and tags of any other character', async () => {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const isSpace = async (character: string) =>
    connection.run(`SELECT${character}'a'`).then(
      () => true,
      () => false,
    )
  const candidates = [0xa0, 0x1680, 0x180e, ...Array.from({ length: 0x70 }, (_, i) => 0x2000 + i), 0x3000, 0xfeff, 0xe9]
  for (const code of candidates) {
    const character = String.fromCodePoint(code)
    const { tokens } = singleStatement(`SELECT${character}'a'`)
    assert.equal(tokens.text(0) === 'SELECT', await isSpace(character), code.toString(16))
  }
  connection.closeSync()
  const hidden = [
    `SELECT $\u{1f600}$ ' $\u{1f600}$, x FROM read_text('/etc/passwd') AS t(x), (SELECT ' ')`,
    `SELECT 1 AS a\u{1f600}$b$, x FROM read_text('/etc/passwd') AS t(x) -- $b$`,
    `SELECT 1 AS a\u200e$b$, x FROM read_text\u2060('/etc/passwd') AS t(x) -- $b$`,
  ]
  for (const sql of hidden) assert.throws(() => checkAllowed(singleStatement(sql), 'read'), { code: 'sql.notAllowed' }, sql)
})

test('a statement that names more than a thousand tables is refused before one is looked for', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `"in.c-a".t${i}`).join()
  assert.equal(tablesNamed(singleStatement(`SELECT 1 FROM ${names(1000)},${names(1000)}`)).length, 1000)
  assert.throws(() => tablesNamed(singleStatement(`SELECT 1 FROM ${names(1001)}`)), { code: 'sql.tooManyTables' })
})

/** What every entrance of SQL does with a text in the main process. */
function read(sql: string): void {
  try {
    const statement = singleStatement(sql)
    tablesNamed(statement)
    checkAllowed(statement, 'write')
  } catch (error) {
    assert.match((error as { code: string }).code, /^sql\./)
  }
}

const MEBIBYTE = 1 << 20

test('a text of a mebibyte takes milliseconds to read, whatever is in it', () => {
  const flat = (make: (bytes: number) => string, bytes: number) => Buffer.from(make(bytes)).toString()
  // What this machine needs to look at every character once, beside whatever else runs on it.
  const plain = flat((bytes) => 'a b '.repeat(bytes / 4), MEBIBYTE)
  const once = cpuMs(() => plain.match(/\w/g)?.length)
  for (const [name, make] of Object.entries(HOSTILE_SQL)) {
    const [whole, eighth] = [flat(make, MEBIBYTE), flat(make, MEBIBYTE / 8)]
    const [ms, ofEighth] = [cpuMs(() => read(whole)), cpuMs(() => read(eighth))]
    assert.ok(ms < Math.max(20 * ofEighth, 5), `${name}: ${ms} ms, an eighth of it ${ofEighth} ms`)
    // Well below 50 ms on a machine that has nothing else to do; another program may make it several times that.
    assert.ok(ms < Math.max(150, 10 * once), `${name}: ${ms} ms, a regular expression over as many characters ${once} ms`)
  }
})
