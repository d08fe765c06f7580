// What real clients expect of the platform, its components and its object store, by number: parts D and E. One stack; a project per test.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { type Answer, type RequestOptions, send, startTestStack, type TestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

type Json = Readonly<Record<string, unknown>>

interface UploadParams {
  readonly key: string
  readonly bucket: string
  readonly credentials: { readonly AccessKeyId: string; readonly SecretAccessKey: string; readonly SessionToken: string }
}

/** Requests to /v2/storage with the master token of a project of its own. */
async function project(stack: TestStack, name: string) {
  const { masterToken } = await stack.newProject(name)
  const call = (method: string, path: string, options: RequestOptions = {}): Promise<Answer> =>
    send(stack.url, method, path.startsWith('/') ? path : `/v2/storage/${path}`, { token: masterToken, ...options })
  const ok = async <T = Json>(method: string, path: string, json?: unknown): Promise<T> => {
    const answer = await call(method, path, json === undefined ? {} : { json })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.text === '' ? (undefined as T) : answer.json<T>()
  }
  return { call, ok }
}

function sdk(t: TestContext, stack: TestStack, { credentials }: Pick<UploadParams, 'credentials'>): S3Client {
  const client = new S3Client({
    endpoint: stack.platform.objects.url(),
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: {
      accessKeyId: credentials.AccessKeyId,
      secretAccessKey: credentials.SecretAccessKey,
      sessionToken: credentials.SessionToken,
    },
  })
  t.after(() => client.destroy())
  return client
}

