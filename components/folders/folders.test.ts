// The two components in a whole stack, as jobs: what they read, what they refuse, and the templates made of them.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { type Job, type ShellStack, shareShellStack } from '../../tests/support/shell-stack.ts'

const home = mkdtempSync(join(tmpdir(), 'millrace-folders-'))
const [inbox, outbox, secret] = ['inbox', 'outbox', 'secret'].map((name) => join(home, name)) as [string, string, string]
for (const folder of [inbox, outbox, secret]) mkdirSync(folder)
writeFileSync(join(secret, 'key.csv'), 'id,name\n9,canary\n')
test.after(() => rmSync(home, { recursive: true, force: true }))
const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, folders: { read: { inbox }, write: { outbox } } } })

async function run(stack: ShellStack, component: string, configData: object): Promise<Job> {
  const job = await stack.request('POST', '/queue/jobs', { json: { component, mode: 'run', configData } })
  assert.equal(job.status, 201, job.text)
  return stack.wait(job.json<Job>())
}

const reading = (parameters: object, table = 'files') => ({
  parameters: { folder: 'inbox', ...parameters },
  storage: { output: { tables: [{ source: `${table}.csv`, destination: `in.c-folder.${table}` }] } },
})
const message = ({ result }: Job): string => JSON.stringify(result)
const rowsOf = async (stack: ShellStack, table: string): Promise<string[]> =>
  (await stack.request('GET', `/v2/storage/tables/${table}/data-preview`)).text.trim().split('\n').sort()

function put(name: string, bytes: string | Uint8Array): void {
  mkdirSync(join(inbox, name, '..'), { recursive: true })
  writeFileSync(join(inbox, name), bytes)
}

test('CSV files of a folder become one table, links and other files stay where they are', async () => {
  const stack = await startProject()
  put('a.csv', '\ufeffid,"na\nme"\n1,one\n')
  put('b.csv', 'id,"na\nme"\r\n2,two')
  put('below/c.csv.gz', gzipSync('id,"na\nme"\n3,three\n'))
  put('empty.csv', '')
  put('notes.txt', 'nothing')
  symlinkSync(join(secret, 'key.csv'), join(inbox, 'link.csv'))
  symlinkSync(secret, join(inbox, 'linked'))
  const job = await run(stack, 'millrace.ex-folder', reading({ pattern: '**/*.csv*' }))
  assert.equal(job.status, 'success', message(job))
  const rows = await rowsOf(stack, 'in.c-folder.files')
  assert.deepEqual(
    rows.filter((row) => /^"[123]"/.test(row)),
    ['"1","one"', '"2","two"', '"3","three"'],
  )
  assert.doesNotMatch(rows.join(), /canary/, 'links are not followed')
})

test('only new files are read when that is wanted', async () => {
  const stack = await startProject()
  for (const name of readdirSync(inbox)) rmSync(join(inbox, name), { recursive: true })
  put('1.csv', 'id\n1\n')
  const at = '/v2/storage/components/millrace.ex-folder/configs'
  const configuration = reading({ newOnly: true, incremental: true })
  await stack.request('POST', at, { json: { name: 'x', configurationId: 'x', configuration } })
  const again = async (): Promise<Job> => {
    const job = await stack.request('POST', '/queue/jobs', {
      json: { component: 'millrace.ex-folder', config: 'x', mode: 'run' },
    })
    return stack.wait(job.json<Job>())
  }
  assert.equal((await again()).status, 'success')
  put('2.csv', 'id\n2\n')
  const second = await again()
  assert.equal(second.status, 'success', message(second))
  assert.deepEqual(await rowsOf(stack, 'in.c-folder.files'), ['"1"', '"2"', '"id"'])
  utimesSync(join(inbox, '1.csv'), new Date(0), new Date(0))
  assert.equal((await again()).status, 'success')
  assert.deepEqual(await rowsOf(stack, 'in.c-folder.files'), ['"1"', '"1"', '"2"', '"id"'], 'a changed file is read again')
})

