// What goes over the wire: headers, lists, defaults, and rules that the documentation's examples do not reach.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extract, json, serve } from './harness.ts'

test('headers outside ASCII are sent as UTF-8, and those of the connection are left to the connection', async (t) => {
  const { url, requests } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const headers = {
    'X-Name': 'Žofie',
    Connection: 'upgrade',
    'Content-Length': '999',
    Host: 'virtual.example.com',
    'User-Agent': 'mine',
  }
  const { error } = await extract({ api: { baseUrl: url, http: { headers } }, config: { jobs: [{ endpoint: 'x' }] } })
  assert.equal(error, undefined)
  const sent = requests[0]!.headers
  assert.equal(Buffer.from(String(sent['x-name']), 'latin1').toString(), 'Žofie')
  assert.equal(sent.host, 'virtual.example.com')
  assert.equal(sent['user-agent'], 'mine')
  assert.equal(sent['content-length'], undefined)
})

test('the login carries its own headers and nothing else, whatever is configured around it', async (t) => {
  const { url, requests } = await serve(t, (q, r) => (q.url === '/login' ? json(r, { t: 'x' }) : json(r, [{ id: 1 }])))
  const { error } = await extract({
    api: {
      baseUrl: url,
      http: { headers: { 'X-Api': '1' }, defaultOptions: { headers: { 'X-Default': '1' }, params: { d: 1 } } },
      authentication: {
        type: 'login',
        loginRequest: { endpoint: 'login', headers: { 'X-Login': '1' } },
        apiRequest: { headers: { 'x-default': { response: 't' } } },
      },
    },
    config: { http: { headers: { 'X-Config': '1' } }, jobs: [{ endpoint: 'y', dataType: 'x', headers: { 'X-Job': '1' } }] },
  })
  assert.equal(error, undefined)
  const names = (i: number) =>
    Object.keys(requests[i]!.headers)
      .filter((name) => name.startsWith('x-'))
      .sort()
  assert.deepEqual(names(0), ['x-login'])
  assert.deepEqual(names(1), ['x-api', 'x-config', 'x-default', 'x-job'])
  assert.equal(requests[1]!.headers['x-default'], 'x', 'the login overwrites a default whatever its letter case')
  assert.deepEqual(
    requests.map(({ line }) => line),
    ['GET /login', 'GET /y?d=1'],
  )
})

test('the login is repeated when its time has passed, and not before', async (t) => {
  let clock = 1_700_000_000_000
  let logins = 0
  const { url, seen } = await serve(t, (q, r) => {
    if (q.url === '/login') return json(r, { t: `t${++logins}` })
    clock += 1000
    json(r, q.url?.includes('page=5') ? [] : [{ id: clock }])
  })
  const { error } = await extract(
    {
      api: {
        baseUrl: url,
        pagination: { method: 'pagenum' },
        authentication: {
          type: 'login',
          loginRequest: { endpoint: 'login' },
          apiRequest: { query: { t: { response: 't' } } },
          expires: '2',
        },
      },
      config: { jobs: [{ endpoint: 'x' }] },
    },
    { now: () => clock },
  )
  assert.equal(error, undefined)
  assert.deepEqual(seen, [
    'GET /login',
    'GET /x?page=1&t=t1',
    'GET /x?page=2&t=t1',
    'GET /login',
    'GET /x?page=3&t=t2',
    'GET /x?page=4&t=t2',
    'GET /login',
    'GET /x?page=5&t=t3',
  ])
})

test('with expires 0 retries and redirects are preceded by a login too', async (t) => {
  let calls = 0
  const { url, seen } = await serve(t, (q, r) => {
    if (q.url === '/login') return json(r, { t: 'x' })
    if (q.url === '/a') return json(r, '', ++calls === 1 ? 503 : 302, { location: '/b' })
    json(r, [{ id: 1 }])
  })
  const { error } = await extract({
    api: { baseUrl: url, authentication: { type: 'login', loginRequest: { endpoint: 'login' }, expires: 0 } },
    config: { jobs: [{ endpoint: 'a' }] },
  })
  assert.equal(error, undefined)
  assert.deepEqual(seen, ['GET /login', 'GET /a', 'GET /login', 'GET /a', 'GET /login', 'GET /b'])
})

