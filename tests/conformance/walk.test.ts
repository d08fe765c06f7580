// The specification, walked from the index to a schedule that fires, over HTTP and S3 only. What it requires of a
// request, a record or a rule is asserted where the walk comes past it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { type FileAnswer, s3ClientFor } from '../support/clients/file-client.ts'
import { shellStack } from '../support/shell-stack.ts'
import { type Answer, type RequestOptions, send } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+\d{4}$/
const COMPONENT = 'test.greeter'
/** Writes a table with the greeting it got, and remembers how often it ran. */
const GREETER = `set -eu
greeting=$(sed -n 's/.*"greeting" *: *"\\([^"]*\\)".*/\\1/p' "$KBC_DATADIR/config.json")
grep -q processors "$KBC_DATADIR/config.json" && exit 2
printf '"row","text"\\n"%s","%s"\\n' "$KBC_CONFIGROWID" "$greeting" > "$KBC_DATADIR/out/tables/greetings.csv"
printf '{"destination":"out.c-walk.greetings","primary_key":["row"],"incremental":true}' > "$KBC_DATADIR/out/tables/greetings.csv.manifest"
printf '{"greeted":"%s"}' "$greeting" > "$KBC_DATADIR/out/state.json"`

interface StorageJob {
  readonly status: string
  readonly url: string
  readonly results: { readonly file: { readonly id: number } } | null
  readonly error?: { readonly message: string }
}

interface Configuration {
  readonly id: string
  readonly version: number
  readonly configuration: { readonly parameters?: Readonly<Record<string, unknown>> }
  readonly rows: {
    readonly id: string
    readonly version: number
    readonly state: { readonly component?: unknown }
    readonly configuration: unknown
  }[]
  readonly rowsSortOrder: string[]
  readonly state: unknown
  readonly [field: string]: unknown
}

interface Schedule {
  readonly id: string
  readonly configurationId: string
  readonly target: { readonly configurationRowIds: string[]; readonly tag: string }
  readonly executions: { readonly jobId: string; readonly status: string }[]
  readonly [field: string]: unknown
}

