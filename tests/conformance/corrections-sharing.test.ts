// What real clients expect of buckets that projects share and link, by number: point B20, and S3 to S13 of the second list. One stack; two projects per test.

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
    await giver.refused(['DELETE', 'tables/in.c-API-sharing.t/columns/name'], 400, {
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

  await t.test(
    'S3: changes of a shared table are events of the projects that link it, without what is only its owner’s',
    async () => {
      const { giver, taker, share, link } = await projects('events')
      await share()
      await link()
      await giver.table('in.c-API-sharing', 'later', 'id\n1\n')
      await giver.ok('POST', 'tables/in.c-API-sharing.later/columns', { name: 'more' })
      await giver.ok('GET', 'tables/in.c-API-sharing.later')
      interface Event {
        readonly event: string
        readonly message: string
        readonly objectId: string
        readonly params: { readonly columns?: unknown; readonly source?: unknown }
        readonly token: { readonly name: string }
      }
      const events = await taker.ok<Event[]>('GET', 'tables/in.c-link.later/events')
      assert.deepEqual(
        events.map(({ event, objectId, token }) => [event, objectId, token.name]),
        ['storage.tableColumnAdded', 'storage.tableImportDone', 'storage.tableCreated'].map((event) => [
          event,
          'in.c-link.later',
          `Project ${giver.projectId}`,
        ]),
      )
      const [, loaded, created] = events
      assert.deepEqual([created?.message, created?.params.columns], ['Created table in.c-link.later', ['id']])
      assert.deepEqual(loaded?.params.source, { type: 'linkedBucket' })
      const own = await giver.ok<Event[]>('GET', 'tables/in.c-API-sharing.later/events')
      assert.equal(own.filter(({ objectId }) => objectId !== 'in.c-API-sharing.later').length, 0)
      assert.equal(own.filter(({ event }) => event === 'storage.tableDetail').length, 1)
    },
  )

  await t.test('S4, S5, S12: refusals of links and shares', async () => {
    const { giver, taker, share, link } = await projects('refusals')
    await share()
    await taker.ok('POST', 'buckets', { name: 'API-sharing' })
    const taken = { name: 'API-sharing', stage: 'in', sourceProjectId: giver.projectId, sourceBucketId: 'in.c-API-sharing' }
    await taker.refused(['POST', 'buckets', taken], 400, {
      error: 'The bucket API-sharing already exists.',
      code: 'storage.buckets.alreadyExists',
    })
    await giver.refused(['DELETE', `buckets/in.c-API-sharing/links/${taker.projectId}`], 404, {
      error: `There is no linked bucket in project "${taker.projectId}"`,
    })
    await link()
    const { id: branch } = await giver.succeed<{ id: number }>('POST', 'dev-branches', { name: 'work' })
    await giver.ok('POST', `branch/${branch}/buckets`, { name: 'of-branch' })
    await giver.refused(['POST', `branch/${branch}/buckets/in.c-of-branch/share-organization`], 400, {
      error: 'Sharing Dev/Branch buckets is not supported yet.',
    })
  })

  await t.test(
    'S5, A37: the search finds a linked bucket by its display name, not the tables in it, and counts projects',
    async () => {
      const { giver, taker, share, link } = await projects('search')
      await share()
      await link({ displayName: 'Sold-goods' })
      const search = (query: string) =>
        taker.ok<{ all: number; items: { id: string; type: string }[]; byProject: Json }>('GET', `global-search?query=${query}`)
      const found = await search('Sold-goods')
      assert.deepEqual(
        found.items.map(({ id }) => id),
        ['in.c-link'],
      )
      assert.deepEqual(
        (await search('link')).items.map(({ id, type }) => [type, id]),
        [['bucket', 'in.c-link']],
      )
      assert.deepEqual(
        (await search('in.c-link.t')).items.map(({ id }) => id),
        ['in.c-link.t'],
      )
      const elsewhere = await search(`Sold-goods&projectIds[]=${giver.projectId}`)
      assert.deepEqual([elsewhere.all, elsewhere.items, Object.keys(elsewhere.byProject)], [0, [], [String(taker.projectId)]])
    },
  )

  await t.test('S6: shared buckets of the own project are listed as well', async () => {
    const { giver, share } = await projects('own shares')
    await share()
    const all = await giver.ok<(Bucket & { project: { id: number } })[]>('GET', 'shared-buckets')
    assert.ok(all.some(({ id, project }) => id === 'in.c-API-sharing' && project.id === giver.projectId))
  })

  await t.test('S8: metadata that the source gets after the link shows at the link', async () => {
    const { giver, taker, share, link } = await projects('late metadata')
    const set = (key: string, value: string) =>
      giver.ok('POST', 'buckets/in.c-API-sharing/metadata', { provider: 'user', metadata: [{ key, value }] })
    await set('first', '1')
    await share()
    await link()
    await set('second', '2')
    await set('first', 'changed')
    await taker.ok('POST', 'buckets/in.c-link/metadata', { provider: 'user', metadata: [{ key: 'own', value: 'x' }] })
    const pairs = (items: Bucket['metadata']) => items.map(({ key, value }) => `${key}=${value}`).toSorted()
    const expected = ['first=changed', 'own=x', 'second=2']
    assert.deepEqual(pairs(await taker.ok<Bucket['metadata']>('GET', 'buckets/in.c-link/metadata')), expected)
    assert.deepEqual(pairs((await taker.ok<Bucket>('GET', 'buckets/in.c-link')).metadata), expected)
  })

  await t.test('S10: a linked bucket is refused as such before its tables are counted', async () => {
    const { giver, share, link } = await projects('delete source')
    await share()
    await link()
    for (const path of ['buckets/in.c-API-sharing', 'buckets/in.c-API-sharing?force=1'])
      await giver.refused(['DELETE', path], 400, { code: 'storage.buckets.alreadyLinked' })
  })

  await t.test('S11: a column of a linked table is deleted with force, and the link follows', async () => {
    const { giver, taker, share, link } = await projects('columns')
    await share()
    await link()
    await giver.succeed('DELETE', 'tables/in.c-API-sharing.t/columns/name?force=1')
    assert.equal(await taker.rows('in.c-link.t'), '"id"\n"1"\n')
  })

  await t.test('S13: linked typed tables have their definition in lists', async () => {
    const { giver, taker, share, link } = await projects('typed')
    const columns = [{ name: 'n', definition: { type: 'INTEGER' } }]
    await giver.succeed('POST', 'buckets/in.c-API-sharing/tables-definition', { name: 'typed', columns })
    await share()
    await link()
    const listed = await taker.ok<{ id: string; definition?: { columns: Json[] } }[]>(
      'GET',
      'buckets/in.c-link/tables?include=columns,definition',
    )
    assert.equal(listed.find(({ id }) => id === 'in.c-link.typed')?.definition?.columns[0]?.name, 'n')
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
