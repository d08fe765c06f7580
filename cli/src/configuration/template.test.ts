import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startTestStack } from '../../../tests/support/test-stack.ts'
import { makeTemplate } from './template-make.ts'

test('templates are listed, shown, used and made from the command line', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-template-make-'))
  const { url, masterToken, request } = await startTestStack(t, {
    templateFolders: [folder],
    templateRepositories: [{ url: 'http://127.0.0.1:1/team/orders.git', ref: 'v1' }],
  })
  const millrace = (args: string[], input = '') =>
    runCli(['template', ...args], { MILLRACE_URL: url, MILLRACE_TOKEN: masterToken }, { input })

  assert.match((await millrace(['list'])).out, /shop-pipeline +1\.0\.0/)
  assert.match(
    (await millrace(['repositories'])).out,
    /orders +http:\/\/127\.0\.0\.1:1\/team\/orders\.git#v1 +It has not been fetched/,
  )
  assert.match(
    (await millrace(['refresh', 'orders'])).err,
    /"orders" could not be refreshed\. The connection to 127\.0\.0\.1:1 is not/,
  )
  assert.match((await millrace(['refresh', 'millrace'])).out, /is at the state of its folder/)
  const shown = await millrace(['show', 'shop-pipeline'])
  assert.match(shown.out, /source +password +secret/)
  assert.match(shown.out, /schedule \(optional\) +cron/)

  const used = await millrace(
    ['use', 'shop-pipeline', '--name', 'Mine', '--inputs', '-', '--step', 'schedule', '--json'],
    '{"password":"s3cr3t"}',
  )
  assert.equal(used.code, 0, used.err)
  const { outputs } = used.json<{ outputs: { configurations: { componentId: string; configurationId: string }[] } }>()
  assert.equal(outputs.configurations.length, 4)
  assert.match((await millrace(['use', 'shop-pipeline', '--set', 'nothing=1'])).err, /no input "nothing". It has: baseUrl/)
  assert.match((await millrace(['use', 'shop-pipeline'])).err, /source\.password: A value is required/)
  const limited = await millrace(['use', 'paged-api', '--set', 'password=x', '--set', 'limit=7'])
  assert.match(limited.out, /Instance \w+ created/, limited.err)

  const names = outputs.configurations.slice(0, 3).map((one) => `${one.componentId}/${one.configurationId}`)
  const made = await millrace(['make', join(folder, 'mine'), ...names])
  assert.equal(made.code, 0, made.err)
  assert.match(made.out, /Its inputs: password\b/)
  const manifest = readFileSync(join(folder, 'mine', '1.0.0', 'manifest.json'), 'utf8')
  assert.doesNotMatch(manifest, /KBC::|s3cr3t/)
  assert.match(manifest, /"configId": \{\s*"\$configuration": "configuration-1"/)
  assert.match((await millrace(['make', join(folder, 'mine'), ...names])).err, /already exists/)
  const keys = makeTemplate([
    { componentId: 'c', id: '1', name: 'a', description: '', configuration: { '#key': 'x', deep: { '#key': 'y', '#a b': 'z' } } },
  ])
  assert.deepEqual(
    keys.stepGroups[0]?.steps[0]?.inputs.map(({ id }) => id),
    ['key', 'key-2', 'a-b'],
    'each secret has an input of its own',
  )

  writeFileSync(join(folder, 'repository.json'), '{"name":"own"}')
  const again = await millrace(['use', 'mine', '--repository', 'own', '--inputs', '-', '--json'], '{"password":"lovelace"}')
  assert.equal(again.code, 0, again.err)
  const instances = (await request('GET', '/templates/v1/project/default/instances')).json<{ instances: unknown[] }>()
  assert.equal(instances.instances.length, 3)
})
