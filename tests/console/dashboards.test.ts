// Dashboards in a browser: made of saved queries, filtered, refreshed by loads, shared by a link.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkScreen, checkScreensOn, openPage, signedIn, startBrowser } from '../support/browser.ts'
import { tableClient } from '../support/clients/table-client.ts'
import { startTestStack } from '../support/test-stack.ts'

test('dashboards in a browser', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const tables = tableClient(stack)
  await tables.bucket()
  await tables.create('in.c-main', 'orders', 'id,city,day\n1,Praha,Mon\n2,Brno,Mon\n3,Praha,Tue\n')
  const save = (name: string, sql: string, parameters: object[] = []) =>
    stack.request('POST', '/v2/storage/saved-queries', { json: { name, sql, parameters } })
  const without = { name: 'without', type: 'text', default: '' }
  await save('All orders', 'SELECT count(*) AS n FROM "in.c-main"."orders" WHERE city <> $without', [without])
  await save(
    'By city',
    'SELECT day, city, count(*) AS n FROM "in.c-main"."orders" WHERE city <> $without GROUP BY ALL ORDER BY day, city',
    [without],
  )
  const opened = await signedIn(browser, stack, '/dashboards')
  const { page, nothingWrong } = opened
  const tile = (name: string) => page.getByRole('region', { name, exact: true })

  await t.test('a dashboard is made of saved queries, with a filter and an alert', async () => {
    await page.getByRole('button', { name: /^New dashboard/ }).click()
    await page.getByLabel('Name', { exact: true }).fill('Shop')
    await page.getByRole('button', { name: 'Create the dashboard' }).click()
    await page.getByRole('heading', { name: 'Shop' }).waitFor()
    await page.getByLabel('Add a saved query').selectOption({ label: 'All orders' })
    await page.getByLabel('Kind of tile 1').selectOption('figure')
    await page.getByLabel('Alert of tile 1').selectOption('above')
    await page.getByLabel('Bound of tile 1').fill('2')
    await page.getByLabel('Add a saved query').selectOption({ label: 'By city' })
    await page.getByLabel('Kind of tile 2').selectOption('line')
    await page.getByLabel('What of tile 2').fill('day')
    await page.getByLabel('One for each of tile 2').fill('city')
    await page.getByLabel('Width of tile 2').selectOption('2')
    await page.getByLabel('Add a saved query').selectOption({ label: 'By city' })
    await page.getByLabel('Title of tile 3').fill('Rows')
    await page.getByLabel('Width of tile 3').selectOption('3')
    await page.getByRole('button', { name: 'Add a filter' }).click()
    await page.getByLabel('Parameter of filter 1').fill('without')
    await page.getByLabel('Label of filter 1').fill('Without')
    await page.getByRole('button', { name: 'Save the dashboard' }).click()
    await page.getByText('The dashboard is saved.').waitFor()
    await page.getByRole('button', { name: 'Close the editor' }).click()
    await tile('All orders').getByText('3', { exact: true }).waitFor()
    await tile('All orders').getByText('Above 2').waitFor()
    await tile('By city').getByRole('img', { name: 'By city' }).waitFor()
    await tile('Rows').getByRole('cell', { name: 'Brno' }).waitFor()
    nothingWrong()
  })

  await t.test('a filter reaches every tile, and a load refreshes the page by itself', async () => {
    await page.getByLabel('Without').fill('Brno')
    await page.getByRole('button', { name: 'Apply' }).click()
    await tile('All orders').getByText('2', { exact: true }).waitFor()
    assert.equal(await tile('Rows').getByRole('cell', { name: 'Brno' }).count(), 0)
    await tables.load('in.c-main.orders', 'id,city,day\n1,Praha,Mon\n')
    await tile('All orders').getByText('1', { exact: true }).waitFor()
    assert.equal(await tile('All orders').getByText('Above 2').count(), 0)
    await page.getByLabel('Without').fill('')
    await page.getByRole('button', { name: 'Apply' }).click()
    await tables.load('in.c-main.orders', 'id,city,day\n1,Praha,Mon\n2,Brno,Mon\n3,Praha,Tue\n')
    await tile('All orders').getByText('3', { exact: true }).waitFor()
    await checkScreen(opened, '/dashboard')
    nothingWrong()
  })

  await t.test('a link shows the results without a session, and ends when it is revoked', async () => {
    await page.getByRole('button', { name: 'Share' }).click()
    const drawer = page.getByRole('dialog', { name: 'Share Shop' })
    await drawer.getByRole('button', { name: 'Create a link' }).click()
    const address = (await drawer.locator('code').textContent())!
    const other = await openPage(browser)
    await other.page.goto(address)
    await other.page.getByRole('heading', { name: 'Shop' }).waitFor()
    await other.page.getByRole('region', { name: 'All orders' }).getByText('3', { exact: true }).waitFor()
    await other.page.getByLabel('Without').fill('Praha')
    await other.page.getByRole('button', { name: 'Apply' }).click()
    await other.page.getByRole('region', { name: 'All orders' }).getByText('1', { exact: true }).waitFor()
    await checkScreen(other, '/shared')
    other.nothingWrong()
    await drawer.getByRole('button', { name: 'Revoke' }).click()
    await page
      .getByRole('dialog', { name: /^Revoke: the link until/ })
      .getByRole('button', { name: 'Revoke' })
      .click()
    await drawer.getByText('It has no link.').waitFor()
    await other.page.reload()
    await other.page.getByText('This link does not exist, has expired or is revoked.').waitFor()
    await other.page.context().close()
    await page.keyboard.press('Escape')
    nothingWrong()
  })

  await t.test('a change is undone, and the dashboard is deleted after what it ends was read', async () => {
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('button', { name: 'Remove tile 3' }).click()
    await page.getByRole('button', { name: 'Save the dashboard' }).click()
    await tile('Rows').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await tile('Rows').waitFor()
    await checkScreen(opened, '/dashboard-editor')
    await checkScreensOn(opened, ['/dashboards'])
    await page.getByRole('link', { name: 'Shop' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('its links stop working at once').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'There is no dashboard yet.' }).waitFor()
    nothingWrong()
  })
})
