// Checkouts of a git repository that a server of this process offers over HTTP.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { egressPolicyFrom } from '../../../../contract/egress-rules.ts'
import { startGitServer } from '../../../../tests/support/servers/git-server.ts'
import { systemClock } from '../../kit/clock.ts'
import { fetchRepository } from './fetch-repository.ts'
import { ALL_FILES } from './file-rules.ts'
import { fetchOnce, type GitCheckoutOptions, lookAtRepository, openGitCheckout } from './git-checkout.ts'

const OPEN = egressPolicyFrom(['127.0.0.1'])

async function setUp(t: TestContext) {
  const server = await startGitServer(t)
  const folder = await mkdtemp(join(tmpdir(), 'millrace-checkout-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const open = (changed: Partial<GitCheckoutOptions> = {}) =>
    openGitCheckout({
      url: server.url,
      ref: '',
      credentialsIn: 'THE_VARIABLE',
      folder,
      policy: OPEN,
      clock: systemClock,
      fetchWith: fetchRepository,
      ...changed,
    })
  return { server, folder, open, checkout: await open() }
}

test('a branch is fetched, followed, and there again after a restart without the host', async (t) => {
  const { server, folder, open, checkout } = await setUp(t)
  assert.deepEqual(checkout.current(), {})
  const first = await server.commit({ 'a.json': '1', 'deep/b.txt': 'x'.repeat(200_000) })
  await Promise.all([checkout.refresh(), checkout.refresh()])
  const { path, commit, problem } = checkout.current()
  assert.equal(problem, undefined)
  assert.equal(commit, first)
  assert.equal(readFileSync(join(path!, 'a.json'), 'utf8'), '1')
  assert.equal(readFileSync(join(path!, 'deep/b.txt'), 'utf8').length, 200_000)
  await checkout.refresh()
  assert.equal(server.packs(), 1, 'what has not changed is not fetched again')

  const second = await server.commit({ 'a.json': '2' })
  await checkout.refresh()
  assert.equal(readFileSync(join(checkout.current().path!, 'a.json'), 'utf8'), '2')
  assert.ok(existsSync(join(folder, first)), 'somebody may still read the commit before')
  await server.commit({ 'a.json': '3' })
  await checkout.refresh()
  assert.ok(!existsSync(join(folder, first)), 'but not the one before that')
  assert.deepEqual(readdirSync(folder).sort(), [checkout.current().commit!, second, 'current.json'].sort())

  await server.close()
  const again = await open()
  assert.equal(readFileSync(join(again.current().path!, 'a.json'), 'utf8'), '3')
  await again.refresh()
  assert.match(again.current().problem!, /^127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)\.$/)
  assert.equal(readFileSync(join(again.current().path!, 'a.json'), 'utf8'), '3', 'what was fetched stays in use')
})

test('a branch, a tag and a commit are chosen by name', async (t) => {
  const { server, open } = await setUp(t)
  const first = await server.commit({ 'a.json': 'first' })
  await server.tag('v1')
  await server.branch('release/1')
  await server.commit({ 'a.json': 'second' })
  for (const [ref, expected] of [
    ['v1', 'first'],
    ['release/1', 'first'],
    ['main', 'second'],
    [first, 'first'],
  ] as const) {
    const checkout = await open({ ref })
    await checkout.refresh()
    assert.equal(checkout.current().problem, undefined, ref)
    assert.equal(readFileSync(join(checkout.current().path!, 'a.json'), 'utf8'), expected, ref)
  }
  const unknown = await open({ ref: 'nowhere' })
  await unknown.refresh()
  assert.equal(unknown.current().problem, 'The repository has no branch or tag "nowhere".')
  const lost = await open({ ref: 'f'.repeat(40) })
  await lost.refresh()
  assert.match(lost.current().problem!, /f{40}/)
})

test('links, hidden files and what is too large are left out', async (t) => {
  const { server, checkout } = await setUp(t)
  await server.commit({
    'a.json': '1',
    'secrets.json': { link: '/etc/passwd' },
    folder: { link: '/etc' },
    '.hidden/a': '1',
    'large.txt': 'x'.repeat(2 ** 20 + 1),
  })
  await checkout.refresh()
  assert.deepEqual(readdirSync(checkout.current().path!), ['a.json'])
})

test('credentials go to a server that asks for them, and into no sentence', async (t) => {
  const password = 'a pass@word'
  const { server, folder, checkout, open } = await setUp(t)
  await server.commit({ 'a.json': '1' })
  server.credentials = { username: 'ada', password }
  await checkout.refresh()
  assert.match(checkout.current().problem!, /requires credentials \(HTTP 401\)\. Set them in THE_VARIABLE\./)
  const wrong = await open({ credentials: { username: 'ada', password: 'not it' } })
  await wrong.refresh()
  assert.match(wrong.current().problem!, /refuses the credentials of THE_VARIABLE/)
  assert.doesNotMatch(wrong.current().problem!, /not it/)
  const right = await open({ credentials: { username: 'ada', password } })
  await right.refresh()
  assert.equal(right.current().problem, undefined)
  assert.doesNotMatch(readFileSync(join(folder, 'current.json'), 'utf8'), /pass/)
})

test('hosts that are forbidden, redirect, hang, or are not git servers: a sentence each', async (t) => {
  const { server, open } = await setUp(t)
  await server.commit({ 'a.json': '1' })
  const problemWith = async (changed: Partial<GitCheckoutOptions> = {}) => {
    const checkout = await open(changed)
    await checkout.refresh()
    return checkout.current().problem ?? 'none'
  }
  assert.match(await problemWith({ policy: egressPolicyFrom([]) }), /is not allowed: .*MILLRACE_EGRESS_ALLOW/)
  server.instead = (_, res) => void res.writeHead(302, { location: 'http://169.254.169.254/' }).end()
  assert.match(await problemWith(), /answers with a redirect to http:\/\/169\.254\.169\.254\/\. Name the final address\./)
  server.instead = (_, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>')
  assert.equal(await problemWith(), 'What answers at this address is not a git server.')
  server.instead = (_, res) => void res.writeHead(404).end()
  assert.equal(await problemWith(), 'There is no git repository at this address (HTTP 404).')
  server.instead = (_, res) => void res.writeHead(500).end('no')
  assert.match(await problemWith(), /answers HTTP 500\./)
  server.instead = () => {}
  assert.match(await problemWith({ timeoutMs: 300 }), /has not answered within 0\.3 seconds\./)
  server.instead = undefined
  assert.equal(await problemWith(), 'none')
})

test('a lost folder and a damaged record are fetched again', async (t) => {
  const { server, folder, checkout, open } = await setUp(t)
  const commit = await server.commit({ 'a.json': '1' })
  await checkout.refresh()
  rmSync(join(folder, commit), { recursive: true })
  await checkout.refresh()
  assert.equal(readFileSync(join(checkout.current().path!, 'a.json'), 'utf8'), '1')
  writeFileSync(join(folder, 'current.json'), '{"commit"')
  const again = await open()
  assert.deepEqual(again.current(), {})
  await again.refresh()
  assert.equal(again.current().commit, commit)
})

test('one fetch looks or writes all that a program may consist of', async (t) => {
  const { server, folder } = await setUp(t)
  const commit = await server.commit({
    'a.json': '1',
    '__init__.py': '',
    '.streamlit/config.toml': 'x',
    'large file.txt': 'x'.repeat(2 ** 20 + 1),
    link: { link: '/etc/passwd' },
  })
  const { signal } = new AbortController()
  const order = { url: server.url, ref: '', credentialsIn: 'x', policy: OPEN, timeoutMs: 10_000, files: ALL_FILES }
  assert.equal(await lookAtRepository(order), undefined)
  assert.match((await lookAtRepository({ ...order, ref: 'no' }))!, /no branch or tag "no"/)
  assert.equal(server.packs(), 0, 'a look fetches nothing')
  const into = { ...order, folder: join(folder, 'app') }
  assert.deepEqual(await fetchOnce(into, signal), { commit })
  assert.deepEqual(readdirSync(into.folder).sort(), ['.streamlit', '__init__.py', 'a.json', 'large file.txt'])
  assert.deepEqual(readdirSync(folder), ['app'])
  const stopped = await fetchOnce({ ...order, folder: join(folder, 'other') }, AbortSignal.abort())
  assert.deepEqual(stopped, { problem: 'The work was stopped.' })
  assert.equal(await lookAtRepository(order), undefined, 'the next order has another thread')
})
