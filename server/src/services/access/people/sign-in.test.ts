// Signing in, sessions and the account, over the wire.

import assert from 'node:assert/strict'
import { type RequestOptions, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { newBrowser, newMember, newStackAdmin, PASSWORD } from '../../../../../tests/support/clients/person-client.ts'
import { startMailServer } from '../../../../../tests/support/servers/mail-server.ts'
import { shareTestStack, startTestStack, type TestScope } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

/** fetch does not send another host. */
const raw = (url: string, path: string, { body, ...options }: RequestOptions & { body: string }): Promise<string> =>
  new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), options, (answer) => resolve(text(answer)))
    sent.on('error', reject).end(body)
  })

let people = 0
const email = (): string => `person-${++people}@example.com`

test('the link of the first start makes a stack admin once', async () => {
  const stack = await startProject()
  const link = await stack.platform.people.makeSignInLink()
  const browser = newBrowser(stack, email())
  const described = await browser.ok('POST', '/sign-in/link/describe', { link })
  assert.equal(described.kind, 'admin')
  const short = await browser.call('POST', '/sign-in/link', {
    json: { link, name: 'Ann', email: browser.email, password: 'short' },
  })
  assert.equal(short.status, 400)
  assert.match(short.json<{ error: string }>().error, /10 to 200 characters; this one has 5/)
  const person = await browser.ok('POST', '/sign-in/link', { link, name: ' Ann  Lee ', email: browser.email, password: PASSWORD })
  assert.deepEqual({ ...person, id: 0 }, { id: 0, name: 'Ann Lee', email: browser.email, isStackAdmin: true })
  const again = await newBrowser(stack).call('POST', '/sign-in/link', {
    json: { link, name: 'Eve', email: email(), password: PASSWORD },
  })
  assert.equal(again.status, 404)
  assert.equal(again.json().code, 'people.linkInvalid')
})

test('a link expires', async (t) => {
  let now = Date.now()
  const stack = await startTestStack(t, { clock: { now: () => new Date(now) } })
  const link = await stack.platform.people.makeSignInLink()
  now += 3_600_001
  const answer = await newBrowser(stack).call('POST', '/sign-in/link', {
    json: { link, name: 'Ann', email: email(), password: PASSWORD },
  })
  assert.equal(answer.status, 404)
})

test('the cookie is out of reach of scripts and other sites, and its value is new at every sign-in', async () => {
  const stack = await startProject()
  const admin = await newStackAdmin(stack, email())
  const before = admin.cookie()
  const answer = await admin.signIn()
  assert.equal(answer.status, 200, answer.text)
  const [set] = answer.headers.getSetCookie()
  assert.match(set!, /^millrace_session_\d+=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Strict$/)
  assert.notEqual(admin.cookie(), before)
  const planted = newBrowser(stack, admin.email)
  const value = 'a'.repeat(43)
  await planted.call('POST', '/sign-in/password', {
    json: { email: admin.email, password: PASSWORD },
    headers: { cookie: `${admin.cookie()!.split('=')[0]}=${value}` },
  })
  assert.notEqual(planted.cookie()!.split('=')[1], value)
})

test('behind a proxy with TLS the cookie is Secure and bound to its host', async () => {
  const stack = await startProject()
  const admin = await newStackAdmin(stack, email())
  const headers = { 'x-forwarded-proto': 'https', 'sec-fetch-site': 'same-origin', host: 'stack.example.com' }
  const answer = await admin.call('POST', '/sign-in/password', { json: { email: admin.email, password: PASSWORD }, headers })
  assert.match(answer.headers.getSetCookie()[0]!, /^__Host-millrace_session\w*=.*; SameSite=Strict; Secure$/)
})

test('another site can neither call with the session nor sign anybody in', async () => {
  const stack = await startProject()
  const admin = await newStackAdmin(stack, email())
  const rename = (headers: Record<string, string>) => admin.call('PATCH', '/account', { json: { name: 'Mallory' }, headers })
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: stack.url },
    { origin: '' },
  ]) {
    const answer = await rename(headers)
    assert.equal(answer.status, 403, JSON.stringify(headers))
    assert.equal(answer.json().code, 'people.crossSite')
  }
  const signIn = await admin.call('POST', '/sign-in/password', {
    json: { email: admin.email, password: PASSWORD },
    headers: { origin: 'https://evil.example' },
  })
  assert.equal(signIn.status, 403)
  assert.equal((await rename({ 'sec-fetch-site': 'same-origin' })).status, 200)
})

