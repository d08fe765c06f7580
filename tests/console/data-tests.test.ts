// Tests on data in a browser: added, failed by a load, read, switched off.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedIn, startBrowser } from '../support/browser.ts'
import { tableClient } from '../support/clients/table-client.ts'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

test('a test is added to a table in a browser, stops a load, and is switched off', { timeout: 900_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const tables = tableClient(stack)
  await tables.bucket('shop')
  await tables.create('in.c-shop', 'orders', 'id,name\n1,Tea\n')
  const firstState = new Date().toISOString()
  const { page, nothingWrong } = await signedIn(browser, stack, '/storage/in.c-shop.orders?tab=tests')
  await page.getByText('No test has run yet.').waitFor()
  await page.getByRole('button', { name: 'Add a test' }).click()
  await page.getByLabel('Name of the test').fill('ids are unique')
  await page.getByLabel('What is tested').selectOption('unique')
  assert.ok(await page.getByRole('button', { name: 'Create the test' }).isDisabled(), 'it needs columns')
  await page.getByLabel('Columns', { exact: true }).fill('id')
  await page.getByLabel('Columns', { exact: true }).press('Enter')
  await page.getByText('Rows are unique by id.').waitFor()
  await page.getByRole('button', { name: 'Create the test' }).click()
  await page.getByRole('row', { name: /ids are unique.*Rows are unique by id/ }).waitFor()
  await page.getByLabel('If ids are unique fails').selectOption('a warning')
  await until('it only warns', async () => {
    const { json } = await stack.request('GET', '/v2/storage/data-tests?tableId=in.c-shop.orders')
    return json<{ severity: string }[]>()[0]!.severity === 'warn'
  })
  await page.getByLabel('If ids are unique fails').selectOption('the load stops')
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.getByText('Passed').waitFor()

  const load = async () => {
    const json = { dataFileId: await tables.upload('id,name\n1,Tea\n1,Milk\n') }
    return tables.finish(await stack.request('POST', '/v2/storage/tables/in.c-shop.orders/import-async', { json }))
  }
  assert.equal((await load()).error?.code, 'storage.dataTests.failed')
  await page.reload()
  await page.getByText('ids are unique: 2 rows with a repeated value of id.').waitFor()
  await page.getByText(/the load was not published/).waitFor()
  await page.getByRole('button', { name: 'Switch off ids are unique' }).click()
  await page.getByRole('button', { name: 'Switch on ids are unique' }).waitFor()
  assert.equal((await load()).status, 'success')

  // Which load broke it, and the contract of the table.
  await page.getByLabel('When it held').fill(firstState)
  await page.getByRole('button', { name: 'Find the load' }).click()
  await page.getByText(/Broken since .* by storage\.tableImportDone/).waitFor()
  await page.getByText('No contract yet.').waitFor()
  await page.getByRole('button', { name: 'Import the contract' }).click()
  await page.getByText(/checks? in every load/).waitFor()
  await page.getByRole('button', { name: 'Delete the contract' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No contract yet.').waitFor()
  nothingWrong()
})
