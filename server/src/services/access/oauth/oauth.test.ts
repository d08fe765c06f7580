// The broker against a real authorisation server: oidc-provider, in this process, over real sockets; and against one of OAuth 1.0a.

import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import test from 'node:test'
import { newStackAdmin } from '../../../../../tests/support/clients/person-client.ts'
import {
  type AuthorisationServer,
  CLIENT,
  createBrowser,
  startAuthorisationServer,
} from '../../../../../tests/support/servers/authorisation-server.ts'
import { CONSUMER, startOauth1Server } from '../../../../../tests/support/servers/oauth1-server.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../../../tests/support/shell-stack.ts'
import type { TestScope } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import type { CredentialsView } from './credentials.ts'

const MANAGE = 'a-manage-token-for-tests'
/** How far the clock of the stack is ahead of that of the authorisation server. */
let aheadMs = 0
const clock = { now: () => new Date(Date.now() + aheadMs) }
const startProject = shareShellStack({ manageToken: MANAGE, worker: { egressAllow: ['127.0.0.1'] }, clock })
const COMPONENT = 'keboola.ex-generic-v2'

interface Setup {
  readonly stack: ShellStack
  readonly server: AuthorisationServer
  readonly provider: string
  readonly redirectUrl: string
}

let count = 0

async function setUp(t: TestScope, options: { accessTokenSeconds?: number; codeSeconds?: number } = {}): Promise<Setup> {
  const stack = await startProject()
  const redirectUrl = `${stack.url}/oauth/authorize/${COMPONENT}/callback`
  const server = await startAuthorisationServer(t, { redirectUrls: [redirectUrl], ...options })
  const provider = `test-${++count}`
  const added = await manage(stack, 'POST', '/oauth/manage', { component_id: provider, ...server.definition })
  assert.equal(added.status, 201, added.text)
  return { stack, server, provider, redirectUrl }
}

const manage = (stack: ShellStack, method: string, path: string, json?: object) =>
  stack.request(method, path, { token: null, headers: { 'X-KBC-ManageApiToken': MANAGE }, ...(json && { json }) })

const startUrl = ({ stack, provider }: Setup, more: Record<string, string> = {}): string =>
  `${stack.url}/oauth/authorize/${COMPONENT}?${new URLSearchParams({ token: stack.masterToken, provider, id: 'shop', authorizedFor: 'The shop', ...more })}`

/** The whole way of a person; the page at its end. */
async function authorise(setup: Setup, browser = createBrowser(), more: Record<string, string> = {}) {
  const start = await browser.visit(startUrl(setup, more))
  assert.equal(start.status, 302, start.text)
  const back = await browser.agree(start.location!, setup.server.url)
  return browser.visit(back)
}

const credentialsOf = async ({ stack }: Setup, id = 'shop'): Promise<CredentialsView> =>
  (await stack.request('GET', `/oauth/credentials/${COMPONENT}/${id}`)).json<CredentialsView & Record<string, unknown>>()

