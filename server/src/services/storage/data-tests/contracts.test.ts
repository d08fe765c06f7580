import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type JobAnswer, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { onBothStacks } from '../../../../../tests/support/on-both-stacks.ts'
import { runCli } from '../../../../../tests/support/run-cli.ts'
import type { TestStack } from '../../../../../tests/support/test-stack.ts'

const TABLE = 'in.c-main.orders'
const PATH = `/v2/storage/tables/${TABLE}`

interface ContractAnswer {
  readonly contract: string
  readonly isDraft: boolean
  readonly checks: { readonly name: string; readonly type: string; readonly severity: string }[]
  readonly notChecked: string[]
}

interface Bisected {
  readonly status: string
  readonly states: number
  readonly checks: number
  readonly message: string
  readonly firstBad: { readonly stateId: string; readonly rowsCount: number }
  readonly cause: { readonly event: string; readonly token: string; readonly jobId: string | null } | null
}

const contractOf = (more = '', columns = '') => `apiVersion: v3.0.2
kind: DataContract
id: orders
version: 1.2.0
status: active
schema:
  - name: orders
    physicalName: ${TABLE}
    properties:
      - {name: id, logicalType: integer, required: true, primaryKey: true, primaryKeyPosition: 1}
      - name: state
        logicalType: string
        required: true
        classification: public
        quality: [{rule: invalidValues, validValues: [new, paid], mustBe: 0, severity: warning}]
${columns}
    quality:
      - {rule: rowCount, mustBeGreaterThan: 0}
      - {type: sql, name: no negative ids, query: "SELECT count(*) FROM \${object} WHERE CAST(id AS INTEGER) < 0", mustBe: 0}
      - {type: custom, engine: soda, name: by another engine}
${more}`

async function withTable(stack: TestStack, csv = 'id,state\n1,new\n2,paid\n') {
  const tables = tableClient(stack)
  await tables.bucket('main')
  await tables.create('in.c-main', 'orders', csv, { primaryKey: 'id' })
  return tables
}

async function load(stack: TestStack, csv: string): Promise<JobAnswer> {
  const tables = tableClient(stack)
  return tables.finish(await stack.request('POST', `${PATH}/import-async`, { json: { dataFileId: await tables.upload(csv) } }))
}

const save = (stack: TestStack, contract: string, more: object = {}) =>
  stack.request('PUT', `${PATH}/contract`, { json: { contract, ...more } })

