import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { callerOf } from '../../../../../tests/support/clients/agent-client.ts'
import { newMember, newStackAdmin, type PersonClient } from '../../../../../tests/support/clients/person-client.ts'
import { shareTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { createClients, isRedirectOf } from './clients.ts'

const startProject = shareTestStack()
const REDIRECT = 'http://127.0.0.1:7777/callback'
const VERIFIER = 'v'.repeat(64)

let admins = 0
async function startWithPerson(role: 'admin' | 'editor' | 'viewer' = 'editor') {
  const stack = await startProject()
  const admin = await newStackAdmin(stack, `root${admins++}@example.com`)
  return { stack, admin, person: await newMember(stack, admin, { projectId: stack.projectId, role }) }
}

/** What the browser of a person does with the address that a client opens: sign in, read, decide, be led back. */
async function decide(
  stack: TestStack,
  person: PersonClient,
  address: URL,
  choice: { readonly scope?: string; readonly isAllowed?: boolean } = {},
): Promise<URL> {
  const opened = await stack.request('GET', address.href, { token: null })
  assert.equal(opened.status, 302, opened.text)
  const page = new URL(opened.headers.get('location')!, stack.url)
  if (!page.pathname.startsWith('/console/')) return page
  const request = Object.fromEntries(page.searchParams)
  const shown = await person.ok<{ client: { name: string }; projects: { id: number }[] }>(
    'POST',
    '/agent-oauth/requests',
    request,
  )
  assert.equal(shown.client.name, 'Test agent')
  assert.deepEqual(
    shown.projects.map(({ id }) => id),
    [stack.projectId],
  )
  const { isAllowed = true, scope } = choice
  const { redirect } = await person.ok<{ redirect: string }>('POST', '/agent-oauth/decide', {
    ...{ request, isAllowed, projectId: stack.projectId },
    ...(scope !== undefined && { scope }),
  })
  return new URL(redirect)
}

/** The provider of the official client, with everything in memory. */
function memoryProvider(): OAuthClientProvider & { readonly opened: URL[]; stored: StoredOAuthTokens | undefined } {
  let information: StoredOAuthClientInformation | undefined
  let verifier = ''
  let discovered: Parameters<NonNullable<OAuthClientProvider['saveDiscoveryState']>>[0] | undefined
  return {
    opened: [],
    stored: undefined,
    redirectUrl: REDIRECT,
    clientMetadata: { client_name: 'Test agent', redirect_uris: [REDIRECT] },
    state: () => 'the state',
    clientInformation: () => information,
    saveClientInformation: (given) => {
      information = given
    },
    tokens() {
      return this.stored
    },
    saveTokens(given) {
      this.stored = given
    },
    redirectToAuthorization(address) {
      this.opened.push(address)
    },
    saveCodeVerifier: (given) => {
      verifier = given
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (given) => {
      discovered = given
    },
    discoveryState: () => discovered,
  }
}

const newClient = () => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })

