import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { createDataFolder } from './data-folder.ts'
import { turnYamlToJson, yamlOf } from './yaml-files.ts'

async function openFolder(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'millrace-yaml-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const folder = await createDataFolder(join(root, 'run'))
  return {
    folder,
    root,
    write: (path: string, text: string) => writeFile(join(folder.data, path), text),
    read: (path: string) => readFile(join(folder.data, path), 'utf8'),
  }
}

test('what a YAML component is given means the same in YAML, of today and of 2005', () => {
  const value = { a: '\u0085 \u2028 \u007f é 😀 "q" \\ / \n', 'key: #': [1, 1.5, true, null, {}, []], big: 9 }
  for (const json of [JSON.stringify(value), JSON.stringify(value).replace('😀', '\\ud83d\\ude00').replace('/', '\\/')]) {
    for (const version of ['1.1', '1.2'] as const) assert.deepEqual(parse(yamlOf(json), { version }), value)
    assert.doesNotMatch(yamlOf(json), /[\x7f-\x9f\u2028]|\\ud83d|\\\//)
  }
  assert.equal(yamlOf('{"n":12345678901234567890,"e":1.10}'), '{"n":12345678901234567890,"e":1.10}')
})

test('what it wrote is JSON afterwards: manifests, state, usage, result', async (t) => {
  const { folder, write, read } = await openFolder(t)
  await write('out/tables/t.csv', 'a\n1\n')
  await write('out/tables/t.csv.manifest', 'incremental: yes\nprimary_key:\n  - id\n')
  await write('out/files/f.manifest', '{"tags":["x"]}')
  await write('out/state.yml', 'last: 12345678901234567890\nwhen: 2026-01-02\n"#key": s\n')
  await write('out/usage.yml', '- metric: rows\n  value: 3\n')
  await write('out/result.yml', '')
  await turnYamlToJson(folder)
  assert.equal(await read('out/tables/t.csv.manifest'), '{"incremental":"yes","primary_key":["id"]}')
  assert.equal(await read('out/files/f.manifest'), '{"tags":["x"]}')
  assert.equal(await read('out/state.json'), '{"last":12345678901234567890,"when":"2026-01-02","#key":"s"}')
  assert.equal(await read('out/usage.json'), '[{"metric":"rows","value":3}]')
  assert.equal(await read('out/result.json'), '')
  assert.equal(await read('out/tables/t.csv'), 'a\n1\n')
})

test('broken YAML is named, a bomb is refused, and nothing is written through a link', async (t) => {
  const { folder, root, write } = await openFolder(t)
  await write('out/state.yml', 'a: [1\n')
  await assert.rejects(turnYamlToJson(folder), { code: 'runner.invalidYaml', message: /out\/state\.yml/ })
  const level = (n: number) =>
    `l${n}: &l${n} [${Array(9)
      .fill(`*l${n - 1}`)
      .join(', ')}]`
  await write('out/state.yml', ['l0: &l0 x', ...Array.from({ length: 9 }, (_, n) => level(n + 1))].join('\n'))
  await assert.rejects(turnYamlToJson(folder), { code: 'runner.invalidYaml' })
  await writeFile(join(root, 'outside'), 'safe')
  await symlink(join(root, 'outside'), join(folder.data, 'out/state.json'))
  await write('out/state.yml', 'a: 1\n')
  await turnYamlToJson(folder)
  assert.equal(await readFile(join(root, 'outside'), 'utf8'), 'safe')
})
