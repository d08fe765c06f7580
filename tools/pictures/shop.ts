// The project that the pictures of the console show: the sample shop with a flow, a failure, tests, a dashboard, a branch and a proposal.

import assert from 'node:assert/strict'
import { newMember, newStackAdmin, type PersonClient } from '../../tests/support/clients/person-client.ts'
import { send, type TestStack } from '../../tests/support/test-stack.ts'
import { until } from '../../tests/support/until.ts'

const EXTRACTOR = 'keboola.ex-generic-v2'
const SQL = 'keboola.duckdb-transformation'
const FLOW = 'keboola.flow'
const WRITER = 'platform.wr-http'

export interface Shop {
  readonly projectId: number
  readonly person: PersonClient
  readonly failedJobId: string
  readonly branchId: string
  readonly proposalId: string
  readonly dashboardId: string
}

const api = (url: string) => ({
  baseUrl: `${url}/sample/`,
  authentication: {
    type: 'login',
    loginRequest: { endpoint: 'login', method: 'POST', params: { username: 'ada', password: { attr: '#password' } } },
    apiRequest: { headers: { 'X-Sample-Session': { response: 'token' } } },
  },
})

const orders = (url: string, params: object) => ({
  parameters: {
    api: {
      ...api(url),
      pagination: { method: 'response.param', responseParam: 'next', queryParam: 'after', includeParams: true },
    },
    config: {
      '#password': 'lovelace',
      outputBucket: 'shop',
      incrementalOutput: true,
      jobs: [{ endpoint: 'orders', dataField: 'orders', params }],
      mappings: {
        orders: {
          id: { mapping: { destination: 'id', primaryKey: true } },
          created: 'created',
          customerId: 'customer_id',
          status: 'status',
          total: 'total',
        },
      },
    },
  },
})

/** Without a mapping: nested items become a table, and a text among them fails the run. */
const items = (url: string, params: object) => ({
  parameters: {
    api: api(url),
    config: { '#password': 'lovelace', outputBucket: 'items', jobs: [{ endpoint: 'orders', dataField: 'orders', params }] },
  },
})

const customers = (url: string) => ({
  parameters: {
    api: {
      ...api(url),
      pagination: { method: 'pagenum', pageParam: 'page', limitParam: 'limit', limit: 25, firstPageParams: true },
    },
    config: { '#password': 'lovelace', outputBucket: 'shop', jobs: [{ endpoint: 'customers', dataField: 'customers' }] },
  },
})

const REVENUE = `create table revenue as
  select left(created, 13) as hour, count(*) as orders, sum(total::decimal(12, 2)) as revenue
  from orders
  group by all
  order by all`

const TOP = `create table top_customers as
  select c.id, c.name, c.email, count(*) as orders, sum(o.total::decimal(12, 2)) as revenue
  from orders o
  join customers c on c.id = o.customer_id
  group by all
  order by revenue desc
  limit 20`

const transformation = (revenue: string) => ({
  parameters: {
    blocks: [
      { name: 'Revenue', codes: [{ name: 'By hour', script: [revenue] }] },
      { name: 'Customers', codes: [{ name: 'Top customers', script: [TOP] }] },
    ],
  },
  storage: {
    input: {
      tables: [
        { source: 'in.c-shop.orders', destination: 'orders' },
        { source: 'in.c-shop.customers', destination: 'customers' },
      ],
    },
    output: {
      tables: [
        { source: 'revenue', destination: 'out.c-shop.revenue', primary_key: ['hour'] },
        { source: 'top_customers', destination: 'out.c-shop.top_customers', primary_key: ['id'] },
      ],
    },
  },
})

const delivery = (url: string) => ({
  parameters: {
    api: api(url),
    config: { '#password': 'lovelace' },
    requests: {
      upsert: {
        method: 'PUT',
        path: 'contacts/{{id}}',
        fields: ['name', 'email'].map((name) => ({ name, value: `{{${name}}}` })),
      },
    },
    idempotencyHeader: 'Idempotency-Key',
    maxRequestsPerSecond: 15,
  },
  storage: { input: { tables: [{ source: 'out.c-shop.top_customers', changed_since: 'adaptive' }] } },
})

const job = (id: string, phase: string, name: string, componentId: string, configId: string) => ({
  id,
  name,
  phase,
  task: { type: 'job', componentId, configId },
})

const DAILY = {
  phases: [
    { id: 'load', name: 'Load', next: [{ id: 'l', goto: 'sum' }] },
    { id: 'sum', name: 'Sum up', next: [{ id: 's', goto: 'deliver' }] },
    { id: 'deliver', name: 'Deliver' },
  ],
  tasks: [
    job('orders', 'load', 'Orders', EXTRACTOR, 'orders'),
    job('customers', 'load', 'Customers', EXTRACTOR, 'customers'),
    job('revenue', 'sum', 'Revenue', SQL, 'revenue'),
    job('contacts', 'deliver', 'Contacts', WRITER, 'contacts'),
  ],
}

const QUERIES = {
  orders: 'SELECT count(*) AS orders FROM "in.c-shop"."orders"',
  revenue: 'SELECT hour, revenue::double AS revenue FROM "out.c-shop"."revenue" ORDER BY hour',
  states: 'SELECT status, count(*) AS orders FROM "in.c-shop"."orders" GROUP BY ALL ORDER BY ALL',
  best: 'SELECT name, orders, revenue FROM "out.c-shop"."top_customers" ORDER BY revenue::double DESC LIMIT 5',
}

type Ask = <T = { id: string }>(method: string, path: string, json?: unknown, token?: string) => Promise<T>

