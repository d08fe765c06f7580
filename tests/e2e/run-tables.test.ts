// Jobs over HTTP only: tables in, tables out, processors, state, what is refused.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { type Job, type ShellStack, shareShellStack, shellStack } from '../support/shell-stack.ts'

const startProject = shareShellStack()

interface Loaded {
  readonly id: string
  readonly importedRowsCount: number
  readonly columns: readonly { readonly name: string }[]
}

async function preview(stack: ShellStack, table: string): Promise<string[]> {
  const answer = await stack.request('GET', `/v2/storage/tables/${table}/data-preview`)
  assert.equal(answer.status, 200, answer.text)
  return answer.text.trim().split('\n').sort()
}

async function run(stack: ShellStack, component: string, config: string, more: object = {}): Promise<Job> {
  const answer = await stack.request('POST', `/queue/${component}/run`, { json: { config, ...more } })
  assert.equal(answer.status, 202, answer.text)
  return stack.wait(answer.json<Job>())
}

const outputsOf = (job: Job): readonly Loaded[] =>
  (job.result as unknown as { output: { tables: readonly Loaded[] } }).output.tables

test('what a component writes becomes a table in its default bucket, and the next run reads it', async () => {
  const stack = await startProject()
  await stack.add('test.make', 'printf \'"id","name"\\n"1","a"\\n"2","b ""q"""\\n\' > "$KBC_DATADIR/out/tables/people.csv"', {
    default_bucket: true,
  })
  await stack.add(
    'test.read',
    'cat "$KBC_DATADIR/in/tables/p.csv"; echo; grep -o \'"columns":[^]]*]\' "$KBC_DATADIR/in/tables/p.csv.manifest"',
  )
  const maker = await stack.configure('test.make', {})
  const made = await run(stack, 'test.make', maker)
  assert.equal(made.status, 'success', JSON.stringify(made))
  const table = `in.c-test-make-${maker}.people`
  assert.deepEqual(outputsOf(made), [
    { id: table, name: 'people', displayName: 'people', columns: [{ name: 'id' }, { name: 'name' }], importedRowsCount: 2 },
  ])
  assert.deepEqual(await preview(stack, table), ['"1","a"', '"2","b ""q"""', '"id","name"'])
  const detail = (await stack.request('GET', `/v2/storage/tables/${table}?include=metadata`)).json<{
    metadata: { key: string; value: string; provider: string }[]
  }>()
  assert.ok(
    detail.metadata.some(
      ({ key, value, provider }) => key === 'KBC.createdBy.component.id' && value === 'test.make' && provider === 'system',
    ),
  )
  const bucket = (await stack.request('GET', `/v2/storage/buckets/in.c-test-make-${maker}/metadata`)).json<
    { key: string; value: string; provider: string }[]
  >()
  const [branch] = (await stack.request('GET', '/v2/storage/dev-branches')).json<{ id: number }[]>()
  assert.deepEqual(
    bucket.map(({ key, value, provider }) => [key, value, provider]),
    [
      ['KBC.createdBy.component.id', 'test.make', 'system'],
      ['KBC.createdBy.configuration.id', maker, 'system'],
      ['KBC.createdBy.branch.id', String(branch!.id), 'system'],
    ],
  )

  const reader = await stack.configure('test.read', {
    storage: {
      input: {
        tables: [{ source: table, destination: 'p.csv', columns: ['name', 'id'], where_column: 'id', where_values: ['2'] }],
      },
    },
  })
  const read = await run(stack, 'test.read', reader)
  assert.equal(read.status, 'success', JSON.stringify(read))
  const said = (await stack.request('GET', `/queue/jobs/${read.id}/events`))
    .json<{ message: string }[]>()
    .map(({ message }) => message)
  assert.ok(
    said.includes('"name","id"') && said.includes('"b ""q""","2"') && said.includes('"columns":["name","id"]'),
    said.join('\n'),
  )
})

test('the manifest of an input table describes the columns of its file, in their order', async () => {
  const stack = await startProject()
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'main' } })
  const columns = ['id', 'n', 'at'].map((name, i) => ({ name, basetype: ['INTEGER', 'NUMERIC', 'DATE'][i] }))
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', {
    json: { name: 'typed', primaryKeysNames: ['id'], columns },
  })
  await stack.wait(made.json<Job>())
  await stack.add('test.show', 'cat "$KBC_DATADIR/in/tables/t.manifest"')
  const source = 'in.c-main.typed'
  const config = await stack.configure('test.show', {
    storage: { input: { tables: [{ source, destination: 't', columns: ['at', 'id'] }] } },
  })
  const job = await run(stack, 'test.show', config)
  const said = (await stack.request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string }[]>()
  const manifest = JSON.parse(said.find(({ message }) => message.startsWith('{'))?.message ?? '{}') as Record<string, unknown> // written by the runner
  assert.deepEqual(manifest.columns, ['at', 'id'])
  assert.deepEqual(manifest.schema, [
    { name: 'at', data_type: { base: { type: 'DATE' } }, nullable: true, primary_key: false },
    { name: 'id', data_type: { base: { type: 'INTEGER' } }, nullable: false, primary_key: true },
  ])
  const { indexed_columns, rows_count, is_alias, attributes } = manifest
  assert.deepEqual(
    { indexed_columns, rows_count, is_alias, attributes },
    {
      indexed_columns: ['id'],
      rows_count: 0,
      is_alias: false,
      attributes: [],
    },
  )
})

