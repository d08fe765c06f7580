import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { shellStack } from '../../../tests/support/shell-stack.ts'

async function inFolder(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-component-'))
  t.after(() => rm(folder, { recursive: true }))
  const run = (args: string) => runCli(args.split(' '), { PATH: process.env.PATH ?? '' }, { cwd: folder })
  return { folder, run }
}

for (const language of ['node', 'python']) {
  test(`a new component in ${language} is valid, runs on its folder without a stack, and runs on a stack`, async (t) => {
    const { folder, run } = await inFolder(t)
    const made = await run(`component new acme.counter --language ${language}`)
    assert.equal(made.code, 0, made.err)
    assert.match((await run('component validate counter/counter.json')).out, /is valid/)

    const first = await run('component run counter/counter.json counter/data')
    assert.equal(first.code, 0, first.err)
    assert.match(
      first.out,
      /people\.csv has 2 rows\nThe component succeeded\.\n {2}table counts\.csv\n {2}state out\/state\.json\n$/,
    )
    assert.match(await readFile(join(folder, 'counter/data/out/tables/counts.csv'), 'utf8'), /people\.csv"?,"?2"?,"?Hello/)
    await writeFile(join(folder, 'counter/data/config.json'), '{}')
    const wrong = await run('component run counter/counter.json counter/data')
    assert.equal(wrong.code, 1)
    assert.match(wrong.err, /The parameter "greeting" is missing\.\nmillrace: The component ended with 1/)
    assert.match((await run('component new acme.counter')).err, /already exists/)

    const stack = await shellStack(t, { worker: { path: process.env.PATH ?? '' } })
    await cp(join(folder, 'counter'), join(stack.dataDir, 'components/counter'), { recursive: true })
    await cp(join(folder, 'counter/counter.json'), join(stack.dataDir, 'components/counter.json'))
    await stack.known('acme.counter')
    const config = await stack.configure('acme.counter', { parameters: { greeting: 'Hello' } })
    const job = await stack.wait((await stack.request('POST', '/queue/acme.counter/run', { json: { config } })).json())
    assert.equal(job.status, 'success', JSON.stringify(job.result))
  })
}

test('what is wrong with a description is named by its field', async (t) => {
  const { folder, run } = await inFolder(t)
  const check = async (text: string) => {
    await writeFile(join(folder, 'x.json'), text)
    const { code, out } = await run('component validate x.json')
    assert.equal(code, 1, out)
    return out
  }
  assert.match(await check('{'), /x\.json: .*JSON/)
  const data = { memory: 'lots', definition: { type: 'command', uri: 'x', tag: '1' } }
  const out = await check(JSON.stringify({ id: 'a b', name: '', data }))
  for (const field of ['id', 'name', 'data.memory']) assert.match(out, new RegExp(`x\\.json: ${field}: `))
  const incomplete = await check(JSON.stringify({ id: 'a.b', name: 'b', data: { definition: data.definition } }))
  assert.match(incomplete, /data\.definition\.command: .*\n.*data\.definition\.uri: the folder "x" does not exist/)
  assert.match((await run('component run x.json .')).err, /The folder "x" does not exist beside x\.json/)
  assert.match((await run('component new counter')).err, /"counter" is not an id of a component/)
})