test('a person signs an agent in with the official client, and its scope grows when it is needed', async (t) => {
  const { stack, admin, person } = await startWithPerson()
  const provider = memoryProvider()
  const address = new URL('/mcp', stack.url)
  const connect = async () => {
    const client = newClient()
    t.after(() => client.close())
    const transport = new StreamableHTTPClientTransport(address, { authProvider: provider })
    await client.connect(transport)
    return client
  }
  const signIn = async () => {
    const back = await decide(stack, person, provider.opened.at(-1)!)
    assert.equal(back.searchParams.get('state'), 'the state')
    await new StreamableHTTPClientTransport(address, { authProvider: provider }).finishAuth(back.searchParams)
  }
  await assert.rejects(connect, UnauthorizedError)
  assert.equal(provider.opened[0]!.searchParams.get('scope'), 'read')
  assert.equal(provider.opened[0]!.searchParams.get('resource'), `${stack.url}/mcp`)
  await signIn()
  const reader = callerOf(await connect())
  const me = await reader.use<{ token: { description: string }; rights: { canManageBuckets: boolean } }>('who_am_i')
  assert.match(me.token.description, /^Test agent \(agent of editor-/)
  assert.equal(me.rights.canManageBuckets, false)

  const table = { table: 'in.c-main.a', columns: [{ name: 'id' }] }
  await assert.rejects(() => reader.call('create_table', table), UnauthorizedError)
  assert.equal(provider.opened.at(-1)!.searchParams.get('scope'), 'read propose')
  await assert.rejects(() => reader.call('load_table', { table: table.table, csv: 'id\n1\n' }), UnauthorizedError)
  assert.equal(provider.opened.at(-1)!.searchParams.get('scope'), 'read propose write')
  await signIn()
  const writer = callerOf(await connect())
  await writer.use('create_table', table)
  // Agents manage no tokens, whatever their person may do.
  const { access_token: token } = provider.stored!
  assert.equal((await stack.request('GET', '/v2/storage/tables', { token })).status, 401, 'its audience is /mcp')

  const listed = (await stack.request('GET', '/v2/storage/agent-connections')).json<
    { id: number; scope: string; tokenId: number }[]
  >()
  assert.deepEqual(
    listed.map(({ scope }) => scope),
    ['write', 'read'],
  )
  const place = `/v2/storage/agent-connections/${listed[0]!.id}`
  const stranger = await newMember(stack, admin, { projectId: stack.projectId, role: 'editor', email: `s${admins}@example.com` })
  assert.equal((await stranger.in(stack.projectId).call('DELETE', place)).status, 404, 'of another person')
  assert.equal((await person.in(stack.projectId).call('DELETE', place)).status, 204)
  const after = await stack.request('POST', '/mcp', { token, json: {} })
  assert.equal(after.status, 401)
  assert.match(after.headers.get('www-authenticate')!, /resource_metadata="http.*\/\.well-known\/oauth-protected-resource\/mcp"/)
  assert.equal((await stack.request('GET', `/v2/storage/tokens/${listed[0]!.tokenId}`)).status, 404)
})

async function register(stack: TestStack, redirect = REDIRECT): Promise<string> {
  const json = { client_name: 'Test agent', redirect_uris: [redirect] }
  return (await stack.request('POST', '/agent-oauth/register', { token: null, json })).json<{ client_id: string }>().client_id
}

const queryOf = (stack: TestStack, client: string, more: Readonly<Record<string, string>> = {}) => {
  const url = new URL('/agent-oauth/authorize', stack.url)
  const values = {
    ...{ client_id: client, redirect_uri: REDIRECT, response_type: 'code', code_challenge_method: 'S256', state: 's' },
    ...{ code_challenge: hash('sha256', VERIFIER, 'base64url'), scope: 'read propose', resource: `${stack.url}/mcp` },
  }
  for (const [name, value] of Object.entries({ ...values, ...more })) url.searchParams.set(name, value)
  return url
}

const tokenAt = (stack: TestStack, form: Readonly<Record<string, string>>) =>
  stack.request('POST', '/agent-oauth/token', { token: null, form })

test('codes and refresh tokens work once; what comes twice ends the connection', async () => {
  const { stack, person } = await startWithPerson()
  const client = await register(stack)
  const codeFor = async () => (await decide(stack, person, queryOf(stack, client))).searchParams.get('code')!
  const form = (code: string) => ({
    ...{ grant_type: 'authorization_code', code, code_verifier: VERIFIER, client_id: client, redirect_uri: REDIRECT },
    resource: `${stack.url}/mcp`,
  })
  interface Issued {
    readonly access_token: string
    readonly refresh_token: string
    readonly scope: string
    readonly expires_in: number
  }
  const mcp = async (token: string) => (await stack.request('POST', '/mcp', { token, json: {} })).status
  const first = await tokenAt(stack, form(await codeFor()))
  assert.equal(first.status, 200, first.text)
  assert.equal(first.headers.get('cache-control'), 'no-store')
  const issued = first.json<Issued>()
  assert.equal(issued.scope, 'read propose')
  assert.equal(issued.expires_in, 3600)
  assert.notEqual(await mcp(issued.access_token), 401)
  const rotate = (token: string) => tokenAt(stack, { grant_type: 'refresh_token', refresh_token: token, client_id: client })
  const second = (await rotate(issued.refresh_token)).json<Issued>()
  assert.equal(await mcp(issued.access_token), 401, 'replaced')
  assert.notEqual(await mcp(second.access_token), 401)
  assert.match((await rotate(issued.refresh_token)).text, /invalid_grant.*used before/)
  assert.equal(await mcp(second.access_token), 401, 'the connection is revoked')

  const code = await codeFor()
  const third = (await tokenAt(stack, form(code))).json<Issued>()
  assert.match((await tokenAt(stack, form(code))).text, /invalid_grant.*used before/)
  assert.equal(await mcp(third.access_token), 401)

  const fourth = (await tokenAt(stack, form(await codeFor()))).json<Issued>()
  assert.equal(
    (await stack.request('POST', '/agent-oauth/revoke', { token: null, form: { token: fourth.refresh_token } })).status,
    200,
  )
  assert.equal(await mcp(fourth.access_token), 401)
  const stored = await stack.request('GET', '/v2/storage/agent-connections')
  assert.deepEqual(stored.json(), [])
})

test('hostile requests are refused: redirects, challenges, audiences, clients, scopes and other people', async () => {
  const { stack, person } = await startWithPerson()
  const client = await register(stack)
  const get = (url: URL) => stack.request('GET', url.href, { token: null })
  // Nothing is sent to an address that the client has not registered.
  for (const redirect_uri of [
    'https://evil.example/',
    'http://127.0.0.1:7777/other',
    'http://127.0.0.1.evil.example/callback',
    '',
  ]) {
    const refused = await get(queryOf(stack, client, { redirect_uri }))
    assert.equal(refused.status, 400, refused.text)
    assert.equal(refused.headers.get('location'), null)
  }
  assert.equal(
    (await get(queryOf(stack, client, { redirect_uri: 'http://127.0.0.1:9/callback' }))).status,
    302,
    'any port of loopback',
  )
  for (const other of [
    'client-forged',
    'http://plain.example/client.json',
    'https://example.com/',
    'nothing',
    client.slice(0, -4),
  ])
    assert.equal((await get(queryOf(stack, other))).status, 400, other)
  for (const [more, error] of [
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge: '' }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
    [{ scope: 'admin' }, 'invalid_scope'],
  ] as const) {
    const { headers } = await get(queryOf(stack, client, more))
    const back = new URL(headers.get('location')!)
    assert.equal(back.origin + back.pathname, REDIRECT)
    assert.equal(back.searchParams.get('error'), error)
    assert.equal(back.searchParams.get('iss'), stack.url)
  }
  const refusedBack = await decide(stack, person, queryOf(stack, client), { isAllowed: false })
  assert.equal(refusedBack.searchParams.get('error'), 'access_denied')
  // Only a session decides, from a page of the stack, and not beyond what the client requested.
  const request = Object.fromEntries(queryOf(stack, client).searchParams)
  const json = { request, isAllowed: true, projectId: stack.projectId }
  assert.equal((await stack.request('POST', '/agent-oauth/decide', { json })).status, 401, 'a token is no person')
  const crossSite = await person.call('POST', '/agent-oauth/decide', { json, headers: { origin: 'https://evil.example' } })
  assert.equal(crossSite.status, 403)
  assert.equal((await person.call('POST', '/agent-oauth/decide', { json: { ...json, scope: 'write' } })).status, 400)
  const elsewhere = await stack.newProject()
  assert.equal(
    (await person.call('POST', '/agent-oauth/decide', { json: { ...json, projectId: elsewhere.projectId } })).status,
    403,
  )

  const good = { grant_type: 'authorization_code', code_verifier: VERIFIER, client_id: client, redirect_uri: REDIRECT }
  for (const more of [
    { code_verifier: 'w'.repeat(64) },
    { client_id: await register(stack) },
    { redirect_uri: 'http://127.0.0.1:9/callback' },
    { resource: 'https://other.example/mcp' },
    { code: 'unknown' },
    { grant_type: 'password' },
  ]) {
    const code = (await decide(stack, person, queryOf(stack, client))).searchParams.get('code')!
    const refused = await tokenAt(stack, { ...good, code, ...more })
    assert.equal(refused.status, 400, refused.text)
    assert.match(refused.text, /"error":"(invalid_grant|invalid_target|unsupported_grant_type)"/)
  }
  for (const body of ['', 'grant_type=refresh_token', '%', 'grant_type=authorization_code&code=a'])
    assert.equal(
      (
        await stack.request('POST', '/agent-oauth/token', {
          ...{ token: null, body, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        })
      ).status,
      400,
    )
  for (const redirect of ['http://example.com/', 'javascript:alert(1)', 'https://a.example/#x', 'custom://x', 5]) {
    const answer = await stack.request('POST', '/agent-oauth/register', { token: null, json: { redirect_uris: [redirect] } })
    assert.equal(answer.status, 400, String(redirect))
  }
})

test('what an agent may do ends with what its person may do', async () => {
  const { stack, admin, person } = await startWithPerson()
  const client = await register(stack)
  const back = await decide(stack, person, queryOf(stack, client, { scope: 'write' }))
  const form = { grant_type: 'authorization_code', code_verifier: VERIFIER, client_id: client, redirect_uri: REDIRECT }
  const { access_token: token } = (await tokenAt(stack, { ...form, code: back.searchParams.get('code')! })).json<{
    access_token: string
  }>()
  const call = (name: string, args: object) =>
    stack.request('POST', '/mcp', {
      token,
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
      json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    })
  const table = (name: string) => ({ table: `in.c-main.${name}`, columns: [{ name: 'id' }] })
  assert.match((await call('create_table', table('a'))).text, /rows/)
  // Not even an admin's agent makes tokens: the route is no tool, and the token is good for /mcp alone.
  assert.equal((await stack.request('POST', '/v2/storage/tokens', { token, json: { description: 'x' } })).status, 401)
  const inner = { 'x-millrace-inner-call': 'guess' }
  assert.equal((await stack.request('GET', '/v2/storage/tables', { token, headers: inner })).status, 401)

  const people = await admin.ok<{ id: number; email: string }[]>('GET', `/manage/projects/${stack.projectId}/users`)
  const { id } = people.find(({ email }) => email === person.email)!
  await admin.ok('PATCH', `/manage/projects/${stack.projectId}/users/${id}`, { role: 'viewer' })
  assert.match((await call('create_table', table('b'))).text, /isError/)
  assert.match((await call('list_tables', {})).text, /in\.c-main\.a/)
  await admin.ok('DELETE', `/manage/projects/${stack.projectId}/users/${id}`)
  assert.equal((await call('list_tables', {})).status, 401)
})

test('the document of a client is read from its own https address', async () => {
  const address = 'https://agent.example/client.json'
  const clientsWith = (document: object | string, status = 200) =>
    createClients({
      seal: async (text) => text,
      open: async (cipher) => cipher,
      get: async () => ({ status, text: typeof document === 'string' ? document : JSON.stringify(document) }),
    })
  const good = {
    client_id: address,
    client_name: 'Agent\u0000 of Example',
    redirect_uris: ['http://localhost/cb', 'https://a.example/cb'],
  }
  const found = await clientsWith(good).find(address)
  assert.equal(found.name, 'Agent of Example')
  assert.equal(found.host, 'agent.example')
  assert.equal(isRedirectOf(found, 'http://localhost:4000/cb'), true)
  assert.equal(isRedirectOf(found, 'https://a.example:8443/cb'), false)
  const refused = (document: object | string, status?: number) =>
    assert.rejects(clientsWith(document, status).find(address), { code: 'agents.clientInvalid' })
  await refused({ ...good, client_id: 'https://other.example/client.json' })
  await refused({ ...good, redirect_uris: ['http://example.com/'] })
  await refused('not JSON')
  await refused(good, 404)
  await refused('null')
  await assert.rejects(clientsWith(good).find('https://agent.example/'), { code: 'agents.clientInvalid' })
})
