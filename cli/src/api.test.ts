import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli } from '../../tests/support/run-cli.ts'
import { startTestStack } from '../../tests/support/test-stack.ts'

test('any request of the API is sent from the command line, and a refused one says why', async (t) => {
  const stack = await startTestStack(t)
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }
  const made = await runCli(['api', 'post', '/v2/storage/buckets', '--data', '{"stage":"in","name":"shop"}'], env)
  assert.equal(made.json<{ id: string }>().id, 'in.c-shop', made.err)
  assert.match((await runCli(['api', 'GET', '/v2/storage/buckets'], env)).out, /^\[\{.*in\.c-shop.*\]\n$/)
  const refused = await runCli(['api', 'GET', '/v2/storage/buckets/in.c-none'], env)
  assert.equal(refused.out, '')
  assert.match(refused.err, /in\.c-none/)
  assert.notEqual(refused.code, 0)
})

test('a file is sent as the body or in a form, as the console shows its uploads', async (t) => {
  const stack = await startTestStack(t)
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }
  const folder = await mkdtemp(join(tmpdir(), 'millrace-api-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'goods.csv')
  await writeFile(path, 'id;name\n1;Tea\n')
  const sniffed = await runCli(['api', 'POST', '/v2/storage/files/sniff?isWhole=true', '--file', path], env)
  assert.equal(sniffed.json<{ delimiter: string }>().delimiter, ';', sniffed.err)
  const fields = ['--field', 'name=all goods.csv', '--field', 'tags[]=a=b', '--field', 'isPermanent=1']
  const sent = await runCli(['api', 'POST', '/import/upload-file', '--file', path, ...fields], env)
  const file = (await stack.request('GET', `/v2/storage/files/${sent.json<{ id: number }>().id}`)).json<object>()
  assert.partialDeepStrictEqual(file, { name: 'all goods.csv', tags: ['a=b'], maxAgeDays: null, sizeBytes: 14 })
  for (const [wrong, message] of [
    [['--file', `${path}.none`], /--file .*goods\.csv\.none/],
    [['--field', 'name'], /write it as name=value/],
    [['--file', path, '--data', '{}'], /--data is the whole body/],
  ] as const) {
    const refused = await runCli(['api', 'POST', '/import/upload-file', ...wrong], env)
    assert.match(refused.err, message)
    assert.notEqual(refused.code, 0)
  }
})
