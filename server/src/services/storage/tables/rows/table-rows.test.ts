import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../../tests/support/clients/table-client.ts'
import { shareTestStack, type TestStack } from '../../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../../tests/support/until.ts'
import type { ProfileView } from './table-rows.ts'

const startProject = shareTestStack()

interface Page {
  readonly state: number
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly limit: number
  readonly nextOffset: number | null
  readonly total: number | null
  readonly rows: readonly (readonly (string | null)[])[]
  readonly cut: readonly (readonly number[])[]
}

const ORDERS = 'in.c-main.orders'

async function withOrders(csv: string, fields: Record<string, unknown> = {}) {
  const stack = await startProject()
  const client = tableClient(stack)
  await client.bucket()
  await client.create('in.c-main', 'orders', csv, fields)
  return { ...client, stack, page: pageOf(stack), profile: profileOf(stack) }
}

const pageOf =
  (stack: TestStack) =>
  async (query: Readonly<Record<string, unknown>>): Promise<Page> => {
    const answer = await stack.request('GET', `/v2/storage/tables/${ORDERS}/rows?${queryText(query)}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Page>()
  }

const profileOf =
  (stack: TestStack) =>
  async (query: Readonly<Record<string, unknown>>): Promise<ProfileView> => {
    const answer = await stack.request('GET', `/v2/storage/tables/${ORDERS}/profile?${queryText(query)}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<ProfileView>()
  }

function queryText(query: Readonly<Record<string, unknown>>): string {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    text.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  return text.toString()
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
const csvOf = (header: string, ids: readonly number[], row: (id: number) => string) => `${header}\n${ids.map(row).join('\n')}\n`

test('the pages of a table together are the table, over several loads and deleted rows', async () => {
  const { page, load, stack, succeed } = await withOrders(csvOf('id,kind', numbers(0, 500), (id) => `${id},a`))
  await load(
    ORDERS,
    csvOf('id,kind', numbers(500, 900), (id) => `${id},b`),
    { incremental: true },
  )
  await load(
    ORDERS,
    csvOf('id,kind', numbers(900, 1200), (id) => `${id},c`),
    { incremental: true },
  )
  await succeed(
    await stack.request('DELETE', `/v2/storage/tables/${ORDERS}/rows`, {
      json: { whereColumn: 'id', whereValues: ['3', '700'] },
    }),
  )
  const ids: string[] = []
  let offset: number | null = 0
  while (offset !== null) {
    const found: Page = await page({ offset, limit: 170, columns: 'id' })
    ids.push(...found.rows.map(([id]) => String(id)))
    offset = found.nextOffset
  }
  assert.deepEqual(
    ids,
    numbers(0, 1200)
      .filter((id) => id !== 3 && id !== 700)
      .map(String),
  )
  assert.deepEqual((await page({ offset: 5000 })).rows, [])
  assert.equal((await page({ offset: 5000, count: 1 })).total, 1198)
})

test('rows that compare equal stand on exactly one page', async () => {
  const { page } = await withOrders(csvOf('id,kind', numbers(0, 300), (id) => `${id},${id % 3}`))
  const seen: string[] = []
  for (const offset of numbers(0, 30).map((i) => i * 10)) {
    const { rows } = await page({ offset, limit: 10, orderBy: [{ column: 'kind', order: 'DESC' }] })
    seen.push(...rows.map(([id, kind]) => `${kind}:${id}`))
  }
  assert.equal(new Set(seen).size, 300)
  assert.deepEqual(
    [...seen].sort((a, b) => b.localeCompare(a)).map((key) => key[0]),
    seen.map((key) => key[0]),
  )
})

test('a sort reads texts as numbers or times when it is told to', async () => {
  const { page } = await withOrders('id,amount,at\na,9,2026-03-01\nb,100,2026-1-2\nc,20,2025-12-31 23:59:59\n')
  const order = async (orderBy: object) => (await page({ orderBy: [orderBy] })).rows.map(([id]) => id).join('')
  assert.equal(await order({ column: 'amount' }), 'bca')
  assert.equal(await order({ column: 'amount', dataType: 'INTEGER' }), 'acb')
  assert.equal(await order({ column: 'amount', dataType: 'DOUBLE', order: 'DESC' }), 'bca')
  assert.equal(await order({ column: 'at', dataType: 'TIMESTAMP' }), 'cba')
})

test('every operator filters, and the total counts what matches', async () => {
  const { page } = await withOrders('id,name,at\n1,Anna,2026-01-01\n2,anton,2026-02-01\n3,,2026-03-01\n10,Bob,\n')
  const found = async (...whereFilters: object[]) => (await page({ whereFilters, columns: 'id' })).rows.map(([id]) => id).join()
  assert.equal(await found({ column: 'name', operator: 'startsWith', values: ['AN'] }), '1,2')
  assert.equal(await found({ column: 'name', operator: 'contains', values: ['o'] }), '2,10')
  assert.equal(await found({ column: 'name', operator: 'isEmpty' }), '3')
  assert.equal(await found({ column: 'at', operator: 'isNotEmpty' }), '1,2,3')
  assert.equal(await found({ column: 'id', operator: 'gt', values: ['2'], dataType: 'INTEGER' }), '3,10')
  assert.equal(await found({ column: 'at', operator: 'ge', values: ['2026-02-01'], dataType: 'TIMESTAMP' }), '2,3')
  assert.equal(
    await found({ column: 'name', operator: 'isNotEmpty' }, { column: 'id', operator: 'ne', values: ['1', '2'] }),
    '10',
  )
  const counted = await page({ whereFilters: [{ column: 'id', operator: 'ne', values: ['1'] }], limit: 1, count: 1 })
  assert.deepEqual([counted.total, counted.rows.length, counted.nextOffset], [3, 1, 1])
  assert.equal((await page({ limit: 1 })).total, null)
})

test('a client stays on the state of its first page while the table is loaded again', async () => {
  const { page, load } = await withOrders(csvOf('id', numbers(0, 20), String))
  const first = await page({ limit: 10 })
  await load(
    ORDERS,
    csvOf('id,note', numbers(100, 103), (id) => `${id},x`),
  )
  const second = await page({ limit: 10, offset: 10, state: first.state })
  assert.deepEqual(second.rows.flat(), numbers(10, 20).map(String))
  assert.equal((await page({})).total, 3)
})

test('rows and figures of an earlier time are those of then', async () => {
  const { page, profile, load, stack } = await withOrders('id\n1\n2\n')
  const then = new Date()
  await until('the clock has moved', () => Date.now() > then.getTime())
  await load(ORDERS, 'id\n7\n')
  const timestamp = then.toISOString()
  assert.deepEqual((await page({ timestamp })).rows, [['1'], ['2']])
  assert.deepEqual((await page({ timestamp, whereFilters: [{ column: 'id', values: ['2'] }] })).rows, [['2']])
  assert.equal((await profile({ timestamp })).rows, 2)
  assert.deepEqual((await page({})).rows, [['7']])
  for (const wrong of ['2001-01-01T00:00:00Z', '+1 day', 'some day']) {
    const answer = await stack.request('GET', `/v2/storage/tables/${ORDERS}/rows?${queryText({ timestamp: wrong })}`)
    assert.deepEqual([answer.status, answer.json().code], [400, 'storage.timetravel.invalid'], wrong)
  }
})

test('a state of another table is not found', async () => {
  const { page, create, stack } = await withOrders('id\n1\n')
  await create('in.c-main', 'other', 'id\nsecret\n')
  const other = (await stack.request('GET', '/v2/storage/tables/in.c-main.other/rows')).json<Page>()
  const answer = await stack.request('GET', `/v2/storage/tables/${ORDERS}/rows?state=${other.state}`)
  assert.deepEqual([answer.status, answer.json().code], [404, 'storage.tables.stateNotFound'])
  assert.deepEqual((await page({})).rows, [['1']])
})

test('long values are cut and marked, and a page of a wide table has fewer rows', async () => {
  const columns = numbers(0, 60).map((i) => `c${i}`)
  const row = columns.map((_, i) => (i === 1 ? 'ř'.repeat(3000) : i)).join(',')
  const { page } = await withOrders(`${columns.join(',')}\n${Array(120).fill(row).join('\n')}\n`)
  const short = await page({ limit: 2, cellChars: 10 })
  assert.deepEqual([short.rows[0]?.[1], short.cut], ['ř'.repeat(10), [[0, 1], [1, 1]]]) // biome-ignore format: pairs
  const whole = await page({ limit: 1000, cellChars: 16_384 })
  assert.deepEqual([whole.rows[0]?.[1], whole.cut], ['ř'.repeat(3000), []])
  assert.equal(whole.rows.length, whole.limit)
  assert.ok(whole.limit < 120 && whole.nextOffset === whole.limit, `${whole.limit} rows`)
})

test('wrong questions are refused with the value and what to send', async () => {
  const { stack } = await withOrders('id\n1\n')
  for (const [query, words] of [
    [{ limit: 1001 }, /limit.*1001.*1 to 1000/],
    [{ limit: 0 }, /limit.*1 to 1000/],
    [{ offset: -1 }, /offset/],
    [{ cellChars: 9_000_000 }, /cellChars.*8388608/],
    [{ state: 'x' }, /state/],
    [{ orderBy: [{ column: 'nope' }] }, /nope/],
    [{ whereFilters: [{ column: 'nope', operator: 'isEmpty' }] }, /nope/],
    [{ whereFilters: [{ column: 'id', operator: 'gt', values: ['x'], dataType: 'INTEGER' }] }, /not a valid INTEGER/],
    [{ whereFilters: [{ column: 'id', operator: 'contains', values: [] }] }, /exactly one value/],
  ] as const) {
    const answer = await stack.request('GET', `/v2/storage/tables/${ORDERS}/rows?${queryText(query)}`)
    assert.equal(answer.status, 400, `${JSON.stringify(query)}: ${answer.text}`)
    assert.match(String(answer.json().error), words)
  }
  for (const query of [{ bins: 0 }, { bins: 201 }, { sampleRows: 0 }, { columns: 'nope' }]) {
    const answer = await stack.request('GET', `/v2/storage/tables/${ORDERS}/profile?${queryText(query)}`)
    assert.equal(answer.status, 400, `${JSON.stringify(query)}: ${answer.text}`)
  }
})

test('a profile has the figures and the histogram of numbers, times and texts', async () => {
  const { profile } = await withOrders(
    csvOf(
      'n,at,name,mixed',
      numbers(0, 100),
      (i) => `${i},2026-01-${String(1 + (i % 10)).padStart(2, '0')},${i % 2 ? 'odd' : ''},x${i}`,
    ),
  )
  const { rows, readRows, isSampled, columns } = await profile({ bins: 10 })
  assert.deepEqual([rows, readRows, isSampled], [100, 100, false])
  const [n, at, name, mixed] = columns
  assert.deepEqual([n?.distinct, n?.nulls, n?.histogram?.kind, n?.histogram?.otherRows], [100, 0, 'number', 0])
  assert.deepEqual(
    n?.histogram?.bins.map((bin) => bin.rows),
    Array(10).fill(10),
  )
  assert.deepEqual([n?.histogram?.bins[0]?.from, n?.histogram?.bins[9]?.to], ['0', '99'])
  assert.equal(at?.histogram?.kind, 'time')
  assert.equal(at?.histogram?.bins[0]?.from, '2026-01-01T00:00:00.000Z')
  assert.equal(
    at?.histogram?.bins.reduce((sum, bin) => sum + bin.rows, 0),
    100,
  )
  assert.deepEqual([name?.empty, name?.distinct, name?.histogram], [50, 2, null])
  assert.deepEqual(
    name?.top.find(({ value }) => value === 'odd'),
    { value: 'odd', rows: 50 },
  )
  assert.equal(mixed?.histogram, null)
})

test('least and greatest of numbers kept as text are those of the numbers', async () => {
  const values = ['-0.99', '-499.68', '997.7', '4999.79', '12', '']
  const { profile } = await withOrders(
    csvOf('n,name', numbers(0, values.length), (i) => `${values[i]},${['b', '10', '9', 'a', 'c', 'd'][i]}`),
  )
  const [n, name] = (await profile({})).columns
  assert.deepEqual([n?.min, n?.max], ['-499.68', '4999.79'])
  assert.deepEqual([name?.min, name?.max], ['10', 'd'], 'texts stay texts')
})

test('one column alone shows values of any length that a row may have', async () => {
  const long = 'x'.repeat(20_000)
  const { page, stack } = await withOrders(`id,note\n1,${long}\n`)
  const { rows, cut } = await page({ columns: 'note', cellChars: 8_388_608 })
  assert.deepEqual([rows, cut], [[[long]], []])
  const both = await stack.request('GET', `/v2/storage/tables/${ORDERS}/rows?cellChars=8388608`)
  assert.match(both.text, /cellChars.*16384/)
  assert.equal(both.status, 400)
})

test('a profile of a sample says so and comes near the exact one', async () => {
  const { profile } = await withOrders(csvOf('n', numbers(0, 60_000), (i) => String(i % 100)))
  const exact = await profile({ exact: 1, bins: 4 })
  const sampled = await profile({ sampleRows: 20_000, bins: 4 })
  assert.deepEqual([exact.isSampled, exact.readRows, sampled.rows], [false, 60_000, 60_000])
  assert.ok(sampled.isSampled && sampled.readRows < 60_000 && sampled.readRows > 2000, `${sampled.readRows} rows`)
  const share = (figures: ProfileView) => figures.columns[0]!.histogram!.bins.map(({ rows }) => rows / figures.readRows)
  for (const [i, part] of share(sampled).entries()) assert.ok(Math.abs(part - share(exact)[i]!) < 0.05, `bar ${i}: ${part}`)
})

test('numbers of any size have a histogram', async () => {
  const { profile } = await withOrders('n,same,none\n-1.7e308,5,\n1.7e308,5,\nNaN,5,\n')
  const { columns } = await profile({ columns: 'n,same,none', bins: 2 })
  assert.equal(columns[0]?.histogram, null, 'a third of the values is not finite')
  assert.deepEqual(columns[1]?.histogram, { kind: 'number', otherRows: 0, bins: [{ from: '5', to: '5', rows: 3 }] })
  assert.equal(columns[2]?.histogram, null)
  const { columns: two } = await profile({
    columns: 'n',
    bins: 2,
    whereFilters: [{ column: 'n', operator: 'ne', values: ['NaN'] }],
  })
  assert.deepEqual(
    two[0]?.histogram?.bins.map(({ rows }) => rows),
    [1, 1],
  )
})

test('figures and rows of an alias are of its rows and columns only', async () => {
  const { stack } = await withOrders('id,secret\n1,s1\n2,s2\n3,s3\n')
  const alias = {
    name: 'some',
    sourceTable: ORDERS,
    aliasColumns: ['id'],
    aliasFilter: { column: 'id', values: ['1', '2'] },
  }
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-main/table-aliases', { json: alias })
  assert.equal(made.status, 201, made.text)
  const rows = await stack.request('GET', '/v2/storage/tables/in.c-main.some/rows?count=1')
  assert.deepEqual([rows.json<Page>().rows, rows.json<Page>().total], [[['1'], ['2']], 2])
  const figures = await stack.request('GET', '/v2/storage/tables/in.c-main.some/profile')
  assert.deepEqual([figures.json<ProfileView>().rows, figures.json<ProfileView>().columns.map(({ name }) => name)], [2, ['id']])
})
