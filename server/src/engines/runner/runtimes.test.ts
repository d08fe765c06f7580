// The errors when a program that the code of a user needs is not installed, with folders of the test as the PATH.

import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createRuntimes } from './runtimes.ts'

function folderWith(t: TestContext, script?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-runtimes-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  if (script === undefined) return folder
  writeFileSync(join(folder, 'python3'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, 'python3'), 0o755)
  return folder
}

test('without Python a sentence says so; Node is always there', async (t) => {
  const runtimes = createRuntimes(folderWith(t))
  for (const name of ['python', 'streamlit', 'jupyter'] as const)
    assert.deepEqual(await runtimes.find(name), { missing: 'python3 is not in the PATH of the stack' })
  const node = await runtimes.find('node')
  assert.deepEqual('command' in node && node.command('app.mjs'), [process.execPath, 'app.mjs'])
})

test('Python runs a script; Streamlit and Jupyter need their packages as well', async (t) => {
  const without = folderWith(t, 'echo "ModuleNotFoundError: no streamlit" >&2; exit 1')
  const bare = createRuntimes(without)
  const python = await bare.find('python')
  assert.deepEqual('command' in python && python.command('app.py'), [join(without, 'python3'), 'app.py'])
  const streamlit = await bare.find('streamlit')
  const install = `install it with "${join(without, 'python3')} -m pip install`
  assert.deepEqual(streamlit, {
    missing: `the Python at ${join(without, 'python3')} has no package streamlit: ${install} streamlit"`,
  })
  const partly = createRuntimes(folderWith(t, 'test "$2" != "import nbclient"'))
  const jupyter = await partly.find('jupyter')
  assert.match('missing' in jupyter ? jupyter.missing : '', /has no package nbclient: .* -m pip install nbclient"$/)

  const complete = folderWith(t, 'exit 0')
  const found = await createRuntimes(complete).find('streamlit')
  assert.deepEqual('command' in found && found.command('app.py'), [join(complete, 'python3'), '-m', 'streamlit', 'run', 'app.py'])
  const notebooks = await createRuntimes(complete).find('jupyter')
  assert.deepEqual('command' in notebooks && notebooks.command('app.ipynb').at(-1), 'app.ipynb')
})
