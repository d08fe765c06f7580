import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { backupWorkOf } from '../../../tests/support/clients/backup-work.ts'
import { newStackAdmin } from '../../../tests/support/clients/person-client.ts'
import { startTestStack } from '../../../tests/support/test-stack.ts'
import { until } from '../../../tests/support/until.ts'

interface Listed {
  readonly plan: { readonly keep: number } | null
  readonly backups: readonly {
    readonly id: number
    readonly folder: string
    readonly state: string
    readonly isPlanned: boolean
    readonly restoreTest: { readonly state: string; readonly note: string | null } | null
  }[]
}

test('a stack admin makes a backup and tries out its restore; one that is gone or damaged is named', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-backups-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const { backupWork, connect } = backupWorkOf(folder, 1)
  const stack = await startTestStack(t, { backupWork })
  connect(stack)
  const admin = await newStackAdmin(stack)
  const list = () => admin.ok<Listed>('GET', '/operations/backups')
  const ended = (count: number) =>
    until('the backup ended well', async () => {
      const { backups } = await list()
      return backups.length === count && backups[0]!.state === 'good' ? backups : undefined
    })
  assert.deepEqual((await list()).backups, [])
  assert.equal((await stack.request('GET', '/operations/backups')).status, 401, 'a token of a project is not enough')
  const started = await admin.ok<Listed>('POST', '/operations/backups')
  assert.equal(started.backups.length, 1)
  const [first] = await ended(1)
  assert.equal(first!.isPlanned, false)
  assert.deepEqual(await readdir(folder), [first!.folder.split('/').at(-1)!])

  await until('the next second: backups are named by it', () => !first!.folder.includes(nameOfNow()))
  await admin.ok('POST', '/operations/backups')
  const [second] = await ended(2)
  await until('only one is kept', async () => (await list()).backups[1]!.state === 'removed')
  const tried = (id: number) => admin.call('POST', `/operations/backups/${id}/restore-test`)
  const gone = await tried(first!.id)
  assert.deepEqual([gone.status, gone.json().code], [409, 'backup.notGood'])
  assert.equal((await tried(4711)).status, 404)

  await writeFile(join(second!.folder, 'metadata.sqlite'), 'damaged')
  assert.equal((await tried(second!.id)).status, 202)
  const { restoreTest } = await until('the restore test ended', async () => {
    const [newest] = (await list()).backups
    return newest!.restoreTest?.state === 'running' ? undefined : newest
  })
  assert.deepEqual(
    [restoreTest!.state, restoreTest!.note],
    ['damaged', restoreTest!.note?.match(/^metadata\.sqlite has 7 bytes, and was written with \d+$/)?.[0]],
  )
  const events = await admin.ok<readonly { event: string }[]>('GET', '/operations/audit?what=storage.backup')
  assert.deepEqual(
    events.map(({ event }) => event),
    ['storage.backupDrillStarted', 'storage.backupStarted', 'storage.backupStarted'],
  )
})

const nameOfNow = (): string => new Date().toISOString().slice(0, 19).replaceAll(':', '-')
