import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newMember, newStackAdmin, type PersonClient } from '../../../../../tests/support/clients/person-client.ts'
import { newProjectClient } from '../../../../../tests/support/clients/project-client.ts'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'
import { NO_ORIGIN } from '../../../model/event.ts'
import { bucketJob } from './bucket-jobs.ts'
import { createBucketsStore } from './buckets.store.ts'

const startProject = shareTestStack()

interface Verified {
  readonly id: string
  readonly admin: { readonly id: number; readonly name: string }
  readonly adminOwner: { readonly id: number; readonly name: string; readonly email: string | null }
}

interface Shared {
  readonly id: string
  readonly sharingParameters: unknown
}

/** A project that shares `in.c-main`, another one, and a stack admin. */
async function start() {
  const stack = await startProject()
  const giver = await newProjectClient(stack, 'gives')
  const taker = await newProjectClient(stack, 'takes')
  await giver.bucket('main')
  await giver.table('in.c-main', 't', 'id\n1\n')
  const root = await newStackAdmin(stack, `root-${giver.projectId}@example.com`)
  const shareWith = (...targetUsers: (string | number)[]) =>
    giver.succeed<Shared>('POST', 'buckets/in.c-main/share-to-users', { targetUsers })
  const source = { sourceProjectId: giver.projectId, sourceBucketId: 'in.c-main' }
  const link = { name: 'link', stage: 'in', ...source }
  const refused = (token?: string) =>
    taker.refused(
      ['POST', 'buckets', link],
      403,
      { code: 'accessDenied', error: 'You do not have permission to link this bucket.' },
      token,
    )
  const seenBy = async (token: string) =>
    (await taker.call('GET', 'shared-buckets', { token })).json<Shared[]>().filter(({ id }) => id === 'in.c-main')
  const adminIdOf = async (person: PersonClient) =>
    (await person.in(taker.projectId).ok<Verified>('GET', '/v2/storage/tokens/verify')).admin.id
  const member = (name: string) =>
    newMember(stack, root, { projectId: taker.projectId, role: 'editor', email: `${name}-${taker.projectId}@example.com` })
  return { stack, giver, taker, root, shareWith, link, refused, seenBy, adminIdOf, member }
}

test('S1, S2: a bucket shared with a person is open to that person, and to no token that is called like them or has their number', async () => {
  const { taker, shareWith, link, refused, seenBy, adminIdOf, member } = await start()
  const ann = await member('ann')
  await shareWith(ann.email)
  const id = await adminIdOf(ann)
  const names = [ann.email, `ann-${taker.projectId}`, String(id)]
  for (const description of names) {
    const { token } = await taker.token({ description, canManageBuckets: true })
    assert.deepEqual(await seenBy(token), [], description)
    await refused(token)
  }
  assert.deepEqual(await seenBy(taker.masterToken), [])
  await refused()
  const bob = await member('bob')
  const asBob = await bob.in(taker.projectId).call('POST', '/v2/storage/buckets', { json: link })
  assert.deepEqual([asBob.status, asBob.json().code], [403, 'accessDenied'])
  const asAnn = ann.in(taker.projectId)
  const [shared] = await asAnn.ok<Shared[]>('GET', '/v2/storage/shared-buckets')
  assert.deepEqual(shared?.sharingParameters, { users: [{ id, name: `ann-${taker.projectId}`, email: ann.email }] })
  await asAnn.ok('POST', '/v2/storage/buckets', link)
  assert.equal(await taker.rows('in.c-link.t'), '"id"\n"1"\n')
})

test('A21, S2: people and master tokens have ids of one space, and a bucket is shared with either by it', async () => {
  const { giver, taker, root, shareWith, refused, seenBy, adminIdOf, member } = await start()
  const people = [await adminIdOf(root.in(taker.projectId)), await adminIdOf(await member('carl'))]
  const masters = [await giver.ok<Verified>('GET', 'tokens/verify'), await taker.ok<Verified>('GET', 'tokens/verify')]
  const ids = [...people, ...masters.map(({ admin }) => admin.id)]
  assert.equal(new Set(ids).size, ids.length, ids.join())
  for (const { admin, adminOwner } of masters) assert.deepEqual(adminOwner, { id: admin.id, name: admin.name, email: null })
  const { id, name } = masters[1]!.admin
  const shared = await shareWith(id)
  assert.deepEqual(shared.sharingParameters, { users: [{ id, name, email: null }] })
  assert.equal((await seenBy(taker.masterToken)).length, 1)
  await shareWith(people[1]!, people[0]!, people[1]!)
  assert.deepEqual(await seenBy(taker.masterToken), [])
  await refused()
})

test('a bucket is shared with people of the stack: what is called so otherwise, and what is nobody, is refused with a sentence', async () => {
  const { giver, taker } = await start()
  const made = await taker.token({ description: 'nobody@example.com' })
  const target = async (user: string | number) =>
    giver.refused(['POST', 'buckets/in.c-main/share-to-users', { targetUsers: [user] }], 400, {
      code: 'storage.buckets.targetAdminsAreNotPartOfOrganization',
      error: `No user on this stack has the id or the e-mail "${user}", and no project has a master token with this admin id. Share with users of this stack.`,
    })
  for (const user of ['nobody@example.com', '987654321', 123_456_789_012_345, '0x7', '1e3', ' ', `-${made.id}`, '١'])
    await target(user)
})

test('S7: a change of the way of sharing keeps nothing of the way before', async () => {
  const { giver, taker } = await start()
  const share = 'buckets/in.c-main/share'
  await giver.succeed('POST', `${share}-to-projects`, { targetProjectIds: [taker.projectId] })
  const kept = await giver.succeed<Shared>('PUT', share, { sharing: 'specific-projects' })
  assert.deepEqual(kept.sharingParameters, { projects: [{ id: taker.projectId }] })
  const changed = await giver.succeed<Shared>('PUT', share, { sharing: 'organization-project' })
  assert.deepEqual(changed.sharingParameters, {})
  for (const [sharing, address] of [
    ['specific-projects', 'share-to-projects'],
    ['specific-users', 'share-to-users'],
  ])
    await giver.refused(['PUT', share, { sharing }], 400, {
      code: 'storage.buckets.validation',
      error: new RegExp(`Send them to POST buckets/in.c-main/${address}`),
    })
})

test('a link that waits is refused when the bucket is no longer shared with who asked', async () => {
  const { giver, taker, stack, root, shareWith, adminIdOf } = await start()
  const adminId = await adminIdOf(root)
  await shareWith(adminId)
  const shared = await createBucketsStore(stack.platform.metadata.db).listShared()
  const source = shared.find(({ projectId }) => projectId === giver.projectId)
  const branch = await taker.ok<{ id: number }>('GET', 'dev-branches/default')
  const link = {
    projectId: taker.projectId,
    branchId: branch.id,
    id: 'in.c-link',
    name: 'c-link',
    stage: 'in' as const,
    displayName: 'link',
    description: '',
    color: null,
    sourceKey: source!.key,
  }
  const run = async (asked: number | undefined) => {
    const actor = { projectId: taker.projectId, tokenId: 1, tokenDescription: 'test' }
    const job = await stack.platform.storageJobs.create(
      { actor, baseUrl: stack.url, origin: NO_ORIGIN },
      bucketJob('bucketLink', link, { link, adminId: asked }),
    )
    const { status, error } = await taker.finished(job)
    return [status, error?.code]
  }
  assert.deepEqual(await run(undefined), ['error', 'accessDenied'])
  assert.deepEqual(await run(adminId), ['success', undefined])
})
