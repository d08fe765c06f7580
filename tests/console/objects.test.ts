// Every object of a project in a browser: created, seen, changed, deleted, and brought back where that is possible.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkScreensOn, signedIn, startBrowser } from '../support/browser.ts'
import { startTestStack } from '../support/test-stack.ts'

const EXTRACTOR = 'keboola.ex-generic-v2'
const ORDERS = 'id,name\n1,Tea\n2,Milk\n3,Bread\n'

test('objects in a browser', { timeout: 900_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const opened = await signedIn(browser, stack, '/') // one page for all journeys: so the console is loaded once
  const { page, go, nothingWrong, mayComplainOf } = opened
  const ask = async (method: string, path: string, options: Parameters<typeof stack.request>[2] = {}) => {
    const answer = await stack.request(method, path, options)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
    return answer
  }
  const statusOf = async (path: string) => (await stack.request('GET', path)).status
  const undo = async () => {
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
  }
  await ask('POST', `/v2/storage/components/${EXTRACTOR}/configs`, { json: { configurationId: 'shop', name: 'Shop' } })

  await t.test('a bucket is created, described, shown empty, shared, linked by another project and deleted', async () => {
    await go('/storage')
    await page.keyboard.press('n')
    await page.getByLabel('Name', { exact: true }).fill('shop')
    assert.match(await page.evaluate<string>('document.activeElement.tagName'), /INPUT/)
    await page.getByLabel('Description').fill('What the shop sells')
    await page.getByRole('button', { name: 'Create the bucket' }).click()
    await page.getByRole('heading', { name: 'shop is empty.' }).waitFor()
    await go('/storage')
    await page.getByRole('link', { name: /^in\.c-shop\s*empty/ }).click()
    const about = page.getByRole('region', { name: 'About the bucket' })
    await about.getByLabel('Name').fill('webshop')
    await about.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'webshop is empty.' }).waitFor()
    await undo()
    await page.getByRole('heading', { name: 'shop is empty.' }).waitFor()
    await ask('POST', '/v2/storage/buckets/in.c-shop/tables', { form: { name: 'orders', dataString: ORDERS, primaryKey: 'id' } })
    await page.getByRole('heading', { name: /^shop: 1 table, 3 rows/ }).waitFor() // without a reload
    const sharing = page.getByRole('region', { name: 'Sharing' })
    await sharing.getByRole('button', { name: 'Share' }).click()
    await page.getByText('in.c-shop can be linked by others now.').waitFor()
    const other = await stack.newProject('Reports')
    const linking = { stage: 'in', name: 'linked', sourceProjectId: stack.projectId, sourceBucketId: 'in.c-shop' }
    await ask('POST', '/v2/storage/buckets', { json: linking, token: other.masterToken })
    await page.reload()
    await sharing.getByText('linked by 1 project').waitFor()
    assert.ok(await sharing.getByRole('button', { name: 'Stop sharing' }).isDisabled())
    await sharing.getByRole('button', { name: 'Unlink' }).click()
    await page.getByRole('dialog').getByText('Configurations of Reports that read in.c-linked will fail from now on.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
    await sharing.getByText('linked by 0 projects').waitFor()
    await sharing.getByRole('button', { name: 'Stop sharing' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop sharing' }).click()
    await sharing.getByText('not shared').waitFor()
    nothingWrong()
  })

  await t.test('a bucket that another project shares is linked', async () => {
    const other = await stack.newProject('Goods')
    await ask('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'goods' }, token: other.masterToken })
    const shared = '/v2/storage/buckets/in.c-goods/share-organization-project'
    await ask('POST', shared, { token: other.masterToken })
    await go('/storage')
    await page.reload()
    await page.getByRole('heading', { name: /table in/ }).waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('Shows').selectOption('in.c-goods of Goods')
    await page.getByLabel('Name', { exact: true }).fill('theirs')
    await page.getByRole('button', { name: 'Link the bucket' }).click()
    await page.getByText('of the project Goods, always as it is there.').waitFor()
    await page.getByRole('button', { name: 'Unlink the bucket' }).click()
    await page.getByRole('dialog').getByText('The bucket that it shows is kept').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink the bucket' }).click()
    await page.getByText('in.c-theirs is deleted.').waitFor()
    nothingWrong()
  })

  await t.test(
    'a column is renamed, and an alias of some rows and columns is created, follows, is changed and deleted',
    async () => {
      const orders = async () => (await stack.request('GET', '/v2/storage/tables/in.c-shop.orders')).json<{ columns: string[] }>()
      await go('/storage/in.c-shop.orders?tab=manage')
      await page.getByRole('button', { name: 'New alias' }).click()
      const made = page.getByRole('dialog', { name: 'New alias of in.c-shop.orders' })
      await made.getByLabel('Name', { exact: true }).fill('drinks')
      await made.getByLabel('Rows').selectOption('where name')
      await made.getByLabel('Values, one in each line').fill('Tea\nMilk')
      await made.getByLabel('id', { exact: true }).uncheck()
      await page.getByRole('button', { name: 'Create the alias' }).click()
      await page.getByRole('gridcell', { name: 'Milk' }).waitFor()
      assert.equal(await page.getByRole('gridcell', { name: 'Bread' }).count(), 0)

      await go('/storage/in.c-shop.orders?tab=schema')
      await page.getByRole('button', { name: 'Change name', exact: true }).click()
      await page.locator('#name-name').fill('good')
      await page.getByRole('button', { name: 'See what the change would do' }).click()
      await page.getByText(/It also changes in\.c-shop\.drinks\./).waitFor()
      await page.getByRole('button', { name: 'Change name', exact: true }).last().click()
      await page.getByText('name is called good now.').waitFor()
      assert.deepEqual((await orders()).columns, ['id', 'good'])
      await undo()
      await page.getByRole('button', { name: 'Change name', exact: true }).waitFor()
      assert.deepEqual((await orders()).columns, ['id', 'name'])

      await page.goto(`${stack.url}/console/storage/in.c-shop.drinks?tab=manage`) // an address of its own, also after a reload
      const shows = page.getByRole('region', { name: 'What the alias shows' })
      await shows.getByLabel('Rows').selectOption('all rows')
      await shows.getByLabel('All, also those that the table gets later').check()
      await shows.getByRole('button', { name: 'Change the alias' }).click()
      await page.getByText('The alias is changed.').waitFor()
      const alias = async () =>
        (await stack.request('GET', '/v2/storage/tables/in.c-shop.drinks')).json<{ columns: string[]; aliasFilter?: object }>()
      assert.deepEqual([(await alias()).columns, (await alias()).aliasFilter], [['id', 'name'], undefined])
      await undo()
      assert.deepEqual([(await alias()).columns, (await alias()).aliasFilter !== undefined], [['name'], true])
      await page.getByRole('button', { name: 'Delete the table' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete the table' }).click()
      await page.getByText('in.c-shop.drinks is deleted.').waitFor()
      mayComplainOf(/status of 404 .*in\.c-shop\.drinks/) // what the page had requested when the alias went
      nothingWrong()
    },
  )

  await t.test(
    'a table is renamed and described, emptied and filled again, and deleted after what it takes along was read',
    async () => {
      await ask('PUT', `/v2/storage/components/${EXTRACTOR}/configs/shop`, {
        json: { configuration: { storage: { input: { tables: [{ source: 'in.c-shop.orders', destination: 'o.csv' }] } } } },
      })
      await go('/storage/in.c-shop.orders?tab=manage')
      await page.getByLabel('Name', { exact: true }).fill('shop-orders')
      await page.getByRole('textbox', { name: 'Description' }).fill('One row for each order')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.locator('.subtitle').getByText('One row for each order').waitFor()
      await undo()
      await page.locator('.subtitle').getByText('No description').waitFor()
      await page.getByRole('button', { name: 'Empty the table' }).click()
      await page.getByText('The table is empty.').waitFor()
      await page.getByText(/Deletes 0 rows/).waitFor()
      await undo()
      await page.getByText(/Deletes 3 rows/).waitFor()
      await go('/storage/in.c-shop.orders?tab=snapshots')
      await page.getByRole('button', { name: 'Create a snapshot' }).click()
      await page.getByRole('button', { name: /^Delete the snapshot of/ }).click()
      await page
        .getByRole('dialog')
        .getByText(/The state with 3 rows can no longer be restored/)
        .waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByText('The snapshot is deleted.').waitFor()
      await go('/storage/in.c-shop.orders?tab=manage')
      await page.getByRole('button', { name: 'Delete the table' }).click()
      const asked = page.getByRole('dialog')
      await asked.getByText('3 rows will be deleted, with their earlier states.').waitFor()
      await asked.getByText(/A configuration names it and will fail:/).waitFor()
      await asked.getByRole('link', { name: 'Shop' }).waitFor()
      assert.ok(await asked.getByRole('button', { name: 'Delete the table' }).isDisabled())
      await asked.getByLabel('Type orders to confirm').fill('orders')
      await asked.getByRole('button', { name: 'Delete the table' }).click()
      await page.getByRole('heading', { name: 'shop is empty.' }).waitFor()
      assert.equal(await statusOf('/v2/storage/tables/in.c-shop.orders'), 404)
      await page.getByRole('button', { name: 'Delete the bucket' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete the bucket' }).click()
      await page.getByText('in.c-shop is deleted.').waitFor()
      assert.equal(await statusOf('/v2/storage/buckets/in.c-shop'), 404)
      mayComplainOf(/status of 404 .*in\.c-shop/) // what the page had requested when the table went
      nothingWrong()
    },
  )

  await t.test('a file gets tags, loses them and is deleted', async () => {
    const form = new FormData()
    form.append('name', 'notes.txt')
    form.append('data', new Blob(['hello']), 'notes.txt')
    const { id } = (await ask('POST', '/import/upload-file', { body: form })).json<{ id: number }>()
    await go(`/files?file=${id}`)
    const drawer = page.getByRole('dialog', { name: 'notes.txt' })
    await drawer.getByLabel('New tag').fill('keep')
    await drawer.getByRole('button', { name: 'Add' }).click()
    await drawer.getByRole('button', { name: 'Remove the tag keep' }).click()
    await drawer.getByRole('button', { name: 'Remove the tag keep' }).waitFor({ state: 'detached' })
    await drawer.getByRole('button', { name: 'Delete' }).click()
    const asked = page.getByRole('dialog', { name: 'Delete: notes.txt' })
    await asked.getByText(/^5 B are deleted for good/).waitFor()
    await asked.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('notes.txt is deleted.').waitFor()
    assert.equal(await statusOf(`/v2/storage/files/${id}`), 404)
    nothingWrong()
  })

  await t.test('a configuration is renamed, described, disabled, copied, deleted and brought back on its page', async () => {
    await go(`/components/${EXTRACTOR}/shop`)
    const text = page.getByRole('textbox', { name: 'Description of the configuration' })
    const pencil = page.getByRole('button', { name: 'Edit: Description of the configuration' })
    await pencil.click()
    await text.fill('never')
    await text.press('Escape')
    await pencil.and(page.locator(':focus')).waitFor()
    await pencil.press('Enter')
    await text.fill('From the API')
    await text.press('Enter')
    await page.getByText('From the API', { exact: true }).waitFor()
    await undo()
    await page.getByText('No description', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Settings' }).click()
    const drawer = page.getByRole('dialog', { name: 'Settings' })
    await drawer.getByLabel('Name', { exact: true }).fill('Shop API')
    await drawer.getByLabel('Description').fill('Orders and customers')
    await drawer.getByLabel(/^Disabled/).check()
    await drawer.getByRole('button', { name: 'Save the settings' }).click()
    await page.getByRole('heading', { name: 'Shop API' }).waitFor()
    await drawer.waitFor({ state: 'hidden' })
    await page.getByText('Orders and customers').waitFor()
    await page.getByText('Disabled', { exact: true }).waitFor()
    await undo()
    await page.getByRole('heading', { name: 'Shop', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Settings' }).click()
    await drawer.getByLabel('Name of the copy').fill('Second shop')
    await drawer.getByRole('button', { name: 'Create a copy' }).click()
    await page.getByRole('heading', { name: 'Second shop' }).waitFor()
    await page.getByRole('button', { name: 'Settings' }).click()
    await drawer.getByRole('button', { name: 'Delete the configuration' }).click()
    await page.getByText('Deleted Second shop.').waitFor()
    await page.getByRole('link', { name: 'Second shop' }).waitFor({ state: 'detached' })
    await undo()
    await page.getByRole('link', { name: 'Second shop' }).waitFor()
    nothingWrong()
  })

  await t.test('a schedule is changed, deleted and brought back', async () => {
    const configuration = {
      schedule: { cronTab: '0 6 * * *', timezone: 'UTC', state: 'enabled' },
      target: { componentId: EXTRACTOR, configurationId: 'shop', mode: 'run' },
      policy: { overlap: 'skip' },
    }
    await ask('POST', '/v2/storage/components/keboola.scheduler/configs', {
      json: { configurationId: 'daily', name: 'Daily', configuration },
    })
    await ask('POST', '/scheduler/schedules', { json: { configurationId: 'daily' } })
    await go('/schedules')
    await page.getByRole('button', { name: 'Change the schedule of Shop' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change the schedule' })
    assert.equal(await dialog.getByLabel('Time zone').inputValue(), 'UTC')
    await dialog.getByLabel('When', { exact: true }).fill('30 7 * * 1')
    await dialog.getByRole('button', { name: 'Save the schedule' }).click()
    await page.getByRole('button', { name: /on Mondays at 07:30/ }).waitFor()
    const kept = (await ask('GET', '/v2/storage/components/keboola.scheduler/configs/daily')).json<{
      configuration: { policy: object; schedule: object }
    }>().configuration
    assert.deepEqual(kept.schedule, { cronTab: '30 7 * * 1', timezone: 'UTC', state: 'enabled' })
    assert.deepEqual(kept.policy, { dst: 'once', missed: 'catch-up', overlap: 'skip' }, 'what was not changed stays')
    await page.getByRole('button', { name: 'Delete the schedule of Shop' }).click()
    await page.getByRole('heading', { name: 'Nothing runs by itself.' }).waitFor()
    await undo()
    await page.getByRole('button', { name: /on Mondays at 07:30/ }).waitFor()
    nothingWrong()
  })

  await t.test('a stream is renamed, gets another table and other columns; its end and a new address are confirmed', async () => {
    await go('/streams')
    await page.keyboard.press('n')
    await page.getByRole('textbox', { name: 'Name' }).fill('Web shop')
    await page.getByRole('button', { name: 'Create the address' }).click()
    const card = page.getByRole('region', { name: 'Web shop' })
    await card.getByRole('button', { name: 'Add a table' }).click()
    await page.getByRole('dialog').getByLabel('Table').fill('in.c-streams.more')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await card.getByRole('button', { name: 'Change in.c-streams.more' }).click()
    await page.getByRole('dialog').getByLabel('Parts of the body as columns').fill('order.id')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await card.getByText('id, received, order_id, body').waitFor()
    await card.getByRole('button', { name: 'Remove in.c-streams.more' }).click()
    await card.getByText('id, received, order_id, body').waitFor({ state: 'detached' })
    await undo()
    await card.getByText('id, received, order_id, body').waitFor()
    const sources = async () =>
      (await ask('GET', '/stream/v1/branches/default/sources')).json<{ sources: { http: { url: string } }[] }>().sources
    const [before] = await sources()
    await card.getByRole('button', { name: 'New address' }).click()
    await page
      .getByRole('dialog')
      .getByText(/are refused within a second.*It has not received a record yet\./)
      .waitFor()
    await page.keyboard.press('Escape')
    assert.deepEqual(await sources(), [before], 'looking at it changes nothing')
    await card.getByRole('button', { name: 'New address' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'New address' }).click()
    await page.getByText('It has a new address; the old one is revoked.').waitFor()
    assert.notEqual((await sources())[0]!.http.url, before!.http.url)
    await card.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Shop')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    const renamed = page.getByRole('region', { name: 'Shop', exact: true })
    await renamed.getByRole('button', { name: 'Delete' }).click()
    await page
      .getByRole('dialog')
      .getByText(/are kept: .*in\.c-streams\.more/)
      .waitFor()
    await page.getByLabel('Type Shop to confirm').fill('Shop')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No address receives records yet.' }).waitFor()
    nothingWrong()
  })

  await t.test('a branch is renamed and deleted, a workspace is deleted, each after what is lost was read', async () => {
    await go('/branches')
    await page.keyboard.press('n')
    await page.getByRole('textbox', { name: 'Name' }).fill('Trial')
    await page.getByRole('button', { name: 'Create the branch' }).click()
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Experiment')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Experiment says the same as the default branch.' }).waitFor()
    await page.getByRole('button', { name: 'Delete the branch' }).click()
    await page.getByLabel('Type Experiment to confirm').fill('Experiment')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the branch' }).click()
    await page.getByRole('heading', { name: 'Everything happens in the default branch.' }).waitFor()
    await go('/workspaces')
    await page.keyboard.press('n')
    await page.getByRole('button', { name: 'Create the workspace' }).click()
    const card = page.getByRole('region', { name: /^Workspace \d+/ })
    await card.getByRole('button', { name: 'Delete' }).click()
    const asked = page.getByRole('dialog')
    await asked.getByText('The tables of the storage stay as they are.').waitFor()
    const typed = asked.getByLabel(/^Type \d+ to confirm$/)
    await typed.fill(/\d+/.exec((await asked.getByRole('heading').textContent())!)![0])
    await asked.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'There is no workspace yet.' }).waitFor()
    nothingWrong()
  })

  await t.test('a notification is removed and brought back; one whose secret would be lost is confirmed', async () => {
    for (const recipient of [
      { channel: 'email', address: 'ann@example.com' },
      { channel: 'webhook', url: 'https://example.com/hook' },
    ])
      await ask('POST', '/notification/project-subscriptions', { json: { event: 'job-failed', filters: [], recipient } })
    await go('/notifications')
    const mail = page.getByRole('row', { name: /ann@example\.com/ })
    await mail.getByRole('button', { name: 'Remove' }).click()
    await mail.waitFor({ state: 'detached' })
    await undo()
    await mail.waitFor()
    const hook = page.getByRole('row', { name: /example\.com\/hook/ })
    await hook.getByRole('button', { name: 'Remove' }).click()
    await page
      .getByRole('dialog')
      .getByText(/another signing secret/)
      .waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await hook.waitFor({ state: 'detached' })
    nothingWrong()
  })

  await t.test('no screen has serious accessibility findings or scrolls sideways', async () => {
    await ask('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'shop' } })
    await ask('POST', '/v2/storage/buckets/in.c-shop/tables', { form: { name: 'orders', dataString: ORDERS } })
    await checkScreensOn(opened, [
      '/storage',
      '/buckets/in.c-shop',
      '/storage/in.c-shop.orders?tab=manage',
      '/schedules',
      { path: '/buckets/in.c-shop', open: () => page.getByRole('button', { name: 'Delete the bucket' }).click() },
      { path: `/components/${EXTRACTOR}/shop`, open: () => page.getByRole('button', { name: 'Settings' }).click() },
    ])
  })
})
