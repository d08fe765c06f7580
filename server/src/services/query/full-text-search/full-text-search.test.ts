import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { newMember, newStackAdmin } from '../../../../../tests/support/clients/person-client.ts'
import { migratedPostgres } from '../../../../../tests/support/fresh-databases.ts'
import { untilSomebodyWaits } from '../../../../../tests/support/lock-waits.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import type { Found } from './full-text-search.ts'

const HTTP = 'keboola.ex-generic-v2'

async function fill({ request }: TestStack): Promise<void> {
  const ok = async (path: string, json: object) => {
    const answer = await request('POST', path, { json })
    assert.ok(answer.status < 300, `${path}: ${answer.text}`)
  }
  await ok('/v2/storage/buckets', { name: 'main', stage: 'in' })
  await ok('/v2/storage/buckets/in.c-main/tables', { name: 'orders', dataString: 'id,Customer_Name\n1,x\n' })
  const configs = `/v2/storage/components/${HTTP}/configs`
  const configuration = {
    parameters: { note: 'sold at 100%_off', '#password': 'zebra-secret', nested: { '#deep': 'zebra-deep' } },
  }
  await ok(configs, { name: 'Shop of Orders', configurationId: 'shop', configuration })
  await ok(`${configs}/shop/rows`, {
    rowId: 'r1',
    name: 'orders row',
    configuration: { parameters: { endpoint: 'warehouse/items' } },
  })
  await ok('/v2/storage/files/prepare', { name: 'orders.csv' })
  await ok('/v2/storage/components/keboola.scheduler/configs', {
    name: 'Daily',
    configurationId: 'daily-orders',
    configuration: {
      schedule: { cronTab: '0 6 * * *', timezone: 'UTC', state: 'enabled' },
      target: { componentId: HTTP, configurationId: 'shop', mode: 'run' },
    },
  })
  await ok('/scheduler/schedules', { configurationId: 'daily-orders' })
  await ok('/queue/jobs', { component: HTTP, config: 'shop', delay: '86400' })
}

for (const database of ['SQLite', 'PostgreSQL'])
  test(`everything is found by a word, with the rights of the token, on ${database}`, async (t) => {
    const fresh = database === 'PostgreSQL' ? await migratedPostgres() : undefined
    const stack = await startTestStack(t, fresh && { databaseUrl: (fresh.location as { url: string }).url })
    if (fresh) t.after(fresh.remove)
    await fill(stack)
    const find = async (query: string, token = stack.masterToken): Promise<Found> => {
      const answer = await stack.request('GET', `/v2/storage/search?${query}`, { token })
      assert.equal(answer.status, 200, answer.text)
      return answer.json<Found>()
    }
    const shown = async (query: string, token?: string) => (await find(query, token)).items.map(({ kind, id }) => `${kind} ${id}`)
    assert.deepEqual((await shown('text=ORDERS')).sort(), [
      'configuration daily-orders',
      'configuration shop',
      'file 2',
      'row r1',
      'schedule 1',
      'table in.c-main.orders',
    ])
    assert.deepEqual(await shown('text=customer'), ['column in.c-main.orders.Customer_Name'])
    assert.deepEqual(await shown('text=warehouse'), ['content r1'])
    assert.deepEqual(await shown('text=100%25_OFF'), ['content shop'], 'signs of patterns mean themselves')
    assert.deepEqual(await shown('text=zebra'), [], 'secrets are not found')
    assert.deepEqual(await shown('text=shop&kinds[]=job'), ['job 1'])
    assert.deepEqual(await shown('text=1&kinds=job'), ['job 1'])
    assert.deepEqual((await find('text=o&limit=1')).items.length <= 8, true)
    assert.deepEqual((await find('text=s&kinds[]=configuration&limit=1')).more, ['configuration'])
    const admin = await newStackAdmin(stack)
    await newMember(stack, admin, { projectId: stack.projectId, role: 'viewer' })
    const { items } = await find('text=VIEWER&kinds=person')
    assert.deepEqual(
      items.map(({ kind, name, email }) => [kind, name, email]),
      [['person', `viewer-${stack.projectId}`, `viewer-${stack.projectId}@example.com`]],
    )
    const { masterToken } = await stack.newProject()
    assert.deepEqual(await find('text=o', masterToken), { items: [], more: [] })
    const limited = await stack.request('POST', '/v2/storage/tokens', { json: { description: 'limited' } })
    assert.deepEqual(await shown('text=o', limited.json<{ token: string }>().token), [])
    await sameAsScan(stack)
    await foundWhileOthersWrite(stack)
    if (fresh) await searchWaitsForChange(stack)
    for (const query of ['', 'text=', 'text=x&kinds[]=nonsense', 'text=x&limit=101'])
      assert.equal((await stack.request('GET', `/v2/storage/search?${query}`)).status, 400, query)
  })

