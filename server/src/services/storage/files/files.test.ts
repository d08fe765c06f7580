import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import {
  type FileAnswer,
  openFile,
  prepareFile,
  s3ClientFor,
  uploadClient,
} from '../../../../../tests/support/clients/file-client.ts'
import { migratedPostgres } from '../../../../../tests/support/fresh-databases.ts'
import { BUCKET, startS3 } from '../../../../../tests/support/servers/start-s3.ts'
import { shareTestStack, startTestStack } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

const curl = promisify(execFile)

test('a file goes the way of the specification: prepare, upload with the SDK, detail, download', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack, { name: 'new-file.csv', sizeBytes: 11 })
  assert.equal(typeof file.id, 'number')
  assert.match(String(file.created), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/)
  assert.deepEqual(
    [file.isPublic, file.isSliced, file.isEncrypted, file.name, file.sizeBytes, file.maxAgeDays, file.runId, file.runIds],
    [false, false, false, 'new_file.csv', 11, 15, null, []],
  )
  assert.deepEqual([file.provider, file.region, file.fileType], ['aws', 'us-east-1', 'csv'])
  assert.equal(
    (file.creatorToken as { id: unknown }).id,
    Number((await stack.request('GET', '/v2/storage/tokens/verify')).json().id),
  )
  const { uploadParams } = file
  assert.ok(uploadParams?.credentials)
  assert.match(uploadParams.key, /^exp-15\/\d+\/files\/\d{4}\/\d\d\/\d\d\/\d+\.new_file\.csv$/)
  assert.match(uploadParams.credentials.Expiration, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  assert.equal((uploadParams as Record<string, unknown>)['x-amz-server-side-encryption'], 'AES256')
  assert.equal((uploadParams as Record<string, unknown>).acl, 'private')

  await uploadClient(file).send(new PutObjectCommand({ Bucket: uploadParams.bucket, Key: uploadParams.key, Body: 'hello,world' }))

  const opened = await openFile(stack, file.id)
  assert.equal(opened.uploadParams, undefined)
  assert.deepEqual(opened.s3Path, { bucket: uploadParams.bucket, key: uploadParams.key })
  const download = s3ClientFor(opened.credentials!, opened.endpoint!)
  const got = await download.send(new GetObjectCommand({ Bucket: opened.s3Path!.bucket, Key: opened.s3Path!.key }))
  assert.equal(await got.Body!.transformToString(), 'hello,world')

  const plain = await stack.request('GET', `/v2/storage/files/${file.id}`)
  assert.equal(plain.json<FileAnswer>().credentials, undefined)
  const byLink = await fetch(plain.json<FileAnswer>().url)
  assert.equal(await byLink.text(), 'hello,world')
  assert.match(byLink.headers.get('content-disposition') ?? '', /^attachment; filename="new_file.csv"/)
  assert.equal(new URL(plain.json<FileAnswer>().url).searchParams.get('X-Amz-Expires'), '3600')
  const longer = await stack.request('GET', `/v2/storage/files/${file.id}?linkSeconds=604800`)
  assert.equal(new URL(longer.json<FileAnswer>().url).searchParams.get('X-Amz-Expires'), '604800')
  assert.equal((await stack.request('GET', `/v2/storage/files/${file.id}?linkSeconds=604801`)).status, 400)
})

test('curl downloads by the link', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack, { name: 'příliš žluťoučký "kůň".csv' })
  await uploadClient(file).send(new PutObjectCommand({ Bucket: 'millrace', Key: file.uploadParams!.key, Body: 'x,y\n' }))
  const { stdout } = await curl('curl', ['-sS', '--fail', '-i', file.url])
  assert.match(stdout, /^HTTP\/1.1 200/)
  assert.match(stdout, /filename\*=UTF-8''p%C5%99%C3%ADli%C5%A1/)
  assert.ok(stdout.endsWith('x,y\n'))
})

test('the size becomes what was uploaded', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack, { sizeBytes: 999 })
  assert.equal((await openFile(stack, file.id)).sizeBytes, 999)
  await uploadClient(file).send(new PutObjectCommand({ Bucket: 'millrace', Key: file.uploadParams!.key, Body: 'twelve bytes' }))
  assert.equal((await openFile(stack, file.id)).sizeBytes, 12)
})