/** What a run of the extractor gets, queried at the authorisation server's own API. */
async function runExtractor({ stack, server }: Setup, oauthApi: object): Promise<Job> {
  const config = await stack.configure(COMPONENT, {
    authorization: { oauth_api: oauthApi },
    parameters: {
      api: {
        baseUrl: server.url,
        authentication: {
          type: 'oauth20',
          format: 'json',
          headers: { Authorization: { function: 'concat', args: ['Bearer ', { authorization: 'data.access_token' }] } },
        },
      },
      config: { outputBucket: 'oauth', jobs: [{ endpoint: 'me', dataType: 'me', dataField: '.' }] },
    },
  })
  return stack.wait(
    (await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run' } })).json<Job>(),
  )
}

test('E94: a person authorises, the credentials are ciphers, and the HTTP extractor works with them', async (t) => {
  const setup = await setUp(t)
  const { stack } = setup
  const end = await authorise(setup)
  assert.equal(end.status, 200, end.text)
  assert.match(end.text, /can be used now/)

  const record = await credentialsOf(setup)
  assert.deepEqual(Object.keys(record).slice(0, 8), [
    'id',
    'authorizedFor',
    'creator',
    'created',
    'oauthVersion',
    'appKey',
    '#data',
    '#appSecret',
  ])
  assert.match(record.created, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  assert.equal(record.appKey, CLIENT.id)
  for (const cipher of [record['#data'], record['#appSecret']]) assert.match(cipher, /^KBC::ProjectSecure::/)

  const job = await runExtractor(setup, { id: 'shop', version: 3 })
  assert.equal(job.status, 'success', JSON.stringify(job.result))
  const table = await stack.request('GET', '/v2/storage/tables/in.c-oauth.me/data-preview')
  assert.match(table.text, /somebody/)

  const events = (await stack.request('GET', '/v2/storage/events')).text
  assert.match(events, /Created OAuth credentials \\"The shop\\" \(shop\)/)
})

test('a refused consent, an unknown state, another browser and a second callback leave nothing behind', async (t) => {
  const setup = await setUp(t)
  const { stack, server } = setup
  const browser = createBrowser()
  const start = await browser.visit(startUrl(setup))
  const refused = await browser.visit(await browser.agree(start.location!, server.url, true))
  assert.equal(refused.status, 400)
  assert.match(refused.text, /Test server did not authorise the request: access_denied/)

  const returnUrl = `${stack.url}/console/?tab=1`
  const returning = await browser.visit(startUrl(setup, { returnUrl }))
  const back = await browser.visit(await browser.agree(returning.location!, server.url, true))
  assert.equal(back.status, 302)
  assert.match(back.location!, /\/console\/\?tab=1&error=oauth\.denied&error_description=/)
  const elsewhere = await browser.visit(startUrl(setup, { returnUrl: 'https://elsewhere.example.com/' }))
  assert.match(elsewhere.text, /neither on this stack/)

  const callback = await browser.agree((await browser.visit(startUrl(setup))).location!, server.url)
  const wrongState = callback.replace(/state=[^&]+/, 'state=wrong')
  for (const address of [wrongState, callback.replace(/[&?]state=[^&]+/, '')])
    assert.match((await browser.visit(address)).text, /This authorisation is unknown/)
  assert.match((await createBrowser().visit(callback)).text, /started in another browser/)
  assert.equal((await stack.request('GET', `/oauth/credentials/${COMPONENT}`)).text, '[]')

  assert.equal((await browser.visit(callback)).status, 200, 'what others tried with the state took nothing away')
  assert.match((await browser.visit(callback)).text, /This authorisation is unknown/)
  assert.equal((await credentialsOf(setup)).id, 'shop')
})

test('a code that is over, and a provider that is down, redirects for ever or answers nonsense, end with a sentence', async (t) => {
  const setup = await setUp(t, { codeSeconds: 1 })
  const { server } = setup
  const browser = createBrowser()
  const arrive = async () => browser.agree((await browser.visit(startUrl(setup))).location!, server.url)
  const late = await arrive()
  const issued = Date.now()
  await until('the code is over', () => Date.now() > issued + 2000)
  assert.match((await browser.visit(late)).text, /no longer accepts the grant: invalid_grant/)

  const onToken = (answer: (response: ServerResponse) => void) => (request: IncomingMessage, response: ServerResponse) => {
    if (request.url !== '/token') return false
    answer(response)
    return true
  }
  const failures: [RegExp, (response: ServerResponse) => void][] = [
    [/cannot be reached/, (response) => void response.destroy()],
    [/cannot be reached: it answered with status 503/, (response) => void response.writeHead(503).end('busy')],
    [
      /a redirect \(status 302\), which is not followed/,
      (response) => void response.writeHead(302, { location: '/token' }).end(),
    ],
    [/returned an invalid OAuth response/, (response) => void response.writeHead(200).end('<html>hello</html>')],
    [/returned an invalid OAuth response/, (response) => void response.writeHead(200).end('{"token":1}')],
    [/bad_verification_code/, (response) => void response.writeHead(200).end('{"error":"bad_verification_code"}')],
  ]
  for (const [sentence, answer] of failures) {
    server.intercept(onToken(answer))
    const callback = await arrive()
    const page = await browser.visit(callback)
    assert.equal(page.status, 400)
    assert.match(page.text, sentence)
  }
  assert.equal(server.asked.filter((path) => path === '/token').length, failures.length + 1, 'each is asked once')
  assert.equal((await setup.stack.request('GET', `/oauth/credentials/${COMPONENT}`)).text, '[]')
})

test('what providers answer that bend the standard is understood', async (t) => {
  const setup = await setUp(t)
  setup.server.intercept((request, response) => {
    if (request.url !== '/token') return false
    response.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' })
    response.end('access_token=canary-form-token&scope=all&token_type=bot')
    return true
  })
  assert.equal((await authorise(setup)).status, 200)
  const job = await runShell(
    setup.stack,
    { id: 'shop', version: 3 },
    'cat "$KBC_DATADIR/config.json" | grep -c canary-form-token',
  )
  assert.equal(job.status, 'success', JSON.stringify(job.result))
})

/** A component in shell instead of the extractor, with credentials of its own. */
async function runShell(stack: ShellStack, oauthApi: object, script: string): Promise<Job> {
  await stack.add('test.oauth', script)
  const found = (await stack.request('GET', `/oauth/credentials/${COMPONENT}`)).json<CredentialsView[]>()
  assert.ok(found.length > 0)
  await stack.request('POST', '/oauth/credentials/test.oauth', {
    json: { id: 'shop', authorizedFor: 'x', '#data': { access_token: 'canary-form-token' } },
  })
  const config = await stack.configure('test.oauth', { authorization: { oauth_api: oauthApi } })
  return stack.wait((await stack.request('POST', '/queue/jobs', { json: { component: 'test.oauth', config } })).json<Job>())
}

test('an access token that is nearly over is exchanged before a run, once for all that ask, and the rotated token is the next one', async (t) => {
  const setup = await setUp(t, { accessTokenSeconds: 60 })
  const { stack, server } = setup
  assert.equal((await authorise(setup)).status, 200)
  const exchanges = () => server.asked.filter((path) => path === '/token').length
  const before = exchanges()
  const refresh = () => stack.request('POST', `/oauth/credentials/${COMPONENT}/shop/refresh`)
  const answers = await Promise.all(Array.from({ length: 6 }, refresh))
  for (const answer of answers) assert.equal(answer.status, 200, answer.text)
  assert.equal(exchanges() - before, 1, 'six ask, one is sent')
  assert.ok((await credentialsOf(setup)).refreshed)
  // The server revokes everything when a refresh token is used twice, so a second exchange proves that the rotated one was kept.
  const job = await runExtractor(setup, { id: 'shop', version: 3 })
  assert.equal(job.status, 'success', JSON.stringify(job.result))
  assert.equal(exchanges() - before, 2)
  const left = await runExtractor(setup, { id: 'shop', version: 3, refresh: false })
  assert.equal(left.status, 'success', JSON.stringify(left.result))
  assert.equal(exchanges() - before, 2, 'a configuration can keep refreshing to itself')

  server.intercept((request, response) => {
    if (request.url !== '/token') return false
    response.destroy()
    return true
  })
  assert.equal((await runExtractor(setup, { id: 'shop' })).status, 'success', 'the token that is there still holds')
  const down = await refresh()
  assert.equal(down.status, 503)
  assert.match(down.text, /cannot be reached/)
  server.intercept(undefined)
  assert.equal((await refresh()).status, 200)
  assert.match((await stack.request('GET', '/v2/storage/events')).text, /Refreshed OAuth credentials/)
})

test('a grant that is gone stops runs with a sentence until somebody authorises again', async (t) => {
  const setup = await setUp(t, { accessTokenSeconds: 60 })
  const { stack } = setup
  await authorise(setup)
  const tested = () => stack.request('POST', `/oauth/credentials/${COMPONENT}/shop/test`)
  assert.equal((await tested()).json().status, 'ok')
  const revoked = await stack.request('POST', `/oauth/credentials/${COMPONENT}/shop/revoke`)
  assert.equal(revoked.status, 200, revoked.text)
  assert.match((await tested()).text, /were revoked/)
  const job = await runExtractor(setup, { id: 'shop', version: 3 })
  assert.equal(job.status, 'error')
  assert.equal(job.result.error?.type, 'user')
  assert.match(job.result.message, /"shop" are not usable: They were revoked. Authorise them again/)

  await authorise(setup)
  assert.equal((await tested()).json().status, 'ok')
  setup.server.intercept((request, response) => {
    if (request.url !== '/token') return false
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
    return true
  })
  const refused = await stack.request('POST', `/oauth/credentials/${COMPONENT}/shop/refresh`)
  assert.equal(refused.status, 400)
  assert.match(refused.text, /no longer accepts the grant: invalid_grant. Authorise them again/)
  assert.match((await credentialsOf(setup)).problem!, /invalid_grant/)
  setup.server.intercept(undefined)
  await authorise(setup)
  assert.equal((await credentialsOf(setup)).problem, null)
  assert.equal((await runExtractor(setup, { id: 'shop' })).status, 'success')
  const missing = await runExtractor(setup, { id: 'nobody' })
  assert.match(missing.result.message, /no OAuth credentials "nobody"/)
  const events = (await stack.request('GET', '/v2/storage/events')).text
  for (const sentence of [/Revoked OAuth/, /Authorised again OAuth/, /must be authorised again/]) assert.match(events, sentence)
})

test('a link leads a person through a page to the provider, and the configuration gets the credentials', async (t) => {
  const setup = await setUp(t)
  const { stack, server, provider } = setup
  const config = await stack.configure(COMPONENT, { parameters: { big: 1 } })
  const link = await stack.request('POST', '/oauth/links', {
    json: { componentId: COMPONENT, configurationId: config, provider },
  })
  assert.equal(link.status, 201, link.text)
  const { url } = link.json<{ url: string }>()
  const browser = createBrowser()
  const page = await browser.visit(url)
  assert.equal(page.status, 200, page.text)
  const hidden = [...page.text.matchAll(/type="hidden" name="([^"]+)" value="([^"]+)"/g)].map(([, name, value]) => [name, value])
  const action = /action="([^"]+)"/.exec(page.text)![1]!
  const start = await browser.visit(new URL(action, url).href, { ...Object.fromEntries(hidden), authorizedFor: 'By link' })
  assert.equal(start.status, 302, start.text)
  assert.equal((await browser.visit(await browser.agree(start.location!, server.url))).status, 200)
  const saved = (await stack.request('GET', `/v2/storage/components/${COMPONENT}/configs/${config}`)).json<{
    configuration: { authorization: { oauth_api: { id: string; version: number } } }
    version: number
  }>()
  const { id, version } = saved.configuration.authorization.oauth_api
  assert.equal(version, 3)
  assert.equal((await credentialsOf(setup, id)).authorizedFor, 'By link')
  const token = new URL(url).searchParams.get('token')!
  assert.equal((await stack.request('GET', '/v2/storage/tokens', { token })).json<{ expires: string }[]>().length, 1)
  assert.equal((await stack.request('GET', '/oauth/credentials/test.oauth', { token })).status, 403)
  assert.match((await browser.visit(url.replace(/token=[^&]+/, 'token=wrong'))).text, /Invalid access token/)
})

