import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeConfigFile, writeStateFile } from './data-folder.ts'
import { createMask } from './mask.ts'
import type { Program } from './program.ts'
import { createRunner } from './runner.ts'

const LIMITS = { timeoutMs: 20_000, memoryBytes: 256 * 2 ** 20, diskBytes: 2 ** 30 }

function rig(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'millrace-spare-'))
  const runner = createRunner({ runsFolder: join(home, 'runs'), cacheFolder: join(home, 'cache'), path: '/usr/bin:/bin' })
  t.after(async () => {
    await runner.close()
    rmSync(home, { recursive: true, force: true })
  })
  /** A whole run; answers where it ran and which folder of the disk that was. */
  const runOnce = async (program: Program, withArtifacts = false) => {
    const folder = await runner.newFolder(withArtifacts)
    const number = lstatSync(folder.root).ino
    await writeConfigFile(folder, '{"#secret":"s3cret"}')
    await writeStateFile(folder, '{}')
    const { exitCode, words } = await runner.run({
      program,
      folder,
      environment: {},
      limits: LIMITS,
      mask: createMask([]),
      onEvent: () => {},
    })
    assert.equal(exitCode, 0, words)
    await runner.removeFolder(folder)
    return { root: folder.root, number }
  }
  const node = (name: string, code: string): Program => {
    const entry = join(home, `${name}.mjs`)
    writeFileSync(
      entry,
      `import { chmodSync, mkdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
       const data = process.env.KBC_DATADIR
       ${code}`,
    )
    return { kind: 'node', entry, arguments: [], readable: [] }
  }
  const filesLeft = () => readdirSync(join(home, 'runs'), { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return { home, runner, runOnce, node, filesLeft }
}

test('a folder in which a run left nothing serves again, under another name and without a file in it', async (t) => {
  const { runOnce, node, filesLeft } = rig(t)
  for (const withArtifacts of [false, true]) {
    const quiet = node('quiet', '')
    const first = await runOnce(quiet, withArtifacts)
    assert.deepEqual(filesLeft(), [])
    const second = await runOnce(quiet, withArtifacts)
    assert.equal(second.number, first.number)
    assert.notEqual(second.root, first.root)
  }
})

const TRACES = {
  'a table': `writeFileSync(data + 'out/tables/a', '')`,
  'a state': `writeFileSync(data + 'out/state.json', '{}')`,
  'a file beside the folders': `writeFileSync(data + 'note', '')`,
  'a file in its scratch folder': `writeFileSync(process.env.TMPDIR + '/a', '')`,
  'a folder': `mkdirSync(data + 'in/tables/a')`,
  'a closed folder': `chmodSync(data + 'out/tables', 0)`,
  'a folder less': `rmSync(data + 'in/user', { recursive: true })`,
  'no configuration': `unlinkSync(data + 'config.json')`,
}

for (const [what, code] of Object.entries(TRACES)) {
  test(`a folder in which a run left ${what} is gone after it`, async (t) => {
    const { runOnce, node } = rig(t)
    const { root } = await runOnce(node('traces', code))
    assert.equal(existsSync(root), false)
    assert.deepEqual(readdirSync(join(root, '..')), [])
  })
}

test('a folder in which a program ran that could start others never serves again', async (t) => {
  const { runOnce, home } = rig(t)
  const { root } = await runOnce({ kind: 'command', command: ['/bin/sh', '-c', 'true'], folder: home })
  assert.deepEqual(readdirSync(join(root, '..')), [])
})

test('spare folders go when the runner closes, and one that somebody removed is made anew', async (t) => {
  const { runOnce, node, runner } = rig(t)
  const quiet = node('quiet', '')
  const { root } = await runOnce(quiet)
  rmSync(root, { recursive: true })
  const second = await runOnce(quiet)
  assert.equal(existsSync(second.root), true)
  await runner.close()
  assert.deepEqual(readdirSync(join(second.root, '..')), [])
})
