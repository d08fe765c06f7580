import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newProjectClient } from '../../../../../../tests/support/clients/project-client.ts'
import { migratedPostgres } from '../../../../../../tests/support/fresh-databases.ts'
import { startTestStack } from '../../../../../../tests/support/test-stack.ts'

interface Line {
  readonly bucket: { readonly id: string; readonly tables: number; readonly isShared: boolean; readonly isLinked: boolean }
  readonly table: { readonly id: string; readonly rowsCount: number | null; readonly lastChangeDate: string | null } | null
}

for (const database of ['SQLite', 'PostgreSQL'] as const)
  test(`storage is browsed on ${database}`, async (t) => {
    const fresh = database === 'PostgreSQL' ? await migratedPostgres() : undefined
    if (fresh) t.after(fresh.remove)
    const stack = await startTestStack(t, fresh && { databaseUrl: (fresh.location as { url: string }).url })
    const client = await newProjectClient(stack, 'browse')
    await client.bucket('b')
    await client.bucket('a')
    await client.bucket('empty')
    await client.table('in.c-b', 'orders', 'id,total\n1,5\n2,6\n')
    await client.table('in.c-a', 'z', 'id,Needle\n1,x\n')
    await client.succeed('POST', 'buckets/in.c-a/tables-definition', { name: 'never', columns: [{ name: 'id' }] })
    const browse = (query = '', token?: string) =>
      client.call('GET', `browse?${query}`, token ? { token } : {}).then((answer) => answer.json<Line[]>())
    const idsOf = (lines: readonly Line[]) => lines.map(({ bucket, table }) => table?.id ?? bucket.id)

    await t.test('tables come by bucket and name, with empty buckets, a page at a time', async () => {
      const all = ['in.c-a.never', 'in.c-a.z', 'in.c-b.orders', 'in.c-empty']
      assert.deepEqual(idsOf(await browse()), all)
      assert.deepEqual(idsOf(await browse('limit=2&offset=1')), all.slice(1, 3))
      const [never] = await browse('limit=1')
      assert.deepEqual(never?.bucket, { id: 'in.c-a', tables: 2, isShared: false, isLinked: false })
      assert.deepEqual([never?.table?.rowsCount, never?.table?.lastChangeDate], [0, null])
      const totals = (await client.call('GET', 'browse/totals')).json<{ tables: number; buckets: number; bytes: number }>()
      assert.deepEqual([totals.tables, totals.buckets, totals.bytes > 0], [3, 3, true])
    })

    await t.test('a text is found in ids and in names of columns, whatever its case; an empty bucket by its id', async () => {
      assert.deepEqual(idsOf(await browse('text=c-b.ord')), ['in.c-b.orders'])
      assert.deepEqual(idsOf(await browse('text=NEEDLE')), ['in.c-a.z'])
      assert.deepEqual(idsOf(await browse('text=empty')), ['in.c-empty'])
      assert.deepEqual(idsOf(await browse('text=%25')), [])
    })

    await t.test('tables are chosen by id, size and time, and sorted', async () => {
      assert.deepEqual(idsOf(await browse('tableId[]=in.c-b.orders&tableId[]=in.c-a.gone')), ['in.c-b.orders'])
      assert.deepEqual(idsOf(await browse('neverLoaded=true')), ['in.c-a.never'])
      assert.deepEqual(idsOf(await browse('minBytes=1')).toSorted(), ['in.c-a.z', 'in.c-b.orders'])
      assert.deepEqual(idsOf(await browse('changedBefore=2020-01-01T00:00:00Z')), [])
      assert.deepEqual(idsOf(await browse('sort=rows')), ['in.c-b.orders', 'in.c-a.z', 'in.c-a.never'])
      assert.deepEqual(idsOf(await browse('sort=changed')), ['in.c-a.z', 'in.c-b.orders', 'in.c-a.never'])
      const wrong = await client.call('GET', 'browse?sort=colour')
      assert.equal(wrong.status, 400)
    })

    await t.test('a time that cannot be read is refused', async () => {
      for (const name of ['changedAfter', 'changedBefore'])
        assert.equal((await client.call('GET', `browse?${name}=2016-12-31T23:59:60Z`)).status, 400, name)
    })

    await t.test('a token sees the buckets that it may read', async () => {
      const { token } = await client.token({ description: 'one', bucketPermissions: { 'in.c-b': 'read' } })
      assert.deepEqual(idsOf(await browse('', token)), ['in.c-b.orders'])
      const none = await client.token({ description: 'none', componentAccess: [] })
      assert.deepEqual(await browse('', none.token), [])
      assert.deepEqual(await browse('tableId[]=in.c-a.z', token), [])
    })

    await t.test('another project sees nothing of it, but the tables of a bucket that it links', async () => {
      const other = await newProjectClient(stack, 'other')
      const seen = async () => (await other.call('GET', 'browse')).json<Line[]>()
      assert.deepEqual(await seen(), [])
      await client.succeed('POST', 'buckets/in.c-b/share-organization')
      const link = { name: 'link', stage: 'in', sourceProjectId: client.projectId, sourceBucketId: 'in.c-b' }
      await other.ok('POST', 'buckets', link)
      const lines = await seen()
      assert.deepEqual(idsOf(lines), ['in.c-link.orders'])
      assert.deepEqual(lines[0]?.bucket, { id: 'in.c-link', tables: 1, isShared: false, isLinked: true })
      assert.equal((await browse('text=orders'))[0]?.bucket.isShared, true)
    })
  })
