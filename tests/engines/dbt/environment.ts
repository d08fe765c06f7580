// A Python environment with dbt, made once.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Later ones fetch parts of themselves from elsewhere than the index. */
const PACKAGES = ['dbt-core==1.10.23', 'dbt-postgres==1.10.2', 'dbt-duckdb==1.10.1']
export const FOLDER = process.env.MILLRACE_DBT ?? join(tmpdir(), 'millrace-dbt')
export const DBT = join(FOLDER, 'bin', 'dbt')
const INSTALL_MS = 600_000

const has = (command: string) =>
  run(command, ['--version']).then(
    () => true,
    () => false,
  )

/** Made once, by uv where it is installed. */
export async function environment(): Promise<void> {
  const isThere = await access(DBT).then(
    () => true,
    () => false,
  )
  if (isThere) return
  if (await has('uv')) {
    await run('uv', ['venv', FOLDER])
    await run('uv', ['pip', 'install', '--python', join(FOLDER, 'bin', 'python'), ...PACKAGES], { timeout: INSTALL_MS })
    return
  }
  assert.ok(await has('python3'), 'npm run test:dbt needs Python 3 as python3, or uv. Install one of them.')
  await run('python3', ['-m', 'venv', FOLDER])
  await run(join(FOLDER, 'bin', 'pip'), ['install', '-q', ...PACKAGES], { timeout: INSTALL_MS })
}