test('wrong folders, patterns and files are reported with what to do', async () => {
  const stack = await startProject()
  for (const name of readdirSync(inbox)) rmSync(join(inbox, name), { recursive: true })
  put('a.csv', 'id,name\n1,x\n')
  put('b.csv', 'id,other\n1,x\n')
  for (const [parameters, expected] of [
    [{ folder: 'secret' }, /has named inbox/],
    [{ folder: undefined }, /missing; the operator/],
    [{ pattern: '../secret/*.csv' }, /must stay within the folder/],
    [{ pattern: '/etc/*' }, /must stay within the folder/],
    [{ pattern: '*'.repeat(20) }, /more than 8 stars/],
    [{ pattern: '*.csv' }, /b\.csv has other columns/],
    [{ as: 'rows' }, /there are table, files/],
    [{ table: '../x' }, /name of the table/],
    [{ delimiter: ';;' }, /not one character/],
  ] as const) {
    const job = await run(stack, 'millrace.ex-folder', reading(parameters))
    assert.equal(job.status, 'error', JSON.stringify(parameters))
    assert.match(message(job), expected)
  }
  const files = await run(stack, 'millrace.ex-folder', { parameters: { folder: 'inbox', as: 'files', tags: ['mine'] } })
  assert.equal(files.status, 'success', message(files))
  const found = (await stack.request('GET', '/v2/storage/files?tags[]=mine')).json<{ name: string }[]>()
  assert.deepEqual(found.map(({ name }) => name).sort(), ['a.csv', 'b.csv'])
})

test('tables are written whole, and never beyond the folder', async () => {
  const stack = await startProject()
  put('w.csv', 'id\n7\n')
  const read = await run(stack, 'millrace.ex-folder', reading({ pattern: 'w.csv' }))
  assert.equal(read.status, 'success', message(read))
  const writing = (parameters: object) => ({
    parameters: { folder: 'outbox', ...parameters },
    storage: { input: { tables: [{ source: 'in.c-folder.files', destination: 'report.csv' }] } },
  })
  for (const parameters of [{ path: 'daily/reports' }, { path: 'daily/reports' }, { gzip: true }]) {
    const job = await run(stack, 'millrace.wr-folder', writing(parameters))
    assert.equal(job.status, 'success', message(job))
  }
  assert.equal(readFileSync(join(outbox, 'daily/reports/report.csv'), 'utf8'), '"id"\n"7"\n')
  assert.equal(gunzipSync(readFileSync(join(outbox, 'report.csv.gz'))).toString(), '"id"\n"7"\n')
  assert.deepEqual(readdirSync(outbox).sort(), ['daily', 'report.csv.gz'], 'no part of a file is left')
  symlinkSync(secret, join(outbox, 'elsewhere'))
  for (const [parameters, expected] of [
    [{ path: '../secret' }, /must stay within the folder/],
    [{ path: 'elsewhere' }, /Links are not followed/],
    [{ folder: 'inbox' }, /has named outbox/],
  ] as const) {
    const job = await run(stack, 'millrace.wr-folder', writing(parameters))
    assert.equal(job.status, 'error', JSON.stringify(parameters))
    assert.match(message(job), expected)
  }
  assert.deepEqual(readdirSync(secret), ['key.csv'])
})

test('the templates of folders work: files become a table, an API becomes a file', async () => {
  const stack = await startProject()
  for (const name of readdirSync(inbox)) rmSync(join(inbox, name), { recursive: true })
  put('a.csv', 'id\n1\n')
  const use = async (
    template: string,
    steps: readonly object[],
  ): Promise<{ outputs: { instanceId: string; configId: string }; job: Job }> => {
    const address = `/templates/v1/repositories/millrace/templates/${template}/default/use`
    const answer = await stack.request('POST', address, { json: { name: 'Mine', steps } })
    assert.equal(answer.status, 202, answer.text)
    const { outputs } = answer.json<{
      outputs: { instanceId: string; configId: string; configurations: { componentId: string; configurationId: string }[] }
    }>()
    const { componentId } = outputs.configurations.find(({ configurationId }) => configurationId === outputs.configId)!
    const job = await stack.request('POST', '/queue/jobs', { json: { component: componentId, config: outputs.configId } })
    return { outputs, job: await stack.wait(job.json<Job>()) }
  }
  const files = await use('folder-files', [{ id: 'source', inputs: [{ id: 'folder', value: 'inbox' }] }])
  assert.equal(files.job.status, 'success', message(files.job))
  assert.deepEqual(await rowsOf(stack, `in.c-template-${files.outputs.instanceId}.files`), ['"1"', '"id"'])
  const exported = await use('shop-export', [
    { id: 'source', inputs: [{ id: 'password', value: 'lovelace' }] },
    {
      id: 'target',
      inputs: [
        { id: 'folder', value: 'outbox' },
        { id: 'path', value: 'shop' },
      ],
    },
  ])
  assert.equal(exported.job.status, 'success', message(exported.job))
  assert.match(readFileSync(join(outbox, 'shop/report.csv'), 'utf8'), /^"customer","orders","revenue"\n"\d+"/)
})
