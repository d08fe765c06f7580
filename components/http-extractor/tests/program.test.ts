// The extractor as the platform meets it: a process with a data folder.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { childEnvironment } from '../../../tests/support/child-environment.ts'
import { EXTRACTOR_PROGRAM, EXTRACTOR_SOURCE } from '../../../tests/support/extractor-program.ts'
import { json, serve } from './harness.ts'

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface StartOptions {
  readonly args?: readonly string[]
  readonly env?: Record<string, string>
  readonly program?: string
}

function start(dataDir: string, { args = [], env = {}, program = EXTRACTOR_PROGRAM }: StartOptions = {}): Promise<Run> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...childEnvironment(), KBC_DATADIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  const limit = setTimeout(() => child.kill('SIGKILL'), 240_000) // one that never ends
  child.stdout.on('data', (d) => (stdout += d))
  child.stderr.on('data', (d) => (stderr += d))
  return new Promise((done) =>
    child.on('close', (code) => {
      clearTimeout(limit)
      done({ code, stdout, stderr })
    }),
  )
}

function dataFolder(t: TestContext, config: unknown): string {
  const dir = mkdtempSync(join(tmpdir(), 'extractor-program-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  if (config !== undefined) writeFileSync(join(dir, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config))
  return dir
}

test('a good run ends with 0, its tables, its state, and a line that says so', async (t) => {
  const { url } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const dir = dataFolder(t, { parameters: { api: { baseUrl: url }, config: { outputBucket: 'b', jobs: [{ endpoint: 'x' }] } } })
  mkdirSync(join(dir, 'in'))
  writeFileSync(join(dir, 'in', 'state.json'), '{"custom":{"2":"b","1":12345678901234567890},"time":{"previousStart":5}}')
  const before = Math.floor(Date.now() / 1000)
  const { code, stdout, stderr } = await start(`${dir}/`)
  assert.equal(code, 0, stdout + stderr)
  assert.equal(stderr, '')
  assert.deepEqual(readdirSync(dir).sort(), ['config.json', 'in', 'out'])
  assert.deepEqual(readdirSync(join(dir, 'out', 'tables')).sort(), ['b.x', 'b.x.manifest'])
  const state = readFileSync(join(dir, 'out', 'state.json'), 'utf8')
  assert.ok(state.startsWith('{"custom":{"2":"b","1":12345678901234567890},"time":{"previousStart":'), state)
  const { time, 'json_parser.structVersion': version } = JSON.parse(state)
  assert.ok(time.previousStart >= before && time.previousStart <= Date.now() / 1000)
  assert.equal(version, 3)
  const lines = stdout.trim().split('\n')
  assert.match(lines.at(-1)!, /^\[\d{4}-.*Z\] INFO: Extractor finished successfully\. \{\}$/)
  assert.match(stdout, /INFO: 1 page with 1 item gave 1 table with 1 row in/)
})

test('what the user can fix ends with 1: an ERROR line, and the bare message on standard error', async (t) => {
  const { code, stdout, stderr } = await start(dataFolder(t, { api: { baseUrl: 'http://127.0.0.1:1/' } }))
  assert.equal(code, 1)
  assert.match(stdout, /ERROR: The 'config' section is required/)
  assert.equal(stderr, "The 'config' section is required in the configuration.\n")
})

test('what the user cannot fix ends with 2', async (t) => {
  assert.equal((await start(dataFolder(t, undefined))).code, 2)
  assert.equal((await start(dataFolder(t, '{'))).code, 2)
  const dir = dataFolder(t, { api: { baseUrl: 'http://127.0.0.1:1/' }, config: { jobs: [{ endpoint: 'x' }] } })
  assert.equal(
    (await start(dir, { env: { MILLRACE_EGRESS_POLICY: '{"mode":"offf"}' } })).code,
    2,
    'a broken policy must not open the network',
  )
})

test('the egress policy of the environment is enforced', async (t) => {
  const { url, seen, port } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const dir = dataFolder(t, { api: { baseUrl: url }, config: { jobs: [{ endpoint: 'x' }] } })
  const refused = await start(dir, { env: { MILLRACE_EGRESS_POLICY: '{"mode":"guarded","allow":[]}' } })
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /The connection to 127\.0\.0\.1:\d+ is not allowed: it is an address of (this machine|the loopback interface)|it is an address of this machine/,
  )
  assert.deepEqual(seen, [])
  const allowed = await start(dir, {
    env: {
      MILLRACE_EGRESS_POLICY: JSON.stringify({ mode: 'guarded', allow: [`127.0.0.1:${port}`] }),
    },
  })
  assert.equal(allowed.code, 0, allowed.stdout)
  assert.match(
    allowed.stdout,
    /INFO: Connecting to 127\.0\.0\.1:\d+ \(127\.0\.0\.1\), which is open by MILLRACE_EGRESS_ALLOW only\./,
  )
})

test('a recorded run can be replayed without a network, and no secret is in the archive, the log or the cache', async (t) => {
  const secrets = { login: 'ada-login-1', password: 'p@ss/w0rd "x"', token: 'tok~en+12345', key: 'k-98765' }
  const { url } = await serve(t, (q, r) => {
    if (q.url?.startsWith('/login')) return json(r, { access_token: secrets.token, refresh_token: 'refresh-abc-123' })
    if (q.url?.startsWith('/fail')) return json(r, { you: 'sent', authorization: q.headers.authorization, url: q.url }, 500)
    json(r, { items: q.url?.includes('page=1') ? [{ id: 1, echo: q.url }] : [] })
  })
  const config = {
    parameters: {
      api: {
        baseUrl: url,
        retryConfig: { maxRetries: 1 },
        http: { headers: { 'X-Key': { attr: '#key' } }, ignoreErrors: [500] },
        pagination: { method: 'pagenum', limitStop: { count: 1 } },
        authentication: {
          type: 'login',
          loginRequest: {
            endpoint: 'login',
            method: 'POST',
            params: { user: { attr: '#login' }, password: { attr: '#password' } },
            headers: {
              Authorization: {
                function: 'concat',
                args: [
                  'Basic ',
                  {
                    function: 'base64_encode',
                    args: [{ function: 'concat', args: [{ attr: '#login' }, ':', { attr: '#password' }] }],
                  },
                ],
              },
            },
          },
          apiRequest: {
            headers: { Authorization: { function: 'concat', args: ['Bearer ', { response: 'access_token' }] } },
            query: { t: { response: 'access_token' } },
          },
        },
      },
      config: {
        debug: true,
        record: true,
        '#login': secrets.login,
        '#password': secrets.password,
        '#key': secrets.key,
        jobs: [
          { endpoint: 'x', dataField: 'items' },
          { endpoint: 'fail', dataField: '.', dataType: 'x' },
        ],
      },
    },
  }
  const dir = dataFolder(t, config)
  const recorded = await start(dir)
  assert.equal(recorded.code, 0, recorded.stdout)
  const archive = readFileSync(join(dir, 'out', 'files', 'http-exchanges.jsonl'), 'utf8')
  assert.equal(archive.trim().split('\n').length, 4, 'login, one page, the failing request twice')
  const basic = Buffer.from(`${secrets.login}:${secrets.password}`).toString('base64')
  for (const secret of [...Object.values(secrets), basic, 'refresh-abc-123']) {
    for (const form of [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('hex'),
    ]) {
      for (const [where, text] of Object.entries({ stdout: recorded.stdout, stderr: recorded.stderr, archive })) {
        assert.ok(!text.includes(form), `${where} holds ${form}: ${text.split('\n').find((line) => line.includes(form))}`)
      }
    }
  }
  const tables = readFileSync(join(dir, 'out', 'tables', 'x'), 'utf8')
  assert.ok(tables.includes('tok'), 'data itself is not changed')

  const again = dataFolder(t, { parameters: { ...config.parameters, config: { ...config.parameters.config, record: false } } })
  const replayed = await start(again, {
    args: ['--replay', join(dir, 'out', 'files', 'http-exchanges.jsonl')],
    env: {
      MILLRACE_EGRESS_POLICY: '{"mode":"guarded","allow":[]}',
    },
  })
  assert.equal(replayed.code, 0, replayed.stdout)
  assert.equal(readFileSync(join(again, 'out', 'tables', 'x'), 'utf8').split('\n').length, tables.split('\n').length)
})

test('a replay leaves the archive as it is, whatever characters it holds, also where the configuration records', async (t) => {
  const { url } = await serve(t, (_q, r) => json(r, '[{"id":1,"text":"one\u2028two\u2029three\u0085four"}]'))
  const dir = dataFolder(t, { api: { baseUrl: url }, config: { record: true, jobs: [{ endpoint: 'x' }] } })
  assert.equal((await start(dir)).code, 0)
  const archive = join(dir, 'out', 'files', 'http-exchanges.jsonl')
  const recorded = readFileSync(archive, 'utf8')
  const tables = readFileSync(join(dir, 'out', 'tables', 'x'), 'utf8')
  rmSync(join(dir, 'out', 'tables'), { recursive: true })
  const replayed = await start(dir, { args: ['--replay', archive] })
  assert.equal(replayed.code, 0, replayed.stdout)
  assert.equal(readFileSync(archive, 'utf8'), recorded)
  assert.equal(readFileSync(join(dir, 'out', 'tables', 'x'), 'utf8'), tables)
})

test('a failed run leaves its archive and what is known of the failure, and nothing else', async (t) => {
  const { url } = await serve(t, (_q, r) => json(r, { error: 'no' }, 404))
  const dir = dataFolder(t, { api: { baseUrl: url }, config: { record: true, jobs: [{ endpoint: 'x' }] } })
  assert.equal((await start(dir)).code, 1)
  assert.deepEqual(readdirSync(join(dir, 'out')), ['failure.json', 'files'])
  assert.deepEqual(readdirSync(dir).sort(), ['config.json', 'out'])
})

test('a run that is killed leaves no tables', async (t) => {
  let asked = () => {}
  const secondPage = new Promise<void>((done) => {
    asked = done
  })
  const { url } = await serve(t, (q, r) => (q.url === '/x?page=1' ? json(r, [{ id: 1 }]) : asked()))
  const dir = dataFolder(t, { api: { baseUrl: url, pagination: { method: 'pagenum' } }, config: { jobs: [{ endpoint: 'x' }] } })
  const child = spawn(process.execPath, [EXTRACTOR_PROGRAM], {
    env: { ...childEnvironment(), KBC_DATADIR: dir },
    stdio: 'ignore',
  })
  const ended = new Promise((done) => child.on('close', done))
  await secondPage
  child.kill('SIGKILL')
  await ended
  assert.equal(existsSync(join(dir, 'out', 'tables')), false)
})

const action = async (t: TestContext, name: string, parameters: object) => {
  const { code, stdout, stderr } = await start(dataFolder(t, { action: name, parameters }))
  return { code, stderr, stdout, answer: code === 0 ? JSON.parse(stdout) : undefined }
}

test('testConnection logs in, asks for one page and says what came back', async (t) => {
  const { url } = await serve(t, (_q, r) => json(r, [{ id: 1 }, { id: 2 }]))
  const parameters = {
    api: { baseUrl: url, http: { headers: { 'X-Key': { attr: '#key' } } } },
    config: { '#key': 'very-secret', jobs: [{ endpoint: 'x' }] },
  }
  const { answer, stdout } = await action(t, 'testConnection', parameters)
  assert.equal(answer.status, 'success')
  assert.match(answer.message, /answered 200 with 2 items/)
  assert.equal(answer.request.headers['X-Key'], '*****')
  assert.ok(!stdout.includes('very-secret'))
})

test('an action that fails ends with 1 and the message on standard error', async (t) => {
  const { url } = await serve(t, (_q, r) => json(r, { error: 'no' }, 500))
  const { code, stderr, stdout } = await action(t, 'testConnection', {
    api: { baseUrl: url },
    config: { jobs: [{ endpoint: 'x' }] },
  })
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /^The API request failed: \[500\]/)
  assert.match(
    (await action(t, 'dance', {})).stderr,
    /Unknown action 'dance'\. Known actions: run, testConnection, previewPage, walkPages, walkPlan, suggest, curlToConfig, openapiToConfig, harToConfig, evaluate/,
  )
})

