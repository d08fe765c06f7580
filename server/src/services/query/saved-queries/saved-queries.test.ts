import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { onBothStacks } from '../../../../../tests/support/on-both-stacks.ts'
import type { TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const PATH = '/v2/storage/saved-queries'
const SQL = `SELECT id, '$city' AS said FROM "in.c-main"."orders" WHERE city = $city AND CAST(id AS INTEGER) >= $least ORDER BY id -- $nothing`
const PARAMETERS = [
  { name: 'city', type: 'text', default: 'Praha' },
  { name: 'least', type: 'number' },
]

async function withTable(stack: TestStack) {
  const tables = tableClient(stack)
  await tables.bucket('main')
  await tables.create('in.c-main', 'orders', 'id,city\n1,Praha\n2,Brno\n3,Praha\n')
  return tables
}

async function save(stack: TestStack, json: object): Promise<string> {
  const answer = await stack.request('POST', PATH, { json })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<{ id: string }>().id
}

async function resultOf(stack: TestStack, id: string, values: object, more = '', token?: string) {
  const path = `${PATH}/${id}/result?parameters=${encodeURIComponent(JSON.stringify(values))}${more}`
  const answer = await stack.request('GET', path, token === undefined ? {} : { token })
  const cache = answer.headers.get('x-millrace-cache')
  return { status: answer.status, text: answer.text, cache, rows: answer.json<{ rows?: unknown[][] }>().rows }
}

await onBothStacks('saved queries', (startProject) => {
  test('a query is saved with parameters, read, changed and deleted; its name is unique', async () => {
    const stack = await startProject()
    await withTable(stack)
    const id = await save(stack, { name: 'orders of a city', sql: SQL, parameters: PARAMETERS })
    assert.deepEqual((await resultOf(stack, id, { least: 2 })).rows, [['3', '$city']])
    assert.deepEqual((await resultOf(stack, id, { least: 0, city: 'Brno' })).rows, [['2', '$city']])
    assert.deepEqual((await resultOf(stack, id, { least: 0, city: "x' OR '1' = '1" })).rows, [])
    const again = await stack.request('POST', PATH, { json: { name: 'orders of a city', sql: 'SELECT 1' } })
    assert.equal(again.json().code, 'sql.savedQueries.alreadyExists')
    const changed = await stack.request('PUT', `${PATH}/${id}`, { json: { sql: 'SELECT 1 AS n', parameters: [] } })
    assert.equal(changed.status, 200, changed.text)
    assert.deepEqual((await resultOf(stack, id, {})).rows, [[1]])
    assert.equal((await stack.request('GET', PATH)).json<unknown[]>().length, 1)
    assert.equal((await stack.request('DELETE', `${PATH}/${id}`)).status, 204)
    assert.equal((await stack.request('GET', `${PATH}/${id}/result`)).status, 404)
  })

  test('a result is kept until a table that it names has changed', async () => {
    const stack = await startProject()
    const tables = await withTable(stack)
    const id = await save(stack, { name: 'all', sql: 'SELECT count(*) AS n FROM "in.c-main"."orders"' })
    const seen = async (more = '') => {
      const { rows, cache } = await resultOf(stack, id, {}, more)
      return [rows?.[0]?.[0], cache]
    }
    assert.deepEqual(await seen(), [3, 'miss'])
    assert.deepEqual(await seen(), [3, 'hit'])
    assert.deepEqual(await seen('&refresh=true'), [3, 'miss'])
    await tables.load('in.c-main.orders', 'id,city\n1,Praha\n')
    assert.deepEqual(await seen(), [1, 'miss'])
    assert.deepEqual(await seen(), [1, 'hit'])
  })

  test('a result takes the rights of its caller, kept or not, and other projects have none of it', async () => {
    const stack = await startProject()
    const tables = await withTable(stack)
    await tables.bucket('other')
    const id = await save(stack, { name: 'all', sql: 'SELECT count(*) AS n FROM "in.c-main"."orders"' })
    await resultOf(stack, id, {})
    const json = { description: 't', bucketPermissions: { 'in.c-other': 'read' }, expiresIn: 3600 }
    const { token } = (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>()
    assert.equal((await resultOf(stack, id, {}, '', token)).status, 403)
    assert.equal((await stack.request('DELETE', `${PATH}/${id}`, { token })).status, 403)
    const other = await stack.newProject()
    assert.equal((await resultOf(stack, id, {}, '', other.masterToken)).status, 404)
  })

  test('a kept result of the history of a table, or of the list of tables, is for those who may read them', async () => {
    const stack = await startProject()
    const tables = await withTable(stack)
    await tables.bucket('other')
    const json = { description: 't', bucketPermissions: { 'in.c-other': 'read' }, expiresIn: 3600 }
    const { token } = (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>()
    for (const sql of [
      `SELECT count(*) AS n FROM table_as_of('in.c-main.orders', 'now')`,
      `SELECT count(*) AS n FROM "in.c-main"."orders" AS OF 'now'`,
    ]) {
      const id = await save(stack, { name: sql, sql })
      assert.deepEqual((await resultOf(stack, id, {})).rows, [[3]])
      assert.deepEqual((await resultOf(stack, id, {})).cache, 'hit')
      assert.equal((await resultOf(stack, id, {}, '', token)).status, 403, sql)
    }
    for (const sql of ['SHOW TABLES', 'SELECT * FROM "sys.project"."tables"']) {
      const id = await save(stack, { name: sql, sql })
      assert.deepEqual((await resultOf(stack, id, {})).rows, [['in.c-main', 'orders']])
      assert.deepEqual((await resultOf(stack, id, {}, '', token)).rows, [], sql)
    }
  })

  test('what is wrong with a query or a value is refused with a sentence', async () => {
    const stack = await startProject()
    await withTable(stack)
    for (const json of [
      { name: 'x', sql: 'SELECT $nothing' },
      { name: 'x', sql: 'SELECT 1; SELECT 2' },
      { name: 'x', sql: 'SELECT $a', parameters: [{ name: 'a', type: 'number', default: 'many' }] },
      { name: 'x', sql: 'SELECT $a', parameters: [{ name: 'a', type: 'color' }] },
      {
        name: 'x',
        sql: 'SELECT $a',
        parameters: [
          { name: 'a', type: 'text' },
          { name: 'a', type: 'text' },
        ],
      },
    ]) {
      const answer = await stack.request('POST', PATH, { json })
      assert.ok(answer.status >= 400 && answer.status < 500, `${JSON.stringify(json)}: ${answer.status} ${answer.text}`)
    }
    const id = await save(stack, { name: 'orders', sql: SQL, parameters: PARAMETERS })
    for (const [values, reason] of [
      [{}, /least has no value/],
      [{ least: '1 OR 1=1' }, /must be a number/],
      [{ least: 1, other: 1 }, /other is not a parameter/],
      [{ least: { a: 1 } }, /must be a text, a number/],
    ] as const) {
      const { status, text } = await resultOf(stack, id, values)
      assert.equal(status, 400, text)
      assert.match(text, reason)
    }
    assert.equal((await stack.request('GET', `${PATH}/${id}/result?parameters=[`)).status, 400)
    const broken = await save(stack, { name: 'broken', sql: 'SELECT * FROM "in.c-main"."gone"' })
    assert.equal((await resultOf(stack, broken, {})).status, 400)
  })

  test('every change is a version, and a change of an older one is refused', async () => {
    const stack = await startProject()
    const id = await save(stack, { name: 'first', sql: 'SELECT 1 AS n' })
    const put = (json: object) => stack.request('PUT', `${PATH}/${id}`, { json })
    assert.equal((await put({ sql: 'SELECT 2 AS n', version: 1 })).json<{ version: number }>().version, 2)
    assert.equal((await put({ sql: 'SELECT 3 AS n', version: 1 })).json().code, 'sql.savedQueries.changedSince')
    const versions = (await stack.request('GET', `${PATH}/${id}/versions`)).json<{ version: number; sql: string }[]>()
    assert.deepEqual(
      versions.map(({ version, sql }) => [version, sql]),
      [
        [2, 'SELECT 2 AS n'],
        [1, 'SELECT 1 AS n'],
      ],
    )
    const other = await stack.newProject()
    assert.equal((await stack.request('GET', `${PATH}/${id}/versions`, { token: other.masterToken })).status, 404)
  })

  test('a mistake is placed in the text as it was sent, whatever the values and the comments before it are', async () => {
    const stack = await startProject()
    const place = async (sql: string, parameters?: readonly object[]) => {
      const json = { sql, ...(parameters && { parameters }) }
      const answer = await stack.request('POST', '/v2/storage/query', { json })
      assert.equal(answer.status, 400, answer.text)
      const { error, params } = answer.json<{ error: string; params: { position: number; line: number; column: number } }>()
      const [, line, character] = /\(line (\d+), character (\d+)\)$/.exec(error) ?? []
      assert.deepEqual([Number(line), Number(character)], [params.line, params.column], error)
      return sql.slice(params.position).slice(0, 4)
    }
    const text = (name: string, value: string) => ({ name, type: 'text', value })
    assert.equal(await place('-- of $a\nSELECT 1,\n  nope'), 'nope')
    assert.equal(await place('SELECT $a, nope', [text('a', "a long 'value'\nof two lines")]), 'nope')
    assert.equal(await place('SELECT nope, $a', [text('a', 'x')]), 'nope')
    assert.equal(await place('/* $a */ SELECT $a,\n$b AS b, nope', [text('a', 'x'.repeat(50)), text('b', '')]), 'nope')
    assert.equal(await place("SELECT $a::INTEGER, '$a'", [text('a', 'many')]), '::IN')
    const id = await save(stack, { name: 'wrong', sql: 'SELECT $a, nope', parameters: [{ name: 'a', type: 'text' }] })
    const saved = await stack.request('GET', `${PATH}/${id}/result?parameters=${encodeURIComponent('{"a": "much longer"}')}`)
    assert.match(saved.text, /\(line 1, character 12\)/)
  })

  test('the history of the project has who ran what, and what failed; a token with a bucket sees its own', async () => {
    const stack = await startProject()
    const tables = await withTable(stack)
    await tables.bucket('other')
    const run = (json: object, token = stack.masterToken) => stack.request('POST', '/v2/storage/query', { json, token })
    const parameters = [{ name: 'city', type: 'text', value: "Pra'ha" }]
    assert.deepEqual((await run({ sql: 'SELECT $city AS c', parameters })).json<{ rows: unknown }>().rows, [["Pra'ha"]])
    assert.equal((await run({ sql: 'SELECT nope' })).status, 400)
    const json = { description: 'small', bucketPermissions: { 'in.c-other': 'read' }, expiresIn: 3600 }
    const { token } = (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>()
    assert.equal((await run({ sql: 'SELECT 7' }, token)).status, 200)
    const history = async (query = '', as = stack.masterToken) =>
      (await stack.request('GET', `/v2/storage/query/history${query}`, { token: as })).json<
        { id: string; sql: string; error: string | null; creatorToken: { description: string } }[]
      >()
    const all = await until('three queries', async () => {
      const rows = await history()
      return rows.length === 3 && rows
    })
    assert.deepEqual(
      all.map(({ sql, error }) => [sql, error === null]),
      [
        ['SELECT 7', true],
        ['SELECT nope', false],
        ["SELECT 'Pra''ha' AS c", true],
      ],
    )
    assert.equal(all[0]?.creatorToken.description, 'small')
    assert.deepEqual((await history('?q=NOPE')).length, 1)
    assert.deepEqual((await history(`?before=${all[1]!.id}`)).length, 1)
    assert.deepEqual(
      (await history('', token)).map(({ sql }) => sql),
      ['SELECT 7'],
    )
    const other = await stack.newProject()
    assert.deepEqual(await history('', other.masterToken), [])
  })
})
