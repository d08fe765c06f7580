// Random calls of tools and routes with a token that only proposes: production stays as it is, nothing is answered with 5xx, no secret
// leaves.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { connectAgent } from '../support/clients/agent-client.ts'
import { contentOf } from '../support/metadata-content.ts'
import { shellStack } from '../support/shell-stack.ts'

const CALLS = process.env.MILLRACE_LONG ? 10_000 : 150
const SEED = Number(process.env.MILLRACE_SEED ?? 46)
const SECRET = 'a-secret-that-never-leaves'

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

/** Tables that a branch and its configurations are kept in, and logs; new rows may appear there. */
/** Rehearsals run jobs, and those write tables: in the branch of the proposal. */
const OF_BRANCHES =
  /^(branch|configuration|proposal|merge_request|change|rehearsal|queue_|flow_|job_|lineage_use|storage_job|bucket|table|object|event|metadata|snapshot|file|data_test|data_contract|proposed_table)/

/** Of these every row names its branch. */
const OWNED = /^(queue_job|rehearsal|storage_job|bucket|lineage_use|data_test|data_contract|proposed_table)/

interface Row {
  readonly branch_id?: number
  readonly [column: string]: unknown
}

/** Without the marks of the search index, which reads refresh. */
const textOf = ({ words_stale: _, ...row }: Row): string => JSON.stringify(row)

/** What reads and calls cost, counted for the project, and the history of its own queries. */
const COUNTERS = /^(agent_|usage|query_run)/

