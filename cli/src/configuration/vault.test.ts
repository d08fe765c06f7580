import assert from 'node:assert/strict'
import test from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startTestStack } from '../../../tests/support/test-stack.ts'

test('variables of the vault are set, listed and deleted from the command line', async (t) => {
  const { url, masterToken, request } = await startTestStack(t)
  const millrace = (args: string[], input = '') =>
    runCli(['vault', ...args], { MILLRACE_URL: url, MILLRACE_TOKEN: masterToken }, { input })
  const [branch] = (await request('GET', '/v2/storage/dev-branches')).json<{ id: number }[]>()

  assert.match((await millrace(['set', 'host', '--value', 'db.example.com'])).out, /host is set/)
  const secret = await millrace(['set', 'password', '--encrypted', '--json'], 'from standard input\n')
  assert.equal(secret.code, 0, secret.err)
  assert.match(secret.json<{ value: string }>().value, /^KBC::/)
  assert.match((await millrace(['set', 'host', '--value', 'other', '--branch', String(branch!.id)])).out, /for branch/)

  const { out } = await millrace(['list'])
  assert.match(out, /host +db\.example\.com\n/)
  assert.match(out, /password +\(encrypted\)/)
  assert.ok(!out.includes('from standard input'))
  const ofBranch = (await millrace(['list', '--branch', 'default', '--key', 'host', '--json'])).json<{ value: string }[]>()
  assert.deepEqual(
    ofBranch.map(({ value }) => value),
    ['other'],
  )

  assert.equal((await millrace(['delete', 'host'])).code, 0)
  const left = (await millrace(['list', '--json'])).json<{ key: string; value: string }[]>()
  assert.deepEqual(
    left.map(({ key }) => key),
    ['password', 'host'],
  )
  const again = await millrace(['delete', 'host'])
  assert.equal(again.code, 1)
  assert.match(again.err, /no variable "host"/)
  assert.match((await millrace(['set', 'not a name', '--value', 'x'])).err, /key/)
})
