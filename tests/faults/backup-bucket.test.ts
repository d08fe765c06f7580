// Backups straight into a bucket of their own, restored from it, and the drill that proves that a copy opens.

import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { folderSource } from '../../server/src/engines/backup-folder/backup-source.ts'
import { hashFile } from '../../server/src/engines/backup-folder/hashed-file.ts'
import { type BackupManifest, manifestText, readManifest } from '../../server/src/engines/backup-folder/manifest.ts'
import { readDrill } from '../../server/src/engines/data-dir/drill-record.ts'
import { runCli } from '../support/run-cli.ts'
import { type StartedS3, startS3 } from '../support/servers/start-s3.ts'
import { until } from '../support/until.ts'
import { compare, copyOf, nothing, write } from './promised-content.ts'
import { type Stack, startStack } from './stack.ts'

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-backup-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function backupBucket(t: TestContext): Promise<{ s3: StartedS3; env: Record<string, string> }> {
  const s3 = await startS3()
  t.after(s3.close)
  const env = {
    MILLRACE_BACKUP_S3_ENDPOINT: s3.endpoint,
    MILLRACE_BACKUP_S3_BUCKET: 'millrace',
    MILLRACE_BACKUP_S3_PREFIX: 'nightly',
    MILLRACE_BACKUP_S3_ACCESS_KEY_ID: s3.sessions.root.accessKeyId,
    MILLRACE_BACKUP_S3_SECRET_ACCESS_KEY: s3.sessions.root.secretAccessKey,
  }
  return { s3, env }
}

const keysIn = async ({ store }: StartedS3): Promise<string[]> => (await store.list({})).objects.map(({ key }) => key)

async function makeTable(stack: Stack): Promise<void> {
  await stack.post('/v2/storage/buckets', { name: 'main', stage: 'in' })
  const form = new FormData()
  form.set('name', 'people')
  form.set('data', new Blob(['id,name\n1,Ann\n2,Bob\n']), 'people.csv')
  const headers = { 'x-storageapi-token': stack.masterToken }
  const made = await fetch(`${stack.url}/v2/storage/buckets/in.c-main/tables`, { method: 'POST', headers, body: form })
  assert.equal(made.status, 201, await made.text())
}

test('a stack backs itself up into a bucket, and is restored from it elsewhere', async (t) => {
  const { s3, env } = await backupBucket(t)
  const stack = await startStack(t, { env: { ...env, MILLRACE_BACKUP_WITH_KEY: 'yes' } })
  // The one that was missed is made at the start, of an empty stack; one by hand follows.
  await until('the planned backup is whole', async () => (await keysIn(s3)).some((key) => key.endsWith('Z/manifest.json')))
  const promised = nothing()
  for (let n = 0; n < 8; n++) await write(stack, promised, n)
  await makeTable(stack)
  const before = copyOf(promised)
  const cli = { ...env, MILLRACE_DATA_DIR: stack.dataDir }
  const made = await runCli(['backup', 's3:by-hand', '--with-key', '--json'], cli)
  assert.equal(made.code, 0, made.err)
  assert.ok((await keysIn(s3)).includes('nightly/by-hand/manifest.json'))
  assert.match((await runCli(['backup', 's3:by-hand'], cli)).err, /is not empty/)
  assert.match((await runCli(['restore', 's3:nobody', '--verify'], cli)).err, /Backup "nobody" does not exist.*by-hand/)
  assert.match((await runCli(['restore', 's3:../x', '--verify'], cli)).err, /is not a valid backup name/)

  const elsewhere = { ...env, MILLRACE_DATA_DIR: join(await emptyFolder(t), 'data') }
  const drill = await runCli(['restore', 's3:latest', '--verify', '--json'], elsewhere)
  assert.equal(drill.code, 0, drill.err)
  const { copy } = drill.json<{ copy: { projects: number; objects: number; tables: number; tablesRead: number } }>()
  assert.deepEqual([copy.projects, copy.tables, copy.tablesRead], [1, 1, 1])
  assert.ok(copy.objects > 0)
  const back = await runCli(['restore', 's3:by-hand'], elsewhere)
  assert.equal(back.code, 0, back.err)
  const existing = { dataDir: elsewhere.MILLRACE_DATA_DIR, masterToken: stack.masterToken }
  await compare(await startStack(t, { existing }), before)
})

test('a byte that changed in the bucket is found, and nothing is restored', async (t) => {
  const { s3, env } = await backupBucket(t)
  const stack = await startStack(t, { env })
  await write(stack, nothing(), 0)
  const cli = { ...env, MILLRACE_DATA_DIR: stack.dataDir }
  assert.equal((await runCli(['backup', 's3:one', '--with-key'], cli)).code, 0)
  const key = (await keysIn(s3)).find((name) => name.endsWith('one/metadata.sqlite'))!
  await s3.store.put(key, (async function* () { yield Buffer.from('other bytes') })()) // biome-ignore format: one thought
  const dataDir = join(await emptyFolder(t), 'data')
  const back = await runCli(['restore', 's3:one'], { ...env, MILLRACE_DATA_DIR: dataDir })
  assert.equal(back.code, 1)
  assert.match(back.err, /metadata\.sqlite has 11 bytes/)
})

test('the drill finds a copy that does not work though every file is as it was written', async (t) => {
  const stack = await startStack(t)
  await makeTable(stack)
  await stack.post('/v2/storage/components/platform.ex-http/configs', { name: 's', configuration: { '#a': 'secret' } })
  const folder = join(await emptyFolder(t), 'backup')
  const scratch = await emptyFolder(t) // other tests make copies of their own at the same time
  const cli = { MILLRACE_DATA_DIR: stack.dataDir, TMPDIR: scratch }
  assert.equal((await runCli(['backup', folder], cli)).code, 0)
  const sound = await runCli(['restore', folder, '--verify'], cli)
  assert.match(sound.out, /A copy of it opened: 1 projects, \d+ objects, 1 of 1 tables read/)
  assert.deepEqual(await readdir(scratch), [], 'the copy is removed')
  assert.deepEqual([(await readDrill(stack.dataDir))?.isGood, (await readDrill(stack.dataDir))?.tablesRead], [true, 1])
  const keyless = await runCli(['restore', folder, '--verify'], { MILLRACE_DATA_DIR: await emptyFolder(t) })
  assert.match(keyless.out, /No copy of it was opened, because the root key/)

  const lost = join(await emptyFolder(t), 'lost')
  await cp(folder, lost, { recursive: true })
  await loseAnObject(lost)
  const found = await runCli(['restore', lost, '--verify'], cli)
  assert.equal(found.code, 1)
  assert.match(found.err, /The table in\.c-main\.people cannot be read/)
})

/** As if the stack had lost the record of an object before the backup was made: hashes and databases fit. */
async function loseAnObject(folder: string): Promise<void> {
  const index = join(folder, 'objects', 'index.sqlite')
  const db = new DatabaseSync(index)
  const { changes } = db.prepare("delete from objects where key like 'table%'").run()
  assert.ok(Number(changes) > 0)
  db.exec('vacuum')
  db.close()
  const manifest: BackupManifest = await readManifest(folderSource(folder))
  const hashed = await hashFile(index)
  const files = manifest.files.map((file) => (file.path === 'objects/index.sqlite' ? { ...file, ...hashed } : file))
  await writeFile(join(folder, 'manifest.json'), manifestText(manifest, files))
  assert.ok((await readFile(join(folder, 'manifest.json'), 'utf8')).includes(hashed.sha256))
}