test('the person is sent to the public address, with PKCE, a client of their own and the values of userData', async (t) => {
  const setup = await setUp(t)
  const { stack, server, redirectUrl } = setup
  await manage(stack, 'PATCH', `/oauth/manage/${setup.provider}`, { auth_url: `${server.url}/%%tenant%%/auth` })
  const asked = await createBrowser().visit(
    startUrl(setup, { userData: '{"tenant":"acme"}', appKey: 'own', appSecret: 'canary-own', scope: 'only this' }),
  )
  const url = new URL(asked.location!)
  assert.equal(url.pathname, '/acme/auth')
  const { code_challenge, state, ...rest } = Object.fromEntries(url.searchParams)
  assert.ok(code_challenge && state)
  assert.deepEqual(rest, {
    client_id: 'own',
    code_challenge_method: 'S256',
    prompt: 'consent',
    redirect_uri: redirectUrl,
    response_type: 'code',
    scope: 'only this',
  })
  await manage(stack, 'PATCH', `/oauth/manage/${setup.provider}`, { auth_url: `${server.url}/auth`, app_secret: 'not the one' })
  assert.match((await authorise(setup)).text, /invalid_client/)
  const ownClient = { appKey: CLIENT.id, appSecret: CLIENT.secret }
  assert.equal((await authorise(setup, createBrowser(), ownClient)).status, 200, 'the code is exchanged with the own client')
  assert.equal((await credentialsOf(setup)).appKey, CLIENT.id)
  assert.equal(
    (await stack.request('POST', `/oauth/credentials/${COMPONENT}/shop/refresh`)).status,
    200,
    'and so is a refresh token',
  )

  await manage(stack, 'PATCH', `/oauth/manage/${setup.provider}`, { auth_url: `${server.url}/%%tenant%%/auth` })
  for (const tenant of ['', 'a/b', 'evil.example.com#', 'a@b', 'a:1']) {
    const refused = await createBrowser().visit(startUrl(setup, { userData: JSON.stringify({ tenant }) }))
    assert.match(refused.text, /is not valid in a host name/)
  }
})

