// A connector of the catalogue by the console alone: added, set up by its own form, tested, its streams chosen, run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedIn, startBrowser } from '../support/browser.ts'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

test('a connector of the catalogue is added and read without JSON', { timeout: 200_000 }, async (t) => {
  const browser = await startBrowser(t)
  const stack = await startTestStack(t)
  const { page, go, nothingWrong, mayComplainOf } = await signedIn(browser, stack, '/components')
  await go('/components?view=catalogue')
  await page.getByRole('list', { name: 'Connectors', exact: true }).getByRole('heading', { name: 'Stripe' }).waitFor()
  await page.getByLabel('Filter by name').fill('shop')
  await page.getByRole('button', { name: 'Add Sample shop' }).click()
  await page.getByText('2 streams: customers, orders.').waitFor()
  await page.getByRole('button', { name: 'Create the configuration' }).click()

  const settings = page.getByRole('region', { name: 'Root of the configuration' })
  await settings.getByLabel('URL of the shop').fill(`${stack.url}/sample`)
  await settings.getByPlaceholder('encrypted when it is saved').fill('hopper')
  mayComplainOf(/400 \(Bad Request\).*sync-actions/) // the login is refused
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page
    .getByText(/failed with status 401|log in/i)
    .first()
    .waitFor()
  await settings.getByPlaceholder('encrypted when it is saved').fill('lovelace')
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByText('The connection works.').waitFor()
  await page.getByRole('button', { name: /^Save Ctrl/ }).click()
  await page.getByRole('region', { name: 'Unsaved changes' }).waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Choose streams' }).click()
  await page.getByRole('button', { name: 'Sample of orders' }).click()
  await page.getByText('"customerId"').waitFor()
  await page.getByRole('checkbox', { name: 'orders incremental, key id' }).check()
  await page.getByRole('button', { name: 'Add the streams' }).click()
  await page.getByRole('button', { name: 'Add the streams' }).waitFor({ state: 'detached' })
  await page.getByRole('complementary', { name: 'Rows' }).getByText('orders', { exact: true }).waitFor()
  await page.getByRole('button', { name: /^Run/ }).first().click()
  const count = await until('the table is there', async () => {
    const tables = (await stack.request('GET', '/v2/storage/tables')).json<{ id: string; rowsCount: number }[]>()
    return tables.find(({ id }) => id.endsWith('.orders'))?.rowsCount
  })
  assert.ok(count > 100, String(count))
  nothingWrong()
})