test('previewPage shows the request, the items, the rows and what would follow', async (t) => {
  const { url } = await serve(t, (_q, r) => json(r, { items: [{ id: 7, tags: ['a', 'b'] }], next: 'page2' }))
  const parameters = {
    api: { baseUrl: url, pagination: { method: 'response.url', urlKey: 'next' } },
    config: { jobs: [{ endpoint: 'x', dataField: 'items' }] },
  }
  const { answer } = await action(t, 'previewPage', parameters)
  assert.equal(answer.request.url, `${url}x`)
  assert.equal(answer.response.status, 200)
  assert.equal(answer.itemCount, 1)
  assert.deepEqual(answer.items, [{ id: 7, tags: ['a', 'b'] }])
  assert.deepEqual(
    answer.tables.map((table: { table: string }) => table.table),
    ['x', 'x_tags'],
  )
  assert.deepEqual(
    answer.tables[1].rows.map((row: string[]) => row[0]),
    ['a', 'b'],
  )
  assert.equal(answer.next.request.url, `${url}page2`)
})

test('previewPage shows what a run would do: columns of user data, and the next request with everything it carries', async (t) => {
  const { url } = await serve(t, (_q, r) => json(r, [{ id: 7 }]))
  const { answer } = await action(t, 'previewPage', {
    api: {
      baseUrl: url,
      pagination: { method: 'pagenum' },
      http: { headers: { 'X-Key': { attr: '#key' } }, defaultOptions: { params: { lang: 'en' } } },
    },
    config: { '#key': 'very-secret', userData: { source: 'eu' }, jobs: [{ endpoint: 'x' }] },
  })
  assert.deepEqual(answer.tables, [{ table: 'x', columns: ['id', 'source'], rowCount: 1, rows: [['7', 'eu']] }])
  assert.deepEqual(answer.next.request, {
    method: 'GET',
    url: `${url}x?lang=en&page=2`,
    headers: { 'X-Key': '*****' },
    body: null,
  })
})

