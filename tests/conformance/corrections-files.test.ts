// What real clients expect of files and of the object store behind them, by number: parts B and C. One stack; a project per test.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { type FileAnswer, s3ClientFor } from '../support/clients/file-client.ts'
import { newProjectClient } from '../support/clients/project-client.ts'
import { startTestStack } from '../support/test-stack.ts'

test('corrections of files', async (t) => {
  const stack = await startTestStack(t)
  const project = (name: string) => newProjectClient(stack, name)
  const uploader = (t: TestContext, { uploadParams }: FileAnswer) => {
    const client = s3ClientFor(uploadParams!.credentials!, uploadParams!.endpoint)
    t.after(() => client.destroy())
    return client
  }

  await t.test('B14: sliced files come with credentials, encrypted ones demand the header, lost slices are named', async (t) => {
    const { ok, bucket, table, fail } = await project('B14')
    const request = { name: 'data.csv', isSliced: true, isEncrypted: true, federationToken: false }
    const file = await ok<FileAnswer>('POST', 'files/prepare', request)
    const { bucket: Bucket, key } = file.uploadParams!
    const client = uploader(t, file)
    await assert.rejects(client.send(new PutObjectCommand({ Bucket, Key: `${key}a`, Body: '1\n' })), {
      name: 'AccessDenied',
    })
    const put = (name: string, Body: string) =>
      client.send(new PutObjectCommand({ Bucket, Key: key + name, Body, ServerSideEncryption: 'AES256' }))
    await put('a', '1\n')
    const entries = ['a', 'lost'].map((name) => ({ url: `s3://${Bucket}/${key}${name}` }))
    await put('manifest', JSON.stringify({ entries }))
    await table(await bucket(), 't', 'id\n0\n')
    await fail(['POST', 'tables/in.c-a.t/import-async', { dataFileId: file.id, columns: ['id'] }], {
      code: 'storage.importFileMissing',
    })
    await put('lost', '2\n')
    await fail(['POST', 'tables/in.c-a.t/import-async', { dataFileId: file.id }], { code: 'csvImport.columnsNotMatch' })
  })

  await t.test('B15: the head of an encrypted object says so', async (t) => {
    const { ok } = await project('B15')
    const file = await ok<FileAnswer>('POST', 'files/prepare', { name: 'a.csv', isEncrypted: true, federationToken: true })
    const { bucket: Bucket, key: Key } = file.uploadParams!
    const client = uploader(t, file)
    const opened = await ok<FileAnswer>('GET', `files/${file.id}?federationToken=1`)
    const reader = s3ClientFor(opened.credentials!, opened.endpoint!)
    t.after(() => reader.destroy())
    const encryption = async () => (await reader.send(new HeadObjectCommand({ Bucket, Key }))).ServerSideEncryption
    await client.send(new PutObjectCommand({ Bucket, Key, Body: 'id\n', ServerSideEncryption: 'AES256' }))
    assert.equal(await encryption(), 'AES256')
    const start = new CreateMultipartUploadCommand({ Bucket, Key, ServerSideEncryption: 'AES256' })
    const { UploadId } = await client.send(start)
    const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: 'id\n1\n' }))
    const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] }
    await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }))
    assert.equal(await encryption(), 'AES256')
  })

  await t.test('B15: the slices of an export say that they are encrypted', async (t) => {
    const { ok, bucket, succeed } = await project('B15 exports')
    await ok('POST', `buckets/${await bucket()}/tables`, { name: 't', dataString: 'id\n1\n' })
    const { file } = await succeed<{ file: { id: number } }>('POST', 'tables/in.c-a.t/export-async', {})
    const opened = await ok<FileAnswer>('GET', `files/${file.id}?federationToken=1`)
    assert.equal(opened.isEncrypted, true)
    const { entries } = (await (await fetch(opened.url)).json()) as { entries: { url: string }[] }
    const reader = s3ClientFor(opened.credentials!, opened.endpoint!)
    t.after(() => reader.destroy())
    assert.ok(entries.length > 0)
    for (const { url } of entries) {
      const [, Bucket, Key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(url) ?? []
      assert.equal((await reader.send(new HeadObjectCommand({ Bucket, Key }))).ServerSideEncryption, 'AES256')
    }
  })

  await t.test('C27: wrong parameters of the file list are named, and ids and tags are taken exactly', async () => {
    const { ok, call, refused } = await project('C27')
    await refused(['GET', 'files?tags=one'], 400, {
      code: 'storage.validation',
      errors: [{ key: 'tags', message: 'This value should be of type array' }],
    })
    await refused(['POST', 'files/prepare', { name: 'a', isPublic: 'perhaps' }], 400, {
      error: /is not boolean\. Possible values are/,
    })
    await refused(['GET', 'files?q=tags[]:sd'], 400, { code: 'query.syntax' })
    const first = await ok<FileAnswer>('POST', 'files/prepare', { name: 'one', tags: { 0: 'a', 2: 'b/' } })
    const second = await ok<FileAnswer>('POST', 'files/prepare', { name: 'two' })
    assert.deepEqual(first.tags, ['a', 'b/'])
    const ids = async (query: string) => (await ok<FileAnswer[]>('GET', `files?${query}`)).map(({ id }) => id)
    assert.deepEqual(await ids(`maxId=${second.id}`), [first.id])
    assert.deepEqual(await ids('tags[0]=a&tags[2]=none'), [first.id])
    assert.equal((await call('DELETE', `files/${first.id}/tags/b/`)).status, 204)
    assert.deepEqual((await ok<FileAnswer>('GET', `files/${first.id}`)).tags, ['a'])
  })

  await t.test('C48: the file of an export belongs to the branch of its table', async () => {
    const { ok, call, branch, bucket, succeed } = await project('C48 exports')
    await ok('POST', `buckets/${await bucket()}/tables`, { name: 't', dataString: 'id\n1\n' })
    const dev = await branch('dev')
    const exported = async (path: string) => (await succeed<{ file: { id: number } }>('POST', `${path}/export-async`, {})).file.id
    const ofMain = await exported(`branch/${dev}/tables/in.c-a.t`)
    await succeed('POST', `branch/${dev}/tables/in.c-a.t/pull`)
    const ofBranch = await exported(`branch/${dev}/tables/in.c-a.t`)
    assert.notEqual(ofBranch, ofMain)
    for (const id of [ofMain, ofBranch]) assert.equal((await call('GET', `branch/${dev}/files/${id}`)).status, 200)
    assert.deepEqual([(await call('GET', `files/${ofMain}`)).status, (await call('GET', `files/${ofBranch}`)).status], [200, 404])
    const snapshot = await succeed<{ id: number }>('POST', `branch/${dev}/tables/in.c-a.t/snapshots`, {})
    const { dataFileId } = await ok<{ dataFileId: number }>('GET', `snapshots/${snapshot.id}`)
    assert.equal((await call('GET', `files/${dataFileId}`)).status, 200, 'snapshots belong to the project')
  })

  await t.test('C48: files of a branch are seen there only, and go with it', async () => {
    const { ok, call, branch, succeed } = await project('C48')
    const main = await ok<FileAnswer>('POST', 'files/prepare', { name: 'main' })
    const dev = await branch('dev')
    const own = await ok<FileAnswer>('POST', `branch/${dev}/files/prepare`, { name: 'own' })
    const listed = async (path: string) => (await ok<FileAnswer[]>('GET', path)).map(({ name }) => name)
    assert.deepEqual(await listed(`branch/${dev}/files`), ['own'])
    assert.deepEqual(await listed('files'), ['main'])
    assert.equal((await call('GET', `branch/${dev}/files/${own.id}`)).status, 200)
    for (const path of [`files/${own.id}`, `branch/default/files/${own.id}`])
      assert.equal((await call('GET', path)).status, 404, path)
    assert.equal((await call('GET', `branch/${dev}/files/${main.id}`)).status, 200, 'what is in the default branch can be read')
    await succeed('DELETE', `dev-branches/${dev}`)
    assert.equal((await call('GET', `files/${own.id}`)).status, 404)
    assert.deepEqual(await listed('files?showExpired=1'), ['main'])
  })
})
