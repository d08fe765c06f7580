// The extractor builder: the login-and-cursor extractor of the sample shop, by clicking and typing values only.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkScreensOn, replaceText, signedIn, startBrowser } from '../support/browser.ts'
import { startTestStack } from '../support/test-stack.ts'

/** The login-and-cursor extractor of the sample shop. */
const extractor = (url: string, password: string) => ({
  parameters: {
    api: {
      baseUrl: `${url}/sample/`,
      authentication: {
        type: 'login',
        loginRequest: { endpoint: 'login', method: 'POST', params: { username: 'ada', password: { attr: '#password' } } },
        apiRequest: { headers: { 'X-Sample-Session': { response: 'token' } } },
      },
      pagination: { method: 'response.param', responseParam: 'next', queryParam: 'after', includeParams: true },
    },
    config: { '#password': password, outputBucket: 'mended', jobs: [{ endpoint: 'orders', params: { limit: 50 } }] },
  },
})

const openapi = (url: string) => ({
  openapi: '3.0.0',
  servers: [{ url: `${url}/sample` }],
  components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } },
  paths: {
    '/orders': {
      get: {
        security: [{ bearerAuth: [] }],
        parameters: ['limit', 'after'].map((name) => ({ name, in: 'query', schema: { type: 'string' } })),
        responses: { 200: { content: { 'application/json': { schema: { type: 'array', items: { type: 'object' } } } } } },
      },
    },
  },
})

const har = (url: string) => ({
  log: {
    version: '1.2',
    entries: [
      {
        request: {
          method: 'GET',
          url: `${url}/sample/customers?limit=7`,
          headers: [{ name: 'Authorization', value: 'Bearer canary' }],
          queryString: [{ name: 'limit', value: '7' }],
        },
        response: {
          status: 200,
          content: { mimeType: 'application/json', text: '[{"id":1},{"id":2}]' },
          headers: [],
        },
      },
    ],
  },
})