test('walkPages shows the login and every page, and what a failed answer said', async (t) => {
  const pages: Readonly<Record<string, object>> = { '': { items: [{ id: 1 }], next: 'b' }, b: { items: [{ id: 2 }], next: null } }
  const { url } = await serve(t, (request, r) => {
    if (request.url === '/login') return json(r, { token: 't-1' })
    if (request.headers['x-session'] !== 't-1') return json(r, { message: 'who are you' }, 401)
    return json(r, pages[new URL(request.url!, 'http://h').searchParams.get('after') ?? ''])
  })
  const parameters = {
    api: {
      baseUrl: url,
      authentication: {
        type: 'login',
        loginRequest: { endpoint: 'login', method: 'POST' },
        apiRequest: { headers: { 'X-Session': { response: 'token' } } },
      },
      pagination: { method: 'response.param', responseParam: 'next', queryParam: 'after' },
    },
    config: { jobs: [{ endpoint: 'x', dataField: 'items' }] },
  }
  const kinds = (steps: { kind: string; response: { status: number } }[]) =>
    steps.map(({ kind, response }) => [kind, response.status])
  const { answer } = await action(t, 'walkPages', parameters)
  assert.deepEqual(kinds(answer.steps), [
    ['login', 200],
    ['page', 200],
    ['page', 200],
  ])
  assert.deepEqual(
    answer.steps.slice(1).map((step: { items: object[] }) => step.items),
    [[{ id: 1 }], [{ id: 2 }]],
  )
  assert.match(answer.next.stop, /next/)
  const login = (await action(t, 'walkPages', { ...parameters, pages: 0 })).answer
  assert.deepEqual(kinds(login.steps), [['login', 200]])
  const { authentication: _, ...open } = parameters.api
  const refused = (await action(t, 'walkPages', { ...parameters, api: open, pages: 1 })).answer
  assert.deepEqual(kinds(refused.steps), [['page', 401]])
  assert.match(refused.error, /401/)
  assert.match((await action(t, 'walkPages', { ...parameters, pages: 11 })).stderr, /'pages' must be from 0 to 10, not 11/)
})

