import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { longestHold } from '../../../../tests/support/event-loop.ts'
import { hostileSql } from './hostile-sql.fixture.ts'
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

test('statements end at semicolons that are not in strings, names or comments', async () => {
  const sql = `SELECT ';' ; -- ;\n SELECT ";" /* ; */ , E'\\';' ; SELECT $$;$$, $a$ $$ ; $a$;;`
  const texts = await Array.fromAsync(statementsOf(sql), ({ text }) => text)
  assert.deepEqual(await splitStatements(sql), texts)
  assert.deepEqual(texts, [`SELECT ';'`, `SELECT ";" /* ; */ , E'\\';'`, 'SELECT $$;$$, $a$ $$ ; $a$'])
  assert.deepEqual(await splitStatements(' -- nothing\n;;'), [])
  for (const broken of [`SELECT 'a`, 'SELECT "a', 'SELECT /* a', 'SELECT $$a', 'SELECT /* /* */ */ 1'])
    await assert.rejects(splitStatements(broken), { code: 'sql.invalid' }, broken)
})

test('tables of the project are found wherever SQL may name them', async () => {
  const names = async (sql: string) =>
    (await tablesNamed(await singleStatement(sql))).map(({ schema, name }) => `${schema}/${name}`)
  assert.deepEqual(await names('SELECT "in.c-a".t.x FROM "in.c-a".T JOIN "out.c-b" . "u""v" ON true'), [
    'in.c-a/t',
    'in.c-a/T',
    'out.c-b/u"v',
  ])
  assert.deepEqual(await names(`SELECT '"in.c-a".t', "in.c-a" FROM x."y"`), [])
})

test('a catalog stands before tables of the project, and places lead back', async () => {
  const statement = await singleStatement('SELECT "in.c-a".t.x FROM "in.c-a".t, memory."in.c-a".u')
  const { text, originalPosition } = await qualifyTables(statement, 'memory')
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
    const { tokens } = await singleStatement(`SELECT${character}'a'`)
    assert.equal(tokens.text(0) === 'SELECT', await isSpace(character), code.toString(16))
  }
  connection.closeSync()
  const hidden = [
    `SELECT $\u{1f600}$ ' $\u{1f600}$, x FROM read_text('/etc/passwd') AS t(x), (SELECT ' ')`,
    `SELECT 1 AS a\u{1f600}$b$, x FROM read_text('/etc/passwd') AS t(x) -- $b$`,
    `SELECT 1 AS a\u200e$b$, x FROM read_text\u2060('/etc/passwd') AS t(x) -- $b$`,
  ]
  for (const sql of hidden)
    await assert.rejects(
      singleStatement(sql).then((statement) => checkAllowed(statement, 'read')),
      { code: 'sql.notAllowed' },
      sql,
    )
})

test('a statement that names more than a thousand tables is refused before one is looked for', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `"in.c-a".t${i}`).join()
  const named = (sql: string) => singleStatement(sql).then(tablesNamed)
  assert.equal((await named(`SELECT 1 FROM ${names(1000)},${names(1000)}`)).length, 1000)
  await assert.rejects(named(`SELECT 1 FROM ${names(1001)}`), { code: 'sql.tooManyTables' })
})

const ALL = process.env.MILLRACE_LONG !== undefined

/** What every entrance of SQL does with a text in the main process. */
async function read(sql: string): Promise<void> {
  const refused = (error: { readonly code?: string }) => assert.match(error.code ?? String(error), /^sql\./)
  await splitStatements(sql).catch(refused)
  await singleStatement(sql)
    .then(async (statement) => {
      await tablesNamed(statement)
      await checkAllowed(statement, 'write')
      await qualifyTables(statement, 'memory')
    })
    .catch(refused)
}

test('a text of a mebibyte never holds the event loop for long, whatever is in it', async () => {
  // As it comes from a socket: in one piece.
  const texts = hostileSql(ALL).map(([name, make]) => [name, Buffer.from(make(1 << 20)).toString()] as const)
  await read(texts[0]?.[1] ?? '') // compiled
  for (const [name, sql] of texts) {
    const { heldMs, boundMs } = await longestHold(() => read(sql), 50)
    assert.ok(heldMs < boundMs, `${name}: ${heldMs} ms, the bound is ${boundMs} ms`)
  }
})

test('many texts at once hold the event loop hardly longer than one', async () => {
  const texts = hostileSql(ALL).map(([, make]) => Buffer.from(make(1 << 19)).toString())
  await read(texts[0] ?? '')
  const { heldMs, boundMs } = await longestHold(async () => {
    await Promise.all(texts.map(read))
  }, 100) // the first parts of all come in one turn
  assert.ok(heldMs < boundMs, `${heldMs} ms, the bound is ${boundMs} ms`)
})
