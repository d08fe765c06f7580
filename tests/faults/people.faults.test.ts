// People when things go wrong: a crash between two requests, secrets that must not come out, a person who is removed while they look.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { newBrowser, newMember, newStackAdmin, PASSWORD } from '../support/clients/person-client.ts'
import { openEventStream } from '../support/event-stream.ts'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'
import { startStack } from './stack.ts'

test('what was acknowledged survives kill -9, and no secret of a person comes out', { timeout: 120_000 }, async (t) => {
  const stack = await startStack(t, { env: { MILLRACE_LOG_LEVEL: 'debug' } })
  const link = /#link=([\w-]{43})/.exec(stack.output())?.[1]
  assert.ok(link, `the first start prints a link: ${stack.output()}`)
  const before = newBrowser(stack, 'ann@example.com')
  const answers: string[] = []
  const ok = async <T>(browser: typeof before, method: string, path: string, json?: object): Promise<T> => {
    const answer = await browser.call(method, path, json === undefined ? {} : { json })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.text === '' ? (undefined as T) : answer.json<T>()
  }
  await ok(before, 'POST', '/sign-in/link', { link, name: 'Ann', email: before.email, password: PASSWORD })
  const { link: invitation } = await ok<{ link: string }>(before, 'POST', '/manage/projects/1/invitations', {
    email: 'bob@example.com',
    role: 'editor',
  })
  const { secret } = await ok<{ secret: string }>(before, 'POST', '/account/authenticator')
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
  const { recoveryCodes } = await ok<{ recoveryCodes: string[] }>(before, 'PUT', '/account/authenticator', {
    secret,
    code,
    password: PASSWORD,
  })
  const { token } = await ok<{ token: string }>(before, 'POST', '/account/manage-tokens', { description: 'script' })
  await ok(before, 'PUT', '/operations/settings/MILLRACE_WORKER_JOBS', { value: 3 })
  const session = before.cookie()!.split('=')[1]!
  await stack.kill()
  await stack.start()

  const after = newBrowser(stack, 'ann@example.com')
  const cookie = `millrace_session_${new URL(stack.url).port}=${session}` // the port is another one
  const account = await after.call('GET', '/account', { headers: { cookie } })
  assert.equal(account.status, 200, account.text)
  assert.equal(account.json().hasAuthenticator, true)
  const settings = await after.call('GET', '/operations/settings', { headers: { cookie } })
  const jobs = settings
    .json<{ name: string; value: string; origin: string }[]>()
    .find(({ name }) => name === 'MILLRACE_WORKER_JOBS')
  assert.deepEqual([jobs?.value, jobs?.origin], ['3', 'changed'])
  answers.push(settings.text)
  const used = await after.call('POST', '/sign-in/link', {
    json: { link, name: 'Eve', email: 'eve@example.com', password: PASSWORD },
  })
  assert.equal(used.status, 404, 'a link that was used stays used')
  assert.equal((await after.signIn(code)).status, 401, 'a code that was used stays used')
  assert.equal((await after.signIn(recoveryCodes[0])).status, 200)
  await ok(newBrowser(stack), 'POST', '/sign-in/link', { link: invitation.split('#link=')[1]!, name: 'Bob', password: PASSWORD })
  // Requests that fail must not quote what they carried.
  const wrong = await after.call('POST', '/sign-in/password', {
    body: `{"email":"a","password":"${PASSWORD}"`,
    headers: { 'content-type': 'application/json' },
  })
  answers.push(wrong.text, (await after.call('POST', '/sign-in/password', { json: { email: 1, password: [PASSWORD] } })).text)
  for (const path of [
    '/account',
    '/account/sessions',
    '/account/manage-tokens',
    '/manage/projects/1/users',
    '/manage/projects/1/invitations',
    '/manage/users',
  ])
    answers.push((await after.call('GET', path)).text)
  const tokens = await stack.get('/v2/storage/tokens', { 'x-storageapi-token': stack.masterToken })
  answers.push(
    JSON.stringify(tokens.body),
    JSON.stringify((await stack.get('/v2/storage/events?limit=1000', { 'x-storageapi-token': stack.masterToken })).body),
  )
  const log = stack.output()
  assert.equal(await stack.stop(), 0)

  const places = new Map<string, string>([
    ['the log after the restart', log],
    ['answers', answers.join('\n')],
  ])
  for (const name of readdirSync(stack.dataDir, { recursive: true, withFileTypes: true }))
    if (name.isFile()) places.set(name.name, readFileSync(join(name.parentPath, name.name)).toString('latin1'))
  for (const canary of [
    PASSWORD,
    session,
    link,
    invitation.split('#link=')[1]!,
    secret,
    token,
    recoveryCodes[0]!,
    recoveryCodes[1]!.replaceAll('-', ''),
  ])
    for (const [place, text] of places) assert.ok(!text.includes(canary), `${canary.slice(0, 6)}... is in ${place}`)
})

test('whoever is removed, changed or signed out loses their open stream at once', { timeout: 60_000 }, async (t) => {
  const stack = await startTestStack(t)
  const { projectId } = stack
  const admin = await newStackAdmin(stack)
  const member = await newMember(stack, admin, { projectId, role: 'editor' })
  const { id } = await member.ok<{ id: number }>('GET', '/account')
  const open = async () => {
    const stream = await openEventStream(`${stack.url}/v2/storage/changes`, { cookie: member.cookie()! })
    assert.equal(stream.status, 200)
    t.after(stream.close)
    return stream
  }
  const users = `/manage/projects/${projectId}/users/${id}`

  const first = await open()
  await admin.ok('PATCH', users, { role: 'viewer' })
  await until('the stream of the old role ends', async () => first.isOver())
  assert.equal((await member.call('POST', '/v2/storage/buckets', { json: { name: 'x' } })).json().code, 'accessDenied')

  const second = await open()
  const other = newBrowser(stack, member.email)
  await other.signIn()
  const sessions = await other.ok<{ id: number; isCurrent: boolean }[]>('GET', '/account/sessions')
  await other.ok('DELETE', `/account/sessions/${sessions.find(({ isCurrent }) => !isCurrent)!.id}`)
  await until('the stream of the ended session ends', async () => second.isOver())
  assert.equal((await member.call('GET', '/v2/storage/buckets')).status, 401)

  await member.signIn()
  const third = await open()
  await admin.ok('DELETE', users)
  await until('the stream of who was removed ends', async () => third.isOver())
  const refused = await member.in(projectId).call('GET', '/v2/storage/buckets')
  assert.deepEqual([refused.status, refused.json().code], [403, 'people.notMember'])
  assert.equal((await member.call('GET', '/account')).status, 200, 'they are still a person of the stack')
  await admin.ok('POST', `/manage/projects/${projectId}/users`, { email: member.email, role: 'viewer' })
  const fourth = await open()
  await admin.ok('DELETE', `/manage/users/${id}`)
  await until('the stream of who was removed from the stack ends', async () => fourth.isOver())
  assert.equal((await member.call('GET', '/account')).status, 401)
  const [event] = (await stack.request('GET', '/v2/storage/events')).json<{ event: string; token: { name: string } }[]>()
  assert.deepEqual([event!.event, event!.token.name], ['storage.personLeft', 'root'])
})
