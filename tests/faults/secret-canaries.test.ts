// Invariant 6: a `#` value never comes out in clear. Unique values go in wherever they can, then every byte that the stack stored,
// logged or answered is searched for them, also in base64, hexadecimal, percent and JSON-escaped form.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { defined } from '../../server/src/kit/defined.ts'
import { startGitServer } from '../support/servers/git-server.ts'
import { until } from '../support/until.ts'
import { startStack } from './stack.ts'

const C = '/v2/storage/components/platform.ex-http/configs'
const MANAGE = randomBytes(20).toString('hex')

test('no canary is found in the data folder, the log or any answer', async (t) => {
  const git = await startGitServer(t)
  await git.commit({ 'repository.json': '{"name": "team"}' })
  git.credentials = { username: 'ada', password: randomBytes(12).toString('hex') }
  const stack = await startStack(t, {
    env: {
      MILLRACE_LOG_LEVEL: 'debug',
      MILLRACE_MANAGE_TOKEN: MANAGE,
      MILLRACE_EGRESS_ALLOW: '127.0.0.1',
      MILLRACE_TEMPLATE_REPOSITORIES: git.url,
      MILLRACE_TEMPLATE_CREDENTIALS: git.origin.replace('//', `//ada:${git.credentials.password}@`),
    },
  })
  const canaries: string[] = [`/${git.credentials.password}`, `/${MANAGE}`]
  const answers: string[] = []
  const canary = () => {
    const value = `canary"é/${randomBytes(12).toString('hex')}`
    canaries.push(value)
    return value
  }
  const send = async (method: string, path: string, body?: string | FormData | URLSearchParams, type?: string) => {
    const response = await fetch(stack.url + path, {
      method,
      headers: { 'x-storageapi-token': stack.masterToken, ...(type && { 'content-type': type }) },
      ...defined({ body }),
    })
    const text = await response.text()
    answers.push(`${JSON.stringify([...response.headers])}${text}`)
    return { status: response.status, text }
  }
  const json = (method: string, path: string, value?: unknown) =>
    send(
      method,
      path,
      value === undefined ? undefined : JSON.stringify(value),
      value === undefined ? undefined : 'application/json',
    )
  const finished = async (answer: { status: number; text: string }) => {
    const { id } = JSON.parse(answer.text) as { id: number }
    await until(`job ${id} has succeeded`, async () => {
      const { status } = JSON.parse((await json('GET', `/v2/storage/jobs/${id}`)).text) as { status: string }
      assert.notEqual(status, 'error')
      return status === 'success'
    })
    return JSON.parse((await json('GET', `/v2/storage/jobs/${id}`)).text) as { results: { id: number } }
  }

  const deep = (value: unknown, depth = 100): unknown => (depth === 0 ? value : { a: [deep(value, depth - 1)] })
  const secrets = () => ({
    parameters: {
      '#plain': canary(),
      '#object': { '#inner': canary(), password: canary() },
      '#list': [canary(), [canary()]],
      '#objects': [{ password: canary() }],
      '#empty': '',
    },
    storage: { list: [{ '#in-list': canary() }, deep({ '#deep': canary() })] },
  })
  // Every way in.
  assert.equal(
    (await json('POST', C, { name: 'n', configurationId: 'c', configuration: secrets(), state: secrets() })).status,
    201,
  )
  assert.equal((await json('PUT', `${C}/c`, { configuration: secrets(), state: secrets() })).status, 200)
  assert.equal((await send('PUT', `${C}/c`, new URLSearchParams({ configuration: JSON.stringify(secrets()) }))).status, 200)
  const form = new FormData()
  form.set('configuration', JSON.stringify(secrets()))
  assert.equal((await send('PUT', `${C}/c`, form)).status, 200)
  const escaped = [...canary()].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  assert.equal((await send('PUT', `${C}/c`, `{"configuration":{"\\u0023esc":"${escaped}"}}`, 'application/json')).status, 200)
  assert.equal(
    (
      await send(
        'PUT',
        `${C}/c`,
        `{"configuration":{"#twice":"${canary().replace('"', '\\"')}","#twice":"x"}}`,
        'application/json',
      )
    ).status,
    200,
  )
  assert.equal((await json('PUT', `${C}/c/state`, { state: secrets() })).status, 200)
  assert.equal((await json('POST', `${C}/c/rows`, { rowId: 'r', configuration: secrets(), state: secrets() })).status, 201)
  assert.equal((await json('PUT', `${C}/c/rows/r`, { configuration: secrets() })).status, 200)
  assert.equal((await json('PUT', `${C}/c/rows/r/state`, { state: secrets() })).status, 200)
  const branch = await finished(await json('POST', '/v2/storage/dev-branches', { name: 'dev' }))
  const inBranch = `/v2/storage/branch/${branch.results.id}/components/platform.ex-http/configs/c`
  assert.equal((await json('PUT', inBranch, { configuration: secrets() })).status, 200)
  const rebase = { version: 1, configuration: secrets(), rows: [{ id: 'r', configuration: secrets() }] }
  assert.equal((await json('POST', `${inBranch}/rebase`, rebase)).status, 200)
  const V = '/v2/storage/components/keboola.variables/configs'
  const values = () => [{ name: '#password', value: canary() }]
  const objectValues = () => [{ name: '#password', value: { inner: canary() } }]
  assert.equal((await json('POST', V, { name: 'v', configurationId: 'v', configuration: { variables: values() } })).status, 201)
  assert.equal((await json('POST', `${V}/v/rows`, { rowId: 'r', configuration: { values: values() } })).status, 201)
  assert.equal((await json('POST', `${V}/v/rows`, { rowId: 'o', configuration: { values: objectValues() } })).status, 201)
  const variableValuesData = { values: values() }
  assert.equal(
    (await json('POST', '/queue/jobs', { component: 'platform.ex-http', config: 'c', variableValuesData })).status,
    201,
  )
  assert.equal((await json('POST', '/encryption/encrypt?projectId=1', secrets())).status, 200)
  const O = '/oauth/credentials/platform.ex-http'
  const tokens = () => JSON.stringify({ access_token: canary(), refresh_token: canary() })
  const credentials = () => ({ id: 'o', authorizedFor: 'me', '#data': tokens(), appKey: 'k', appSecret: canary() })
  assert.equal((await json('POST', O, credentials())).status, 201)
  assert.equal((await json('POST', O, credentials())).status, 409)
  assert.equal((await json('POST', O, { ...credentials(), id: 'not an id' })).status, 400)
  const authorise = new URLSearchParams({ token: stack.masterToken, provider: 'github', appKey: 'k', appSecret: canary() })
  const begun = await fetch(`${stack.url}/oauth/authorize/platform.ex-http`, {
    method: 'POST',
    body: authorise,
    redirect: 'manual',
  })
  assert.equal(begun.status, 302)
  const T = '/templates/v1/repositories/millrace/templates/login-api/default'
  const filled = () => ({ name: 't', steps: [{ id: 'source', inputs: [{ id: 'password', value: canary() }] }] })
  for (const way of ['preview', 'use']) assert.equal((await json('POST', `${T}/${way}`, filled())).status, 202)
  assert.equal((await send('POST', '/encryption/encrypt', canary(), 'text/plain')).status, 200)
  const providerOf = async (method: string, path: string, more: object) => {
    const response = await fetch(`${stack.url}/oauth/manage${path}`, {
      method,
      headers: { 'x-kbc-manageapitoken': MANAGE, 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'github', app_key: 'k', app_secret: canary(), ...more }),
    })
    answers.push(await response.text())
    return response.status
  }
  assert.equal(await providerOf('POST', '', { component_id: 'own' }), 201)
  assert.equal(await providerOf('POST', '', { component_id: 'own' }), 409)
  assert.equal(await providerOf('PATCH', '/own', {}), 200)
  assert.equal(await providerOf('PATCH', '/own', { auth_url: 'ftp://x' }), 400)
  const D = '/data-science/apps'
  const app = (parameters: object) => json('POST', D, { type: 'node', config: { parameters } })
  const ofGit = await app({
    dataApp: { git: { repository: git.url, username: 'ada', '#password': canary() }, secrets: { '#KEY': canary() } },
  })
  assert.equal(ofGit.status, 201)
  assert.ok(
    [400, 422].includes((await json('PATCH', `${D}/1`, { desiredState: 'running' })).status),
    'the password is not that of the repository',
  )
  assert.equal((await app({ script: 'x', dataApp: { secrets: { '#API_KEY': canary() } } })).status, 201)
  await json('PATCH', `${D}/2`, { desiredState: 'running' })
  await until('the repository of templates is fetched', async () =>
    /"name":"team"/.test((await json('GET', '/templates/v1/repositories')).text),
  )
  // What only its owner is shown is a secret everywhere else.
  const shown = async (method: string, path: string, member: string, body?: object): Promise<string> => {
    const response = await fetch(stack.url + path, {
      method,
      headers: { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const found = ((await response.json()) as Record<string, string>)[member]
    assert.ok(found, `${method} ${path}: ${response.status}`)
    canaries.push(`/${found}`)
    return found
  }
  await shown('GET', `${D}/2/password`, 'password')
  const link = await shown('POST', `${D}/2/links`, 'url', {})
  canaries.splice(-1, 1, `/${link.split('~')[1]!.slice(0, 43)}`)
  const hosted = (await json('POST', D, { type: 'python-js', useManagedGitRepo: true })).text
  await shown('POST', `${D}/${/"id":"(\d+)"/.exec(hosted)?.[1]}/git-repo/credentials`, 'secret', {})
  await shown('POST', '/sandboxes/sandboxes', 'password', { type: 'sql' })
  const oauthLink = await shown('POST', '/oauth/links', 'url', { componentId: 'platform.ex-http' })
  canaries.splice(-1, 1, `/${new URL(oauthLink).searchParams.get('token')}`)
  // Requests that fail: what they carried must not be quoted.
  const broken = JSON.stringify({ configuration: secrets() })
  for (const cut of [broken.slice(0, -3), broken.slice(0, 120), `${broken}x`, broken.replace('":', '" ')]) {
    assert.equal((await send('PUT', `${C}/c`, cut, 'application/json')).status, 400)
    assert.equal((await send('PUT', `${C}/c`, new URLSearchParams({ configuration: cut }))).status, 400)
    assert.equal((await send('POST', '/encryption/encrypt', cut, 'application/json')).status, 400)
  }
  assert.equal((await json('PUT', `${C}/c`, { configuration: [secrets()] })).status, 400)
  assert.equal((await json('PUT', `${C}/c`, { configuration: secrets(), rowsSortOrder: ['none'] })).status, 400)
  assert.equal((await json('PUT', `${C}/none`, { configuration: secrets() })).status, 404)
  // Every way out.
  for (const path of [
    '',
    '/versions?include=configuration',
    '/versions/2',
    '/rows',
    '/rows/r',
    '/rows/r/versions?include=configuration',
    '/rows/r/effective',
  ])
    assert.equal((await json('GET', `${C}/c${path}`)).status, 200, path)
  for (const path of ['diff', 'rows/r/diff', 'rows/r/effective'])
    assert.equal((await json('GET', `${inBranch}/${path}`)).status, 200, path)
  await json('POST', `${C}/c/versions/2/rollback`, {})
  await json('POST', `${C}/c/versions/2/create`, { name: 'copy' })
  await json('GET', '/v2/storage/components?include=configuration,rows,state')
  await json('GET', `${V}/v/rows`)
  await json('GET', '/queue/jobs')
  for (const path of ['', '/o']) assert.equal((await json('GET', `${O}${path}`)).status, 200)
  assert.equal((await json('GET', '/templates/v1/project/default/instances')).status, 200)
  await json('GET', '/v2/storage/events?limit=1000')
  await json('GET', '/metrics')
  assert.equal(await stack.stop(), 0)

  const places = new Map<string, Buffer>([
    ['the log', readFileSync(`${stack.dataDir}.log`)],
    ['an answer', Buffer.from(answers.join('\n'))],
  ])
  for (const entry of readdirSync(stack.dataDir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) places.set(entry.name, readFileSync(join(entry.parentPath, entry.name)))
  }
  assert.ok(
    [...places].some(([name, bytes]) => name.startsWith('metadata') && bytes.length > 50_000),
    'the database is among the places',
  )
  assert.ok(places.get('an answer')!.includes('KBC::ProjectSecure::'), 'the answers are among the places')
  for (const [place, bytes] of places) {
    for (const value of canaries)
      for (const form of formsOf(value)) assert.ok(!bytes.includes(form), `${place} holds ${value} as ${form}`)
  }
  assert.ok(canaries.length > 100, String(canaries.length))
})

/** The recognisable part of a canary is its random end; the beginning makes sure that escaping is exercised. */
function formsOf(value: string): string[] {
  const core = value.slice(value.indexOf('/') + 1)
  const base64 = [0, 1, 2].map((shift) =>
    // The same bytes at the three possible offsets; the characters at the edges depend on the neighbours.
    Buffer.concat([Buffer.alloc(shift), Buffer.from(core)])
      .toString('base64')
      .slice(4, -4),
  )
  const hex = Buffer.from(core).toString('hex')
  const percent = [...core].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')
  const escaped = [...core].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join('')
  return [core, core.toUpperCase(), ...base64, hex, hex.toUpperCase(), percent, escaped]
}
