// Templates over HTTP: those that come with the stack are used and run against its sample shop.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { startGitServer } from '../../../../../tests/support/servers/git-server.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../../../tests/support/shell-stack.ts'

const folder = await mkdtemp(join(tmpdir(), 'millrace-templates-'))
const git = await startGitServer({ after })
const startProject = shareShellStack({
  templateFolders: [folder, join(folder, 'lost')],
  templateRepositories: [{ url: git.url, ref: '' }],
  worker: { egressAllow: ['127.0.0.1'] },
})
const REPOSITORY = '/templates/v1/repositories/millrace/templates'
const OWN = '/templates/v1/repositories/own/templates'
const SECRET = 'lovelace'
const SOURCE = { id: 'source', inputs: [{ id: 'password', value: SECRET }] }

interface Task {
  readonly id: string
  readonly status: string
  readonly outputs: {
    readonly instanceId: string
    readonly configId: string
    readonly configurations: readonly { readonly componentId: string; readonly configurationId: string }[]
    readonly changes: readonly { readonly action: string; readonly name: string; readonly changes: readonly object[] }[]
  }
}

/** A template of the test, as files. */
function write(id: string, version: string, manifest: object, head: object = { name: id, description: 'of the test' }): void {
  mkdirSync(join(folder, id, version), { recursive: true })
  writeFileSync(join(folder, 'repository.json'), JSON.stringify({ name: 'own', author: { name: 'Test' } }))
  writeFileSync(join(folder, id, 'template.json'), JSON.stringify(head))
  writeFileSync(join(folder, id, version, 'manifest.json'), JSON.stringify({ description: version, stepGroups: [], ...manifest }))
}

async function use(stack: ShellStack, address: string, steps: readonly object[], name = 'Shop'): Promise<Task> {
  const answer = await stack.request('POST', `${address}/default/use`, { json: { name, steps } })
  assert.equal(answer.status, 202, answer.text)
  return answer.json<Task & Record<string, unknown>>()
}

async function run(stack: ShellStack, { outputs }: Task): Promise<Job> {
  const { componentId, configurationId } = outputs.configurations.find((one) => one.configurationId === outputs.configId)!
  const job = await stack.request('POST', '/queue/jobs', { json: { component: componentId, config: configurationId } })
  return stack.wait(job.json<Job>())
}

const configurationCount = async (stack: ShellStack): Promise<number> =>
  (await stack.request('GET', '/v2/storage/components?include=configuration'))
    .json<{ configurations: unknown[] }[]>()
    .reduce((sum, { configurations }) => sum + configurations.length, 0)

test('repositories, templates, versions and inputs are listed and described', async () => {
  const stack = await startProject()
  const { repositories } = (await stack.request('GET', '/templates/v1/repositories')).json<{ repositories: { name: string }[] }>()
  assert.equal(repositories[0]?.name, 'millrace')
  const list = (await stack.request('GET', REPOSITORY)).json<{ templates: { id: string; components: string[] }[] }>()
  assert.deepEqual(
    list.templates.map(({ id }) => id),
    [
      ...['folder-files', 'incremental-api', 'login-api', 'paged-api', 'shop-export', 'shop-pipeline', 'table-summary'],
      ...['table-to-api', 'table-to-csv', 'table-to-postgresql', 'table-to-slack'],
    ],
  )
  const sql = (await stack.request('GET', `${REPOSITORY}?filter=keboola.duckdb-transformation`)).json<{ templates: unknown[] }>()
  assert.equal(sql.templates.length, 3)
  const detail = (await stack.request('GET', `${REPOSITORY}/paged-api/1.0.0`)).json()
  assert.match(String(detail.readme), /page by page/)
  assert.equal((await stack.request('GET', `${REPOSITORY}/paged-api/default/inputs`)).status, 200)
  for (const path of ['/templates/v1/repositories/no', `${REPOSITORY}/no`, `${REPOSITORY}/paged-api/9`, `${REPOSITORY}/..%2F..`])
    assert.equal((await stack.request('GET', path)).status, 404, path)
  assert.equal((await stack.request('GET', '/templates/health-check', { token: null })).text, 'OK\n')
})

