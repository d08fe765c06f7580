// parameters.resume: a run that is killed, or fails, is continued by the next one, which requests only what is missing.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chance, count, kills } from '../../../tests/support/chance.ts'

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const [PAGES, PER_PAGE] = [4, 3]
const TOKEN = 'token-of-the-session'

/** Parents in pages, and the changes of each parent up to now. */
async function startApi(t: TestContext) {
  const api = { url: '', asked: [] as string[], logins: 0, answer: (_path: string): number | undefined => undefined }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api')
    if (pathname === '/login') {
      api.logins++
      return void response.end(JSON.stringify({ token: TOKEN }))
    }
    const status = request.headers.authorization === `Bearer ${TOKEN}` ? (api.answer(request.url ?? '') ?? 200) : 401
    if (status === 0) return
    if (status === 200) api.asked.push(request.url ?? '')
    const page = Number(searchParams.get('page') ?? 0)
    const items =
      pathname === '/parents'
        ? Array.from({ length: page < PAGES ? PER_PAGE : 0 }, (_, i) => ({ id: page * PER_PAGE + i + 1 }))
        : [{ id: Number(pathname.split('/')[2]) * 10, changed: '2026-03-10T00:00:00Z' }]
    response.writeHead(status, { 'set-cookie': `a=${TOKEN}` }).end(JSON.stringify({ items }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  api.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP server has an address with a port
  return api
}

function manifestOf(base: string): object {
  const login = { type: 'HttpRequester', url_base: base, path: 'login', http_method: 'POST', request_body_json: { user: 'ada' } }
  const authenticator = {
    type: 'SessionTokenAuthenticator',
    login_requester: login,
    session_token_path: ['token'],
    request_authentication: { type: 'Bearer' },
  }
  const reader = (path: string, more: object, handler: object = {}) => ({
    type: 'SimpleRetriever',
    requester: { type: 'HttpRequester', url_base: base, path, authenticator, ...handler },
    record_selector: { type: 'RecordSelector', extractor: { type: 'DpathExtractor', field_path: ['items'] } },
    ...more,
  })
  const schema_loader = { type: 'InlineSchemaLoader', schema: { type: 'object', properties: { id: { type: 'integer' } } } }
  const paginator = {
    type: 'DefaultPaginator',
    page_token_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'page' },
    pagination_strategy: { type: 'PageIncrement', page_size: PER_PAGE },
  }
  const parents = { type: 'DeclarativeStream', name: 'parents', primary_key: 'id', schema_loader }
  const parentStream = { ...parents, retriever: reader('parents', { paginator }) }
  const partition_router = {
    type: 'SubstreamPartitionRouter',
    parent_stream_configs: [{ type: 'ParentStreamConfig', parent_key: 'id', partition_field: 'parent', stream: parentStream }],
  }
  const error_handler = { type: 'DefaultErrorHandler', max_retries: 0 }
  const changes = {
    ...{ type: 'DeclarativeStream', name: 'changes', primary_key: 'id', schema_loader },
    retriever: reader("changes/{{ stream_partition['parent'] }}", { partition_router }, { error_handler }),
    incremental_sync: {
      ...{ type: 'DatetimeBasedCursor', cursor_field: 'changed', datetime_format: '%Y-%m-%dT%H:%M:%SZ' },
      start_datetime: '2026-03-01T00:00:00Z',
      end_time_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'until' },
    },
  }
  return {
    ...{ version: '6.1.0', type: 'DeclarativeSource', check: { type: 'CheckStream', stream_names: ['parents'] } },
    streams: [parentStream, changes],
    concurrency_level: { type: 'ConcurrencyLevel', default_concurrency: 3 },
  }
}

function startFolder(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'millrace-connector-resume-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const [data, checkpoint] = [join(home, 'data'), join(home, 'checkpoint')]
  mkdirSync(checkpoint)

  function start(parameters: object, state: object = {}, folder = checkpoint): ChildProcess {
    rmSync(data, { recursive: true, force: true })
    for (const each of ['in', 'out/tables']) mkdirSync(join(data, each), { recursive: true })
    writeFileSync(join(data, 'in/state.json'), JSON.stringify(state))
    writeFileSync(join(data, 'config.json'), JSON.stringify({ parameters, action: 'run' }))
    const env = { PATH: process.env.PATH, KBC_DATADIR: data, MILLRACE_CHECKPOINT_DIR: folder }
    return spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  }
  async function run(parameters: object, state?: object, folder?: string): Promise<{ code: number | null; log: string }> {
    const child = start(parameters, state, folder)
    let log = ''
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (text) => (log += text))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, log }
  }
  /** Everything that the run left as tables. */
  const tables = () =>
    Object.fromEntries(
      readdirSync(join(data, 'out/tables'), { recursive: true, encoding: 'utf8' })
        .sort()
        .filter((name) => statSync(join(data, 'out/tables', name)).isFile())
        .map((name) => [
          name,
          readFileSync(join(data, 'out/tables', name), 'utf8')
            .split('\n')
            .sort(),
        ]),
    )
  const kept = () => {
    const path = join(checkpoint, 'answers')
    return existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  }
  return { start, run, tables, kept }
}

