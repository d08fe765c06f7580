// What real clients expect of components, events and projects, by number: parts D and E. One stack; a project per test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newProjectClient } from '../support/project-client.ts'
import { shellStack } from '../support/shell-stack.ts'

type Json = Readonly<Record<string, unknown>>

test('corrections D and E: components, events, projects', async (t) => {
  const stack = await shellStack(t)

  await t.test('D61, D62: the index, the token and a running component are given the features that hold here', async () => {
    const { ok, call, run } = await newProjectClient(stack, 'D62')
    const index = await ok<{ features: string[] }>('GET', '/v2/storage?exclude=components')
    assert.ok(index.features.includes('queuev2') && index.features.includes('storage-branches'), index.features.join())
    assert.ok(!index.features.includes('protected-default-branch'), 'the default branch is not protected here')
    const { owner } = await ok<{ owner: { features: string[] } }>('GET', 'tokens/verify')
    assert.deepEqual(owner.features, index.features)

    await stack.add('test.features', 'echo "gates: $KBC_PROJECT_FEATURE_GATES"')
    const { id } = await ok<{ id: string }>('POST', 'components/test.features/configs', { name: 'One' })
    const job = await run('test.features', id)
    assert.equal(job.status, 'success', JSON.stringify(job.result))
    const said = (await call('GET', `events?runId=${job.id}`)).json<{ message: string }[]>()
    assert.ok(
      said.some(({ message }) => message === `gates: ${index.features.join(',')}`),
      JSON.stringify(said.map(({ message }) => message)),
    )
  })

  await t.test('D65: events are searched by their message', async () => {
    const { ok } = await newProjectClient(stack, 'D65')
    for (const message of ['100% of orders were read', 'orders were written'])
      await ok('POST', 'events', { component: 'test', message })
    const found = (q: string) => ok<{ message: string }[]>('GET', `events?q=${encodeURIComponent(q)}`)
    assert.deepEqual(
      (await found('message:"Orders were READ"')).map(({ message }) => message),
      ['100% of orders were read'],
    )
    assert.equal((await found('message:"orders were"')).length, 2)
    assert.equal((await found('message:"0%r"')).length, 0)
  })

  await t.test('D74: a project reports the backend that its operator names; without one the real one', async () => {
    const { ok, call, projectId } = await newProjectClient(stack, 'D74')
    const owner = async () => (await ok<{ owner: Json }>('GET', 'tokens/verify')).owner
    const bucket = (name: string) => call('POST', 'buckets', { json: { name, backend: 'snowflake' } })
    assert.deepEqual([(await owner()).defaultBackend, (await owner()).hasSnowflake], ['duckdb', false])
    assert.equal((await bucket('a')).status, 400)
    await stack.platform.tokens.setProject(projectId, { backend: 'snowflake' })
    assert.deepEqual([(await owner()).defaultBackend, (await owner()).hasSnowflake], ['snowflake', true])
    assert.equal((await bucket('b')).status, 201)
    await assert.rejects(stack.platform.tokens.setProject(projectId, { backend: 'oracle' }), /Values: duckdb, snowflake/)
    await stack.platform.tokens.setProject(projectId, { backend: '' })
    assert.equal((await owner()).defaultBackend, 'duckdb')
  })

  await t.test('E99: a preview says that it is UTF-8', async () => {
    const { ok, call } = await newProjectClient(stack, 'E99')
    await ok('POST', 'buckets', { name: 'a' })
    await ok('POST', 'buckets/in.c-a/tables', { name: 't', dataString: 'id\nž\n' })
    const preview = await call('GET', 'tables/in.c-a.t/data-preview')
    assert.equal(preview.headers.get('content-type'), 'text/csv; charset=utf-8')
  })
})
