import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startStackProcess } from '../../../tests/support/stack-process.ts'

test('commands on the data folder use the address of the stack that runs on it, whatever PORT says', async (t) => {
  const stack = await startStackProcess(t)
  const env = { MILLRACE_DATA_DIR: stack.dataDir }
  const link = async (...args: string[]) => (await runCli([...args, '--json'], env)).json<{ link: string }>().link
  assert.ok((await link('people', 'invite', 'ann@example.com')).startsWith(`${stack.url}/console/#link=`))
  assert.ok((await link('admin', 'sign-in-link')).startsWith(`${stack.url}/console/#link=`))
  const { out } = await runCli(['doctor'], env)
  assert.match(out, new RegExp(`ok +stack port +${new URL(stack.url).port} is held by the running stack`))
  assert.match(out, /event loop +(never held for more than 200 ms|held \d+ times? for more than 200 ms, at most \d+ ms)/)
  assert.match(out, new RegExp(`ok +object store port +${new URL(stack.s3Url).port} is held by the running stack`))
  assert.match(out, new RegExp(`ok +running +process \\d+ uses this data folder at ${stack.url};`))

  await stack.kill()
  const later = await runCli(['doctor'], env)
  assert.match(later.out, /running +no/)
  assert.ok(!later.out.includes(new URL(stack.url).port), 'the file of a killed stack is not taken for a stack')
})

test('commands of an installation create nothing in a folder without a stack', async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), 'millrace-no-stack-'))
  t.after(() => rm(cwd, { recursive: true }))
  const commands = [
    ['people', 'list'],
    ['people', 'invite', 'ann@example.com'],
    ['admin', 'sign-in-link'],
    ['token', 'reset-master', '--yes'],
    ['project', 'create', 'Marketing', '--yes'],
    ['project', 'list'],
    ['nodes'],
    ['encryption', 'rotate'],
    ['resume'],
    ['extension', 'add', 'sqlite'],
    ['extension', 'list'],
    ['upgrade', '--check'],
  ]
  for (const command of commands) {
    const { code, out, err } = await runCli(command, {}, { cwd })
    assert.deepEqual(
      [code, out, err],
      [1, '', 'millrace: There is no stack in ./data; set MILLRACE_DATA_DIR.\n'],
      command.join(' '),
    )
  }
  const elsewhere = await runCli(['people', 'list'], { MILLRACE_DATA_DIR: join(tmpdir(), 'no-such-folder') }, { cwd })
  assert.equal(elsewhere.err, `millrace: There is no stack in ${join(tmpdir(), 'no-such-folder')}; set MILLRACE_DATA_DIR.\n`)
  assert.deepEqual(await readdir(cwd), [])
})