test('a wrong password and an unknown e-mail are one answer, and both are locked after a few', async () => {
  const stack = await startProject()
  const admin = await newStackAdmin(stack, email())
  const stranger = newBrowser(stack, email())
  for (const browser of [admin, stranger]) {
    const answers = []
    for (let attempt = 0; attempt < 6; attempt++) answers.push(await browser.signIn(undefined, 'wrong password'))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 401, 401, 401, 401, 429],
    )
    assert.equal(answers[0]!.json().error, 'Wrong e-mail or password.')
    assert.match(answers[5]!.json<{ error: string }>().error, /Retry in \d+ s\./)
  }
  assert.equal((await admin.signIn()).status, 429, 'the right password is refused too: nothing is learned while it lasts')
})

test('guesses at once are no way around the limit', async () => {
  const stack = await startProject()
  const admin = await newStackAdmin(stack, email())
  const answers = await Promise.all(Array.from({ length: 30 }, () => admin.signIn(undefined, 'wrong password')))
  assert.equal(answers.filter(({ status }) => status === 401).length, 5)
  assert.equal(answers.filter(({ status }) => status === 429).length, 25)
})

/** A stack behind a proxy, and attempts from any address. */
async function startBehindProxy(t: TestScope) {
  let now = Date.now()
  const stack = await startTestStack(t, { trustedProxies: ['127.0.0.1'], clock: { now: () => new Date(now) } })
  const attempt = (from: string, person: string, password = 'wrong password') =>
    newBrowser(stack).call('POST', '/sign-in/password', {
      json: { email: person, password },
      headers: { 'x-forwarded-for': from },
    })
  const pass = (ms: number) => {
    now += ms
  }
  return { stack, attempt, pass }
}

test('wrong attempts at one address keep nobody out at another', async (t) => {
  const { stack, attempt } = await startBehindProxy(t)
  const { email: ann } = await newStackAdmin(stack)
  for (const from of ['192.0.2.1', '192.0.2.2', '2001:db8::1']) {
    const statuses = []
    for (let n = 0; n < 6; n++) statuses.push((await attempt(from, ann)).status)
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429], from)
  }
  assert.equal((await attempt('2001:db8::2', ann, PASSWORD)).status, 429, 'whoever has one IPv6 address has its network')
  assert.equal((await attempt('198.51.100.7', ann, PASSWORD)).status, 200)
})

test('an address that tries many e-mails gets a pause, which Retry-After and the text give alike, and which ends', async (t) => {
  const { stack, attempt, pass } = await startBehindProxy(t)
  const { email: ann } = await newStackAdmin(stack)
  const from = '192.0.2.1'
  assert.equal((await attempt(from, ann, PASSWORD)).status, 200)
  const answers = []
  for (let n = 0; n < 14; n++) answers.push(await attempt(from, `nobody-${n}@example.com`))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [...Array(10).fill(401), 429, 429, 429, 429],
  )
  pass(2_500)
  const refused = await attempt(from, 'other@example.com')
  assert.deepEqual(
    [refused.headers.get('retry-after'), refused.json().error],
    ['28', 'Too many failed sign-in attempts. Retry in 28 s.'],
  )
  assert.equal((await attempt(from, ann, PASSWORD)).status, 200, 'who has a session from there goes on')
  pass(27_600)
  assert.equal((await attempt(from, 'other@example.com')).status, 401)
  assert.equal((await attempt(from, 'another@example.com')).headers.get('retry-after'), '60', 'the next pause is twice as long')
})

