// The same promise with PostgreSQL and an external S3, where no process has the data to itself: the backup is one state of the database, and
// what is deleted while it is made is still in it.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { freshPostgres } from '../support/fresh-databases.ts'
import { runCli } from '../support/run-cli.ts'
import { startS3 } from '../support/servers/start-s3.ts'
import { until } from '../support/until.ts'
import { compare, copyOf, nothing, upload, write } from './promised-content.ts'
import { startStack } from './stack.ts'

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-backup-'))
  // A stack that was started later is killed after this hook and deletes its own folder.
  t.after(() => rm(folder, { recursive: true, force: true }).catch(() => {}))
  return folder
}

const key = randomBytes(32).toString('hex')

/** An empty database and an empty bucket, and the variables that name them. */
async function freshPlace(t: TestContext) {
  const { location, remove } = await freshPostgres()
  const s3 = await startS3()
  t.after(async () => {
    await s3.close()
    await remove()
  })
  const url = 'url' in location ? location.url : ''
  const env = {
    MILLRACE_DATABASE_URL: url,
    MILLRACE_S3_ENDPOINT: s3.endpoint,
    MILLRACE_S3_BUCKET: 'millrace',
    MILLRACE_S3_ACCESS_KEY_ID: s3.sessions.root.accessKeyId,
    MILLRACE_S3_SECRET_ACCESS_KEY: s3.sessions.root.secretAccessKey,
    MILLRACE_ENCRYPTION_KEY: key,
  }
  return { env, s3, url }
}

/** Rows of every table, as text, without those that the backup itself and the copy write. */
async function contentOf(url: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const tables = await client.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public'",
  )
  const content = new Map<string, readonly string[]>()
  for (const { name } of tables.rows) {
    const { rows } = await client.query<{ line: string }>(`select row_to_json(t)::text as line from "${name}" t order by 1`)
    content.set(
      name,
      rows.map(({ line }) => line),
    )
  }
  await client.end()
  for (const name of ['backup_run', 'restored_copy']) content.delete(name)
  return content
}

test('PostgreSQL and S3 are backed up under load and restored elsewhere', async (t) => {
  const place = await freshPlace(t)
  const stack = await startStack(t, { env: place.env })
  const promised = nothing()
  let isOver = false
  let written = 0
  const writers = Array.from({ length: 3 }, async () => {
    while (!isOver) await write(stack, promised, written++)
  })
  await until('there is something to back up', () => promised.tokens.length > 30)
  const before = copyOf(promised)
  const folder = join(await emptyFolder(t), 'backup')
  const made = await runCli(['backup', folder, '--json'], { ...place.env, MILLRACE_DATA_DIR: stack.dataDir })
  isOver = true
  await Promise.all(writers)
  for (const id of promised.deletedFiles) before.files.delete(id)
  assert.equal(made.code, 0, made.err)
  assert.deepEqual(made.json().damagedObjects, [])
  assert.match((await stack.get('/metrics')).body as string, /millrace_backup_last_success_timestamp_seconds \d{10}/)

  const drill = await runCli(['restore', folder, '--verify', '--json'], {})
  assert.equal(drill.code, 0, drill.err)
  assert.deepEqual(drill.json().damaged, [])

  const elsewhere = await freshPlace(t)
  const dataDir = join(await emptyFolder(t), 'data')
  const back = await runCli(['restore', folder], { ...elsewhere.env, MILLRACE_DATA_DIR: dataDir })
  assert.equal(back.code, 0, back.err)
  const copy = await startStack(t, { env: elsewhere.env, existing: { dataDir, masterToken: stack.masterToken } })
  await compare(copy, before)
  assert.match(copy.output(), /Schedules +paused/)
  await upload(copy, nothing()) // ids continue after those of the backup

  const another = await startStack(t, {
    env: elsewhere.env,
    existing: { dataDir: await emptyFolder(t), masterToken: stack.masterToken },
  })
  assert.match(another.output(), /Schedules +paused/, 'a node with a data folder of its own knows it, too')
  const again = await runCli(['restore', folder], { ...elsewhere.env, MILLRACE_DATA_DIR: join(await emptyFolder(t), 'data') })
  assert.match(again.err, /The bucket millrace is not empty/)
  const resumed = await runCli(['resume'], { ...elsewhere.env, MILLRACE_DATA_DIR: dataDir })
  assert.match(resumed.out, /stack of its own now/)
})

test('a restored database has exactly the rows of the original', async (t) => {
  const place = await freshPlace(t)
  const stack = await startStack(t, { env: { ...place.env, MILLRACE_ROLES: 'api' } })
  for (let n = 0; n < 5; n++) await write(stack, nothing(), n)
  await stack.post('/v2/storage/components/platform.ex-http/configs', {
    name: 'Ω "quotes" \\ 😀',
    configuration: { big: 12345678901234567890n.toString(), '#secret': 'open-sesame', text: 'line\nbreak\ttab' },
  })
  const component = { id: 'test.own', type: 'application', name: 'Own', hasRun: false, data: {} }
  await mkdir(join(stack.dataDir, 'components'), { recursive: true })
  await writeFile(join(stack.dataDir, 'components', 'test.own.json'), JSON.stringify(component))
  await stack.stop()
  const original = await contentOf(place.url)
  const folder = join(await emptyFolder(t), 'backup')
  const made = await runCli(['backup', folder], { ...place.env, MILLRACE_DATA_DIR: stack.dataDir })
  assert.equal(made.code, 0, made.err)
  const elsewhere = await freshPlace(t)
  const back = await runCli(['restore', folder], { ...elsewhere.env, MILLRACE_DATA_DIR: join(await emptyFolder(t), 'data') })
  assert.equal(back.code, 0, back.err)
  assert.deepEqual(await contentOf(elsewhere.url), original)

  // A refused restore leaves nothing behind: the right one works afterwards.
  const target = join(await emptyFolder(t), 'data')
  const third = await freshPlace(t)
  const taken = { ...third.env, MILLRACE_DATABASE_URL: elsewhere.url, MILLRACE_DATA_DIR: target }
  const refused = await runCli(['restore', folder], taken)
  assert.match(refused.err, /database of MILLRACE_DATABASE_URL is not empty/)
  assert.deepEqual(existsSync(target) ? readdirSync(target) : [], [])
  const right = await runCli(['restore', folder], { ...third.env, MILLRACE_DATA_DIR: target })
  assert.equal(right.code, 0, right.err)
  assert.ok(existsSync(join(target, 'components', 'test.own.json')))

  const nowhere = join(target, 'not', 'there')
  const none = await runCli(['backup', join(await emptyFolder(t), 'x')], { ...place.env, MILLRACE_DATA_DIR: nowhere })
  assert.deepEqual([none.code, none.err.includes('    at ')], [1, false], none.err)
  assert.match(none.err, /contains no stack\. Set MILLRACE_DATA_DIR/)

  const spare = await freshPostgres()
  t.after(spare.remove)
  const url = 'url' in spare.location ? spare.location.url : ''
  const drill = await runCli(['restore', folder, '--verify', '--database', url, '--json'], { MILLRACE_ENCRYPTION_KEY: key })
  assert.equal(drill.code, 0, drill.err)
  const { copy, damaged } = drill.json<{ copy: { projects: number; objects: number }; damaged: readonly unknown[] }>()
  assert.deepEqual(damaged, [])
  assert.equal(copy.projects, 1)
  assert.ok(copy.objects > 0)
})