test('the templates that come with the stack work with its sample shop', async () => {
  const stack = await startProject()
  const limited = { ...SOURCE, inputs: [...SOURCE.inputs, { id: 'limit', value: 100 }] }
  for (const [id, steps] of [
    ['paged-api', [limited]],
    ['login-api', [SOURCE]],
    ['incremental-api', [SOURCE]],
  ] as const) {
    const task = await use(stack, `${REPOSITORY}/${id}`, steps)
    const job = await run(stack, task)
    assert.equal(job.status, 'success', `${id}: ${JSON.stringify(job.result)}`)
  }
  const pipeline = await use(stack, `${REPOSITORY}/shop-pipeline`, [SOURCE, { id: 'schedule', inputs: [] }])
  const flow = await run(stack, pipeline)
  assert.equal(flow.status, 'success', JSON.stringify(flow.result))
  const { instanceId } = pipeline.outputs
  const report = await stack.request('GET', `/v2/storage/tables/out.c-template-${instanceId}.report/data-preview`)
  assert.match(report.text, /^"customer","orders","revenue"/)
  const [schedule] = (await stack.request('GET', '/scheduler/schedules')).json<{ nextExecutionTime: string | null }[]>()
  assert.ok(schedule?.nextExecutionTime, 'the schedule is active')
  const summary = await use(stack, `${REPOSITORY}/table-summary`, [
    {
      id: 'source',
      inputs: [
        { id: 'table', value: `in.c-template-${instanceId}.orders` },
        { id: 'measure', value: 'sum' },
      ],
    },
  ])
  const job = await run(stack, summary)
  assert.equal(job.status, 'success', JSON.stringify(job.result))

  const everything = await stack.request('GET', '/v2/storage/components?include=configuration,rows')
  assert.doesNotMatch(everything.text, new RegExp(SECRET), 'secrets are ciphers')
  const preview = await stack.request('POST', `${REPOSITORY}/paged-api/default/preview`, { json: { name: 'x', steps: [SOURCE] } })
  assert.equal(preview.status, 202)
  assert.doesNotMatch(preview.text, new RegExp(SECRET))
  assert.match(preview.text, /"#password":"\*\*\*"/)
  const read = await stack.request('GET', `/templates/v1/tasks/${preview.json().id}`)
  assert.equal(read.text, preview.text)
})

