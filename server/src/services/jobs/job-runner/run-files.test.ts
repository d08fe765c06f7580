import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import test from 'node:test'
import { inflateRawSync } from 'node:zlib'
import { type Job, shareShellStack } from '../../../../../tests/support/shell-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const startProject = shareShellStack()

interface StoredFile {
  readonly id: number
  readonly name: string
  readonly tags: readonly string[]
  readonly url: string
  readonly maxAgeDays: number | null
  readonly isSliced: boolean
}

/** Texts by name, found through the directory at the end of an archive. */
function unzip(archive: Buffer): Map<string, string> {
  const files = new Map<string, string>()
  for (let at = archive.indexOf('PK\x01\x02', 0, 'latin1'); archive.readUInt32LE(at) === 0x02014b50; ) {
    const [packed, nameLength] = [archive.readUInt32LE(at + 20), archive.readUInt16LE(at + 28)]
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    const header = archive.readUInt32LE(at + 42)
    const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28)
    files.set(name, inflateRawSync(archive.subarray(start, start + packed)).toString())
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  return files
}

const uploader =
  (url: string, token: string) =>
  async (name: string, content: string, tags: readonly string[]): Promise<StoredFile> => {
    const form = new FormData()
    form.append('data', new Blob([content]), name)
    for (const tag of tags) form.append('tags[]', tag)
    const headers = { 'x-storageapi-token': token }
    return (await (await fetch(`${url}/import/upload-file`, { method: 'POST', body: form, headers })).json()) as StoredFile
  }

test('files go in by tag, and what the component writes becomes files with its tags', async () => {
  const { add, configure, request, wait, url, masterToken } = await startProject()
  const upload = uploader(url, masterToken)
  const one = await upload('one.txt', 'first', ['in', 'x'])
  await upload('two.txt', 'second', ['in'])
  await upload('three.txt', 'third', ['in', 'x', 'old'])
  await add(
    'test.files',
    `ls "$KBC_DATADIR/in/files"
     cat "$KBC_DATADIR"/in/files/*_one.txt
     grep -o '"tags":[^]]*' "$KBC_DATADIR"/in/files/*_one.txt.manifest
     echo result > "$KBC_DATADIR/out/files/plain.txt"
     echo other > "$KBC_DATADIR/out/files/mapped.txt"
     mkdir "$KBC_DATADIR/out/files/sliced"; echo a > "$KBC_DATADIR/out/files/sliced/1"; echo b > "$KBC_DATADIR/out/files/sliced/2"
     echo '{"tags":["from-manifest"],"is_permanent":true}' > "$KBC_DATADIR/out/files/plain.txt.manifest"`,
  )
  const tags = [{ name: 'x' }, { name: 'old', match: 'exclude' }]
  const config = await configure('test.files', {
    storage: {
      input: { files: [{ source: { tags }, processed_tags: ['done'] }] },
      output: { files: [{ source: 'mapped.txt', tags: ['from-mapping'] }] },
    },
  })
  const job = await wait((await request('POST', '/queue/test.files/run', { json: { config } })).json<Job>())
  assert.equal(job.status, 'success', JSON.stringify(job))
  const said = (await request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string }[]>().map(({ message }) => message)
  assert.deepEqual(said.slice(1, 4), [`${one.id}_one.txt`, `${one.id}_one.txt.manifest`, 'first"tags":["in","x"'])
  const files = (await request('GET', '/v2/storage/files?limit=100')).json<StoredFile[]>()
  const find = (name: string) => files.find((file) => file.name === name)!
  assert.ok(find('plain.txt').tags.includes('from-manifest'))
  assert.ok(find('plain.txt').tags.includes(`runId: ${job.id}`))
  assert.ok(find('plain.txt').tags.includes(`configurationId: ${config}`))
  assert.equal(find('plain.txt').maxAgeDays, null)
  assert.ok(find('mapped.txt').tags.includes('from-mapping'))
  assert.equal(await (await fetch(find('mapped.txt').url)).text(), 'other\n')
  assert.equal(find('sliced').isSliced, true)
  assert.ok(find('one.txt').tags.includes('done'))
  assert.ok(!find('two.txt').tags.includes('done'))
})

test('a mapped file that the component did not write fails the job and stores nothing', async () => {
  const { add, configure, request, wait } = await startProject()
  await add('test.files', 'echo x > "$KBC_DATADIR/out/files/written"')
  const config = await configure('test.files', {
    storage: { output: { files: [{ source: 'missing-one' }, { source: 'missing-two' }] } },
  })
  const job = await wait((await request('POST', '/queue/test.files/run', { json: { config } })).json<Job>())
  assert.match(job.error!.message, /did not write: missing-one, missing-two/)
  assert.deepEqual((await request('GET', '/v2/storage/files')).json(), [])
})