test('codes of an authenticator count by person, wherever they come from', async (t) => {
  const now = Date.now()
  const stack = await startTestStack(t, { trustedProxies: ['127.0.0.1'], clock: { now: () => new Date(now) } })
  const admin = await newStackAdmin(stack)
  const { secret } = await admin.ok<{ secret: string }>('POST', '/account/authenticator')
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now })
  await admin.ok('PUT', '/account/authenticator', { secret, code, password: PASSWORD })
  const guess = (n: number) =>
    newBrowser(stack).call('POST', '/sign-in/password', {
      json: { email: admin.email, password: PASSWORD, code: String(100_000 + n) },
      headers: { 'x-forwarded-for': `192.0.2.${n}` },
    })
  const answers = []
  for (let n = 1; n <= 6; n++) answers.push((await guess(n)).json().code)
  assert.deepEqual(answers, [...Array(5).fill('people.codeWrong'), 'people.locked'])
})

test('sessions are listed, ended one by one, and sign out ends one on the server', async () => {
  const stack = await startProject()
  const admin = await newStackAdmin(stack, email())
  const other = newBrowser(stack, admin.email)
  await other.signIn()
  const third = newBrowser(stack, admin.email)
  await third.signIn()
  const list = await admin.ok<{ id: number; isCurrent: boolean; method: string }[]>('GET', '/account/sessions')
  assert.deepEqual(list.map(({ method }) => method).sort(), ['link', 'password', 'password'])
  assert.equal(list.filter(({ isCurrent }) => isCurrent).length, 1)
  const own = (await other.ok<{ id: number; isCurrent: boolean }[]>('GET', '/account/sessions')).find((one) => one.isCurrent)!
  await admin.ok('DELETE', `/account/sessions/${own.id}`)
  assert.equal((await other.call('GET', '/account')).status, 401)
  assert.equal((await admin.call('DELETE', `/account/sessions/${own.id}`)).status, 404)
  const cookie = admin.cookie()!
  await admin.ok('POST', '/account/sign-out')
  assert.equal(admin.cookie(), undefined)
  const stolen = await admin.call('GET', '/account', { headers: { cookie } })
  assert.equal(stolen.status, 401)
  assert.equal(stolen.json().error, 'You are not signed in, or your session has expired. Sign in again.')
  await third.ok('DELETE', '/account/sessions')
  assert.equal((await third.call('GET', '/account')).status, 200)
  await other.signIn()
  await other.in(stack.projectId).ok('GET', '/v2/storage/buckets') // a stack admin belongs to a project from the first visit on
  await third.ok('DELETE', '/account/sessions')
  const events = (await stack.request('GET', '/v2/storage/events')).json<{ event: string; message: string }[]>()
  assert.ok(
    events.some(({ event, message }) => event === 'storage.personSessionsEnded' && message.endsWith('ended 1 of their sessions')),
  )
})

test('a session ends without use, and in any case in the end', async (t) => {
  let now = Date.now()
  const HOUR = 3_600_000
  const stack = await startTestStack(t, {
    clock: { now: () => new Date(now) },
    sessions: { idleMs: 2 * HOUR, maxMs: 5 * HOUR },
  })
  const admin = await newStackAdmin(stack)
  for (let hour = 1; hour <= 4; hour++) {
    now += HOUR
    assert.equal((await admin.call('GET', '/account')).status, 200, `used again after ${hour} h`)
  }
  now += HOUR
  assert.equal((await admin.call('GET', '/account')).status, 401, 'five hours are the most')
  await admin.signIn()
  now += 2 * HOUR
  assert.equal((await admin.call('GET', '/account')).status, 401, 'two hours without use')
  await admin.signIn()
  now -= HOUR
  assert.equal((await admin.call('GET', '/account')).status, 200, 'a clock that is set back ends no session')
  now += 3 * HOUR
  assert.equal((await admin.call('GET', '/account')).status, 401, 'and makes none of them longer')
})

test('a new password needs the old one and ends the other sessions', async () => {
  const stack = await startProject()
  const admin = await newStackAdmin(stack, email())
  const other = newBrowser(stack, admin.email)
  await other.signIn()
  const wrong = await admin.call('PUT', '/account/password', { json: { current: 'wrong', password: 'another good one' } })
  assert.equal(wrong.status, 403)
  assert.equal(wrong.json().code, 'people.passwordWrong')
  await admin.ok('PUT', '/account/password', { current: PASSWORD, password: 'another good one' })
  assert.equal((await admin.call('GET', '/account')).status, 200)
  assert.equal((await other.call('GET', '/account')).status, 401)
  assert.equal((await other.signIn()).status, 401)
  assert.equal((await other.signIn(undefined, 'another good one')).status, 200)
})

