// Python environments with dbt and with SQLMesh, made once.

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
const SQLMESH_FOLDER = process.env.MILLRACE_SQLMESH ?? join(tmpdir(), 'millrace-sqlmesh')
export const SQLMESH = join(SQLMESH_FOLDER, 'bin', 'sqlmesh')
const INSTALL_MS = 600_000

const has = (command: string) =>
  run(command, ['--version']).then(
    () => true,
    () => false,
  )

export const environment = (): Promise<void> => made(FOLDER, DBT, PACKAGES)
export const sqlmeshEnvironment = (): Promise<void> => made(SQLMESH_FOLDER, SQLMESH, ['sqlmesh[postgres]==0.236.4'])

/** Made once, by uv where it is installed. */
async function made(folder: string, program: string, packages: readonly string[]): Promise<void> {
  const isThere = await access(program).then(
    () => true,
    () => false,
  )
  if (isThere) return
  if (await has('uv')) {
    await run('uv', ['venv', folder])
    await run('uv', ['pip', 'install', '--python', join(folder, 'bin', 'python'), ...packages], { timeout: INSTALL_MS })
    return
  }
  assert.ok(await has('python3'), 'npm run test:dbt needs Python 3 as python3, or uv. Install one of them.')
  await run('python3', ['-m', 'venv', folder])
  await run(join(folder, 'bin', 'pip'), ['install', '-q', ...packages], { timeout: INSTALL_MS })
}