test('walkPlan goes through jobs and children within limits, and a recording is replayed without the API', async (t) => {
  const { url, requests } = await serve(t, (request, r) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://h')
    if (pathname === '/login') return json(r, { token: 'secret-session-token' })
    if (pathname !== '/orders') return json(r, [{ sku: pathname }])
    const page = Number(searchParams.get('page') ?? 1)
    return json(
      r,
      [1, 2, 3].map((n) => ({ id: 10 * page + n })),
    )
  })
  const parameters = {
    api: {
      baseUrl: url,
      authentication: {
        type: 'login',
        loginRequest: { endpoint: 'login', method: 'POST' },
        apiRequest: { headers: { 'X-Session': { response: 'token' } } },
      },
      pagination: { method: 'pagenum' },
    },
    config: {
      jobs: [
        { endpoint: 'orders', children: [{ endpoint: 'orders/{id}/lines', dataType: 'lines', placeholders: { id: 'id' } }] },
      ],
    },
    pages: 1,
    record: true,
  }
  const { answer } = await action(t, 'walkPlan', parameters)
  assert.equal(answer.error, null)
  assert.deepEqual(
    answer.steps.map(
      ({ kind, request }: { kind: string; request: { url: string } }) => `${kind} ${request.url.slice(url.length)}`,
    ),
    ['login login', 'page orders?page=1', 'page orders/11/lines?page=1', 'page orders/12/lines?page=1'],
  )
  assert.deepEqual(
    answer.tables.map(({ table, rowCount }: { table: string; rowCount: number }) => [table, rowCount]),
    [
      ['orders', 2],
      ['lines', 2],
    ],
  )
  assert.doesNotMatch(answer.recording, /secret-session-token/)
  const asked = requests.length
  const again = (await action(t, 'walkPlan', { ...parameters, replay: answer.recording })).answer
  assert.deepEqual(again.tables, answer.tables)
  assert.equal(requests.length, asked)
  const few = (await action(t, 'walkPlan', { ...parameters, requests: 3 })).answer
  assert.match(few.error, /Stopped after 3 requests/)
  assert.equal(few.steps.length, 3)
})

