import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { FileAnswer } from '../../../../../tests/support/clients/file-client.ts'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { shareTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack({ worker: { egressAllow: ['127.0.0.1'] } })

const run = promisify(execFile)
const boundary = '----millrace'
const part = (head: string, content: string) => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
const multipart = (...parts: string[]) => ({
  body: Buffer.from(`${parts.join('')}--${boundary}--\r\n`),
  headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
})

const contentOf = async (file: FileAnswer) => (await fetch(file.url)).text()
const objectCount = async ({ platform, projectId }: TestStack) =>
  (await platform.objects.store.list({})).objects.filter(({ key }) => `/${key}`.includes(`/${projectId}/files/`)).length

test('a form with a file becomes a file, with everything the form says about it', async () => {
  const stack = await startProject()
  const form = new FormData()
  form.set('name', 'příliš.csv')
  form.append('tags[]', 'one')
  form.append('tags[]', 'two')
  form.set('data', new Blob(['a,b\n1,2\n']), 'ignored.csv')
  form.set('isEncrypted', '1')
  form.set('notify', '0')
  const answer = await stack.request('POST', '/import/upload-file', { body: form })
  assert.equal(answer.status, 200)
  const file = answer.json<FileAnswer>()
  assert.equal(file.uploadParams, undefined)
  assert.deepEqual(
    [file.name, file.tags, file.isEncrypted, file.sizeBytes, file.maxAgeDays],
    ['příliš.csv', ['one', 'two'], true, 8, 15],
  )
  assert.equal(await contentOf(file), 'a,b\n1,2\n')
  const detail = (await stack.request('GET', `/v2/storage/files/${file.id}`)).json<FileAnswer>()
  assert.deepEqual({ ...detail, url: '' }, { ...file, url: '' })
})

test('what is said after the file counts too, even that it is permanent', async () => {
  const stack = await startProject()
  const form = multipart(
    part('name="data"; filename="x.csv"', 'abc'),
    part('name="isPermanent"', '1'),
    part('name="tags[]"', 'late'),
  )
  const file = (await stack.request('POST', '/import/upload-file', form)).json<FileAnswer>()
  assert.deepEqual([file.name, file.maxAgeDays, file.tags], ['x.csv', null, ['late']])
  assert.equal(await contentOf(file), 'abc')
  assert.equal(await objectCount(stack), 1)
})

test('a file can be uploaded into a development branch, and then it belongs to that', async () => {
  const stack = await startProject()
  const made = await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'files' } })
  const { id: branchId } = (await tableClient(stack).succeed(made)).results as { id: number }
  const upload = (branch: string) =>
    stack.request(
      'POST',
      '/import/upload-file',
      multipart(part('name="data"; filename="x.csv"', 'abc'), part('name="branchId"', branch)),
    )
  const { id } = (await upload(String(branchId))).json<FileAnswer>()
  assert.equal((await stack.request('GET', `/v2/storage/branch/${branchId}/files/${id}`)).status, 200)
  assert.equal((await stack.request('GET', `/v2/storage/files/${id}`)).status, 404)
  assert.equal((await upload('999999')).status, 404)
})

test('curl uploads as the specification shows', async (t) => {
  const stack = await startProject()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-curl-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'my data.csv'), 'x,y\n')
  const { stdout } = await run('curl', [
    '-sS',
    '-X',
    'POST',
    '--header',
    `X-StorageApi-Token: ${stack.masterToken}`,
    '--form',
    `data=@${join(folder, 'my data.csv')}`,
    `${stack.url}/import/upload-file`,
  ])
  const file = JSON.parse(stdout) as FileAnswer
  assert.equal(file.name, 'my data.csv')
  assert.equal(await contentOf(file), 'x,y\n')
})

test('an empty file is a file', async () => {
  const stack = await startProject()
  const file = (
    await stack.request('POST', '/import/upload-file', multipart(part('name="data"; filename="empty"', '')))
  ).json<FileAnswer>()
  assert.equal(file.sizeBytes, 0)
  assert.equal(await contentOf(file), '')
})

