// What real clients expect of buckets that projects share and link, by number: point B20. One stack; two projects per test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newProjectClient } from '../support/clients/project-client.ts'
import { startTestStack } from '../support/test-stack.ts'

type Json = Readonly<Record<string, unknown>>

interface Bucket {
  readonly id: string
  readonly description: string
  readonly metadata: readonly { readonly key: string; readonly value: string }[]
  readonly tables: readonly { readonly name: string }[]
}

test('corrections of sharing', async (t) => {
  const stack = await startTestStack(t)

  /** A project that shares the bucket `in.c-API-sharing` with the table `t`, and one that links it as `in.c-link`. */
  async function projects(name: string) {
    const giver = await newProjectClient(stack, `${name} gives`)
    const taker = await newProjectClient(stack, `${name} takes`)
    await giver.ok('POST', 'buckets', { name: 'API-sharing', description: 'What is sold' })
    await giver.table('in.c-API-sharing', 't', 'id,name\n1,one\n')
    const share = () => giver.succeed('POST', 'buckets/in.c-API-sharing/share-organization')
    const source = { sourceProjectId: giver.projectId, sourceBucketId: 'in.c-API-sharing' }
    const link = (json: object = {}) => taker.ok<Bucket>('POST', 'buckets', { name: 'link', stage: 'in', ...source, ...json })
    return { giver, taker, share, link, source }
  }

  await t.test('B20: what a linked bucket shows cannot be dropped', async () => {
    const { giver, taker, share, link } = await projects('drop')
    await share()
    await link()
    for (const path of ['tables/in.c-API-sharing.t', 'tables/in.c-API-sharing.t?force=1', 'tables/in.c-API-sharing.t?async=1'])
      await giver.refused(['DELETE', path], 400, { code: 'tables.cannotDeletedTableWithAliases' })
    for (const path of ['name', 'name?force=1'])
      await giver.refused(['DELETE', `tables/in.c-API-sharing.t/columns/${path}`], 400, {
        code: 'storage.tables.cannotDeleteReferencedColumn',
      })
    assert.equal(await taker.rows('in.c-link.t'), '"id","name"\n"1","one"\n')
    await taker.succeed('DELETE', 'buckets/in.c-link?async=1&force=1')
    await giver.ok('DELETE', 'tables/in.c-API-sharing.t')
  })

  await t.test('S9: a token that manages buckets does not delete a linked bucket', async () => {
    const { taker, share, link } = await projects('unlink')
    await share()
    await link()
    const manager = await taker.token({ description: 'manages', canManageBuckets: true })
    for (const path of ['buckets/in.c-link', 'buckets/in.c-link?async=1&force=1', 'buckets/in.c-link?force=1&dryRun=1'])
      await taker.refused(['DELETE', path], 403, { code: 'accessDenied' }, manager.token)
    await taker.ok('DELETE', 'buckets/in.c-link?force=1')
  })

  await t.test('B20: a linked bucket takes over description and metadata', async () => {
    const { giver, taker, share, link } = await projects('describe')
    await giver.ok('POST', 'buckets/in.c-API-sharing/metadata', { provider: 'user', metadata: [{ key: 'k', value: 'v' }] })
    await share()
    assert.equal((await link()).description, 'What is sold')
    const linked = await taker.ok<Bucket>('GET', 'buckets/in.c-link')
    assert.deepEqual(
      linked.metadata.map(({ key, value }) => [key, value]),
      [['k', 'v']],
    )
  })

  await t.test('B20: records say by whom and with whom a bucket is shared, and nothing when it is not', async () => {
    const { giver, share } = await projects('records')
    const { ok, refused, succeed } = giver
    const before = await ok<Json>('GET', 'buckets/in.c-API-sharing')
    assert.deepEqual(['sharedBy' in before, 'sharingParameters' in before, before.sharing], [false, false, null])
    await refused(['PUT', 'buckets/in.c-API-sharing/share', { sharing: 'organization' }], 400, {
      error: 'The bucket in.c-API-sharing is not shared.',
      code: 'storage.bucket.notShared',
    })
    await refused(['DELETE', 'buckets/in.c-API-sharing/share'], 400, { error: 'The bucket in.c-API-sharing is not shared.' })
    await share()
    const shared = await ok<Json>('GET', 'buckets/in.c-API-sharing')
    assert.deepEqual([shared.sharing, shared.sharingParameters], ['organization', {}])
    assert.equal(typeof (shared.sharedBy as Json).date, 'string')
    await succeed('DELETE', 'buckets/in.c-API-sharing/share')
    const after = await ok<Json>('GET', 'buckets/in.c-API-sharing')
    assert.deepEqual(['sharedBy' in after, 'sharingParameters' in after], [false, false])
  })

  await t.test('B20: filtered aliases are not shared', async () => {
    const { giver, taker, share, link } = await projects('aliases')
    const aliases = 'buckets/in.c-API-sharing/table-aliases'
    await giver.ok('POST', 'buckets', { name: 'other' })
    const source = await giver.table('in.c-other', 'u', 'id\n1\n')
    await giver.ok('POST', aliases, { sourceTable: source, name: 'all' })
    await giver.ok('POST', aliases, { sourceTable: source, name: 'some', aliasFilter: { column: 'id', values: ['1'] } })
    await share()
    const all = await taker.ok<(Bucket & { project: { id: number } })[]>('GET', 'shared-buckets')
    const shared = all.find(({ project }) => project.id === giver.projectId)
    assert.deepEqual(shared?.tables.map(({ name }) => name).toSorted(), ['all', 't'])
    await link()
    const linked = await taker.ok<Bucket>('GET', 'buckets/in.c-link')
    assert.deepEqual(linked.tables.map(({ name }) => name).toSorted(), ['all', 't'])
    await taker.refused(['GET', 'tables/in.c-link.some'], 404, { code: 'storage.tables.notFound' })
  })

  await t.test('B20: a bucket can be linked into its own project, and names are checked first', async () => {
    const { giver, taker, share, link, source } = await projects('own')
    await share()
    const own = await giver.ok<Bucket>('POST', 'buckets', { name: 'own', stage: 'out', ...source })
    assert.equal(own.id, 'out.c-own')
    assert.equal(await giver.rows('out.c-own.t'), '"id","name"\n"1","one"\n')
    await link({ displayName: 'Sold' })
    await taker.refused(['POST', 'buckets', { name: 'again', stage: 'in', displayName: 'Sold', ...source }], 400, {
      error: 'The display name "Sold" already exists in project.',
      code: 'storage.buckets.alreadyExists',
    })
    await taker.refused(['POST', 'buckets', { name: 'again', stage: 'in', ...source }], 400, {
      code: 'storage.buckets.alreadyLinked',
    })
  })

  await t.test('B20: buckets of old-style branches are not shared, and events elsewhere are no error', async () => {
    const { giver, taker } = await projects('branches')
    const metadata = [{ key: 'KBC.createdBy.branch.id', value: '7' }]
    await giver.ok('POST', 'buckets/in.c-API-sharing/metadata', { provider: 'system', metadata })
    for (const path of ['share-organization', 'share-organization-project'])
      await giver.refused(['POST', `buckets/in.c-API-sharing/${path}`], 400, {})
    const [event] = await giver.ok<{ uuid: string }[]>('GET', 'events?limit=1')
    assert.equal((await taker.call('GET', `events?sinceId=${event?.uuid}`)).status, 200)
  })
})