test('corrections D and E', async (t) => {
  const stack = await startTestStack(t)

  await t.test('D67, D68: credentials see their own object and its folder, for reading and for writing', async (t) => {
    const { ok } = await project(stack, 'D68')
    const file = await ok<{ id: number; uploadParams: UploadParams }>('POST', 'files/prepare', {
      name: 'a.csv',
      federationToken: 1,
    })
    const { key: Key, bucket: Bucket } = file.uploadParams
    const upload = sdk(t, stack, file.uploadParams)
    await assert.rejects(upload.send(new HeadObjectCommand({ Bucket, Key })), { name: 'NotFound' })
    await upload.send(new PutObjectCommand({ Bucket, Key, Body: 'id\n1\n' }))
    assert.equal((await upload.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength, 5)
    assert.equal((await upload.send(new ListObjectsV2Command({ Bucket, Prefix: Key }))).KeyCount, 1)
    await assert.rejects(upload.send(new GetObjectCommand({ Bucket, Key })), { name: 'AccessDenied' })

    const read = await ok<{ region: string; credentials: UploadParams['credentials'] }>(
      'GET',
      `files/${file.id}?federationToken=1`,
    )
    const download = sdk(t, stack, { ...file.uploadParams, credentials: read.credentials })
    assert.equal((await download.send(new ListObjectsV2Command({ Bucket, Prefix: `${Key}/` }))).KeyCount, 0)
    await assert.rejects(download.send(new ListObjectsV2Command({ Bucket, Prefix: Key.slice(0, -1) })), { name: 'AccessDenied' })

    // Programs look for a file in its folder: there they see this file and none of the others.
    const other = await ok<{ uploadParams: UploadParams }>('POST', 'files/prepare', { name: 'b.csv', federationToken: 1 })
    const { uploadParams } = other
    await sdk(t, stack, uploadParams).send(new PutObjectCommand({ Bucket, Key: uploadParams.key, Body: 'x' }))
    const [Prefix, above] = [Key.replace(/[^/]*$/, ''), Key.replace(/[^/]*\/[^/]*$/, '')]
    for (const client of [upload, download]) {
      const listed = await client.send(new ListObjectsV2Command({ Bucket, Prefix, Delimiter: '/' }))
      assert.deepEqual([listed.Contents?.map((one) => one.Key), listed.CommonPrefixes], [[Key], undefined])
      const folders = await client.send(new ListObjectsCommand({ Bucket, Prefix: above, Delimiter: '/' }))
      assert.deepEqual([folders.Contents, folders.CommonPrefixes], [undefined, [{ Prefix }]])
      await assert.rejects(client.send(new ListObjectsV2Command({ Bucket })), { name: 'AccessDenied' })
    }
  })

  await t.test('D69: a new configuration is answered without rows', async () => {
    const { ok } = await project(stack, 'D69')
    const created = await ok('POST', 'components/platform.ex-http/configs', { name: 'One' })
    assert.equal('rows' in created, false)
    assert.deepEqual(created.rowsSortOrder, [])
    assert.deepEqual((await ok('GET', `components/platform.ex-http/configs/${created.id}`)).rows, [])
  })

  await t.test('D76: tags that are null or empty mean none, a dash in a name becomes an underscore', async () => {
    const { ok } = await project(stack, 'D76')
    assert.deepEqual((await ok('POST', 'files/prepare', { name: 'a', tags: null })).tags, [])
    assert.deepEqual((await ok('POST', 'files/prepare', { name: 'a', tags: [''] })).tags, [])
    assert.equal((await ok('POST', 'files/prepare', { name: 'in.c-test.x' })).name, 'in.c_test.x')
  })

  await t.test(
    'D77, D78: a table of a missing bucket is not found as a table; a new one has a change date and no base types',
    async () => {
      const { call, ok } = await project(stack, 'D77')
      const missing = await call('GET', 'tables/in.c-none.orders')
      assert.deepEqual([missing.status, missing.json().code], [404, 'storage.tables.notFound'])
      await ok('POST', 'buckets', { stage: 'in', name: 'main' })
      const form = new FormData()
      form.set('name', 'orders')
      form.set('dataString', 'id\n1\n')
      assert.equal((await call('POST', 'buckets/in.c-main/tables', { body: form })).status, 201)
      const table = await ok<{ created: string; lastChangeDate: string; definition: { columns: Json[] } }>(
        'GET',
        'tables/in.c-main.orders',
      )
      assert.match(table.lastChangeDate, /^\d{4}-/)
      const empty = { name: 'empty', columns: [{ name: 'id', basetype: 'STRING' }] }
      const job = await ok<{ id: number }>('POST', 'buckets/in.c-main/tables-definition', empty)
      await until('the table is made', async () => (await ok('GET', `jobs/${job.id}`)).status === 'success')
      const never = await ok<typeof table>('GET', 'tables/in.c-main.empty')
      assert.equal(never.lastChangeDate, never.created, 'never loaded')
      assert.equal('basetype' in (table.definition.columns[0] ?? {}), false)
    },
  )

  await t.test('D80: the newest branch comes first, the default branch last', async () => {
    const { call, ok } = await project(stack, 'D80')
    for (const name of ['first', 'second']) {
      const { id } = await ok<{ id: number }>('POST', 'dev-branches', { name })
      let status = ''
      while (status !== 'success') status = String((await call('GET', `jobs/${id}`)).json().status)
    }
    const names = (await ok<{ name: string }[]>('GET', 'dev-branches')).map(({ name }) => name)
    assert.deepEqual(names, ['second', 'first', 'Main'])
  })

  await t.test('D81: a disabled schedule may name a target that does not exist', async () => {
    const { call, ok } = await project(stack, 'D81')
    const schedule = (state: string) => ({
      schedule: { cronTab: '0 * * * *', timezone: 'UTC', state },
      target: { componentId: 'platform.ex-http', configurationId: 'missing', mode: 'run' },
    })
    const make = async (state: string) =>
      (await ok<{ id: string }>('POST', 'components/platform.scheduler/configs', { name: state, configuration: schedule(state) }))
        .id
    const activate = async (state: string) =>
      call('POST', '/scheduler/schedules', { json: { configurationId: await make(state) } })
    assert.equal((await activate('disabled')).status, 201)
    assert.equal((await activate('enabled')).status, 400)
  })

  await t.test('D82: every object has a checksum for SDKs that ask for one', async (t) => {
    const { call, ok } = await project(stack, 'D82')
    const form = new FormData()
    form.set('data', new Blob(['id\n1\n']), 'a.csv')
    const { id } = (await call('POST', '/import/upload-file', { body: form })).json<{ id: number }>()
    const file = await ok<UploadParams & { s3Path: { bucket: string; key: string } }>('GET', `files/${id}?federationToken=1`)
    const client = sdk(t, stack, file)
    const got = await client.send(
      new GetObjectCommand({ Bucket: file.s3Path.bucket, Key: file.s3Path.key, ChecksumMode: 'ENABLED' }),
    )
    assert.equal(typeof got.ChecksumCRC32, 'string')
    assert.equal(await got.Body?.transformToString(), 'id\n1\n')
  })

  await t.test(
    'E90, E91: times have +hhmm in jobs of the queue too; the id of a creator is an integer in storage jobs',
    async () => {
      const { ok } = await project(stack, 'E90')
      const { id } = await ok<{ id: string }>('POST', 'components/platform.ex-http/configs', { name: 'One' })
      const job = await ok<{ id: string; createdTime: string }>('POST', '/queue/jobs', {
        component: 'platform.ex-http',
        config: id,
        mode: 'run',
      })
      assert.match(job.createdTime, /\+0000$/)
      const storageJob = await ok<{ creatorToken: { id: unknown }; createdTime: string }>('POST', 'dev-branches', { name: 'b' })
      assert.equal(typeof storageJob.creatorToken.id, 'number')
      assert.match(storageJob.createdTime, /\+0000$/)
      const isEnded = async () => (await ok<{ endTime: string | null }>('GET', `/queue/jobs/${job.id}`)).endTime !== null
      await until('the run ends', isEnded)
      const [listed] = await ok<{ startTime: string; endTime: string }[]>('GET', '/queue/search/jobs?limit=1')
      for (const time of [listed?.startTime, listed?.endTime]) assert.match(time ?? '', /\+0000$/)
    },
  )

  await t.test('E90: every time of every record of storage has one shape', async () => {
    const { call, ok } = await project(stack, 'E90 records')
    await ok('POST', 'buckets', { name: 'a' })
    await ok('POST', 'buckets/in.c-a/tables', { name: 't', dataString: 'id\n1\n' })
    await ok('POST', 'buckets/in.c-a/table-aliases', { sourceTable: 'in.c-a.t', name: 'alias' })
    const configs = 'components/platform.ex-http/configs'
    await ok('POST', configs, { configurationId: 'c', name: 'One' })
    await ok('POST', `${configs}/c/rows`, { rowId: 'r', name: 'Row' })
    await ok('POST', 'workspaces', {})
    await ok('POST', 'files/prepare', { name: 'a.csv' })
    const wrong: string[] = []
    let times = 0
    for (const path of [
      'buckets/in.c-a',
      'tables/in.c-a.t',
      'tables/in.c-a.alias',
      'tables?include=buckets,metadata,columns',
      'files',
      'jobs',
      'events',
      'tokens',
      'tokens/verify',
      'dev-branches',
      'workspaces',
      'components?include=configuration,rows,state',
      `${configs}/c`,
      `${configs}/c/versions`,
      `${configs}/c/rows/r/versions`,
    ])
      for (const [time, name] of (await call('GET', path)).text.matchAll(/"(\w+)":"\d{4}-\d\d-\d\dT[^"]*"/g)) {
        times++
        if (!/T\d\d:\d\d:\d\d\+0000"$/.test(time)) wrong.push(`${path}: ${name} ${time}`)
      }
    assert.deepEqual(wrong, [])
    assert.ok(times > 25, `${times} times`)
  })

  await t.test('E92: image_parameters and action are dropped on save; the rest stays as it was sent', async () => {
    const { ok } = await project(stack, 'E92')
    const configuration = { parameters: { z: 1, a: [1.5] }, image_parameters: { x: 1 }, action: 'run' }
    const created = await ok('POST', 'components/platform.ex-http/configs', { name: 'One', configuration })
    assert.deepEqual(created.configuration, { parameters: { z: 1, a: [1.5] } })
    const path = `components/platform.ex-http/configs/${created.id}`
    for (const [method, target] of [
      ['PUT', path],
      ['POST', `${path}/rows`],
      ['PUT', `${path}/rows/r`],
    ] as const) {
      const saved = await ok(method, target, { configuration, ...(method === 'POST' && { rowId: 'r' }) })
      assert.deepEqual(saved.configuration, { parameters: { z: 1, a: [1.5] } }, `${method} ${target}`)
    }
  })

  await t.test('E97: rows that were never sorted stand in the order of their creation', async () => {
    const { ok } = await project(stack, 'E97')
    const { id } = await ok<{ id: string }>('POST', 'components/platform.ex-http/configs', { name: 'One' })
    const path = `components/platform.ex-http/configs/${id}`
    for (const rowId of ['b', 'a', 'c']) await ok('POST', `${path}/rows`, { rowId, name: rowId })
    const { rows } = await ok<{ rows: { id: string }[] }>('GET', path)
    assert.deepEqual(
      rows.map((row) => row.id),
      ['b', 'a', 'c'],
    )
  })

  await t.test('E100: a schedule whose target or configuration is deleted shows why it stopped, at once', async () => {
    const { ok } = await project(stack, 'E100')
    const make = async (component: string, configuration: object) =>
      (await ok<{ id: string }>('POST', `components/${component}/configs`, { name: 'One', configuration })).id
    const target = await make('platform.ex-http', {})
    const configurationId = await make('platform.scheduler', {
      schedule: { cronTab: '0 0 1 1 *', timezone: 'UTC', state: 'enabled' },
      target: { componentId: 'platform.ex-http', configurationId: target, mode: 'run' },
    })
    const { id } = await ok<{ id: string }>('POST', '/scheduler/schedules', { configurationId })
    type Shown = { readonly stoppedReason: string | null; readonly nextExecutionTime: string | null }
    const shown = () => ok<Shown>('GET', `/scheduler/schedules/${id}`)
    assert.equal((await shown()).stoppedReason, null)
    await ok('DELETE', `components/platform.ex-http/configs/${target}`)
    const stopped = await shown()
    assert.match(stopped.stoppedReason ?? '', /^Its target, configuration .* of platform\.ex-http, was deleted\.$/)
    assert.equal(stopped.nextExecutionTime, null)
    await ok('DELETE', `components/platform.scheduler/configs/${configurationId}`)
    assert.match((await shown()).stoppedReason ?? '', /^Its configuration .* was deleted\.$/)
    const [listed] = await ok<Shown[]>('GET', '/scheduler/schedules')
    assert.deepEqual([typeof listed?.stoppedReason, listed?.nextExecutionTime], ['string', null])
  })
})
