import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { shareTestStack } from '../../../tests/support/test-stack.ts'
import { lineDiff } from '../line-diff.ts'

const C = 'keboola.ex-generic-v2'
const CONFIGS = `/v2/storage/components/${C}/configs`

const startProject = shareTestStack()

async function start(t: TestContext) {
  const stack = await startProject()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const run = async (args: readonly string[], { code = 0, input = '', env = {} } = {}) => {
    const result = await runCli(args, { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken, ...env }, { input })
    assert.equal(result.code, code, `millrace ${args.join(' ')}\n${result.out}${result.err}`)
    return result
  }
  return { ...stack, folder, run }
}

const filesIn = async (folder: string): Promise<Record<string, string>> => {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const paths = names.map((entry) => join(entry.parentPath, entry.name)).sort()
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'utf8')])),
  )
}

test('configurations are created, changed, shown, rolled back, copied and compared', async (t) => {
  const { run, folder } = await start(t)
  const file = join(folder, 'c.json')
  await writeFile(file, '{"parameters":{"10":1.10,"2":12345678901234567890,"#s":"canary"}}')
  const made = (await run(['config', 'create', C, '--name', 'N', '--id', 'mine', '--file', file, '--json'])).json<{
    version: number
  }>()
  assert.equal(made.version, 1)
  await run(['config', 'update', C, 'mine', '--file', '-', '--message', 'm'], { input: '{"parameters":{"a":2}}' })
  const stale = await run(['config', 'update', C, 'mine', '--name', 'X', '--if-version', '1'], { code: 1 })
  assert.match(stale.err, /version 2, not 1/)
  const shown = await run(['config', 'show', C, 'mine', '--version-id', '1'])
  assert.match(shown.out, /"10": 1\.10,\n\s+"2": 12345678901234567890/)
  assert.ok(!shown.out.includes('canary'))
  const diff = await run(['config', 'diff', C, 'mine', '1', '2'])
  assert.match(diff.out, /^- {7}"10": 1\.10,$/m)
  assert.match(diff.out, /^\+ {7}"a": 2$/m)
  assert.equal((await run(['config', 'rollback', C, 'mine', '1', '--json'])).json<{ version: string }>().version, '3')
  assert.equal((await run(['config', 'diff', C, 'mine', '1', '3'])).out, 'no difference\n')
  const copy = (await run(['config', 'copy', C, 'mine', '1', '--name', 'copy', '--json'])).json<{ id: string }>()
  const list = (await run(['config', 'list', '--json'])).json<{ id: string; name: string }[]>()
  assert.deepEqual(
    list.map((one) => [one.id, one.name]),
    [
      ['mine', 'N'],
      [copy.id, 'copy'],
    ],
  )
  assert.match((await run(['config', 'list', C])).out, /^COMPONENT +ID +NAME/)
  assert.match((await run(['config', 'show', C, 'none'], { code: 1 })).err, /Configuration "none" not found/)
})

test('a configuration of any depth is pulled as it is and pushed back without a change', async (t) => {
  const { run, folder } = await start(t)
  for (const depth of [99, 100, 101, 250]) {
    const text = `{"parameters":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`
    await run(['config', 'create', C, '--name', 'deep', '--id', `d${depth}`, '--file', '-'], { input: text })
  }
  await run(['config', 'pull', folder])
  for (const depth of [99, 100, 101, 250]) {
    const pulled = JSON.parse(await readFile(join(folder, C, `d${depth}`, 'configuration.json'), 'utf8')) as object
    assert.equal(JSON.stringify(pulled).split('"a"').length - 1, depth)
  }
  assert.match((await run(['config', 'push', folder])).out, /^0 changes/m)
})

test('a pulled folder is deterministic, and pushing it back changes nothing', async (t) => {
  const { run, folder, request } = await start(t)
  const text = '{"z":{},"10":[],"2":1.10,"#s":"canary-pull"}'
  await request('POST', CONFIGS, {
    body: `{"name":"a","configurationId":"a","configuration":${text}}`,
    headers: { 'content-type': 'application/json' },
  })
  for (const rowId of ['r2', 'r1']) await request('POST', `${CONFIGS}/a/rows`, { json: { rowId, configuration: { rowId } } })
  await request('PUT', `${CONFIGS}/a`, { json: { rowsSortOrder: ['r2', 'r1'] } })
  const [one, two] = [join(folder, 'one'), join(folder, 'two')]
  await run(['config', 'pull', one])
  await run(['config', 'pull', two])
  const files = await filesIn(one)
  assert.deepEqual(files, await filesIn(two))
  assert.deepEqual(Object.keys(files), [
    '.millrace.json',
    `${C}/a/configuration.json`,
    `${C}/a/rows/r1.json`,
    `${C}/a/rows/r2.json`,
  ])
  assert.match(
    files[`${C}/a/configuration.json`] ?? '',
    /"z": \{\},\n {4}"10": \[\],\n {4}"2": 1\.10,\n {4}"#s": "KBC::ProjectSecure::/,
  )
  assert.match((await run(['config', 'push', one])).out, /^0 changes done/)
  assert.equal((await run(['config', 'pull', one, '--json'])).json<{ changedFiles: number }>().changedFiles, 0)
})

