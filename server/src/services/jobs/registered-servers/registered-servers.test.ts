import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { newMember, newStackAdmin } from '../../../../../tests/support/clients/person-client.ts'
import { startTestStack, type TestScope } from '../../../../../tests/support/test-stack.ts'
import { sparkApplicationName } from '../../../model/spark-application.ts'
import { pagesOf, readCluster, readVersion } from './spark.ts'

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server beside the stack that keeps the requests it received. */
async function startServer(t: TestScope, answer: RequestListener) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    seen.push({ method: request.method!, url: request.url!, headers: request.headers, body: await text(request) })
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const end = (): void => {
    server.closeAllConnections()
    server.close()
  }
  t.after(end)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, end }
}

const application = (id: number, name: string) => ({
  id: `app-${id}`,
  starttime: 1_700_000_000_000,
  name,
  cores: 2,
  user: 'spark',
  memoryperexecutor: 1024,
  submitdate: 'today',
  state: 'RUNNING',
  duration: 5,
})

/** As a master of Spark 3.5 answers `/json/`. */
const masterState = (names: readonly string[]) => ({
  url: 'spark://master:7077',
  workers: [
    { id: 'w1', host: 'a', port: 1, cores: 4, coresused: 2, memory: 2048, memoryused: 1024, state: 'ALIVE' },
    { id: 'w2', host: 'b', port: 1, cores: 4, coresused: 0, memory: 2048, memoryused: 0, state: 'DEAD' },
  ],
  aliveworkers: 1,
  cores: 4,
  coresused: 2,
  memory: 2048,
  memoryused: 1024,
  activeapps: names.map((name, id) => application(id, name)),
  completedapps: [],
  activedrivers: [],
  completeddrivers: [],
  status: 'ALIVE',
})

const PAGE = '<html><span class="version" style="margin-right: 15px;">3.5.6</span></html>'

test('without a registered server, and without a Python that has mlflow, every address says how to register one', async (t) => {
  const { request } = await startTestStack(t, { servers: { mlflowPython: '/nowhere/python' } })
  for (const [method, path, name] of [
    ['GET', '/spark/cluster', 'MILLRACE_SPARK_URL'],
    ['GET', '/mlflow/server', 'MILLRACE_MLFLOW_URL'],
    ['GET', '/mlflow/health', 'MILLRACE_MLFLOW_URL'],
    ['POST', '/mlflow/api/2.0/mlflow/runs/create', 'MILLRACE_MLFLOW_URL'],
  ] as const) {
    const answer = await request(method, path, method === 'POST' ? { json: {} } : {})
    assert.equal(answer.status, 503, path)
    assert.match(String(answer.json().error), new RegExp(`The operator registers one with ${name}=`), path)
  }
})

test('a project sees the cluster and its own applications only; the pages are for stack admins', async (t) => {
  const names: string[] = []
  const master = await startServer(t, (request, response) => {
    if (request.url === '/json/') response.setHeader('content-type', 'application/json').end(JSON.stringify(masterState(names)))
    else if (request.url === '/app') response.writeHead(302, { location: '/app/' }).end()
    else response.setHeader('set-cookie', 'millrace_session=stolen').end(PAGE)
  })
  const servers = { sparkUrl: 'spark://127.0.0.1:7077', sparkPagesUrl: master.url }
  const stack = await startTestStack(t, { servers })
  const other = await stack.newProject()
  names.push(sparkApplicationName(stack.projectId, 77), sparkApplicationName(other.projectId, 78))
  names.push(`millrace-${stack.projectId}7-79`, 'shell of ann')

  const state = (await stack.request('GET', '/spark/cluster')).json<{ cluster: { applications: object[] } }>()
  assert.deepEqual(state, {
    url: 'spark://127.0.0.1:7077',
    pagesUrl: master.url,
    version: '3.5.6',
    problem: null,
    cluster: {
      status: 'ALIVE',
      workers: { alive: 1, all: 2 },
      cores: { all: 4, used: 2 },
      memoryMb: { all: 2048, used: 1024 },
      applications: [
        {
          id: 'app-0',
          name: `millrace-${stack.projectId}-77`,
          jobId: '77',
          state: 'RUNNING',
          cores: 2,
          memoryPerExecutorMb: 1024,
          startedAt: '2023-11-14T22:13:20+0000',
        },
      ],
    },
  })
  const theirs = await stack.request('GET', '/spark/cluster', { token: other.masterToken })
  assert.deepEqual(
    theirs.json<typeof state>().cluster.applications.map((one) => (one as { jobId: string }).jobId),
    ['78'],
  )

  const admin = await newStackAdmin(stack)
  const page = await admin.call('GET', '/spark/pages/')
  assert.deepEqual([page.status, page.text, page.headers.getSetCookie()], [200, PAGE, []])
  assert.match(page.headers.get('content-security-policy') ?? '', /^sandbox .*script-src 'none'$/)
  const moved = await admin.call('GET', '/spark/pages/app')
  assert.deepEqual([moved.status, moved.headers.get('location')], [302, '/spark/pages/app/'])
  assert.equal((await admin.call('GET', '/spark/pages/app/?appId=app-0')).status, 200)
  const { url, headers } = master.seen.at(-1)!
  assert.deepEqual([url, headers['x-forwarded-context'], headers.cookie], ['/app/?appId=app-0', '/spark/pages', undefined])
  assert.equal((await admin.call('POST', '/spark/pages/app/kill/', { json: {} })).status, 405)

  const member = await newMember(stack, admin, { projectId: stack.projectId, role: 'admin' })
  assert.equal((await member.call('GET', '/spark/pages/')).status, 403)
  assert.equal((await stack.request('GET', '/spark/pages/')).status, 401)

  master.end()
  const gone = (await stack.request('GET', '/spark/cluster')).json()
  assert.equal(gone.cluster, null)
  assert.match(String(gone.problem), /did not respond: .*ECONNREFUSED/)
  assert.equal((await admin.call('GET', '/spark/pages/')).status, 503)
})