test('with use_file_storage_only tables are stored as files, and no table is made', async () => {
  const { add, configure, request, wait } = await startProject()
  const script = 'printf "a,b\\n1,2\\n" > "$KBC_DATADIR/out/tables/t.csv"; echo x > "$KBC_DATADIR/out/files/f.txt"'
  await add('test.allowed', script, {}, { features: ['allow-use-file-storage-only'] })
  await add('test.other', script)
  const run = async (component: string) => {
    const config = await configure(component, {
      runtime: { use_file_storage_only: true },
      storage: { output: { table_files: { tags: ['of-a-table'], is_permanent: false } } },
    })
    return wait((await request('POST', `/queue/${component}/run`, { json: { config } })).json<Job>())
  }
  const job = await run('test.allowed')
  assert.equal(job.status, 'success', JSON.stringify(job))
  assert.deepEqual((await request('GET', '/v2/storage/tables')).json(), [])
  const files = (await request('GET', '/v2/storage/files')).json<StoredFile[]>()
  assert.deepEqual(files.map(({ name }) => name).sort(), ['f.txt', 't.csv'])
  const table = files.find(({ name }) => name === 't.csv')!
  assert.ok(table.tags.includes('of-a-table') && table.tags.includes(`runId: ${job.id}`))
  assert.equal(table.maxAgeDays, 15)
  assert.equal(await (await fetch(table.url)).text(), 'a,b\n1,2\n')
  assert.match((await run('test.other')).error!.message, /lacks the feature allow-use-file-storage-only/)
})

test('debug mode keeps the data folder as archives, with secrets hidden, and publishes nothing else', async () => {
  const { add, configure, request, wait } = await startProject()
  const state = '{"a":1,"deep":{"#token":"canary-of-the-state"}}'
  await add('test.files', `echo x > "$KBC_DATADIR/out/files/written"; echo '${state}' > "$KBC_DATADIR/out/state.json"`)
  const config = await configure('test.files', { parameters: { '#key': 'canary-of-debug-mode' } })
  const created = (await request('POST', '/queue/jobs', { json: { component: 'test.files', config, mode: 'debug' } })).json<Job>()
  const job = await wait({ ...created, status: 'waiting' })
  assert.equal(job.status, 'success', JSON.stringify(job))
  const files = (await request('GET', '/v2/storage/files')).json<StoredFile[]>()
  assert.deepEqual(files.map(({ name }) => name).sort(), ['stage_0.zip', 'stage_output.zip'])
  assert.ok(files[0]!.tags.includes(`jobId:${job.id}`) && files[0]!.tags.includes('debug'))
  const contentOf = async (name: string) =>
    unzip(Buffer.from(await (await fetch(files.find((file) => file.name === name)!.url)).arrayBuffer()))
  assert.equal(
    (await contentOf('stage_0.zip')).get('config.json'),
    '{"parameters":{"#key":"[hidden]"},"image_parameters":{},"action":"run"}',
  )
  const output = await contentOf('stage_output.zip')
  assert.equal(output.get('out/state.json')?.trim(), '{"a":1,"deep":{"#token":"[hidden]"}}')
  assert.equal(output.get('out/files/written'), 'x\n')
  const detail = (await request('GET', `/v2/storage/components/test.files/configs/${config}`)).json<{ state: object }>()
  assert.deepEqual(detail.state, {})
})