test('providers are managed with the manage token alone, and their secrets are never shown', async (t) => {
  const { stack, provider, server } = await setUp(t)
  assert.equal((await stack.request('GET', '/oauth/manage')).status, 401)
  assert.equal((await stack.request('GET', '/oauth/manage', { headers: { 'X-KBC-ManageApiToken': 'wrong' } })).status, 401)
  const admin = await newStackAdmin(stack)
  const { token } = await admin.ok<{ token: string }>('POST', '/account/manage-tokens', { description: 'script' })
  const byAdmin = await stack.request('GET', '/oauth/manage', { token: null, headers: { 'X-KBC-ManageApiToken': token } })
  assert.equal(byAdmin.status, 200)
  const detail = await manage(stack, 'GET', `/oauth/manage/${provider}`)
  assert.equal(detail.json().app_key, CLIENT.id)
  const all = await manage(stack, 'GET', '/oauth/manage')
  for (const answer of [detail, all]) assert.doesNotMatch(answer.text, /canary/)
  assert.equal((await manage(stack, 'POST', '/oauth/manage', { component_id: provider, ...server.definition })).status, 409)
  const bad: [object, RegExp][] = [
    [{ auth_url: 'http://shop.example.com/auth' }, /must begin with https/],
    [{ token_url: 'ftp://x' }, /must begin with https/],
    [{ oauth_version: '1.0' }, /request_token_url: it is missing/],
    [{ oauth_version: '3.0' }, /oauth_version/],
  ]
  for (const [change, sentence] of bad) {
    const answer = await manage(stack, 'PATCH', `/oauth/manage/${provider}`, change)
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, sentence)
  }
  const based = { ...server.definition, component_id: `${provider}.based`, provider }
  assert.equal((await manage(stack, 'POST', '/oauth/manage', based)).status, 201)
  const circle = await manage(stack, 'PATCH', `/oauth/manage/${provider}`, { provider: `${provider}.based` })
  assert.match(circle.text, /it refers to itself/)
  const derived = await manage(stack, 'POST', '/oauth/manage', {
    component_id: `${provider}.google`,
    provider: 'google',
    app_key: 'k',
    app_secret: 's3',
  })
  assert.equal(derived.status, 201, derived.text)
  const shown = (await stack.request('GET', `/oauth/providers/${provider}.google?componentId=platform.ex-http`)).json()
  assert.equal(shown.hasClient, true)
  assert.equal(shown.redirectUrl, `${stack.url}/oauth/authorize/${COMPONENT}/callback`)
  const list = (await stack.request('GET', '/oauth/providers')).json<{ id: string }[]>()
  for (const id of ['google', 'microsoft', 'github', 'salesforce', 'hubspot', 'slack', 'shopify', 'trello'])
    assert.ok(
      list.some((one) => one.id === id),
      `${id} is built in`,
    )
  assert.equal((await manage(stack, 'DELETE', `/oauth/manage/${provider}`)).status, 204)
  assert.equal((await manage(stack, 'DELETE', `/oauth/manage/${provider}`)).status, 404)
  assert.equal((await stack.request('GET', `/oauth/providers/${provider}`)).status, 404)

  const changed = { 'X-KBC-ManageApiToken': token }
  const byPerson = await stack.request('PATCH', `/oauth/manage/${provider}.based`, {
    token: null,
    headers: changed,
    json: { app_secret: 'canary' },
  })
  assert.equal(byPerson.status, 200, byPerson.text)
  const events = await admin
    .in(1) // the oldest project has what concerns the whole stack
    .ok<{ message: string; token: { name: string } }[]>('GET', '/v2/storage/events?limit=1000')
  const said = events
    .filter(({ message }) => message.includes(`OAuth provider ${provider}`))
    .map(({ message, token: { name } }) => `${message} by ${name}`)
  assert.deepEqual(said.toReversed(), [
    `Saved OAuth provider ${provider} by manage token of the stack`,
    `Saved OAuth provider ${provider}.based by manage token of the stack`,
    `Saved OAuth provider ${provider}.google by manage token of the stack`,
    `Removed OAuth provider ${provider} by manage token of the stack`,
    `Saved OAuth provider ${provider}.based by root`,
  ])
  assert.doesNotMatch(JSON.stringify(events), /canary/)
})