test('a request to MLflow arrives whole, without who asks and what belongs to the connection', async (t) => {
  const server = await startServer(t, (request, response) => {
    if (request.url === '/base/version') response.end('3.17.2\n')
    else if (request.url?.endsWith('/hang')) response.writeHead(200, { 'content-type': 'text/plain' }).write('first')
    else
      response
        .writeHead(201, { 'content-type': 'application/json; charset=utf-8', connection: 'x-hop', 'x-hop': '1', 'x-kept': '2' })
        .end('{"ok":true}')
  })
  const stack = await startTestStack(t, { servers: { mlflowUrl: `${server.url}/base` } })
  const { request } = stack
  assert.deepEqual((await request('GET', '/mlflow/server')).json(), {
    url: `${server.url}/base`,
    version: '3.17.2',
    problem: null,
  })

  const body = JSON.stringify({ key: 'metric', value: 'ž'.repeat(100_000) })
  const answer = await request('POST', '/mlflow/api/2.0/mlflow/runs/log-metric?a=1&b=%20x', {
    body,
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer other',
      cookie: 'millrace_session=1',
      'x-kbc-runid': '5',
      'x-custom': 'kept',
    },
  })
  assert.deepEqual([answer.status, answer.text], [201, '{"ok":true}'])
  assert.deepEqual([answer.headers.get('x-hop'), answer.headers.get('x-kept')], [null, '2'])
  const seen = server.seen.at(-1)!
  assert.deepEqual([seen.method, seen.url], ['POST', '/base/api/2.0/mlflow/runs/log-metric?a=1&b=%20x'])
  assert.equal(seen.body, body)
  assert.equal(seen.headers['x-custom'], 'kept')
  const given = JSON.stringify(seen.headers)
  assert.ok(!given.includes(stack.masterToken) && !/authorization|cookie|kbc|storageapi|origin/i.test(given), given)

  const upload = await request('PUT', '/mlflow/api/2.0/mlflow-artifacts/artifacts/model.bin', { body: new Uint8Array(3_000_000) })
  assert.equal(upload.status, 201)
  assert.equal(server.seen.at(-1)!.body.length, 3_000_000)

  const before = server.seen.length
  const { port } = new URL(stack.url)
  for (const path of ['/mlflow/../v2/storage', '/mlflow/%2e%2e/secret', '/mlflow/x/..%2f..%2fy', '/mlflow/a/%2e%2e/%2E%2e/c'])
    await rawRequest(Number(port), path, stack.masterToken)
  for (const { url } of server.seen.slice(before)) assert.ok(url.startsWith('/base/'), url)
  assert.match(await rawRequest(Number(port), '/mlflow/%2e%2e/secret', stack.masterToken), /^HTTP\/1.1 400 .*points outside/s)

  const streamed = await fetch(`${stack.url}/mlflow/hang`, { headers: { 'x-storageapi-token': stack.masterToken } })
  const first = await streamed.body!.getReader().read()
  assert.equal(Buffer.from(first.value!).toString(), 'first', 'an answer is handed on before it has ended')
})