test('the older debug addresses keep data folders: what a component would be given, and what it would leave', async () => {
  const { add, configure, request, wait } = await startProject()
  const script = 'cp "$KBC_DATADIR/in/tables/t" "$KBC_DATADIR/out/tables/copy"; echo it ran'
  await add('test.copy', script, { default_bucket: true })
  await request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'main' } })
  await request('POST', '/v2/storage/buckets/in.c-main/tables', { json: { name: 'orders', dataString: 'id\n1\n' } })
  const configuration = {
    parameters: { '#key': 'canary-of-an-archive', plain: 1 },
    storage: { input: { tables: [{ source: 'in.c-main.orders', destination: 't' }] } },
    processors: { before: [{ definition: { component: 'keboola.processor-skip-lines' }, parameters: { lines: 1 } }] },
  }
  const config = await configure('test.copy', configuration)
  const archivesOf = async (path: string, json: object) => {
    const answer = await request('POST', `/syrup/docker/${path}`, { json })
    assert.equal(answer.status, 202, answer.text)
    const created = answer.json<{ id: number; url: string; status: string }>()
    assert.deepEqual(Object.keys(created), ['id', 'url', 'status'])
    const job = await wait({ ...created, id: String(created.id) } as Job) // what is polled: url and status
    assert.equal(job.status, 'success', JSON.stringify(job))
    const said = (await request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string }[]>()
    const files = (await request('GET', `/v2/storage/files?tags[]=jobId:${job.id}`)).json<StoredFile[]>()
    const opened = files.map(async ({ name, url }) => [name, unzip(Buffer.from(await (await fetch(url)).arrayBuffer()))] as const)
    return { id: job.id, hasRun: said.some(({ message }) => message === 'it ran'), archives: new Map(await Promise.all(opened)) }
  }

  const input = await archivesOf('test.copy/input', { config })
  assert.deepEqual([[...input.archives.keys()], input.hasRun], [['stage_0.zip'], false])
  const folder = input.archives.get('stage_0.zip')!
  assert.equal(folder.get('in/tables/t'), '"id"\n"1"\n')
  assert.match(folder.get('config.json') ?? '', /"parameters":\{"#key":"\[hidden\]","plain":1\}/)
  assert.ok(folder.has('in/tables/t.manifest') && folder.has('in/state.json'))

  const dry = await archivesOf('test.copy/dry-run', { config })
  assert.deepEqual([[...dry.archives.keys()].sort(), dry.hasRun], [['stage_0.zip', 'stage_1.zip', 'stage_output.zip'], true])
  assert.equal(dry.archives.get('stage_output.zip')!.get('out/tables/copy'), '"1"\n')
  const tables = (await request('GET', '/v2/storage/tables')).json<{ id: string }[]>()
  assert.deepEqual(
    tables.map(({ id }) => id),
    ['in.c-main.orders'],
  )

  const sandbox = await archivesOf('sandbox', { configData: configuration })
  assert.equal(sandbox.archives.get('stage_0.zip')?.get('in/tables/t'), '"id"\n"1"\n')
  const without = await request('POST', '/syrup/docker/sandbox', { json: { config } })
  assert.equal(without.status, 400)
  assert.match(without.text, /configData/)

  const again = await request('POST', `/queue/jobs/${input.id}/rerun`)
  const rerun = await wait({ ...again.json<Job>(), status: 'waiting' })
  const archives = (await request('GET', `/v2/storage/files?tags[]=jobId:${rerun.id}`)).json<StoredFile[]>()
  assert.deepEqual(
    archives.map(({ name }) => name),
    ['stage_0.zip'],
  )
})

test('a run that read a file succeeds also when the file is deleted before it can be tagged', async () => {
  const { add, configure, request, wait, url, masterToken, dataDir } = await startProject()
  const gone = await uploader(url, masterToken)('gone.txt', 'x', ['in'])
  const kept = await uploader(url, masterToken)('kept.txt', 'y', ['in'])
  await add('test.files', `touch ${dataDir}/reads; until [ -e ${dataDir}/go ]; do sleep 0.05; done`)
  const config = await configure('test.files', { storage: { input: { files: [{ tags: ['in'], processed_tags: ['done'] }] } } })
  const job = (await request('POST', '/queue/test.files/run', { json: { config } })).json<Job>()
  await until('the component runs', () => existsSync(`${dataDir}/reads`))
  assert.equal((await request('DELETE', `/v2/storage/files/${gone.id}`)).status, 204)
  writeFileSync(`${dataDir}/go`, '')
  const ended = await wait(job)
  assert.equal(ended.status, 'success', JSON.stringify(ended))
  const { tags } = (await request('GET', `/v2/storage/files/${kept.id}`)).json<StoredFile>()
  assert.ok(tags.includes('done'))
})

test('an adaptive mapping leaves no new file out, however many there are', async () => {
  const { add, configure, request, wait, url, masterToken } = await startProject()
  for (let i = 0; i < 12; i++) await uploader(url, masterToken)(`f${i}.txt`, 'x', ['in'])
  await add('test.files', 'ls "$KBC_DATADIR/in/files" | grep -c "txt$"')
  const config = await configure('test.files', { storage: { input: { files: [{ tags: ['in'], changed_since: 'adaptive' }] } } })
  const read = async () => {
    const job = await wait((await request('POST', '/queue/test.files/run', { json: { config } })).json<Job>())
    return (await request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string }[]>()[1]?.message
  }
  assert.equal(await read(), '12')
})

test('a file that is named and does not exist is named in the error', async () => {
  const { add, configure, request, wait } = await startProject()
  await add('test.files', 'true')
  const config = await configure('test.files', { storage: { input: { files: [{ file_ids: [987] }] } } })
  const job = await wait((await request('POST', '/queue/test.files/run', { json: { config } })).json<Job>())
  assert.match(job.error!.message, /the file 987 does not exist/)
})