test('a file in the folder oauth-providers adds a provider or a client of one that is built in, and is read again', async () => {
  const stack = await startProject()
  const folder = join(stack.dataDir, 'oauth-providers')
  const write = (name: string, text: string) => writeFile(join(folder, name), text)
  const shown = (id: string) => stack.request('GET', `/oauth/providers/${id}`)
  assert.equal((await shown('github')).json().hasClient, false)
  assert.equal((await shown('of-a-file')).status, 404)
  await mkdir(folder, { recursive: true })
  await write('github.json', JSON.stringify({ id: 'github', app_key: 'k', app_secret: 'canary-of-a-file' }))
  await write('other.json', JSON.stringify({ id: 'of-a-file', provider: 'google', friendly_name: 'First', scope: 'x' }))
  await write('broken.json', '{')
  const github = await shown('github')
  assert.equal(github.json().hasClient, true)
  assert.doesNotMatch(github.text, /canary/)
  assert.equal((await shown('of-a-file')).json().name, 'First')
  await write('other.json', JSON.stringify({ id: 'of-a-file', provider: 'google', friendly_name: 'Second', scope: 'x' }))
  assert.equal((await shown('of-a-file')).json().name, 'Second')
  await rm(folder, { recursive: true })
  assert.equal((await shown('of-a-file')).status, 404)
})