/** By a storage job, whose result has the id. */
async function newBranch(ask: Ask, name: string, token: string): Promise<string> {
  const { id } = await ask('POST', '/v2/storage/dev-branches', { name }, token)
  const job = () => ask<{ status: string; results: { id: number } }>('GET', `/v2/storage/jobs/${id}`, undefined, token)
  await until('the branch is created', async () => (await job()).status === 'success')
  return String((await job()).results.id)
}

/** Over the API, as a user would; the last run fails on purpose. */
export async function fillShop(stack: TestStack): Promise<Shop> {
  const { projectId, masterToken } = await stack.newProject('Sample shop')
  const admin = await newStackAdmin(stack, 'grace@example.com')
  const person = (await newMember(stack, admin, { projectId, role: 'admin', email: 'Ada@example.com' })).in(projectId)
  await newMember(stack, admin, { projectId, role: 'editor', email: 'Linus@example.com' })
  const ask: Ask = async <T>(method: string, path: string, json?: unknown, token?: string): Promise<T> => {
    const answer = token ? await send(stack.url, method, path, { token, json }) : await person.call(method, path, { json })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.text === '' ? (undefined as T) : answer.json<T>()
  }
  const create = (component: string, id: string, name: string, configuration: object) =>
    ask('POST', `/v2/storage/components/${component}/configs`, { configurationId: id, name, configuration })
  const run = async (component: string, config: string): Promise<string> => {
    const { id } = await ask('POST', '/queue/jobs', { component, config, mode: 'run' })
    await until(`job ${id} ends`, async () => (await ask<{ isFinished: boolean }>('GET', `/queue/jobs/${id}`)).isFinished)
    return id
  }

  await create(EXTRACTOR, 'orders', 'Orders', orders(stack.url, { limit: 50 }))
  await create(EXTRACTOR, 'customers', 'Customers', customers(stack.url))
  await create(EXTRACTOR, 'items', 'Orders with items', items(stack.url, { limit: 50 }))
  await create(SQL, 'revenue', 'Revenue', transformation(REVENUE))
  await create(WRITER, 'contacts', 'Contacts to the CRM', delivery(stack.url))
  await create(FLOW, 'daily', 'Daily revenue', DAILY)
  await run(EXTRACTOR, 'orders')
  const tests = [
    { name: 'every order has a customer', type: 'notNull', parameters: { columns: ['customer_id'] } },
    {
      name: 'known states',
      type: 'acceptedValues',
      parameters: { column: 'status', values: ['new', 'paid', 'shipped'] },
      severity: 'warn',
    },
    { name: 'totals are plausible', type: 'range', parameters: { column: 'total', min: 0, max: 10_000 } },
  ]
  for (const one of tests) await ask('POST', '/v2/storage/data-tests', { tableId: 'in.c-shop.orders', ...one })
  for (let times = 0; times < 3; times++) await run(FLOW, 'daily')

  for (const [id, name, cronTab] of [
    ['morning', 'Every morning', '0 6 * * *'],
    ['workdays', 'Every two hours on workdays', '0 8-18/2 * * 1-5'],
  ] as const) {
    const target = { componentId: FLOW, configurationId: 'daily', mode: 'run' }
    await create('keboola.scheduler', id, name, { schedule: { cronTab, timezone: 'Europe/Prague', state: 'enabled' }, target })
    await ask('POST', '/scheduler/schedules', { configurationId: id }, masterToken)
  }

  const saved = async (name: string, sql: string) =>
    (await ask('POST', '/v2/storage/saved-queries', { name, sql, parameters: [] })).id
  const dashboard = await ask('POST', '/v2/storage/dashboards', {
    name: 'Sales',
    tiles: [
      { id: 'orders', queryId: await saved('Orders', QUERIES.orders), title: 'Orders', type: 'figure', width: 1 },
      {
        id: 'hours',
        queryId: await saved('Revenue by hour', QUERIES.revenue),
        title: 'Revenue by hour',
        type: 'line',
        width: 2,
        x: 'hour',
        y: ['revenue'],
      },
      {
        id: 'states',
        queryId: await saved('Orders by state', QUERIES.states),
        title: 'Orders by state',
        type: 'bar',
        width: 1,
        x: 'status',
        y: ['orders'],
      },
      { id: 'best', queryId: await saved('Best customers', QUERIES.best), title: 'Best customers', type: 'table', width: 2 },
    ],
    filters: [],
  })

  const branchId = await newBranch(ask, 'Larger pages', masterToken)
  await ask('PUT', `/v2/storage/branch/${branchId}/components/${EXTRACTOR}/configs/orders`, {
    configuration: orders(stack.url, { limit: 100 }),
    changeDescription: 'Fetch 100 orders per page',
  })

  const agent = await ask<{ token: string }>(
    'POST',
    '/v2/storage/tokens',
    { description: 'Reporting agent', canManageBuckets: true, onlyProposes: true },
    masterToken,
  )
  const changed = transformation(REVENUE.replace('from orders', "from orders\n  where status <> 'new'"))
  await ask('PUT', `/v2/storage/components/${SQL}/configs/revenue`, { configuration: changed }, agent.token)
  const [proposal] = await ask<{ id: number }[]>('GET', '/v2/storage/proposals')
  await ask('POST', `/v2/storage/proposals/${proposal!.id}/submit`, { title: 'Count paid orders only' }, agent.token)

  await run(EXTRACTOR, 'items')
  await ask('PUT', `/v2/storage/components/${EXTRACTOR}/configs/items`, {
    configuration: items(stack.url, { limit: 50, bad: 'yes' }),
    changeDescription: 'Request the bad record',
  })
  const failedJobId = await run(EXTRACTOR, 'items')
  return { projectId, person, failedJobId, branchId, proposalId: String(proposal!.id), dashboardId: dashboard.id }
}
