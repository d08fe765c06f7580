import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { type FileAnswer, prepareFile, uploadClient } from '../../../../../tests/support/clients/file-client.ts'
import { masterActor } from '../../../../../tests/support/master-actor.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { NO_ORIGIN } from '../../../model/event.ts'

const DAY_MS = 24 * 3600 * 1000

/** A stack whose clock the test moves, with the sweep run by hand. */
async function startAt(t: Parameters<typeof startTestStack>[0], time: string) {
  let now = new Date(time)
  const stack = await startTestStack(t, { clock: { now: () => now } })
  const { files, objects } = stack.platform
  return {
    stack,
    files,
    keys: async () => (await objects.store.list({})).objects.map((object) => object.key),
    async later(ms: number) {
      now = new Date(now.getTime() + ms)
      await files.loop.tick(now)
    },
  }
}

test('a file past its age is hidden at once, its bytes go with the next sweep, permanent files stay', async (t) => {
  const now = new Date()
  let shown = now
  const stack = await startTestStack(t, { clock: { now: () => shown } })
  const upload = (name: string, extra: object) =>
    stack.platform.files.upload(masterActor(stack.projectId), name, body(name), async () => ({ name, ...extra }), NO_ORIGIN)
  const mortal = await upload('mortal', {})
  const permanent = await upload('permanent', { isPermanent: true })
  const names = async (query = '') =>
    (await stack.request('GET', `/v2/storage/files${query}`)).json<FileAnswer[]>().map((file) => file.name)
  shown = new Date(now.getTime() + 15 * DAY_MS - 1000)
  assert.deepEqual(await names(), ['permanent', 'mortal'])
  shown = new Date(now.getTime() + 15 * DAY_MS)
  assert.deepEqual(await names(), ['permanent'])
  assert.equal((await stack.request('GET', `/v2/storage/files/${mortal.id}`)).status, 404)
  const { store } = stack.platform.objects
  assert.ok(await store.head(mortal.key))
  await stack.platform.files.loop.tick(shown)
  assert.equal(await store.head(mortal.key), undefined)
  assert.ok(await store.head(permanent.key))
  assert.deepEqual(await names('?showExpired=1'), ['permanent', 'mortal'])
})

test('what old credentials write after a file was deleted is swept, until they have expired', async (t) => {
  const { stack, keys, later } = await startAt(t, new Date().toISOString())
  const file = await prepareFile(stack)
  await stack.request('DELETE', `/v2/storage/files/${file.id}`)
  await uploadClient(file).send(new PutObjectCommand({ Bucket: 'millrace', Key: file.uploadParams!.key, Body: 'late' }))
  assert.equal((await keys()).length, 1)
  await later(60_000)
  assert.deepEqual(await keys(), [])
  await later(14 * 3600 * 1000)
  assert.equal(await stack.platform.files.store.find(stack.projectId, file.id), undefined)
})

test('the bytes of an expired file go even when the process ended in between, or old credentials write them again', async (t) => {
  const { stack, keys, later } = await startAt(t, new Date().toISOString())
  const file = await prepareFile(stack)
  await later(15 * DAY_MS - 3600 * 1000)
  const fresh = (await stack.request('PUT', `/v2/storage/files/${file.id}/refresh`)).json<FileAnswer>()
  await later(2 * 3600 * 1000)
  const store = async (key: string) => stack.platform.objects.store.put(key, body('late'))
  await store(fresh.uploadParams!.key)
  await later(60_000)
  assert.deepEqual(await keys(), [])
  await store(fresh.uploadParams!.key)
  await later(3 * DAY_MS) // nobody was there to sweep
  assert.deepEqual(await keys(), [])
  await later(60_000)
  const listed = (await stack.request('GET', '/v2/storage/files?showExpired=1')).json<FileAnswer[]>()
  assert.deepEqual(
    listed.map(({ id }) => id),
    [file.id],
  )
})

test('what was reserved and never published goes, bytes and record', async (t) => {
  const { stack, files, keys, later } = await startAt(t, new Date().toISOString())
  const source = { projectId: stack.projectId, tokenId: 1, tokenDescription: 'x' }
  const reserved = await files.reserve(source, { name: 'export', isSliced: true })
  await stack.platform.objects.store.put(`${reserved.key}part0`, body('x'))
  await later(DAY_MS)
  assert.equal((await keys()).length, 1)
  await later(2 * DAY_MS)
  assert.deepEqual(await keys(), [])
  assert.deepEqual((await stack.request('GET', '/v2/storage/files?showExpired=1')).json(), [])
})

test('an upload that ended while its bytes moved out of the folders that expire leaves none of them', async (t) => {
  const { stack, files, keys, later } = await startAt(t, new Date().toISOString())
  const reserved = await files.reserve({ projectId: stack.projectId, tokenId: 1, tokenDescription: 'x' }, { name: 'upload' })
  await stack.platform.objects.store.put(reserved.key.replace(/^exp-15\//, ''), body('moved already'))
  assert.equal((await keys()).length, 1)
  await later(3 * DAY_MS)
  assert.deepEqual(await keys(), [])
})

test('an upload in parts that nobody finished goes when its credentials have expired', async (t) => {
  const { stack, later } = await startAt(t, new Date().toISOString())
  const file = await prepareFile(stack)
  const { multipart } = stack.platform.objects.store
  const uploadId = await multipart.create(file.uploadParams!.key)
  await multipart.putPart(file.uploadParams!.key, uploadId, 1, body('x'))
  await later(12 * 3600 * 1000)
  assert.ok(await multipart.find(file.uploadParams!.key, uploadId))
  await later(2 * 3600 * 1000)
  assert.equal(await multipart.find(file.uploadParams!.key, uploadId), undefined)
})

async function* body(text: string) {
  yield Buffer.from(text)
}