test('the size follows an upload that replaces the first, in the detail and in the list', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack)
  const listed = async () => (await stack.request('GET', '/v2/storage/files')).json<FileAnswer[]>()[0]?.sizeBytes
  const put = (Body: string) =>
    uploadClient(file).send(new PutObjectCommand({ Bucket: 'millrace', Key: file.uploadParams!.key, Body }))
  assert.equal(await listed(), 0)
  await put('twelve bytes')
  assert.equal(await listed(), 12)
  await put('less')
  assert.equal((await openFile(stack, file.id)).sizeBytes, 4)
  assert.equal(await listed(), 4)
})

test('a content type said when the file was prepared is the one it is downloaded with', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack, { contentType: 'text/csv' })
  await uploadClient(file).send(new PutObjectCommand({ Bucket: 'millrace', Key: file.uploadParams!.key, Body: 'a,b' }))
  assert.equal((await fetch(file.url)).headers.get('content-type'), 'text/csv')
  const shown = await stack.request('GET', `/v2/storage/files/${file.id}/content`)
  assert.equal(shown.headers.get('content-type'), 'text/csv')
  for (const contentType of ['text/csv\r\nx: y', 'no slash', 'text/html; charset=\u0000'])
    assert.equal((await stack.request('POST', '/v2/storage/files/prepare', { json: { name: 'x', contentType } })).status, 400)
})

test('a sliced file has a prefix to write under, and its link is the manifest', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack, { name: 'big.csv', isSliced: true, isEncrypted: true })
  const { key, bucket } = file.uploadParams!
  const s3 = uploadClient(file)
  const entries = []
  for (const slice of ['part0', 'part1']) {
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key + slice, Body: `${slice}\n`, ServerSideEncryption: 'AES256' }))
    entries.push({ url: `s3://${bucket}/${key}${slice}` })
  }
  const manifest = JSON.stringify({ entries })
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: `${key}manifest`, Body: manifest, ServerSideEncryption: 'AES256' }))

  const opened = await openFile(stack, file.id)
  assert.equal(opened.sizeBytes, 12)
  assert.equal(await (await fetch(opened.url)).text(), manifest)
  const download = s3ClientFor(opened.credentials!, opened.endpoint!)
  let whole = ''
  for (const { url } of entries) {
    const got = await download.send(new GetObjectCommand({ Bucket: bucket, Key: url.split('/').slice(3).join('/') }))
    whole += await got.Body!.transformToString()
  }
  assert.equal(whole, 'part0\npart1\n')
  const listed = await download.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: key }))
  assert.equal(listed.KeyCount, 3)
  assert.equal((await stack.request('DELETE', `/v2/storage/files/${file.id}`)).status, 204)
  await assert.rejects(download.send(new GetObjectCommand({ Bucket: bucket, Key: `${key}part0` })), { name: 'NoSuchKey' })
})

test('an encrypted file refuses an upload that does not ask for encryption', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack, { isEncrypted: true })
  const put = { Bucket: 'millrace', Key: file.uploadParams!.key, Body: 'x' }
  await assert.rejects(uploadClient(file).send(new PutObjectCommand(put)), { name: 'AccessDenied' })
  await uploadClient(file).send(new PutObjectCommand({ ...put, ServerSideEncryption: 'AES256' }))
})

test('a permanent file has no age and lives outside the folders that expire', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack, { isPermanent: true })
  assert.equal(file.maxAgeDays, null)
  assert.doesNotMatch(file.uploadParams!.key, /^exp-/)
})

