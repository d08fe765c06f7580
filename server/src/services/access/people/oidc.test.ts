// Sign-in by a provider: with a real one, and with one that lies.

import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import Provider from 'oidc-provider'
import { newBrowser, newStackAdmin, type PersonClient } from '../../../../../tests/support/clients/person-client.ts'
import { startTestStack, type TestScope, type TestStack } from '../../../../../tests/support/test-stack.ts'

const CLIENT = { clientId: 'millrace', clientSecret: 'a-secret-of-the-client-0123456789' }

/** A listener whose handler comes later: the address has to be known first. */
async function listen(t: TestScope) {
  let handle: (message: IncomingMessage, response: ServerResponse) => void = (_, response) => response.writeHead(503).end()
  const server = createServer((message, response) => handle(message, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, serve: (handler: typeof handle) => (handle = handler), server }
}

const NOBODY = { domains: [], role: 'viewer' as const, projectId: 1 }

async function stackWith(
  t: TestScope,
  issuer: string,
  domains: readonly string[] = [],
  clock?: { now(): Date },
): Promise<TestStack> {
  const policy = { ...NOBODY, domains }
  return startTestStack(t, { oidc: { issuer, ...CLIENT, ...policy }, ...(clock && { clock }) })
}

const CALLBACK = '/sign-in/oidc/callback'

/** To the provider: its address, and the cookie that the way back needs. */
async function begin(browser: PersonClient): Promise<{ readonly to: URL; readonly cookie: string }> {
  const answer = await browser.call('GET', '/sign-in/oidc')
  assert.equal(answer.status, 303, answer.text)
  const [set] = answer.headers.getSetCookie()
  assert.match(set!, /HttpOnly; SameSite=Lax/)
  return { to: new URL(answer.headers.get('location')!), cookie: set!.split(';')[0]! }
}

const finish = async (browser: PersonClient, query: string, cookie: string): Promise<string> => {
  const answer = await browser.call('GET', `${CALLBACK}?${query}`, { headers: { cookie } })
  assert.equal(answer.status, 303, answer.text)
  return answer.headers.get('location')!
}

test('people sign in with a real provider', { timeout: 120_000 }, async (t) => {
  const place = await listen(t)
  const stack = await stackWith(t, place.url, ['example.org'])
  const provider = new Provider(place.url, {
    clients: [{ client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, redirect_uris: [`${stack.url}${CALLBACK}`] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: async (_, sub) => ({
      accountId: sub,
      claims: async () => ({
        sub,
        email: `${sub}@example.${sub === 'olga' ? 'org' : 'com'}`,
        email_verified: sub !== 'mallory',
        name: `The ${sub}`,
      }),
    }),
  })
  place.serve(provider.callback() as never)

  /** The whole way of a person who answers the two pages of the provider. */
  const signIn = async (login: string): Promise<{ browser: PersonClient; end: string; query: string; cookie: string }> => {
    const browser = newBrowser(stack)
    const { to, cookie } = await begin(browser)
    assert.equal(to.searchParams.get('code_challenge_method'), 'S256')
    const query = await throughProvider(to.href, login, `${stack.url}${CALLBACK}`)
    return { browser, end: await finish(browser, query, cookie), query, cookie }
  }

  await t.test('who is not known is not let in', async () => {
    const { browser, end } = await signIn('ann')
    assert.equal(end, '/console/#problem=people.oidcUnknown')
    assert.equal((await browser.call('GET', '/account')).status, 401)
  })

  await t.test('who is invited joins, and is found again by the subject', async () => {
    const admin = await newStackAdmin(stack)
    await admin.ok('POST', `/manage/projects/${stack.projectId}/invitations`, { email: 'ann@example.com', role: 'editor' })
    const { browser, end } = await signIn('ann')
    assert.equal(end, '/console/')
    const account = await browser.ok<{ id: number; name: string; hasPassword: boolean; projects: { role: string }[] }>(
      'GET',
      '/account',
    )
    assert.deepEqual(
      [account.name, account.hasPassword, account.projects.map(({ role }) => role)],
      ['The ann', false, ['editor']],
    )
    const again = await signIn('ann')
    assert.equal((await again.browser.ok('GET', '/account')).id, account.id)
    const sessions = await again.browser.ok<{ method: string }[]>('GET', '/account/sessions')
    assert.deepEqual(
      sessions.map(({ method }) => method),
      ['oidc', 'oidc'],
    )
  })

  await t.test('a domain of the operator gives the default role; an e-mail that is not verified gives nothing', async () => {
    const { browser } = await signIn('olga')
    const { projects } = await browser.ok<{ projects: object[] }>('GET', '/account')
    assert.deepEqual(projects, [{ id: 1, name: 'Test', role: 'viewer' }])
    assert.equal((await signIn('mallory')).end, '/console/#problem=people.oidcEmail')
  })

  await t.test('the way back works once, with its own cookie and its own state', async () => {
    const { query, cookie } = await signIn('ann')
    assert.equal(await finish(newBrowser(stack), query, cookie), '/console/#problem=people.oidcRefused', 'the code was used')
    assert.equal(await finish(newBrowser(stack), query, ''), '/console/#problem=people.oidcBegin')
    const other = await begin(newBrowser(stack))
    assert.equal(
      await finish(newBrowser(stack), query, other.cookie),
      '/console/#problem=people.oidcRefused',
      'of another attempt',
    )
  })
})

/** Answers the pages of the provider as a browser would; gives the query that it sends back. */
async function throughProvider(start: string, login: string, callback: string): Promise<string> {
  const jar = new Map<string, string>()
  let [url, form]: [string, URLSearchParams | undefined] = [start, undefined]
  for (let step = 0; step < 12; step++) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: form }),
    })
    for (const cookie of response.headers.getSetCookie())
      jar.set(cookie.split('=')[0]!, cookie.split(';')[0]!.split('=').slice(1).join('='))
    const text = await response.text()
    const location = response.headers.get('location')
    if (location !== null) {
      const next = new URL(location, url)
      if (next.href.startsWith(callback)) return next.search.slice(1)
      ;[url, form] = [next.href, undefined]
      continue
    }
    const action = /action="([^"]+)"/.exec(text)?.[1]
    assert.ok(action, `${response.status} ${text.slice(0, 500)}`)
    const prompt = /name="prompt" value="(\w+)"/.exec(text)![1]!
    ;[url, form] = [
      new URL(action, url).href,
      new URLSearchParams(prompt === 'login' ? { prompt, login, password: 'x' } : { prompt }),
    ]
  }
  throw new Error('the provider asks for more than it should')
}

