import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startTestStack } from '../../../tests/support/test-stack.ts'

test('a schedule is made, shown, paused, resumed, run and deleted from the command line', async (t) => {
  const stack = await startTestStack(t)
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }
  const millrace = async (...args: string[]) => {
    const result = await runCli(['schedule', ...args], env)
    assert.equal(result.code, 0, `${args.join(' ')}\n${result.out}${result.err}`)
    return result
  }
  const target = (
    await stack.request('POST', '/v2/storage/components/platform.ex-http/configs', { json: { name: 't', configuration: {} } })
  ).json<{ id: string }>().id

  const made = (
    await millrace('create', '30 2 * * *', 'platform.ex-http', target, '--timezone', 'Europe/Prague', '--json')
  ).json<{ id: string }>()
  assert.match((await millrace('list')).out, new RegExp(`${made.id}\\s+30 2 \\* \\* \\*\\s+Europe/Prague\\s+enabled`))
  assert.equal((await millrace('next', made.id, '--count', '3')).out.trim().split('\n').length, 3)
  assert.match((await millrace('pause', made.id)).out, /disabled/)
  assert.match((await millrace('show', made.id)).out, /Next run\s+none/)
  assert.match((await millrace('resume', made.id)).out, /enabled/)
  assert.match((await millrace('run-now', made.id)).out, /Job \d+ is queued/)
  assert.match((await millrace('delete', made.id)).out, /gone/)
  assert.match((await millrace('list')).out, /no schedules/)

  for (const args of [
    ['create', 'often', 'platform.ex-http', target],
    ['create', '* * * * *', 'platform.ex-http', '424242'],
    ['create', '* * * * *', 'platform.ex-http', target, '--row', 'nobody'],
    ['create', '* * * * *', 'platform.ex-http', target, '--timezone', 'Mars/Olympus'],
    ['show', '99'],
    ['next', made.id],
  ]) {
    const refused = await runCli(['schedule', ...args], env)
    assert.equal(refused.code, 1, refused.err)
    assert.match(refused.err, /^millrace: /)
  }
  const nothingLeft = await stack.request('GET', '/v2/storage/components/platform.scheduler/configs')
  assert.deepEqual(nothingLeft.json(), [])
})