test('runs that are killed at any request are continued: each answer is requested once, and the tables are those of one run', async (t) => {
  const api = await startApi(t)
  const { start, run, tables, kept } = startFolder(t)
  const parameters = { manifest: manifestOf(api.url), resume: true }
  assert.equal((await run({ ...parameters, resume: false })).code, 0)
  const [expected, requests] = [tables(), api.asked.length]
  assert.equal(requests, PAGES + 1 + PAGES * PER_PAGE)

  api.asked.length = 0
  let left = 0
  let child: ChildProcess | undefined
  api.answer = () => {
    if (left-- > 0) return undefined
    child?.kill('SIGKILL')
    return 0
  }
  for (let n = 0; n < kills(3, 200); n++) {
    left = 1 + Math.floor(chance() * 6)
    child = start(parameters)
    const [code] = (await once(child, 'close')) as [number | null]
    if (code === 0) break
    count('kills')
  }
  left = Number.POSITIVE_INFINITY
  const last = await run(parameters)
  assert.equal(last.code, 0, last.log)
  assert.match(last.log, /Continuing the run that began at .*: \d+ responses? stored, not requested again/)
  assert.deepEqual(tables(), expected)
  // What was answered when the process was killed, but not written yet, is requested again: at most as many as are sent at once.
  assert.ok(api.asked.length <= requests + 3 * kills(3, 200), `${api.asked.length} requests instead of ${requests}`)
  const times = new Set(api.asked.flatMap((path) => new URL(path, api.url).searchParams.getAll('until')))
  assert.equal(times.size, 1, 'all attempts have the time of the first')
  assert.equal(kept().includes(TOKEN), false, 'no answer to a login, no cookie')
})

test('a run that fails is continued; what could only fail again, or belongs to another state, is requested from the start', async (t) => {
  const api = await startApi(t)
  const { run, kept } = startFolder(t)
  const parameters = { manifest: manifestOf(api.url), resume: true }
  const attempt = async (state?: object, settings: object = parameters) => {
    api.asked.length = 0
    const { code, log } = await run(settings, state)
    return { code, log, asked: api.asked.length }
  }
  const broken = (status: number) => (path: string) => (path.startsWith('/changes/7') ? status : undefined)

  api.answer = broken(503)
  const first = await attempt()
  assert.equal(first.code, 1, first.log)
  assert.equal((await attempt()).asked, 0, 'an API that is down for a while is waited for')
  assert.ok(kept().length > 0)
  api.answer = () => undefined
  const continued = await attempt()
  assert.deepEqual([continued.code, continued.asked], [0, 1], continued.log)

  api.answer = broken(400)
  const other = await attempt({ streams: {} })
  assert.equal(other.code, 1)
  assert.match(other.log, /of another configuration or state/)
  assert.equal(other.asked, first.asked)
  assert.equal((await attempt({ streams: {} })).asked, 0)
  assert.equal(kept().length, 0, 'it failed again without a further answer')
  assert.equal((await attempt({ streams: {} })).asked, first.asked)
})

test('resume is refused beside record, and needs a folder that outlives the run', async (t) => {
  const api = await startApi(t)
  const { run } = startFolder(t)
  const manifest = manifestOf(api.url)
  const both = await run({ manifest, resume: true, record: true })
  assert.deepEqual([both.code, api.asked.length], [1, 0])
  assert.match(both.log, /'parameters\.record' and 'parameters\.resume' cannot both be true/)
  assert.match((await run({ manifest, resume: 'yes' })).log, /'parameters\.resume' must be true or false/)
  const alone = await run({ manifest, resume: true }, {}, '')
  assert.equal(alone.code, 0, alone.log)
  assert.match(alone.log, /'parameters\.resume' has no effect here/)
})
