// Files of a project whose provider is azure, with the real SDK of Azure (spec storage 2.6.4). One stack; a project per test.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { BlobServiceClient, type ContainerClient, RestError } from '@azure/storage-blob'
import { newProjectClient, type ProjectClient } from '../support/clients/project-client.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'

type Json = Readonly<Record<string, unknown>>

interface SharedAccess {
  readonly SASConnectionString: string
  readonly expiration: string
}

interface Prepared {
  readonly id: number
  readonly provider: string
  readonly uploadParams?: unknown
  readonly absUploadParams: {
    readonly blobName: string
    readonly accountName: string
    readonly container: string
    readonly absCredentials: SharedAccess
  }
}

interface Detail {
  readonly url: string
  readonly sizeBytes: number
  readonly absPath: { readonly container: string; readonly name: string }
  readonly absCredentials: SharedAccess
}

async function azureProject(stack: TestStack, name: string): Promise<ProjectClient> {
  const client = await newProjectClient(stack, name)
  await stack.platform.tokens.setProject(client.projectId, { provider: 'azure' })
  return client
}

const containerOf = ({ SASConnectionString }: SharedAccess, name: string): ContainerClient =>
  BlobServiceClient.fromConnectionString(SASConnectionString, { retryOptions: { maxTries: 1 } }).getContainerClient(name)

const prepare = ({ ok }: ProjectClient, more: object = {}): Promise<Prepared> =>
  ok('POST', 'files/prepare', { name: 'orders.csv', federationToken: true, ...more })

const uploader = ({ absUploadParams: { absCredentials, container, blobName } }: Prepared) =>
  containerOf(absCredentials, container).getBlockBlobClient(blobName)

const refused = async (work: Promise<unknown>, status: number, code: string): Promise<void> => {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof RestError, String(error))
    assert.deepEqual([error.statusCode, error.response?.headers.get('x-ms-error-code')], [status, code])
    return true
  })
}

/** The same signature with one of its parameters changed. */
const changed = (connection: string, name: string, value: string): string => {
  const [endpoint, signature = ''] = connection.split(';SharedAccessSignature=')
  const fields = new URLSearchParams(signature)
  fields.set(name, value)
  return `${endpoint};SharedAccessSignature=${fields}`
}