test('forms, JSON and the branch prefix prepare alike', async () => {
  const stack = await startProject()
  const form = { name: 'f.csv', federationToken: '1', isEncrypted: '1', sizeBytes: '3', 'tags[]': 'one', 'tags[1]': 'two' }
  const byForm = await stack.request('POST', '/v2/storage/files/prepare', { form })
  assert.equal(byForm.status, 201)
  const file = byForm.json<FileAnswer>()
  assert.deepEqual([file.tags, file.isEncrypted, file.sizeBytes], [['one', 'two'], true, 3])
  assert.ok(file.uploadParams?.credentials)
  const inBranch = await stack.request('POST', '/v2/storage/branch/default/files/prepare/', { json: { name: 'b.csv' } })
  assert.equal(inBranch.status, 201)
  assert.ok(inBranch.json<FileAnswer>().uploadParams?.credentials, 'nothing can be uploaded without them')
})

test('a run id in the header is kept with the file', async () => {
  const stack = await startProject()
  const answer = await stack.request('POST', '/v2/storage/files/prepare', {
    json: { name: 'r' },
    headers: { 'X-KBC-RunId': '12.34' },
  })
  assert.deepEqual([answer.json().runId, answer.json().runIds], ['12.34', ['12.34']])
  const listed = (await stack.request('GET', '/v2/storage/files?runId=12.34')).json<FileAnswer[]>()
  assert.equal(listed.length, 1)
})

test('the list is newest first and filters by tags, ids and pages', async () => {
  const stack = await startProject()
  const ids: number[] = []
  for (const tags of [['a'], ['b'], ['a', 'b'], []]) ids.push((await prepareFile(stack, { tags })).id)
  const list = async (query: string) =>
    (await stack.request('GET', `/v2/storage/files?${query}`)).json<FileAnswer[]>().map((file) => ids.indexOf(file.id))
  assert.deepEqual(await list(''), [3, 2, 1, 0])
  assert.deepEqual(await list('tags[]=a'), [2, 0])
  assert.deepEqual(await list('tags[]=a&tags[]=b'), [2, 1, 0])
  assert.deepEqual(await list('limit=2&offset=1'), [2, 1])
  assert.deepEqual(await list(`sinceId=${ids[1]}`), [3, 2])
  assert.deepEqual(await list(`maxId=${ids[1]}`), [0])
  assert.equal((await stack.request('GET', '/v2/storage/files?tags=a')).status, 400)
  assert.equal((await stack.request('GET', '/v2/storage/files?limit=-1')).status, 400)
})

test('q looks for words, tags and ids, combined as one would write it', async () => {
  const stack = await startProject()
  const one = await prepareFile(stack, { name: 'Orders 2026.csv', tags: ['table-export', 'x:y'] })
  const two = await prepareFile(stack, { name: 'customers_100%.csv', tags: ['table-export', 'with "quotes"'] })
  const three = await prepareFile(stack, { name: 'orders-old.csv' })
  const names: Record<number, number> = { [one.id]: 1, [two.id]: 2, [three.id]: 3 }
  const search = async (q: string) => {
    const answer = await stack.request('GET', `/v2/storage/files?q=${encodeURIComponent(q)}`)
    assert.equal(answer.status, 200, `${q}: ${answer.text}`)
    return answer.json<FileAnswer[]>().map((file) => names[file.id])
  }
  assert.deepEqual(await search('orders'), [3, 1])
  assert.deepEqual(await search('name:orders*'), [3, 1])
  assert.deepEqual(await search('name:o*2026*'), [1])
  assert.deepEqual(await search('tags:"table-export"'), [2, 1])
  assert.deepEqual(await search('tags:"table-export" AND name:orders'), [1])
  assert.deepEqual(await search('tags:"x:y" OR name:old'), [3, 1])
  assert.deepEqual(await search('orders NOT tags:table-export'), [3])
  assert.deepEqual(await search('(name:customers OR name:old) -tags:table-export'), [3])
  assert.deepEqual(await search('tags:"with \\"quotes\\""'), [2])
  assert.deepEqual(await search('100%'), [2])
  assert.deepEqual(await search('100_'), [])
  assert.deepEqual(await search(`id:${two.id}`), [2])
  assert.deepEqual(await search('  '), [3, 2, 1])
  for (const bad of ['"open', '(a', 'a)', 'AND', 'a OR', 'nofield:x', 'name:', 'NOT']) {
    const answer = await stack.request('GET', `/v2/storage/files?q=${encodeURIComponent(bad)}`)
    assert.equal(answer.status, 400, bad)
    assert.equal(answer.json().code, 'query.syntax')
  }
})