test('each project has the MLflow server of its own when the address says so', async (t) => {
  const server = await startServer(t, (_request, response) => void response.end('ok'))
  const stack = await startTestStack(t, { servers: { mlflowUrl: `${server.url}/p{project}` } })
  const other = await stack.newProject()
  await stack.request('GET', '/mlflow/health')
  await stack.request('GET', '/mlflow/health', { token: other.masterToken })
  assert.deepEqual(
    server.seen.map(({ url }) => url),
    [`/p${stack.projectId}/health`, `/p${other.projectId}/health`],
  )
  const limited = await stack.request('POST', '/v2/storage/tokens', {
    json: { description: 'one bucket', bucketPermissions: {} },
  })
  const { token } = limited.json<{ token: string }>()
  assert.equal((await stack.request('GET', '/mlflow/health', { token })).status, 403)
})

test('without a registered server each project has one of the stack, with a store of its own, which ends with the stack; one that cannot start says why', async (t) => {
  let now = Date.now()
  const stack = await startTestStack(t, {
    servers: { mlflowPython: STAND_IN },
    worker: { path: `${dirname(process.execPath)}:/usr/bin:/bin` },
    clock: { now: () => new Date(now) },
  })
  const other = await stack.newProject()
  const logged = async (token: string, json?: object) => {
    const answer = await stack.request(json ? 'POST' : 'GET', '/mlflow/api/runs', { token, ...(json && { json }) })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ runs: unknown[]; store: string }>()
  }
  const [mine] = await Promise.all([logged(stack.masterToken, { a: 1 }), logged(stack.masterToken)])
  await logged(stack.masterToken, { a: 2 })
  const theirs = await logged(other.masterToken)
  assert.deepEqual([(await logged(stack.masterToken)).runs, theirs.runs], [[{ a: 1 }, { a: 2 }], []])
  assert.ok(
    mine.store.endsWith(`/mlflow/${stack.projectId}/mlflow.db`) && theirs.store.endsWith(`/mlflow/${other.projectId}/mlflow.db`),
  )
  assert.ok((await processesWith(mine.store)) > 0 && (await processesWith(theirs.store)) > 0)
  const state = (await stack.request('GET', '/mlflow/server')).json<{ url: string; version: string; problem: null }>()
  assert.equal(state.url, `${stack.url}/mlflow`)
  assert.deepEqual([state.version, state.problem], ['3.0-stand-in', null])

  const third = await stack.newProject()
  await mkdir(join(stack.dataDir, 'mlflow', String(third.projectId)), { recursive: true })
  await writeFile(join(stack.dataDir, 'mlflow', String(third.projectId), 'newer'), '')
  const failed = await stack.request('GET', '/mlflow/api/runs', { token: third.masterToken })
  assert.equal(failed.status, 503)
  assert.match(String(failed.json().error), /could not be started: .* ended with exit code 3 .*the store is of a newer version/)

  const admin = await newStackAdmin(stack)
  await admin.ok('DELETE', `/manage/projects/${other.projectId}?days=2`)
  now += 2 * 86_400_000 + 1
  await stack.platform.tokensApi.projectsLoop.tick()
  assert.equal(await processesWith(theirs.store), 0, 'the server of a removed project has ended')
  await assert.rejects(stat(dirname(theirs.store)), { code: 'ENOENT' })
  await stat(mine.store)

  await stack.platform.close()
  assert.equal(await processesWith(mine.store), 0)
})

const STAND_IN = fileURLToPath(new URL('../../../../../tests/support/servers/mlflow-stand-in.ts', import.meta.url))

/** Processes that have the words on their command line. */
async function processesWith(words: string): Promise<number> {
  const lines = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')),
  )
  return lines.filter((line) => line.includes(words)).length
}

test('the state of a master is read whatever it leaves out', () => {
  assert.equal(readCluster('<html>', 1), undefined)
  assert.equal(readCluster('{"status":"ok"}', 1), undefined)
  assert.deepEqual(readCluster('{"status":"STANDBY","workers":[]}', 1)?.applications, [])
  assert.equal(readVersion('<p>no version</p>'), undefined)
  assert.equal(pagesOf('spark://one:7077,two:7077', undefined), 'http://one:8080')
  assert.equal(pagesOf('local[*]', undefined), undefined)
  assert.equal(pagesOf('sc://host:15002', 'http://host:4040'), 'http://host:4040')
})

/** As no client writes it: the path goes out as it is. */
function rawRequest(port: number, path: string, token: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.end(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-StorageApi-Token: ${token}\r\nConnection: close\r\n\r\n`)
  return text(socket)
}