test('a packed table is read like a plain one, and a damaged one is named', async () => {
  const stack = await startProject()
  const script = `cd "$KBC_DATADIR/out/tables"; printf 'id,name\\n1,a\\n' | gzip > people.csv.gz; [ "$KBC_CONFIGROWID" != 2-cut ] || truncate -s 15 people.csv.gz`
  await stack.add('test.packed', script, { default_bucket: true })
  const rows = ['1-whole', '2-cut'].map((id) => ({ rowId: id, name: id, configuration: '{}' }))
  const config = await stack.configure('test.packed', {}, rows)
  const job = await run(stack, 'test.packed', config)
  assert.equal(job.error?.message, 'The results cannot be stored: people.csv.gz is not a whole gzip file.')
  assert.equal(job.result.error?.type, 'user')
  assert.deepEqual(await preview(stack, `in.c-test-packed-${config}.people_csv_gz`), ['"1","a"', '"id","name"'])
})

test('the outputs of a row are in the project before the next row starts', async () => {
  const stack = await startProject()
  await stack.add(
    'test.chain',
    'if [ -f "$KBC_DATADIR/in/tables/before" ]; then cp "$KBC_DATADIR/in/tables/before" "$KBC_DATADIR/out/tables/after"; else printf "n\\n1\\n" > "$KBC_DATADIR/out/tables/first"; fi',
  )
  const rows = [
    {
      rowId: 'one',
      name: 'one',
      configuration: JSON.stringify({ storage: { output: { tables: [{ source: 'first', destination: 'in.c-chain.first' }] } } }),
    },
    {
      rowId: 'two',
      name: 'two',
      configuration: JSON.stringify({
        storage: {
          input: { tables: [{ source: 'in.c-chain.first', destination: 'before' }] },
          output: { tables: [{ source: 'after', destination: 'out.c-chain.second' }] },
        },
      }),
    },
  ]
  const config = await stack.configure('test.chain', {}, rows)
  const job = await run(stack, 'test.chain', config)
  assert.equal(job.status, 'success', JSON.stringify(job))
  assert.deepEqual(await preview(stack, 'out.c-chain.second'), ['"1"', '"n"'])
})

test('manifests: incremental by key, columns, slices in gzip, metadata, delete rules', async () => {
  const stack = await startProject()
  await stack.add(
    'test.load',
    `printf '1,a\\n2,b\\n' > "$KBC_DATADIR/out/tables/t"
     echo '{"columns":["id","v"],"primary_key":["id"],"incremental":true,"destination":"t","metadata":[{"key":"k","value":"m"}],"column_metadata":{"v":[{"key":"c","value":"d"}]}}' > "$KBC_DATADIR/out/tables/t.manifest"
     mkdir "$KBC_DATADIR/out/tables/s"; printf 'x;1\\n' | gzip > "$KBC_DATADIR/out/tables/s/1.gz"; printf 'y;2\\n' > "$KBC_DATADIR/out/tables/s/2"
     echo '{"columns":["l","n"],"delimiter":";"}' > "$KBC_DATADIR/out/tables/s.manifest"`,
    { default_bucket: true },
  )
  await stack.add(
    'test.more',
    `printf '"id","v","new column"\\n"2","changed","x"\\n"3","c","y"\\n' > "$KBC_DATADIR/out/tables/t"
     echo '{"incremental":true,"delete_where":[{"where_filters":[{"column":"id","values_from_set":["1"]}]}]}' > "$KBC_DATADIR/out/tables/t.manifest"`,
  )
  const config = await stack.configure('test.load', {})
  const first = await run(stack, 'test.load', config)
  assert.equal(first.status, 'success', JSON.stringify(first))
  const bucket = `in.c-test-load-${config}`
  assert.deepEqual(await preview(stack, `${bucket}.t`), ['"1","a"', '"2","b"', '"id","v"'])
  assert.deepEqual(await preview(stack, `${bucket}.s`), ['"l","n"', '"x","1"', '"y","2"'])
  const more = await stack.configure('test.more', {
    storage: { output: { tables: [{ source: 't', destination: `${bucket}.t` }] } },
  })
  const second = await run(stack, 'test.more', more)
  assert.equal(second.status, 'success', JSON.stringify(second))
  assert.deepEqual(await preview(stack, `${bucket}.t`), ['"2","changed","x"', '"3","c","y"', '"id","v","new_column"'])
  const detail = (await stack.request('GET', `/v2/storage/tables/${bucket}.t?include=metadata,columnMetadata`)).json<{
    primaryKey: string[]
    metadata: { key: string; provider: string }[]
    columnMetadata: Record<string, { key: string }[]>
  }>()
  assert.deepEqual(detail.primaryKey, ['id'])
  assert.ok(detail.metadata.some(({ key, provider }) => key === 'k' && provider === 'test.load'))
  assert.deepEqual(
    detail.columnMetadata.v?.map(({ key }) => key),
    ['c'],
  )
})