test('tags are added once, removed, and may hold slashes and any script', async () => {
  const stack = await startProject()
  const { id } = await prepareFile(stack, { tags: ['first', 'first'] })
  const tag = 'a/b c/žluť 100%'
  for (let i = 0; i < 2; i++)
    assert.equal((await stack.request('POST', `/v2/storage/files/${id}/tags`, { json: { tag } })).status, 204)
  assert.deepEqual((await openFile(stack, id)).tags, ['first', tag])
  const path = `/v2/storage/files/${id}/tags/${encodeURIComponent(tag).replaceAll('%2F', '/')}`
  assert.equal((await stack.request('DELETE', path)).status, 204)
  assert.equal((await stack.request('DELETE', path)).status, 404)
  assert.deepEqual((await openFile(stack, id)).tags, ['first'])
  assert.equal((await stack.request('POST', `/v2/storage/files/${id}/tags`, { json: {} })).status, 400)
})

test('a deleted file is gone, record and bytes', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack)
  const s3 = uploadClient(file)
  const put = () => s3.send(new PutObjectCommand({ Bucket: 'millrace', Key: file.uploadParams!.key, Body: 'x' }))
  await put()
  assert.equal((await stack.request('DELETE', `/v2/storage/files/${file.id}`)).status, 204)
  assert.equal((await stack.request('GET', `/v2/storage/files/${file.id}`)).json().code, 'storage.files.notFound')
  assert.equal((await stack.request('DELETE', `/v2/storage/files/${file.id}`)).status, 404)
  assert.equal((await fetch(file.url)).status, 404)
  assert.deepEqual((await stack.request('GET', '/v2/storage/files')).json(), [])
})

test('with async a deletion is a job, checked before it is made', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack)
  await uploadClient(file).send(new PutObjectCommand({ Bucket: 'millrace', Key: file.uploadParams!.key, Body: 'x' }))
  assert.equal((await stack.request('DELETE', '/v2/storage/files/99999?async=1')).status, 404)
  const answer = await stack.request('DELETE', `/v2/storage/files/${file.id}?async=1`)
  assert.equal(answer.status, 202)
  const job = answer.json<{ id: number; operationName: string; operationParams: { fileId: number } }>()
  assert.deepEqual([job.operationName, job.operationParams.fileId], ['fileDelete', file.id])
  const done = await stack.platform.storageJobs.waitFor(stack.projectId, job.id)
  assert.equal(done.status, 'success', JSON.stringify(done.error))
  assert.equal((await stack.request('GET', `/v2/storage/files/${file.id}`)).status, 404)
  assert.equal((await fetch(file.url)).status, 404)
})

test('refresh gives new credentials for the same place', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack)
  const answer = await stack.request('PUT', `/v2/storage/files/${file.id}/refresh`)
  const fresh = answer.json<FileAnswer>()
  assert.equal(answer.status, 200)
  assert.equal(fresh.uploadParams!.key, file.uploadParams!.key)
  assert.notEqual(fresh.uploadParams!.credentials!.SessionToken, file.uploadParams!.credentials!.SessionToken)
  await uploadClient(fresh).send(new PutObjectCommand({ Bucket: 'millrace', Key: file.uploadParams!.key, Body: 'x' }))
})

test('the content of a small file can be looked at', async () => {
  const stack = await startProject()
  const file = await prepareFile(stack)
  const content = () => stack.request('GET', `/v2/storage/files/${file.id}/content`)
  assert.equal((await content()).json().code, 'storage.fileNotUploaded')
  const put = { Bucket: 'millrace', Key: file.uploadParams!.key }
  await uploadClient(file).send(new PutObjectCommand({ ...put, Body: 'a,b\n', ContentType: 'text/csv' }))
  assert.equal((await content()).text, 'a,b\n')
  await uploadClient(file).send(new PutObjectCommand({ ...put, Body: randomBytes(10 * 1024 * 1024 + 1) }))
  assert.equal((await content()).status, 400)
})

