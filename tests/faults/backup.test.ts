// A backup made while clients write is a state of the stack: everything acknowledged before it began is in it, every record has its bytes,
// secrets open again, and no byte of it can change unnoticed.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, mkdtemp, open, readdir, readFile, rm, stat, truncate, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { folderSource } from '../../server/src/engines/backup-folder/backup-source.ts'
import { type BackupManifest, manifestText } from '../../server/src/engines/backup-folder/manifest.ts'
import { verifyBackup } from '../../server/src/engines/backup-folder/verify-backup.ts'
import { chance } from '../support/chance.ts'
import { openGitClient } from '../support/clients/git-client.ts'
import { type CliResult, runCli } from '../support/run-cli.ts'
import { until } from '../support/until.ts'
import { compare, copyOf, nothing, upload, write } from './promised-content.ts'
import { type Stack, startStack } from './stack.ts'

const WRITERS = 4
const FLIPS = process.env.MILLRACE_LONG ? 200 : 6

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-backup-'))
  // A stack that was started later is killed after this hook and deletes its own folder.
  t.after(() => rm(folder, { recursive: true, force: true }).catch(() => {}))
  return folder
}

const millrace = (dataDir: string, ...args: string[]): Promise<CliResult> => runCli(args, { MILLRACE_DATA_DIR: dataDir })

/** A small table; answers its preview. */
async function makeTable(stack: Stack): Promise<unknown> {
  await stack.post('/v2/storage/buckets', { name: 'main', stage: 'in' })
  const form = new FormData()
  form.set('name', 'people')
  form.set('data', new Blob(['id,name\n1,Ann\n2,Bob\n']), 'people.csv')
  const headers = { 'x-storageapi-token': stack.masterToken }
  const made = await fetch(`${stack.url}/v2/storage/buckets/in.c-main/tables`, { method: 'POST', headers, body: form })
  assert.equal(made.status, 201, await made.text())
  const { body } = await stack.get('/v2/storage/tables/in.c-main.people/data-preview')
  assert.match(String(body), /Ann/)
  return body
}

/** A component with a program of its own that succeeds when its secret arrives in clear. */
async function addProbe(dataDir: string): Promise<void> {
  const folder = join(dataDir, 'components', 'test.probe')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'run.sh'), '#!/bin/sh\ngrep -q open-sesame "$KBC_DATADIR/config.json"\n', { mode: 0o755 })
  const description = { id: 'test.probe', type: 'application', name: 'probe', hasRun: true }
  const data = { definition: { type: 'command', uri: 'test.probe', tag: '1', command: ['./run.sh'] } }
  await writeFile(join(dataDir, 'components', 'test.probe.json'), JSON.stringify({ ...description, data }))
}

async function runProbe(stack: Stack, config: string): Promise<string> {
  const { id } = (await stack.post('/queue/jobs', { component: 'test.probe', config, mode: 'run' })).body as { id: string }
  return until('the probe has ended', async () => {
    const { isFinished, status } = (await stack.get(`/queue/jobs/${id}`)).body as { isFinished: boolean; status: string }
    return isFinished && status
  })
}

