import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { onBothStacks } from '../../../../../tests/support/on-both-stacks.ts'
import type { Job, ShellStack } from '../../../../../tests/support/shell-stack.ts'
import type { JobCause } from '../../../model/job-cause.ts'

const SQL = 'platform.sql-transformation'
const PASSWORD = 'correct-horse-battery'

const api = createServer((request, response) => {
  const isKnown = request.url?.startsWith('/orders')
  response.writeHead(isKnown ? 401 : 200, { 'content-type': 'application/json' }).end(isKnown ? '{"error":"expired"}' : '[]')
})
await new Promise<void>((done) => api.listen(0, '127.0.0.1', done))
after(() => api.close())
const apiUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`

async function run({ request, wait }: ShellStack, component: string, config: string): Promise<Job> {
  const answer = await request('POST', '/queue/jobs', { json: { component, config, mode: 'run' } })
  assert.equal(answer.status, 201, answer.text)
  return wait(answer.json<Job>())
}

function causeOf(job: Job): JobCause {
  assert.equal(job.status, 'error', JSON.stringify(job.result))
  const { cause } = (job.result as unknown as { error: { cause: JobCause } }).error
  assert.deepEqual(job.cause, { kind: cause.kind, subject: cause.subject })
  assert.match(cause.help, new RegExp(`^/help/errors#${cause.kind}$`))
  return cause
}

const script = (...statements: string[]) => ({ blocks: [{ name: 'B', codes: [{ name: 'C', script: statements }] }] })