test('a redirected POST becomes a GET after 302 and stays a POST after 307', async (t) => {
  const { url, requests } = await serve(t, (q, r) => {
    if (q.url === '/302' || q.url === '/307') return json(r, '', Number(q.url.slice(1)), { location: '/end' })
    json(r, [{ id: 1 }])
  })
  const post = (endpoint: string) => ({ endpoint, method: 'POST', dataType: 'x', params: { a: 1 } })
  const { error } = await extract({ api: { baseUrl: url }, config: { jobs: [post('302'), post('307')] } })
  assert.equal(error, undefined)
  assert.deepEqual(
    requests.map(({ line, body }) => `${line} ${body}`),
    ['POST /302 {"a":1}', 'GET /end ', 'POST /307 {"a":1}', 'POST /end {"a":1}'],
  )
})

test('lists of a job and of the defaults are merged by index, and a child may override an inherited placeholder', async (t) => {
  const { url, seen } = await serve(t, (q, r) => {
    if (q.url?.startsWith('/a?')) return json(r, [{ id: 1, kids: ['k1', 'k2'] }])
    json(r, q.url?.includes('/sub') ? [{ leaf: true }] : [{ id: 9 }])
  })
  const { error, tables } = await extract({
    api: { baseUrl: url, http: { defaultOptions: { params: { l: ['x', 'y', 'z'], o: { a: 1, b: 2 } } } } },
    config: {
      jobs: [
        {
          endpoint: 'a',
          params: { l: ['1'], o: { b: 3 } },
          children: [
            {
              endpoint: 'c/{id}/{kid}',
              dataType: 'c',
              placeholders: { id: 'id', kid: 'kids' },
              children: [{ endpoint: 'c/{id}/sub', dataType: 's', placeholders: { id: 'id' } }],
            },
          ],
        },
      ],
    },
  })
  assert.equal(error, undefined)
  const query = 'l%5B0%5D=1&l%5B1%5D=y&l%5B2%5D=z&o%5Ba%5D=1&o%5Bb%5D=3'
  const defaults = 'l%5B0%5D=x&l%5B1%5D=y&l%5B2%5D=z&o%5Ba%5D=1&o%5Bb%5D=2'
  assert.deepEqual(seen, [
    `GET /a?${query}`,
    ...['c/1/k1', 'c/9/sub', 'c/1/k2', 'c/9/sub'].map((path) => `GET /${path}?${defaults}`),
  ])
  assert.equal(tables.c, '"id","parent_id","parent_kids"\n"9","1","k1"\n"9","1","k2"\n')
  assert.equal(tables.s, '"leaf","parent_id","parent_kids"\n"1","9","k1"\n"1","9","k2"\n')
})

test('api and config are found below parameters and at the top level, also one here and one there', async (t) => {
  const { url } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const api = { baseUrl: url }
  const config = { jobs: [{ endpoint: 'x' }] }
  for (const file of [
    { api, config },
    { parameters: { api, config } },
    { api, parameters: { config } },
    { config, parameters: { api } },
  ]) {
    assert.equal((await extract(file)).error, undefined)
  }
})

test('two equal jobs both run', async (t) => {
  const { url, seen } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const { tables } = await extract({ api: { baseUrl: url }, config: { jobs: [{ endpoint: 'x' }, { endpoint: 'x' }] } })
  assert.equal(seen.length, 2)
  assert.equal(tables.x, '"id"\n"1"\n"1"\n')
})

test('a message names the job and the page, and the log stays on one line', async (t) => {
  const { url } = await serve(t, (q, r) =>
    q.url?.endsWith('=3') ? r.end('<html>\nnot json\u001b[2J') : json(r, [{ id: q.url }]),
  )
  const { error, log } = await extract({
    api: { baseUrl: url, pagination: { method: 'pagenum' } },
    config: { debug: true, jobs: [{ endpoint: 'x', id: 'mine' }] },
  })
  const { context } = error as Error & { context: Record<string, unknown> }
  assert.equal(context.job, 'mine')
  assert.equal(context.page, 3)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for an escape sequence
  assert.doesNotMatch(log.replace(/^ERROR.*$/ms, ''), /\u001b/)
})