test('a push shows its plan, makes, changes and deletes, and refuses to overwrite newer work', async (t) => {
  const { run, folder, request } = await start(t)
  for (const id of ['kept', 'gone'])
    await request('POST', CONFIGS, { json: { name: id, configurationId: id, configuration: { v: 1 } } })
  await request('POST', `${CONFIGS}/kept/rows`, { json: { rowId: 'old' } })
  await run(['config', 'pull', folder])
  await rm(join(folder, C, 'gone'), { recursive: true })
  await rm(join(folder, C, 'kept', 'rows'), { recursive: true })
  const place = join(folder, C, 'kept', 'configuration.json')
  await writeFile(place, (await readFile(place, 'utf8')).replace('"v": 1', '"v": 2, "#s": "canary-push"'))
  const fresh = join(folder, C, 'fresh')
  await mkdir(join(fresh, 'rows'), { recursive: true })
  await writeFile(
    join(fresh, 'configuration.json'),
    '{"name":"fresh","configuration":{"n":12345678901234567890},"rowsSortOrder":["b","a"]}',
  )
  for (const row of ['a', 'b']) await writeFile(join(fresh, 'rows', `${row}.json`), '{"name":"row","configuration":{}}')

  const plan = (await run(['config', 'push', folder, '--plan', '--json'])).json<{ plan: string[]; isApplied: boolean }>()
  assert.deepEqual(plan, {
    plan: [`+ ${C}/fresh "fresh" with 2 rows`, `~ ${C}/kept: configuration; rows gone old`, `- ${C}/gone "gone"`],
    isApplied: false,
  })
  assert.equal((await request('GET', `${CONFIGS}/fresh`)).status, 404)

  await request('PUT', `${CONFIGS}/kept`, { json: { description: 'changed by somebody' } })
  const conflict = await run(['config', 'push', folder], { code: 1 })
  assert.match(conflict.err, /! keboola\.ex-generic-v2\/kept/)
  assert.match(conflict.err, /changed on the stack since the pull/)
  await run(['config', 'push', folder, '--force'])
  const made = await request('GET', `${CONFIGS}/fresh`)
  assert.ok(made.text.includes('"configuration":{"n":12345678901234567890}'))
  assert.deepEqual(
    made.json<{ rows: { id: string }[] }>().rows.map((row) => row.id),
    ['b', 'a'],
  )
  assert.equal((await request('GET', `${CONFIGS}/gone`)).status, 404)
  const files = await filesIn(folder)
  assert.ok(!JSON.stringify(files).includes('canary-push'), 'after a push the folder holds ciphers')
  assert.match((await run(['config', 'push', folder, '--plan'])).out, /^0 changes planned/)
})

test('ids that are no names of files are pulled and pushed like all others', async (t) => {
  const { run, folder, request } = await start(t)
  const ids = ['a b', 'ž漢', 'a\\b', '漢'.repeat(100), 'Shop', 'shop', '.hidden', '100%']
  for (const configurationId of ids) {
    const made = await request('POST', CONFIGS, { json: { name: 'n', configurationId, configuration: { v: 1 } } })
    assert.equal(made.status, 201, made.text)
  }
  const row = await request('POST', `${CONFIGS}/shop/rows`, { json: { rowId: 'r', configuration: { v: 1 } } })
  assert.equal(row.status, 201, row.text)
  await run(['config', 'pull', folder])
  const names = (await readdir(join(folder, C))).sort()
  assert.equal(names.length, ids.length)
  assert.ok(names.includes('shop') && names.includes('%53hop') && names.includes('a%20b') && names.includes('a%5Cb'))
  assert.match((await run(['config', 'push', folder, '--plan'])).out, /^0 changes planned/)
  const files = Object.keys(await filesIn(folder)).filter(
    (file) => file.endsWith('configuration.json') || file.endsWith('r.json'),
  )
  for (const file of files) {
    const text = await readFile(join(folder, file), 'utf8')
    await writeFile(join(folder, file), text.replace('"v": 1', '"v": 2'))
  }
  assert.match((await run(['config', 'push', folder])).out, /^8 changes done/)
  for (const id of ids) {
    const { configuration } = (await request('GET', `${CONFIGS}/${encodeURIComponent(id)}`)).json<{ configuration: object }>()
    assert.deepEqual(configuration, { v: 2 }, id)
    assert.match((await run(['config', 'show', C, id])).out, /"v": 2/)
  }
  await rm(join(folder, C, 'a%5Cb'), { recursive: true })
  assert.match((await run(['config', 'push', folder])).out, /^1 changes done/)
  assert.equal((await request('GET', `${CONFIGS}/a%5Cb`)).status, 404)
})