const WORDS = ['Zürich', 'ORDERS', 'a%b', 'x_y', "o'hara", 'ÉTÉ', '1.50', 'back\\slash', 'two words']
const word = fc.constantFrom(...WORDS)
const content = fc.dictionary(
  fc.constantFrom('endpoint', 'Path', '#secret', 'deep'),
  fc.oneof(
    word,
    fc.array(word, { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('Name', '#hidden'), fc.oneof(word, fc.double({ noNaN: true }))),
  ),
)
/** What is done to the configuration or row of a number. */
const step = fc.record({
  on: fc.integer({ min: 0, max: 3 }),
  row: fc.option(fc.integer({ min: 0, max: 2 })),
  what: fc.constantFrom('save', 'save', 'save', 'rename', 'delete', 'rollback', 'restore', 'search'),
  name: word,
  content,
})

interface Listed {
  readonly id: string
  readonly name: string
  readonly configuration: unknown
  readonly rows: readonly Listed[]
}

/** After any changes, what is found is what a look at every name and every value finds. */
async function sameAsScan(stack: TestStack): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { masterToken: token } = await stack.newProject()
      const call = async (method: string, path: string, json?: object) =>
        await stack.request(method, `/v2/storage/components/${HTTP}/configs${path}`, { token, ...(json && { json }) })
      for (const { on, row, what, name, content: configuration } of steps) {
        const id = row === null ? `c-${on}` : `r-${row}`
        const below = row === null ? '' : `/c-${on}/rows`
        const made = { name, configuration, [row === null ? 'configurationId' : 'rowId']: id }
        if (what === 'save' && (await call('PUT', `${below}/${id}`, { name, configuration })).status === 404)
          await call('POST', below, made)
        if (what === 'rename') await call('PUT', `${below}/${id}`, { name })
        if (what === 'delete') await call('DELETE', `${below}/${id}`)
        if (what === 'rollback') await call('POST', `${below}/${id}/versions/1/rollback`)
        if (what === 'restore') await call('POST', `/c-${on}/restore`)
        if (what === 'search') await stack.request('GET', '/v2/storage/search?text=x', { token })
      }
      const listed = (await call('GET', '?include=rows')).json<Listed[]>()
      for (const text of ['zür', 'order', 'a%', '_', "'", 'été', '.5', 'back\\\\s', ' ', 'name', 'endp', 'c-1', 'r-', '"', '#']) {
        const url = `/v2/storage/search?limit=100&kinds[]=configuration&kinds[]=row&kinds[]=content&text=${encodeURIComponent(text)}`
        const { items } = (await stack.request('GET', url, { token })).json<Found>()
        const found = items.map(({ kind, id, configurationId }) => `${kind} ${configurationId ?? ''} ${id}`).sort()
        assert.deepEqual(found, listed.flatMap((one) => scan(one, text)).sort(), text)
      }
    }),
    { numRuns: 4 },
  )
}

function scan(configuration: Listed, text: string): string[] {
  const has = (given: string) => given.toLowerCase().includes(text)
  const holds = ({ configuration: value }: Listed) => namesAndValues(value).some(has)
  const isNamed = ({ id, name }: Listed) => has(id) || has(name)
  const { id, rows } = configuration
  return [
    ...(isNamed(configuration) ? [`configuration  ${id}`] : []),
    ...rows.filter(isNamed).map((row) => `row ${id} ${row.id}`),
    ...(holds(configuration) ? [`content ${id} ${id}`] : []),
    ...rows.filter(holds).map((row) => `content ${id} ${row.id}`),
  ]
}

/** As they are written in JSON. A list has the name that holds it. */
function namesAndValues(value: unknown, name?: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => namesAndValues(item, name))
  if (typeof value !== 'object' || value === null) return [...(name === undefined ? [] : [name]), JSON.stringify(value)]
  return Object.entries(value).flatMap(([key, item]) => (key.startsWith('#') ? [] : namesAndValues(item, key)))
}

/** A search writes down what changed since the last one: more than one batch of it, and beside other searches and further changes. */
async function foundWhileOthersWrite(stack: TestStack): Promise<void> {
  const { masterToken: token } = await stack.newProject()
  const call = async (method: string, path: string, json: object) =>
    assert.ok(
      (await stack.request(method, `/v2/storage/components/${HTTP}/configs${path}`, { token, json })).status < 300,
      `${method} ${path}`,
    )
  const found = async (text: string) =>
    (await stack.request('GET', `/v2/storage/search?limit=100&kinds[]=content&text=${text}`, { token }))
      .json<Found>()
      .items.map(({ id }) => id)
      .sort()
  const ids = Array.from({ length: 60 }, (_, i) => `c-${i}`)
  await Promise.all(
    ids.map((id, i) => call('POST', '', { name: id, configurationId: id, configuration: { at: i === 59 ? 'late' : 'early' } })),
  )
  assert.deepEqual(await found('late'), ['c-59'])
  const busy = ids.slice(0, 5)
  for (let round = 1; round <= 10; round++) {
    const changes = busy.map((id) => call('PUT', `/${id}`, { configuration: { at: `round-${round}.` } }))
    await Promise.all([...changes, found('round'), found('round'), found('round')])
    assert.deepEqual(await found(`round-${round}.`), busy)
    assert.deepEqual(await found(`round-${round - 1}.`), [])
  }
}

/** On PostgreSQL, where a search and a change may look at the same configuration at once. */
async function searchWaitsForChange(stack: TestStack): Promise<void> {
  const { db, inTransaction } = stack.platform.metadata
  const { projectId, masterToken: token } = await stack.newProject()
  await stack.request('POST', `/v2/storage/components/${HTTP}/configs`, { token, json: { name: 'Before' } })
  const found = async (text: string) =>
    (await stack.request('GET', `/v2/storage/search?kinds[]=configuration&text=${text}`, { token })).json<Found>().items.length
  const search = await inTransaction(async (trx) => {
    await sql`update configuration set name = 'After', words_stale = 1 where project_id = ${projectId}`.execute(trx)
    const begun = found('before')
    await untilSomebodyWaits(db, 'the search waits')
    return { begun }
  })
  await search.begun
  assert.deepEqual([await found('before'), await found('after')], [0, 1])
}
