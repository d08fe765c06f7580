// config.resume: a run that ends early is continued by the next one. What came before is not requested again, and the tables are those of
// a run that nothing happened to.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { EXTRACTOR_PROGRAM } from '../../../tests/support/extractor-program.ts'
import { extract, json, serve } from './harness.ts'

const PAGES = 4
const ORDERS = [1, 2]
/** Not every request is the last one in every run of the tests. */
const STEP = process.env.MILLRACE_LONG ? 1 : 6

/** Users in pages of two, each with orders in two pages; `isDown` decides for each request whether it gets no answer. */
async function startShop(t: TestContext, isDown: (line: string, count: number) => boolean | number) {
  let count = 0
  const server = await serve(t, (request, response, socket) => {
    const down = isDown(request.url ?? '', ++count)
    if (typeof down === 'number') return json(response, { error: 'no' }, down)
    if (down) return void socket.destroy()
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api')
    const page = Number(searchParams.get('page') ?? 1)
    const users = [2 * page - 1, 2 * page].map((id) => ({ id, name: `user ${id}`, tags: ['a', `t${id}`] }))
    const orders = ORDERS.map((n) => ({ order: `${pathname}-${page}-${n}` }))
    if (pathname === '/users') return json(response, page > PAGES ? [] : users)
    return json(response, page > 2 ? [] : orders)
  })
  return server
}

const configuration = (baseUrl: string, config: object = {}, retries = 0) => ({
  api: { baseUrl, pagination: { method: 'pagenum' }, retryConfig: { maxRetries: retries } },
  config: {
    resume: true,
    jobs: [
      {
        endpoint: 'users',
        dataType: 'users',
        children: [{ endpoint: 'users/{id}/orders', dataType: 'orders', placeholders: { id: 'id' } }],
      },
      { endpoint: 'users', dataType: 'again' },
    ],
    ...config,
  },
})

function checkpointFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'extractor-checkpoint-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const MAPPINGS = {
  users: { id: { mapping: { destination: 'id', primaryKey: true } }, name: 'name' },
  orders: { order: 'order', parent_id: { type: 'user', mapping: { destination: 'user' } } },
}

for (const [name, config] of Object.entries({ sequential: {}, parallel: { concurrency: 4 }, mapped: { mappings: MAPPINGS } })) {
  test(`wherever a ${name} run loses its network, the next one continues and makes the same tables`, async (t) => {
    const whole = await startShop(t, () => false)
    const expected = await extract(configuration(whole.url, config))
    assert.equal(expected.error, undefined)
    assert.ok(Object.keys(expected.tables).length >= 3)
    for (let end = 1; end <= whole.seen.length; end += STEP) {
      const checkpointDir = checkpointFolder(t)
      let isBroken = true
      const api = await startShop(t, (_line, count) => isBroken && count >= end)
      const failed = await extract(configuration(api.url, config), { checkpointDir })
      assert.match(failed.error?.message ?? '', /^CURL error/)
      assert.deepEqual(failed.tables, {})
      const asked = api.seen.length
      isBroken = false
      const resumed = await extract(configuration(api.url, config), { checkpointDir })
      assert.equal(resumed.error, undefined)
      assert.deepEqual(resumed.tables, expected.tables)
      // The second job requests the same URLs as the first, hence by number and not by address.
      assert.equal(api.seen.length - asked, whole.seen.length - (end - 1), `ended at request ${end}`)
    }
  })
}

test('a run that continues sees the time at which the first one began', async (t) => {
  const checkpointDir = checkpointFolder(t)
  let isBroken = true
  const api = await serve(t, (request, response, socket) => {
    if (isBroken && request.url?.includes('page=2')) return void socket.destroy()
    json(response, request.url?.includes('page=3') ? [] : [{ id: request.url }])
  })
  const params = { at: { function: 'time' }, since: { time: 'previousStart' }, start: { time: 'currentStart' } }
  const config = configuration(api.url, { jobs: [{ endpoint: 'items', params }] })
  const state = { time: { previousStart: 500 } }
  await extract(config, { checkpointDir, state, now: () => 1_000_000 })
  isBroken = false
  const resumed = await extract(config, { checkpointDir, state, now: () => 5_000_000 })
  assert.equal(resumed.error, undefined)
  assert.match(resumed.log, /Continuing the run that began at 1970-01-01T00:16:40.000Z: 1 response stored/)
  assert.deepEqual(
    api.seen.map((line) => line.replace('GET /items?', '')),
    [1, 2, 2, 3].map((page) => `at=1000&since=500&start=1000&page=${page}`),
  )
  // What changed between the two is read by the run after them.
  assert.deepEqual(resumed.state?.time, { previousStart: 1000 })
})

