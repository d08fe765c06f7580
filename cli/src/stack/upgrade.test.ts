import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startStack } from '../../../tests/faults/stack.ts'
import { freshPostgres } from '../../../tests/support/fresh-databases.ts'
import { runCli } from '../../../tests/support/run-cli.ts'

const FIXTURE = fileURLToPath(new URL('../../../tests/fixtures/data-folder-0.1.0.tar.gz', import.meta.url))

interface Check {
  readonly requirements: readonly { readonly name: string; readonly minimum: number; readonly found: string }[]
  readonly migrations: readonly string[]
  readonly stopAllNodes: boolean
  readonly unknownSettings: readonly string[]
  readonly backup: { readonly folder: string; readonly ok: boolean; readonly text: string } | null
}

test('upgrade --check names what a start would change, makes a backup that opens, and changes nothing', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-upgrade-check-'))
  t.after(() => rm(folder, { recursive: true }))
  execFileSync('tar', ['--extract', '--gzip', '--file', FIXTURE, '--directory', folder])
  const dataDir = join(folder, 'data')
  const env = { MILLRACE_DATA_DIR: dataDir, MILLRACE_OF_ANOTHER_VERSION: 'x' }
  const applied = () => {
    const db = new DatabaseSync(join(dataDir, 'metadata.sqlite'), { readOnly: true })
    const names = db.prepare('select name from migration order by number').all()
    db.close()
    return names
  }
  const before = applied()

  const first = await runCli(['upgrade', '--check', '--json'], env)
  assert.equal(first.code, 0, first.err)
  const { requirements, migrations, stopAllNodes, unknownSettings, backup } = first.json<Check>()
  assert.deepEqual(requirements, [{ name: 'Node', minimum: 24, found: process.versions.node }])
  assert.ok(migrations.length > 0 && stopAllNodes, 'the fixture is of an earlier release')
  assert.deepEqual(unknownSettings, ['MILLRACE_OF_ANOTHER_VERSION'])
  assert.match(
    backup!.text,
    /all verified; a copy of it opened with this version: 1 projects, \d+ objects, (\d+) of \1 tables read/,
  )
  assert.ok(existsSync(join(backup!.folder, 'metadata.sqlite')))
  assert.deepEqual(applied(), before)

  const text = await runCli(['upgrade', '--check', '--no-backup'], env)
  assert.match(text.out, new RegExp(`^Migrations +${migrations.length}: ${migrations[0]}, .*stop all nodes first$`, 'm'))
  assert.match(text.out, /^Requires +Node 24 or newer \(here: 24\.\d+\.\d+\)$/m)
  assert.match(text.out, /^Settings +unknown to this version: MILLRACE_OF_ANOTHER_VERSION$/m)
  assert.match(text.out, /^Backup +none was created$/m)
  assert.equal((await readdir(folder)).filter((name) => name.startsWith('data-backup-')).length, 1)

  const later = new DatabaseSync(join(dataDir, 'metadata.sqlite'))
  later.exec("insert into migration (number, name, applied_at) values (9999, '9999-of-a-later-version', 0)")
  later.close()
  const refused = await runCli(['upgrade', '--check'], env)
  assert.equal(refused.code, 1)
  assert.match(
    refused.err,
    /^millrace: The metadata database was migrated by a newer Millrace: .*9999-of-a-later-version\. Start the newer version.*\n$/,
  )
  assert.equal((await readdir(folder)).filter((name) => name.startsWith('data-backup-')).length, 1, 'nothing was made')
})

test('upgrade --check on PostgreSQL names the version of the server and makes a backup of the database', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-upgrade-postgres-'))
  t.after(() => rm(folder, { recursive: true }))
  const { location, remove } = await freshPostgres()
  t.after(remove)
  const env = { MILLRACE_DATABASE_URL: 'url' in location ? location.url : '' }
  const stack = await startStack(t, { env })
  await stack.stop()
  const { out, code, err } = await runCli(['upgrade', '--check'], { ...env, MILLRACE_DATA_DIR: stack.dataDir })
  assert.equal(code, 0, err)
  assert.match(out, /^Requires +Node 24 or newer \(here: \S+\), PostgreSQL 14 or newer \(here: 18\.\d.*\)$/m)
  assert.match(out, /^Migrations +none$/m)
  assert.match(out, /^Backup +\S+, \d+ files, all verified; /m)
})