await onBothStacks(
  'causes of failed jobs',
  (startProject) => {
    test('the extractor says which request failed and where the configuration is to be changed', async () => {
      const stack = await startProject()
      const config = await stack.configure(
        'platform.ex-http',
        {
          parameters: {
            api: { baseUrl: apiUrl, authentication: { type: 'basic' } },
            config: { username: 'ada', '#password': PASSWORD },
          },
        },
        [
          { name: 'fine', configuration: { parameters: { config: { jobs: [{ endpoint: 'users' }] } } } },
          { name: 'orders', configuration: { parameters: { config: { jobs: [{ endpoint: 'orders', params: { since: 7 } }] } } } },
        ],
      )
      const job = await run(stack, 'platform.ex-http', config)
      const cause = causeOf(job)
      assert.equal(cause.kind, 'http.unauthorized')
      assert.equal(cause.subject, new URL(apiUrl).host)
      assert.deepEqual(cause.request, {
        method: 'GET',
        url: `${apiUrl}orders?since=7`,
        status: 401,
        endpoint: 'orders',
        page: 1,
      })
      assert.equal(cause.where?.pointer, '/parameters/api/authentication')
      assert.equal(cause.where?.in, 'configuration')
      assert.notEqual(cause.where?.rowId, null)
      assert.ok(!JSON.stringify(job).includes(PASSWORD))
    })

    test('what changed since the last good run is told', async () => {
      const stack = await startProject()
      const place = `/v2/storage/components/${SQL}/configs`
      const good = { parameters: script('SELECT 1'), storage: {} }
      const config = await stack.configure(SQL, good, [{ name: 'a', configuration: {} }])
      const [row] = (await stack.request('GET', `${place}/${config}/rows`)).json<{ id: string }[]>()
      const first = await run(stack, SQL, config)
      assert.equal(first.status, 'success', JSON.stringify(first.result))
      await stack.request('PUT', `${place}/${config}`, { json: { configuration: { parameters: script('SELECT 1', 'SELEC 2') } } })
      const cause = causeOf(await run(stack, SQL, config))
      assert.equal(cause.kind, 'sql.syntax')
      assert.equal(cause.where?.pointer, '/parameters/blocks/0/codes/0/script/1')
      assert.equal(cause.place?.block, 'B')
      assert.deepEqual(
        { ...cause.since, endTime: undefined },
        { job: first.id, endTime: undefined, configVersion: '2', isConfigurationChanged: true, rowsChanged: [] },
      )
      await stack.request('PUT', `${place}/${config}`, { json: { configuration: good } })
      await stack.request('PUT', `${place}/${config}/rows/${row!.id}`, {
        json: { configuration: { parameters: script('SELECT 1 FROM nowhere') } },
      })
      const second = causeOf(await run(stack, SQL, config))
      assert.equal(second.kind, 'sql.unknownTable')
      assert.deepEqual([second.place?.statement, second.place?.line, second.place?.character], [1, 1, 15])
      assert.deepEqual(second.since?.rowsChanged, [row!.id])
      assert.equal(second.where?.in, 'row')
    })

    test('the loader names table, file, line and column, and the entry of the mapping', async () => {
      const stack = await startProject()
      await stack.add('test.csv', "printf 'id,name\\n1,a\\n2,\"b\\n' > $KBC_DATADIR/out/tables/bad.csv")
      const tables = [{ source: 'bad.csv', destination: 'in.c-main.bad' }]
      const config = await stack.configure('test.csv', { storage: { output: { tables } } })
      const cause = causeOf(await run(stack, 'test.csv', config))
      assert.equal(cause.kind, 'load.unreadableCsv')
      assert.equal(cause.subject, 'in.c-main.bad')
      assert.equal(cause.where?.pointer, '/storage/output/tables/0')
      assert.deepEqual([cause.place?.table, cause.place?.file, cause.place?.line], ['in.c-main.bad', 'bad.csv', 3])
    })

    test('the runner names inputs, variables, limits and components', async () => {
      const stack = await startProject()
      await stack.add('test.word', 'echo "row 17 is wrong" >&2; exit 1')
      await stack.add(
        'test.own',
        'printf \'{"kind":"http.rejected","pointer":"/parameters/a~1b","subject":"x.example","extra":1}\' > $KBC_DATADIR/out/failure.json; exit 1',
      )
      await stack.add('test.slow', 'sleep 60', { process_timeout: 1 })
      const kindOf = async (component: string, configuration: object) => {
        const cause = causeOf(await run(stack, component, await stack.configure(component, configuration)))
        return [cause.kind, cause.where?.pointer ?? null, cause.subject]
      }
      const input = (tables: object[]) => ({ storage: { input: { tables } } })
      assert.deepEqual(await kindOf('test.word', {}), ['run.componentFailed', null, 'row # is wrong'])
      assert.deepEqual(await kindOf('test.own', {}), ['http.rejected', '/parameters/a~1b', 'x.example'])
      assert.deepEqual(await kindOf('test.slow', { runtime: { process_timeout: 1 } }), ['run.timeout', null, null])
      assert.deepEqual(await kindOf('test.word', input([{ source: 'in.c-no.table', destination: 't' }])), [
        'input.missing',
        '/storage/input/tables/0',
        'in.c-no.table',
      ])
      assert.deepEqual(await kindOf('test.word', input([{ destination: 't' }])), [
        'configuration.invalid',
        '/storage/input/tables/0/source',
        null,
      ])
      assert.deepEqual(await kindOf('test.word', { variables_id: '99' }), ['configuration.notFound', '/variables_id', null])
      assert.deepEqual(await kindOf('test.word', { processors: { before: [{ definition: { component: 'no.such' } }] } }), [
        'run.componentMissing',
        null,
        null,
      ])
    })

    test('failures are grouped by cause, counted and listed lightly', async () => {
      const stack = await startProject()
      await stack.add('test.row', 'echo "row $RANDOM$$ is wrong" >&2; exit 1')
      const configs = [await stack.configure('test.row', {}), await stack.configure('test.row', {})]
      for (const config of [...configs, configs[0]!]) await run(stack, 'test.row', config)
      const missing = { storage: { input: { tables: [{ source: 'in.c-no.table', destination: 't' }] } } }
      await run(stack, 'test.row', await stack.configure('test.row', missing))
      const groups = (await stack.request('GET', '/queue/search/failures')).json<
        {
          cause: { kind: string; advice: string }
          count: number
          lastJob: { message: string }
          configurations: { configId: string; count: number }[]
        }[]
      >()
      assert.deepEqual(
        groups.map(({ cause, count }) => [cause.kind, count]),
        [
          ['input.missing', 1],
          ['run.componentFailed', 3],
        ],
      )
      assert.deepEqual(
        groups[1]!.configurations.map(({ configId, count }) => [configId, count]),
        [
          [configs[0], 2],
          [configs[1], 1],
        ],
      )
      assert.match(groups[1]!.lastJob.message, /^row \d+ is wrong$/)
      const since = await stack.request('GET', `/queue/search/failures?endTimeTo=${encodeURIComponent('-1 hour')}`)
      assert.deepEqual(since.json(), [])
      const counts = (await stack.request('GET', '/queue/stats/statuses?componentId=test.row')).json<{
        jobs: Record<string, number>
      }>()
      assert.equal(counts.jobs.error, 4)
      assert.equal(counts.jobs.success, 0)
      const light = (await stack.request('GET', '/queue/jobs?fields=id,status,cause&causeKind=input.missing')).json<object[]>()
      assert.deepEqual(
        light.map((job) => Object.keys(job)),
        [['id', 'status', 'cause']],
      )
      const refused = await stack.request('GET', '/queue/jobs?fields=id,nothing')
      assert.equal(refused.status, 400)
      assert.match(refused.text, /\\"nothing\\" is not one of id, runId/)
    })
  },
  { worker: { egressAllow: ['127.0.0.1'] } },
)