test('a token without canReadAllFileUploads sees the files it made, and no others', async () => {
  const stack = await startProject()
  const newToken = async (extra: object) =>
    (await stack.request('POST', '/v2/storage/tokens', { json: { description: 't', ...extra } })).json<{ token: string }>().token
  const limited = await newToken({})
  const reader = await newToken({ canReadAllFileUploads: true })
  const mine = await prepareFile(stack, { name: 'mine' }, limited)
  const theirs = await prepareFile(stack, { name: 'theirs' })
  const names = async (token: string) =>
    (await stack.request('GET', '/v2/storage/files', { token })).json<FileAnswer[]>().map((file) => file.name)
  assert.deepEqual(await names(limited), ['mine'])
  assert.deepEqual(await names(reader), ['theirs', 'mine'])
  assert.equal((await stack.request('GET', `/v2/storage/files/${mine.id}`, { token: limited })).status, 200)
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['PUT', '/refresh'],
    ['GET', '/content'],
  ] as const)
    assert.equal(
      (await stack.request(method, `/v2/storage/files/${theirs.id}${path}`, { token: limited })).status,
      403,
      method + path,
    )
  for (const [method, path, status] of [
    ['GET', '', 200],
    ['DELETE', '', 403],
    ['PUT', '/refresh', 403],
    ['POST', '/tags', 403],
    ['DELETE', '/tags/x', 403],
  ] as const) {
    const body = method === 'POST' ? { json: { tag: 'x' } } : {}
    const answer = await stack.request(method, `/v2/storage/files/${theirs.id}${path}`, { token: reader, ...body })
    assert.equal(answer.status, status, `${method} ${path} with the right to read`)
  }
})

test('the file of another project does not exist', async () => {
  const stack = await startProject()
  const { id } = await prepareFile(stack)
  const { masterToken: token } = await stack.newProject()
  const requests = [
    ['GET', ''],
    ['GET', '?federationToken=1'],
    ['DELETE', ''],
    ['PUT', '/refresh'],
    ['POST', '/tags'],
    ['DELETE', '/tags/x'],
    ['GET', '/content'],
  ] as const
  for (const [method, path] of requests) {
    const foreign = await stack.request(method, `/v2/storage/files/${id}${path}`, {
      token,
      json: method === 'POST' ? { tag: 'x' } : undefined,
    })
    const absent = await stack.request(method, `/v2/storage/files/999999${path}`, {
      token,
      json: method === 'POST' ? { tag: 'x' } : undefined,
    })
    assert.equal(foreign.status, 404, method + path)
    assert.deepEqual([foreign.json().error, foreign.json().code], [absent.json().error, absent.json().code])
  }
  assert.deepEqual((await stack.request('GET', '/v2/storage/files', { token })).json(), [])
})

test('with an external S3 the way is the same', async (t) => {
  const s3 = await startS3() // our own service, in the role of somebody else's
  t.after(() => s3.close())
  const stack = await startTestStack(t, { externalS3: { endpoint: s3.endpoint, ...s3.sessions.root, roleArn: undefined } })
  const file = await prepareFile(stack, { name: 'outside.csv', isSliced: true })
  const { key, endpoint } = file.uploadParams!
  assert.equal(endpoint, s3.endpoint)
  await uploadClient(file).send(new PutObjectCommand({ Bucket: BUCKET, Key: `${key}manifest`, Body: '{"entries":[]}' }))
  await assert.rejects(uploadClient(file).send(new PutObjectCommand({ Bucket: BUCKET, Key: 'elsewhere', Body: 'x' })), {
    name: 'AccessDenied',
  })
  const opened = await openFile(stack, file.id)
  assert.equal(await (await fetch(opened.url)).text(), '{"entries":[]}')
  const form = new FormData()
  form.set('data', new Blob(['a,b\n']), 'f.csv')
  const uploaded = await stack.request('POST', '/import/upload-file', { body: form })
  assert.equal(await (await fetch(uploaded.json<FileAnswer>().url)).text(), 'a,b\n')
  assert.equal((await stack.request('DELETE', `/v2/storage/files/${file.id}`)).status, 204)
  assert.equal((await s3.store.list({ prefix: key })).objects.length, 0)
})

