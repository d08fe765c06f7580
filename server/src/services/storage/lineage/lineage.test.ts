import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { onBothStacks } from '../../../../../tests/support/on-both-stacks.ts'
import type { Job, ShellStack } from '../../../../../tests/support/shell-stack.ts'
import { withTables } from '../../../engines/metadata-db/dialects.ts'
import { keptLoads, usualInterval } from './freshness.ts'

const SQL = 'platform.sql-transformation'
const MINUTE = 60_000

interface Graph {
  readonly nodes: { readonly id: string; readonly name?: string | null; readonly freshness?: { readonly state: string } | null }[]
  readonly edges: {
    readonly from: string
    readonly to: string
    readonly kind: string
    readonly jobId: string | null
    readonly columns: unknown
  }[]
}

interface Judged {
  readonly writer: { readonly configurationId: string } | null
  readonly lastLoad: { readonly jobId: string | null } | null
  readonly failure: { readonly jobId: string } | null
  readonly lateInputs: readonly string[]
}

async function run({ request, wait }: ShellStack, component: string, config: string): Promise<Job> {
  const answer = await request('POST', '/queue/jobs', { json: { component, config, mode: 'run' } })
  assert.equal(answer.status, 201, answer.text)
  return wait(answer.json<Job>())
}

const graphOf = async ({ request }: ShellStack, query: string, token?: string): Promise<Graph> => {
  const answer = await request('GET', `/v2/storage/lineage?${query}`, token === undefined ? {} : { token })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Graph>()
}

/** Orders are read by name and by mapping and become cities; report reads cities and has never run; a flow runs both. */
async function pipeline(stack: ShellStack) {
  const tables = tableClient(stack)
  await tables.bucket('main')
  await tables.bucket('other')
  await tables.create('in.c-main', 'orders', 'id,city\n1,Praha\n')
  await tables.create('in.c-other', 'rates', 'id\n1\n')
  const transform = await stack.configure(SQL, {
    parameters: {
      blocks: [
        { name: 'B', codes: [{ name: 'C', script: ['CREATE TABLE cities AS SELECT city FROM orders, "in.c-other"."rates"'] }] },
      ],
    },
    storage: {
      input: { tables: [{ source: 'in.c-main.orders', destination: 'orders' }] },
      output: { tables: [{ source: 'cities', destination: 'out.c-result.cities' }] },
    },
  })
  await stack.add('test.report', 'true')
  const storage = { input: { tables: [{ source: 'out.c-result.cities', destination: 'c' }] } }
  const report = await stack.configure('test.report', {}, [{ name: 'row', configuration: { storage } }])
  const job = await run(stack, SQL, transform)
  assert.equal(job.status, 'success', JSON.stringify(job.result))
  return { tables, transform, report, job }
}

test('what is usual needs four loads and is not moved by one that came late', () => {
  const at = (...minutes: readonly number[]) => usualInterval(minutes.map((one) => one * MINUTE))
  assert.equal(at(0, 10, 20), null)
  assert.equal(at(0, 10, 20, 30), 10 * MINUTE)
  assert.equal(at(0, 10, 20, 500, 510, 520), 10 * MINUTE)
})

test('a few runs by hand in a row are no habit, loads of every minute for half an hour are', () => {
  const seconds = (...all: readonly number[]) => all.map((one) => one * 1000)
  assert.equal(usualInterval(seconds(0, 6, 12, 20, 25)), null)
  assert.equal(usualInterval(seconds(0, 86_400, 86_406, 86_412, 86_420, 86_425)), null, 'also on the second day')
  let loads: readonly number[] = []
  for (let minute = 0; minute <= 30; minute++) {
    assert.equal(usualInterval(loads), null)
    loads = keptLoads([...loads, minute * MINUTE])
  }
  assert.equal(usualInterval(loads), MINUTE)
  for (let day = 1; day < 100; day++) loads = keptLoads([...loads, day * 1440 * MINUTE])
  assert.equal(loads.length, 12)
})