test('an authenticator asks for a code, which works once', async (t) => {
  let now = Date.now()
  const stack = await startTestStack(t, { clock: { now: () => new Date(now) } })
  const admin = await newStackAdmin(stack)
  const { secret, uri } = await admin.ok<{ secret: string; uri: string }>('POST', '/account/authenticator')
  assert.match(uri, /^otpauth:\/\/totp\/Millrace:root%40example.com\?issuer=Millrace&secret=/)
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const code = () => totp.generate({ timestamp: now })
  const turnOn = (given: string) =>
    admin.call('PUT', '/account/authenticator', { json: { secret, code: given, password: PASSWORD } })
  assert.equal((await turnOn('000000')).status, 401)
  const answer = await turnOn(code())
  assert.equal(answer.status, 200, answer.text)
  const { recoveryCodes } = answer.json<{ recoveryCodes: string[] }>()
  assert.equal(recoveryCodes.length, 10)

  const missing = await admin.signIn()
  assert.deepEqual([missing.status, missing.json().code], [401, 'people.codeNeeded'])
  const replayed = await admin.signIn(code())
  assert.deepEqual([replayed.status, replayed.json().code], [401, 'people.codeWrong'], 'it was used to turn it on')
  now += 30_000
  const both = await Promise.all([admin.signIn(code()), admin.signIn(code())])
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401], 'of two at once one')
  now += 30_000
  assert.equal((await admin.signIn(totp.generate({ timestamp: now + 30_000 }))).status, 200, 'a clock that is 30 s ahead')
  assert.equal((await admin.signIn(totp.generate({ timestamp: now + 90_000 }))).status, 401, 'one that is 90 s ahead')
  assert.equal((await admin.signIn(recoveryCodes[0]!.toUpperCase())).status, 200)
  assert.equal((await admin.signIn(recoveryCodes[0])).status, 401, 'a recovery code works once')
  const { recoveryCodesLeft } = await admin.ok('GET', '/account')
  assert.equal(recoveryCodesLeft, 9)
  await admin.ok('DELETE', '/account/authenticator', { password: PASSWORD })
  assert.equal((await admin.signIn()).status, 200)
})

test('a link for a person who is there lets them back in, and for nobody else', async () => {
  const stack = await startProject()
  const admin = await newStackAdmin(stack, email())
  const link = await stack.platform.people.makeSignInLink(admin.email)
  const browser = newBrowser(stack, admin.email)
  await browser.ok('POST', '/sign-in/link', { link })
  assert.equal((await browser.ok('GET', '/account')).email, admin.email)
  await assert.rejects(stack.platform.people.makeSignInLink('nobody@example.com'), /was not found/)
})

test('the link of an invitation leads to this stack, whatever host the request names', async (t) => {
  const stack = await startTestStack(t)
  const admin = await newStackAdmin(stack)
  const { token } = await admin.ok<{ token: string }>('POST', '/account/manage-tokens', { description: 'script' })
  const { port } = new URL(stack.url)
  const hostOfLink = async (headers: Readonly<Record<string, string>>) => {
    const answer = await raw(stack.url, '/manage/projects/1/invitations', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-kbc-manageapitoken': token, ...headers },
      body: JSON.stringify({ email: email() }),
    })
    return new URL((JSON.parse(answer) as { link: string }).link).origin
  }
  for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1', '127.0.0.1:1', `127.0.0.1.evil.example:${port}`])
    assert.equal(await hostOfLink({ host }), stack.url, host)
  assert.equal(await hostOfLink({ host: `localhost:${port}`, 'x-forwarded-host': 'evil.example' }), `http://localhost:${port}`)
})

