// What real clients expect of the smaller parts of the storage API, by number: part C. One stack; a project per test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newProjectClient } from '../support/clients/project-client.ts'
import { startTestStack } from '../support/test-stack.ts'

type Json = Readonly<Record<string, unknown>>

interface Token {
  readonly id: string
  readonly token?: string
  readonly adminOwner: { readonly id: number; readonly name: string; readonly email: string | null } | null
  readonly admin: { readonly id: number; readonly name: string; readonly isActivated: boolean }
  readonly bucketPermissions: Json
  readonly owner: {
    readonly features: readonly string[]
    readonly limits: Readonly<Record<string, { readonly name: string; readonly value: number }>>
  }
}

test('corrections C', async (t) => {
  const stack = await startTestStack(t)
  const project = (name: string) => newProjectClient(stack, name)

  await t.test('C21: tokens say who made them, what limits them, and carry their id in the middle', async () => {
    const { ok, call, bucket, token } = await project('C21')
    await bucket()
    const master = await ok<Token>('GET', 'tokens/verify')
    assert.deepEqual(master.bucketPermissions, { 'in.c-a': 'manage' })
    assert.equal(master.admin.isActivated, true)
    assert.ok(master.owner.features.length > 0)
    const limits = Object.entries(master.owner.limits)
    assert.ok(limits.length > 0)
    for (const [name, limit] of limits) assert.deepEqual([limit.name, Number.isInteger(limit.value)], [name, true])

    const made = await token({ description: 'made by an admin' })
    assert.equal(made.token.split('-')[1], made.id)
    const verified = (await call('GET', 'tokens/verify', { token: made.token })).json<Token>()
    const owner = { id: master.admin.id, name: master.admin.name, email: null }
    assert.deepEqual(verified.adminOwner, owner)
    const listed = (await ok<Token[]>('GET', 'tokens')).find(({ id }) => id === made.id)
    assert.deepEqual([listed?.adminOwner, listed && 'token' in listed], [owner, false])
    const detail = await ok<Token>('GET', `tokens/${made.id}`)
    assert.deepEqual([detail.adminOwner, 'token' in detail], [owner, false], 'clear values are known to their holders only')
    const refreshed = await ok<Token>('POST', `tokens/${made.id}/refresh`)
    assert.equal(refreshed.token?.split('-')[1], made.id)
    const index = await ok<{ features: string[] }>('GET', '')
    assert.ok(index.features.length > 0)
  })

  await t.test('C22: what cannot be the id of a token is no resource', async () => {
    const { refused } = await project('C22')
    const missing = { error: 'resource not found' }
    for (const request of [
      ['DELETE', 'tokens/'],
      ['GET', 'tokens/foo'],
      ['DELETE', 'tokens/foo'],
    ] as const)
      await refused(request, 404, missing)
  })

  await t.test('C25: searches of events that cannot be read are refused', async () => {
    const { refused, ok } = await project('C25')
    for (const q of [': success', 'success:', '/GET', '*tables*'])
      await refused(['GET', `events?q=${encodeURIComponent(q)}`], 400, { error: /^Failed to parse query/ })
    for (const q of ['type:success', 'tables', 'event:storage.*', '"/GET"']) await ok('GET', `events?q=${encodeURIComponent(q)}`)
  })

  await t.test('C26: names made safe, and what is wrong with others', async () => {
    const { ok, refused } = await project('C26')
    const webalized = await ok<{ columnNames: string[] }>('POST', 'webalize/column-names', {
      columnNames: ['test  - space', '_~dlažební  %_kostky_~', '', '***'],
    })
    assert.deepEqual(webalized.columnNames, ['test_space', 'dlazebni__kostky', '', ''])
    const wrong = [
      ['oid', '"oid" is a system column used by the database for internal purposes.'],
      ['a b', '"a b" contains not allowed characters. Only alphanumeric characters dash and underscores are allowed.'],
      ['x'.repeat(65), 'Column name cannot be longer than 64 characters.'],
    ] as const
    await refused(['POST', 'validate/column-names', { columnNames: ['fine', ...wrong.map(([name]) => name)] }], 422, {
      error: `Invalid request:\n${wrong.map(([, message], i) => ` - columnNames[${i + 1}]: "${message}"`).join('\n')}`,
      errors: wrong.map(([, message], i) => ({ key: `columnNames[${i + 1}]`, message })),
    })
    await refused(['POST', 'webalize/display-name', { displayName: '-----' }], 422, {
      error: 'Filtered name "" should be valid name',
      code: 'storage.webalize.displayName.invalid',
    })
  })

  await t.test('C28: lists of jobs have 20 items, and every job has a run', async () => {
    const { ok, bucket } = await project('C28')
    await bucket()
    for (let i = 0; i < 21; i++) await ok('PUT', 'buckets/in.c-a?async=1', { color: `#${i}` })
    const jobs = await ok<{ id: number; runId: unknown }[]>('GET', 'jobs')
    assert.equal(jobs.length, 20)
    for (const { runId } of jobs) assert.equal(typeof runId, 'string')
  })

  await t.test('C37: metadata that cannot be stored or found, in the words clients compare', async () => {
    const { ok, bucket, refused, table } = await project('C37')
    const id = await table(await bucket(), 't', 'id\n1\n')
    const item = { key: 'k', value: 'v' }
    for (const path of ['buckets/in.c-a/metadata', `tables/${id}/metadata`, `columns/${id}.id/metadata`]) {
      const post = (json: object) => ['POST', path, json] as const
      await refused(post({ provider: 'me', metadata: 'text' }), 400, { code: 'storage.metadata.invalidParameter' })
      await refused(post({ provider: 'me', metadata: [{ key: '%', value: 'v' }] }), 400, {
        error: 'Invalid Metadata Key (metadata[0][key])',
        code: 'storage.metadata.invalidKey',
      })
      await refused(post({ metadata: [item] }), 400, { error: 'Provider is required.', code: 'storage.metadata.invalidProvider' })
      await refused(['DELETE', `${path}/`], 400, {})
    }
    await refused(['DELETE', 'buckets/in.c-a/metadata/999999'], 404, {
      error: 'Metadata "999999" not found for bucket "in.c-a".',
    })
    for (const path of [`tables/${id}/metadata`, `columns/${id}.id/metadata`])
      await refused(['DELETE', `${path}/999999`], 404, { error: 'The supplied metadata ID was not found' })
    const configs = 'branch/default/components/platform.ex-http/configs'
    await ok('POST', configs, { configurationId: 'Y', name: 'y' })
    await refused(['DELETE', `${configs}/Y/metadata/32`], 404, {
      error: /^Metadata with id "32" not found for "[\w.-]+" configuration "Y" in branch "\d+"$/,
    })
  })

  await t.test('C37: what the platform says of typed tables stays', async () => {
    const { ok, bucket, refused, succeed } = await project('C37 typed')
    const definition = { name: 't', columns: [{ name: 'id', basetype: 'STRING' }] }
    await succeed('POST', `buckets/${await bucket()}/tables-definition`, definition)
    const [item] = await ok<{ id: string }[]>('GET', 'tables/in.c-a.t/metadata')
    await refused(['POST', 'tables/in.c-a.t/metadata', { provider: 'storage', metadata: [{ key: 'k', value: 'v' }] }], 403, {
      error: 'Metadata with "storage" provider cannot be edited by user.',
      code: 'storage.metadata.invalidProvider',
    })
    const [ofColumn] = await ok<{ id: string }[]>('GET', 'columns/in.c-a.t.id/metadata')
    for (const path of [`tables/in.c-a.t/metadata/${item?.id}`, `columns/in.c-a.t.id/metadata/${ofColumn?.id}`])
      await refused(['DELETE', path], 403, {
        error: 'Metadata with "storage" provider cannot be deleted by user.',
        code: 'storage.metadata.invalidProvider',
      })
  })

  await t.test('C39: tables are searched by metadata, with their buckets', async () => {
    const { ok, bucket, branch, refused, table } = await project('C39')
    const id = await table(await bucket(), 't', 'id\n1\n')
    await ok('POST', `tables/${id}/metadata`, { provider: 'me', metadata: [{ key: 'k', value: 'v' }] })
    const [found] = await ok<{ id: string; bucket: { id: string } }[]>('GET', 'search/tables?metadataKey=k')
    assert.deepEqual([found?.id, found?.bucket.id], [id, 'in.c-a'])
    await refused(['GET', 'search/tables'], 400, {
      code: 'validationError',
      errors: [
        {
          key: 'metadataKey',
          message: 'At least on of search parameters metadataKey|metadataValue|metadataProvider must be provided.',
        },
      ],
    })
    for (const name of ['default', await branch('dev')])
      await refused(['GET', `branch/${name}/search/tables?metadataKey=k`], 501, {})
  })

  await t.test('C40: buckets: what is in the way of deleting them, colors, owners', async () => {
    const { ok, bucket, refused, table } = await project('C40')
    await bucket()
    assert.equal((await ok<{ color: unknown }>('GET', 'buckets/in.c-a')).color, null)
    await table('in.c-a', 't', 'id\n1\n')
    await refused(['DELETE', 'buckets/in.c-a'], 400, {
      error: 'Only empty buckets can be deleted. There are 1 tables in the bucket.',
      code: 'buckets.deleteNotEmpty',
    })
    await refused(['GET', 'buckets/in.c-a/owner'], 404, { code: 'storage.bucket.ownerNotFound' })
    const { admin } = await ok<Token>('GET', 'tokens/verify')
    await ok('POST', 'buckets/in.c-a/owner', { id: admin.id })
    assert.deepEqual(await ok('GET', 'buckets/in.c-a/owner'), { id: admin.id, name: admin.name, email: null })
  })

  await t.test('C47: who may not make branches learns nothing about their names', async () => {
    const { token, branch, refused } = await project('C47')
    const dev = await branch('dev')
    const stranger = (await token({ description: 'no admin' })).token
    for (const name of ['dev', '', 'other'])
      await refused(['POST', 'dev-branches', { name }], 403, { code: 'accessDenied' }, stranger)
    await refused(['DELETE', `dev-branches/${dev}`], 403, { code: 'accessDenied' }, stranger)
  })

  await t.test('C49: events of the command line client name the project', async () => {
    const { ok, refused, projectId } = await project('C49')
    const event = { component: 'keboola.keboola-as-code', message: 'push', type: 'info' }
    await refused(['POST', 'events', { ...event, results: { command: 'push' } }], 400, {
      code: 'storage.event.schemaValidationFailed',
      errors: [{ key: 'results.projectId', message: 'The property projectId is required' }],
    })
    await ok('POST', 'events', { ...event, results: { projectId, command: 'push' } })
  })
  await t.test('C53: deleting a workspace that is not there is said with its own code', async () => {
    const { call } = await project('C53')
    const answer = await call('DELETE', 'workspaces/987654')
    assert.equal(answer.status, 404)
    assert.equal(answer.json().code, 'workspace.workspaceNotFound')
  })
})
