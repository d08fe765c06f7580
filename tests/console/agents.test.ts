// Proposals of agents in the console: read, rehearsed, refused with a reason, accepted and undone; and a client is connected.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkScreen, checkScreensOn, openPage, signedIn, startBrowser } from '../support/browser.ts'
import { newStackAdmin } from '../support/clients/person-client.ts'
import { messagesOf, startModelServer } from '../support/servers/model-server.ts'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

const SQL = 'keboola.duckdb-transformation'
const CONFIGS = `/v2/storage/components/${SQL}/configs`

const content = (statement: string) => ({
  parameters: { blocks: [{ name: 'b', codes: [{ name: 'c', script: [statement] }] }] },
  storage: {
    input: { tables: [{ source: 'in.c-shop.orders', destination: 'orders' }] },
    output: { tables: [{ source: 'made', destination: 'out.c-shop.prices' }] },
  },
})

test('a person rehearses, refuses, accepts and undoes what an agent proposes', { timeout: 240_000 }, async (t) => {
  const browser = await startBrowser(t)
  const model = await startModelServer(t, 'The table orders has no column nope.')
  const stack = await startTestStack(t, { ai: { url: model.url, model: 'small', timeoutMs: 30_000, callsPerDay: 10 } })
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'shop' } })
  await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables', {
    json: { name: 'orders', dataString: 'id,price\n1,10\n2,20\n' },
  })
  await stack.request('POST', CONFIGS, {
    json: { configurationId: 'prices', name: 'Prices', configuration: content('CREATE TABLE made AS SELECT * FROM orders') },
  })
  const { token } = (
    await stack.request('POST', '/v2/storage/tokens', {
      json: { description: 'helper', canManageBuckets: true, onlyProposes: true },
    })
  ).json<{ token: string }>()
  const asAgent = (method: string, path: string, json: object) => stack.request(method, path, { token, json })
  const changed = content("CREATE TABLE made AS SELECT * FROM orders WHERE id = '1'")
  assert.equal((await asAgent('PUT', `${CONFIGS}/prices`, { configuration: changed })).status, 200)
  const [{ id }] = (await stack.request('GET', '/v2/storage/proposals')).json<[{ id: number }]>()
  const submit = async () =>
    assert.equal((await asAgent('POST', `/v2/storage/proposals/${id}/submit`, { title: 'Only the first order' })).status, 200)
  await submit()

  const opened = await signedIn(browser, stack, '/agents')
  const { page, go, nothingWrong } = opened
  await page.getByText('1 proposal to decide about.').waitFor()
  await page.getByLabel('Client', { exact: true }).selectOption('Cursor')
  assert.match((await page.locator('#client-configuration').textContent()) ?? '', /"mcpServers"[\s\S]*\/mcp"[\s\S]*YOUR-TOKEN/)
  const install = page.getByRole('link', { name: 'Add to Cursor' })
  const serverIn = async () => atob(new URL((await install.getAttribute('href')) ?? '').searchParams.get('config') ?? '')
  assert.equal(await serverIn(), JSON.stringify({ type: 'http', url: `${stack.url}/mcp` }), 'without a token it signs in')
  await page.getByRole('button', { name: 'Create a token for it' }).click()
  await page.getByText('The token is shown this once').waitFor()
  assert.doesNotMatch((await page.locator('#client-configuration').textContent()) ?? '', /YOUR-TOKEN/)
  assert.match(await serverIn(), /"Authorization":"Bearer /)

  await page.getByRole('link', { name: 'Only the first order' }).click()
  await page.getByRole('group', { name: 'Differences of Prices' }).getByText('WHERE id').waitFor()
  await page.getByRole('button', { name: 'Effective configuration' }).click()
  await page.locator('pre.code').getByText('"parameters"').waitFor()
  await page.getByRole('button', { name: 'Rehearse', exact: true }).click()
  await page.getByText('1 row differs in 1 table.').waitFor({ timeout: 120_000 })
  await page.getByRole('group', { name: 'Rows of out.c-shop.prices' }).getByText('added, proposed').waitFor()
  await checkScreensOn(opened, ['/agents', `/proposals/${id}`])

  await page.getByRole('button', { name: 'Refuse', exact: true }).click()
  await page.getByLabel('Reason').fill('All orders, please')
  await page.getByRole('dialog').getByRole('button', { name: 'Refuse', exact: true }).click()
  await page.getByText('All orders, please').waitFor()
  await submit()
  await go(`/proposals/${id}`)
  await page.getByRole('button', { name: 'Accept', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Accept', exact: true }).click()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('Undone', { exact: true }).first().waitFor()
  assert.doesNotMatch((await stack.request('GET', `${CONFIGS}/prices`)).text, /WHERE id/)
  await nothingWrong()

  // The model of the operator explains a failed job and writes a query: what is sent is read before it is sent.
  await stack.request('PUT', `${CONFIGS}/prices`, {
    json: { configuration: content('CREATE TABLE made AS SELECT nope FROM orders') },
  })
  const job = (await stack.request('POST', '/queue/jobs', { json: { component: SQL, config: 'prices', mode: 'run' } })).json<{
    id: string
  }>()
  await until('the job failed', async () => /"status":"error"/.test((await stack.request('GET', `/queue/jobs/${job.id}`)).text))
  await go(`/jobs/${job.id}`)
  await page.getByRole('button', { name: 'Explain', exact: true }).click()
  await page
    .getByRole('region', { name: 'What is sent' })
    .getByText(/A job of the component/)
    .waitFor()
  assert.equal(model.received.length, 0, 'nothing is sent before it was read')
  await checkScreen(opened, 'explain')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('region', { name: 'Answer' }).getByText('The table orders has no column nope.').waitFor()
  const shown = await page.getByRole('region', { name: 'What was sent' }).locator('pre').allTextContents()
  assert.deepEqual(
    shown,
    messagesOf(model.received[0]!).map((message) => message.content),
  )
  await page.keyboard.press('Escape')
  model.say('```sql\nselect "price" from "in.c-shop"."orders"\n```')
  await go('/sql')
  await page.getByRole('button', { name: 'Write this query', exact: true }).click()
  await page.getByLabel('What should it answer?').fill('Which prices are there?')
  await page.getByRole('button', { name: 'Show what is sent' }).click()
  await page
    .getByRole('region', { name: 'What is sent' })
    .getByText(/"in\.c-shop"\."orders"/)
    .waitFor()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('button', { name: 'Put it into the editor' }).click()
  await page.getByLabel('SQL', { exact: true }).getByText('select "price"').waitFor()
  await nothingWrong()

  // A client that signs in with OAuth: the person reads who asks, allows it, is led back, and revokes it.
  const redirect = `${stack.url}/callback`
  const { client_id } = (
    await stack.request('POST', '/agent-oauth/register', { json: { client_name: 'Desk agent', redirect_uris: [redirect] } })
  ).json<{ client_id: string }>()
  const query = new URLSearchParams({
    ...{ client_id, redirect_uri: redirect, response_type: 'code', scope: 'read propose', state: 'kept' },
    ...{ code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' },
  })
  const [name, value] = (await newStackAdmin(stack)).cookie()!.split('=') as [string, string]
  const person = await openPage(browser)
  person.mayComplainOf(/404/) // the page of the client is none of the stack
  await person.page.context().addCookies([{ name, value, url: stack.url }])
  await person.page.goto(`${stack.url}/agent-oauth/authorize?${query}`)
  await person.page.getByRole('heading', { name: 'Desk agent asks for access' }).waitFor()
  await checkScreen(person, 'authorize')
  assert.equal(await person.page.getByText('Write: also change and run').count(), 0, 'not asked for')
  await person.page.getByLabel('Read: look around').check()
  await person.page.getByRole('button', { name: 'Allow', exact: true }).click()
  await person.page.waitForURL(/\/callback\?code=/)
  const back = new URL(person.page.url()).searchParams
  assert.equal(back.get('state'), 'kept')
})
