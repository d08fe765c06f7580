// platform.ex-manifest in a whole stack, as jobs: tables, keys, state, what is refused, and what the egress rules keep out.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { until } from '../../../tests/support/until.ts'

const SECRET = 'canary-4711-of-the-manifest'
const asked: string[] = []
/** Sales grow with every request: what was sold after `since`, once `isOpen` lets the answer out. */
let sold = 0
let isOpen: Promise<unknown> = Promise.resolve()
/** Of the log of sales: its answer fails. */
let broken = ''
const server = createServer(async (request, response) => {
  asked.push(request.url ?? '')
  if (request.headers['x-key'] !== SECRET) return void response.writeHead(401).end('{}')
  if (broken !== '' && request.url?.startsWith(broken)) return void response.writeHead(400).end('{}')
  if (request.url?.startsWith('/sales')) {
    const after = Number(new URL(request.url, 'http://api').searchParams.get('after'))
    await isOpen
    sold += 10
    const items = Array.from({ length: sold - after }, (_, i) => ({ number: after + i + 1, at: after + i + 1 }))
    return void response.end(JSON.stringify({ items }))
  }
  const since = new URL(request.url ?? '', 'http://api').searchParams.get('since') ?? ''
  const items = [
    { id: 1, name: 'Ann, "A"', updated_at: '2026-03-11T00:00:00Z', tags: ['a'] },
    { id: 2, name: 'B\nb', updated_at: '2026-03-12T00:00:00Z', late: true },
  ].filter((item) => item.updated_at >= since)
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items }))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
test.after(() => {
  server.closeAllConnections()
  server.close()
})
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP server has an address with a port
const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, jobs: 2, egressAllow: [new URL(url).host] } })

const manifest = (base: string) => `
version: 6.1.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [items]}
streams:
  - type: DeclarativeStream
    name: items
    primary_key: id
    schema_loader: {type: InlineSchemaLoader, schema: {type: object, properties: {id: {type: integer}, name: {type: string}, updated_at: {type: string, format: date-time}}}}
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: ${base}
        path: items
        authenticator: {type: ApiKeyAuthenticator, api_token: "{{ config['key'] }}", inject_into: {type: RequestOption, inject_into: header, field_name: X-Key}}
      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: [items]}}
    incremental_sync:
      type: DatetimeBasedCursor
      cursor_field: updated_at
      datetime_format: "%Y-%m-%dT%H:%M:%SZ"
      start_datetime: "2026-03-01T00:00:00Z"
      start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: since}
`
const parameters = (more: object = {}, base = url) => ({
  parameters: { manifest: manifest(base), config: { '#key': SECRET }, ...more },
})

async function run(stack: ShellStack, config: string): Promise<Job> {
  const job = await stack.request('POST', '/queue/platform.ex-manifest/run', { json: { config } })
  assert.equal(job.status, 202, job.text)
  return stack.wait(job.json<Job>())
}
const message = (job: Job): string => JSON.stringify(job.result)

test('a stream of a manifest becomes a table with its key, and the next run goes on from its state', async () => {
  const stack = await startProject()
  const config = await stack.configure('platform.ex-manifest', parameters(), [
    { rowId: 'items', name: 'items', configuration: JSON.stringify({ parameters: { stream: 'items', table: 'shop items' } }) },
  ])
  asked.length = 0
  const first = await run(stack, config)
  assert.equal(first.status, 'success', message(first))
  assert.deepEqual(asked, ['/items?since=2026-03-01T00%3A00%3A00Z'])
  const table = `in.c-platform-ex-manifest-${config}.shop_items`
  const detail = (await stack.request('GET', `/v2/storage/tables/${table}`)).json<{ primaryKey: string[]; columns: string[] }>()
  assert.deepEqual(detail.primaryKey, ['id'])
  assert.deepEqual(detail.columns, ['id', 'name', 'updated_at', 'tags', 'late'])
  const preview = async () => (await stack.request('GET', `/v2/storage/tables/${table}/data-preview`)).text
  const text = await preview()
  assert.match(text, /"1","Ann, ""A""","2026-03-11T00:00:00Z","\[""a""\]",""/)
  assert.match(text, /"2","B\nb","2026-03-12T00:00:00Z","","true"/)

  const second = await run(stack, config)
  assert.equal(second.status, 'success', message(second))
  assert.equal(asked[1], '/items?since=2026-03-12T00%3A00%3A00Z')
  assert.equal((await preview()).match(/2026-03-/g)?.length, 2, 'rows are deduplicated by the key')
})

const growing = `
version: 6.1.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [log]}
definitions:
  stream: &stream
    type: DeclarativeStream
    schema_loader: {type: InlineSchemaLoader, schema: {type: object, properties: {number: {type: integer}, at: {type: integer}}}}
    incremental_sync: {type: IncrementingCountCursor, cursor_field: at, start_value: 0, start_value_option: {type: RequestOption, inject_into: request_parameter, field_name: after}}
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: ${url}
        path: sales/{{ parameters['name'] }}
        authenticator: {type: ApiKeyAuthenticator, api_token: "{{ config['key'] }}", inject_into: {type: RequestOption, inject_into: header, field_name: X-Key}}
      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: [items]}}
streams:
  - {<<: *stream, name: log, $parameters: {name: log}}
  - {<<: *stream, name: latest, primary_key: number, $parameters: {name: latest}}
`

