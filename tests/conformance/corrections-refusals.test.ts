// Codes and texts of refusals that real clients compare, by number of the second list of corrections: A8, A11, A29, M1, M2, M4, M7.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newMember, newStackAdmin } from '../support/clients/person-client.ts'
import { newProjectClient } from '../support/clients/project-client.ts'
import { startTestStack } from '../support/test-stack.ts'

test('corrections of refusals', async (t) => {
  const stack = await startTestStack(t)
  const root = await newStackAdmin(stack)

  await t.test('A8: a member who may only read is refused as clients expect, with the reason after it', async () => {
    const { projectId } = await newProjectClient(stack, 'readers')
    const reader = (await newMember(stack, root, { projectId, role: 'viewer', email: 'reader@example.com' })).in(projectId)
    const { status, json } = await reader.call('POST', '/v2/storage/buckets', { json: { name: 'x' } })
    const { code, error } = json<{ code: string; error: string }>()
    assert.deepEqual([status, code], [403, 'accessDenied'])
    assert.match(error, /^You don't have access to the resource\. Your role in this project is viewer/)
  })

  await t.test('A8: a guest creates branches, and tokens without rights', async () => {
    const { projectId, ok } = await newProjectClient(stack, 'guests')
    await ok('POST', 'buckets', { name: 'b', stage: 'in' })
    const guest = (await newMember(stack, root, { projectId, role: 'editor', email: 'guest@example.com' })).in(projectId)
    const create = (json: object) => guest.call('POST', '/v2/storage/tokens', { json })
    const limited = await create({ description: 'limited', expiresIn: 60 })
    assert.equal(limited.status, 201, limited.text)
    const { canManageBuckets, bucketPermissions, isMasterToken } = limited.json<Record<string, unknown>>()
    assert.deepEqual(
      { canManageBuckets, bucketPermissions, isMasterToken },
      {
        canManageBuckets: false,
        bucketPermissions: {},
        isMasterToken: false,
      },
    )
    for (const more of [{ canManageBuckets: true }, { bucketPermissions: { 'in.c-b': 'read' } }, { componentAccess: ['x'] }]) {
      const refusal = await create({ description: 'more', ...more })
      assert.deepEqual([refusal.status, refusal.json<{ code: string }>().code], [403, 'accessDenied'])
    }
    assert.equal((await guest.call('POST', '/v2/storage/dev-branches', { json: { name: 'guest' } })).status, 202)
  })

  await t.test('A11: metadata that is no list, and a provider with other characters', async () => {
    const { ok, refused, table } = await newProjectClient(stack, 'metadata')
    await ok('POST', 'buckets', { name: 'b', stage: 'in' })
    await table('in.c-b', 't', 'id\n1\n')
    const pair = { key: 'k', value: 'v' }
    for (const place of ['buckets/in.c-b', 'tables/in.c-b.t', 'columns/in.c-b.t.id']) {
      const post = (json: object) => ['POST', `${place}/metadata`, json] as const
      await refused(post({ provider: 'p', metadata: pair }), 400, {
        code: 'storage.metadata.invalidStructure',
        error: "Invalid structure. Metadata must be provided as an array of objects with 'key' and 'value' members",
      })
      for (const metadata of ['text', undefined])
        await refused(post({ provider: 'p', metadata }), 400, {
          code: 'storage.metadata.invalidParameter',
          error: 'The metadata parameter must be an array.',
        })
      await refused(post({ provider: '%x$', metadata: [pair] }), 400, {
        code: 'storage.metadata.invalidProvider',
        error: 'Invalid metadata provider.',
      })
      await ok('POST', `${place}/metadata`, { provider: 'keboola.ex-db', metadata: [pair] })
    }
  })

  await t.test('A29: an alias with aliases keeps its auto sync settings', async () => {
    const { ok, refused, table } = await newProjectClient(stack, 'aliases')
    for (const stage of ['in', 'out']) await ok('POST', 'buckets', { name: 'b', stage })
    await table('in.c-b', 't', 'id\n1\n')
    await ok('POST', 'buckets/out.c-b/table-aliases', { sourceTable: 'in.c-b.t', name: 'a' })
    await ok('POST', 'buckets/out.c-b/table-aliases', { sourceTable: 'out.c-b.a', name: 'b' })
    await refused(['DELETE', 'tables/out.c-b.a/alias-columns-auto-sync'], 400, {
      error: 'Cannot change auto sync settings - table has dependent aliases',
    })
  })

  await t.test('M1, M2, M4, M7: merge requests before a review, their creator, and a second one', async () => {
    const { ok, succeed, refused, projectId } = await newProjectClient(stack, 'merges')
    const { id: branchIntoId } = await ok<{ id: number }>('GET', 'dev-branches/default')
    const { id: branchFromId } = await succeed<{ id: number }>('POST', 'dev-branches', { name: 'work' })
    const body = { branchFromId, branchIntoId, title: 'T' }
    const ann = (await newMember(stack, root, { projectId, role: 'admin', email: 'ann@example.com' })).in(projectId)
    const request = await ann.ok<{ id: number }>('POST', '/v2/storage/merge-request', body)
    assert.deepEqual((await ok<{ changeLog: unknown }>('GET', `merge-request/${request.id}`)).changeLog, [])
    const { admin } = await ann.ok<{ admin: { id: number } }>('GET', '/v2/storage/tokens/verify')
    const events = await ok<{ event: string; params: { creatorId: number } }[]>('GET', 'events')
    assert.equal(events.find(({ event }) => event === 'storage.mergeRequestCreated')?.params.creatorId, admin.id)
    await refused(['POST', 'merge-request', body], 400, {
      error: `There is already a merge request (${request.id}) created from branch "${branchFromId}"`,
    })
    await newMember(stack, root, { projectId, role: 'admin', email: 'bob@example.com' })
    await ann.ok('PUT', `/v2/storage/merge-request/${request.id}/request-review`, {})
    await refused(['PUT', `merge-request/${request.id}`, { title: 'Other' }], 403, {
      code: 'accessDenied',
      error: "You don't have access to the resource.",
    })
    const own = await ann.call('PUT', `/v2/storage/merge-request/${request.id}/approve`, { json: {} })
    assert.deepEqual(
      [own.status, own.json<{ error: string }>().error],
      [400, 'Operation cannot be performed due: Request creator cannot approve their own request.'],
    )
    await ok('PUT', `merge-request/${request.id}/request-changes`, {})
    await ok('PUT', `merge-request/${request.id}`, { title: 'Other' })
  })
})