test('a backup under load restores everything that was acknowledged before it began', async (t) => {
  const stack = await startStack(t)
  await addProbe(stack.dataDir)
  await until('the probe is known', async () => (await stack.get('/v2/storage/components/test.probe')).status === 200)
  const secret = { name: 's', configuration: { parameters: { '#password': 'open-sesame' } } }
  const probe = (await stack.post('/v2/storage/components/test.probe/configs', secret)).body as { id: string }

  const table = await makeTable(stack)
  const app = (await stack.post('/data-science/apps', { name: 'a', useManagedGitRepo: true })).body as { id: string }
  const access = (await stack.post(`/data-science/apps/${app.id}/git-repo/credentials`, {})).body as { secret: string }
  let current = stack
  const git = await openGitClient(t, () => `${current.url}/git/data-apps/${app.id}.git`, access.secret)
  const commit = await git.commit({ 'app.mjs': '1' })
  assert.equal(await git.push(), undefined)

  const promised = nothing()
  let isOver = false
  let written = 0
  const writers = Array.from({ length: WRITERS }, async () => {
    while (!isOver) await write(stack, promised, written++)
  })
  await until('there is something to back up', () => promised.tokens.length > 40)
  const before = copyOf(promised)
  const startedAt = written
  const folder = join(await emptyFolder(t), 'backup')
  const made = await millrace(stack.dataDir, 'backup', folder, '--with-key', '--json')
  const during = written - startedAt
  isOver = true
  await Promise.all(writers)
  for (const id of promised.deletedFiles) before.files.delete(id) // deleted while the backup was made: in it or not, both are right
  assert.equal(made.code, 0, made.err)
  assert.deepEqual(made.json().damagedObjects, [])
  assert.ok(during > 0, 'the writers went on while the backup was made')
  await stack.stop()

  const restored = join(await emptyFolder(t), 'data')
  const back = await millrace(restored, 'restore', folder)
  assert.equal(back.code, 0, back.err)
  const again = await startStack(t, { existing: { dataDir: restored, masterToken: stack.masterToken } })
  await compare(again, before)
  assert.equal((await again.get('/v2/storage/tables/in.c-main.people/data-preview')).body, table)
  assert.equal(await runProbe(again, probe.id), 'success', 'the secret opens with the key of the backup')
  current = again
  assert.deepEqual((await git.clone()).commits, [commit], 'the repository of an app is there again')
})

test('a stack that does not run is backed up too, without its keys unless they are asked for', async (t) => {
  const stack = await startStack(t)
  const promised = nothing()
  for (let n = 0; n < 4; n++) await write(stack, promised, n)
  await stack.post('/v2/storage/components/platform.ex-http/configs', { name: 's', configuration: { '#a': 'secret' } })
  await stack.kill() // leaves admin.json behind
  const folder = join(await emptyFolder(t), 'backup')
  const made = await millrace(stack.dataDir, 'backup', folder)
  assert.equal(made.code, 0, made.err)
  assert.match(made.out, /root key is not in it/)
  const names = (await readdir(folder, { recursive: true })).sort()
  assert.ok(!names.some((name) => /root-keys|access\.key|operator\.json/.test(name)), names.join(' '))
  const restored = join(await emptyFolder(t), 'data')
  assert.match((await millrace(restored, 'restore', folder)).out, /root key is not in the backup/)
  const existing = { dataDir: restored, masterToken: stack.masterToken }
  await assert.rejects(
    startStack(t, { existing }),
    /ended with 1 .*root key [0-9a-f]+ that protects the stored secrets is missing/s,
  )
  assert.match((await millrace(restored, 'doctor')).out, /PROBLEM +stored secrets +The root key [0-9a-f]+ .*is missing/)
  await assert.rejects(stat(join(restored, 'root-keys')), { code: 'ENOENT' }, 'no other key was made')
  await copyFile(join(stack.dataDir, 'root-keys'), join(restored, 'root-keys'))
  await compare(await startStack(t, { existing }), promised)
})

test('no schedule fires in a restored copy before its operator says so', async (t) => {
  const stack = await startStack(t)
  const target = (await stack.post('/v2/storage/components/platform.ex-http/configs', { name: 't', configuration: {} })).body as {
    id: string
  }
  const configuration = {
    schedule: { cronTab: '* * * * *', timezone: 'UTC', state: 'enabled' },
    target: { componentId: 'platform.ex-http', configurationId: target.id, mode: 'run' },
  }
  const { id } = (await stack.post('/v2/storage/components/keboola.scheduler/configs', { name: 's', configuration })).body as {
    id: string
  }
  const activated = await stack.post('/scheduler/schedules', { configurationId: id })
  assert.equal(activated.status, 201, JSON.stringify(activated.body))
  const folder = join(await emptyFolder(t), 'backup')
  assert.equal((await millrace(stack.dataDir, 'backup', folder, '--with-key')).code, 0)
  await stack.stop()
  const stopped = Date.now() // on a slow machine it may have fired before the backup
  const fired = async (copy: Stack) =>
    ((await copy.get('/queue/search/jobs')).body as { createdTime: string }[]).some(
      ({ createdTime }) => Date.parse(createdTime) > stopped,
    )
  const restore = async (...options: string[]) => {
    const dataDir = join(await emptyFolder(t), 'data')
    const restored = await millrace(dataDir, 'restore', folder, ...options)
    assert.equal(restored.code, 0, restored.err)
    // Two minutes later by the clock of the stack: the schedule is due at once.
    const env = { MILLRACE_TEST_CLOCK_OFFSET_MS: '120000' }
    return { said: restored.out, copy: await startStack(t, { existing: { dataDir, masterToken: stack.masterToken }, env }) }
  }
  const told = await restore('--run-schedules')
  const begun = performance.now()
  await until('the schedule fires', () => fired(told.copy))
  const firingMs = performance.now() - begun
  const paused = await restore()
  assert.match(paused.said, /Schedules are paused in this copy/)
  assert.match(paused.copy.output(), /Schedules +paused/)
  const waitedFrom = performance.now()
  await until('it would have fired long ago', () => performance.now() - waitedFrom > 2 * firingMs + 2_000)
  assert.equal(await fired(paused.copy), false)
})

