import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestHold } from '../../../../../tests/support/event-loop.ts'
import { hostileSql } from '../../../engines/sql/hostile-sql.fixture.ts'
import { singleStatement } from '../../../engines/sql/statements.ts'
import { portEdits } from './pg-dialect.ts'
import { readCopy } from './port-commands.ts'
import { literalEdits, parameterCount } from './port-parameters.ts'
import { mayName } from './statement-route.ts'
import { applyEdits } from './text-edits.ts'

test('what the port reads in a mebibyte of SQL never holds the event loop for long', async () => {
  const texts: Readonly<Record<string, (bytes: number) => string>> = {
    ...Object.fromEntries(hostileSql(process.env.MILLRACE_LONG !== undefined)),
    parameters: (bytes) => `select $1${',$1'.repeat((bytes - 9) / 3)}`,
    'bytea literals': (bytes) => `select 1${`,'a'::bytea`.repeat((bytes - 8) / 11)}`,
    'functions of PostgreSQL': (bytes) => `select 1${',to_jsonb(1)'.repeat((bytes - 8) / 12)}`,
    'names of the database': (bytes) => `select 1${',default.a.b'.repeat((bytes - 8) / 12)}`,
    locks: (bytes) => `select 1 ${'for update of a,b skip locked '.repeat((bytes - 9) / 30)}`,
    'a lock of many tables': (bytes) => `select 1 for update of a${',a'.repeat((bytes - 24) / 2)}`,
    'a copy of many words': (bytes) => `copy ${'a '.repeat((bytes - 5) / 2)}`,
    'a copy with many options': (bytes) => `copy a to stdout ${'with '.repeat((bytes - 17) / 5)}`,
  }
  const ignored = () => {}
  const read = async (sql: string) => {
    const statement = await singleStatement(sql).catch(ignored)
    if (!statement) return
    await mayName(statement, [])
    await readCopy(statement).catch(ignored)
    const edits = await portEdits(statement, 'default', false)
    const literals = await literalEdits(statement, [], () => 0).catch(() => [])
    await applyEdits(statement.text, [...literals, ...edits])
  }
  for (const [name, make] of Object.entries(texts)) {
    const sql = Buffer.from(make(1 << 20)).toString()
    const { heldMs, boundMs } = await longestHold(() => read(sql), 50)
    assert.ok(heldMs < boundMs, `${name}: ${heldMs} ms, the bound is ${boundMs} ms`)
  }
})

test('parameters are counted by their numbers, and their uses are limited', async () => {
  const count = async (sql: string) => parameterCount(await singleStatement(sql))
  assert.equal(await count(`SELECT $2, '$9', "$8", $1 + $2`), 2)
  assert.equal(await count('SELECT 1'), 0)
  assert.equal(await count(`SELECT [${'$1,'.repeat(65_534)}$1]`), 1)
  await assert.rejects(count(`SELECT [${'$1,'.repeat(65_535)}$1]`), { code: '54000' })
  await assert.rejects(count('SELECT $65536'), { code: '54000' })
})
