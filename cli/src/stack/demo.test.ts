import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '../../../tests/support/child-environment.ts'
import { until } from '../../../tests/support/until.ts'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

test('the demo has a flow that ran, a schedule, a data app and a failed job, and leaves nothing behind', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-demo-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const demo = spawn(process.execPath, [MAIN, 'demo'], {
    env: { ...childEnvironment(), TMPDIR: folder, PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(() => demo.kill('SIGTERM'))
  let said = ''
  demo.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  await until(
    () => `the demo is ready: ${said}`,
    () => said.includes('Ctrl-C ends it') || demo.exitCode !== null,
  )
  assert.equal(demo.exitCode, null, said)
  const [, url = '', token = ''] = /MILLRACE_URL=(\S+) MILLRACE_TOKEN=(\S+)/.exec(said) ?? []
  assert.match(said, /Sign in +http:\/\/127\.0\.0\.1:\d+\/console\/#link=\S+\n/)
  const read = async <T>(path: string) =>
    (await (await fetch(url + path, { headers: { 'x-storageapi-token': token } })).json()) as T
  const jobs = await read<{ component: string; status: string }[]>('/queue/jobs')
  const ended = (component: string) => jobs.filter((job) => job.component === component).map(({ status }) => status)
  assert.deepEqual(ended('keboola.flow'), ['success'])
  assert.deepEqual(ended('keboola.ex-generic-v2').sort(), ['error', 'success'])
  assert.equal((await read<unknown[]>('/scheduler/schedules')).length, 1)
  const [, app = ''] = /Data app +(.+)\n/.exec(said) ?? []
  if (app.startsWith('http')) assert.match(await (await fetch(app)).text(), /<h1>.*orders/)
  else assert.match(app, /only run isolated/) // this machine cannot run it
  assert.notDeepEqual(await readdir(folder), [])

  demo.kill('SIGINT')
  const [code] = await once(demo, 'exit')
  assert.equal(code, 0, said)
  assert.match(said, /The demo and its data are removed\.\n$/)
  assert.deepEqual(await readdir(folder), [])
})