test('no job of the backup runs in a restored copy; new ones do, but deliveries wait until it is resumed', async (t) => {
  const stack = await startStack(t, { env: { MILLRACE_ROLES: 'api' } }) // no worker: jobs wait
  await addProbe(stack.dataDir)
  await until('the probe is known', async () => (await stack.get('/v2/storage/components/test.probe')).status === 200)
  const secret = { name: 's', configuration: { parameters: { '#password': 'open-sesame' } } }
  const probe = (await stack.post('/v2/storage/components/test.probe/configs', secret)).body as { id: string }
  const queued = (await stack.post('/queue/jobs', { component: 'test.probe', config: probe.id, mode: 'run' })).body as {
    id: string
  }
  const writer = (await stack.post('/v2/storage/components/platform.wr-http/configs', { name: 'w' })).body as { id: string }
  const folder = join(await emptyFolder(t), 'backup')
  assert.equal((await millrace(stack.dataDir, 'backup', folder, '--with-key')).code, 0)
  const dataDir = join(await emptyFolder(t), 'data')
  assert.equal((await millrace(dataDir, 'restore', folder)).code, 0)
  const copy = await startStack(t, { existing: { dataDir, masterToken: stack.masterToken } })
  const delivery = { component: 'platform.wr-http', config: writer.id, mode: 'run' }
  const refused = await copy.post('/queue/jobs', delivery)
  assert.equal(refused.status, 409)
  assert.match(JSON.stringify(refused.body), /restored copy, so platform.wr-http does not run/)
  assert.equal(((await copy.get(`/queue/jobs/${queued.id}`)).body as { status: string }).status, 'cancelled')
  assert.equal(await runProbe(copy, probe.id), 'success')

  await copy.stop()
  assert.match((await millrace(dataDir, 'resume')).out, /stack of its own now/)
  await copy.start()
  assert.doesNotMatch(copy.output(), /Schedules +paused/)
  assert.equal((await copy.post('/queue/jobs', delivery)).status, 201)
})

