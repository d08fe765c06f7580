// The database extractor by its forms alone: a connection, a row, and the table they make.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { signedIn, startBrowser } from '../support/browser.ts'
import { freshPostgres } from '../support/fresh-databases.ts'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

test('a table of a database is read by forms alone', { timeout: 200_000 }, async (t) => {
  const browser = await startBrowser(t)
  const stack = await startTestStack(t, { worker: { egressAllow: ['127.0.0.1'] } })
  const database = await freshPostgres()
  t.after(database.remove)
  const url = new URL((database.location as { url: string }).url) // of PostgreSQL
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  await client.query(
    `create table orders (id int primary key, price numeric(10,2)); insert into orders values (1, 2.50), (2, 0.10);
     create table lines (id int primary key); create schema sales; create table sales.lines (id int primary key); create view seen as select 1 as id`,
  )
  await client.end()
  const made = await stack.request('POST', '/v2/storage/components/platform.ex-database/configs', {
    json: { configurationId: 'shop', name: 'Shop database', configuration: {} },
  })
  assert.equal(made.status, 201, made.text)
  await stack.request('POST', '/v2/storage/components/platform.ex-database/configs/shop/rows', {
    json: { rowId: 'orders', name: 'orders' },
  })
  const { page, go, nothingWrong } = await signedIn(browser, stack, '/components')
  const save = async () => {
    await page.getByRole('button', { name: /^Save Ctrl/ }).click()
    await page.getByRole('region', { name: 'Unsaved changes' }).waitFor({ state: 'detached' })
  }
  const opened = (name: string) =>
    page.getByText(name, { exact: true }).locator('xpath=..').getByRole('button', { name: 'Set' }).click()
  await go('/components/platform.ex-database/shop')
  await opened('Database')
  await page
    .getByText(/^Settings, \d+ not set/)
    .first()
    .click()
  await page.getByLabel('Host', { exact: true }).first().fill(url.hostname)
  await page.getByLabel('Port', { exact: true }).first().fill(url.port)
  await page.getByLabel('User', { exact: true }).first().fill(decodeURIComponent(url.username))
  await page.getByPlaceholder('encrypted when it is saved').first().fill(decodeURIComponent(url.password))
  await page.getByLabel('Database', { exact: true }).last().fill(url.pathname.slice(1))
  await save()
  await go('/components/platform.ex-database/shop?row=orders')
  await opened('Table')
  for (const summary of await page.getByText(/^Settings, \d+ not set/).all()) await summary.click()
  await page.getByLabel('Table or view').fill('orders')
  await save()
  await page.getByRole('button', { name: /^Run/ }).first().click()
  const table = '/v2/storage/tables/in.c-platform-ex-database-shop.orders/data-preview'
  const rows = await until('the table is there', async () => {
    const preview = await stack.request('GET', table)
    return preview.status === 200 && preview.text.trim().split('\n').sort()
  })
  assert.deepEqual(rows, ['"1","2.50"', '"2","0.10"', '"id","price"'])

  const again = new pg.Client({ connectionString: url.href })
  await again.connect()
  await again.query('alter table orders alter price type numeric(12,4), add column note text')
  await again.end()
  await stack.request('POST', '/v2/storage/components/keboola.duckdb-transformation/configs', {
    json: {
      configurationId: 'sums',
      name: 'Sums of orders',
      configuration: {
        parameters: {},
        storage: { input: { tables: [{ source: 'in.c-platform-ex-database-shop.orders', destination: 'orders' }] } },
      },
    },
  })
  await go('/components/platform.ex-database/shop?row=orders')
  await page.getByRole('button', { name: 'Compare the columns with the source' }).click()
  const preview = page.getByRole('region', { name: 'What the next run would change' })
  await preview.getByText('The next run finds 2 changed columns.').waitFor()
  assert.match((await preview.innerText()).replace(/\s+/g, ' '), /note New text none STRING no configuration/)
  assert.match(
    (await preview.innerText()).replace(/\s+/g, ' '),
    /price Another type numeric\(12,4\) NUMERIC\(10,2\) NUMERIC\(12,4\) Sums of orders reads the table/,
  )
  const started = await stack.request('POST', '/queue/jobs', {
    json: { component: 'platform.ex-database', config: 'shop', mode: 'run' },
  })
  const { id } = started.json<{ id: string }>()
  await until(
    'the job is over',
    async () => (await stack.request('GET', `/queue/jobs/${id}`)).json<{ isFinished: boolean }>().isFinished,
  )
  await go(`/jobs/${id}`)
  const card = page.getByRole('region', { name: 'Changed columns of in.c-platform-ex-database-shop.orders' })
  await card.getByText('2 columns').waitFor()
  assert.match((await card.innerText()).replace(/\s+/g, ' '), /note New text none STRING/)

  await go('/components/platform.ex-database/shop')
  await page.getByRole('button', { name: 'Choose tables' }).click()
  const dialog = page.getByRole('dialog', { name: 'Choose tables' })
  const box = (name: string) => dialog.getByRole('checkbox', { name })
  assert.ok(await box('public.orders').isDisabled(), 'a row reads it')
  await dialog.getByLabel('Filter').fill('LINES')
  await box('public.lines').check()
  await box('sales.lines').check()
  await box('Read them together').check()
  await dialog.getByRole('button', { name: 'Add the tables' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('2 tables: lines, lines').first().waitFor()
  const added = await stack.request('GET', '/v2/storage/components/platform.ex-database/configs/shop')
  const { rows: both } = added.json<{ rows: { name: string; configuration: { parameters: object } }[] }>()
  assert.deepEqual(both.find(({ name }) => name === '2 tables: lines, lines')?.configuration.parameters, {
    tables: [
      { schema: 'public', tableName: 'lines', outputTable: 'public_lines' },
      { schema: 'sales', tableName: 'lines', outputTable: 'sales_lines' },
    ],
  })

  const { rows: _, ...whole } = added.json<{ rows: object; configuration: { parameters: { db: object } } }>()
  const parameters = { db: { ...whole.configuration.parameters.db, '#password': decodeURIComponent(url.password) } }
  await stack.request('POST', '/v2/storage/components/platform.ex-database-changes/configs', {
    json: {
      configurationId: 'live',
      name: 'Live',
      configuration: { parameters: { ...parameters, tables: [{ tableName: 'orders' }] } },
    },
  })
  await go('/components/platform.ex-database-changes/live')
  await page.getByRole('button', { name: 'Choose tables' }).click()
  await box('public.lines').check()
  assert.ok(await box('public.orders').isDisabled())
  assert.equal(await dialog.getByText('seen').count(), 0, 'a view has no changes')
  await dialog.getByRole('button', { name: 'Add the tables' }).click()
  await dialog.waitFor({ state: 'detached' })
  await save()
  const live = await stack.request('GET', '/v2/storage/components/platform.ex-database-changes/configs/live')
  assert.deepEqual(live.json<{ configuration: { parameters: { tables: object[] } } }>().configuration.parameters.tables, [
    { tableName: 'orders' },
    { schema: 'public', tableName: 'lines' },
  ])
  nothingWrong()
})
