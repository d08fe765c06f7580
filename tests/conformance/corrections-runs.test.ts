// What real clients expect of runs, schemas and small lists, by number: the rest of parts D and E. One stack; a project per test.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { schemaProblems } from '../../server/src/model/schema-problems.ts'
import { newProjectClient } from '../support/clients/project-client.ts'
import { type Job, shellStack } from '../support/shell-stack.ts'
import { until } from '../support/until.ts'

type Json = Readonly<Record<string, unknown>>

const EXTRACTOR = 'keboola.ex-generic-v2'

/** An API with a login and one list, and its requests. */
async function startApi(t: TestContext) {
  const asked: { readonly url: URL; readonly headers: Readonly<Record<string, unknown>> }[] = []
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://api')
    asked.push({ url, headers: req.headers })
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(url.pathname === '/login' ? { token: 'abc-123', user: 'ada' } : [{ id: 1 }]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise((resolve) => server.close(resolve)))
  const requestOf = (path: string) => asked.find(({ url }) => url.pathname === path)
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requestOf }
}

test('corrections C, D and E: runs, schemas and small lists', async (t) => {
  const stack = await shellStack(t, { worker: { egressAllow: ['127.0.0.1'] } })

  async function branchClient() {
    const client = await newProjectClient(stack, 'C48 runs')
    const finishedRun = async (component: string, config: string, branchId?: number): Promise<Job> => {
      const json = { component, config, mode: 'run', ...(branchId !== undefined && { branchId: String(branchId) }) }
      const { id } = await client.ok<Job>('POST', '/queue/jobs', json)
      return until(`job ${id} ends`, async () => {
        const job = await client.ok<Job>('GET', `/queue/jobs/${id}`)
        return job.isFinished && job
      })
    }
    return { ...client, finishedRun }
  }

  await t.test(
    'C48: files that runs make belong to their branch, which reads those of the default branch when it has none',
    async () => {
      const { ok, branch, finishedRun } = await branchClient()
      const script = `cd "$KBC_DATADIR"; cat in/files/*_note 2>/dev/null | tail -n 1 > seen; echo "read: $(cat seen)"
      echo "$KBC_BRANCHID" > out/files/note; echo '{"tags":["note"]}' > out/files/note.manifest`
      await stack.add('test.notes', script)
      const files = [{ tags: ['note'], limit: 1, overwrite: true }]
      const configuration = { storage: { input: { files } }, runtime: { safe: true } }
      const { id } = await ok<{ id: string }>('POST', 'components/test.notes/configs', { name: 'One', configuration })
      const notes = async (prefix = '') =>
        (await ok<{ id: number }[]>('GET', `${prefix}files?tags[]=note`)).map((file) => file.id)
      const said = async (branchId?: number) => {
        const job = await finishedRun('test.notes', id, branchId)
        assert.equal(job.status, 'success', JSON.stringify(job.result))
        const prefix = branchId === undefined ? '' : `branch/${branchId}/`
        const events = await ok<{ message: string }[]>('GET', `${prefix}events?runId=${job.id}`)
        return events.find(({ message }) => message.startsWith('read:'))?.message
      }
      assert.equal(await said(), 'read:')
      const main = await notes()
      const dev = await branch('dev')
      const first = await said(dev)
      assert.match(first ?? '', /^read: \S+$/, 'the file of the default branch')
      assert.notEqual(await said(dev), first, 'its own')
      assert.equal((await notes(`branch/${dev}/`)).length, 2)
      assert.deepEqual(await notes(), main)
    },
  )

  await t.test('G13: a configuration with an unknown node at its root does not run', async () => {
    const { ok, finishedRun } = await branchClient()
    await stack.add('test.silent', 'echo started')
    const configuration = { parameters: {}, runtime: {}, foo: { bar: 'baz' } }
    const { id } = await ok<{ id: string }>('POST', 'components/test.silent/configs', { name: 'One', configuration })
    const job = await finishedRun('test.silent', id)
    assert.equal(job.status, 'error')
    assert.match(job.result.message, /^Unrecognized option "foo" under "container"\. Available options are "action", "artifacts"/)
    assert.equal(job.result.error?.type, 'user')
    const events = await ok<{ message: string }[]>('GET', `events?runId=${job.id}`)
    assert.ok(!events.some(({ message }) => message === 'started'))
    await ok('PUT', `components/test.silent/configs/${id}`, { configuration: { parameters: {}, api: {}, config: {} } })
    assert.equal((await finishedRun('test.silent', id)).status, 'success')
  })

  await t.test('Z2: every time of a job, its rows and phases and of failures has the shape of records', async () => {
    const { ok, finishedRun } = await branchClient()
    await stack.add('test.failing', 'echo no >&2; exit 1')
    const { id } = await ok<{ id: string }>('POST', 'components/test.failing/configs', { name: 'One', configuration: {} })
    const job = await finishedRun('test.failing', id)
    const failures = await ok<object>('GET', '/queue/search/failures')
    const times = (value: object) => JSON.stringify(value).match(/"\d{4}-\d\d-\d\dT[^"]*"/g) ?? []
    assert.ok(times(job.result).length >= 4, JSON.stringify(job.result))
    assert.ok(times(failures).length >= 1, JSON.stringify(failures))
    for (const time of [...times(job), ...times(failures)]) assert.match(time, /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000"$/)
  })

  await t.test('D60: flows and orchestrations run their tasks', async () => {
    const { ok, run } = await newProjectClient(stack, 'D60')
    await stack.add('test.task', 'echo done')
    const { id: configId } = await ok<{ id: string }>('POST', 'components/test.task/configs', { name: 'Task' })
    const task = { mode: 'run', componentId: 'test.task', configId }
    const orchestration = {
      phases: [{ id: 'p', name: 'P', dependsOn: [] }],
      tasks: [{ id: 't', name: 'T', phase: 'p', enabled: true, task }],
    }
    const flow = {
      phases: [{ id: 'p', name: 'P', next: [{ id: 'n', goto: null }] }],
      tasks: [{ id: 't', name: 'T', phase: 'p', enabled: true, task: { type: 'job', ...task } }],
    }
    for (const [component, configuration] of [
      ['keboola.orchestrator', orchestration],
      ['keboola.flow', flow],
    ] as const) {
      const { id } = await ok<{ id: string }>('POST', `components/${component}/configs`, { name: 'Flow', configuration })
      const job = await run(component, id)
      assert.equal(job.status, 'success', JSON.stringify(job.result))
    }
    const tasks = await ok<{ status: string }[]>('GET', '/queue/search/jobs?componentId=test.task')
    assert.deepEqual(
      tasks.map(({ status }) => status),
      ['success', 'success'],
    )
  })

  await t.test('D63: schemas take a root without jobs and rows of their own, and describe phases and tasks', async () => {
    const { ok } = await newProjectClient(stack, 'D63')
    type Described = { configurationSchema: object; configurationRowSchema: object; flags: string[] }
    const { configurationSchema, configurationRowSchema, flags } = await ok<Described>('GET', `components/${EXTRACTOR}`)
    const root = { api: { baseUrl: 'https://api.example.com/' } }
    assert.deepEqual(schemaProblems(configurationSchema, root), [])
    assert.deepEqual(schemaProblems(configurationSchema, { ...root, config: { outputBucket: 'in.c-x' } }), [])
    assert.deepEqual(schemaProblems(configurationRowSchema, { config: { jobs: [{ endpoint: 'users' }] } }), [])
    assert.notDeepEqual(schemaProblems(configurationRowSchema, { config: { jobs: 'users' } }), [])
    assert.ok(
      flags.some((flag) => /row/i.test(flag)),
      flags.join(),
    )
    for (const component of ['keboola.orchestrator', 'keboola.flow']) {
      const { configurationSchema: schema } = await ok<{ configurationSchema: { properties: Json } }>(
        'GET',
        `components/${component}`,
      )
      assert.ok(schema.properties.phases && schema.properties.tasks, component)
      assert.notDeepEqual(schemaProblems(schema, { phases: [{}], tasks: [{}] }), [], component)
    }
  })

  await t.test('D66: a link with a signature of version 2 is refused with the version to use', async () => {
    const { ok } = await newProjectClient(stack, 'D66')
    const { uploadParams } = await ok<{ uploadParams: { endpoint: string; bucket: string; key: string } }>(
      'POST',
      'files/prepare',
      { name: 'a.csv' },
    )
    const link = `${uploadParams.endpoint}/${uploadParams.bucket}/${uploadParams.key}?AWSAccessKeyId=a&Expires=1&Signature=b`
    const answer = await fetch(link)
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /<Code>InvalidRequest<\/Code>.*Please use AWS4-HMAC-SHA256/s)
  })

  await t.test('D71: the text of a failure is one error event', async () => {
    const { ok, run } = await newProjectClient(stack, 'D71')
    await stack.add('test.failing', 'echo "no such thing" >&2; exit 1')
    const { id } = await ok<{ id: string }>('POST', 'components/test.failing/configs', { name: 'One' })
    const job = await run('test.failing', id)
    assert.equal(job.status, 'error')
    const events = await ok<{ message: string; type: string }[]>('GET', `events?runId=${job.id}`)
    const failures = events.filter(({ type, message }) => type === 'error' && message.includes('no such thing'))
    assert.equal(failures.length, 1, JSON.stringify(events))
  })

  await t.test('D72: a component without a command is refused with the member that is missing', async () => {
    const { ok, refused } = await newProjectClient(stack, 'D72')
    const folder = join(stack.dataDir, 'components')
    mkdirSync(folder, { recursive: true })
    const definition = { type: 'command', uri: '', tag: '1' }
    const description = { id: 'test.empty', type: 'application', name: 'Empty', hasRun: true, data: { definition } }
    writeFileSync(join(folder, 'test.empty.json'), JSON.stringify(description))
    await stack.known('test.empty')
    const { id } = await ok<{ id: string }>('POST', 'components/test.empty/configs', { name: 'One' })
    const request = { component: 'test.empty', config: id, mode: 'run' }
    await refused(['POST', '/queue/jobs', request], 400, { error: /data\.definition\.command/ })
  })

  await t.test('D79: rows of the component list have no state', async () => {
    const { ok } = await newProjectClient(stack, 'D79')
    const { id } = await ok<{ id: string }>('POST', `components/${EXTRACTOR}/configs`, { name: 'One' })
    await ok('POST', `components/${EXTRACTOR}/configs/${id}/rows`, { rowId: 'r', name: 'Row' })
    await ok('PUT', `components/${EXTRACTOR}/configs/${id}/rows/r/state`, { state: { seen: 1 } })
    const [component] = await ok<{ configurations: { rows: Json[] }[] }[]>('GET', 'components?include=rows')
    const [row] = component?.configurations[0]?.rows ?? []
    assert.deepEqual([row?.id, row && 'state' in row], ['r', false])
  })

  await t.test('D84: a project without subscriptions has an empty list of them', async () => {
    const { ok } = await newProjectClient(stack, 'D84')
    assert.deepEqual(await ok('GET', '/notification/project-subscriptions'), [])
  })

  await t.test('D85: numbers beyond 53 bits and times come back as they are', async () => {
    const { ok, call } = await newProjectClient(stack, 'D85')
    const body = '{"name":"One","configuration":{"id":9223372036854775807,"rate":1.0}}'
    const made = await call('POST', `components/${EXTRACTOR}/configs`, {
      body,
      headers: { 'Content-Type': 'application/json' },
    })
    const { id, created } = made.json<{ id: string; created: string }>()
    const read = await call('GET', `components/${EXTRACTOR}/configs/${id}`)
    assert.match(read.text, /"configuration":\{"id":9223372036854775807,"rate":1\.0\}/)
    const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/
    assert.match(created, STAMP)
    await ok('POST', 'buckets', { name: 'a' })
    await ok('POST', 'buckets/in.c-a/tables', { name: 't', dataString: 'id\n1\n' })
    const table = await ok<{ created: string; lastImportDate: string; bucket: { created: string } }>('GET', 'tables/in.c-a.t')
    for (const time of [table.created, table.lastImportDate, table.bucket.created]) assert.match(time, STAMP)
  })

  await t.test('E95, E96: default options are evaluated, and a literal of apiRequest is sent as written', async (t) => {
    const { ok, run } = await newProjectClient(stack, 'E95')
    const { baseUrl, requestOf } = await startApi(t)
    const defaultOptions = {
      params: { a: { attr: 'who' } },
      headers: { 'X-Who': { function: 'concat', args: ['user-', { attr: 'who' }] } },
    }
    const authentication = {
      type: 'login',
      loginRequest: { endpoint: 'login' },
      apiRequest: { headers: { 'X-Kind': 'token', 'X-Token': { response: 'token' } } },
    }
    const parameters = {
      api: { baseUrl, authentication, http: { defaultOptions } },
      config: { who: 'ada', jobs: [{ endpoint: 'users' }] },
    }
    const { id } = await ok<{ id: string }>('POST', `components/${EXTRACTOR}/configs`, {
      name: 'One',
      configuration: { parameters },
    })
    const job = await run(EXTRACTOR, id)
    assert.equal(job.status, 'success', JSON.stringify(job.result))
    const { url, headers } = requestOf('/users') ?? { url: new URL('http://none'), headers: {} }
    assert.deepEqual([url.search, headers['x-who']], ['?a=ada', 'user-ada'])
    assert.deepEqual([headers['x-kind'], headers['x-token']], ['token', 'abc-123'])
  })
})