test('the Blob protocol of Azure', async (t) => {
  const stack = await startTestStack(t)

  await t.test(
    'A33, G2, G10: a file is uploaded in one request, read whole and in ranges, listed, loaded and deleted',
    async () => {
      const project = await azureProject(stack, 'one')
      const { ok, finished } = project
      assert.equal(
        (await ok<{ owner: { fileStorageProvider: string } }>('GET', 'tokens/verify')).owner.fileStorageProvider,
        'azure',
      )
      const file = await prepare(project)
      assert.deepEqual([file.provider, file.uploadParams], ['azure', undefined])
      const plain = await ok<Json>('POST', 'files/prepare', { name: 'plain.csv', isEncrypted: 0, isPublic: 1 })
      assert.deepEqual([plain.isEncrypted, plain.isPublic], [true, false], 'corrections-2 A33, G10')
      const blob = uploader(file)
      assert.equal(await blob.exists(), false)
      const text = 'id,name\n1,ž\n'
      await blob.upload(text, Buffer.byteLength(text), {
        blobHTTPHeaders: { blobContentType: 'text/csv', blobContentDisposition: 'attachment' },
        metadata: { origin: 'test' },
      })
      const properties = await blob.getProperties()
      assert.deepEqual(
        [properties.contentLength, properties.contentType, properties.metadata],
        [Buffer.byteLength(text), 'text/csv', { origin: 'test' }],
      )
      assert.ok(properties.createdOn instanceof Date, 'corrections-2 G2: Go clients read the creation time unchecked')

      const detail = await ok<Detail>('GET', `files/${file.id}?federationToken=1`)
      assert.equal(detail.sizeBytes, Buffer.byteLength(text))
      const container = containerOf(detail.absCredentials, detail.absPath.container)
      const readable = container.getBlockBlobClient(detail.absPath.name)
      assert.equal((await readable.downloadToBuffer()).toString(), text)
      assert.equal((await readable.downloadToBuffer(3, 4)).toString(), 'name')
      await refused(readable.downloadToBuffer(1000, 5), 416, 'InvalidRange')
      assert.equal(await (await fetch(detail.url)).text(), text, 'the plain link works as well')
      const names: string[] = []
      for await (const { name, properties } of container.listBlobsFlat({ prefix: detail.absPath.name })) {
        assert.ok(properties.createdOn instanceof Date, 'corrections-2 G2')
        names.push(name)
      }
      assert.deepEqual(names, [detail.absPath.name])

      await ok('POST', 'buckets', { name: 'a' })
      const job = await finished(
        await ok<{ id: number }>('POST', 'buckets/in.c-a/tables-async', { name: 't', dataFileId: file.id }),
      )
      assert.equal(job.status, 'success', JSON.stringify(job))
      await uploader(file).delete()
      await refused(readable.downloadToBuffer(), 404, 'BlobNotFound')
    },
  )

  await t.test('a large file goes up in blocks side by side, and is the blocks in the order of the list', async () => {
    const project = await azureProject(stack, 'blocks')
    const file = await prepare(project)
    const blob = uploader(file)
    const bytes = randomBytes(5 * 1024 * 1024 + 17)
    await blob.uploadData(bytes, { blockSize: 512 * 1024, maxSingleShotSize: 1024, concurrency: 8 })
    const detail = await project.ok<Detail>('GET', `files/${file.id}?federationToken=1`)
    const readable = containerOf(detail.absCredentials, detail.absPath.container).getBlockBlobClient(detail.absPath.name)
    assert.ok((await readable.downloadToBuffer(0, undefined, { blockSize: 1024 * 1024, concurrency: 4 })).equals(bytes))
    assert.equal((await blob.getProperties()).contentType, 'application/octet-stream')

    const [first, second] = [Buffer.from('first').toString('base64'), Buffer.from('other').toString('base64')]
    await blob.stageBlock(first, 'aaa', 3)
    await blob.stageBlock(second, 'bbb', 3)
    await blob.stageBlock(first, 'ccc', 3) // replaces the first one
    await blob.commitBlockList([second, first])
    assert.equal((await readable.downloadToBuffer()).toString(), 'bbbccc')
    await blob.stageBlock(first, 'ddd', 3)
    await refused(blob.commitBlockList([first, Buffer.from('none!').toString('base64')]), 400, 'InvalidBlockList')
    assert.equal((await readable.downloadToBuffer()).toString(), 'bbbccc', 'a refused list changes nothing')
    await blob.upload('', 0, { conditions: {} })
    assert.equal((await readable.download()).contentLength, 0)
    await refused(blob.upload('x', 1, { conditions: { ifNoneMatch: '*' } }), 409, 'BlobAlreadyExists')
  })

  await t.test(
    'G3: slices and their manifest are loaded; an exported table has a manifest in the words of the provider',
    async () => {
      const project = await azureProject(stack, 'slices')
      const { ok, finished } = project
      const file = await prepare(project, { isSliced: true })
      const { absCredentials, container, blobName, accountName } = file.absUploadParams
      const target = containerOf(absCredentials, container)
      const put = (name: string, text: string) => target.getBlockBlobClient(blobName + name).upload(text, text.length)
      await put('part1', '1,a\n')
      await put('part2', '2,b\n')
      const url = (slice: string) => `azure://${accountName}.blob.core.windows.net/${container}/${blobName}${slice}`
      const inOldForm = `azure://millrace.blob.core.windows.net/${container}/${blobName}part2`
      await put('manifest', JSON.stringify({ entries: [{ url: url('part1') }, { url: inOldForm }] }))
      await ok('POST', 'buckets', { name: 'a' })
      const load = { name: 't', dataFileId: file.id, columns: ['id', 'name'] }
      const job = await finished(await ok<{ id: number }>('POST', 'buckets/in.c-a/tables-async', load))
      assert.equal(job.status, 'success', JSON.stringify(job))

      const exported = await finished(await ok<{ id: number }>('POST', 'tables/in.c-a.t/export-async', {}))
      const { file: made } = exported.results as { file: { id: number } } // the results of tableExport
      const detail = await ok<Detail>('GET', `files/${made.id}?federationToken=1`)
      const { entries } = (await (await fetch(detail.url)).json()) as { entries: { url: string }[] }
      const readable = containerOf(detail.absCredentials, detail.absPath.container)
      // corrections-2 G3: what Go clients expect, what they write themselves, and where Python clients split.
      const endpoint = /^BlobEndpoint=https?:\/\/([^;]+);/.exec(detail.absCredentials.SASConnectionString)?.[1]
      const start = `azure://${endpoint}/${container}/`
      assert.equal(start, `azure://${accountName}.blob.core.windows.net/${container}/`)
      assert.equal(start.split(`blob.core.windows.net/${container}/`).length, 2)
      let rows = ''
      for (const entry of entries) {
        assert.ok(entry.url.startsWith(start + detail.absPath.name), entry.url)
        rows += (await readable.getBlockBlobClient(entry.url.slice(start.length)).downloadToBuffer()).toString()
      }
      assert.equal(rows, '"1","a"\n"2","b"\n')
    },
  )

  await t.test('a signature opens its own file and nothing else; forged, widened and expired ones open nothing', async (t) => {
    const project = await azureProject(stack, 'hostile')
    const [mine, other] = [await prepare(project), await prepare(project)]
    const { absCredentials, container, blobName } = mine.absUploadParams
    await uploader(mine).upload('mine', 4)
    const own = containerOf(absCredentials, container)
    await refused(own.getBlockBlobClient(other.absUploadParams.blobName).upload('x', 1), 403, 'AuthorizationPermissionMismatch')
    await refused(own.getBlockBlobClient(`${blobName}x`).upload('x', 1), 403, 'AuthorizationPermissionMismatch')
    await refused(own.getBlockBlobClient(blobName).downloadToBuffer(), 403, 'AuthorizationPermissionMismatch')
    await refused(own.listBlobsFlat().next(), 403, 'AuthorizationPermissionMismatch')
    await refused(own.listBlobsFlat({ prefix: blobName.slice(0, -1) }).next(), 403, 'AuthorizationPermissionMismatch')
    await refused(containerOf(absCredentials, 'elsewhere').getBlockBlobClient(blobName).upload('x', 1), 404, 'ContainerNotFound')

    const reading = (await project.ok<Detail>('GET', `files/${mine.id}?federationToken=1`)).absCredentials
    const readable = containerOf(reading, container).getBlockBlobClient(blobName)
    await refused(readable.upload('x', 1), 403, 'AuthorizationPermissionMismatch')
    await refused(readable.delete(), 403, 'AuthorizationPermissionMismatch')

    const { SASConnectionString } = reading
    const signature = new URLSearchParams(SASConnectionString.split(';SharedAccessSignature=')[1]).get('sig') ?? ''
    const [payload = '', mac = ''] = signature.split('.')
    const wider = Buffer.from(payload, 'base64').toString().replace('"download"', '"upload"')
    const forged = [
      changed(SASConnectionString, 'sp', 'rwdl'),
      changed(SASConnectionString, 'se', '2099-01-01T00:00:00Z'),
      changed(SASConnectionString, 'sr', 'c'),
      changed(SASConnectionString, 'sig', `${Buffer.from(wider).toString('base64')}.${mac}`),
      changed(SASConnectionString, 'sig', `${payload}.${Buffer.alloc(32).toString('base64')}`),
      changed(SASConnectionString, 'sig', ''),
      changed(SASConnectionString, 'sig', 'nonsense'),
    ]
    for (const SASConnectionString of forged) {
      const blob = containerOf({ SASConnectionString, expiration: '' }, container).getBlockBlobClient(blobName)
      await refused(blob.downloadToBuffer(), 403, 'AuthenticationFailed')
      await refused(blob.upload('x', 1), 403, 'AuthenticationFailed')
    }
    await expiredIsRefused(t)
    assert.equal((await readable.downloadToBuffer()).toString(), 'mine', 'nothing of it changed the file')
  })

  await t.test('what is not supported, malformed or damaged is refused in the words of Azure', async () => {
    const project = await azureProject(stack, 'malformed')
    const { absUploadParams } = await prepare(project)
    const [endpoint = '', sas = ''] = absUploadParams.absCredentials.SASConnectionString.replace('BlobEndpoint=', '').split(
      ';SharedAccessSignature=',
    )
    const send = async (method: string, query: string, headers: Record<string, string> = {}, body?: string) => {
      const url = `${endpoint}/${absUploadParams.container}/${absUploadParams.blobName}?${query}${query && '&'}${sas}`
      const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) })
      return `${answer.status} ${answer.headers.get('x-ms-error-code')}`
    }
    const blockBlob = { 'x-ms-blob-type': 'BlockBlob' }
    assert.equal(await send('PUT', '', { 'x-ms-blob-type': 'PageBlob' }, 'x'), '400 InvalidHeaderValue')
    assert.equal(await send('PUT', '', {}, 'x'), '400 InvalidHeaderValue')
    assert.equal(await send('PUT', 'comp=lease', {}, 'x'), '405 UnsupportedHttpVerb')
    assert.equal(await send('POST', '', {}, 'x'), '405 UnsupportedHttpVerb')
    assert.equal(await send('PUT', 'comp=block&blockid=%21%21', {}, 'x'), '400 InvalidQueryParameterValue')
    assert.equal(await send('PUT', 'comp=blocklist', {}, '<BlockList>'), '400 InvalidXmlDocument')
    const entity = '<!DOCTYPE a [<!ENTITY x "y">]><BlockList><Latest>&x;</Latest></BlockList>'
    assert.equal(await send('PUT', 'comp=blocklist', {}, entity), '400 InvalidXmlDocument')
    const missing = '<BlockList><Latest>YQ==</Latest></BlockList>'
    assert.equal(await send('PUT', 'comp=blocklist', {}, missing), '400 InvalidBlockList')
    assert.equal(await send('PUT', '', { ...blockBlob, 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }, 'x'), '400 Md5Mismatch')
    assert.equal(await send('PUT', '', { ...blockBlob, 'x-ms-meta-a': 'b'.repeat(3000) }, 'x'), '400 MetadataTooLarge')
    assert.equal(await send('HEAD', ''), '404 BlobNotFound', 'nothing of it was stored')
    const bare = await fetch(`${endpoint}/${absUploadParams.container}/${absUploadParams.blobName}`)
    assert.equal(bare.status, 403)
  })
})

/** A stack whose clock is set by the test. */
async function expiredIsRefused(t: TestContext): Promise<void> {
  let now = new Date('2026-01-31T12:00:00Z')
  const stack = await startTestStack(t, { clock: { now: () => now } })
  const file = await prepare(await azureProject(stack, 'expired'))
  await uploader(file).upload('mine', 4)
  now = new Date('2026-02-01T00:00:01Z')
  await refused(uploader(file).upload('late', 4), 403, 'AuthenticationFailed')
}