test('curlToConfig turns a command into a configuration that runs', async (t) => {
  const { url, requests } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const curl = `curl -sS -X POST '${url}v1/search?x=1' \\\n  -H "Authorization: Bearer abc" -H 'Accept: application/json' --data-raw $'{"q":"it\\'s","n":[1,2]}'`
  const { answer } = await action(t, 'curlToConfig', { curl })
  assert.equal(answer.api.baseUrl, `${url}v1/`)
  assert.equal(answer.config['#authorization'], 'Bearer abc')
  const { code } = await start(dataFolder(t, { parameters: answer }))
  assert.equal(code, 0)
  assert.equal(requests[0]?.line, 'POST /v1/search?x=1')
  assert.equal(requests[0]?.headers.authorization, 'Bearer abc')
  assert.equal(requests[0]?.body, '{"q":"it\'s","n":[1,2]}')
})

test('evaluate gives the value of an expression', async (t) => {
  const expression = { function: 'concat', args: [{ attr: 'a' }, '-', { function: 'date', args: ['Y', 0] }] }
  assert.deepEqual((await action(t, 'evaluate', { expression, config: { a: 'x' } })).answer, { result: 'x-1970' })
  assert.match((await action(t, 'evaluate', { expression: { attr: 'b' }, config: { a: 'x' } })).stderr, /attr 'b' not found/)
})

test('--schema prints the schema of the configuration, from the bundle and from the sources', async (t) => {
  for (const program of [EXTRACTOR_PROGRAM, EXTRACTOR_SOURCE]) {
    const { stdout, code } = await start(dataFolder(t, undefined), { args: ['--schema'], program })
    assert.equal(code, 0)
    assert.deepEqual(Object.keys(JSON.parse(stdout).properties), ['api', 'config', 'iterations', 'sshProxy', 'aws', 'cache'])
  }
})