await onBothStacks('data contracts and bisection', (startProject) => {
  test('a contract is imported, checked in every load, exported as it was, and deleted', async () => {
    const stack = await startProject()
    await withTable(stack)
    const draft = (await stack.request('GET', `${PATH}/contract`)).json<ContractAnswer>()
    assert.equal(draft.isDraft, true)
    assert.equal((await save(stack, draft.contract)).status, 200) // what is exported can be imported
    const text = contractOf('slaProperties: [{property: latency, value: 2, unit: d}, {property: retention, value: 3, unit: y}]\n')
    const saved = await save(stack, text)
    assert.equal(saved.status, 200, saved.text)
    const { checks, notChecked } = saved.json<ContractAnswer>()
    assert.deepEqual(
      checks.map(({ type, severity }) => `${type} ${severity}`),
      [
        'schema stop',
        'pattern stop',
        'notNull stop',
        'notNull stop',
        'acceptedValues warn',
        'rowCount stop',
        'sql stop',
        'freshness stop',
      ],
    )
    assert.deepEqual(notChecked, ['quality by another engine', 'slaProperties retention'])
    assert.equal((await stack.request('GET', `${PATH}/contract`)).json<ContractAnswer>().contract, text)
    assert.equal((await load(stack, 'id,state\n3,new\n')).status, 'success')
    const broken = await load(stack, 'id,state\n-1,new\nx,\n')
    assert.equal(broken.error?.code, 'storage.dataTests.failed')
    assert.match(broken.error?.message ?? '', /contract: id is INTEGER/)
    assert.equal((await load(stack, 'id,state\n4,other\n')).status, 'success') // severity warning
    assert.equal((await stack.request('DELETE', `${PATH}/contract`)).status, 204)
    assert.equal((await stack.request('DELETE', `${PATH}/contract`)).json().code, 'storage.contracts.notFound')
    assert.equal((await load(stack, 'id,state\n-1,new\n')).status, 'success')
  })

  test('a contract that contradicts the table is refused, unless it is forced; what is no contract is refused with its reason', async () => {
    const stack = await startProject()
    await withTable(stack)
    const contradicting = contractOf('', '      - {name: price, logicalType: number, required: true}')
    const refused = await save(stack, contradicting)
    assert.equal(refused.status, 422, refused.text)
    assert.equal(refused.json().code, 'storage.contracts.contradicts')
    assert.match(refused.json<{ error: string }>().error, /column price is missing/)
    assert.equal((await save(stack, contradicting, { force: true })).status, 200)
    assert.equal((await load(stack, 'id,state\n1,new\n')).error?.code, 'storage.dataTests.failed')
    assert.equal((await load(stack, 'id,state,price\n1,new,1.5\n')).status, 'success')
    for (const [text, reason] of [
      ['a: [', /not YAML/],
      ['kind: Other', /kind must be DataContract/],
      ['kind: DataContract', /apiVersion/],
      ['{kind: DataContract, apiVersion: v3.0.2, schema: []}', /schema has no object/],
      ['{kind: DataContract, apiVersion: v3.0.2, schema: [{name: orders, properties: [{name: a}, {name: a}]}]}', /a twice/],
      ['{kind: DataContract, apiVersion: v3.0.2, schema: [{name: orders, properties: 1}]}', /properties must be a list/],
      [contractOf().replace('SELECT count(*)', 'SELEC count(*)'), /syntax/i],
      [`kind: DataContract\nx: ${'x'.repeat(262_144)}`, /longer|more than|maxLength|characters/],
    ] as const) {
      const answer = await save(stack, text)
      assert.ok(answer.status === 400 || answer.status === 422, answer.text)
      assert.match(answer.text, reason)
    }
  })

  test('a merge is refused while a table of the branch breaks a contract, and says who uses the table', async () => {
    const stack = await startProject()
    await withTable(stack)
    assert.equal((await save(stack, contractOf())).status, 200)
    const tables = tableClient(stack)
    const made = await tables.succeed(await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'b' } }))
    const id = (made.results as { id: number }).id
    const branch = `/v2/storage/branch/${id}`
    await stack.request('POST', `${branch}/buckets`, { json: { name: 'main', stage: 'in' } })
    assert.deepEqual((await stack.request('GET', `${branch}/contract-breaks`)).json<unknown>(), [])
    // The contract is checked in loads of the branch, too: the table breaks it later, by another change.
    const json = { name: 'orders', dataFileId: await tables.upload('id,state\n1,new\n'), primaryKey: 'id' }
    await tables.succeed(await stack.request('POST', `${branch}/buckets/in.c-main/tables-async`, { json }))
    await tables.succeed(await stack.request('DELETE', `${branch}/tables/${TABLE}/columns/state`))
    const breaks = (await stack.request('GET', `${branch}/contract-breaks`)).json<
      { tableId: string; problems: { message: string }[] }[]
    >()
    assert.deepEqual(
      breaks.map(({ tableId }) => tableId),
      [TABLE],
    )
    assert.match(breaks[0]?.problems[0]?.message ?? '', /column state is missing/)
    const merge = await stack.request('POST', `/v2/storage/dev-branches/${id}/merge`)
    assert.equal(merge.json().code, 'storage.contracts.mergeBreaks', merge.text)
    assert.match(merge.text, /column state is missing/)
    assert.equal((await stack.request('DELETE', `${PATH}/contract`)).status, 204)
    assert.equal((await stack.request('POST', `/v2/storage/dev-branches/${id}/merge`)).status, 202)
  })

  test('bisection finds the load after which a check fails, with at most log2(n) checks', async () => {
    const stack = await startProject()
    await withTable(stack)
    const start = new Date().toISOString()
    const broken = 6
    for (let n = 1; n <= 9; n++) await load(stack, `id,state\n${n},${n >= broken ? '' : 'new'}\n${100 + n},new\n`)
    const sql = `SELECT * FROM "in.c-main"."orders" WHERE state = ''`
    const bisect = async (json: object) =>
      (await tableClient(stack).succeed(await stack.request('POST', `${PATH}/bisect`, { json }))).results as unknown as Bisected
    const found = await bisect({ goodAt: start, sql })
    assert.equal(found.status, 'found')
    assert.equal(found.states, 9)
    assert.ok(found.checks <= Math.ceil(Math.log2(found.states)), `${found.checks} checks`)
    assert.equal(found.cause?.event, 'storage.tableImportDone')
    const rows = await stack.request('POST', '/v2/storage/query', {
      json: { sql: `SELECT count(*) FROM "in.c-main"."orders" WHERE id = '${broken}'` },
    })
    assert.equal(rows.status, 200)
    const [first] = (
      await stack.request('POST', '/v2/storage/query', {
        json: {
          sql: `SELECT id FROM table_as_of('${TABLE}', '${(found.firstBad as unknown as { time: string }).time}') WHERE state = ''`,
        },
      })
    ).json<{ rows: string[][] }>().rows
    assert.deepEqual(first, [String(broken)])
    // By a test, from the command line.
    const made = await stack.request('POST', '/v2/storage/data-tests', {
      json: { tableId: TABLE, name: 'states', type: 'notNull', parameters: { columns: ['state'] } },
    })
    const cli = await runCli(['bisect', TABLE, '--good', start, '--test', made.json<{ id: string }>().id], {
      MILLRACE_URL: stack.url,
      MILLRACE_TOKEN: stack.masterToken,
    })
    assert.equal(cli.code, 0, cli.err)
    assert.match(cli.out, /is broken since .*1 row without a value in state\./)
    assert.match(cli.out, /storage\.tableImportDone/)
    assert.equal((await bisect({ goodAt: start, sql: 'SELECT 1 AS n WHERE false' })).status, 'holds')
    assert.equal((await bisect({ goodAt: start, sql: 'SELECT 1 AS n' })).status, 'failedBefore')
    assert.equal((await bisect({ goodAt: 'now', sql })).status, 'unchanged')
    for (const [json, reason] of [
      [{ goodAt: 'sometime', sql }, /sometime/],
      [{ goodAt: '2001-01-01', sql }, /state/],
      [{ goodAt: start }, /testId or by sql/],
      [{ goodAt: start, sql: 'SELECT nothing' }, /nothing/],
      [{ goodAt: start, testId: '999' }, /999 does not exist/],
    ] as const) {
      const answer = await stack.request('POST', `${PATH}/bisect`, { json })
      assert.ok(answer.status === 400 || answer.status === 404 || answer.status === 422, answer.text)
      assert.match(answer.text, reason)
    }
  })
})
