import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newProjectClient } from '../../../../../../tests/support/clients/project-client.ts'
import { migratedPostgres } from '../../../../../../tests/support/fresh-databases.ts'
import { startTestStack } from '../../../../../../tests/support/test-stack.ts'

const HTTP = 'keboola.ex-generic-v2'
const SQL = 'keboola.duckdb-transformation'

interface Line {
  readonly componentId: string
  readonly configurationId: string
  readonly folder: string
}

for (const database of ['SQLite', 'PostgreSQL'] as const)
  test(`configurations are browsed on ${database}`, async (t) => {
    const fresh = database === 'PostgreSQL' ? await migratedPostgres() : undefined
    if (fresh) t.after(fresh.remove)
    const stack = await startTestStack(t, fresh && { databaseUrl: (fresh.location as { url: string }).url })
    const client = await newProjectClient(stack, 'browse')
    const create = (component: string, id: string, name: string) =>
      client.ok('POST', `components/${component}/configs`, { configurationId: id, name, configuration: {} })
    await create(HTTP, 'b', 'Second')
    await create(HTTP, 'a', 'First')
    await create(SQL, 'sums', 'Sums')
    await create(SQL, 'filed', 'Filed')
    await create('keboola.scheduler', 'nightly', 'Nightly')
    await create(HTTP, 'gone', 'Gone')
    await client.ok('DELETE', `components/${HTTP}/configs/gone`)
    const folder = [{ key: 'KBC.configuration.folderName', value: 'Reports' }]
    await client.ok('POST', `branch/default/components/${SQL}/configs/filed/metadata`, { metadata: folder })
    const browse = async (query = '', token?: string) => {
      const path = `browse/configurations?exceptComponentId=keboola.scheduler&${query}`
      return (await client.call('GET', path, token ? { token } : {})).json<Line[]>()
    }
    const idsOf = (lines: readonly Line[]) => lines.map(({ configurationId }) => configurationId)
    const all = ['filed', 'sums', 'a', 'b']

    await t.test('those in folders come first, then by component and id, a page at a time', async () => {
      const found = await browse()
      assert.deepEqual(idsOf(found), all)
      assert.deepEqual(
        found.map((line) => line.folder),
        ['Reports', '', '', ''],
      )
      const pages = await Promise.all([0, 1, 2, 3, 4].map((offset) => browse(`limit=1&offset=${offset}`)))
      assert.deepEqual(idsOf(pages.flat()), all)
      assert.deepEqual(idsOf(await browse('limit=2&offset=1')), all.slice(1, 3))
    })

    await t.test('a text is found in names, ids and names of components', async () => {
      assert.deepEqual(idsOf(await browse('text=FIRST')), ['a'])
      assert.deepEqual(idsOf(await browse('text=sum')), ['sums'])
      assert.deepEqual(idsOf(await browse('text=http%20extractor')), ['a', 'b'])
    })

    await t.test('they are chosen by component, by what can run, and by a variable of the vault', async () => {
      assert.deepEqual(idsOf(await browse(`componentId[]=${SQL}`)), ['filed', 'sums'])
      assert.deepEqual(idsOf(await browse(`componentId[]=platform.ex-http&componentId[]=none`)), ['a', 'b'])
      const all = (await client.call('GET', 'browse/configurations')).json<Line[]>()
      assert.ok(idsOf(all).includes('nightly'))
      const runnable = (await client.call('GET', 'browse/configurations?canRun=true')).json<Line[]>()
      assert.deepEqual(idsOf(runnable), ['filed', 'sums', 'a', 'b'])
      const put = (id: string, text: string) =>
        client.ok('PUT', `components/${HTTP}/configs/${id}`, { configuration: { parameters: { text } } })
      await put('a', '{{ vault.KEY }}')
      await put('b', '{{vault.KEY2}} and the vault.KEYS')
      await client.ok('POST', `components/${SQL}/configs/sums/rows`, { rowId: 'r', configuration: { text: '{{{vault.KEY}}}' } })
      assert.deepEqual(idsOf(await browse('vaultVariable=KEY')), ['sums', 'a'])
      assert.deepEqual(idsOf(await browse('vaultVariable=KEY2')), ['b'])
      await client.ok('DELETE', `components/${SQL}/configs/sums/rows/r`)
      assert.deepEqual(idsOf(await browse('vaultVariable=KEY')), ['a'])
    })

    await t.test('deleted ones are listed alone, and are not counted', async () => {
      assert.deepEqual(idsOf(await browse('isDeleted=true')), ['gone'])
      await client.ok('PUT', `components/${HTTP}/configs/a`, { isDisabled: true })
      const counts = (await client.call('GET', 'browse/configurations/totals')).json<{ componentId: string }[]>()
      const wanted = counts.filter(({ componentId }) => componentId !== 'keboola.scheduler')
      assert.deepEqual(wanted, [
        { componentId: SQL, configurations: 2, disabled: 0 },
        { componentId: HTTP, configurations: 2, disabled: 1 },
      ])
    })

    await t.test('a token sees the components that it may use, and another project nothing', async () => {
      const { token } = await client.token({ description: 'one', componentAccess: [SQL] })
      assert.deepEqual(idsOf(await browse('', token)), ['filed', 'sums'])
      const counts = await client.call('GET', 'browse/configurations/totals', { token })
      assert.deepEqual(
        counts.json<{ componentId: string }[]>().map(({ componentId }) => componentId),
        [SQL],
      )
      const other = await newProjectClient(stack, 'other')
      assert.deepEqual((await other.call('GET', 'browse/configurations')).json(), [])
    })

    await t.test('names of some are found in one request, with deleted and unknown ones as null', async () => {
      const names = (configurations: readonly object[], token?: string) =>
        client.call('POST', 'browse/configurations/names', { json: { configurations }, ...(token ? { token } : {}) })
      const wanted = [
        { componentId: SQL, configurationId: 'sums' },
        { componentId: HTTP, configurationId: 'b' },
        { componentId: 'platform.ex-http', configurationId: 'b' },
        { componentId: HTTP, configurationId: 'sums' },
        { componentId: HTTP, configurationId: 'gone' },
        { componentId: HTTP },
        { componentId: 'no.such', configurationId: 'a' },
      ]
      const found = (await names(wanted)).json<{ name: string | null; componentName: string | null }[]>()
      assert.deepEqual(
        found.map(({ name }) => name),
        ['Sums', 'Second', 'Second', null, null, null, null],
      )
      assert.equal(found[5]!.componentName, found[1]!.componentName)
      assert.deepEqual(found[6], { componentId: 'no.such', configurationId: 'a', name: null, componentName: null })
      assert.deepEqual((await names([])).json(), [])
      const { token } = await client.token({ description: 'two', componentAccess: [SQL] })
      const ofToken = (await names(wanted.slice(0, 2), token)).json<{ name: string | null }[]>()
      assert.deepEqual(
        ofToken.map(({ name }) => name),
        ['Sums', null],
      )
      const other = await newProjectClient(stack, 'without names')
      const ofOther = await other.call('POST', 'browse/configurations/names', { json: { configurations: wanted.slice(0, 1) } })
      assert.equal(ofOther.json<{ name: string | null }[]>()[0]!.name, null)
    })

    await t.test('more names than the limit are refused', async () => {
      const configurations = Array.from({ length: 201 }, (_, index) => ({ componentId: HTTP, configurationId: String(index) }))
      const refused = await client.call('POST', 'browse/configurations/names', { json: { configurations } })
      assert.equal(refused.status, 400)
      assert.match(refused.json<{ error: string }>().error, /configurations.*200/)
      const most = { configurations: configurations.slice(1) }
      assert.equal((await client.call('POST', 'browse/configurations/names', { json: most })).json<unknown[]>().length, 200)
    })
  })
