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

const OAUTH = `
version: 6.1.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [items]}
streams:
  - type: DeclarativeStream
    name: items
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: https://api.example.com
        path: items
        authenticator: {type: OAuthAuthenticator, token_refresh_endpoint: https://api.example.com/token, client_id: "{{ config['client_id'] }}", client_secret: "{{ config['client_secret'] }}", refresh_token: "{{ config['refresh_token'] }}"}
      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: [items]}}
spec:
  type: Spec
  connection_specification:
    type: object
    required: [client_id, client_secret, refresh_token, region]
    properties:
      region: {type: string, title: Region}
      client_id: {type: string, title: Client of the API}
      client_secret: {type: string, title: Secret of the client, airbyte_secret: true}
      refresh_token: {type: string, title: Refresh token, airbyte_secret: true}
`

test('a connector with OAuth offers the tab Authorisation, and its form leaves out what the account fills', {
  timeout: 120_000,
}, async (t) => {
  const browser = await startBrowser(t)
  const stack = await startTestStack(t)
  const place = '/v2/storage/components/platform.ex-manifest/configs'
  const parameters = { manifest: OAUTH, config: {} }
  const json = { name: 'Shop', configurationId: 'shop', configuration: { parameters } }
  assert.equal((await stack.request('POST', place, { json })).status, 201)
  const { page, nothingWrong } = await signedIn(browser, stack, '/components/platform.ex-manifest/shop')
  const settings = page.getByRole('region', { name: 'Root of the configuration' })
  await settings.getByText('Secret of the client').first().waitFor()
  await page
    .getByRole('tab', { name: 'Authorisation' })
    .or(page.getByRole('link', { name: 'Authorisation' }))
    .first()
    .waitFor()

  const configuration = { parameters, authorization: { oauth_api: { id: 'account', version: 3 } } }
  assert.equal((await stack.request('PUT', `${place}/shop`, { json: { configuration } })).status, 200)
  await page.reload()
  await settings.getByText('Region').first().waitFor()
  for (const title of ['Client of the API', 'Secret of the client', 'Refresh token'])
    await settings.getByText(title).first().waitFor({ state: 'detached' })
  nothingWrong()
})
