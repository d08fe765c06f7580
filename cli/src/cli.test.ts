import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeStackFolder } from '../../tests/support/migrated-sqlite.ts'
import { runCli } from '../../tests/support/run-cli.ts'

/** The real command in a process of its own, on the data folder of a stack without a project. */
async function inFolder(t: { after(fn: () => Promise<void>): void }) {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  await makeStackFolder(dataDir)
  const run = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { code, out: stdout, err: stderr } = await runCli(args, { MILLRACE_DATA_DIR: dataDir, PORT: '0', ...env })
    return { code, stdout, stderr }
  }
  return { dataDir, run }
}

test('projects and tokens are made by the rules of the API, values shown once', async (t) => {
  const { run } = await inFolder(t)
  const project = JSON.parse((await run(['project', 'create', 'Brook', '--json'])).stdout)
  assert.equal(project.name, 'Brook')
  assert.ok(project.masterToken.length > 40)
  const token = JSON.parse((await run(['--json', 'token', 'create', '--description', 'reader', '--expires-in', '60'])).stdout)
  assert.ok(token.token.length > 40)
  const listed = await run(['token', 'list'])
  assert.match(listed.stdout, /reader/)
  assert.ok(!listed.stdout.includes(token.token))
  const reset = JSON.parse((await run(['token', 'reset-master', '--json'])).stdout)
  assert.notEqual(reset.token, project.masterToken)
})

test('a project reports the backend that its operator sets, until that is taken back', async (t) => {
  const { run } = await inFolder(t)
  const { id } = JSON.parse((await run(['project', 'create', 'Brook', '--json'])).stdout)
  const set = async (setting: string) =>
    JSON.parse((await run(['project', 'set', String(id), setting, '--json'])).stdout).settings
  assert.deepEqual(await set('backend=snowflake'), { backend: 'snowflake' })
  assert.deepEqual(await set('backend='), {})
  for (const args of [
    [`${id}`, 'backend=oracle'],
    [`${id}`, 'colour=red'],
    [`${id}`, 'backend'],
    ['9', 'backend='],
  ]) {
    const { code, stderr } = await run(['project', 'set', ...args])
    assert.equal(code, 1, args.join(' '))
    assert.doesNotMatch(stderr, / {4}at /)
  }
})

test('what the user can mend ends with 1 and one line', async (t) => {
  const { run } = await inFolder(t)
  for (const args of [
    ['token', 'create', '--project', '99'],
    ['project', 'create', ''],
    ['token', 'create', '--project', 'x'],
    ['no-such-command'],
  ]) {
    const { code, stderr, stdout } = await run(args)
    assert.equal(code, 1, `${args.join(' ')}: ${stderr}`)
    assert.notEqual(stderr, '')
    assert.equal(stdout, '')
    assert.ok(!stderr.includes('    at '), stderr)
  }
  const config = await run(['project', 'list'], { PORT: 'x', MILLRACE_LOG_LEVEL: 'y' })
  assert.equal(config.code, 1)
  assert.match(config.stderr, /PORT.*\n.*MILLRACE_LOG_LEVEL/)
})

test('doctor finds a healthy installation well, and names what is wrong with another', async (t) => {
  const { run, dataDir } = await inFolder(t)
  await run(['project', 'create', 'P'])
  const well = await run(['doctor', '--json'])
  assert.equal(well.code, 0, well.stdout)
  assert.equal(JSON.parse(well.stdout).ok, true)

  await writeFile(join(dataDir, 'root-keys'), 'x')
  await chmod(join(dataDir, 'root-keys'), 0o644)
  const busy = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => busy.once('listening', resolve))
  const { port } = busy.address() as { port: number }
  const ill = await run(['doctor'], {
    MILLRACE_S3_PORT: String(port),
    MILLRACE_TEMPLATE_FOLDERS: join(dataDir, 'lost'),
    MILLRACE_TEMPLATE_REPOSITORIES: 'http://127.0.0.1:1/team/templates.git#v1',
  })
  busy.close()
  assert.equal(ill.code, 1)
  assert.match(ill.stdout, /PROBLEM\s+object store port/)
  assert.match(ill.stdout, /PROBLEM\s+encryption key/)
  assert.match(ill.stdout, /warning\s+templates\s+\S+lost is not there\./)
  assert.match(ill.stdout, /warning\s+templates\s+http:\S+ The connection to 127\.0\.0\.1:1 is not allowed/)
})