test('a file of many megabytes arrives byte for byte', async () => {
  const stack = await startProject()
  const data = randomBytes(20_000_000)
  data.write(`\r\n--${boundary.slice(0, -1)}x`, 1_000_000) // nearly the boundary
  const body = Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="data"; filename="big"\r\n\r\n`),
    data,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  const file = (await stack.request('POST', '/import/upload-file', { ...multipart(), body })).json<FileAnswer>()
  assert.ok(Buffer.from(await (await fetch(file.url)).arrayBuffer()).equals(data))
})

test('bad forms are refused with a sentence and leave nothing', async () => {
  const stack = await startProject()
  const bad = [
    [{ json: { data: 'x' } }, 400, 'import.dataMissing'],
    [{ body: 'x', headers: { 'content-type': 'multipart/form-data' } }, 400, 'malformedRequest'],
    [multipart(part('name="other"; filename="x"', 'abc')), 400, 'import.dataMissing'],
    [multipart(part('name="name"', 'abc')), 400, 'import.dataMissing'],
    [multipart(), 400, 'import.dataMissing'],
    [
      {
        ...multipart(),
        body: Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="data"; filename="x"\r\n\r\nno end`),
      },
      400,
      'malformedRequest',
    ],
    [multipart(part('name="data"; filename="x"', 'abc'), part('name="isPermanent"', 'perhaps')), 400, 'storage.validation'],
    [multipart(part('name="tags"', 'no list'), part('name="data"; filename="x"', 'abc')), 400, 'storage.validation'],
  ] as const
  for (const [options, status, code] of bad) {
    const answer = await stack.request('POST', '/import/upload-file', options)
    // Services around storage give the status as code and the name in the context (spec platform 9.2).
    assert.deepEqual(
      [answer.status, answer.json<{ context: { stringCode: string } }>().context.stringCode],
      [status, code],
      answer.text,
    )
  }
  assert.equal((await stack.request('POST', '/import/upload-file', { ...multipart(), token: null })).status, 401)
  assert.deepEqual((await stack.request('GET', '/v2/storage/files')).json(), [])
  assert.equal(await objectCount(stack), 0)
})

test('an upload that breaks off leaves no file', async () => {
  const stack = await startProject()
  await new Promise<void>((resolve) => {
    const req = httpRequest(`${stack.url}/import/upload-file`, {
      method: 'POST',
      headers: { ...multipart().headers, 'X-StorageApi-Token': stack.masterToken, 'content-length': '10000000' },
    })
    req.on('error', () => resolve())
    req.write(`--${boundary}\r\nContent-Disposition: form-data; name="data"; filename="x"\r\n\r\n`)
    req.write(randomBytes(3_000_000), () => req.destroy())
  })
  assert.deepEqual((await stack.request('GET', '/v2/storage/files')).json(), [])
  assert.equal(await objectCount(stack), 0)
})

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a file is fetched from an address, over redirects, with the name that its server gives', async (t) => {
  const stack = await startProject()
  const large = randomBytes(5_000_000)
  const address = await serve(t, ({ url }, response) => {
    if (url === '/moved') return response.writeHead(302, { location: '/files/g%C3%BCter.csv?signature=s3cret' }).end()
    if (url === '/named') return response.writeHead(200, { 'content-disposition': 'attachment; filename="large.bin"' }).end(large)
    return response.end('id,name\n1,Tea\n')
  })
  const moved = await stack.request('POST', '/import/fetch-file', { json: { url: `${address}/moved`, tags: ['fetched'] } })
  assert.equal(moved.status, 200, moved.text)
  const file = moved.json<FileAnswer>()
  assert.deepEqual([file.name, file.tags, file.sizeBytes], ['güter.csv', ['fetched'], 14])
  assert.equal(await contentOf(file), 'id,name\n1,Tea\n')
  const named = (await stack.request('POST', '/import/fetch-file', { json: { url: `${address}/named` } })).json<FileAnswer>()
  assert.equal(named.name, 'large.bin')
  assert.deepEqual(Buffer.from(await (await fetch(named.url)).arrayBuffer()), large)
})

test('an address that may not be asked, does not answer or breaks off is refused with a sentence and leaves no file', async (t) => {
  const stack = await startProject()
  const address = await serve(t, ({ url }, response) => {
    if (url === '/inside') return response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
    if (url === '/around') return response.writeHead(302, { location: '/around' }).end()
    if (url === '/broken') {
      response.writeHead(200, { 'content-length': '1000000' }).write('a,b\n', () => response.destroy())
      return
    }
    return response.writeHead(404).end('no')
  })
  const bad = [
    ['http://10.1.2.3/orders.csv', 'egress.refused', /10\.1\.2\.3:80 is not allowed: .*MILLRACE_EGRESS_ALLOW/],
    [`${address}/inside`, 'egress.refused', /169\.254\.169\.254:80 is not allowed/],
    [`${address}/around`, 'storage.files.notFetched', /redirects more than 5 times/],
    [`${address}/broken`, 'storage.files.notFetched', /broken could not be fetched/],
    [`${address}/none?signature=s3cret`, 'storage.files.notFetched', /\/none could not be fetched: it answered 404/],
    ['http://127.0.0.1:1/x.csv', 'storage.files.notFetched', /ECONNREFUSED/],
    ['ftp://example.com/x.csv', 'storage.validation', /Only http and https/],
    ['https://ann:secret@example.com/x.csv', 'storage.validation', /user name or password/],
    ['orders.csv', 'storage.validation', /not an address/],
  ] as const
  for (const [url, code, sentence] of bad) {
    const answer = await stack.request('POST', '/import/fetch-file', { json: { url } })
    const { error, context } = answer.json<{ error: string; context: { stringCode: string } }>()
    assert.deepEqual([answer.status, context.stringCode], [400, code], answer.text)
    assert.match(error, sentence)
    assert.doesNotMatch(error, /secret/)
  }
  assert.deepEqual((await stack.request('GET', '/v2/storage/files')).json(), [])
  assert.equal(await objectCount(stack), 0)
})