test('credentials that were brought along are kept as ciphers, for their project and component alone', async () => {
  const stack = await startProject()
  const body = {
    id: 'mine',
    authorizedFor: 'me',
    '#data': '{"access_token":"canary-brought"}',
    appKey: 'k',
    appSecret: 'canary-secret',
  }
  const add = (json: object) => stack.request('POST', '/oauth/credentials/platform.ex-http', { json })
  const added = await add(body)
  assert.equal(added.status, 201, added.text)
  assert.doesNotMatch(added.text, /canary/)
  assert.equal((await add(body)).status, 409)
  for (const wrong of [{ id: '' }, { id: 'a b' }, { '#data': [1] }, { authorizedFor: { a: 1 } }, { userData: 'no object' }]) {
    const answer = await add({ ...body, id: 'other', ...wrong })
    assert.equal(answer.status, 400, `${JSON.stringify(wrong)}: ${answer.text}`)
  }
  assert.equal((await add({ ...body, id: 'other', provider: 'nobody' })).status, 404)
  assert.equal((await stack.request('GET', '/oauth/credentials/keboola.variables/mine')).status, 404)
  assert.equal((await stack.request('GET', '/oauth/credentials/no.such')).status, 404)
  const limited = (await stack.request('POST', '/v2/storage/tokens', { json: { description: 'limited' } })).json<{
    token: string
  }>()
  assert.equal((await stack.request('GET', `/oauth/credentials/${COMPONENT}/mine`, { token: limited.token })).status, 403)
  const other = await stack.newProject()
  assert.equal((await stack.request('GET', `/oauth/credentials/${COMPONENT}/mine`, { token: other.masterToken })).status, 404)
  assert.equal((await stack.request('POST', `/oauth/credentials/${COMPONENT}/mine/refresh`)).status, 400)
  assert.equal((await stack.request('POST', `/oauth/credentials/${COMPONENT}/mine/test`)).json().status, 'untested')
  assert.equal((await stack.request('DELETE', `/oauth/credentials/${COMPONENT}/mine`)).status, 204)
  assert.equal((await stack.request('DELETE', `/oauth/credentials/${COMPONENT}/mine`)).status, 404)
})