test('a provider that lies, is down or has another time lets nobody in', { timeout: 120_000 }, async (t) => {
  const place = await listen(t)
  const stack = await stackWith(t, place.url, ['example.com'])
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...own.publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }
  const publicPem = own.publicKey.export({ type: 'spki', format: 'pem' })
  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  let lie: {
    claims?: Record<string, unknown>
    key?: 'foreign' | 'none' | 'public'
    status?: number
    isSilent?: true
    issuer?: string
    offset?: number
  } = {}
  let nonce = ''
  const idToken = () => {
    const now = Math.floor(Date.now() / 1000) + (lie.offset ?? 0)
    const claims = { nonce, email: 'ann@example.com', email_verified: true, ...lie.claims }
    const payload = { iss: place.url, aud: CLIENT.clientId, sub: 'ann', iat: now, exp: now + 300, ...claims }
    const alg = lie.key === 'none' ? 'none' : lie.key === 'public' ? 'HS256' : 'RS256'
    const text = `${encoded({ alg, kid: 'k' })}.${encoded(payload)}`
    if (lie.key === 'none') return `${text}.`
    if (lie.key === 'public') return `${text}.${createHmac('sha256', publicPem).update(text).digest('base64url')}`
    const { privateKey } = lie.key === 'foreign' ? foreign : own
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
  }
  const json = (response: ServerResponse, body: object, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  place.serve((message, response) => {
    if (message.url === '/.well-known/openid-configuration')
      json(response, {
        issuer: lie.issuer ?? place.url,
        authorization_endpoint: `${place.url}/auth`,
        token_endpoint: `${place.url}/token`,
        jwks_uri: `${place.url}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      })
    else if (message.url === '/jwks') json(response, { keys: [jwk] })
    else if (lie.isSilent) return
    else if (lie.status !== undefined) json(response, {}, lie.status)
    else json(response, { access_token: 'a', token_type: 'bearer', id_token: idToken() })
  })
  const attempt = async (at = stack): Promise<string> => {
    const browser = newBrowser(at)
    const answer = await browser.call('GET', '/sign-in/oidc')
    const to = answer.headers.get('location')!
    if (!to.startsWith(place.url)) return to
    const url = new URL(to)
    nonce = url.searchParams.get('nonce')!
    const cookie = answer.headers.getSetCookie()[0]!.split(';')[0]!
    return finish(browser, `code=c&state=${url.searchParams.get('state')}`, cookie)
  }
  const now = Math.floor(Date.now() / 1000)
  const lies: Readonly<Record<string, typeof lie>> = {
    'another nonce': { claims: { nonce: 'another' } },
    'no nonce': { claims: { nonce: undefined } },
    'another issuer': { claims: { iss: 'https://evil.example' } },
    'another client': { claims: { aud: 'somebody-else' } },
    'another signature': { key: 'foreign' },
    'no signature': { key: 'none' },
    'a signature that anybody can make with the public key': { key: 'public' },
    'an old answer': { claims: { iat: now - 7200, exp: now - 3600 } },
    'a clock that is ten minutes behind': { offset: -600 },
  }
  for (const [name, next] of Object.entries(lies)) {
    lie = next
    assert.equal(await attempt(), '/console/#problem=people.oidcRefused', name)
  }
  lie = { status: 502 }
  assert.equal(await attempt(), '/console/#problem=people.oidcUnavailable', 'it fails itself')
  lie = { issuer: 'https://evil.example' }
  assert.equal(await attempt(), '/console/#problem=people.oidcUnavailable', 'its document is about another')
  assert.deepEqual(await stack.platform.people.list(), [], 'nobody came in')
  for (const offset of [-40, 40]) {
    lie = { offset }
    assert.equal(await attempt(), '/console/', `a clock that is ${offset} s off`)
  }
  const other = await startTestStack(t, { oidc: { issuer: place.url, ...CLIENT, ...NOBODY, timeoutSeconds: 1 } })
  lie = { isSilent: true }
  assert.equal(await attempt(other), '/console/#problem=people.oidcUnavailable', 'it does not answer')
  await new Promise((resolve) => place.server.close(resolve).closeAllConnections())
  const answer = await newBrowser(other).call('GET', '/sign-in/oidc')
  assert.equal(answer.headers.get('location'), '/console/#problem=people.oidcUnavailable', 'nobody listens there')
})
