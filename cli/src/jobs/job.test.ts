import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import test from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { type Job, shareShellStack } from '../../../tests/support/shell-stack.ts'

const startProject = shareShellStack()

test('jobs are run, watched, listed, run again and ended from the command line', async () => {
  const { add, configure, url, masterToken } = await startProject()
  await add(
    'test.talk',
    'echo "one two"; grep -q \'"fail":true\' "$KBC_DATADIR/config.json" && { echo "as asked" >&2; exit 1; }; true',
  )
  await add('test.sleep', 'sleep 600')
  const millrace = async (...args: string[]) => {
    const { code, out, err } = await runCli(args, { MILLRACE_URL: url, MILLRACE_TOKEN: masterToken })
    return { code, out: out + err }
  }
  const good = await configure('test.talk', {})
  const bad = await configure('test.talk', { parameters: { fail: true } })
  const sleeping = await configure('test.sleep', {})

  const followed = await millrace('job', 'run', 'test.talk', good, '--follow')
  assert.equal(followed.code, 0, followed.out)
  assert.match(followed.out, /info {4}one two/)
  assert.match(followed.out, /Job \d+ {2}success {2}test\.talk/)

  const failed = await millrace('job', 'run', 'test.talk', bad)
  assert.equal(failed.code, 1)
  assert.match(failed.out, /error {2}test\.talk .*\nas asked/)

  const watched = await millrace('job', 'run', 'test.talk', bad, '--follow')
  assert.deepEqual([watched.code, watched.out.match(/as asked/g)?.length], [1, 1], watched.out)

  const started = JSON.parse((await millrace('job', 'run', 'test.sleep', sleeping, '--no-wait', '--json')).out) as { id: string }
  assert.match((await millrace('job', 'kill', started.id)).out, /is (terminating|cancelled)/)
  assert.equal((await millrace('job', 'wait', started.id)).code, 1)

  const listed = JSON.parse((await millrace('job', 'list', '--component', 'test.talk', '--json')).out) as {
    id: string
    status: string
  }[]
  assert.deepEqual(
    listed.map(({ status }) => status),
    ['error', 'error', 'success'],
  )
  assert.match((await millrace('job', 'logs', listed[2]!.id)).out, /one two/)
  assert.match((await millrace('job', 'show', listed[0]!.id)).out, /as asked/)
  assert.equal((await millrace('job', 'rerun', listed[2]!.id)).code, 0)
  const unknown = await millrace('job', 'show', '999999')
  assert.equal(unknown.code, 1)
  assert.match(unknown.out, /Job "999999" not found/)
})

test('a log that is followed goes on where its connection broke', async (t) => {
  const { add, configure, url, masterToken, request, dataDir } = await startProject()
  const afterCut = (n: number) => `until [ -e ${dataDir}/cut-${n} ]; do sleep 0.05; done`
  await add(
    'test.count',
    `echo "step 1"; ${afterCut(1)}; echo "step 2"; ${afterCut(2)}; for i in 3 4 5 6; do echo "step $i"; done`,
  )
  const config = await configure('test.count', {})
  const { id } = (await request('POST', '/queue/test.count/run', { json: { config } })).json<{ id: string }>()
  let cuts = 0
  const proxy = createServer((client) => {
    const stack = connect(Number(new URL(url).port), '127.0.0.1')
    for (const socket of [client, stack]) socket.on('error', () => {})
    client.pipe(stack).pipe(client)
    client.on('close', () => stack.destroy())
    stack.on('data', (bytes) => {
      if (cuts >= 2 || !bytes.includes('event: log')) return
      client.resetAndDestroy()
      writeFileSync(`${dataDir}/cut-${++cuts}`, '')
    })
  })
  t.after(() => proxy.close())
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const proxied = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const { code, out, err } = await runCli(['job', 'logs', id, '--follow'], { MILLRACE_URL: proxied, MILLRACE_TOKEN: masterToken })
  assert.equal(code, 0, err)
  assert.equal(cuts, 2)
  const steps = [...out.matchAll(/step (\d)/g)].map(([, step]) => step)
  assert.deepEqual(steps, ['1', '2', '3', '4', '5', '6'], out)
})

test('the log of a job is shown whole, however much it said', async () => {
  const { add, configure, url, masterToken, request, wait } = await startProject()
  await add('test.much', 'seq 1 10500 | sed "s/^/line /"')
  const config = await configure('test.much', {})
  const { id } = await wait((await request('POST', '/queue/test.much/run', { json: { config } })).json<Job>())
  const { code, out, err } = await runCli(['job', 'logs', id], { MILLRACE_URL: url, MILLRACE_TOKEN: masterToken })
  assert.equal(code, 0, err)
  const lines = [...out.matchAll(/line (\d+)$/gm)].map(([, line]) => Number(line))
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [10_500, 1, 10_500])
})