test('random calls with a token that only proposes change nothing outside its branches', { timeout: 3_600_000 }, async (t) => {
  const stack = await shellStack(t)
  await stack.add('test.noop', 'true')
  const configuration = await stack.configure('test.noop', { parameters: { '#password': SECRET, url: 'https://example.com' } }, [
    { name: 'r', configuration: { a: 1 } },
  ])
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'main' } })
  await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', {
    form: { name: 'orders', dataString: 'id,text\n1,one\n' },
  })
  const tested = await stack.request('POST', '/v2/storage/data-tests', {
    json: { tableId: 'in.c-main.orders', name: 'ids', type: 'unique', parameters: { columns: ['id'] } },
  })
  assert.equal(tested.status, 201, tested.text)
  const job = await stack.request('POST', '/queue/jobs', { json: { component: 'test.noop', config: configuration, mode: 'run' } })
  await stack.wait(job.json())
  const made = await stack.request('POST', '/v2/storage/tokens', {
    json: { description: 'agent', canManageBuckets: true, canManageDevBranches: true, canPurgeTrash: true, onlyProposes: true },
  })
  const { token } = made.json<{ token: string }>()
  const { rows: [row] = [] } = (await stack.request('GET', `/v2/storage/components/test.noop/configs/${configuration}`)).json<{
    rows: { id: string }[]
  }>()

  const random = randomOf(SEED)
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!
  const words = [
    'test.noop',
    configuration,
    row!.id,
    'in.c-main.orders',
    'in.c-main',
    'unique',
    'keboola.flow',
    '1',
    '0',
    '',
    'default',
    '../..',
    '😀',
    "'; --",
    'x'.repeat(300),
    SECRET.slice(0, 8),
  ]
  const sqls = [
    'SELECT 1',
    'DROP TABLE "in.c-main"."orders"',
    'DELETE FROM "in.c-main"."orders"',
    'SELECT * FROM "in.c-main"."orders"',
    "ATTACH '/tmp/x'",
  ]
  const objects = [
    {},
    { parameters: { a: 1 } },
    { parameters: { '#p': 'x' } },
    { '/a/b': 1 },
    { schedule: {} },
    { columns: ['id'] },
    { tableId: 'in.c-main.orders', name: 'n', type: 'notNull', parameters: { columns: ['id'] } },
    { isEnabled: false },
    { phases: [], tasks: [] },
  ]
  const anyValue = (name: string, schema: Schema): unknown => {
    if (random() < 0.05) return pick([null, 5, [], {}, true, 'odd'])
    if (name === 'sql') return pick(sqls)
    if (schema.type === 'integer') return pick([0, 1, 2, 50])
    if (schema.type === 'boolean') return random() < 0.5
    if (schema.type === 'array') return Array.from({ length: Math.floor(random() * 3) }, () => anyValue('', schema.items ?? {}))
    if (schema.properties) return argsOf(schema.properties)
    if (schema.type === 'object') return pick(objects)
    if (name === 'component') return pick(['test.noop', 'keboola.flow', 'keboola.scheduler', ...words])
    return pick(words)
  }
  const argsOf = (properties: Readonly<Record<string, Schema>>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(properties).flatMap(([name, schema]) => (random() < 0.8 ? [[name, anyValue(name, schema)]] : [])),
    )

  const before = await contentOf(stack)
  const agent = await connectAgent(t, stack.url, { token, query: '?groups=look,query,run,build,admin' })
  const tools = (await agent.tools()).filter(({ name }) => name !== 'get_job') // waits
  const { paths } = (await stack.request('GET', '/openapi.json')).json<{ paths: Record<string, Record<string, object>> }>()
  const writes = Object.entries(paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path] as const))
    .filter(
      ([method, path]) =>
        method !== 'GET' && /^\/(v2|queue|scheduler|sync-actions|stream\/v1|workspaces|vault|notification)\b/.test(path),
    )
  let refusals = 0
  for (let n = 0; n < CALLS; n++) {
    if (random() < 0.7) {
      const tool = pick(tools)
      const args = argsOf((tool.inputSchema as Schema).properties ?? {})
      const { text, isError, value } = await agent.call(tool.name, args)
      const what = `seed ${SEED}, call ${n}: ${tool.name} ${JSON.stringify(args)}: ${text.slice(0, 500)}`
      if (isError) refusals++
      assert.ok(!isError || Number(value.status ?? 400) < 500, what)
      assert.ok(!text.includes(SECRET) && !text.includes(stack.masterToken), what)
    } else {
      const [method, path] = pick(writes)
      const address = path.replace(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(/omponent/.test(name) ? 'test.noop' : /onfiguration/.test(name) ? configuration : pick(words) || '1'),
      )
      const answer = await stack.request(method, address, { token, json: pick(objects) })
      const what = `seed ${SEED}, call ${n}: ${method} ${address}: ${answer.status} ${answer.text.slice(0, 500)}`
      assert.ok(answer.status < 500 || answer.status === 501, what)
      assert.ok(!answer.text.includes(SECRET) && !answer.text.includes(stack.masterToken), what)
    }
  }
  assert.ok(refusals < CALLS * 0.7, `${refusals} of ${CALLS} calls were refused: too few reach a change`)

  const after = await contentOf(stack)
  const { rows: branches } = await sql<{ branch_id: number }>`select branch_id from proposal`.execute(stack.platform.metadata.db)
  assert.ok(branches.length > 0, 'no call has changed anything')
  const own = new Set(branches.map(({ branch_id }) => branch_id))
  for (const [name, text] of after) {
    if (COUNTERS.test(name)) continue
    const old = (JSON.parse(before.get(name) ?? '[]') as Row[]).map(textOf)
    const now = (JSON.parse(text) as Row[]).map((one) => ({ one, text: textOf(one) }))
    const present = new Set(now.map((one) => one.text))
    assert.deepEqual(
      old.filter((one) => !present.has(one)),
      [],
      `rows of ${name} changed`,
    )
    const known = new Set(old)
    const added = now.filter((one) => !known.has(one.text))
    if (added.length > 0) assert.match(name, OF_BRANCHES, `new rows in ${name}: ${added[0]!.text}`)
    for (const { one } of added)
      if (name === 'configuration' || (one.branch_id !== undefined && one.branch_id !== null && OWNED.test(name)))
        assert.ok(own.has(one.branch_id!), `${name}: ${JSON.stringify(one)}`)
  }
})