test('a pull does not follow links out of its folder', async (t) => {
  const { run, folder, request } = await start(t)
  await request('POST', CONFIGS, { json: { name: 'a', configurationId: 'a' } })
  const [inside, outside] = [join(folder, 'inside'), join(folder, 'outside')]
  for (const place of [inside, join(outside, 'a/rows')]) await mkdir(place, { recursive: true })
  await writeFile(join(outside, 'a/rows/kept.json'), '{}')
  await symlink(outside, join(inside, C))
  assert.match((await run(['config', 'pull', inside], { code: 1 })).err, /is a link to another folder/)
  assert.deepEqual(Object.keys(await filesIn(outside)), ['a/rows/kept.json'])
})

test('a push of a folder without configurations is refused', async (t) => {
  const { run, folder } = await start(t)
  assert.match((await run(['config', 'push', join(folder, 'none')], { code: 1 })).err, /none holds no configurations\./)
  assert.match((await run(['config', 'push', folder, '--plan'], { code: 1 })).err, /holds no configurations/)
  await writeFile(join(folder, 'file'), '')
  assert.match((await run(['config', 'push', join(folder, 'file')], { code: 1 })).err, /file is not a folder/)
})

test('a folder that cannot be read says which file', async (t) => {
  const { run, folder, request } = await start(t)
  await request('POST', CONFIGS, { json: { name: 'a', configurationId: 'a' } })
  await run(['config', 'pull', folder])
  await writeFile(join(folder, C, 'a', 'configuration.json'), '{"name": ')
  assert.match(
    (await run(['config', 'push', folder], { code: 1 })).err,
    /a\/configuration\.json cannot be used: it is not valid JSON/,
  )
})

test('secrets are encrypted from standard input, and the root key rotates beside a running stack', async (t) => {
  const { run, request, dataDir, projectId } = await start(t)
  const cipher = (await run(['encrypt', '--component', C, '--project', String(projectId)], { input: 'canary-cli\n' })).out.trim()
  assert.match(cipher, /^KBC::ProjectSecure::/)
  assert.match((await run(['encrypt', '--document'], { input: '{"#a":"b","c":1}' })).out, /^\{"#a":"KBC::Secure::[^"]+","c":1\}/)
  await request('POST', CONFIGS, { json: { name: 'a', configurationId: 'a', configuration: { '#s': cipher } } })
  const before = await readFile(join(dataDir, 'root-keys'), 'utf8')
  await run(['encryption', 'rotate'], { env: { MILLRACE_DATA_DIR: dataDir } })
  assert.notEqual(await readFile(join(dataDir, 'root-keys'), 'utf8'), before)
  const again = await request('PUT', `${CONFIGS}/a`, { json: { configuration: { '#s': 'canary-cli' } } })
  assert.equal(again.json<{ version: number }>().version, 1, 'the stored cipher still opens')
})

test('a diff keeps the lines around a change and leaves out the rest', () => {
  const lines = Array.from({ length: 20 }, (_, i) => `line ${i}`)
  const changed = lines.with(10, 'other')
  assert.equal(
    lineDiff(lines.join('\n'), changed.join('\n')),
    ['  line 7', '  line 8', '  line 9', '- line 10', '+ other', '  line 11', '  line 12', '  line 13'].join('\n'),
  )
  assert.equal(lineDiff('a\nb', 'a\nb'), '')
  assert.equal(lineDiff('a\nb\nc', 'a\nx\nb\ny\nc').replaceAll(/^ .*\n?/gm, ''), '+ x\n+ y\n')
})

test('a dry run shows what a SQL transformation would do, with its variables put in', async (t) => {
  const { run, request } = await start(t)
  const configure = async (component: string, configuration: object, id: string) => {
    const made = await request('POST', `/v2/storage/components/${component}/configs`, {
      json: { name: id, configurationId: id, configuration },
    })
    assert.equal(made.status, 201, made.text)
  }
  await configure('keboola.variables', { variables: [{ name: 'n', type: 'string' }] }, 'v')
  const values = await request('POST', '/v2/storage/components/keboola.variables/configs/v/rows', {
    json: { rowId: 'w', name: 'w', configuration: { values: [{ name: 'n', value: '7' }] } },
  })
  assert.equal(values.status, 201, values.text)
  const script = ['CREATE TABLE t AS SELECT {{ n }} AS number;']
  const storage = { output: { tables: [{ source: 't', destination: 'out.c-main.t' }] } }
  await configure(
    'keboola.duckdb-transformation',
    {
      parameters: { blocks: [{ name: 'B', codes: [{ name: 'C', script }] }] },
      storage,
      variables_id: 'v',
      variables_values_id: 'w',
    },
    'sums',
  )
  const { out } = await run(['config', 'dry-run', 'keboola.duckdb-transformation', 'sums', '--no-plans'])
  assert.equal(
    out,
    'B / C / 1: CREATE TABLE t AS SELECT 7 AS number\n  number INTEGER\nt becomes out.c-main.t:\n  number INTEGER\nnothing was run\n',
  )
  assert.match((await run(['config', 'dry-run', 'keboola.duckdb-transformation', 'sums'])).out, /CREATE_TABLE_AS/)
  assert.match((await run(['config', 'dry-run', 'keboola.duckdb-transformation', 'none'], { code: 1 })).err, /none/)
})
