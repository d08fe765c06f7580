// Where a component finds its data: tables chosen by metadata, data in S3 instead of the folder, and what is refused.

import assert from 'node:assert/strict'
import test from 'node:test'
import { gunzipSync } from 'node:zlib'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { type Job, type ShellStack, shareShellStack, shellStack } from '../support/shell-stack.ts'
import { until } from '../support/until.ts'

const startProject = shareShellStack()

async function makeTable(stack: ShellStack, name: string, metadata: Readonly<Record<string, string>> = {}): Promise<string> {
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'main' } })
  const answer = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', {
    json: { name, dataString: 'id,name\n1,one\n2,two\n3,three\n' },
  })
  assert.equal(answer.status, 201, answer.text)
  const id = `in.c-main.${name}`
  for (const [key, value] of Object.entries(metadata)) {
    const json = { provider: 'test', metadata: [{ key, value }] }
    assert.equal((await stack.request('POST', `/v2/storage/tables/${id}/metadata`, { json })).status, 201)
  }
  return id
}

async function run(stack: ShellStack, component: string, configuration: object): Promise<Job> {
  const config = await stack.configure(component, configuration)
  return stack.wait((await stack.request('POST', `/queue/${component}/run`, { json: { config } })).json<Job>())
}

const saidBy = async (stack: ShellStack, job: Job): Promise<string[]> =>
  (await stack.request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string }[]>().map(({ message }) => message)

test('an input table is found by its metadata, and only when there is exactly one', async () => {
  const stack = await startProject()
  await makeTable(stack, 'orders', { 'bdm.scaffold.tag': 'orders' })
  await makeTable(stack, 'twin', { kind: 'twin' })
  await makeTable(stack, 'other', { kind: 'twin' })
  await stack.add('test.search', 'ls "$KBC_DATADIR/in/tables"; head -2 "$KBC_DATADIR/in/tables/in.c-main.orders"')
  const search = (key: string, value: string) =>
    run(stack, 'test.search', { storage: { input: { tables: [{ source_search: { key, value } }] } } })
  const found = await search('bdm.scaffold.tag', 'orders')
  assert.equal(found.status, 'success', JSON.stringify(found))
  const said = await saidBy(stack, found)
  assert.ok(said.includes('in.c-main.orders.manifest') && said.includes('"id","name"'), said.join('\n'))
  assert.match((await search('bdm.scaffold.tag', 'none')).error!.message, /no table with metadata key "bdm.scaffold.tag"/)
  assert.match((await search('kind', 'twin')).error!.message, /more than one table .*: in\.c-main\.twin, in\.c-main\.other/)
})

interface S3Manifest {
  readonly columns: readonly string[]
  readonly s3: {
    readonly isSliced: boolean
    readonly region: string
    readonly bucket: string
    readonly key: string
    readonly endpoint: string
    readonly credentials: {
      readonly access_key_id: string
      readonly secret_access_key: string
      readonly session_token: string
    }
  }
}

function s3Reader({ s3 }: S3Manifest) {
  const { access_key_id, secret_access_key, session_token } = s3.credentials
  const client = new S3Client({
    region: s3.region,
    endpoint: s3.endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: access_key_id, secretAccessKey: secret_access_key, sessionToken: session_token },
  })
  return async (key: string): Promise<Buffer> =>
    Buffer.from(await (await client.send(new GetObjectCommand({ Bucket: s3.bucket, Key: key }))).Body!.transformToByteArray())
}