test('the same holds on PostgreSQL', async (t) => {
  const { location, remove } = await migratedPostgres()
  const stack = await startTestStack(t, { databaseUrl: 'url' in location ? location.url : undefined })
  t.after(remove) // after the stack is closed: hooks run in this order
  const file = await prepareFile(stack, { name: 'nul\0 žluť.csv', tags: ['b', 'a', 'nul\0'], sizeBytes: 5 * 1024 ** 4 })
  assert.deepEqual([file.name, file.tags, file.sizeBytes], ['nul\ufffd žluť.csv', ['b', 'a', 'nul\ufffd'], 5 * 1024 ** 4])
  await uploadClient(file).send(new PutObjectCommand({ Bucket: 'millrace', Key: file.uploadParams!.key, Body: 'x' }))
  assert.equal((await openFile(stack, file.id)).sizeBytes, 1)
  for (const query of [
    'q=tags:a AND name:ž*',
    'tags[]=a',
    'tags[]=zz&tags[]=b',
    `sinceId=${file.id - 1}`,
    'q=NUL',
    'showExpired=1',
  ])
    assert.equal((await stack.request('GET', `/v2/storage/files?${query}`)).json<FileAnswer[]>().length, 1, query)
  for (const query of ['q=%00', 'tags[]=%00', 'runId=%00'])
    assert.ok((await stack.request('GET', `/v2/storage/files?${query}`)).status < 500, query)
  assert.equal((await stack.request('POST', `/v2/storage/files/${file.id}/tags`, { json: { tag: 'a' } })).status, 204)
  assert.equal((await stack.request('DELETE', `/v2/storage/files/${file.id}/tags/a`)).status, 204)
  assert.equal((await stack.request('DELETE', `/v2/storage/files/${file.id}/tags/%00`)).status, 404)
  assert.equal((await stack.request('DELETE', `/v2/storage/files/${file.id}`)).status, 204)
})

test('bad input is refused with a sentence', async () => {
  const { request } = await startProject()
  const bodies = [
    {},
    { name: '' },
    { name: null },
    { name: ['x'] },
    { name: 'x', sizeBytes: -1 },
    { name: 'x', sizeBytes: 1e18 },
    { name: 'x', sizeBytes: 1.5 },
    { name: 'x', tags: 'no list' },
    { name: 'x', isSliced: 'maybe' },
    { name: 'x'.repeat(10_001) },
    { name: 'x', tags: [{ a: 1 }] },
  ]
  for (const json of bodies) {
    const answer = await request('POST', '/v2/storage/files/prepare', { json })
    assert.equal(answer.status, 400, JSON.stringify(json).slice(0, 60))
    assert.equal(answer.json().code, 'storage.validation')
    assert.ok(String(answer.json().error).length > 10)
  }
  for (const id of ['abc', '-1', '1.5', '99999999999999999999', '%00', '1e3', '%20'])
    assert.equal((await request('GET', `/v2/storage/files/${id}`)).status, 404, id)
})

test('names of any script and length are kept, and are safe in key and header', async () => {
  const stack = await startProject()
  const names = [
    '../../etc/passwd',
    'a\0b\r\nX_Evil: 1',
    '日本語.csv',
    '😀'.repeat(2500),
    '"quoted"; filename=x',
    '.',
    '   ',
    'e\u0301',
    '\ud800 lone',
    'x'.repeat(10_000),
  ]
  for (const name of names) {
    const file = await prepareFile(stack, { name })
    assert.match(file.uploadParams!.key, /^exp-15\/\d+\/files\/\d{4}\/\d\d\/\d\d\/\d+\.[\w.-]{1,120}$/, name.slice(0, 30))
    await uploadClient(file).send(new PutObjectCommand({ Bucket: 'millrace', Key: file.uploadParams!.key, Body: 'x' }))
    const opened = await openFile(stack, file.id)
    assert.equal(opened.name, name.toWellFormed().replaceAll('\0', '\ufffd'))
    const got = await fetch(opened.url)
    assert.equal(got.status, 200)
    assert.equal(got.headers.get('x_evil'), null)
  }
})