test('a credential in a header is hidden even when it is not marked with #', async (t) => {
  const { url } = await serve(t, (q, r) => json(r, { error: q.headers.authorization }, 400))
  const login = { type: 'login', loginRequest: { endpoint: 'login', headers: { 'X-Api-Key': 'login-key-1' } } }
  for (const api of [{ http: { headers: { Authorization: 'Bearer plain-token-1' } } }, { authentication: login }]) {
    const { error, log } = await extract({ api: { baseUrl: url, ...api }, config: { debug: true, jobs: [{ endpoint: 'x' }] } })
    assert.ok(error)
    assert.doesNotMatch(log, /plain-token-1|login-key-1/)
  }
})

test('seconds of a login response count from the login itself, not from the start of that second', async (t) => {
  let clock = 1_700_000_000_900
  const { url, seen } = await serve(t, (q, r) => {
    if (q.url === '/login') return json(r, { seconds: 1 })
    clock += 400
    json(r, q.url?.includes('page=4') ? [] : [{ id: clock }])
  })
  const expires = { response: 'seconds', relative: true }
  const { error } = await extract(
    {
      api: {
        baseUrl: url,
        pagination: { method: 'pagenum' },
        authentication: { type: 'login', loginRequest: { endpoint: 'login' }, expires },
      },
      config: { jobs: [{ endpoint: 'x' }] },
    },
    { now: () => clock },
  )
  assert.equal(error, undefined)
  assert.deepEqual(seen, ['GET /login', 'GET /x?page=1', 'GET /x?page=2', 'GET /x?page=3', 'GET /login', 'GET /x?page=4'])
})

test('a text of digits in a login response is what strtotime reads, and a number where it reads nothing or counts seconds', async (t) => {
  let clock = 1_998_691_199_000 // a second before the 123rd day of 2033
  const answers: Record<string, unknown>[] = []
  const { url, seen } = await serve(t, (q, r) => {
    if (q.url === '/login') return json(r, answers.shift() ?? { until: 4_000_000_000 })
    clock += 1000
    json(r, q.url?.includes('page=3') ? [] : [{ id: clock }])
  })
  const run = async (until: unknown, relative: boolean) => {
    const before = seen.length
    answers.push({ until })
    const authentication = { type: 'login', loginRequest: { endpoint: 'login' }, expires: { response: 'until', relative } }
    const { error } = await extract(
      {
        api: { baseUrl: url, pagination: { method: 'pagenum' }, authentication },
        config: { jobs: [{ endpoint: 'x' }] },
      },
      { now: () => clock },
    )
    assert.equal(error, undefined, String(error))
    answers.length = 0
    return seen.slice(before).join(' ').replaceAll('GET ', '')
  }
  assert.equal(await run('2033.123', false), '/login /x?page=1 /login /x?page=2 /x?page=3')
  assert.equal(await run(String(clock / 1000 + 1), false), '/login /x?page=1 /login /x?page=2 /x?page=3')
  assert.equal(await run('1', true), '/login /x?page=1 /login /x?page=2 /x?page=3')
})

test('a timeout longer than any timer is a long one', async (t) => {
  const { url } = await serve(t, (_q, r) => setTimeout(() => json(r, [{ id: 1 }]), 20))
  const api = { baseUrl: url, http: { requestTimeout: 3_000_000, connectTimeout: '1e12' }, retryConfig: { maxRetries: 0 } }
  assert.equal((await extract({ api, config: { jobs: [{ endpoint: 'x' }] } })).error, undefined)
})

test('scrollRequest goes over the headers of the job too', async (t) => {
  const { url, requests } = await serve(t, (q, r) => json(r, { items: [{ id: q.url }], more: q.url === '/x' ? 'a' : '' }))
  const scrollRequest = { headers: { 'x-a': 'scroll', 'X-C': 'scroll' } }
  const { error } = await extract({
    api: { baseUrl: url, pagination: { method: 'response.param', responseParam: 'more', queryParam: 's', scrollRequest } },
    config: { jobs: [{ endpoint: 'x', headers: { 'X-A': 'job', 'X-B': 'job' } }] },
  })
  assert.equal(error, undefined)
  const sent = requests.map(({ headers }) => [headers['x-a'], headers['x-b'], headers['x-c']])
  assert.deepEqual(sent, [
    ['job', 'job', undefined],
    ['scroll', 'job', 'scroll'],
  ])
})

