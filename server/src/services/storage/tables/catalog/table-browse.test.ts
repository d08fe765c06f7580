import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
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

    await t.test('a name is found in ids and display names only, the closest first', async () => {
      await client.bucket('close')
      for (const name of ['xneedle', 'needles', 'needle']) await client.table('in.c-close', name, 'id\n1\n')
      assert.deepEqual(
        idsOf(await browse('name=Needle')),
        ['needle', 'needles', 'xneedle'].map((name) => `in.c-close.${name}`),
      )
      assert.deepEqual(idsOf(await browse('name=c-close.needle')).length, 2)
      await client.ok('DELETE', 'buckets/in.c-close?force=true')
    })

    await t.test('columns come with the tables on request', async () => {
      const columnsOf = async (query: string) =>
        (await browse(query)).map(({ table }) => (table as { readonly columns?: readonly string[] } | null)?.columns)
      assert.deepEqual(await columnsOf('include=columns&tableId[]=in.c-b.orders'), [['id', 'total']])
      assert.deepEqual(await columnsOf('tableId[]=in.c-b.orders'), [undefined])
      assert.equal((await client.call('GET', 'browse?include=rows')).status, 400)
    })

    await t.test('buckets are browsed by id and name, and chosen by id', async () => {
      const buckets = async (query = '', token?: string) =>
        (await client.call('GET', `browse/buckets?${query}`, token ? { token } : {})).json<{ id: string; isLinked: boolean }[]>()
      const idsOfBuckets = async (query = '', token?: string) => (await buckets(query, token)).map(({ id }) => id)
      assert.deepEqual(await idsOfBuckets(), ['in.c-a', 'in.c-b', 'in.c-empty'])
      assert.deepEqual(await idsOfBuckets('limit=1&offset=1'), ['in.c-b'])
      assert.deepEqual(await idsOfBuckets('text=EMP'), ['in.c-empty'])
      assert.deepEqual(await idsOfBuckets('bucketId[]=in.c-b&bucketId[]=in.c-gone'), ['in.c-b'])
      const { token } = await client.token({ description: 'two', bucketPermissions: { 'in.c-b': 'read' } })
      assert.deepEqual(await idsOfBuckets('', token), ['in.c-b'])
      const none = await client.token({ description: 'none', componentAccess: [] })
      assert.deepEqual(await idsOfBuckets('', none.token), [])
      const other = await newProjectClient(stack, 'beside')
      assert.deepEqual((await other.call('GET', 'browse/buckets')).json(), [])
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
      assert.deepEqual((await other.call('GET', 'browse/buckets')).json(), [
        { id: 'in.c-link', displayName: 'link', isLinked: true },
      ])
    })

    await t.test('pages of the list of tables have those of linked buckets, without aliases that filter', async () => {
      const other = await newProjectClient(stack, 'pages')
      await client.ok('POST', 'buckets/in.c-b/table-aliases', { sourceTable: 'in.c-b.orders', name: 'all' })
      await client.ok('POST', 'buckets/in.c-b/table-aliases', {
        ...{ sourceTable: 'in.c-b.orders', name: 'some' },
        aliasFilter: { column: 'id', operator: 'eq', values: ['1'] },
      })
      await other.bucket('own')
      await other.table('in.c-own', 'first', 'id\n1\n')
      const link = { name: 'link', stage: 'in', sourceProjectId: client.projectId, sourceBucketId: 'in.c-b' }
      await other.ok('POST', 'buckets', link)
      const page = async (query: string) => {
        const answer = await other.call('GET', `tables?fields=id&${query}`)
        const ids = answer.json<{ id: string }[]>().map(({ id }) => id)
        return { ids, total: answer.headers.get('x-millrace-total') }
      }
      const whole = await page('limit=10')
      assert.deepEqual(whole.ids.toSorted(), ['in.c-link.all', 'in.c-link.orders', 'in.c-own.first'])
      const pages = await Promise.all([0, 1, 2, 3].map((offset) => page(`limit=1&offset=${offset}`)))
      assert.deepEqual(
        pages.flatMap(({ ids }) => ids),
        whole.ids,
      )
      assert.deepEqual(new Set([whole, ...pages].map(({ total }) => total)), new Set(['3']))
      const list = (await other.call('GET', 'tables')).json<{ id: string }[]>().map(({ id }) => id)
      assert.deepEqual(list.toSorted(), whole.ids.toSorted())
    })

    await t.test('a page of tables in 12,000 buckets costs a fraction of the whole list', async () => {
      const many = await newProjectClient(stack, 'many')
      await many.bucket('x')
      await many.table('in.c-x', 'seed', 'id\n1\n')
      const { db } = stack.platform.metadata
      const numbers =
        database === 'PostgreSQL'
          ? sql`select i from generate_series(1, 12000) as g(i)`
          : sql`with recursive g(i) as (select 1 union all select i + 1 from g where i < 12000) select i from g`
      const seed = sql`select b.id from bucket as b where b.project_id = ${many.projectId}`
      await sql`insert into bucket (project_id, branch_id, bucket_id, name, stage, display_name, description, created_at)
        select b.project_id, b.branch_id, 'in.c-n' || i, 'c-n' || i, 'in', 'n' || i, '', b.created_at
        from bucket as b, (${numbers}) as n where b.id in (${seed})`.execute(db)
      await sql`insert into data_table (project_id, bucket, name, display_name, columns, primary_key, snapshot, created_at)
        select t.project_id, b.id, 't', 't', t.columns, t.primary_key, t.snapshot, t.created_at
        from bucket as b, data_table as t where b.project_id = ${many.projectId} and b.name <> 'c-x' and t.project_id = b.project_id`.execute(
        db,
      )
      const cost = async (query: string) => {
        const before = process.cpuUsage()
        const answer = await many.call('GET', `tables?include=&${query}`)
        const { user, system } = process.cpuUsage(before)
        return { tables: answer.json<unknown[]>().length, total: answer.headers.get('x-millrace-total'), cpu: user + system }
      }
      await cost('limit=1')
      const [page, whole] = [await cost('limit=100'), await cost('')]
      assert.deepEqual([page.tables, page.total, whole.tables], [100, '12001', 12_001])
      assert.ok(page.cpu < whole.cpu / 3, `${page.cpu} of ${whole.cpu}`)
    })
  })