test('an invitation is for one person, once, and never for an account that is there', async () => {
  const stack = await startProject()
  const admin = await newStackAdmin(stack, email())
  const { projectId } = stack
  const invitee = email()
  const member = await newMember(stack, admin, { projectId, role: 'editor', email: invitee })
  const { projects, isStackAdmin } = await member.ok<{ projects: object[]; isStackAdmin: boolean }>('GET', '/account')
  assert.deepEqual(projects, [{ id: projectId, name: 'Test', role: 'editor' }])
  assert.equal(isStackAdmin, false)
  const taken = await admin.call('POST', `/manage/projects/${projectId}/invitations`, { json: { email: invitee } })
  assert.deepEqual([taken.status, taken.json().code], [409, 'people.emailTaken'])
  const { id, link } = await admin.ok<{ id: number; link: string }>('POST', `/manage/projects/${projectId}/invitations`, {
    email: email(),
  })
  const list = await admin.ok<Record<string, unknown>[]>('GET', `/manage/projects/${projectId}/invitations`)
  assert.deepEqual([list.length, list[0]!.role, list[0]!.link], [1, 'viewer', undefined])
  await admin.ok('DELETE', `/manage/projects/${projectId}/invitations/${id}`)
  const late = await newBrowser(stack).call('POST', '/sign-in/link', {
    json: { link: link.split('#link=')[1], name: 'Late', password: PASSWORD },
  })
  assert.equal(late.status, 404)
})

test('a link that two use at once makes one person', async () => {
  const stack = await startProject()
  const link = await stack.platform.people.makeSignInLink()
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => {
      const browser = newBrowser(stack, email())
      return browser.call('POST', '/sign-in/link', { json: { link, name: 'Ann', email: browser.email, password: PASSWORD } })
    }),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404, 404, 404])
})

test('an invitation comes by mail where the stack has a mail server, and by its link alone where that fails', async (t) => {
  const mail = await startMailServer(t)
  const stack = await startTestStack(t, { smtpUrl: mail.url })
  const admin = await newStackAdmin(stack)
  const invite = (to: string) =>
    admin.ok<{ link: string; isMailed: boolean }>('POST', `/manage/projects/${stack.projectId}/invitations`, {
      email: to,
      role: 'editor',
    })
  const { link, isMailed } = await invite('bob@example.com')
  assert.equal(isMailed, true)
  const [received] = mail.received
  assert.deepEqual(received?.to, ['bob@example.com'])
  // Long lines are folded with = at their ends.
  assert.ok(
    received!.text
      .replaceAll(/=\r?\n/g, '')
      .replaceAll('=3D', '=')
      .includes(link),
    received!.text,
  )
  mail.refuseWith('no room')
  assert.equal((await invite('eve@example.com')).isMailed, false)
})

test('what a person keeps for themselves is read by them alone, within bounds, and goes with them', async () => {
  const stack = await startProject()
  const admin = await newStackAdmin(stack, `keeper-${stack.projectId}@example.com`)
  const viewer = await newMember(stack, admin, { projectId: stack.projectId, role: 'viewer' })
  const kept = (of = viewer) => of.ok('GET', '/account/preferences')
  await viewer.ok('PUT', '/account/preferences/favourites:1', { value: ['in.c-main.orders'] })
  await viewer.ok('PUT', '/account/preferences/zone', { value: 'UTC' })
  await viewer.ok('PUT', '/account/preferences/zone', { value: 'Asia/Tokyo' })
  assert.deepEqual(await kept(), { 'favourites:1': ['in.c-main.orders'], zone: 'Asia/Tokyo' })
  assert.deepEqual(await kept(admin), {})
  await viewer.ok('DELETE', '/account/preferences/zone')
  assert.deepEqual(await kept(), { 'favourites:1': ['in.c-main.orders'] })
  const bad: readonly (readonly [string, unknown])[] = [
    ['a%20b', { value: 1 }],
    ['x'.repeat(301), { value: 1 }],
    ['big', { value: 'x'.repeat(20_000) }],
    ['none', {}],
  ]
  for (const [name, json] of bad)
    assert.equal((await viewer.call('PUT', `/account/preferences/${name}`, { json })).status, 400, name.slice(0, 20))
  assert.equal((await stack.request('GET', '/account/preferences')).status, 401, 'a token has no account')
})