await onBothStacks('lineage', (startProject) => {
  test('a table is used by what ran and by what is only configured', async () => {
    const stack = await startProject()
    const { transform, report, job } = await pipeline(stack)
    const usedBy = async (id: string) => {
      const answer = await stack.request('GET', `/v2/storage/tables/${id}/used-by`)
      assert.equal(answer.status, 200, answer.text)
      return answer.json<{
        readBy: { configurationId: string; lastJobId: string | null }[]
        writtenBy: { configurationId: string; lastJobId: string }[]
      }>()
    }
    const cities = await usedBy('out.c-result.cities')
    assert.deepEqual(
      cities.writtenBy.map(({ configurationId, lastJobId }) => [configurationId, lastJobId]),
      [[transform, job.id]],
    )
    assert.deepEqual(
      cities.readBy.map(({ configurationId, lastJobId }) => [configurationId, lastJobId]),
      [[report, null]],
    )
    // Named in the statement, not in the mapping.
    const rates = await usedBy('in.c-other.rates')
    assert.deepEqual(
      rates.readBy.map(({ configurationId }) => configurationId),
      [transform],
    )
    assert.equal((await stack.request('GET', '/v2/storage/tables/in.c-main.nothing/used-by')).status, 404)
  })

  test('edges of a transformation say which columns its columns are made of, as far as the token may read them', async () => {
    const stack = await startProject()
    const { transform } = await pipeline(stack)
    const written = async (token?: string) =>
      (await graphOf(stack, 'tableId=out.c-result.cities&direction=upstream', token)).edges.find(({ kind }) => kind === 'write')
    const from = [{ tableId: 'in.c-main.orders', column: 'city' }]
    assert.deepEqual((await written())?.columns, [{ column: 'city', from }])
    const made = await stack.request('POST', '/v2/storage/tokens', {
      json: { description: 'r', bucketPermissions: { 'out.c-result': 'read' }, componentAccess: [SQL] },
    })
    assert.deepEqual((await written(made.json<{ token: string }>().token))?.columns, [{ column: 'city', from: [] }])
    const reads = (await graphOf(stack, 'tableId=in.c-main.orders&direction=downstream')).edges.filter(
      ({ kind }) => kind === 'read',
    )
    assert.deepEqual([...new Set(reads.map(({ columns }) => columns))], [null])
    // A later run without lineage leaves nothing of the earlier one.
    const path = `/v2/storage/components/${SQL}/configs/${transform}`
    const { configuration } = (await stack.request('GET', path)).json<{ configuration: object }>()
    const script = ['CREATE TABLE cities AS SELECT COLUMNS(*) FROM orders']
    const parameters = { blocks: [{ name: 'B', codes: [{ name: 'C', script }] }] }
    const changed = await stack.request('PUT', path, { json: { configuration: { ...configuration, parameters } } })
    assert.equal(changed.status, 200, changed.text)
    assert.equal((await run(stack, SQL, transform)).status, 'success')
    assert.equal((await written())?.columns, null)
  })

  test('the graph goes up, down and as deep as asked, and hides what a token may not read', async () => {
    const stack = await startProject()
    const { transform, report } = await pipeline(stack)
    const [own, reader] = [`configuration:${SQL}/${transform}`, `configuration:test.report/${report}`]
    const ids = async (query: string, token?: string) => (await graphOf(stack, query, token)).nodes.map(({ id }) => id).toSorted()
    const orders = 'table:in.c-main.orders'
    const canonical = (await graphOf(stack, '')).nodes.map(({ id }) => id)
    const transformNode = canonical.find((id) => id.endsWith(`/${transform}`))!
    assert.ok(transformNode, own)
    assert.deepEqual(
      await ids('tableId=in.c-main.orders&direction=downstream'),
      [orders, reader, 'table:out.c-result.cities', transformNode].toSorted(),
    )
    assert.deepEqual(await ids('tableId=in.c-main.orders&direction=downstream&depth=1'), [orders, transformNode].toSorted())
    assert.deepEqual(await ids('tableId=in.c-main.orders&direction=upstream'), [orders])
    assert.deepEqual(
      await ids('tableId=out.c-result.cities&direction=upstream'),
      [orders, 'table:in.c-other.rates', 'table:out.c-result.cities', transformNode].toSorted(),
    )
    const limited = await stack.request('POST', '/v2/storage/tokens', {
      json: { description: 'limited', bucketPermissions: { 'in.c-main': 'read' }, componentAccess: [SQL] },
    })
    assert.equal(limited.status, 201, limited.text)
    const { token } = limited.json<{ token: string }>()
    assert.deepEqual(await ids('', token), [orders, transformNode].toSorted())
    const refused = await stack.request('GET', '/v2/storage/lineage?tableId=in.c-other.rates', { token })
    assert.ok([403, 404].includes(refused.status), refused.text)
    assert.equal((await stack.request('GET', '/v2/storage/lineage?depth=0')).status, 400)
    const exported = await stack.request('GET', '/queue/search/open-lineage')
    const events = exported.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { eventType: string; outputs: { name: string }[] })
    assert.deepEqual(
      events.map(({ eventType, outputs }) => [eventType, ...outputs.map(({ name }) => name)]),
      [['START'], ['COMPLETE', 'out.c-result.cities']],
    )
  })

  test('aliases are steps of the graph, and every configuration that wrote has its name', async () => {
    const stack = await startProject()
    const tables = tableClient(stack)
    await tables.bucket('main')
    await tables.bucket('shown')
    await stack.add('test.writer', 'printf "id\\n1\\n" > "$KBC_DATADIR/out/tables/in.c-main.orders"')
    const writer = await stack.configure('test.writer', { parameters: {} }) // no mapping: only its runs report it
    const job = await run(stack, 'test.writer', writer)
    assert.equal(job.status, 'success', JSON.stringify(job.result))
    const alias = { sourceTable: 'in.c-main.orders', name: 'seen' }
    const made = await stack.request('POST', '/v2/storage/buckets/in.c-shown/table-aliases', { json: alias })
    assert.equal(made.status, 201, made.text)
    const { nodes, edges } = await graphOf(stack, 'tableId=in.c-shown.seen&direction=upstream')
    const node = `configuration:test.writer/${writer}`
    assert.deepEqual(nodes.map(({ id }) => id).toSorted(), [node, 'table:in.c-main.orders', 'table:in.c-shown.seen'])
    assert.equal(typeof nodes.find(({ id }) => id === node)?.name, 'string')
    assert.deepEqual(edges.map(({ from, to, kind }) => [from, to, kind]).toSorted(), [
      [node, 'table:in.c-main.orders', 'write'],
      ['table:in.c-main.orders', 'table:in.c-shown.seen', 'alias'],
    ])
    const usedBy = await stack.request('GET', '/v2/storage/tables/in.c-main.orders/used-by')
    assert.deepEqual(usedBy.json<{ aliases: string[]; readBy: unknown[] }>(), {
      ...usedBy.json<object>(),
      aliases: ['in.c-shown.seen'],
      readBy: [],
    })
    const limited = await stack.request('POST', '/v2/storage/tokens', {
      json: { description: 'limited', bucketPermissions: { 'in.c-main': 'read' } },
    })
    const { token } = limited.json<{ token: string }>()
    assert.deepEqual((await graphOf(stack, '', token)).edges, [])
    await stack.request('DELETE', `/v2/storage/components/test.writer/configs/${writer}`)
    const kept = (await graphOf(stack, '')).nodes.find(({ id }) => id === node)
    assert.equal(typeof kept?.name, 'string', 'it is in the trash, and still wrote the table')
  })

  test('a table that misses its usual load is late once, and is fresh again with the next', async () => {
    const stack = await startProject()
    const { tables } = await pipeline(stack)
    for (const city of ['a', 'b', 'c']) await tables.load('in.c-main.orders', `id,city\n1,${city}\n`)
    const now = Date.now()
    const hours = [4, 3, 2, 1].map((one) => now - one * (60 * MINUTE + 1)) // an odd interval: half of it is no whole number
    await withTables<{ table_freshness: { project_id: number; table_id: string; loads: string } }>(stack.platform.metadata.db)
      .updateTable('table_freshness')
      .set({ loads: JSON.stringify(hours) })
      .where('project_id', '=', stack.projectId)
      .where('table_id', '=', 'in.c-main.orders')
      .execute()
    await tables.load('in.c-main.orders', 'id,city\n1,d\n')
    const { writer, lastLoad, failure, lateInputs, ...fresh } = (
      await stack.request('GET', '/v2/storage/tables/in.c-main.orders/freshness')
    ).json<Judged & { state: string; usualIntervalMs: number }>()
    assert.deepEqual([writer?.configurationId, lastLoad?.jobId, failure, lateInputs], [undefined, null, null, []])
    assert.equal(fresh.state, 'fresh')
    assert.ok(fresh.usualIntervalMs > 0)
    await stack.request('POST', '/v2/storage/buckets/in.c-other/table-aliases', {
      json: { sourceTable: 'in.c-main.orders', name: 'o' },
    })
    for (const id of ['in.c-main.orders', 'in.c-other.o']) {
      const detail = (await stack.request('GET', `/v2/storage/tables/${id}`)).json<{ freshness: object }>()
      assert.deepEqual({ ...detail.freshness, lateByMs: 0 }, { ...fresh, lateByMs: 0 }, `detail of ${id}`)
    }
    const lateEvents = async () =>
      (await stack.request('GET', '/v2/storage/events?limit=200'))
        .json<{ event: string; objectId: string }[]>()
        .filter(({ event }) => event === 'storage.tableLate')
        .map(({ objectId }) => objectId)
    const later = new Date(Date.now() + 180 * MINUTE)
    await stack.platform.lineage.reportLate(later)
    assert.deepEqual(await lateEvents(), ['in.c-main.orders'])
    await stack.platform.lineage.reportLate(later)
    assert.deepEqual(await lateEvents(), ['in.c-main.orders'])
    await tables.load('in.c-main.orders', 'id,city\n1,e\n')
    await stack.platform.lineage.reportLate(later)
    assert.equal((await lateEvents()).length, 2)
  })

  test('tables by lateness tell who writes them and how its last run failed', async () => {
    const stack = await startProject()
    const { transform, job } = await pipeline(stack)
    const broken = { parameters: { blocks: [{ codes: [{ script: ['SELEC'] }] }] }, storage: {} }
    await stack.request('PUT', `/v2/storage/components/${SQL}/configs/${transform}`, { json: { configuration: broken } })
    const ofTable = async () => (await stack.request('GET', '/v2/storage/tables/out.c-result.cities/freshness')).json<Judged>()
    const loaded = await ofTable()
    assert.equal(loaded.writer?.configurationId, transform)
    assert.equal(loaded.lastLoad?.jobId, job.id)
    const failed = await run(stack, SQL, transform)
    assert.deepEqual(await ofTable(), { ...loaded, failure: (await ofTable()).failure })
    assert.equal((await ofTable()).failure?.jobId, failed.id)
    const [first, ...others] = (await stack.request('GET', '/v2/storage/freshness')).json<
      {
        tableId: string
        state: string
        failure: { jobId: string; kind: string } | null
        writer: { configurationId: string } | null
      }[]
    >()
    assert.equal(first?.tableId, 'out.c-result.cities')
    assert.equal(first.writer?.configurationId, transform)
    assert.deepEqual({ ...first.failure, message: undefined }, { jobId: failed.id, kind: 'sql.syntax', message: undefined })
    assert.deepEqual(
      others.map(({ state, failure }) => [state, failure]),
      [
        ['unknown', null],
        ['unknown', null],
      ],
    )
  })
})
