import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { onBothStacks } from '../../../../../tests/support/on-both-stacks.ts'
import type { TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const TABLE = 'in.c-main.orders'
const PATH = `/v2/storage/tables/${TABLE}/history`

interface HistoryAnswer {
  readonly isEnabled: boolean
  readonly isCurrent: boolean
  readonly historyTableId: string | null
  readonly problem: string | null
}

const stateOf = async (stack: TestStack) => (await stack.request('GET', PATH)).json<HistoryAnswer>()
const caughtUp = (stack: TestStack) =>
  until('the history has the current state', async () => {
    const { isCurrent, problem } = await stateOf(stack)
    assert.equal(problem, null)
    return isCurrent
  })

async function load(stack: TestStack, csv: string, incremental: 0 | 1): Promise<void> {
  const tables = tableClient(stack)
  const json = { dataFileId: await tables.upload(csv), incremental }
  await tables.succeed(await stack.request('POST', `/v2/storage/tables/${TABLE}/import-async`, { json }))
}

async function rowsOf(stack: TestStack, sql: string): Promise<unknown[][]> {
  const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ rows: unknown[][] }>().rows
}

await onBothStacks('history of tables', (startProject) => {
  test('versions of rows are kept with the time they are valid, from the switch on until it is off', async () => {
    const stack = await startProject()
    const tables = tableClient(stack)
    await tables.bucket('main')
    await tables.create('in.c-main', 'orders', 'id,state\n1,new\n2,new\n', { primaryKey: 'id' })
    const on = await stack.request('PUT', PATH, { json: { isEnabled: true } })
    assert.equal(on.status, 200, on.text)
    assert.equal(on.json<HistoryAnswer>().historyTableId, `${TABLE}_history`)
    await caughtUp(stack)
    await load(stack, 'id,state\n1,paid\n3,new\n', 1) // one changes, one comes
    await caughtUp(stack)
    await load(stack, 'id,state\n1,paid\n3,new\n', 1) // loaded again, nothing changes
    await load(stack, 'id,state\n1,paid\n3,sent\n', 0) // one goes, one changes
    await caughtUp(stack)
    const versions = `SELECT id, state, valid_to IS NULL AS open, is_current, valid_from < coalesce(valid_to, 'infinity'::TIMESTAMP) AS ordered
      FROM table_history('${TABLE}') ORDER BY id, valid_from`
    assert.deepEqual(await rowsOf(stack, versions), [
      ['1', 'new', false, false, true],
      ['1', 'paid', true, true, true],
      ['2', 'new', false, false, true],
      ['3', 'new', false, false, true],
      ['3', 'sent', true, true, true],
    ])
    // Only what changed was added.
    const added = `SELECT history_change, count(*)::INT FROM "in.c-main"."orders_history" GROUP BY 1 ORDER BY 1`
    assert.deepEqual(await rowsOf(stack, added), [
      ['delete', 1],
      ['insert', 3],
      ['start', 1],
      ['update', 2],
    ])
    assert.equal((await stack.request('PUT', PATH, { json: { isEnabled: false } })).json<HistoryAnswer>().isEnabled, false)
    await load(stack, 'id,state\n9,new\n', 0)
    assert.equal((await rowsOf(stack, `SELECT * FROM table_history('${TABLE}')`)).length, 5)
    // Switched on again: what went meanwhile is not current.
    await stack.request('PUT', PATH, { json: { isEnabled: true } })
    await caughtUp(stack)
    const current = `SELECT id FROM table_history('${TABLE}') WHERE is_current`
    assert.deepEqual(await rowsOf(stack, current), [['9']])
    await load(stack, 'id,state\n', 0)
    await caughtUp(stack)
    assert.deepEqual(await rowsOf(stack, current), [])
  })

  test('a table that keeps its history is not swapped; without the switch it is', async () => {
    const stack = await startProject()
    const tables = tableClient(stack)
    await tables.bucket('main')
    await tables.create('in.c-main', 'orders', 'id,state\n1,new\n', { primaryKey: 'id' })
    await tables.create('in.c-main', 'other', 'id,state\n1,other\n', { primaryKey: 'id' })
    assert.equal((await stack.request('PUT', PATH, { json: { isEnabled: true } })).status, 200)
    await caughtUp(stack)
    const swap = async (from: string, to: string) =>
      tables.finish(await stack.request('POST', `/v2/storage/tables/${from}/swap`, { json: { targetTableId: to } }))
    for (const [from, to] of [
      [TABLE, 'in.c-main.other'],
      ['in.c-main.other', TABLE],
    ] as const) {
      const refused = await swap(from, to)
      assert.equal(refused.status, 'error')
      assert.match(refused.error?.message ?? '', /in\.c-main\.orders has an enabled history and cannot be swapped/)
    }
    assert.deepEqual(await rowsOf(stack, `SELECT state FROM "in.c-main".orders`), [['new']])
    await stack.request('PUT', PATH, { json: { isEnabled: false } })
    assert.equal((await swap(TABLE, 'in.c-main.other')).status, 'success')
    assert.deepEqual(await rowsOf(stack, `SELECT state FROM "in.c-main".orders`), [['other']])
  })

  for (const kind of ['untyped', 'typed'])
    test(`the history of an ${kind} table goes on when a column is added or dropped, and refuses a rename`, async () => {
      const stack = await startProject()
      const tables = tableClient(stack)
      await tables.bucket('main')
      const columns = ['id', 'state', 'note'].map((name) => ({ name, definition: { type: 'STRING', nullable: name !== 'id' } }))
      const made = { name: 'orders', primaryKeysNames: ['id'], columns }
      if (kind === 'typed')
        await tables.succeed(await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', { json: made }))
      else await tables.create('in.c-main', 'orders', 'id,state,note\n', { primaryKey: 'id' })
      await stack.request('PUT', PATH, { json: { isEnabled: true } })
      await load(stack, 'id,state,note\n1,new,a\n', 1)
      await caughtUp(stack)
      const column = `/v2/storage/tables/${TABLE}/columns`
      const refused = await tables.finish(await stack.request('PUT', `${column}/note/definition`, { json: { name: 'remark' } }))
      assert.match(refused.error?.message ?? '', /rename the column here and in in\.c-main\.orders_history/)
      await tables.succeed(await stack.request('DELETE', `${column}/note?async=1`))
      await load(stack, 'id,state\n1,paid\n2,new\n', 1)
      await caughtUp(stack)
      assert.deepEqual(
        await rowsOf(stack, `SELECT id, state, is_current FROM table_history('${TABLE}') ORDER BY id, valid_from`),
        [
          ['1', 'new', false],
          ['1', 'paid', true],
          ['2', 'new', true],
        ],
      )
      await tables.succeed(
        await stack.request('POST', `${column}?async=1`, {
          json: { name: 'city', ...(kind === 'typed' && { basetype: 'STRING' }) },
        }),
      )
      await load(stack, 'id,state,city\n2,new,Brno\n', 1)
      await caughtUp(stack)
      assert.deepEqual(await rowsOf(stack, `SELECT city FROM table_history('${TABLE}') WHERE id = '2' AND is_current`), [
        ['Brno'],
      ])
      // As the error text recommends.
      await stack.request('PUT', PATH, { json: { isEnabled: false } })
      for (const table of [TABLE, `${TABLE}_history`])
        await tables.succeed(
          await stack.request('PUT', `/v2/storage/tables/${table}/columns/city/definition`, { json: { name: 'town' } }),
        )
      await stack.request('PUT', PATH, { json: { isEnabled: true } })
      await caughtUp(stack)
      const towns = `SELECT DISTINCT town FROM table_history('${TABLE}') WHERE id = '2' AND town <> ''`
      assert.deepEqual(await rowsOf(stack, towns), [['Brno']])
    })

  test('typed tables keep their types; a table without a key, an alias and a taken name are refused', async () => {
    const stack = await startProject()
    const tables = tableClient(stack)
    await tables.bucket('main')
    const definition = {
      name: 'orders',
      primaryKeysNames: ['id'],
      columns: [
        { name: 'id', basetype: 'INTEGER', definition: { type: 'INTEGER', nullable: false } },
        { name: 'price', basetype: 'NUMERIC' },
      ],
    }
    await tables.succeed(await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', { json: definition }))
    assert.equal((await stack.request('PUT', PATH, { json: { isEnabled: true } })).status, 200)
    await load(stack, 'id,price\n1,1.5\n2,\n', 1)
    await caughtUp(stack)
    await load(stack, 'id,price\n1,2.5\n', 1)
    await caughtUp(stack)
    const sum = `SELECT count(*)::INT, sum(price)::DOUBLE, typeof(any_value(id)) FROM table_history('${TABLE}')`
    assert.deepEqual((await rowsOf(stack, sum))[0]?.slice(0, 2), [3, 4])

    await tables.create('in.c-main', 'plain', 'a\n1\n')
    const refused = await stack.request('PUT', '/v2/storage/tables/in.c-main.plain/history', { json: { isEnabled: true } })
    assert.equal(refused.json().code, 'storage.history.notPossible')
    await tables.create('in.c-main', 'taken', 'id,valid_to\n1,2\n', { primaryKey: 'id' })
    const taken = await stack.request('PUT', '/v2/storage/tables/in.c-main.taken/history', { json: { isEnabled: true } })
    assert.match(taken.text, /has a column valid_to/)
    const none = await stack.request('POST', '/v2/storage/query', {
      json: { sql: "SELECT * FROM table_history('in.c-main.plain')" },
    })
    assert.equal(none.json().code, 'sql.noHistory')
    const wrong = await stack.request('POST', '/v2/storage/query', {
      json: { sql: "SELECT * FROM table_history('in.c-main.plain', 'now')" },
    })
    assert.equal(wrong.status, 400, wrong.text)
    const reader = await stack.request('POST', '/v2/storage/tokens', { json: { bucketPermissions: { 'in.c-main': 'read' } } })
    const token = reader.json<{ token: string }>().token
    assert.equal((await stack.request('PUT', PATH, { token, json: { isEnabled: false } })).status, 403)
    assert.equal((await stack.request('GET', PATH, { token })).status, 200)
  })
})
