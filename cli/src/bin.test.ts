import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('..', import.meta.url))

/** The Node of these tests and, where there is another, that of the machine. */
function installedNodes(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const own = folders.map((folder) => join(folder, 'node')).find((node) => spawnSync(node, ['--version']).status === 0)
  return [process.execPath, ...(own ? [own] : [])]
}

async function otherFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bin-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('the command runs from any folder, through links, without PATH, on the Node of the machine', async (t) => {
  const cwd = await otherFolder(t)
  await mkdir(join(cwd, 'node_modules/.bin'), { recursive: true })
  await symlink(CLI, join(cwd, 'node_modules/cli'), 'junction')
  const link = join(cwd, 'node_modules/.bin/millrace')
  await symlink(join(cwd, 'node_modules/cli/bin/millrace.mjs'), link)
  for (const node of installedNodes()) {
    const version = spawnSync(node, [link, '--version'], { cwd, env: {}, encoding: 'utf8' })
    assert.match(version.stdout, /^\d+\.\d+\.\d+(\+[0-9a-f]{12})?\n$/, `${node}: ${version.stderr}`)
    const byCommand = spawnSync(node, [link, 'version'], { cwd, env: {}, encoding: 'utf8' })
    assert.equal(byCommand.stdout, version.stdout, byCommand.stderr)
    const wrong = spawnSync(node, [link, 'no-such-command'], { cwd, env: {}, encoding: 'utf8' })
    assert.equal(wrong.status, 1, wrong.stderr)
    assert.match(wrong.stderr, /unknown command/)
  }
})

test('a copy that cannot run says so in a sentence', async (t) => {
  const cwd = await otherFolder(t)
  const copied = join(cwd, 'node_modules/millrace/cli')
  await cp(join(CLI, 'bin'), join(copied, 'bin'), { recursive: true })
  const inModules = spawnSync(process.execPath, [join(copied, 'bin/millrace.mjs')], { encoding: 'utf8' })
  assert.deepEqual([inModules.status, inModules.stderr.split('\n').length], [1, 2])
  assert.match(inModules.stderr, /^millrace: Node runs no TypeScript below node_modules.*npm link/)

  await cp(join(CLI, 'bin'), join(cwd, 'clone/cli/bin'), { recursive: true })
  const bare = spawnSync(process.execPath, [join(cwd, 'clone/cli/bin/millrace.mjs')], { encoding: 'utf8' })
  assert.equal(bare.status, 1)
  assert.match(bare.stderr, /^millrace: Packages are missing\. Run "node tools\/setup\.mjs"/)
})
