// Branches, workspaces, data apps, streams and notifications in the console, on a stack that may call this machine.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findIsolation } from '../../server/src/engines/runner/isolation.ts'
import { checkScreensOn, replaceText, signedIn, startBrowser } from '../support/browser.ts'
import { openGitClient } from '../support/clients/git-client.ts'
import { startMailServer } from '../support/servers/mail-server.ts'
import { startReceiver } from '../support/servers/webhook-receiver.ts'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

const PATH = process.env.PATH ?? '/usr/bin:/bin'
const isolation = { mode: 'auto', readable: [], uid: 65_534 } as const
/** Why code of users cannot run on this machine, where it cannot. */
const { problem } = await findIsolation({ ...isolation, path: PATH, hidden: [] })
const CONFIGS = 'components/keboola.ex-generic-v2/configs'

test('branches and workspaces in a browser', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const [receiver, mail] = [await startReceiver(t), await startMailServer(t)]
  const stack = await startTestStack(t, {
    worker: { isolation, path: PATH, egressAllow: ['127.0.0.1'] },
    apps: { startMs: 120_000 },
    smtpUrl: mail.url,
  })
  const opened = await signedIn(browser, stack, '/branches') // one page for all journeys: so the console is loaded once
  const { page, go, mayComplainOf, nothingWrong } = opened
  const ok = async (method: string, path: string, json?: object) => {
    const answer = await stack.request(method, `/v2/storage/${path}`, json ? { json } : {})
    assert.ok(answer.status < 300, answer.text)
    return answer
  }
  await t.test('what a branch changed is compared, reviewed and merged', async () => {
    await ok('POST', CONFIGS, { configurationId: 'shop', name: 'Shop API', configuration: { parameters: { size: 1 } } })
    await ok('POST', `${CONFIGS}/shop/rows`, { rowId: 'orders', name: 'orders', configuration: { parameters: { page: 1 } } })
    await go('/branches')
    await page.getByRole('heading', { name: 'Everything happens in the default branch.' }).waitFor()
    await page.getByRole('button', { name: 'New branch' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Larger pages')
    await page.getByRole('button', { name: 'Create the branch' }).click()
    await page.getByRole('heading', { name: 'Larger pages says the same as the default branch.' }).waitFor()
    const branch = new URL(page.url()).pathname.split('/').at(-1)!
    await page.getByRole('link', { name: 'Work in this branch' }).click()
    await page.getByRole('link', { name: 'Shop API' }).click()
    const mark = page.getByRole('region', { name: 'Branch', exact: true })
    await mark.getByText('In branch Larger pages').waitFor()
    assert.equal(new URL(page.url()).searchParams.get('branch'), branch)
    await page.getByRole('button', { name: 'JSON' }).click()
    await replaceText(page.getByLabel('Configuration as JSON'), '{"parameters":{"size":2}}')
    await page.getByRole('button', { name: /^Save Ctrl/ }).click()
    await page.getByText(/^Saved as version/).waitFor()
    assert.match((await ok('GET', `${CONFIGS}/shop`)).text, /"size":\s*1/)
    await page.getByRole('button', { name: 'Run R' }).click()
    await page.getByText(/^In branch Larger pages. Ran from/).waitFor() // a job of the branch
    await mark.getByRole('link', { name: 'Compare and merge' }).click()
    await page.getByRole('heading', { name: 'Larger pages changes 1 configuration.' }).waitFor()
    await page.getByRole('combobox', { name: 'Branch' }).selectOption('Main')
    await mark.waitFor({ state: 'detached' })
    const larger = { description: 'Fifty at once', configuration: { parameters: { page: 50 } } }
    await ok('PUT', `branch/${branch}/${CONFIGS}/shop/rows/orders`, larger)
    await ok('POST', `branch/${branch}/${CONFIGS}`, { configurationId: 'made', name: 'Made here', configuration: {} })
    await page.reload()
    await page.getByRole('heading', { name: 'Larger pages changes 2 configurations.' }).waitFor()
    await page.getByRole('link', { name: 'Made here' }).waitFor() // known by the branch alone
    await page.getByRole('link', { name: 'Shop API' }).click()
    await page.getByText('3 values differ').waitFor()
    await page.getByText('rows.orders.description').waitFor()
    await page.getByText('rows.orders.configuration.parameters.page').waitFor()
    await page.getByRole('button', { name: 'As text' }).click()
    await page.getByLabel('Difference as text').waitFor()
    await checkScreensOn(opened, [`/branches/${branch}`, `/components?branch=${branch}`])
    await page.setViewportSize({ width: 390, height: 900 })
    await go('/components')
    await page.getByRole('button', { name: 'Project and branch' }).click()
    await page.getByRole('dialog').getByLabel('Branch', { exact: true }).selectOption('Larger pages')
    await mark.getByText('In branch Larger pages').waitFor()
    await page.getByRole('link', { name: 'Made here' }).waitFor()
    await page.setViewportSize({ width: 1440, height: 900 })
    await go(`/branches/${branch}`)
    const request = page.getByRole('region', { name: 'Merge request' })
    await request.getByLabel('What it is for').fill('Fewer requests')
    await request.getByRole('button', { name: 'Create a merge request' }).click()
    await request.getByRole('button', { name: 'Request a review' }).click()
    await request.getByText('This project requires no review.').waitFor()
    await request.getByRole('button', { name: 'Approve' }).click()
    await request.getByText(/approved,/).waitFor()
    await request.getByRole('button', { name: 'Merge', exact: true }).click()
    await page.getByText('Merged into the default branch.').waitFor()
    await until('the merged row', async () => /"page":\s*50/.test((await ok('GET', `${CONFIGS}/shop/rows/orders`)).text))
    nothingWrong()
  })

  await t.test('a workspace is made, a table is loaded into it, and it is switched off', async () => {
    await ok('POST', 'buckets', { name: 'shop', stage: 'in' })
    await ok('POST', 'buckets/in.c-shop/tables-definition', { name: 'goods', columns: [{ name: 'id' }] })
    await go('/workspaces')
    await page.getByRole('heading', { name: 'There is no workspace yet.' }).waitFor()
    await page.getByRole('button', { name: 'New workspace' }).click()
    await page.getByRole('button', { name: 'Create the workspace' }).click()
    await page.getByRole('heading', { name: '1 workspace, all active.' }).waitFor()
    await page.getByText('It is empty.').waitFor()
    await page.getByLabel('Table to load').selectOption('in.c-shop.goods')
    await page.getByRole('button', { name: 'Load it' }).click()
    await page.getByRole('listitem').getByText('goods', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Switch off' }).click()
    await page.getByRole('heading', { name: '1 workspace, 0 active.' }).waitFor()
    nothingWrong()
  })

  await t.test('a data app is made, runs, is opened with its log, stopped and deleted', async () => {
    await go('/apps')
    await page.getByRole('heading', { name: 'There is no data app yet.' }).waitFor()
    await page.getByRole('button', { name: 'New app' }).click()
    await page.getByLabel('Name').fill('Greeting')
    const program = page.getByLabel('Program')
    await program.fill(`console.log('ready to greet')\n${await program.inputValue()}`)
    await page.getByRole('button', { name: 'Create the app' }).click()
    await page.getByRole('heading', { name: '1 data app, none running.' }).waitFor()
    await page.getByRole('button', { name: 'Deploy' }).click()
    if (problem === undefined) {
      await page.getByRole('heading', { name: '1 data app, 1 running.' }).waitFor()
      const opening = page.context().waitForEvent('page')
      await page.getByRole('button', { name: 'Open' }).click()
      const app = await opening
      await app.getByRole('heading', { name: 'Hello' }).waitFor()
      await app.close()
      await page.getByRole('button', { name: 'Log' }).click()
      await page.getByRole('dialog', { name: 'What Greeting said' }).getByText('ready to greet').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByRole('heading', { name: '1 data app, none running.' }).waitFor()
    } else
      await page
        .getByRole('alert')
        .getByText(/isolat|namespace/i)
        .first()
        .waitFor() // a kernel that refuses code of users
    await page.getByRole('button', { name: 'Code', exact: true }).click()
    await page.getByText('The program is one file, in its configuration.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Delete' }).click()
    const asked = page.getByRole('dialog', { name: 'Delete: Greeting' })
    await asked.getByText(/Its git repository on this stack, its log and its password are lost/).waitFor()
    await asked.getByLabel('Type Greeting to confirm').fill('Greeting')
    await asked.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'There is no data app yet.' }).waitFor()
    mayComplainOf(/status of 404 .*\/git-repo/)
    mayComplainOf(/status of 400 .*\/data-science\//) // where code of users cannot run
  })

  await t.test('the code of an app is pushed to a repository of the stack with a credential that is shown once', async (t) => {
    await go('/apps')
    await page.getByRole('button', { name: 'New app' }).click()
    await page.getByLabel('Name').fill('Pushed')
    await page.getByLabel('Code', { exact: true }).selectOption('a git repository on this stack')
    await page.getByRole('button', { name: 'Create the app' }).click()
    await page.getByRole('button', { name: 'Code', exact: true }).click()
    const code = page.getByRole('dialog', { name: 'Code of Pushed' })
    await code.getByText('No credentials yet.').waitFor()
    const address = (await code.getByText(/\.git$/).textContent())!
    await code.getByLabel('What it is for').fill('laptop')
    await code.getByRole('button', { name: 'Create a credential' }).click()
    await code.getByText('clones and pushes, until').waitFor()
    const secret = (await code.locator('.note code').textContent())!
    const git = await openGitClient(t, address, secret)
    await git.commit({ 'app.mjs': 'export {}\n' })
    assert.equal(await git.push(), undefined, 'the push is taken')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Code', exact: true }).click()
    await code.getByText('laptop').waitFor()
    assert.doesNotMatch(await code.innerText(), new RegExp(secret))
    await code.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog', { name: 'Revoke: laptop' }).getByRole('button', { name: 'Revoke' }).click()
    await code.getByText('No credentials yet.').waitFor()
    await git.commit({ 'app.mjs': 'export default 1\n' })
    assert.match((await git.push())!, /401/)
    nothingWrong()
  })

  await t.test('a stream shows what a body becomes, takes records and loads them into its table', async () => {
    await go('/streams')
    await page.getByRole('heading', { name: 'No address receives records yet.' }).waitFor()
    await page.keyboard.press('n')
    await page.getByRole('textbox', { name: 'Name' }).fill('Web shop')
    await page.getByLabel('Parts of the body as columns').fill('order.id')
    await page.getByRole('button', { name: 'Create the address' }).click()
    await page.getByText('Try a body').click()
    await page.getByRole('button', { name: 'Show the rows it becomes' }).click()
    await page.getByRole('definition').getByText('7', { exact: true }).waitFor()
    await page.getByText('No record loaded yet').waitFor()
    await page.getByText('When batches are loaded').click()
    await page.getByLabel(/so many records/).fill('2')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved. It holds for the records from now on.').waitFor()
    await page.getByRole('button', { name: 'Send it to the address' }).click()
    await page.getByText(/^Accepted: the record is on disk/).waitFor()
    const { sources } = (await stack.request('GET', '/stream/v1/branches/default/sources')).json<{
      sources: { http: { url: string } }[]
    }>()
    const sent = await stack.request('POST', sources[0]!.http.url, { json: { order: { id: 41 } }, token: null })
    assert.equal(sent.status, 200, sent.text)
    await page.getByText(/^2 records loaded, last/).waitFor() // without a reload
    await page.getByRole('link', { name: 'in.c-streams.records' }).click()
    await page.getByRole('heading', { name: /^2 rows, last loaded/ }).waitFor()
    await page.getByRole('gridcell', { name: '41', exact: true }).waitFor()
    nothingWrong()
  })

  await t.test('a failed job is told to a webhook and by mail; a test arrives, and a refused one says why', async () => {
    await go('/notifications')
    await page.getByRole('heading', { name: 'No notifications are set up.' }).waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('Address of the webhook').fill(`${receiver.url}/millrace`)
    await page.getByRole('button', { name: 'Create the notification' }).click()
    await page.getByRole('cell', { name: 'a job fails' }).waitFor()
    const messages = page.getByRole('region', { name: 'Messages' }).first()
    await messages.getByText('No message has been sent yet.').waitFor()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await messages.getByRole('row', { name: /^Delivered .* 200 in \d+ ms$/ }).waitFor()
    assert.equal(receiver.received[0]?.path, '/millrace')
    receiver.answerWith((response) => response.writeHead(400).end('no such hook'))
    await page.getByRole('button', { name: 'Send a test' }).click()
    await messages.getByRole('row', { name: /^Failed .* 400/ }).waitFor()
    await page.getByRole('heading', { name: '1 notification, 1 message could not be delivered.' }).waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('To', { exact: true }).selectOption('a mailbox')
    await page.getByLabel('Mail address').fill('ann@example.com')
    await page.getByRole('button', { name: 'Create the notification' }).click()
    await page
      .getByRole('row', { name: /ann@example\.com/ })
      .getByRole('button', { name: 'Send a test' })
      .click()
    await messages.getByRole('row', { name: /^Delivered .*ann@example\.com/ }).waitFor()
    assert.deepEqual(mail.received[0]?.to, ['ann@example.com'])
    nothingWrong()
  })

  await t.test('guides are read beside what they describe, and a code says what it means', async () => {
    await go('/builder/shop?step=pages')
    await page.getByRole('button', { name: 'Help about pages' }).click()
    const help = page.getByRole('dialog', { name: 'Help' })
    await help.getByRole('heading', { name: 'Pagination' }).waitFor()
    await page.keyboard.press('Escape')
    nothingWrong()
    await go('/components/keboola.ex-generic-v2/nothing')
    await page.getByRole('button', { name: 'storage.configuration.notFound' }).first().click()
    await help.getByText('storage.configuration.notFound').first().waitFor()
  })

  await t.test('no screen has serious accessibility findings or scrolls sideways', () =>
    checkScreensOn(opened, ['/branches', '/workspaces', '/apps', '/streams', '/notifications']),
  )
})
