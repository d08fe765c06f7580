// The database writer by its forms alone: a connection, a row, and the table they fill in another database.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { checkScreen, signedIn, startBrowser } from '../support/browser.ts'
import { freshPostgres } from '../support/fresh-databases.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

const COLUMNS = 'id,email\n'

/** An address that counts what is posted to it. */
async function startWebhook(t: TestContext) {
  const got: string[] = []
  const server = createServer(async (request, response) => {
    got.push(await text(request))
    response.end('ok')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, got } // a TCP server has an address with a port
}

test('each kind of delivery by forms and templates alone', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t)
  const outbox = mkdtempSync(join(tmpdir(), 'millrace-outbox-'))
  const stack = await startTestStack(t, { worker: { egressAllow: ['127.0.0.1'], folders: { read: {}, write: { outbox } } } })
  const database = await freshPostgres()
  const url = new URL((database.location as { url: string }).url) // of PostgreSQL
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  t.after(async () => {
    await client.end()
    await database.remove()
    rmSync(outbox, { recursive: true, force: true })
  })
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'shop' } })
  const place = { browser, stack, outbox, url, client }
  await t.test('a table is delivered to a database, and its rows again', () => toDatabase(place))
  await t.test(
    'templates deliver a table as a file, a message, rows and requests, each previewed before it is created',
    (inner) => byTemplates(inner, place),
  )
})

interface Place {
  readonly browser: Awaited<ReturnType<typeof startBrowser>>
  readonly stack: TestStack
  readonly outbox: string
  readonly url: URL
  readonly client: pg.Client
}

async function byTemplates(t: TestContext, { browser, stack, outbox, url, client }: Place): Promise<void> {
  const webhook = await startWebhook(t)
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables', {
    json: { name: 'contacts', dataString: `${COLUMNS}1,ann@example.com\n2,bob@example.com\n`, primaryKey: 'id' },
  })
  assert.equal(made.status, 201, made.text)
  const opened = await signedIn(browser, stack, '/templates')
  const { page, go } = opened
  const dialog = page.getByRole('dialog')
  const sample = dialog.getByRole('region', { name: 'What would be sent' })
  /** Fills in the form, looks at the preview, creates the delivery and runs it. */
  async function deliver(name: string, fields: Readonly<Record<string, string>>, look: () => Promise<void>): Promise<void> {
    await go('/templates')
    await page.getByRole('button', { name: `Use ${name}` }).click()
    await dialog.getByLabel('Table', { exact: true }).fill('in.c-shop.contacts')
    for (const [label, value] of Object.entries(fields))
      if (value.endsWith('ticked')) await dialog.getByLabel(label).setChecked(value === 'ticked')
      else await dialog.getByLabel(label, { exact: true }).fill(value)
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await look()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('region', { name: 'Created from templates' }).getByRole('link', { name, exact: true }).click()
    await page.getByRole('button', { name: /^Run/ }).first().click()
    await page.waitForURL(/\/jobs\/\d+/) // leaving before would cancel the request
  }
  await deliver('Table as a CSV link', { 'Folder of the machine': 'ticked', Folder: 'outbox' }, async () => {
    await sample.getByText('table.csv: 2 rows').waitFor()
  })
  const path = join(outbox, 'table.csv')
  const csv = await until('the file is written', () => existsSync(path) && readFileSync(path, 'utf8'))
  assert.equal(csv.replaceAll('"', ''), `${COLUMNS}1,ann@example.com\n2,bob@example.com\n`)

  await deliver('Table to Slack', { 'Address of the incoming webhook': webhook.url }, async () => {
    await sample.getByText('1  ann@example.com').waitFor()
    assert.equal(webhook.got.length, 0)
  })
  await until('the message is sent', () => webhook.got.length === 1)
  assert.match(webhook.got[0] ?? '', /bob@example\.com/)

  const connection = {
    'Table in the database': 'contacts',
    ...{
      Host: url.hostname,
      Port: url.port,
      User: decodeURIComponent(url.username),
      Password: decodeURIComponent(url.password) || 'any',
    },
    ...{ Database: url.pathname.slice(1), 'Use TLS': 'unticked' },
  }
  await deliver('Table to PostgreSQL', connection, async () => {
    await sample.getByText('2 inserted; the table has 2 rows').waitFor()
  })
  await until('the rows are in the database', async () => {
    const { rows } = await client.query("select to_regclass('contacts') is not null as made")
    return rows[0]?.made && (await client.query('select * from contacts')).rows.length === 2
  })

  await deliver('Table to an HTTP API', {}, async () => {
    await sample.getByText('2 upsert; the table has 2 rows').waitFor()
    await sample.getByText(/PUT .*\/sample\/contacts\/1\s+\{"id":"1","email":"ann@example.com"\}/).waitFor()
  })
  await go('/deliveries')
  const list = page.getByRole('region', { name: 'Deliveries' })
  await list.getByRole('row', { name: /Table to an HTTP API in.c-shop.contacts up to date .* 2 delivered/ }).waitFor()
  await list.getByRole('row', { name: /Table to Slack .* 1 message sent/ }).waitFor()
  await checkScreen(opened, '/deliveries')
  opened.nothingWrong()
}