test('an id token of a provider whose clock differs by minutes is taken, one of another day is not', async (t) => {
  const setup = await setUp(t)
  const { stack, provider, server } = setup
  assert.equal((await manage(stack, 'PATCH', `/oauth/manage/${provider}`, { issuer: server.url })).status, 200)
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1000)
  const withToken = (claims: object) =>
    server.intercept((request, response) => {
      if (request.url !== '/token') return false
      const all = { iss: server.url, aud: CLIENT.id, sub: 'ada', iat: now, exp: now + 300, ...claims }
      const id_token = `${encode({ alg: 'RS256' })}.${encode(all)}.${encode({})}`
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ access_token: 'a', token_type: 'bearer', id_token }))
      return true
    })
  for (const [claims, isTaken] of [
    [{ iat: now + 240, nbf: now + 240, exp: now + 540 }, true],
    [{ iat: now - 540, exp: now - 240 }, true],
    [{ iat: now - 90_000, exp: now - 86_400 }, false],
    [{ nbf: now + 86_400, exp: now + 90_000 }, false],
    [{ iss: 'https://elsewhere.example.com' }, false],
  ] as const) {
    withToken(claims)
    const page = await authorise(setup)
    assert.equal(page.status === 200, isTaken, `${JSON.stringify(claims)}: ${page.text}`)
    if (!isTaken) assert.match(page.text, /id token|ID Token|claim/i)
  }
})

test('a link is over after an hour by the clock of the stack', async (t) => {
  const { stack, provider } = await setUp(t)
  t.after(() => {
    aheadMs = 0
  })
  const made = await stack.request('POST', '/oauth/links', { json: { componentId: COMPONENT, provider } })
  const { url, expiresAt } = made.json<{ url: string; expiresAt: string }>()
  assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 3_600_000) < 600_000, expiresAt)
  const open = () => createBrowser().visit(url)
  aheadMs = Date.parse(expiresAt) - Date.now() - 60_000
  assert.equal((await open()).status, 200, 'a minute before')
  aheadMs = Date.parse(expiresAt) - Date.now() + 60_000
  const late = await open()
  assert.equal(late.status, 400, 'a minute after')
  assert.match(late.text, /Access token has expired|Invalid access token/)
})