test('every flipped byte, cut or missing file is found and named, and nothing is restored from it', async (t) => {
  const stack = await startStack(t)
  await addProbe(stack.dataDir)
  for (let n = 0; n < 3; n++) await write(stack, nothing(), n)
  await stack.post('/v2/storage/components/platform.ex-http/configs', { name: 's', configuration: { '#a': 'secret' } })
  const whole = join(await emptyFolder(t), 'backup')
  assert.equal((await millrace(stack.dataDir, 'backup', whole, '--with-key')).code, 0)
  const sound = await millrace(whole, 'restore', whole, '--verify', '--json')
  assert.equal(sound.code, 0, sound.err)
  assert.deepEqual(sound.json().damaged, [])

  const files = (await readdir(whole, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(whole.length + 1))
    .sort()
  const kinds = [
    'manifest.json',
    'metadata.sqlite',
    'root-keys',
    'objects/index.sqlite',
    'objects/access.key',
    'components/test.probe.json',
  ]
  for (const kind of [...kinds, files.find((name) => name.startsWith('objects/objects/'))!]) assert.ok(files.includes(kind), kind)

  const work = await emptyFolder(t)
  const damage = async (file: string, harm: (path: string) => Promise<unknown>, what: string) => {
    const copy = join(work, 'copy')
    await rm(copy, { recursive: true, force: true })
    await cp(whole, copy, { recursive: true })
    await harm(join(copy, file))
    const named = await verifyBackup(folderSource(copy)).then(
      ({ damaged }) => damaged.map((found) => found.file),
      (error: Error) => [error.message],
    )
    assert.ok(named.length > 0, `${file}: ${what} went unnoticed`)
    assert.ok(named.join().includes(file), `${file} is not named: ${named}`)
  }
  const oneOfEachKind = files.filter(
    (file, i) => !file.startsWith('objects/objects/') || !files[i - 1]?.startsWith('objects/objects/'),
  )
  for (const file of oneOfEachKind) {
    await damage(file, flip, 'a flipped byte')
    if (file !== 'manifest.json') await damage(file, (path) => unlink(path), 'its absence')
  }
  await damage('metadata.sqlite', async (path) => truncate(path, (await stat(path)).size - 4096), 'a cut')
  for (let n = 0; n < FLIPS; n++) await damage(files[Math.floor(chance() * files.length)]!, flip, 'a flipped byte')

  const restored = join(work, 'data')
  await damage('metadata.sqlite', flip, 'a flipped byte')
  const refused = await millrace(restored, 'restore', join(work, 'copy'))
  assert.equal(refused.code, 1)
  assert.match(refused.err, /metadata\.sqlite has other bytes/)
  await assert.rejects(stat(restored), { code: 'ENOENT' }, 'a damaged backup restores nothing')
})

test('an object that is damaged in the stack is named, and everything else is in the backup', async (t) => {
  const stack = await startStack(t)
  const promised = nothing()
  await upload(stack, promised)
  await stack.stop()
  const objects = join(stack.dataDir, 'objects', 'objects')
  const blob = (await readdir(objects, { recursive: true })).find((name) => name.includes('/'))!
  await flip(join(objects, blob))
  const folder = join(await emptyFolder(t), 'backup')
  const made = await millrace(stack.dataDir, 'backup', folder, '--json')
  assert.equal(made.code, 1)
  assert.match(made.err, /damaged in the stack itself/)
  assert.equal((made.json().damagedObjects as string[]).length, 1)
  assert.equal((await millrace(folder, 'restore', folder, '--verify')).code, 0)
})

test('what cannot be done is said in a sentence', async (t) => {
  const full = await emptyFolder(t)
  await writeFile(join(full, 'mine.txt'), 'mine')
  const empty = await emptyFolder(t)
  const stack = await startStack(t)
  const backup = join(empty, 'b')
  assert.equal((await millrace(stack.dataDir, 'backup', backup)).code, 0)
  const sentences: [CliResult, RegExp][] = [
    [await millrace(stack.dataDir, 'backup', full), /is not empty: it contains mine\.txt/],
    [await millrace(stack.dataDir, 'backup', join(full, 'mine.txt')), /mine\.txt is not a folder/],
    [await millrace(full, 'restore', backup), /data folder .* is not empty/],
    [await millrace(empty, 'restore', full, '--verify'), /is not a backup: manifest\.json is missing/],
    [await millrace(join(empty, 'none'), 'backup', join(empty, 'x')), /contains no stack/],
    [
      await runCli(['restore', backup], {
        MILLRACE_DATA_DIR: join(empty, 'z'),
        MILLRACE_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/db',
      }),
      /PostgreSQL at 127\.0\.0\.1:1\/db is not usable/,
    ],
  ]
  for (const [result, sentence] of sentences) {
    assert.match(result.err, sentence)
    assert.equal(result.code, 1, result.err)
  }
  const manifestFile = join(backup, 'manifest.json')
  const { files, ...info } = JSON.parse(await readFile(manifestFile, 'utf8')) as BackupManifest // the backup made above
  await writeFile(manifestFile, manifestText({ ...info, version: '99.1.0' }, files))
  const newer = await millrace(join(empty, 'newer'), 'restore', backup)
  assert.match(
    newer.err,
    /created by Millrace 99\.1\.0, which is newer than this program \(\S+\)\. Restore it with Millrace 99\.1\.0/,
  )
  assert.deepEqual([newer.code, existsSync(join(empty, 'newer/metadata.sqlite'))], [1, false])
})

async function flip(path: string): Promise<void> {
  const file = await open(path, 'r+')
  const { size } = await file.stat()
  const at = Math.floor(chance() * size)
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  await file.write(Buffer.from([byte[0]! ^ (1 << Math.floor(chance() * 8))]), 0, 1, at)
  await file.close()
}