async function toDatabase({ browser, stack, url, client }: Place): Promise<void> {
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables', {
    json: { name: 'orders', dataString: 'id,price\n1,2.50\n2,0.10\n', primaryKey: 'id' },
  })
  assert.equal(made.status, 201, made.text)
  const configs = '/v2/storage/components/platform.wr-database/configs'
  await stack.request('POST', configs, { json: { configurationId: 'crm', name: 'CRM', configuration: {} } })
  const storage = { input: { tables: [{ source: 'in.c-shop.orders' }] } }
  await stack.request('POST', `${configs}/crm/rows`, { json: { rowId: 'orders', name: 'orders', configuration: { storage } } })
  const opened = await signedIn(browser, stack, '/components')
  const { page, go, nothingWrong } = opened
  const save = async () => {
    await page.getByRole('button', { name: /^Save Ctrl/ }).click()
    await page.getByRole('region', { name: 'Unsaved changes' }).waitFor({ state: 'detached' })
  }
  const setUp = (name: string) =>
    page.getByText(name, { exact: true }).locator('xpath=..').getByRole('button', { name: 'Set' }).click()
  await go('/components/platform.wr-database/crm')
  await setUp('Database')
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
  await go('/components/platform.wr-database/crm?row=orders')
  await setUp('Table')
  for (const summary of await page.getByText(/^Settings, \d+ not set/).all()) await summary.click()
  await page.getByLabel('Table in the database', { exact: true }).fill('orders')
  await page.getByRole('button', { name: 'Preview the delivery' }).click()
  const preview = page.getByRole('region', { name: 'What would be sent' })
  await preview.getByText('2 inserted; the table has 2 rows').waitFor()
  await preview.getByText('insert {"id":"1","price":"2.50"}').waitFor()
  await save()
  await page.getByRole('button', { name: /^Run/ }).first().click()
  const rows = await until('the rows are in the database', async () => {
    const { rows: found } = await client.query("select to_regclass('orders') is not null as made")
    if (!found[0]?.made) return false
    return (await client.query({ text: 'select * from orders order by id', rowMode: 'array' })).rows.map(String)
  })
  assert.deepEqual(rows, ['1,2.50', '2,0.10'])
  await go('/components/platform.wr-database/crm?row=orders')
  await page.getByText(/is up to date, last .*: 2 inserted/).waitFor()

  // What was sent, and one row again: it is put back as it is in the project.
  await client.query("update orders set price = 7 where id = '2'; delete from orders where id = '1'")
  await page.getByRole('navigation', { name: 'Parts of the configuration' }).getByRole('link', { name: 'Deliveries' }).click()
  await page.getByRole('region', { name: 'What was sent' }).getByText('2 inserted').waitFor()
  await page.getByRole('region', { name: 'How far the target is behind' }).getByText('up to date').waitFor()
  await page.getByLabel('Values of id, one row on each line').fill('2')
  await page.getByRole('button', { name: 'Send again', exact: true }).click()
  await page.getByRole('region', { name: 'What was sent' }).getByText('1 updated').waitFor()
  assert.deepEqual((await client.query('select id, price from orders')).rows, [{ id: '2', price: '0.10' }])

  await apiDelivery(stack)
  await go('/components/platform.wr-http/shop?tab=deliveries')
  const receipts = page.getByRole('region', { name: 'Receipts' })
  await receipts.getByText('is not an email address', { exact: false }).waitFor()
  await receipts.getByRole('button', { name: 'All', exact: true }).click()
  await receipts.getByText('delivered', { exact: true }).waitFor()
  await checkScreen(opened, '/components/platform.wr-http/shop?tab=deliveries')
  const repaired = { dataString: 'id,email\n1,ann@example.com\n2,bob@example.com\n' }
  const imported = await stack.request('POST', '/v2/storage/tables/in.c-shop.people/import', { json: repaired })
  assert.ok(imported.status < 300, imported.text)
  await receipts.getByRole('button', { name: 'Not delivered' }).click()
  await receipts.getByLabel('Select 2').check()
  await receipts.getByRole('button', { name: 'Send 1 row again' }).click()
  await receipts.getByText('Every row arrived.').waitFor()

  await go('/deliveries')
  const list = page.getByRole('region', { name: 'Deliveries' })
  await list.getByRole('row', { name: /CRM in.c-shop.orders up to date .* 2 inserted/ }).waitFor()
  await list.getByRole('row', { name: /Contacts of the shop in.c-shop.people .* behind .* 1 delivered, 1 rejected/ }).waitFor()
  await go('/storage/in.c-shop.people?tab=lineage')
  await page.getByText(/delivers it, .* behind/).waitFor()
  nothingWrong()
}

/** Two contacts for the sample shop, of which it refuses one. */
async function apiDelivery(stack: TestStack): Promise<void> {
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables', {
    json: { name: 'people', dataString: 'id,email\n1,ann@example.com\n2,nobody\n', primaryKey: 'id' },
  })
  assert.equal(made.status, 201, made.text)
  const authentication = {
    type: 'login',
    loginRequest: { endpoint: 'login', method: 'POST', params: { username: 'ada', password: { attr: '#password' } } },
    apiRequest: { headers: { 'X-Sample-Session': { response: 'token' } } },
  }
  const parameters = {
    api: { baseUrl: `${stack.url}/sample/`, authentication },
    config: { '#password': 'lovelace' },
    requests: { upsert: { path: 'contacts/{{id}}' } },
    maxFailedPercent: 50,
  }
  const storage = { input: { tables: [{ source: 'in.c-shop.people' }] } }
  await stack.request('POST', '/v2/storage/components/platform.wr-http/configs', {
    json: { configurationId: 'shop', name: 'Contacts of the shop', configuration: { parameters, storage } },
  })
  const job = await stack.request('POST', '/queue/jobs', { json: { component: 'platform.wr-http', config: 'shop', mode: 'run' } })
  const { id } = job.json<{ id: string }>()
  await until('the delivery ends', async () => {
    const { isFinished } = (await stack.request('GET', `/queue/jobs/${id}`)).json<{ isFinished: boolean }>()
    return isFinished
  })
}