test('a consent page that stays open too long is over, and a clock ahead of the provider refreshes by its own time', async (t) => {
  const minute = 60_000
  const setup = await setUp(t, { accessTokenSeconds: 3600 })
  const { stack, server } = setup
  t.after(() => {
    aheadMs = 0
  })
  const browser = createBrowser()
  const callback = await browser.agree((await browser.visit(startUrl(setup))).location!, server.url)
  aheadMs = 16 * minute
  assert.match((await browser.visit(callback)).text, /This authorisation is unknown/)
  assert.equal((await stack.request('GET', `/oauth/credentials/${COMPONENT}`)).text, '[]')

  assert.equal((await authorise(setup)).status, 200, 'whoever begins again gets through, with a clock that is 16 minutes ahead')
  const exchanges = () => server.asked.filter((path) => path === '/token').length
  const before = exchanges()
  assert.equal((await runExtractor(setup, { id: 'shop', version: 3 })).status, 'success')
  assert.equal(exchanges(), before, 'an hour is an hour, whatever the clocks say')
  aheadMs += 56 * minute
  assert.equal((await runExtractor(setup, { id: 'shop', version: 3 })).status, 'success')
  assert.equal(exchanges(), before + 1, 'refreshed some minutes before its end')
})

test('a person authorises by OAuth 1.0a, and the extractor signs with what came of it', async (t) => {
  const stack = await startProject()
  const server = await startOauth1Server(t)
  const added = await manage(stack, 'POST', '/oauth/manage', {
    component_id: 'one',
    friendly_name: 'One',
    oauth_version: '1.0',
    request_token_url: `${server}/request`,
    auth_url: `${server}/authorize`,
    token_url: `${server}/access`,
    test_url: `${server}/list`,
    app_key: CONSUMER.key,
    app_secret: CONSUMER.secret,
  })
  assert.equal(added.status, 201, added.text)
  const browser = createBrowser()
  const query = new URLSearchParams({ token: stack.masterToken, provider: 'one', id: 'one', authorizedFor: 'ada' })
  const begin = async () => {
    const start = await browser.visit(`${stack.url}/oauth/authorize/${COMPONENT}?${query}`)
    assert.equal(start.status, 302, start.text)
    return browser.visit(start.location!)
  }
  const [callback] = (await begin()).location!.split('?')
  const refused = await browser.visit(`${callback}?denied=request-token`)
  assert.deepEqual([refused.status, /did not authorise the request: access_denied/.test(refused.text)], [400, true], refused.text)
  const wrong = await browser.visit((await begin()).location!.replace('verifier=v1', 'verifier=v2'))
  assert.equal(wrong.status, 400, wrong.text)
  assert.equal((await stack.request('GET', `/oauth/credentials/${COMPONENT}`)).text, '[]', 'neither left anything behind')
  const back = await begin()
  assert.equal((await browser.visit(back.location!)).status, 200)
  assert.match((await browser.visit(back.location!)).text, /This authorisation is unknown/)
  assert.equal((await stack.request('POST', `/oauth/credentials/${COMPONENT}/one/test`)).json().status, 'ok')
  const config = await stack.configure(COMPONENT, {
    authorization: { oauth_api: { id: 'one', version: 3 } },
    parameters: {
      api: { baseUrl: `${server}/`, authentication: { type: 'oauth10' } },
      config: { outputBucket: 'one', jobs: [{ endpoint: 'list', dataType: 'list' }] },
    },
  })
  const job = await stack.wait(
    (await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config } })).json<Job>(),
  )
  assert.equal(job.status, 'success', JSON.stringify(job.result))
})
