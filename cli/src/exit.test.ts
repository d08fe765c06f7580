import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runCli } from '../../tests/support/run-cli.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

test('a closed pipe ends the command silently, with exit code 0', async () => {
  const child = spawn(process.execPath, [MAIN, 'completion', 'fish'])
  child.stdout.destroy() // the reader is gone before the first byte
  const exited = once(child, 'exit')
  assert.equal(await text(child.stderr), '')
  assert.deepEqual(await exited, [0, null])
})

test('a full disk is one sentence and exit code 1', { skip: !existsSync('/dev/full') && 'there is no /dev/full' }, () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, [MAIN, 'completion', 'fish'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)
  assert.deepEqual([status, stderr], [1, 'millrace: The output cannot be written: no space left on device (ENOSPC).\n'])
})

test('a file that cannot be read is one sentence and exit code 1', async () => {
  const { code, err } = await runCli(['app', 'create', 'x', '--script', 'no-such-file'], { MILLRACE_TOKEN: 'x' })
  assert.deepEqual([code, err], [1, 'millrace: no-such-file: no such file or directory (open, ENOENT).\n'])
})