test('a row whose tables cannot all be loaded publishes none of them, nor its state', async () => {
  const stack = await startProject()
  await stack.add(
    'test.ragged',
    `printf 'a,b\\n1,2\\n' > "$KBC_DATADIR/out/tables/good"; printf 'a,b\\n1\\n' > "$KBC_DATADIR/out/tables/ragged"; printf 'a,b\\n"1,2\\n' > "$KBC_DATADIR/out/tables/torn"
     echo '{"x":1}' > "$KBC_DATADIR/out/state.json"`,
    { default_bucket: true },
  )
  const config = await stack.configure('test.ragged', {})
  const job = await run(stack, 'test.ragged', config)
  assert.equal(job.status, 'error')
  assert.match(job.error!.message, /ragged/)
  assert.match(job.error!.message, /torn/)
  assert.equal((await stack.request('GET', `/v2/storage/tables/in.c-test-ragged-${config}.good`)).status, 404)
  assert.deepEqual(
    (await stack.request('GET', `/v2/storage/components/test.ragged/configs/${config}`)).json<{ state: object }>().state,
    {},
  )
})

test('write_always keeps its table from a failed run; the others are not written', async () => {
  const stack = await startProject()
  await stack.add(
    'test.log',
    'printf "l\\n1\\n" > "$KBC_DATADIR/out/tables/log"; cp "$KBC_DATADIR/out/tables/log" "$KBC_DATADIR/out/tables/other"; echo bad >&2; exit 1',
    { default_bucket: true },
  )
  const config = await stack.configure('test.log', {
    storage: {
      output: {
        tables: [
          { source: 'log', destination: 'in.c-log.log', write_always: true },
          { source: 'other', destination: 'in.c-log.other' },
        ],
      },
    },
  })
  assert.equal((await run(stack, 'test.log', config)).error?.message, 'bad')
  assert.deepEqual(await preview(stack, 'in.c-log.log'), ['"1"', '"l"'])
  assert.equal((await stack.request('GET', '/v2/storage/tables/in.c-log.other')).status, 404)
})

test('adaptive inputs bring only what changed since the last successful run', async () => {
  const stack = await startProject()
  await stack.add(
    'test.write',
    'printf "id\\n%s\\n" "$(date +%N)" > "$KBC_DATADIR/out/tables/t"; echo \'{"incremental":true,"destination":"in.c-a.t"}\' > "$KBC_DATADIR/out/tables/t.manifest"',
  )
  await stack.add('test.adapt', 'echo "rows $(tail -n +2 "$KBC_DATADIR/in/tables/t" | wc -l)"')
  const writer = await stack.configure('test.write', {})
  const reader = await stack.configure('test.adapt', {
    storage: { input: { tables: [{ source: 'in.c-a.t', destination: 't', changed_since: 'adaptive' }] } },
  })
  const rowsSeen = async (): Promise<string> => {
    const job = await run(stack, 'test.adapt', reader)
    assert.equal(job.status, 'success', JSON.stringify(job))
    const said = (await stack.request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string }[]>()
    return said.find(({ message }) => message.startsWith('rows '))!.message.replace(/\s+/, ' ')
  }
  await run(stack, 'test.write', writer)
  assert.equal(await rowsSeen(), 'rows 1')
  await run(stack, 'test.write', writer)
  assert.equal(await rowsSeen(), 'rows 1')
})