test('a part that leads nowhere is dropped, and the run after starts from the beginning', async (t) => {
  const checkpointDir = checkpointFolder(t)
  const api = await startShop(t, (line, count) =>
    line.includes('page=3') && line.startsWith('/users?') && count < 17 ? 410 : false,
  )
  const config = configuration(api.url)
  const attempt = async () => {
    const before = api.seen.length
    const { error } = await extract(config, { checkpointDir })
    return { error, asked: api.seen.slice(before) }
  }
  const first = await attempt()
  assert.match(first.error?.message ?? '', /\[410\]/)
  const second = await attempt()
  assert.match(second.error?.message ?? '', /\[410\]/)
  assert.deepEqual(second.asked, ['GET /users?page=3'])
  const third = await attempt()
  assert.equal(third.error, undefined)
  assert.equal(third.asked[0], 'GET /users?page=1')
})

test('an API that is down for longer keeps the part', async (t) => {
  const checkpointDir = checkpointFolder(t)
  let down = true
  const api = await startShop(t, (line) => (down && line === '/users?page=2' ? 503 : false))
  const config = configuration(api.url)
  for (let attempt = 0; attempt < 3; attempt++) {
    const { error } = await extract(config, { checkpointDir })
    assert.match(error?.message ?? '', /\[503\]/)
  }
  down = false
  assert.equal((await extract(config, { checkpointDir })).error, undefined)
  assert.equal(api.seen.filter((line) => line === 'GET /users?page=1').length, 2, 'once for each job')
})

test('another configuration, other credentials or another state start from the beginning', async (t) => {
  for (const change of [
    { config: { userData: { x: 1 } }, state: {} },
    { config: { '#key': 'key-5678' }, state: {} },
    { config: {}, state: { time: { previousStart: 7 } } },
  ]) {
    const checkpointDir = checkpointFolder(t)
    let isBroken = true
    const api = await startShop(t, (line) => isBroken && line.includes('page=3'))
    const failed = await extract(configuration(api.url, { '#key': 'key-1234' }), { checkpointDir, state: {} })
    assert.notEqual(failed.error, undefined)
    isBroken = false
    const before = api.seen.length
    const next = await extract(configuration(api.url, { '#key': 'key-1234', ...change.config }), {
      checkpointDir,
      state: change.state,
    })
    assert.equal(next.error, undefined)
    assert.equal(api.seen[before], 'GET /users?page=1')
    assert.match(next.log, /of another configuration or state/)
    assert.ok(!readFileSync(join(checkpointDir, 'answers')).includes('key-1234'), 'no secret is kept')
  }
})

test('a file that was cut off anywhere is continued from its last whole answer', async (t) => {
  const whole = await startShop(t, () => false)
  const expected = await extract(configuration(whole.url))
  for (const cut of [1, 40, 400, 1200]) {
    const checkpointDir = checkpointFolder(t)
    let isBroken = true
    const api = await startShop(t, (_line, count) => isBroken && count > 12)
    await extract(configuration(api.url), { checkpointDir })
    const file = join(checkpointDir, 'answers')
    truncateSync(file, statSync(file).size - cut)
    isBroken = false
    const resumed = await extract(configuration(api.url), { checkpointDir })
    assert.equal(resumed.error, undefined)
    assert.deepEqual(resumed.tables, expected.tables)
  }
})

test('without a folder the run says that it cannot be continued, and runs', async (t) => {
  const api = await startShop(t, () => false)
  const { error, log } = await extract(configuration(api.url))
  assert.equal(error, undefined)
  assert.match(log, /config\.resume has no effect here/)
})

test('a program that is killed in the middle of a page is continued', async (t) => {
  const whole = await startShop(t, () => false)
  const expected = await extract(configuration(whole.url))
  const checkpointDir = checkpointFolder(t)
  const home = checkpointFolder(t)
  let kill: (() => void) | undefined
  const KILLED_AT = 11
  const api = await startShop(t, (_line, count) => {
    if (count === KILLED_AT) kill?.()
    return count === KILLED_AT
  })
  const start = (name: string) => {
    const dataDir = join(home, name)
    mkdirSync(join(dataDir, 'in'), { recursive: true })
    writeFileSync(join(dataDir, 'config.json'), JSON.stringify(configuration(api.url, {}, 5)))
    const env = { ...process.env, KBC_DATADIR: dataDir, MILLRACE_CHECKPOINT_DIR: checkpointDir }
    const child = spawn(process.execPath, [EXTRACTOR_PROGRAM], { env, stdio: 'ignore' })
    return { dataDir, child, ended: once(child, 'exit') }
  }
  const first = start('first')
  kill = () => first.child.kill('SIGKILL')
  assert.deepEqual(await first.ended, [null, 'SIGKILL'])
  kill = undefined
  const second = start('second')
  assert.deepEqual(await second.ended, [0, null])
  assert.equal(api.seen.length, whole.seen.length + 1, 'only what had no answer was asked for again')
  for (const [table, text] of Object.entries(expected.tables))
    assert.equal(readFileSync(join(second.dataDir, 'out', 'tables', table), 'utf8'), text)
})