test('the extractor builder in a browser', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const open = await signedIn(browser, stack, '/components') // one page for all journeys: loading it is what costs
  const { page, go, nothingWrong } = open
  const live = page.getByRole('region', { name: 'Live' })
  const step = (name: string) => page.getByRole('button', { name, exact: true }).click()

  await t.test('a login and a cursor are built against live answers, run, and their rows are a table', async () => {
    await page.getByRole('heading', { name: 'Nothing is configured yet.' }).waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('Component').selectOption({ label: 'HTTP extractor' })
    await page.getByRole('textbox', { name: 'Name' }).fill('Sample')
    await page.getByRole('button', { name: 'Create the configuration' }).click()
    await page.getByRole('link', { name: 'Open in the builder' }).click()
    await page.getByLabel('Base address').fill(`${stack.url}/sample/`)

    await step('Login')
    await page.getByRole('radio', { name: /^Login request/ }).click()
    await page.getByLabel('Login address').fill('login')
    const newName = page.getByLabel('New name, sent with the login')
    await newName.fill('username')
    await page.getByRole('button', { name: 'Add a value' }).click()
    await page.getByLabel('Value of username').fill('ada')
    await newName.fill('password')
    await page.getByRole('button', { name: 'Add a secret' }).click()
    await page.getByLabel('Value of password').fill('wrong')
    await page.getByLabel('Token in the answer').fill('token')
    await page.getByLabel('Sent as the header').fill('X-Sample-Session')
    await page.getByLabel('Log in again after').fill('expiresIn')

    await step('Request')
    await page.getByLabel('Endpoint').fill('orders')
    await page.getByLabel('Bucket').fill('built')
    await page.getByLabel('New name, parameters').fill('limit')
    await page.keyboard.press('Enter')
    await page.getByLabel('Value of limit').fill('50')

    await live.getByRole('button', { name: 'Login only' }).click()
    await live.getByRole('alert').getByText(/401/).waitFor() // the answer that refused is shown, the password is not
    await live.getByRole('button', { name: /^Failed Login/ }).waitFor()
    assert.doesNotMatch(await live.innerText(), /"password": ?"wrong"/)
    await step('Login')
    await page.getByLabel('Value of password').fill('lovelace')
    await live.getByRole('button', { name: 'Login only' }).click()
    await live.getByText('Only the login was requested.').waitFor()

    await step('Pages')
    await page.getByRole('button', { name: 'Suggest from a real answer' }).click()
    await page.getByRole('button', { name: 'Use it' }).click()
    assert.equal(await page.getByRole('radio', { name: /^Next token/ }).getAttribute('aria-checked'), 'true')
    assert.equal(await page.getByLabel('Value in the answer').inputValue(), 'next')
    await page.getByLabel('Sent as').fill('after') // a guess of the suggestion
    await page.keyboard.press('Control+Enter')
    await live.getByRole('button', { name: /Page 3/ }).waitFor()
    await live.getByText('You requested 3 pages').waitFor()
    await live.getByText('orders 50').waitFor()
    await live.getByRole('button', { name: /Page 2/ }).click()
    await live
      .getByText(/[?&]after=/)
      .first()
      .waitFor()

    await page.getByRole('button', { name: 'Save and run', exact: true }).click()
    const table = page.getByRole('link', { name: /in\.c-built\.orders$/ })
    await table.first().waitFor()
    await table.first().click()
    await page.getByRole('heading', { name: /^250 rows, last loaded/ }).waitFor()
    nothingWrong()
  })

  await t.test('columns are mapped from a real answer, and every item asks for more', async () => {
    const mapped = extractor(stack.url, 'lovelace')
    Object.assign(mapped.parameters.api, { pagination: undefined })
    Object.assign(mapped.parameters.config, {
      outputBucket: 'mapped',
      jobs: [{ endpoint: 'customers', dataField: 'customers', params: { limit: 2 } }],
    })
    const made = await stack.request('POST', '/v2/storage/components/keboola.ex-generic-v2/configs', {
      json: { configurationId: 'mapped', name: 'Mapped', configuration: mapped },
    })
    assert.equal(made.status, 201, made.text)
    await go('/builder/mapped?step=columns')
    await page.getByRole('button', { name: 'Map the columns of a real answer' }).click()
    await page.getByLabel('Column of name').fill('customer')
    for (const source of ['email', 'address.zip']) await page.getByRole('button', { name: `Leave ${source} out` }).click()
    await page.getByLabel('Another value of the item').fill('address.zip')
    await page.keyboard.press('Enter')
    assert.equal(await page.getByLabel('Column of address.zip').inputValue(), 'address_zip')
    await live.getByRole('button', { name: '1 page' }).click()
    await live.getByRole('columnheader', { name: 'customer', exact: true }).waitFor()
    assert.equal(await live.getByRole('columnheader', { name: 'email' }).count(), 0)

    await page.getByRole('button', { name: 'Children', exact: true }).click()
    await page.getByRole('button', { name: 'Set Requests for every item' }).click()
    await page.getByRole('button', { name: /^Add / }).first().click()
    await page.getByLabel('Endpoint').fill('customers?page={number}&limit=1')
    await page.getByText(/^More settings/).click()
    await page.getByLabel('Data type').fill('neighbours')
    await page.getByRole('button', { name: 'Set Placeholders' }).click()
    await page.getByRole('button', { name: 'Add a value' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('number')
    await page.keyboard.press('Enter')
    await page.getByLabel('Value of number').fill('id')
    await page.getByRole('button', { name: 'Save and run', exact: true }).click()
    await page.getByRole('heading', { name: /^Mapped succeeded/ }).waitFor()
    await page.getByRole('link', { name: /in\.c-mapped\.neighbours$/ }).click()
    await page.getByRole('heading', { name: /^2 rows, last loaded/ }).waitFor() // one for each of the two items
    nothingWrong()
  })

  await t.test('a run with a wrong password is repaired on its cause card and rerun', async () => {
    const made = await stack.request('POST', '/v2/storage/components/keboola.ex-generic-v2/configs', {
      json: { configurationId: 'broken', name: 'Broken', configuration: extractor(stack.url, 'wrong') },
    })
    assert.equal(made.status, 201, made.text)
    await go('/components/keboola.ex-generic-v2/broken')
    await page.getByRole('button', { name: 'Run R' }).click()
    await page.getByRole('heading', { name: /^Broken failed/ }).waitFor()
    const repair = page.getByRole('form', { name: 'Repair' })
    assert.ok(await repair.getByRole('button', { name: 'Apply and rerun' }).isDisabled())
    await repair.getByText('encrypted', { exact: true }).waitFor()
    await repair.getByRole('button', { name: /Replace/ }).click()
    await repair.getByLabel('parameters.config.#password', { exact: true }).fill('lovelace')
    await repair.getByRole('button', { name: 'Apply and rerun' }).click()
    await page.getByRole('heading', { name: /^Broken succeeded/ }).waitFor()
    await page.getByRole('link', { name: /in\.c-mended\.orders$/ }).waitFor()
    // A value that worked in the last good run is offered when it is the one that changed.
    const good = extractor(stack.url, 'lovelace')
    const spoilt = { parameters: { ...good.parameters, note: 1 } }
    spoilt.parameters.config.jobs[0]!.endpoint = 'ordars'
    const put = await stack.request('PUT', '/v2/storage/components/keboola.ex-generic-v2/configs/broken', {
      json: { configuration: spoilt },
    })
    assert.equal(put.status, 200, put.text)
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.getByRole('heading', { name: /^Broken failed/ }).waitFor()
    await page.getByText('parameters.config.jobs[0].endpoint was "orders"').waitFor()
    await page.getByRole('button', { name: 'Revert it' }).click()
    await page.getByRole('button', { name: 'Apply and rerun' }).click()
    await page.getByRole('heading', { name: /^Broken succeeded/ }).waitFor()
    nothingWrong()
  })

  await t.test('selected rows run, each shows how it went, and the version and the list lead to the runs', async () => {
    const { parameters } = extractor(stack.url, 'lovelace')
    const { jobs, ...config } = parameters.config
    const path = '/v2/storage/components/keboola.ex-generic-v2/configs'
    const ok = async (to: string, json: object) => {
      const answer = await stack.request('POST', to, { json })
      assert.ok(answer.status < 300, answer.text)
      return answer.json<{ id: string }>()
    }
    const root = { parameters: { ...parameters, config: { ...config, outputBucket: 'rowed' } } }
    await ok(path, { configurationId: 'rowed', name: 'Rowed', configuration: root })
    const rowOf = (endpoint: string) => ({ parameters: { config: { jobs: [{ ...jobs[0], endpoint }] } } })
    for (const name of ['orders', 'customers', 'nothing'])
      await ok(`${path}/rowed/rows`, { rowId: name, name, configuration: rowOf(name) })
    const schedule = {
      schedule: { cronTab: '0 6 1 1 *', timezone: 'UTC', state: 'enabled' },
      target: { componentId: 'keboola.ex-generic-v2', configurationId: 'rowed', mode: 'run' },
    }
    const { id } = await ok('/v2/storage/components/keboola.scheduler/configs', { name: 'Yearly', configuration: schedule })
    await ok('/scheduler/schedules', { configurationId: id })

    await go('/components/keboola.ex-generic-v2/rowed')
    const rows = page.getByRole('complementary', { name: 'Rows' })
    await page.getByText('valid', { exact: true }).waitFor() // as the component's schema has it
    await page.getByRole('link', { name: /^Runs next in \d+ d\.$/ }).waitFor()
    for (const name of ['orders', 'nothing']) await rows.getByLabel(`Select ${name}`).check()
    await rows.getByRole('button', { name: 'Run these 2' }).click()
    await page.getByRole('heading', { name: /^Rowed failed/ }).waitFor()
    await go(`/components/keboola.ex-generic-v2/rowed`)
    const row = (name: string) => rows.getByRole('listitem').filter({ has: page.getByLabel(`Select ${name}`) })
    await row('orders').getByText('in.c-rowed.orders').waitFor()
    await row('nothing').getByText(/404/).waitFor()
    await row('customers').getByText('has not run yet').waitFor()

    await rows.getByRole('link', { name: /^nothing/ }).click()
    await page.getByLabel('Endpoint').fill('orders')
    await page.getByLabel('Why this change').fill('There is no such place')
    await page.getByRole('button', { name: 'Save and run', exact: true }).click()
    await page.getByRole('heading', { name: /^Rowed succeeded/ }).waitFor()
    const run = new URL(page.url()).pathname
    await go(`/components/keboola.ex-generic-v2/rowed?tab=versions`)
    const newest = page.getByRole('listitem').filter({ hasText: 'There is no such place' })
    await newest.getByText('Master token of Test').waitFor()
    await newest.getByText('1 run', { exact: true }).waitFor()
    await newest.getByRole('link', { name: /^Job \d+, Success$/ }).click()
    await page.getByRole('heading', { name: /^Rowed succeeded/ }).waitFor()
    assert.equal(new URL(page.url()).pathname, run)

    await go(`/components`)
    const line = page.getByRole('row', { name: /Rowed/ })
    await line.getByRole('img', { name: 'Last runs, oldest first: Failed, Success' }).waitFor()
    await line.getByText(/^in \d+ d$/).waitFor() // when it runs by itself
    nothingWrong()
  })

  await t.test('the repair that a failure names works when it is applied', async () => {
    const picky = extractor(stack.url, 'lovelace')
    const jobs = [{ endpoint: 'orders', params: { limit: 50, bad: 'yes' }, responseFilter: ['note'] }]
    Object.assign(picky.parameters.config, { outputBucket: 'picky', jobs })
    const made = await stack.request('POST', '/v2/storage/components/keboola.ex-generic-v2/configs', {
      json: { configurationId: 'picky', name: 'Picky', configuration: picky },
    })
    assert.equal(made.status, 201, made.text)
    await go('/components/keboola.ex-generic-v2/picky')
    await page.getByRole('button', { name: 'Run R' }).click()
    await page.getByRole('heading', { name: /^Picky failed/ }).waitFor()
    await page.getByRole('button', { name: 'Set responseFilter and rerun' }).click()
    await page.getByRole('heading', { name: /^Picky succeeded/ }).waitFor()
    await page.getByRole('link', { name: /in\.c-picky\.orders$/ }).waitFor()
  })

  await t.test('a plan is walked with limits, kept as a fixture, replayed offline, and a function is tried', async () => {
    await go('/builder/broken')
    await live.getByLabel('Requests in all').fill('101')
    assert.ok(await live.getByRole('button', { name: 'Whole plan' }).isDisabled()) // more than the extractor allows
    await live.getByLabel('Requests in all').fill('3')
    await live.getByLabel('Pages of each request').fill('1')
    await live.getByRole('button', { name: 'Whole plan' }).click()
    await live.getByText('orders 50').waitFor()
    await live.getByRole('button', { name: /^Success Login/ }).click()
    await live.getByRole('button', { name: 'Headers' }).click()
    await live.getByText('content-type', { exact: true }).first().waitFor()
    await live.getByRole('button', { name: 'Save as a fixture' }).click()
    await page.getByText('Kept as a fixture, without secrets.').waitFor()
    await live.getByLabel('Replay offline').selectOption({ index: 1 })
    await live.getByText(/^Offline: answers of/).waitFor()
    await page.getByLabel('Base address').fill('http://nowhere.example/') // only a recording answers there
    await live.getByRole('button', { name: 'Whole plan' }).click()
    await live
      .getByRole('alert')
      .getByText(/holds no \(further\) answer/)
      .waitFor()
    await page.getByLabel('Base address').fill(`${stack.url}/sample/`)
    await live.getByRole('button', { name: 'Whole plan' }).click()
    await live.getByText('orders 50').waitFor()
    await live.getByRole('button', { name: 'Query the API again' }).click()

    await page.getByRole('button', { name: 'Try a function' }).click()
    const drawer = page.getByRole('dialog', { name: 'Try a function' })
    await drawer.getByLabel('Expression').fill('{"function":"concat","args":["Bearer ",{"attr":"outputBucket"}]}')
    await drawer.getByRole('button', { name: 'Evaluate' }).click()
    await drawer.getByText('"Bearer mended"').waitFor()
    await page.keyboard.press('Escape')
    nothingWrong()
  })

  await t.test('every way to log in is a form', async () => {
    await go('/builder/broken?step=login')
    const sent = async (header: RegExp) => {
      await live.getByRole('button', { name: '1 page' }).click()
      await live.locator('.request-line').filter({ hasText: header }).waitFor() // as sent, the secret masked
    }
    await page.getByRole('radio', { name: /^User and password/ }).click()
    await page.getByLabel('User', { exact: true }).fill('ada')
    await sent(/Authorization: .*••••••/)
    await page.getByRole('radio', { name: /^Token in a header/ }).click()
    await page.getByLabel('Token', { exact: true }).fill('lovelace')
    await page.getByLabel('Before the token').fill('Key ')
    await page.getByLabel('Sent as the header').fill('X-Key')
    await page.keyboard.press('Enter')
    await sent(/X-Key: .*••••••/)
    await page.getByRole('radio', { name: /^Client credentials/ }).click()
    await page.getByLabel('Token address').fill('oauth/token')
    await page.getByLabel('Client id').fill('me')
    await page.getByRole('radio', { name: /^Key in the address/ }).click()
    await page.getByLabel('New name, added to every address').fill('apiKey')
    await page.getByRole('button', { name: 'Add a secret' }).click()
    await page.getByLabel('Value of apiKey').fill('k')
    await page.getByRole('radio', { name: /^OAuth 2.0 an/ }).click()
    await page.getByLabel('Value of Authorization').waitFor()
    await page.getByText('No account is authorised yet.').waitFor()
    await page.getByRole('radio', { name: /^OAuth 2.0 login/ }).click()
    await page.getByLabel('Login address').waitFor()
    await page.getByRole('radio', { name: /^OAuth 1.0/ }).click()
    await page.getByRole('link', { name: 'Authorise an account' }).waitFor()
    await page.getByRole('button', { name: 'Pages', exact: true }).click()
    await page.getByRole('button', { name: 'Requests page in different ways' }).click()
    await page.getByLabel('Another way').fill('by offset')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('img', { name: /^Three requests: offset is 0, then 100/ }).waitFor()
  })

  await t.test('curl, OpenAPI and HAR become the steps; what no step shows stays as JSON', async () => {
    const made = await stack.request('POST', '/v2/storage/components/keboola.ex-generic-v2/configs', {
      json: { configurationId: 'pasted', name: 'Pasted', configuration: { parameters: { cache: { ttl: 60 } } } },
    })
    assert.equal(made.status, 201)
    await go('/builder/pasted')
    await page.getByRole('button', { name: 'cache', exact: true }).click() // what no step shows is named
    const json = page.getByLabel('Address as JSON')
    await json.getByText('60', { exact: true }).waitFor()
    await replaceText(json, '{"parameters":{"cache":{"ttl":90}}}')
    await page.getByRole('button', { name: 'Form', exact: true }).click()
    await page.getByLabel('Base address').waitFor()

    const read = async (document: string) => {
      await page.getByRole('button', { name: 'Import' }).click()
      await page.getByLabel(/A curl command/).fill(document)
      await page.getByRole('button', { name: 'Read it', exact: true }).click()
      await page.getByRole('dialog', { name: 'Import', exact: true }).waitFor({ state: 'detached' })
      const look = page.getByRole('button', { name: /^Fill the steps/ }) // what was found and guessed
      if (await look.isVisible()) await look.click()
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
    await read(`curl '${stack.url}/sample/customers?limit=5' -H 'Authorization: Bearer abc'`)
    await page.getByText('Read into the steps. Not saved yet.').waitFor()
    await step('Request')
    assert.equal(await page.getByLabel('Endpoint').inputValue(), 'customers')
    await page.getByRole('button', { name: 'cache', exact: true }).waitFor() // still there

    const rowsOf = async () =>
      (await stack.request('GET', '/v2/storage/components/keboola.ex-generic-v2/configs/pasted')).json<{ rows: unknown[] }>().rows
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByLabel(/A curl command/).fill(JSON.stringify(openapi(stack.url)))
    await page.getByRole('button', { name: 'Read it', exact: true }).click()
    await page.getByRole('button', { name: 'Fill the steps and add 1 row' }).waitFor()
    await page.keyboard.press('Escape')
    assert.equal((await rowsOf()).length, 0, 'reading writes nothing')
    await read(JSON.stringify(openapi(stack.url)))
    await page.getByText('1 row added. The steps are filled and not saved yet.').waitFor()
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByLabel(/A curl command/).fill(JSON.stringify(openapi(stack.url)))
    await page.getByRole('button', { name: 'Read it', exact: true }).click()
    await page.getByText('a row with this name exists').waitFor()
    await page.getByRole('button', { name: 'Fill the steps', exact: true }).click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    assert.equal((await rowsOf()).length, 1, 'a second import adds nothing twice')
    await step('Address')
    assert.equal(await page.getByLabel('Base address').inputValue(), `${stack.url}/sample/`)
    await step('Request')
    assert.equal(await page.getByLabel('Endpoint').inputValue(), 'orders')
    await step('Pages')
    assert.equal(await page.getByRole('radio', { name: /^Next token/ }).getAttribute('aria-checked'), 'true')
    assert.equal(await page.getByLabel('Sent as').inputValue(), 'after')
    await step('Login')
    assert.equal(await page.getByRole('radio', { name: /^Token in a header/ }).getAttribute('aria-checked'), 'true')

    await read(JSON.stringify(har(stack.url)))
    await step('Request')
    assert.equal(await page.getByLabel('Endpoint').inputValue(), 'sample/customers')
    assert.equal(await page.getByLabel('Value of limit').inputValue(), '7')
    await live.getByRole('button', { name: '1 page' }).click() // as the recording did it, secrets left out
    await live.getByRole('button', { name: /^Failed/ }).waitFor()
  })

  await t.test('no step has serious accessibility findings or scrolls sideways', () =>
    checkScreensOn(
      open,
      ['login', 'pages', 'new'].map((step) => `/builder/pasted?step=${step}`),
    ),
  )
})