test('inputs are checked step by step, and nothing is made of wrong ones', async () => {
  const stack = await startProject()
  const validate = async (steps: readonly object[]) =>
    stack.request('POST', `${REPOSITORY}/paged-api/default/validate`, { json: { steps } })
  const good = (await validate([SOURCE])).json()
  assert.equal(good.valid, true)
  const limit = (value: unknown) => [{ id: 'source', inputs: [...SOURCE.inputs, { id: 'limit', value }] }]
  for (const [steps, sentence] of [
    [[], /All steps must be filled in/],
    [[{ id: 'source', inputs: [] }], /"id":"password","visible":true,"error":"A value is required/],
    [limit('many'), /should be a whole number/],
    [limit(0), /should be from 1 to 1000/],
    [limit(1.5), /should be a whole number/],
  ] as const) {
    const answer = await validate(steps)
    assert.equal(answer.json().valid, false)
    assert.match(answer.text, sentence)
    const used = await stack.request('POST', `${REPOSITORY}/paged-api/default/use`, { json: { name: 'x', steps } })
    assert.equal(used.status, 400, used.text)
  }
  for (const steps of [[{ id: 'no' }], [{ id: 'source', inputs: [{ id: 'no' }] }]])
    assert.equal((await validate(steps)).status, 400)
  const choice = await stack.request('POST', `${REPOSITORY}/table-summary/default/validate`, {
    json: { steps: [{ id: 'source', inputs: [{ id: 'measure', value: 'guess' }] }] },
  })
  assert.match(choice.text, /is not one of count, sum/)
  assert.equal(await configurationCount(stack), 0)
})

test('what was chosen decides which steps are needed, which inputs are asked for, and what is made', async () => {
  const stack = await startProject()
  await stack.add('test.noop', 'true')
  const input = (id: string, more: object = {}) => ({ id, name: id, type: 'string', kind: 'input', required: false, ...more })
  const step = (id: string, ...inputs: object[]) => ({ id, name: id, inputs })
  const group = (required: string, ...steps: object[]) => ({ id: required, description: required, required, steps })
  const chosen = (is: string) => ({ input: 'kind', is })
  const part = (id: string, more: object = {}) => ({ id, componentId: 'test.noop', name: id, configuration: {}, ...more })
  write('choices', '1', {
    stepGroups: [
      group(
        'exactlyOne',
        step('api', input('kind', { default: 'plain' }), input('key', { required: true, showIf: chosen('login') })),
        step('file'),
      ),
      group('atLeastOne', step('daily'), step('hourly')),
    ],
    configurations: [
      part('always', {
        configuration: {
          mode: {
            $if: { any: [{ input: 'kind', in: ['plain', 'login'] }, { step: 'nobody' }] },
            $then: { $text: ['by ', { $input: 'kind' }] },
            $else: 'by file',
          },
          key: { $if: chosen('login'), $then: { $input: 'key' } },
          of: { $instance: 'name' },
        },
        rows: [
          { id: 'r', name: 'r', when: { all: [{ step: 'daily' }, { not: { step: 'hourly' } }] }, configuration: {} },
          { id: 's', name: 's', configuration: {} },
        ],
      }),
      part('of-files', { when: { step: 'file' } }),
    ],
  })
  const send = (way: string, steps: readonly object[]) =>
    stack.request('POST', `${OWN}/choices/default/${way}`, { json: { name: 'Chosen', steps } })
  const api = (...inputs: object[]) => ({ id: 'api', inputs })
  for (const [steps, sentence] of [
    [[{ id: 'daily' }], /Exactly one step must be filled in/],
    [[api(), { id: 'file' }, { id: 'daily' }], /Exactly one step must be filled in/],
    [[{ id: 'file' }], /At least one step must be filled in/],
    [[api({ id: 'kind', value: 'login' }), { id: 'daily' }], /"id":"key","visible":true,"error":"A value is required/],
  ] as const) {
    const answer = await send('validate', steps)
    assert.equal(answer.json().valid, false, answer.text)
    assert.match(answer.text, sentence)
  }
  type Planned = { name: string; configuration: object; rows: { id: string }[] }
  const made = async (...steps: object[]) => {
    const answer = await send('preview', steps)
    assert.equal(answer.status, 202, answer.text)
    const { configurations } = answer.json<{ outputs: { configurations: Planned[] } }>().outputs
    return configurations.map(({ name, configuration, rows }) => [name, configuration, rows.map(({ id }) => id).join()])
  }
  assert.deepEqual(await made(api(), { id: 'daily' }), [['always', { mode: 'by plain', of: 'Chosen' }, 'r,s']])
  const login = api({ id: 'kind', value: 'login' }, { id: 'key', value: 'k' })
  assert.deepEqual(await made(login, { id: 'daily' }, { id: 'hourly' }), [
    ['always', { mode: 'by login', key: 'k', of: 'Chosen' }, 's'],
  ])
  assert.deepEqual(await made({ id: 'file' }, { id: 'hourly' }), [
    ['always', { mode: 'by file', of: 'Chosen' }, 's'],
    ['of-files', {}, ''],
  ])
  write('choices', '1', { configurations: [part('one', { when: { execute: 'rm -rf /' } })] })
  assert.match((await send('preview', [])).text, /is not a condition/)
})

test('an unknown component, a flow inside itself and a target that is missing leave nothing behind', async () => {
  const stack = await startProject()
  await stack.add('test.noop', 'true')
  const fine = { id: 'first', componentId: 'test.noop', name: 'first', configuration: {} }
  const task = (configuration: string) => ({
    id: 't',
    name: 't',
    phase: 'p',
    task: { type: 'job', componentId: 'keboola.flow', configId: { $configuration: configuration } },
  })
  const flow = (id: string, inner: string) => ({
    id,
    componentId: 'keboola.flow',
    name: id,
    configuration: { phases: [{ id: 'p', name: 'p' }], tasks: [task(inner)] },
  })
  const schedule = { cronTab: '0 0 1 1 *', timezone: 'UTC', state: 'enabled' }
  const broken: [string, object[], RegExp][] = [
    ['unknown', [fine, { ...fine, id: 'second', componentId: 'no.such' }], /no\.such/],
    ['circle', [fine, flow('a', 'b'), flow('b', 'a')], /itself|contains/],
    [
      'target',
      [
        fine,
        {
          id: 's',
          componentId: 'keboola.scheduler',
          name: 's',
          configuration: { schedule, target: { componentId: 'test.noop', configurationId: 'nobody', mode: 'run' } },
        },
      ],
      /nobody/,
    ],
    ['reference', [fine, { ...fine, id: 'second', name: { $configuration: 'nobody' } }], /which it does not make/],
    ['placeholder', [{ ...fine, configuration: { a: { $code: '1 + 1' } } }], /is not a placeholder/],
  ]
  for (const [id, configurations, sentence] of broken) {
    write(id, '1', { configurations })
    const answer = await stack.request('POST', `${OWN}/${id}/default/use`, { json: { name: 'x', steps: [] } })
    assert.ok(answer.status === 400 || answer.status === 404, `${id}: ${answer.status} ${answer.text}`)
    assert.match(answer.text, sentence)
  }
  assert.equal(await configurationCount(stack), 0)
  assert.deepEqual((await stack.request('GET', '/templates/v1/project/default/instances')).json(), { instances: [] })

  const secret = { id: 'p', name: 'p', type: 'string', kind: 'hidden' }
  const stepGroups = [{ id: 'g', description: 'g', required: 'all', steps: [{ id: 's', name: 's', inputs: [secret] }] }]
  write('leaky', '1', {
    stepGroups,
    configurations: [{ ...fine, configuration: { parameters: { shown: { $text: [{ $input: 'p' }] } } } }],
  })
  assert.match((await stack.request('GET', `${OWN}/leaky/1`)).text, /outside a member whose name begins with #/)
  writeFileSync(join(folder, 'leaky', 'template.json'), 'not JSON')
  assert.equal((await stack.request('GET', `${OWN}/leaky`)).status, 400)
  assert.equal((await stack.request('GET', OWN)).status, 200, 'the others are listed')
})

test('an instance is listed, renamed, upgraded with a diff, and deleted with all it made', async () => {
  const stack = await startProject()
  await stack.add('test.noop', 'true')
  const input = (id: string, more: object = {}) => ({ id, name: id, type: 'string', kind: 'input', ...more })
  const stepGroups = [
    {
      id: 'g',
      description: 'g',
      required: 'all',
      steps: [{ id: 's', name: 's', inputs: [input('host'), input('key', { kind: 'hidden' })] }],
    },
  ]
  const part = (id: string, parameters: object, rows: object[] = []) => ({
    id,
    componentId: 'test.noop',
    name: id,
    configuration: { parameters: { host: { $input: 'host' }, '#key': { $input: 'key' }, ...parameters } },
    rows,
  })
  write('up', '1', {
    stepGroups,
    configurations: [
      part('a', { limit: 1 }, [
        { id: 'r1', name: 'one', configuration: {} },
        { id: 'r2', name: 'two', configuration: {} },
      ]),
      part('b', {}),
    ],
  })
  const task = await use(stack, `${OWN}/up`, [
    {
      id: 's',
      inputs: [
        { id: 'host', value: 'h' },
        { id: 'key', value: SECRET },
      ],
    },
  ])
  const { instanceId } = task.outputs
  const INSTANCE = `/templates/v1/project/default/instances/${instanceId}`
  assert.equal((await stack.request('GET', INSTANCE)).json().version, '1')
  assert.equal((await stack.request('PUT', INSTANCE, { json: { name: 'Renamed' } })).json().name, 'Renamed')

  write('up', '2', {
    stepGroups,
    configurations: [part('a', { limit: 2, more: true }, [{ id: 'r1', name: 'one', configuration: { x: 1 } }]), part('c', {})],
  })
  const inputs = await stack.request('GET', `${INSTANCE}/upgrade/2/inputs`)
  assert.match(inputs.text, /"id":"host"[^}]*"default":"h"/)
  assert.doesNotMatch(inputs.text, new RegExp(SECRET))
  const steps = [{ id: 's', inputs: [{ id: 'host', value: 'h2' }] }]
  const preview = await stack.request('POST', `${INSTANCE}/upgrade/2/preview`, { json: { steps } })
  assert.equal(preview.status, 202, preview.text)
  const planned = preview.json<Task & Record<string, unknown>>().outputs.changes
  assert.deepEqual(
    planned.map(({ action, name }) => `${action} ${name}`),
    ['update a', 'create c', 'delete b'],
  )
  assert.deepEqual(planned[0]?.changes, [
    { path: 'parameters.host', before: 'h', after: 'h2' },
    { path: 'parameters.limit', before: 1, after: 2 },
    { path: 'rows.r2.name', before: 'two', after: null },
    { path: 'rows.r2.isDisabled', before: false, after: null },
    { path: 'parameters.more', before: null, after: true },
    { path: 'rows.r1.x', before: null, after: 1 },
  ])
  assert.equal((await stack.request('GET', INSTANCE)).json().version, '1', 'a preview changes nothing')
  const upgraded = await stack.request('POST', `${INSTANCE}/upgrade/2`, { json: { steps } })
  assert.equal(upgraded.status, 202, upgraded.text)
  const a = task.outputs.configurations[0]!.configurationId
  const stored = (await stack.request('GET', `/v2/storage/components/test.noop/configs/${a}`)).json<{
    configuration: { parameters: Record<string, unknown> }
    rows: { id: string }[]
  }>()
  assert.equal(stored.configuration.parameters.limit, 2)
  assert.match(String(stored.configuration.parameters['#key']), /^KBC::/, 'a secret does not have to be sent again')
  assert.deepEqual(
    stored.rows.map(({ id }) => id),
    ['r1'],
  )
  assert.equal(await configurationCount(stack), 2)

  const other = await stack.newProject()
  assert.equal((await stack.request('GET', INSTANCE, { token: other.masterToken })).status, 404)
  assert.equal((await stack.request('DELETE', INSTANCE, { token: other.masterToken })).status, 404)
  assert.equal((await stack.request('DELETE', INSTANCE)).status, 202)
  assert.equal(await configurationCount(stack), 0)
  assert.equal((await stack.request('GET', INSTANCE)).status, 404)
  const events = (await stack.request('GET', '/v2/storage/events')).text
  for (const sentence of [/Used template up 1/, /Changed instance/, /Upgraded instance/, /Deleted instance/])
    assert.match(events, sentence)
})

test('a repository of templates by git address is fetched, used and upgraded, and says what is wrong with it', async () => {
  const stack = await startProject()
  await stack.add('test.noop', 'true')
  type Repository = { name: string; url: string; commit?: string; refreshedAt?: string; problem?: string }
  const list = async () =>
    (await stack.request('GET', '/templates/v1/repositories')).json<{ repositories: Repository[] }>().repositories
  const refresh = async (name: string) =>
    (await stack.request('POST', `/templates/v1/repositories/${name}/refresh`)).json<Record<string, unknown> & Repository>()
  const manifest = (name: string) =>
    JSON.stringify({
      description: name,
      stepGroups: [],
      configurations: [{ id: 'one', componentId: 'test.noop', name, configuration: {} }],
    })

  write('fine', '1', { configurations: [{ id: 'one', componentId: 'test.noop', name: 'one', configuration: {} }] })
  const before = await list()
  assert.deepEqual(
    before.map(({ name, problem }) => [name, problem]),
    [
      ['millrace', undefined],
      ['own', undefined],
      ['lost', 'Its folder is not there.'],
      ['templates', 'It has not been fetched yet.'],
    ],
  )
  const unusable = await stack.request('GET', '/templates/v1/repositories/templates/templates')
  assert.equal(unusable.status, 404)
  assert.match(unusable.text, /templates.{2,4} is not usable: It has not been fetched yet\./)

  const first = await git.commit({
    'repository.json': '{"name": "team", "author": {"name": "Team"}}',
    'orders/template.json': '{"name": "Orders", "description": "d"}',
    'orders/1.0.0/manifest.json': manifest('First'),
  })
  const fetched = await refresh('templates')
  assert.equal(fetched.problem, undefined)
  assert.deepEqual([fetched.name, fetched.url, fetched.commit], ['team', git.url, first])
  const TEAM = '/templates/v1/repositories/team/templates/orders'
  const { outputs } = await use(stack, TEAM, [])

  await git.commit({ 'orders/2.0.0/manifest.json': manifest('Second') })
  assert.notEqual((await refresh('team')).commit, first)
  const upgrade = `/templates/v1/project/default/instances/${outputs.instanceId}/upgrade/2.0.0`
  assert.equal((await stack.request('POST', upgrade, { json: { steps: [] } })).status, 202)
  const configuration = await stack.request('GET', `/v2/storage/components/test.noop/configs/${outputs.configId}`)
  assert.equal(configuration.json().name, 'Second')

  git.instead = (_, res) => void res.writeHead(500).end()
  assert.match((await refresh('team')).problem!, /answers HTTP 500\.$/)
  assert.equal((await stack.request('GET', TEAM)).status, 200, 'what was fetched stays in use')
  git.instead = undefined
  await git.commit({ 'repository.json': 'not JSON' })
  assert.match((await refresh('team')).problem!, /repository\.json/)
  await git.commit({ 'repository.json': '{"name": "own"}' })
  assert.match((await refresh('templates')).problem!, /Another repository has the name "own" already\./)

  const events = await stack.request('GET', '/v2/storage/events?q=event:templates.repositoryRefreshed')
  assert.match(events.text, /Refreshed the repository of templates team/)
  const { token } = (await stack.request('POST', '/v2/storage/tokens', { json: { description: 'reader' } })).json<{
    token: string
  }>()
  const refused = await stack.request('POST', '/templates/v1/repositories/millrace/refresh', { token })
  assert.equal(refused.status, 403, refused.text)
})
