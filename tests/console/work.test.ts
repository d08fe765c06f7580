// Bringing data in and running things in a browser: uploads that resume after a reload, failures and their repair, schedules, SQL.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkScreensOn, replaceText, signedIn, startBrowser } from '../support/browser.ts'
import { shellStack } from '../support/shell-stack.ts'

const EXTRACTOR = '/v2/storage/components/keboola.ex-generic-v2/configs'
const MB = 1 << 20
/** A million takes most of a minute: that belongs to the long run. */
const LOG_LINES = process.env.MILLRACE_LONG ? 1_000_000 : 100_000

test('work in a browser', { timeout: 900_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await shellStack(t)
  const opened = await signedIn(browser, stack, '/upload') // one page for all journeys: so the console is loaded once
  const { page, go, mayComplainOf, nothingWrong } = opened
  const folder = await mkdtemp(join(tmpdir(), 'millrace-work-'))
  t.after(() => rm(folder, { recursive: true, force: true }))

  const lookAtRows = async () => {
    await page.getByLabel('Rows to load').fill('id;name;price\n1;Tea;3.50\n2;Milk;one;too many\n')
    await page.getByRole('button', { name: 'Look at these rows' }).click()
    await page.getByText('Line 3').waitFor()
    await page.getByRole('heading', { name: '1 row can be read. 1 line cannot.' }).waitFor()
  }

  await t.test('bad lines are marked before a load, and types are suggested', async () => {
    await go('/upload')
    await lookAtRows()
    await page.getByText('2;Milk;one;too many').waitFor()
    assert.equal(await page.getByLabel('Delimiter').inputValue(), ';')
    assert.ok(await page.getByRole('button', { name: 'Create the table' }).isDisabled())
    await page.getByRole('button', { name: 'Another file' }).click()
    await page.getByLabel('Rows to load').fill('id;name;price\n1;Tea;3.50\n2;Milk;1.20\n')
    await page.getByRole('button', { name: 'Look at these rows' }).click()
    await page.getByRole('heading', { name: '2 rows can be read.' }).waitFor()
    await page.getByLabel('Columns with types').check()
    assert.equal(await page.getByLabel('Type of price').inputValue(), 'NUMERIC')
    await page.getByLabel('Type of price').selectOption('FLOAT')
    await page.getByText(/The \d API calls this makes/).click()
    await page.getByText(/tables-definition/).waitFor()
    await page.getByRole('button', { name: 'Create the table' }).click()
    await page.getByRole('heading', { name: /^2 rows, last loaded/ }).waitFor()
    await page.getByRole('link', { name: /^Schema/ }).click()
    assert.match(await page.getByRole('row', { name: /^price/ }).innerText(), /FLOAT|DOUBLE/)
    nothingWrong()
  })

  await t.test('a dropped file is read without a header, and one in another encoding is refused', async () => {
    await go('/upload')
    await page.getByText('Drop a CSV, JSON, JSON lines, Parquet, Avro or Excel file here').waitFor()
    const dropped = await page.evaluateHandle(
      "(() => { const all = new DataTransfer(); all.items.add(new File(['id,name\\n1,Tea\\n'], 'dropped.csv')); return all })()",
    )
    await page.dispatchEvent('.drop', 'drop', { dataTransfer: dropped })
    await page.getByRole('heading', { name: '1 row can be read.' }).waitFor()
    await page.getByLabel('The first line names the columns').click()
    await page.getByRole('heading', { name: '2 rows can be read.' }).waitFor()
    await page.getByRole('button', { name: 'Another file' }).click()
    const buffer = Buffer.from('\ufeffid,name\n1,Čaj\n', 'utf16le')
    await page.setInputFiles('input[type=file]', { name: 'wide.csv', mimeType: 'text/csv', buffer })
    await page.getByRole('heading', { name: /^The file is written in utf-?16.*Convert it to UTF-8\.$/i }).waitFor()
    await page.getByRole('button', { name: 'Convert to UTF-8' }).click()
    await page.getByRole('heading', { name: '1 row can be read.' }).waitFor()
    await page.getByRole('cell', { name: 'Čaj' }).waitFor()
    await page.getByRole('button', { name: 'Another file' }).click()
    nothingWrong()
  })

  await t.test('JSON lines are recognised, shown as rows and loaded', async () => {
    await go('/upload')
    const text = '{"id":1,"name":"Tea"}\n{"id":2,"name":"Milk","more":{"a":1}}\n'
    await page.setInputFiles('input[type=file]', { name: 'goods.jsonl', mimeType: '', buffer: Buffer.from(text) })
    await page.getByRole('heading', { name: '2 rows can be read.' }).waitFor()
    await page.getByText('JSON: every object becomes a row.').waitFor()
    await page.getByRole('button', { name: 'Create the table' }).click()
    await page.getByRole('heading', { name: /^2 rows, last loaded/ }).waitFor()
    await page.getByRole('gridcell', { name: '{"a":1}' }).waitFor()
    nothingWrong()
  })

  await t.test('an address inside the network is refused with a sentence', async () => {
    await go('/upload')
    const address = page.getByLabel('Address of the file')
    await address.fill('http://169.254.169.254/latest/meta-data')
    await page.getByRole('button', { name: 'Fetch the file' }).click()
    await page
      .getByRole('alert')
      .getByText(/169\.254\.169\.254:80 is not allowed.*MILLRACE_EGRESS_ALLOW/)
      .waitFor()
    mayComplainOf(/status of 400 .*\/import\/fetch-file/)
  })

  await t.test('an upload is paused, and goes on after a reload where it stopped', async () => {
    const path = join(folder, 'large.csv')
    const line = `${'x'.repeat(98)}\n`
    await writeFile(path, `id\n${line.repeat(Math.ceil((10 * MB) / line.length))}`)
    await go('/upload')
    const parts: string[] = []
    const isPart = (url: URL) => url.searchParams.has('partNumber')
    // The first part arrives, the others wait until the page is gone.
    await page.route(isPart, async (route) => {
      const number = new URL(route.request().url()).searchParams.get('partNumber')!
      if (number === '1') await route.continue()
    })
    await page.setInputFiles('input[type=file]', path)
    await page.getByRole('button', { name: 'Create the table' }).click()
    await page.getByText(/^8\.4 MB of 10\.5 MB, [\d.]+ [kM]?B\/s, .+ left$/).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText(/^Paused at 8\.4 MB of 10\.5 MB/).waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.reload()
    await page.getByText(/An upload of large\.csv, 10\.5 MB, is not complete/).waitFor()
    page.on('request', (request) => {
      const number = new URL(request.url()).searchParams.get('partNumber')
      if (request.method() === 'PUT' && number) parts.push(number)
    })
    await page.setInputFiles('input[type=file]', path)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('heading', { name: /^[\d,]+ rows, last loaded/ }).waitFor()
    assert.deepEqual(parts, ['2'], 'the first part was not sent again')
    mayComplainOf(/ERR_(ABORTED|FAILED)/) // ended by the pause
  })

  await t.test('a failed job shows what changed since the last good run, and is repaired and rerun', async () => {
    const post = async (address: string, json: unknown) => {
      const answer = await stack.request('POST', address, { json })
      assert.ok(answer.status < 300, answer.text)
      return answer.json<{ id: string }>()
    }
    const orders = (params: object) => ({
      parameters: { config: { jobs: [{ endpoint: 'orders', dataField: 'orders', params }] } },
    })
    const api = {
      baseUrl: `${stack.url}/sample/`,
      authentication: {
        type: 'login',
        loginRequest: { endpoint: 'login', method: 'POST', params: { username: 'ada', password: { attr: '#password' } } },
        apiRequest: { headers: { 'X-Sample-Session': { response: 'token' } } },
      },
    }
    await post(EXTRACTOR, {
      configurationId: 'shop',
      name: 'Shop',
      configuration: { parameters: { api, config: { '#password': 'lovelace', outputBucket: 'shop' } } },
    })
    await post(`${EXTRACTOR}/shop/rows`, { rowId: 'orders', name: 'orders', configuration: orders({ limit: 20 }) })
    const run = () => post('/queue/jobs', { component: 'keboola.ex-generic-v2', config: 'shop', mode: 'run' })
    await go(`/jobs/${(await run()).id}`)
    await page.getByRole('heading', { name: /^Shop succeeded/ }).waitFor()
    await page.getByText('20 rows written').waitFor()
    const changed = { configuration: orders({ limit: 20, bad: 'yes' }) }
    assert.equal((await stack.request('PUT', `${EXTRACTOR}/shop/rows/orders`, { json: changed })).status, 200)
    const failed = (await run()).id
    await go(`/jobs/${failed}`)
    const why =
      /^Shop failed on row orders: data array in 'orders\.\[\]\.\S+' contains incompatible types 'object' and 'scalar'\.$/
    await page.getByRole('heading', { name: why }).waitFor()
    const against = page.getByRole('region', { name: 'Against the last good run' })
    await against.getByText('orders.parameters.config.jobs.0.params.bad').waitFor()
    await page.getByText(/^It went well with version/).waitFor()
    await page.getByRole('button', { name: /^Restore version \d+ and rerun$/ }).click()
    await page.getByRole('heading', { name: /^Shop succeeded/ }).waitFor()
    await page.getByRole('button', { name: 'Record another run' }).click()
    await page.getByRole('link', { name: 'Replay it offline' }).click()
    await page.getByText('Offline: answers of the recorded run').waitFor()
    await go(`/jobs/${failed}`)
    await page.getByLabel('Level').selectOption('errors')
    await page.getByText(/^1 of \d+ lines$/).waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the log' }).click()
    const saved = await readFile((await (await download).path())!, 'utf8')
    assert.match(saved, /^\d{4}-.*Z info Running component .*\n(.*\n)*.* error .*incompatible types/)
    await go('/jobs?status=error')
    await page.getByLabel('Since').selectOption('the last hour')
    await page.getByLabel('Cause').selectOption({ index: 1 })
    await page.waitForURL(/since=-1\+hour.*cause=/)
    await page.getByRole('heading', { name: 'One job, and it failed.' }).waitFor()
    await page.getByLabel(`Select job ${failed}`).check()
    await page.getByRole('button', { name: 'Run 1 job again' }).click()
    await page.getByText('1 job started again.').waitFor()
    nothingWrong()
  })

  await t.test('a job that waits is ended from its page', async () => {
    const json = { component: 'keboola.ex-generic-v2', config: 'shop', mode: 'run', delay: 3600 }
    const made = await stack.request('POST', '/queue/jobs', { json })
    await go(`/jobs/${made.json<{ id: string }>().id}`)
    await page.getByRole('button', { name: 'Terminate this job' }).click()
    await page.getByRole('heading', { name: /^Shop: (cancelled|terminated)\.$/ }).waitFor()
    nothingWrong()
  })

  /** Waits in its second row until a file is there, once for more lines and once for the end of its log. */
  const [more, last] = [join(folder, 'more'), join(folder, 'last')]
  const wait = (path: string) => `while [ ! -e ${path} ]; do sleep 0.1; done`
  await stack.add(
    'test.slow',
    `[ "$KBC_CONFIGROWID" = quick ] && exit 0; seq -f 'early %.0f' 80; ${wait(more)}; seq -f 'more %.0f' 80; ${wait(last)}; echo last; sleep 600`,
  )
  const configure = async (component: string, id: string, name: string, rows: readonly string[]) => {
    const address = `/v2/storage/components/${component}/configs`
    assert.equal((await stack.request('POST', address, { json: { configurationId: id, name } })).status, 201)
    for (const rowId of rows)
      assert.equal((await stack.request('POST', `${address}/${id}/rows`, { json: { rowId, name: rowId } })).status, 201)
  }
  const start = async (component: string, config: string) => {
    const made = await stack.request('POST', '/queue/jobs', { json: { component, config, mode: 'run' } })
    return made.json<{ id: string }>().id
  }

  await t.test('a running job is followed, read above its end, seen on the start page, and ended', async () => {
    await configure('test.slow', 'slow', 'Slow one', ['quick', 'slow'])
    const id = await start('test.slow', 'slow')
    await go(`/jobs/${id}`)
    await page.getByRole('heading', { name: /^Slow one has (just started|been running for .+)\.$/ }).waitFor()
    const log = page.getByRole('region', { name: 'Lines of the log' })
    await log.getByText('early 80', { exact: true }).waitFor()
    await log.evaluate((frame) => frame.scrollTo(0, 0))
    await log.getByText('early 1', { exact: true }).waitFor()
    const lines = page.getByText(/^\d+ lines$/)
    const before = Number.parseInt((await lines.textContent())!, 10)
    await writeFile(more, '')
    await page.getByText(`${before + 80} lines`).waitFor()
    assert.equal(await log.evaluate((frame) => frame.scrollTop), 0, 'who reads above the end is left there')
    assert.equal(await log.getByText('more 80', { exact: true }).count(), 0)
    await log.evaluate((frame) => frame.scrollTo(0, frame.scrollHeight))
    await log.getByText('more 80', { exact: true }).waitFor()
    await writeFile(last, '')
    await log.getByText('last', { exact: true }).waitFor() // at the end, new lines come into sight by themselves
    await page.getByRole('link', { name: 'Home' }).first().click()
    const running = page.getByRole('region', { name: 'Running now' })
    await running.getByText(/1 of 2 rows, running$/).waitFor()
    const progress = running.getByRole('progressbar', { name: 'Progress of Slow one' })
    assert.equal(await progress.getAttribute('aria-valuenow'), '50')
    await running.getByRole('link', { name: 'Slow one' }).click()
    await page.getByRole('button', { name: 'Terminate this job' }).click()
    await page.getByRole('heading', { name: 'Slow one: terminated.' }).waitFor()
    await page.getByRole('button', { name: 'Run again' }).waitFor()
    nothingWrong()
  })

  await t.test('only the row that failed is run again, and a line of its log is linked to', async () => {
    const repaired = join(folder, 'repaired')
    await stack.add(
      'test.rows',
      `[ "$KBC_CONFIGROWID" = good ] || [ -e ${repaired} ] || { echo 'the price is missing' >&2; exit 1; }; echo "read $KBC_CONFIGROWID"`,
    )
    await configure('test.rows', 'two', 'Two rows', ['good', 'bad'])
    await go(`/jobs/${await start('test.rows', 'two')}`)
    await page.getByRole('heading', { name: 'Two rows failed on row bad: the price is missing.' }).waitFor()
    const log = page.getByRole('region', { name: 'Lines of the log' })
    const line = log.locator('.log-line').filter({ hasText: 'the price is missing' }).first()
    await line.getByRole('button').click()
    await page.waitForURL(/line=/)
    await page.reload()
    await log.locator('.chosen').getByText('the price is missing').waitFor()
    await page.getByRole('button', { name: 'Run all again' }).waitFor()
    await writeFile(repaired, '')
    await page.getByRole('button', { name: 'Rerun 1 failed row' }).click()
    await page.getByRole('heading', { name: /^Two rows succeeded/ }).waitFor()
    await log.getByText('read bad').waitFor()
    assert.equal(await log.getByText('read good').count(), 0, 'the row that went well is not run again')
    nothingWrong()
  })

  await t.test('a long log stays usable, and a line has an address', async (t) => {
    const [job] = (await stack.request('GET', '/queue/search/jobs?limit=1')).json<{ id: string }[]>()
    await page.addInitScript(writeLog(job!.id))
    await page.reload()
    const open = async (count: number, more = '') => {
      await go('/')
      await go(`/jobs/${job!.id}?lines=${count}${more}`)
      await page.getByText(`${linesText(count)} lines`).waitFor()
    }
    await open(2000)
    const small = { steps: await scrollSteps(page), heap: await heapOf(page) }
    const middle = LOG_LINES / 2
    await open(LOG_LINES, `&line=${middle}`)
    await page.getByText(`page ${middle} of the API`).waitFor()
    const log = page.getByRole('region', { name: 'Lines of the log' })
    assert.ok((await log.locator('.log-line').count()) < 200, 'only the lines that are seen exist')
    const large = { steps: await scrollSteps(page), heap: await heapOf(page) }
    const bytesPerLine = (large.heap - small.heap) / LOG_LINES
    const said = `${large.steps} times the same step to scroll, with 2,000 lines ${small.steps}`
    t.diagnostic(`${Math.round(bytesPerLine)} bytes a line; ${said}`)
    assert.ok(bytesPerLine < 250, `${bytesPerLine} bytes a line`)
    assert.ok(large.steps < LOG_LINES, `not one step for every line in ten jumps: ${said}`)
    await page.getByLabel('Search the log').fill('page 77777 ')
    await page.getByText(`1 of ${linesText(LOG_LINES)} lines`).waitFor()
    await log.getByRole('button').first().click()
    await page.waitForURL(/line=(%22)?77777/)
    nothingWrong()
  })

  await t.test('a schedule is built by choosing, and shown as a week', async () => {
    await go('/schedules')
    await page.getByRole('heading', { name: 'Nothing runs by itself.' }).waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('How often').selectOption('on days of the week')
    await page.getByLabel('Thu').check()
    await page.getByLabel('Time of day').fill('07:15')
    await page.getByText('on Mondays and Thursdays at 07:15').waitFor()
    assert.equal(await page.getByLabel('When', { exact: true }).inputValue(), '15 7 * * 1,4')
    await page.getByText('Clock changes, downtime, overlap').click()
    await page.getByLabel('While the previous run is still running').selectOption('leave it out')
    await page.getByRole('button', { name: 'Run Shop by the clock' }).click()
    await page.getByRole('button', { name: /on Mondays and Thursdays at 07:15/ }).click()
    await page.getByText('It has not run yet.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'As a week' }).click()
    await page.getByRole('region', { name: 'Runs by day and hour' }).getByText(':15 Shop').first().waitFor()
    nothingWrong()
  })

  await t.test('a schedule says how its runs went, which were left out and why, and where the clock is changed', async () => {
    interface Listed {
      readonly configurationId: string
      readonly nextExecutionTime: string
    }
    const listed = async () => (await stack.request('GET', '/scheduler/schedules')).json<Listed[]>()
    const scheduler = '/v2/storage/components/keboola.scheduler/configs'
    const ofShop = (await listed())[0]!.configurationId
    const { policy } = (await stack.request('GET', `${scheduler}/${ofShop}`)).json<{ configuration: { policy: object } }>()
      .configuration
    assert.deepEqual(policy, { dst: 'once', missed: 'catch-up', overlap: 'skip' }, 'as they were chosen')
    const schedule = { cronTab: '30 2 * 3 0', timezone: 'Europe/Prague', state: 'enabled' }
    const target = { componentId: 'test.slow', configurationId: 'slow', mode: 'run' }
    await stack.request('POST', scheduler, {
      json: { configurationId: 'march', name: 'March', configuration: { schedule, target, policy: { overlap: 'skip' } } },
    })
    const activate = (configurationId: string) => stack.request('POST', '/scheduler/schedules', { json: { configurationId } })
    assert.ok((await activate('march')).status < 300)
    const fire = async () => {
      const { nextExecutionTime } = (await listed()).find(({ configurationId }) => configurationId === 'march')!
      await stack.platform.scheduler.loop.tick(new Date(nextExecutionTime))
    }
    await go('/schedules')
    const row = page.getByRole('row', { name: /Slow one/ })
    await row.waitFor()
    await fire()
    await row.getByText('Running').waitFor()
    await fire()
    await row.getByText('Skipped').waitFor() // on the screen that is open
    await row.getByRole('button', { name: /30 2 \* 3 0/ }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('The run before it has not ended (policy overlap: skip).').waitFor()
    await drawer
      .getByText(/^clock change/)
      .nth(1)
      .waitFor() // ten Sundays of March: at least two of them are the last
    await drawer.getByRole('link', { name: /^Job \d+$/ }).click()
    await page.getByRole('button', { name: 'Terminate this job' }).click()
    await page.getByRole('heading', { name: 'Slow one: terminated.' }).waitFor()
    await page.getByRole('link', { name: 'Schedules' }).first().click()
    await row.getByText('Terminated').waitFor()
    const other = page.getByRole('row', { name: /^\S+ Shop/ })
    await other.getByRole('button', { name: 'Pause' }).click()
    await other.getByText('never').waitFor()
    await other.getByRole('button', { name: 'Resume' }).click() // from now on: its coming runs passed with those of March
    await other.getByText(/, in \d+ (h|d|min|s)$/).waitFor()
    nothingWrong()
  })

  await t.test('a query is completed, drawn and kept as a table and as a transformation', async () => {
    await go('/sql')
    const editor = page.getByLabel('SQL', { exact: true })
    await replaceText(editor, 'select p. from ')
    await page.keyboard.type('past')
    await page.getByRole('option', { name: /^pasted/ }).click()
    await page.keyboard.type(' p')
    await page.keyboard.press('Home')
    for (let step = 0; step < 'select p.'.length; step++) await page.keyboard.press('ArrowRight')
    await page.keyboard.type('na')
    await page.getByRole('option', { name: /^name\s*pasted$/ }).click()
    await editor.press('Control+Enter')
    await page.getByRole('heading', { name: /^2 rows in/ }).waitFor() // a bare name has become its bucket and table
    await page.getByRole('cell', { name: 'Milk' }).waitFor()
    await page.getByText('pasted', { exact: true }).click()
    await page.getByRole('button', { name: 'Select the first rows' }).click()
    let queries = 0
    page.on('request', (request) => (queries += request.url().endsWith('/v2/storage/query') ? 1 : 0))
    await editor.press('Control+Enter')
    await page.getByRole('heading', { name: /^2 rows in/ }).waitFor()
    assert.equal(queries, 1, 'the key runs the query once')
    await page.getByRole('cell', { name: 'Milk' }).waitFor()
    await page.getByRole('button', { name: 'Chart' }).click()
    await page.getByRole('list', { name: 'price by name' }).getByText('Tea').waitFor()
    await page.getByRole('button', { name: 'Save as a transformation' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Copy of goods')
    await page.getByLabel('Table', { exact: true }).fill('out.c-main.copy')
    await page.getByRole('button', { name: 'Create the transformation' }).click()
    await page.getByRole('heading', { name: 'Copy of goods', exact: true }).waitFor()
    await page.getByRole('button', { name: /^Run/ }).click()
    await page.getByRole('heading', { name: /^Copy of goods succeeded/ }).waitFor()
    await page.getByText('2 rows written').waitFor()
    await go('/sql')
    await editor.press('Control+Enter')
    await page.getByRole('button', { name: 'Save as a table' }).click()
    await page.getByLabel('Table', { exact: true }).fill('out.c-main.kept')
    await page.getByRole('button', { name: 'Create the table' }).click()
    await page.getByRole('heading', { name: /^2 rows, last loaded/ }).waitFor()
    await go('/sql')
    await page.getByRole('button', { name: 'History' }).click()
    await page
      .getByRole('region', { name: 'Queries of the project' })
      .getByRole('button', { name: /pasted/ })
      .first()
      .click()
    await page.locator('.cm-content').getByText('pasted').waitFor()
    await replaceText(editor, 'select nothing from "in.c-main"."pasted"')
    await editor.press('Control+Enter')
    await page
      .getByRole('alert')
      .getByText(/line 1/)
      .waitFor()
    mayComplainOf(/status of 400 .*\/storage\/query/)
    await replaceText(editor, 'select na')
    await editor.getByText('select na', { exact: true }).waitFor()
    await editor.press('Control+Space')
    await page.getByRole('listbox').getByRole('option', { name: 'natural' }).first().waitFor()
    nothingWrong()
  })

  await t.test('the guides are read inside the console, and an error leads to its place', async () => {
    await go('/help')
    await page.getByText('matches its version, 0.0.0-test.').waitFor()
    await page.getByRole('region', { name: 'Guides' }).getByRole('link', { name: 'the whole platform over HTTP' }).click()
    await page.getByRole('heading', { level: 1, name: 'Tutorial: the whole platform over HTTP' }).waitFor()
    await go('/help?guide=errors&at=configuration.invalid')
    await page.locator('.target').getByText('Correct the named member of the configuration.').waitFor()
    nothingWrong()
  })

  await t.test('no screen has serious accessibility findings or scrolls sideways', async () => {
    const jobs = (await stack.request('GET', '/queue/search/jobs?limit=10&status[]=error')).json<{ id: string }[]>()
    await checkScreensOn(opened, [
      `/jobs/${jobs.at(-1)!.id}`,
      '/jobs',
      '/schedules',
      '/schedules?view=week',
      '/sql',
      { path: '/upload', open: lookAtRows },
      '/help?guide=walkthrough',
    ])
  })
})

const linesText = (count: number): string => (count === 1_000_000 ? '1 million' : count.toLocaleString('en'))

// Scripts of the page, as text: the types of this file are those of the server.

/** Answers the log of the job with the number of lines in the URL, without a network. */
const writeLog = (jobId: string): string => `
  const ask = window.fetch
  window.fetch = (input, init) => {
    const count = Number(new URLSearchParams(location.search).get('lines'))
    if (!String(input).includes('/queue/jobs/${jobId}/events') || !count) return ask(input, init)
    let id = 0
    const body = new ReadableStream({
      pull(stream) {
        let text = ''
        for (const end = Math.min(id + 10000, count); id < end; id++)
          text += 'id: ' + id + '\\nevent: log\\ndata: {"id":' + id + ',"type":"info","createdMs":1767261600000,' +
            '"message":"page ' + id + ' of the API"}\\n\\n'
        stream.enqueue(new TextEncoder().encode(id < count ? text : text + 'event: end\\ndata: {}\\n\\n'))
        if (id >= count) stream.close()
      },
    })
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  }`

/**
 * How often the busiest function or loop of the page ran during jumps to ten places of the log. What else the page does meanwhile is
 * spread over many of them, and is more on a busy machine: a sum would grow with it.
 */
async function scrollSteps(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Profiler.enable')
  await session.send('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  await page.evaluate(`(async () => {
    const frame = document.querySelector('.job-log')
    const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    for (let place = 0; place < 10; place++) {
      frame.scrollTo(0, (frame.scrollHeight * place) / 10)
      await drawn()
    }
  })()`)
  const { result } = await session.send('Profiler.takePreciseCoverage')
  await session.send('Profiler.disable')
  await session.detach()
  return result
    .flatMap(({ functions }) => functions)
    .flatMap(({ ranges }) => ranges)
    .reduce((max, { count }) => Math.max(max, count), 0)
}

/** Bytes that the scripts of the page hold, after what is not needed has gone. */
async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize, embedderHeapUsedSize = 0, backingStorageSize = 0 } = (await session.send('Runtime.getHeapUsage')) as HeapUsage
  await session.detach()
  return usedSize + embedderHeapUsedSize + backingStorageSize
}

interface HeapUsage {
  readonly usedSize: number
  readonly embedderHeapUsedSize?: number
  readonly backingStorageSize?: number
}