test('the whole of document 1, from the index to a schedule that fires', async (t) => {
  let now = new Date('2026-05-01T12:00:30Z').getTime()
  const startedAt = performance.now()
  const clock = { now: () => new Date(now + (performance.now() - startedAt)) }
  const stack = await shellStack(t, { clock })
  await stack.add(COMPONENT, GREETER)

  /** Any published address, with the token, expecting success. */
  const ok = async (method: string, address: string, options: RequestOptions = {}): Promise<Answer> => {
    const answer = await send(stack.url, method, address, { token: stack.masterToken, ...options })
    assert.ok(answer.status < 300, `${method} ${address}: ${answer.status} ${answer.text}`)
    return answer
  }
  const finish = async (job: StorageJob): Promise<StorageJob> => {
    const ended = await until(`the job at ${job.url} ends`, async () => {
      const current = (await ok('GET', job.url)).json<StorageJob>()
      return !['waiting', 'processing'].includes(current.status) && current
    })
    assert.equal(ended.status, 'success', JSON.stringify(ended.error))
    return ended
  }

  // Index: the authoritative list of addresses.
  const index = (await ok('GET', '/v2/storage', { token: null })).json<{
    version: string
    services: { id: string; url: string }[]
    components: { id: string }[]
    [field: string]: unknown
  }>()
  for (const field of ['host', 'api', 'version', 'revision', 'documentation', 'components', 'services', 'urlTemplates'])
    assert.ok(field in index, `the index has ${field}`)
  assert.equal(index.version, 'v2')
  const service = (id: string): string => index.services.find((one) => one.id === id)!.url
  assert.ok(index.components.some(({ id }) => id === COMPONENT))

  // 1. Prepare a file resource.
  const content = '"id","name"\r\n"1","Ann"\r\n"2","Bob ""B"" B"\r\n"3","two\nlines"\r\n'
  const prepared = (
    await ok('POST', '/v2/storage/files/prepare', {
      json: { name: 'people.csv', sizeBytes: Buffer.byteLength(content), federationToken: 1 },
    })
  ).json<FileAnswer>()
  assert.equal(typeof prepared.id, 'number')
  assert.match(String(prepared.created), TIMESTAMP)
  assert.deepEqual([prepared.isSliced, prepared.maxAgeDays, prepared.name], [false, 15, 'people.csv'])
  const { uploadParams } = prepared
  assert.match(uploadParams!.credentials!.Expiration, /\+\d\d:\d\d$/)

  // 2. Upload with the temporary credentials, to bucket plus key. The SDK's clock must agree with the stack's.
  const s3 = s3ClientFor(uploadParams!.credentials!, uploadParams!.endpoint)
  s3.config.systemClockOffset = clock.now().getTime() - Date.now()
  await s3.send(new PutObjectCommand({ Bucket: uploadParams!.bucket, Key: uploadParams!.key, Body: content }))

  // 3. Import, 4. poll until the status is no longer waiting or processing.
  const bucket = (await ok('POST', '/v2/storage/buckets', { json: { name: 'walk', stage: 'in' } })).json<{ id: string }>().id
  const imported = await ok('POST', `/v2/storage/buckets/${bucket}/tables-async`, {
    form: { name: 'people', dataFileId: String(prepared.id), delimiter: ',', enclosure: '"' },
  })
  await finish(imported.json<StorageJob>())

  // Export: a sliced file whose url is the manifest; its parts, read with the credentials and joined in order, are the table.
  const exported = await finish((await ok('POST', `/v2/storage/tables/${bucket}.people/export-async`)).json<StorageJob>())
  const file = (await ok('GET', `/v2/storage/files/${exported.results!.file.id}?federationToken=1`)).json<FileAnswer>()
  assert.deepEqual([file.isSliced, file.tags, file.uploadParams], [true, ['table-export'], undefined])
  assert.ok(file.s3Path && file.credentials)
  assert.match(file.url, /X-Amz-Expires=3600/)
  const { entries } = (await (await fetch(file.url)).json()) as { entries: { url: string }[] }
  const reader = s3ClientFor(file.credentials, file.endpoint!)
  reader.config.systemClockOffset = clock.now().getTime() - Date.now()
  let joined = ''
  for (const { url } of entries) {
    const [, , Bucket, ...key] = url.split('/')
    const { Body } = await reader.send(new GetObjectCommand({ Bucket, Key: key.join('/') }))
    joined += await Body!.transformToString()
  }
  assert.equal(joined, '"1","Ann"\n"2","Bob ""B"" B"\n"3","two\nlines"\n')

  // The less recommended way: one request to the importer.
  const form = new FormData()
  form.set('data', new Blob([content]), 'direct.csv')
  const direct = (await ok('POST', `${service('import')}/upload-file`, { body: form })).json<FileAnswer>()
  assert.deepEqual([direct.name, direct.uploadParams], ['direct.csv', undefined])

  // A configuration with rows.
  const configs = `/v2/storage/components/${COMPONENT}/configs`
  const root = { parameters: { greeting: 'nobody', kept: true }, processors: { after: [] } }
  const { id, version } = (await ok('POST', configs, { json: { name: 'Greetings', configuration: root } })).json<Configuration>()
  assert.deepEqual([typeof id, version], ['string', 1])
  for (const row of ['ann', 'bob'])
    await ok('POST', `${configs}/${id}/rows`, {
      json: { rowId: row, name: row, configuration: { parameters: { greeting: `Hello ${row}` } } },
    })

  // Update: a form field or JSON, the whole configuration; each makes a version, and so does a changed row.
  const changed = JSON.stringify({ ...root, parameters: { greeting: 'everybody' } })
  await ok('PUT', `${configs}/${id}`, { form: { configuration: changed, changeDescription: 'for everybody' } })
  await ok('PUT', `${configs}/${id}/rows/ann`, { json: { configuration: { parameters: { greeting: 'Dear ann' } } } })
  await ok('PUT', `${configs}/${id}`, { json: { rowsSortOrder: ['bob', 'ann'] } })
  const [listed] = (await ok('GET', configs)).json<Configuration[]>()
  assert.deepEqual([listed?.version, listed?.rowsSortOrder], [6, ['bob', 'ann']])
  assert.deepEqual(
    listed?.rows.map((row) => row.id),
    ['bob', 'ann'],
  )
  for (const field of [
    'name',
    'description',
    'created',
    'creatorToken',
    'changeDescription',
    'isDeleted',
    'state',
    'currentVersion',
  ])
    assert.ok(field in (listed ?? {}), `a listed configuration has ${field}`)

  // Versions, newest first; roll back makes a new one; a copy is a configuration of its own.
  const versions = (await ok('GET', `${configs}/${id}/versions`)).json<{ version: number; changeDescription: string }[]>()
  assert.deepEqual(
    versions.map((one) => one.version),
    [6, 5, 4, 3, 2, 1],
  )
  assert.equal(versions[2]?.changeDescription, 'for everybody')
  const rolledBack = (await ok('POST', `${configs}/${id}/versions/3/rollback`)).json<{ version: string }>()
  assert.equal(rolledBack.version, '7')
  const back = (await ok('GET', `${configs}/${id}`)).json<Configuration>()
  assert.deepEqual([back.version, back.configuration.parameters], [7, root.parameters])
  const copied = (await ok('POST', `${configs}/${id}/versions/6/create`, { json: { name: 'A copy' } })).json<{ id: string }>()
  assert.equal(typeof copied.id, 'string')
  const copy = (await ok('GET', `${configs}/${copied.id}`)).json<Configuration>()
  assert.deepEqual([copy.version, copy.configuration.parameters], [1, { greeting: 'everybody' }])

  // Run: one job for all rows, a row replaces the root, state is kept per row.
  const run = (await ok('POST', `${service('queue')}/${COMPONENT}/run`, { json: { config: id } })).json<StorageJob>()
  await finish(run)
  const preview = async (): Promise<string> => (await ok('GET', '/v2/storage/tables/out.c-walk.greetings/data-preview')).text
  assert.deepEqual((await preview()).trim().split('\n').sort(), ['"ann","Hello ann"', '"bob","Hello bob"', '"row","text"'])
  const after = (await ok('GET', `${configs}/${id}`)).json<Configuration>()
  assert.deepEqual(
    after.rows.map((row) => row.state.component),
    [{ greeted: 'Hello ann' }, { greeted: 'Hello bob' }],
  )
  assert.deepEqual(after.state, {})

  // Schedule: a configuration from form fields, then its activation, then the list.
  await ok('PUT', `${configs}/${id}/rows/bob`, { json: { configuration: { parameters: { greeting: 'Good morning bob' } } } })
  const target = { componentId: COMPONENT, configurationId: id, configurationRowIds: ['bob'], mode: 'run' }
  const schedule = { cronTab: '*/5 * * * *', timezone: 'Europe/Prague', state: 'enabled' }
  const planned = (
    await ok('POST', '/v2/storage/components/platform.scheduler/configs/', {
      form: { name: 'Every five minutes', configuration: JSON.stringify({ schedule, target }) },
    })
  ).json<Configuration>()
  assert.equal(planned.isDisabled, false)
  await ok('POST', `${service('scheduler')}/schedules`, { json: { configurationId: planned.id } })
  const schedules = async () => (await ok('GET', `${service('scheduler')}/schedules`)).json<Schedule[]>()
  const [active] = await schedules()
  assert.deepEqual(
    [active?.configurationId, active?.configurationVersionId, active?.schedule, active?.target, active?.executions],
    [planned.id, '1', schedule, { ...target, tag: '' }, []],
  )
  for (const field of ['id', 'tokenId']) assert.equal(typeof active?.[field], 'string')

  // It fires when its minute comes: only the chosen row runs.
  now = new Date('2026-05-01T12:05:01Z').getTime() - (performance.now() - startedAt)
  await stack.platform.scheduler.loop.tick(clock.now())
  const [fired] = await schedules()
  assert.equal(fired?.executions[0]?.status, 'started')
  await finish((await ok('GET', `${service('queue')}/jobs/${fired!.executions[0]!.jobId}`)).json<StorageJob>())
  assert.deepEqual((await preview()).trim().split('\n').sort(), ['"ann","Hello ann"', '"bob","Good morning bob"', '"row","text"'])
})