test('two runs of a configuration at once: the second waits and goes on where the first ended, or from the start if that was killed', async () => {
  const stack = await startProject()
  for (const isKilled of [false, true]) {
    const config = await stack.configure('platform.ex-manifest', {
      parameters: { manifest: growing, config: { '#key': SECRET } },
    })
    const start = async () => (await stack.request('POST', '/queue/platform.ex-manifest/run', { json: { config } })).json<Job>()
    const asJob = async (job: Job) => (await stack.request('GET', job.url)).json<Job>()
    sold = 0
    asked.length = 0
    let open = () => {}
    isOpen = new Promise<void>((resolve) => {
      open = resolve
    })
    const first = await start()
    await until('the first run has sent a request', () => asked.length > 0)
    const second = await start()
    const waiting = await until('the second run waits', async () => {
      const job = await asJob(second)
      return job.status === 'waiting' && job.waitingReason !== null && job
    })
    assert.equal(waiting.waitingReason, `Waiting for job ${first.id}, which runs the same configuration.`)
    if (isKilled) assert.equal((await stack.request('POST', `/queue/jobs/${first.id}/kill`)).status, 200)
    else open()
    assert.equal((await stack.wait(first)).status, isKilled ? 'terminated' : 'success')
    open()
    const ended = await stack.wait(second)
    assert.equal(ended.status, 'success', message(ended))

    for (const table of ['log', 'latest']) {
      const answer = await stack.request(
        'GET',
        `/v2/storage/tables/in.c-platform-ex-manifest-${config}.${table}/data-preview?limit=1000`,
      )
      const numbers = [...answer.text.matchAll(/^"(\d+)"/gm)].map(([, number]) => Number(number)).sort((a, b) => a - b)
      const last = Math.max(...numbers)
      assert.ok(last >= 10, `${last} rows in ${table}`)
      assert.deepEqual(
        numbers,
        Array.from({ length: last }, (_, i) => i + 1),
        `no row of ${table} is lost or doubled`,
      )
    }
    const starts = asked.filter((line) => line.startsWith('/sales/log')).map((line) => line.split('=')[1])
    assert.equal(starts.at(-1) === '0', isKilled, asked.join(' '))
  }
})

test('a job with resume requests only what the failed one before it did not receive', async () => {
  const stack = await startProject()
  const config = await stack.configure('platform.ex-manifest', {
    parameters: { manifest: growing, config: { '#key': SECRET }, resume: true },
  })
  sold = 0
  asked.length = 0
  broken = '/sales/latest'
  const failed = await run(stack, config)
  assert.equal(failed.status, 'error', message(failed))
  assert.equal(asked.filter((path) => path.startsWith('/sales/log')).length, 1)
  broken = ''
  asked.length = 0
  const job = await run(stack, config)
  assert.equal(job.status, 'success', message(job))
  assert.deepEqual(asked, ['/sales/latest?after=0'])
  const rows = async (table: string) =>
    (await stack.request('GET', `/v2/storage/tables/in.c-platform-ex-manifest-${config}.${table}`)).json<{ rowsCount: number }>()
      .rowsCount
  assert.deepEqual([await rows('log'), await rows('latest')], [10, 20])
  asked.length = 0
  assert.equal((await run(stack, config)).status, 'success')
  assert.equal(asked.length, 2, 'nothing is kept after a success')
})

test("mistakes are the user's, name the place and never the secret; loopback stays closed", async () => {
  const stack = await startProject()
  const failure = async (configuration: object) => {
    const config = await stack.configure('platform.ex-manifest', configuration)
    const job = await run(stack, config)
    assert.equal(job.status, 'error', message(job))
    assert.doesNotMatch(message(job), new RegExp(SECRET))
    return message(job)
  }
  const misspelt = { parameters: { manifest: manifest(url).replace('DpathExtractor', 'DpathExtracter'), config: {} } }
  assert.match(
    await failure(misspelt),
    /record_selector\.extractor\.type \(line \d+\): the component type 'DpathExtracter' is unknown. Did you mean 'DpathExtractor'\?/,
  )
  assert.match(await failure(parameters({ streams: ['item'] })), /The manifest has no stream 'item'. Did you mean 'items'\?/)
  assert.match(
    await failure(parameters({ stream: 'items', load: 'merge' })),
    /'parameters.load' must be one of append, deduped, overwrite/,
  )
  assert.match(await failure(parameters({}, 'http://127.0.0.1:1/')), /127\.0\.0\.1/)
  assert.match(
    await failure({ parameters: { manifest: manifest(url), config: { '#key': 'wrong-key-value' } } }),
    /Stream 'items' failed: GET .* failed with status 401/,
  )
})

test('the worked example of docs/connectors.md reads the sample shop', async () => {
  const stack = await startProject()
  const guide = readFileSync(new URL('../../../docs/connectors.md', import.meta.url), 'utf8')
  const example = [...guide.matchAll(/^```json\n([\s\S]*?)^```$/gm)]
    .map(([, text = '']) => text)
    .find((text) => text.includes('base_url'))
  const configuration = JSON.parse((example ?? '').replace('http://127.0.0.1:8000', stack.url)) as object // of our own guide
  const config = await stack.configure('platform.ex-manifest', configuration)
  const job = await run(stack, config)
  assert.equal(job.status, 'success', job.result.message)
  const table = (await stack.request('GET', `/v2/storage/tables/in.c-platform-ex-manifest-${config}.orders`)).json<{
    rowsCount: number
  }>()
  assert.equal(table.rowsCount, 250)
})
