// docs/files.md, run as it stands: every `sh` block, in order, in one shell.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startTestStack } from '../support/test-stack.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('the walk through files works, command by command', async (t) => {
  const stack = await startTestStack(t)
  const folder = await mkdtemp(join(tmpdir(), 'millrace-walk-'))
  t.after(() => rm(folder, { recursive: true }))
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const text = await readFile(join(ROOT, 'docs', 'files.md'), 'utf8')
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!)
  assert.ok(blocks.length >= 5)

  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const { error, stderr } = await new Promise<{ error: Error | null; stderr: string }>((resolve) => {
    const env = { PATH, MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }
    execFile('bash', ['-euxo', 'pipefail', '-c', blocks.join('\n')], { cwd: folder, env }, (failed, _stdout, said) =>
      resolve({ error: failed, stderr: said }),
    )
  })
  assert.equal(error, null, stderr)
  assert.equal(await readFile(join(folder, 'back.csv'), 'utf8'), 'id,name\n1,Ann\n2,Bob\n')
  const imported = JSON.parse(await readFile(join(folder, 'imported.json'), 'utf8')) as { sizeBytes: number }
  assert.equal(imported.sizeBytes, 20)
  const found = JSON.parse(await readFile(join(folder, 'found.json'), 'utf8')) as unknown[]
  assert.equal(found.length, 2)
  assert.deepEqual((await stack.request('GET', '/v2/storage/files')).json(), [])
})
