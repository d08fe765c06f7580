// Components that are not like the others: files in YAML, and programs that leave traps for the next one.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { type Job, shareShellStack } from '../support/shell-stack.ts'

const startProject = shareShellStack()

test('a YAML component reads config.yml, and its YAML manifests and state count like others', async () => {
  const stack = await startProject()
  await stack.add(
    'test.yaml',
    `cd "$KBC_DATADIR"; ls; cat config.yml; echo; cat in/state.yml; echo
     printf 'a\\n1\\n' > out/tables/t.csv
     printf 'destination: in.c-yaml.t\\nprimary_key: [a]\\n' > out/tables/t.csv.manifest
     printf 'seen: 1\\nid: 12345678901234567890\\n' > out/state.yml`,
    { configuration_format: 'yaml', synchronous_actions: ['show'] },
  )
  const config = await stack.configure('test.yaml', {
    parameters: { n: 1, '#secret': 'canary-in-yaml' },
    // A processor whose own files are JSON, after a component whose files are not.
    processors: { after: [{ definition: { component: 'keboola.processor-skip-lines' }, parameters: { lines: 0 } }] },
  })
  const run = async () => stack.wait((await stack.request('POST', '/queue/test.yaml/run', { json: { config } })).json<Job>())
  const first = await run()
  assert.equal(first.status, 'success', JSON.stringify(first))
  const second = await run()
  const said = (await stack.request('GET', `/queue/jobs/${second.id}/events`))
    .json<{ message: string }[]>()
    .map(({ message }) => message)
  assert.ok(said.includes('config.yml') && !said.includes('config.json'), said.join('\n'))
  assert.ok(said.includes('{"seen":1,"id":12345678901234567890}'), said.join('\n'))
  assert.ok(said.some((line) => line.startsWith('{"parameters":{"n":1,"#secret":"[hidden]"}')))
  const table = (await stack.request('GET', '/v2/storage/tables/in.c-yaml.t')).json<{ primaryKey: string[]; rowsCount: number }>()
  assert.deepEqual([table.primaryKey, table.rowsCount], [['a'], 1])
})

test('a link that a component leaves is not followed by the processor after it, nor written through', async () => {
  const stack = await startProject()
  const secret = join(stack.dataDir, 'secret-of-the-server')
  writeFileSync(secret, 'canary-behind-a-link\n')
  const victim = join(stack.dataDir, 'victim')
  const processors = { after: [{ definition: { component: 'keboola.processor-skip-lines' }, parameters: { lines: 0 } }] }
  const run = async (id: string, script: string) => {
    await stack.add(id, script)
    const config = await stack.configure(id, { processors })
    return stack.wait((await stack.request('POST', `/queue/${id}/run`, { json: { config } })).json<Job>())
  }
  const read = await run('test.read-link', `ln -s ${secret} "$KBC_DATADIR/out/files/stolen"`)
  assert.match(read.error?.message ?? read.status, /out\/files\/stolen/)
  const moved = await run(
    'test.move-out',
    `rmdir "$KBC_DATADIR"/out/*; rmdir "$KBC_DATADIR/out"; ln -s ${stack.dataDir} "$KBC_DATADIR/out"`,
  )
  assert.match(moved.error?.message ?? moved.status, /symbolic link/)
  const written = await run('test.write-link', `rm "$KBC_DATADIR/config.json"; ln -s ${victim} "$KBC_DATADIR/config.json"`)
  assert.equal(written.status, 'success', JSON.stringify(written))
  assert.equal(existsSync(victim), false)
  assert.deepEqual((await stack.request('GET', '/v2/storage/files')).json(), [])
  assert.equal(readFileSync(secret, 'utf8'), 'canary-behind-a-link\n')
})

test('a secret is hidden in what the result of a job repeats: variables it was filled from, and what the component tells', async () => {
  const stack = await startProject()
  const secret = 'canary-in-a-variable'
  await stack.add('test.tell', `printf '{"variables":{"told":"it is %s","n":1}}' ${secret} > "$KBC_DATADIR/out/result.json"`)
  const variables = await stack.configure('keboola.variables', { variables: [{ name: 'pw', type: 'string' }] })
  const config = await stack.configure('test.tell', { variables_id: variables, parameters: { '#password': '{{ pw }}' } })
  const json = { component: 'test.tell', config, variableValuesData: { values: [{ name: 'pw', value: secret }] } }
  const created = (await stack.request('POST', '/queue/jobs', { json })).json<Job>()
  const job = await stack.wait({ ...created, status: 'waiting' })
  assert.equal(job.status, 'success', JSON.stringify(job))
  const result = job.result as unknown as { variables: object; outputVariables: object }
  assert.deepEqual(result.outputVariables, { told: 'it is [hidden]', n: 1 })
  assert.deepEqual(result.variables, { pw: '[hidden]' })
})

test('an action of a component with forward_token gets a token that works, and no longer than the action', async () => {
  const stack = await startProject()
  await stack.add('test.act', 'printf \'{"token":"%s","url":"%s"}\' "$(printf %s "$KBC_TOKEN" | wc -c)" "$KBC_URL"', {
    forward_token: true,
    synchronous_actions: ['who'],
  })
  const answer = await stack.request('POST', '/sync-actions/actions', { json: { componentId: 'test.act', action: 'who' } })
  assert.equal(answer.status, 200, answer.text)
  const told = answer.json<{ token: string; url: string }>()
  assert.ok(Number(told.token) > 20 && told.url === stack.url, answer.text)
  const tokens = (await stack.request('GET', '/v2/storage/tokens')).json<{ description: string }[]>()
  assert.ok(!tokens.some(({ description }) => description.startsWith('Action ')))
})

test('a component that fails and leaves files half written is told by its own words', async () => {
  const stack = await startProject()
  const script =
    'echo "[{" > "$KBC_DATADIR/out/usage.json"; echo "a: [" > "$KBC_DATADIR/out/state.yml"; echo "my own words" >&2; exit 1'
  await stack.add('test.half', script)
  await stack.add('test.half-yaml', script, { configuration_format: 'yaml' })
  for (const component of ['test.half', 'test.half-yaml']) {
    const answer = await stack.request('POST', `/queue/${component}/run`, { json: { configData: {} } })
    assert.equal((await stack.wait(answer.json<Job>())).error?.message, 'my own words')
  }
})
