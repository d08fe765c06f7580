import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PlatformError } from '../kit/errors.ts'
import { type AdminListenerDeps, askForBackup, findRunningStack, openAdminListener } from './admin-listener.ts'

const RESULT = { folder: '/b', files: 1, sizeBytes: 2, withKey: false, damagedObjects: [] }
const STACK = { url: 'https://stack.example.com', localUrl: 'http://127.0.0.1:1', s3Port: 2, pid: process.pid }
const ORDER = { folder: '/b', withKey: false }

async function openListener(t: TestContext, backUp: AdminListenerDeps['backUp'] = async () => RESULT) {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-operator-'))
  const problems: unknown[] = []
  const close = await openAdminListener({ dataDir, stack: STACK, backUp, onError: (error) => problems.push(error) })
  t.after(() => close().then(() => rm(dataDir, { recursive: true })))
  const file = join(dataDir, 'admin.json')
  return { dataDir, file, close, problems, address: JSON.parse(await readFile(file, 'utf8')) as { url: string; key: string } }
}

test('the command line reaches the stack by the file in its data folder, which only the owner can read', async (t) => {
  const { dataDir, file } = await openListener(t)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.deepEqual(await askForBackup(dataDir, ORDER, () => {}), { result: RESULT })
  assert.deepEqual(await findRunningStack(dataDir), STACK)
})

test('the listener answers to its key only, and for backups only', async (t) => {
  const { address } = await openListener(t, () => assert.fail('nobody may come this far'))
  const ask = async (path: string, key: string | undefined, body: string) =>
    (await fetch(address.url + path, { method: 'POST', headers: key === undefined ? {} : { 'x-admin-key': key }, body })).status
  const order = JSON.stringify(ORDER)
  for (const key of [undefined, '', 'x'.repeat(64), address.key.slice(1), `${address.key}0`])
    assert.equal(await ask('/backup', key, order), 401)
  assert.equal(await ask('/restore', address.key, order), 404)
  for (const body of ['', '{', 'null', '[]', '{"folder": 1, "withKey": false}', `"${'x'.repeat(100_000)}`])
    assert.equal(await ask('/backup', address.key, body), 400, body.slice(0, 40))
})

test('what goes wrong comes back as a sentence, and says whose fault it is', async (t) => {
  const refusing = await openListener(t, () => Promise.reject(new PlatformError('backup.notAFolder', { folder: '/b' })))
  const theirs = { error: { message: '/b is not a folder.', isOurs: false } }
  assert.deepEqual(await askForBackup(refusing.dataDir, ORDER, () => {}), theirs)
  assert.deepEqual(refusing.problems, [])
  const broken = await openListener(t, () => Promise.reject(new Error('oh')))
  assert.deepEqual(await askForBackup(broken.dataDir, ORDER, () => {}), { error: { message: 'oh', isOurs: true } })
  assert.equal(broken.problems.length, 1)
})

test('a closed listener leaves nothing behind, and the file of a killed stack is not taken for a stack', async (t) => {
  const { dataDir, file, close, address } = await openListener(t)
  await close()
  assert.deepEqual(await readdir(dataDir), [])
  assert.equal(await askForBackup(dataDir, ORDER, () => {}), undefined)
  await writeFile(file, JSON.stringify(address))
  assert.equal(await askForBackup(dataDir, ORDER, () => {}), undefined)
  const other = await openListener(t)
  await writeFile(file, JSON.stringify({ ...other.address, key: 'of another stack' }))
  assert.equal(await askForBackup(dataDir, ORDER, () => {}), undefined)
})