test('with S3 staging a component gets manifests with credentials that open exactly its data, and no data', async () => {
  const stack = await startProject()
  const table = await makeTable(stack, 'orders')
  const form = new FormData()
  form.append('data', new Blob(['content of the file']), 'one.txt')
  form.append('tags[]', 'wanted')
  const upload = await stack.request('POST', '/import/upload-file', { body: form })
  const file = upload.json<{ id: number }>()
  // The manifests leave the run as files of the project: in the log their keys would be hidden.
  await stack.add(
    'test.staged',
    `ls "$KBC_DATADIR/in/tables" "$KBC_DATADIR/in/files"
     cat "$KBC_DATADIR/in/tables/orders.manifest"
     cp "$KBC_DATADIR/in/tables/orders.manifest" "$KBC_DATADIR/out/files/table"
     cp "$KBC_DATADIR/in/files/"*.manifest "$KBC_DATADIR/out/files/file"`,
    { staging_storage: { input: 's3' } },
  )
  const tables = [{ source: table, destination: 'orders', columns: ['name'], where_column: 'id', where_values: ['1', '3'] }]
  const job = await run(stack, 'test.staged', { storage: { input: { tables, files: [{ tags: ['wanted'] }] } } })
  assert.equal(job.status, 'success', JSON.stringify(job))
  const files = (await stack.request('GET', '/v2/storage/files?limit=100')).json<{ name: string; url: string }[]>()
  const leftBehind = async (name: string) =>
    (await (await fetch(files.find((one) => one.name === name)!.url)).json()) as S3Manifest // written by the component
  const ofTable = await leftBehind('table')
  const said = await saidBy(stack, job)
  assert.ok(said.includes('orders.manifest') && said.includes(`${file.id}_one.txt.manifest`), said.join('\n'))
  assert.ok(!said.includes('orders') && !said.includes(`${file.id}_one.txt`), said.join('\n'))
  assert.ok(!said.join('\n').includes(ofTable.s3.credentials.secret_access_key))

  assert.deepEqual([ofTable.columns, ofTable.s3.isSliced], [['name'], true])
  const readTable = s3Reader(ofTable)
  const { entries } = JSON.parse((await readTable(ofTable.s3.key)).toString()) as { entries: { url: string }[] }
  const slices = await Promise.all(entries.map(({ url }) => readTable(url.replace(`s3://${ofTable.s3.bucket}/`, ''))))
  const rows = slices.map((slice) => gunzipSync(slice).toString()).join('')
  assert.deepEqual(rows.trim().split('\n').sort(), ['"one"', '"three"'])

  const ofFile = await leftBehind('file')
  assert.equal(ofFile.s3.isSliced, false)
  assert.equal((await s3Reader(ofFile)(ofFile.s3.key)).toString(), 'content of the file')
  await assert.rejects(readTable(ofFile.s3.key), /AccessDenied|Access Denied|403/)
})

test('stagings this stack does not have are refused in words', async () => {
  const stack = await startProject()
  const table = await makeTable(stack, 'orders')
  const input = { tables: [{ source: table, destination: 'orders' }] }
  await stack.add('test.workspace', 'true', { staging_storage: { input: 'workspace-snowflake' } })
  await stack.add('test.abs', 'ls "$KBC_DATADIR/in/tables"', { staging_storage: { input: 'abs' } })
  await stack.add('test.out', 'true', { staging_storage: { output: 's3' } })
  const messageOf = async (component: string, storage: object) => (await run(stack, component, { storage })).error?.message ?? ''
  assert.match(await messageOf('test.workspace', {}), /works in a workspace \(workspace-snowflake\); components get files here/)
  assert.match(await messageOf('test.abs', { input }), /reads its data from "abs"/)
  assert.equal((await run(stack, 'test.abs', {})).status, 'success')
  assert.match(await messageOf('test.out', {}), /leave its results in "s3"/)
})

test('a component staged nowhere is given nothing and leaves nothing', async () => {
  const stack = await startProject()
  const table = await makeTable(stack, 'orders')
  await stack.add('test.none', 'ls "$KBC_DATADIR/in/tables" | wc -l; echo x > "$KBC_DATADIR/out/files/lost"', {
    staging_storage: { input: 'none', output: 'none' },
  })
  const job = await run(stack, 'test.none', { storage: { input: { tables: [{ source: table }] } } })
  assert.equal(job.status, 'success', JSON.stringify(job))
  assert.ok((await saidBy(stack, job)).includes('0'))
  const names = (await stack.request('GET', '/v2/storage/files')).json<{ name: string }[]>().map(({ name }) => name)
  assert.ok(!names.includes('lost'), names.join(', '))
})

test('how much disk a run may fill and how many jobs a project runs is for the operator to say', async (t) => {
  const stack = await shellStack(t, { worker: { diskBytes: 2e6, projectJobs: 1, path: process.env.PATH ?? '' } })
  await stack.add('test.fill', 'dd if=/dev/zero of="$KBC_DATADIR/out/files/big" bs=1000 count=4000 2>/dev/null; sleep 30')
  await stack.add('test.wait', 'while [ ! -e "$HOME/never" ]; do sleep 0.05; done')
  const full = await run(stack, 'test.fill', {})
  assert.match(full.error!.message, /wrote more than 2 MB/)
  const start = async () => (await stack.request('POST', '/queue/test.wait/run', { json: { configData: {} } })).json<Job>()
  const jobs = [await start(), await start()]
  const waitingReason = await until(
    'the second job says why it waits',
    async () => (await stack.request('GET', jobs[1]!.url)).json<Job>().waitingReason,
  )
  assert.match(waitingReason, /the project runs 1 jobs at once/)
  for (const { id } of jobs) await stack.request('POST', `/queue/jobs/${id}/kill`)
})