test('before and after processors work on tables', async () => {
  const stack = await startProject()
  await stack.add('test.raw', 'printf "junk\\nid;v\\n1;a\\n" > "$KBC_DATADIR/out/files/raw.csv"', { default_bucket: true })
  const processor = (name: string, parameters: object) => ({ definition: { component: `keboola.processor-${name}` }, parameters })
  const config = await stack.configure('test.raw', {
    processors: {
      after: [
        processor('move-files', { direction: 'tables' }),
        processor('skip-lines', { lines: 1 }),
        processor('create-manifest', { delimiter: ';', columns_from: 'header', primary_key: ['id'] }),
        processor('skip-lines', { lines: 1 }),
        processor('add-row-number-column', {}),
      ],
    },
  })
  const job = await run(stack, 'test.raw', config)
  assert.equal(job.status, 'success', JSON.stringify(job))
  assert.deepEqual(await preview(stack, `in.c-test-raw-${config}.raw`), ['"1","a","1"', '"id","v","row_number"'])
})

test('wrong inputs and outputs end the job with a sentence', async () => {
  const stack = await startProject()
  await stack.add('test.none', 'true')
  await stack.add('test.odd', 'ln -s /etc/passwd "$KBC_DATADIR/out/tables/t"', { default_bucket: true })
  const failed = async (component: string, configuration: object): Promise<string> =>
    (await run(stack, component, await stack.configure(component, configuration))).error?.message ?? 'it did not fail'
  assert.match(
    await failed('test.none', { storage: { input: { tables: [{ source: 'in.c-no.where' }] } } }),
    /table "in\.c-no\.where" does not exist/,
  )
  assert.match(
    await failed('test.none', { storage: { output: { tables: [{ source: 'x', destination: 'in.c-a.b' }] } } }),
    /did not write: x/,
  )
  assert.match(
    await failed('test.none', { storage: { input: { tables: [{ source: 'a', where_column: 'b' }] } } }),
    /storage\.input\.tables\[0\]/,
  )
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'clash' } })
  await stack.request('POST', '/v2/storage/buckets/in.c-clash/tables', { json: { name: 't', dataString: 'id\n1\n' } })
  const twice = ['a/b', 'a_b'].map((destination) => ({ source: 'in.c-clash.t', destination }))
  assert.match(await failed('test.none', { storage: { input: { tables: twice } } }), /written to the file "a_b"/)
  assert.match(await failed('test.odd', {}), /symbolic link at out\/tables\/t/)
})

test('an image without a container engine, and what a component may not do, end the job with a sentence', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'millrace-path-'))
  t.after(() => rmSync(path, { recursive: true }))
  let aheadMs = 0
  const clock = { now: () => new Date(Date.now() + aheadMs) }
  const stack = await shellStack(t, { worker: { jobs: 4, path, egressAllow: [] }, clock })
  await stack.add('test.image', 'true', { definition: { type: 'dockerhub', uri: 'acme/ex', tag: '3' } })
  await stack.add('test.hungry', `exec ${process.execPath} -e 'const a=[];setInterval(()=>a.push(Buffer.alloc(8e6,1)),5)'`, {
    memory: '128m',
  })
  await stack.add('test.endless', 'while :; do :; done', { process_timeout: 1 })
  const failed = async (component: string): Promise<string> =>
    (await run(stack, component, await stack.configure(component, {}))).error?.message ?? 'it did not fail'
  assert.match(await failed('test.image'), /is an image \(acme\/ex:3\), but neither docker nor podman is running on this stack/)
  assert.match(await failed('test.hungry'), /ran out of memory: more than 128 MB/)
  assert.match(await failed('test.endless'), /exceeded the timeout of 1 seconds/)

  await stack.add('test.app', '', { definition: { type: 'quayio', uri: 'acme/app', tag: '2' } }, { type: 'data-app' })
  const deploy = async (secrets: object) => {
    const json = { name: 'x', componentId: 'test.app', config: { parameters: { dataApp: { secrets } } } }
    const { id, type } = (await stack.request('POST', '/data-science/apps', { json })).json<{ id: string; type: string }>()
    assert.equal(type, 'image')
    return stack.request('PATCH', `/data-science/apps/${id}`, { json: { desiredState: 'running' } })
  }
  const refused = await deploy({ CITY: 'Praha' })
  assert.equal(refused.status, 422, refused.text)
  assert.match(
    refused.text,
    /an image \(quay\.io\/acme\/app:2, of the component test\.app\), but neither docker nor podman is running on this node/,
  )
  const broken = await deploy({ '#KEY': 'two\nlines' })
  assert.equal(broken.status, 400, broken.text)
  assert.match(broken.text, /secrets\.KEY has a line break/)
  writeFileSync(join(path, 'docker'), '#!/bin/sh\n', { mode: 0o755 })
  aheadMs = 60_000 // whether there is an engine is not checked each time
  assert.match(
    (await deploy({})).text,
    /images only run isolated, and this node does not support isolation: MILLRACE_ISOLATION is off/,
  )
})
