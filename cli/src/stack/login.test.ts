import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { newStackAdmin, PASSWORD } from '../../../tests/support/clients/person-client.ts'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startStackProcess } from '../../../tests/support/stack-process.ts'
import { shareTestStack } from '../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

async function start(t: TestContext) {
  const [one, two] = [await startProject(), await startProject()]
  const config = await mkdtemp(join(tmpdir(), 'millrace-profiles-'))
  t.after(() => rm(config, { recursive: true, force: true }))
  const run = async (args: readonly string[], { env = {}, input = '', code = 0 } = {}) => {
    const result = await runCli(args, { XDG_CONFIG_HOME: config, MILLRACE_DATA_DIR: config, ...env }, { input })
    assert.equal(result.code, code, `millrace ${args.join(' ')}\n${result.out}${result.err}`)
    const printed = result.out + result.err
    for (const { masterToken } of [one, two])
      assert.ok(args[0] === 'api' || !printed.includes(masterToken), 'no token is printed')
    return result
  }
  /** The project that a command reaches. */
  const projectOf = async (args: readonly string[], env: Record<string, string> = {}) =>
    (await run(['api', 'GET', '/v2/storage/tokens/verify', ...args], { env })).json<{ owner: { id: number } }>().owner.id
  return { one, two, run, projectOf, file: join(config, 'millrace', 'profiles.json') }
}

test('login verifies a token and saves it for the user only; flags, environment and profiles are used in this order', async (t) => {
  const { one, two, run, projectOf, file } = await start(t)
  const login = (name: string, { url, masterToken }: typeof one) =>
    run(['login', name, '--url', `${url}/`], { input: `${masterToken}\n` })
  await login('one', one)
  await login('two', two)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const listed = (await run(['profiles', 'list', '--json'])).json<{ name: string; isInUse: boolean; url: string }[]>()
  assert.deepEqual(
    listed.map(({ name, isInUse, url }) => [name, isInUse, url]),
    [
      ['one', false, one.url],
      ['two', true, one.url],
    ],
  )

  assert.equal(await projectOf([]), two.projectId, 'the profile in use')
  assert.equal(await projectOf([], { MILLRACE_PROFILE: 'one' }), one.projectId, 'MILLRACE_PROFILE before the profile in use')
  const env = { MILLRACE_URL: two.url, MILLRACE_TOKEN: two.masterToken, MILLRACE_PROFILE: 'one' }
  assert.equal(await projectOf([], env), two.projectId, 'MILLRACE_URL and MILLRACE_TOKEN before MILLRACE_PROFILE')
  assert.equal(await projectOf(['--profile', 'one'], env), one.projectId, '--profile before the environment')
  assert.equal(await projectOf(['--profile', 'one', '--token', two.masterToken]), two.projectId, '--token before --profile')

  const elsewhere = await run(['bucket', 'list', '--url', 'http://127.0.0.1:1'], { code: 1 })
  assert.match(
    elsewhere.err,
    /A token for http:\/\/127\.0\.0\.1:1 is required/,
    'the token of a profile goes to no other address',
  )

  await run(['profiles', 'use', 'one'])
  assert.equal(await projectOf([]), one.projectId)
  await run(['profiles', 'remove', 'one'])
  assert.match((await run(['bucket', 'list'], { code: 1 })).err, /A token for http:\/\/127\.0\.0\.1:8000 is required/)
  assert.match(
    (await run(['bucket', 'list', '--profile', 'one'], { code: 1 })).err,
    /Profile "one" does not exist\. Profiles: two\./,
  )
})

test('a login that fails saves nothing, and a file that others can read is refused', async (t) => {
  const { one, run, file } = await start(t)
  const at = ['--url', one.url]
  assert.match((await run(['login', ...at], { input: '1-1-wrong', code: 1 })).err, /401/)
  assert.match((await run(['login', ...at], { code: 1 })).err, /nothing was given/)
  assert.match((await run(['login', '../x', ...at], { input: 'x', code: 1 })).err, /not a name of a profile/)
  assert.match((await run(['login', '--url', 'ftp://x'], { input: 'x', code: 1 })).err, /not the URL of a stack/)
  await assert.rejects(readFile(file))
  await run(['login', ...at], { input: one.masterToken })
  await chmod(file, 0o644)
  assert.match((await run(['bucket', 'list'], { code: 1 })).err, /has mode 644: other users can read the tokens/)
})

test('an admin logs in with e-mail and password', async (t) => {
  const { one, run, projectOf, file } = await start(t)
  const { email } = await newStackAdmin(one, `admin-${one.projectId}@example.com`)
  const args = ['login', 'mine', '--url', one.url, '--email', email]
  assert.match((await run(args, { input: PASSWORD, code: 1 })).err, /use --project/)
  await run([...args, '--project', String(one.projectId)], { input: `${PASSWORD}\n` })
  assert.equal(await projectOf([]), one.projectId)
  assert.ok(!(await readFile(file, 'utf8')).includes(PASSWORD))
  assert.match((await run([...args, '--project', '1'], { input: 'wrong', code: 1 })).err, /401/)
})

test('without options, variables and profiles the stack of this machine is found by its data folder', async (t) => {
  const stack = await startStackProcess(t)
  const { out } = await runCli(['bucket', 'list'], { MILLRACE_DATA_DIR: stack.dataDir, MILLRACE_TOKEN: stack.masterToken })
  assert.match(out, /no buckets yet/)
})