test('what is wrong before the first request of a job names the job', async (t) => {
  const { url } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const child = { endpoint: 'y/{z}', placeholders: { z: 'z' }, id: 'child' }
  for (const [job, id] of [
    [{ endpoint: 'x', params: { a: { attr: 'nope' } }, id: 'first' }, 'first'],
    [{ endpoint: 'x', userData: { a: { attr: 'nope' } }, id: 'first' }, 'first'],
    [{ endpoint: 'x', children: [child], id: 'parent' }, 'child'],
  ] as const) {
    const { error } = await extract({ api: { baseUrl: url }, config: { jobs: [job] } })
    assert.equal((error as Error & { context: Record<string, unknown> }).context.job, id, error?.message)
  }
})

test('DEBUG lines show requests as they are sent, without their credentials', async (t) => {
  const { url } = await serve(t, (q, r) => json(r, q.url === '/login' ? { t: 'query-token' } : [{ id: 1 }]))
  const { log } = await extract({
    api: {
      baseUrl: url,
      authentication: {
        type: 'login',
        loginRequest: { endpoint: 'login' },
        apiRequest: {
          query: { t: { response: 't' }, plain: 'yes' },
          headers: { Authorization: { attr: 'forgotten' }, 'X-Plain': '1' },
        },
      },
    },
    config: { debug: true, forgotten: 'header-token', jobs: [{ endpoint: 'x' }] },
  })
  assert.match(log, /DEBUG: GET \S+\/x\?t=\*\*\*\*\*&plain=yes \{"headers":\{"Authorization":"\*\*\*\*\*","X-Plain":"1"\}/)
  assert.doesNotMatch(log, /header-token|query-token/)
})

test('the list of allowed hosts is held against the address that is really asked', async (t) => {
  const { url, port, seen } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const image_parameters = { allowed_hosts: [{ host: '127.0.0.1', endpoint: 'api' }] }
  const ask = (endpoint: string) =>
    extract({ image_parameters, api: { baseUrl: `${url}api/` }, config: { jobs: [{ endpoint, dataType: 'x' }] } })
  assert.equal((await ask('v1/x')).error, undefined)
  for (const outside of ['/other', '../other', `//localhost:${port}/api/x`, `http://localhost:${port}/api/x`]) {
    assert.match((await ask(outside)).error?.message ?? '', /is not in the list of allowed hosts/, outside)
  }
  assert.deepEqual(seen, ['GET /api/v1/x'])
})

test('a state that is not an object is reported and not used', async (t) => {
  const { url } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const file = { api: { baseUrl: url }, config: { jobs: [{ endpoint: 'x' }] } }
  assert.match((await extract(file, { state: 5 })).log, /WARNING: State file not found or not readable/)
  assert.doesNotMatch((await extract(file, { state: [] })).log, /State file/, 'an empty list is how PHP writes an empty state')
})

test('iterations into several buckets all leave what they learned in the state', async (t) => {
  const { url } = await serve(t, (q, r) => json(r, [{ [q.url!.slice(1)]: 1 }]))
  const iterations = ['a', 'b', 'c'].map((name) => ({ outputBucket: name, jobs: [{ endpoint: name }] }))
  const { state } = await extract({ parameters: { api: { baseUrl: url }, config: { x: 1 }, iterations } })
  const struct = state!['json_parser.struct'] as { data: Record<string, unknown> }
  assert.deepEqual(Object.keys(struct.data), ['_a', '_b', '_c'])
})

test('basic: one of user name and password may be empty when it is given', async (t) => {
  const { url, requests } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const run = (config: object) =>
    extract({ api: { baseUrl: url, authentication: { type: 'basic' } }, config: { ...config, jobs: [{ endpoint: 'x' }] } })
  assert.equal((await run({ username: 'key', '#password': '' })).error, undefined)
  assert.equal((await run({ '#username': '', '#password': 'token' })).error, undefined)
  assert.deepEqual(
    requests.map(({ headers }) => Buffer.from(headers.authorization!.slice('Basic '.length), 'base64').toString()),
    ['key:', ':token'],
  )
  assert.match((await run({ username: '', '#password': '' })).error?.message ?? '', /^Missing the required '#username'/)
})

test('a job without pagination says at debug level why it ended', async (t) => {
  const { url } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const { log } = await extract({ api: { baseUrl: url }, config: { debug: true, jobs: [{ endpoint: 'x' }] } })
  assert.match(log, /DEBUG: Job 'x' stops after 1 page: there is no pagination\./)
})

test('iterations that share a bucket keep their own mappings, and a wrong one of any is found before the first request', async (t) => {
  const { url, seen } = await serve(t, (_q, r) => json(r, [{ id: 1, name: 'a' }]))
  const api = { baseUrl: url }
  const config = { outputBucket: 'b', jobs: [{ endpoint: 'x' }], mappings: { x: { id: 'id' } } }
  const run = (mappings: unknown) => extract({ parameters: { api, config, iterations: [{ n: 1 }, { mappings }, { n: 3 }] } })
  const { error, tables } = await run({ x: { name: { type: 'table', destination: 'names', tableMapping: { '': 'name' } } } })
  assert.match(error?.message ?? '', /^Multiple results for 'x' table have different columns!/)
  assert.deepEqual(tables, {})
  const same = await run({ x: { name: 'id' } })
  assert.deepEqual(same.tables, { 'b.x': '"id"\n"1"\n"1"\n"a"\n' })
  const before = seen.length
  const wrong = await run({ x: {} })
  assert.match(wrong.error?.message ?? '', /^Empty mapping for 'x' data type/)
  assert.deepEqual([seen.length, wrong.leftovers], [before, []])
})

test('what is odd in a configuration is said once, not with every page or every use', async (t) => {
  const { url } = await serve(t, (q, r) => json(r, q.url?.includes('page=4') ? [] : [{ id: q.url }]))
  const { log, error } = await extract({
    api: {
      baseUrl: url,
      pagination: { method: 'pagenum' },
      authentication: { type: 'url.query', query: { a: 'b' } },
    },
    config: { jobs: [{ endpoint: 'x', children: [{ endpoint: 'y/{of}' }] }] },
  })
  assert.equal(error, undefined)
  const warnings = log.split('\n').filter((line) => line.includes('WARNING') && !line.includes('State file'))
  assert.deepEqual(
    warnings.map((line) => line.slice(line.indexOf('WARNING'), -3)),
    [
      "WARNING: Authentication type 'url.query' is deprecated, use 'query'.",
      "WARNING: No 'placeholders' set for 'y/{of}'. Nothing is requested for it.",
    ],
  )
})

test('a login that does not answer in JSON is named with its address and what came back', async (t) => {
  const { url } = await serve(t, (_q, r) => r.end('<html>'))
  const authentication = { type: 'login', loginRequest: { endpoint: 'login', method: 'POST', params: { p: 'pass' } } }
  const { error } = await extract({ api: { baseUrl: url, authentication }, config: { jobs: [{ endpoint: 'x' }] } })
  assert.equal(
    error?.message,
    "Invalid JSON response to the login request: JSON decode error: Syntax error: unexpected '<' where a value was expected, line 1, column 1 " +
      `(POST ${url}login answered 200 with <html>)`,
  )
})

test('with a login before every request no token is in the archive, however many there were', async (t) => {
  let logins = 0
  const { url } = await serve(t, (q, r) => {
    if (q.url === '/login') return json(r, { value: `session-${++logins}-x` })
    json(r, q.url?.includes('page=1010&') ? [] : [{ id: logins }])
  })
  const { error, files, log } = await extract({
    api: {
      baseUrl: url,
      pagination: { method: 'pagenum' },
      authentication: {
        type: 'login',
        expires: 0,
        loginRequest: { endpoint: 'login' },
        apiRequest: { query: { t: { response: 'value' } } },
      },
    },
    config: { debug: true, record: true, jobs: [{ endpoint: 'x' }] },
  })
  assert.equal(error, undefined)
  const archive = files['http-exchanges.jsonl']!
  assert.equal(archive.trim().split('\n').length, 2020)
  assert.doesNotMatch(archive, /session-\d/)
  assert.doesNotMatch(log, /session-\d/)
})
