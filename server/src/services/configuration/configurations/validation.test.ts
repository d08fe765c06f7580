import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { shareTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import type { ValidationAnswer } from './validation.ts'

const startProject = shareTestStack()
const HTTP = 'keboola.ex-generic-v2'

async function validate({ request }: TestStack, component: string, json: object, id?: string): Promise<ValidationAnswer> {
  const path = id === undefined ? 'validate' : `${id}/validate`
  const answer = await request('POST', `/v2/storage/components/${component}/configs/${path}`, { json })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<ValidationAnswer>()
}

const places = ({ problems }: ValidationAnswer) => problems.map(({ rule, pointer }) => `${rule} ${pointer}`)
const GOOD = { parameters: { api: { baseUrl: 'https://example.com/' }, config: { jobs: [{ endpoint: 'items' }] } } }

test('a good configuration is valid, and every mistake has its pointer', async () => {
  const stack = await startProject()
  assert.deepEqual(await validate(stack, HTTP, { configuration: GOOD }), { isValid: true, problems: [] })
  const bad = {
    parameters: { api: { baseUrl: 7 }, config: { jobs: [{ endpoint: 1 }] } },
    storage: { input: { tables: [{ source: 'in.c-main.nowhere', limit: 'many' }] }, output: { tables: [{ source: 'a' }, 7] } },
    processors: { after: [{ definition: { component: 'nobody.knows' } }] },
  }
  const answer = await validate(stack, HTTP, { configuration: bad })
  assert.equal(answer.isValid, false)
  assert.deepEqual(places(answer).sort(), [
    'mapping /processors/after/0/definition/component',
    'mapping /storage/input/tables/0/limit',
    'mapping /storage/input/tables/0/source',
    'mapping /storage/output/tables/1',
    'schema /parameters/api/baseUrl',
    'schema /parameters/config/jobs/0/endpoint',
  ])
  assert.deepEqual(
    answer.problems.filter(({ level }) => level === 'warning').map(({ pointer }) => pointer),
    ['/storage/input/tables/0/source', '/processors/after/0/definition/component'],
  )
})

test('what is there, and what contradicts itself, is found in the mapping', async () => {
  const stack = await startProject()
  const { bucket, create } = tableClient(stack)
  await bucket()
  await create('in.c-main', 'orders', 'id\n1\n')
  const tables = [{ source: 'in.c-main.orders', where_column: 'id' }, { source: 'in.c-main.orders' }]
  const storage = {
    input: { tables, files: [{ tags: ['a'], overwrite: false }] },
    output: { tables: [{ source: 'x', destination: 'no' }] },
  }
  assert.deepEqual(places(await validate(stack, HTTP, { configuration: { ...GOOD, storage } })), [
    'mapping /storage/input/tables/0',
    'mapping /storage/input/files/0/overwrite',
    'mapping /storage/output/tables/0/destination',
  ])
  const fine = { input: { tables: tables.slice(1) }, output: { default_bucket: 'in.c-main' } }
  assert.deepEqual(await validate(stack, HTTP, { configuration: { ...GOOD, storage: fine } }), { isValid: true, problems: [] })
})

test('a text that is not a JSON object is one problem, not a refusal', async () => {
  const stack = await startProject()
  for (const configuration of ['{"a":', '[1]', '', '7']) {
    const { problems } = await validate(stack, HTTP, { configuration })
    assert.deepEqual(
      problems.map(({ rule, pointer, level }) => [rule, pointer, level]),
      [['json', '', 'error']],
      configuration,
    )
  }
})

test('flows and schedules are held to their own rules', async () => {
  const stack = await startProject()
  const flow = { phases: [{ id: 'a', next: [{ id: 'n', goto: 'nowhere' }] }], tasks: [] }
  const ofFlow = await validate(stack, 'keboola.flow', { configuration: flow })
  assert.ok(
    ofFlow.problems.some(({ rule, pointer }) => rule === 'flow' && pointer.startsWith('/phases/0/next/0')),
    JSON.stringify(ofFlow),
  )
  const schedule = (cronTab: string, timezone = 'UTC') => ({
    schedule: { cronTab, timezone, state: 'enabled' },
    target: { componentId: HTTP, configurationId: 'shop', mode: 'run' },
  })
  const ofSchedule = async (configuration: object) => places(await validate(stack, 'keboola.scheduler', { configuration }))
  assert.deepEqual(await ofSchedule(schedule('* * *')), ['schedule /schedule/cronTab'])
  assert.deepEqual(await ofSchedule(schedule('0 0 30 2 *')), ['schedule /schedule/cronTab'])
  assert.deepEqual(await ofSchedule(schedule('0 6 * * *', 'Mars/Olympus')), ['schedule /schedule/timezone'])
  assert.deepEqual(await ofSchedule(schedule('0 6 * * *')), ['schedule /target/configurationId'])
  assert.deepEqual(await ofSchedule({ target: {} }), [
    'schema /schedule',
    'schema /target/componentId',
    'schema /target/configurationId',
    'schedule /schedule',
  ])
  await stack.request('POST', `/v2/storage/components/${HTTP}/configs`, { json: { name: 'shop', configurationId: 'shop' } })
  assert.deepEqual(await ofSchedule(schedule('0 6 * * *')), [])
})

test('a saved configuration is checked with its rows, and a proposal in its place', async () => {
  const stack = await startProject()
  const configs = `/v2/storage/components/${HTTP}/configs`
  await stack.request('POST', configs, { json: { name: 'shop', configurationId: 'shop', configuration: GOOD } })
  const row = { parameters: { config: { jobs: [{ endpoint: 7 }] } } }
  await stack.request('POST', `${configs}/shop/rows`, { json: { rowId: 'r1', configuration: row } })
  const saved = await validate(stack, HTTP, {}, 'shop')
  assert.deepEqual(
    saved.problems.map(({ rowId, pointer }) => [rowId, pointer]),
    [['r1', '/parameters/config/jobs/0/endpoint']],
  )
  const proposal = await validate(stack, HTTP, { configuration: { parameters: { api: {} } } }, 'shop')
  assert.deepEqual(
    proposal.problems.map(({ rowId, pointer }) => [rowId, pointer]),
    [
      [null, '/parameters/api/baseUrl'],
      ['r1', '/parameters/config/jobs/0/endpoint'],
    ],
  )
  const versions = (await stack.request('GET', `${configs}/shop/versions`)).json<unknown[]>()
  assert.equal(versions.length, 2, 'a check makes no version')
  assert.deepEqual(places(await validate(stack, HTTP, { configuration: row, isRow: true })), [
    'schema /parameters/config/jobs/0/endpoint',
  ])
})

test('secrets do not come back in problems', async () => {
  const stack = await startProject()
  const configuration = {
    ...GOOD,
    parameters: { ...GOOD.parameters, '#password': { clear: 'hunter2-secret' }, api: { baseUrl: ['hunter2-secret'] } },
  }
  assert.doesNotMatch(JSON.stringify(await validate(stack, HTTP, { configuration })), /hunter2/)
})

test('a component or configuration that is not there is refused', async () => {
  const { request } = await startProject()
  const answers = [
    await request('POST', '/v2/storage/components/nobody.knows/configs/validate', { json: { configuration: {} } }),
    await request('POST', `/v2/storage/components/${HTTP}/configs/nope/validate`, { json: {} }),
  ]
  for (const { status, text } of answers) assert.equal(status, 404, text)
})
