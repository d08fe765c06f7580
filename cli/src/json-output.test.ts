import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeStackFolder } from '../../tests/support/migrated-sqlite.ts'
import { runCli } from '../../tests/support/run-cli.ts'

async function start(t: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-json-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  await makeStackFolder(dataDir)
  const run = (args: readonly string[], env = {}) => runCli(args, { MILLRACE_DATA_DIR: dataDir, PORT: '0', ...env })
  for (const name of ['One', 'Two']) await run(['project', 'create', name])
  return run
}

test('--json prints everything or the fields that are named, wherever it stands', async (t) => {
  const run = await start(t)
  const all = (await run(['project', 'list', '--json'])).json<Record<string, unknown>[]>()
  assert.deepEqual(Object.keys(all[0] ?? {}), ['id', 'name', 'created', 'state'])
  for (const args of [
    ['--json', 'project', 'list'],
    ['project', '--json', 'list'],
  ])
    assert.deepEqual((await run(args)).json(), all)
  const names = [
    { name: 'One', id: 1 },
    { name: 'Two', id: 2 },
  ]
  for (const args of [['--json', 'name,id'], ['--json=name,id']])
    assert.deepEqual((await run(['project', 'list', ...args])).json(), names)
  assert.deepEqual((await run(['project', 'rename', '1', 'Three', '--json', 'name'])).json(), { name: 'Three' })
  const renamed = (await run(['project', 'rename', '--json', '1', 'One'])).json()
  assert.deepEqual(renamed, { id: 1, name: 'One' }, 'an argument after --json is not a field')
  const wrong = await run(['project', 'list', '--json', 'id,colour'])
  assert.deepEqual([wrong.code, wrong.out], [1, ''])
  assert.match(wrong.err, /Unknown fields of --json: colour\. Fields: created, id, name, state\./)
})

test('--jmespath and --jq choose from the JSON', async (t) => {
  const run = await start(t)
  assert.deepEqual((await run(['project', 'list', '--jmespath', '[?id > `1`].name'])).json(), ['Two'])
  const wrong = await run(['project', 'list', '--jmespath', '[?'])
  assert.deepEqual([wrong.code, wrong.err.split('\n').length], [1, 2], wrong.err)
  const without = await run(['project', 'list', '--jq', '.'], { PATH: '/nowhere' })
  assert.equal(without.code, 1)
  assert.match(without.err, /--jq needs the program jq on this machine \(ENOENT\)\. Install it, or use --jmespath/)
  if (spawnSync('jq', ['--version']).error) return t.diagnostic('jq is not installed: the rest was not tried')
  assert.equal((await run(['project', 'list', '--jq', '.[].name'])).out, 'One\nTwo\n')
  const both = await run(['project', 'list', '--json', 'name', '--jq', '.[0] | keys[]'])
  assert.equal(both.out, 'name\n')
  const bad = await run(['project', 'list', '--jq', '.['])
  assert.deepEqual([bad.code, bad.err.split('\n').length], [1, 2], bad.err)
})
