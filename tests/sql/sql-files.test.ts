// The statements of *.test in this folder through both interfaces: the direct route and the PostgreSQL port.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { before, test } from 'node:test'
import pg from 'pg'
import { tableClient } from '../support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'

interface Answer {
  readonly rows?: readonly (readonly string[])[]
  readonly error?: string
}
type Ask = (sql: string) => Promise<Answer>

let stack: TestStack
let port: number
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 512, sessions: 2 } })
  port = await stack.platform.sqlPort.listen(0, '127.0.0.1')
  await tableClient(stack).bucket('sql')
})
test.after(() => stop?.())

for (const path of globSync('*.test', { cwd: import.meta.dirname }).toSorted())
  test(path, async (t) => {
    const db = new pg.Client({ host: '127.0.0.1', port, user: 'me', password: stack.masterToken, database: 'default' })
    await db.connect()
    t.after(() => db.end())
    const ways: readonly (readonly [string, Ask])[] = [
      ['the direct route', directly],
      ['the PostgreSQL port', (sql) => overPort(db, sql)],
    ]
    let records = 0
    for (const { kind, rest, lines } of recordsOf(readFileSync(`${import.meta.dirname}/${path}`, 'utf8'))) {
      records++
      if (kind === 'table') await makeTable(rest, lines)
      else
        for (const [name, ask] of ways)
          check(`${basename(path)}, ${name}: ${lines[0]}`, kind, rest, lines, await ask(sqlOf(lines)))
    }
    assert.ok(records > 5, 'a file that was not read proves nothing')
  })

function check(what: string, kind: string, rest: string, lines: readonly string[], answer: Answer): void {
  if (kind === 'error') {
    assert.ok(answer.error?.includes(rest), `${what}: ${JSON.stringify(answer)}`)
    return
  }
  const wanted = lines.slice(lines.indexOf('----') + 1).map((line) => line.split('\t'))
  assert.deepEqual(answer.rows, wanted, `${what}: ${answer.error ?? ''}`)
}

const sqlOf = (lines: readonly string[]): string =>
  lines.slice(0, lines.includes('----') ? lines.indexOf('----') : undefined).join('\n')

function recordsOf(text: string) {
  const blocks = text.split(/\n{2,}/).map((block) => block.split('\n').filter((line) => line !== '' && !line.startsWith('#')))
  return blocks.flatMap(([head, ...lines]) => {
    if (head === undefined) return []
    const [kind = '', ...rest] = head.split(' ')
    assert.ok(['table', 'query', 'error'].includes(kind), `"${head}" begins no record`)
    return [{ kind, rest: rest.join(' '), lines }]
  })
}

/** `city id:INTEGER name:STRING:null`, and its rows. */
async function makeTable(head: string, rows: readonly string[]): Promise<void> {
  const client = tableClient(stack)
  const [name = '', ...columns] = head.split(' ')
  const described = columns.map((column) => {
    const [columnName = '', type = '', isNullable] = column.split(':')
    const [, base = '', length] = /^(\w+)(?:\((.*)\))?$/.exec(type) ?? []
    return { name: columnName, definition: { type: base, nullable: isNullable === 'null', ...(length && { length }) } }
  })
  await client.succeed(
    await stack.request('POST', '/v2/storage/buckets/in.c-sql/tables-definition', {
      json: { name, primaryKeysNames: ['id'], columns: described },
    }),
  )
  await client.load(`in.c-sql.${name}`, [described.map((column) => column.name).join(), ...rows, ''].join('\n'))
}

async function directly(sql: string): Promise<Answer> {
  const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
  if (answer.status !== 200) return { error: answer.json<{ error: string }>().error }
  // Integers beyond 2^53 are numbers in the JSON text and would be rounded by JSON.parse.
  const exact = answer.text.replace(/(?<=[[,])-?\d{16,}(?=[,\]])/g, '"$&"')
  const { rows } = JSON.parse(exact) as { rows: (string | number | boolean | null)[][] }
  return { rows: rows.map((row) => row.map((value) => shown(value === null ? null : String(value)))) }
}

const AS_TEXT = { getTypeParser: () => (value: unknown) => value } as never
const [BOOLEAN, FLOATS] = [16, [700, 701]]
/** Where PostgreSQL writes a value in other words than DuckDB. */
const IN_DUCKDB: Readonly<Record<string, string>> = { NaN: 'nan', Infinity: 'inf', '-Infinity': '-inf' }

async function overPort(db: pg.Client, sql: string): Promise<Answer> {
  try {
    const { rows, fields } = await db.query({ text: sql, rowMode: 'array', types: AS_TEXT })
    const plain = (value: string | null, i: number) => {
      if (value === null) return null
      if (fields[i]?.dataTypeID === BOOLEAN) return String(value === 't')
      if (IN_DUCKDB[value] === undefined && FLOATS.includes(fields[i]?.dataTypeID ?? 0)) return String(Number(value))
      return IN_DUCKDB[value] ?? value
    }
    return { rows: (rows as (string | null)[][]).map((row) => row.map((value, i) => shown(plain(value, i)))) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

function shown(value: string | null): string {
  if (value === null) return 'NULL'
  if (value === '') return '(empty)'
  if (value === 'NULL') return '"NULL"'
  return value.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n')
}
