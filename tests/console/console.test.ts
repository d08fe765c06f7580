// Journeys through the console in a real browser, against a real stack.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import pg from 'pg'
import { checkScreen, checkScreensOn, openPage, replaceText, startBrowser } from '../support/browser.ts'
import { childEnvironment } from '../support/child-environment.ts'
import { runCli } from '../support/run-cli.ts'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

const CSV = 'id,name,price\n1,Tea,3.50\n2,Milk,1.20\n3,"Bread, dark",2.80\n'

test('the console in a browser', { timeout: 900_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const sqlPort = await stack.platform.sqlPort.listen(0, '127.0.0.1')
  const opened = await openPage(browser) // one page for all journeys: so the console is loaded once
  const { page, go, mayComplainOf, nothingWrong } = opened
  const signIn = async (token: string) => {
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  const changeTo = async (token: string) => {
    const button = page.getByRole('button', { name: 'Sign out' })
    await go('/') // the other project does not have what this page shows
    await button.click()
    await signIn(token)
    await button.waitFor()
  }

  await t.test('a wrong token is refused with the sentence of the server, the right one leads home', async () => {
    await page.goto(`${stack.url}/`)
    await signIn('1-2-wrong')
    await page.getByRole('alert').getByText('Invalid access token').waitFor()
    mayComplainOf(/status of 401 .*tokens\/verify/)
    await signIn(stack.masterToken)
    await page.getByRole('heading', { name: 'An empty project, ready for its first table.' }).waitFor()
  })

  await t.test('an uploaded file becomes a table that can be looked at, filtered and sorted', async () => {
    await go('/')
    await page.getByRole('link', { name: 'Upload a CSV file' }).click()
    await page.setInputFiles('input[type=file]', { name: 'goods.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) })
    await page.getByRole('cell', { name: 'Bread, dark' }).waitFor()
    await page.getByLabel('Primary key').selectOption('id')
    await page.getByRole('button', { name: 'Create the table' }).click()
    await page.getByRole('heading', { name: /^3 rows, last loaded/ }).waitFor()
    assert.match(page.url(), /\/console\/storage\/in\.c-main\.goods$/)
    await page.keyboard.press('c') // bytes are shown as commands too
    const asked = (operation: string) => page.getByRole('dialog').getByRole('article', { name: operation }).first().locator('pre')
    await asked('import.uploadFile')
      .getByText(/-F 'name=goods\.csv'.*-F 'data=@goods\.csv'.*\/import\/upload-file'$/s)
      .waitFor()
    await asked('files.sniffBody')
      .getByText(/--data-binary '@goods\.csv'/)
      .waitFor()
    await page.getByRole('button', { name: 'Command line' }).click()
    await asked('import.uploadFile').getByText(`--file 'goods.csv' --field 'name=goods.csv'`).waitFor()
    assert.equal(await asked('files.prepare').count(), 0, 'the upload is shown as a whole')
    await page.keyboard.press('Escape')
    await page.getByLabel('Column of the filter').selectOption('name')
    await page.getByLabel('Value of the filter').fill('Milk')
    await page.getByLabel('Value of the filter').press('Enter')
    await page.getByText(/1 row matches/).waitFor()
    await page.reload() // the whole state is in the address
    await page.getByText(/1 row matches/).waitFor()
    await go('/storage/in.c-main.goods?sort=price&order=desc')
    await page.getByRole('columnheader', { name: /price/ }).getByText('all distinct').waitFor() // a profile in the header
    await page.getByText('1 to 3 of 3 rows').waitFor()
    assert.match(await page.getByRole('row').nth(2).innerText(), /Bread, dark/)
    await page.getByRole('button', { name: 'Export' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    assert.equal((await download).suggestedFilename(), 'goods.csv')
    nothingWrong()
  })

  await t.test(
    'a table is kept as one file, whose link ends, and the file is looked into and becomes a table again',
    async () => {
      await go('/storage/in.c-main.goods')
      await page.getByRole('button', { name: 'Export' }).click()
      await page.getByLabel(/^Packed with gzip/).check()
      await page.getByRole('button', { name: 'Keep as a file' }).click()
      await page
        .getByRole('status')
        .getByText(/tagged .*storage-merged-export/)
        .waitFor()
      await page.getByLabel('A link that works for').selectOption('a week')
      await page.getByRole('button', { name: 'Create a link' }).click()
      await page.getByText(/can download the file until .* without signing in/).waitFor()
      const link = (await page.locator('.link-text').textContent())!
      assert.equal(new URL(link).searchParams.get('X-Amz-Expires'), '604800')
      const kept = gunzipSync(Buffer.from(await (await fetch(link)).arrayBuffer())).toString()
      assert.match(kept, /^"id","name","price"\n/, 'one file with a header')
      assert.equal(kept.split('\n').length, 5)
      await page.getByRole('link', { name: 'files', exact: true }).click()
      const content = page.getByRole('region', { name: 'Content' })
      await content.getByText('unpacked from gzip').waitFor()
      await content.getByText(/"Bread, dark"/).waitFor()
      await page.getByRole('link', { name: 'Create a table from it' }).click()
      await page.getByRole('heading', { name: '3 rows can be read.' }).waitFor()
      await page.getByLabel('Table', { exact: true }).fill('again')
      await page.getByRole('button', { name: 'Create the table' }).click()
      await page.getByRole('heading', { name: /^3 rows, last loaded/ }).waitFor()
      await page.keyboard.press('c') // what was done, as commands
      const done = page.getByRole('dialog').getByRole('article', { name: 'tables.createAsync' })
      await done.getByText(/^curl .*-X POST/s).waitFor()
      await page.getByRole('button', { name: 'Command line' }).click()
      await done.getByText(/^npx millrace api POST .*in\.c-main\/tables-async/).waitFor()
      await page.keyboard.press('Escape')
      await go('/storage')
      await stack.request('DELETE', '/v2/storage/tables/in.c-main.again')
      nothingWrong()
    },
  )

  await t.test('rows are copied as CSV, as JSON and as a query that gives them again', async () => {
    await go('/storage/in.c-main.goods?sort=id&order=asc')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const copied = async (format: string): Promise<string> => {
      await page.evaluate("navigator.clipboard.writeText('')")
      await page.getByRole('button', { name: format, exact: true }).click()
      return until(
        `${format} in the clipboard`,
        async () => (await page.evaluate<string>('navigator.clipboard.readText()')) || null,
      )
    }
    assert.equal(await copied('CSV'), CSV.trimEnd())
    const [first, , third] = JSON.parse(await copied('JSON')) as object[]
    assert.deepEqual(
      [first, third],
      [
        { id: '1', name: 'Tea', price: '3.50' },
        { id: '3', name: 'Bread, dark', price: '2.80' },
      ],
    )
    const asked = await stack.request('POST', '/v2/storage/query', { json: { sql: await copied('SQL'), format: 'csv' } })
    assert.equal(asked.text.replaceAll('"', ''), CSV.replaceAll('"', ''), 'the query has the rows in it')
    nothingWrong()
  })

  await t.test('every snippet reads the table with a token that can do nothing else', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-snippets-'))
    t.after(() => rm(folder, { recursive: true }))
    await go('/storage/in.c-main.goods')
    const card = page.getByRole('region', { name: 'Use this data' })
    await card.getByRole('button', { name: 'Create a read-only token' }).click()
    const token = (await card.locator('code').filter({ hasText: /^\d+-/ }).textContent())!
    const verified = (await stack.request('GET', '/v2/storage/tokens/verify', { token })).json<{
      bucketPermissions: object
      expires: string
    }>()
    assert.deepEqual(verified.bucketPermissions, { 'in.c-main': 'read' })
    assert.ok(Math.abs(Date.parse(verified.expires) - Date.now() - 7 * 86_400_000) < 3_600_000, verified.expires)
    const snippetOf = async (tool: string): Promise<string> => {
      await card.getByRole('button', { name: tool, exact: true }).click()
      return (await card.locator('pre').textContent())!
    }
    const inShell = async (command: string) => {
      const env = { ...childEnvironment(), PATH: process.env.PATH, MILLRACE_TOKEN: token }
      await promisify(execFile)('bash', ['-euc', command], { cwd: folder, env })
    }
    const read = async (name: string) => (await readFile(join(folder, name), 'utf8')).replaceAll('"', '')
    const rows = CSV.replaceAll('"', '')

    await inShell(await snippetOf('curl'))
    assert.equal(await read('table.csv'), rows)
    const [address, ...args] = (await snippetOf('CLI')).replace('npx millrace ', '').replace('table.csv', 'by-cli.csv').split(' ')
    const cli = await runCli(
      args,
      { MILLRACE_URL: address!.replace('MILLRACE_URL=', ''), MILLRACE_TOKEN: token },
      { cwd: folder },
    )
    assert.equal(cli.code, 0, cli.err)
    assert.equal(await read('by-cli.csv'), rows)
    const [fetching, query] = (await snippetOf('DuckDB')).split('\n')
    await inShell(fetching!.replace('-- ', ''))
    const duckdb = await (await DuckDBInstance.create()).connect()
    const found = await duckdb.runAndReadAll(query!.replace('table.parquet', join(folder, 'table.parquet')))
    assert.deepEqual(found.getRows()[2], ['3', 'Bread, dark', '2.80'])
    duckdb.closeSync()
    const psql = /-h (\S+) -p (\d+) -U (\S+) (\S+) .*-c '(.*)'$/s.exec(await snippetOf('psql'))!
    assert.equal(psql[2], String(sqlPort))
    const db = new pg.Client({ host: psql[1], port: sqlPort, user: psql[3], database: psql[4], password: token })
    await db.connect()
    assert.equal((await db.query(psql[5]!)).rowCount, 3)
    await db.end()
    // No Python, R or Excel here: what they are given to read is read as they would.
    for (const tool of ['pandas', 'R', 'Excel']) {
      const snippet = await snippetOf(tool)
      assert.match(snippet, /X-StorageApi-Token/)
      const answer = await fetch(/"(http[^"]+)"/.exec(snippet)![1]!, { headers: { 'X-StorageApi-Token': token } })
      assert.equal((await answer.text()).replaceAll('"', ''), rows, tool)
    }
    nothingWrong()
  })

  await t.test('the profile says what is in the columns, and the table is taken out as Parquet and as JSON lines', async () => {
    await go('/storage/in.c-main.goods?tab=profile')
    await page.getByText('of all 3 rows').waitFor()
    await page.getByRole('row', { name: /^id all different 100 % 1 3/ }).waitFor()
    await page.getByRole('row', { name: /^name all different 100 % Bread, dark Tea/ }).waitFor()
    const exported = async (format: string) => {
      await page.getByRole('button', { name: 'Export' }).click()
      await page.getByLabel('Format', { exact: true }).selectOption(format)
      await page.getByLabel('price', { exact: true }).uncheck()
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download' }).click()
      const file = await download
      return { name: file.suggestedFilename(), bytes: await readFile((await file.path())!) }
    }
    const lines = await exported('JSON lines')
    assert.equal(lines.name, 'goods.jsonl')
    const [, , third] = lines.bytes.toString().trimEnd().split('\n')
    assert.deepEqual(JSON.parse(third!), { id: '3', name: 'Bread, dark' })
    const parquet = await exported('Parquet')
    assert.equal(parquet.name, 'goods.parquet')
    assert.equal(parquet.bytes.subarray(0, 4).toString(), 'PAR1')
    nothingWrong()
  })

  await t.test('a file goes to the stack itself when the object store cannot be reached from the browser', async () => {
    await go('/upload')
    const refused: string[] = []
    const isElsewhere = ({ origin }: URL) => origin !== stack.url
    await page.route(isElsewhere, (route) => {
      refused.push(route.request().method())
      return route.abort('connectionrefused')
    })
    await page.setInputFiles('input[type=file]', { name: 'near.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) })
    await page.getByLabel('Table', { exact: true }).fill('near')
    await page.getByRole('button', { name: 'Create the table' }).click()
    await page.getByRole('heading', { name: /^3 rows, last loaded/ }).waitFor()
    assert.ok(refused.includes('POST'), 'the object store was tried first')
    await page.unrouteAll({ behavior: 'wait' })
    mayComplainOf(/ERR_CONNECTION_REFUSED .*\.csv\?uploads/)
    await go('/storage')
    await stack.request('DELETE', '/v2/storage/tables/in.c-main.near')
  })

  await t.test('a configuration is made, changed, run, and its failure names the cause', async () => {
    await go('/components')
    await page.getByRole('heading', { name: 'Nothing is configured yet.' }).waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('Component').selectOption({ label: 'HTTP extractor' })
    await page.getByRole('textbox', { name: 'Name' }).fill('Shop API')
    await page.getByRole('button', { name: 'Create the configuration' }).click()
    await page.getByRole('heading', { name: 'Shop API' }).waitFor()
    const configuration = page.url()
    await page.getByRole('button', { name: 'JSON' }).click()
    const json = page.getByLabel('Configuration as JSON')
    await json.click()
    await page.keyboard.type('r') // a key that runs it, unless somebody types
    await page.getByText('This is not JSON yet').waitFor()
    assert.equal(new URL(page.url()).pathname, new URL(configuration).pathname)
    await replaceText(
      json,
      JSON.stringify({
        parameters: {
          api: { baseUrl: 'http://127.0.0.1:9/' },
          config: { outputBucket: 'in.c-shop', jobs: [{ endpoint: 'orders' }] },
        },
      }),
    )
    await page.keyboard.press('Control+s')
    await page.getByText('Saved as version 2.').waitFor()
    await page.getByRole('button', { name: /^Run/ }).click()
    await page
      .getByRole('heading', { name: 'Shop API failed: this stack does not let components connect to that address.' })
      .waitFor()
    await page.getByRole('region', { name: 'Cause' }).getByText('is not allowed').waitFor()
    await page.getByRole('region', { name: 'Lines of the log' }).getByText('is not allowed').waitFor()
    const jobId = page.url().split('/').at(-1)!
    const { urlTemplates } = (await stack.request('GET', '/v2/storage')).json<{ urlTemplates: Record<string, string> }>()
    await go('/')
    await page.getByRole('heading', { name: '1 configuration failed in the last run, from one cause.' }).waitFor()
    const needsYou = page.getByRole('region', { name: 'Needs you' })
    await needsYou.getByText('Shop API: This stack does not let components connect to that address.').waitFor()
    // As it is when the failed job should have loaded a table: only the clock differs.
    const isLate = { tableId: 'in.c-main.goods', state: 'late', lateByMs: 1_200_000, failure: { jobId }, lateInputs: [] }
    await page.route(/\/freshness\?/, (route) => route.fulfill({ json: [isLate] }))
    await page.reload()
    await needsYou.getByRole('link', { name: 'in.c-main.goods, 20 min' }).waitFor()
    assert.equal(await page.getByRole('region', { name: 'Late tables' }).count(), 0, 'it stands under its cause')
    await page.unrouteAll({ behavior: 'wait' })
    await needsYou.getByRole('button', { name: 'Run again' }).click()
    await page.getByText('1 job started again.').waitFor()
    const known: Record<string, string> = {
      jobId,
      tableId: 'in.c-main.goods',
      componentId: 'keboola.ex-generic-v2',
      configurationId: configuration.split('/').at(-1)!,
    }
    for (const [name, template] of Object.entries(urlTemplates)) {
      const address = new URL(
        template.replaceAll(/&&(\w+)&&/g, (_, placeholder: string) => known[placeholder] ?? assert.fail(template)),
      )
      assert.equal(address.origin, stack.url)
      await go(address.pathname.replace('/console', ''))
      const heading = { table: /^3 rows/, configuration: 'Shop API' }[name] ?? /^Shop API failed/
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    }
    nothingWrong()
  })

  await t.test('the sample shop is read, broken on purpose and repaired, in five clicks', async () => {
    const { projectId, masterToken } = await stack.newProject('First run')
    assert.notEqual(projectId, stack.projectId)
    await changeTo(masterToken)
    await page.getByRole('link', { name: 'Try it with the sample shop' }).click()
    await page.getByRole('button', { name: 'Create and run it' }).click()
    await page.getByRole('heading', { name: 'The orders of the shop are a table now.' }).waitFor()
    await page.getByRole('button', { name: 'Request the bad record' }).click()
    await page.getByRole('heading', { name: 'It failed as expected, and shows why.' }).waitFor()
    await page.getByText(/incompatible types/).waitFor()
    await page.getByText(/^It went well with version/).waitFor()
    await page.getByRole('button', { name: /^Restore version \d+ and rerun$/ }).click()
    await page.getByRole('heading', { name: /^Repaired\./ }).waitFor()
    await page.getByRole('link', { name: 'Open the table' }).click()
    await page.getByRole('heading', { name: /^25\d rows, last loaded/ }).waitFor()
    await page.getByRole('link', { name: 'Lineage' }).click()
    const graph = page.getByRole('region', { name: /^Asset graph: 1 configuration, \d tables?/ })
    await graph.getByRole('link', { name: /Sample shop/ }).waitFor()
    await page.getByRole('row', { name: /^Sample shop writes it/ }).waitFor()
    await page.getByRole('link', { name: 'Usage' }).first().click()
    await page.getByRole('heading', { name: /^3 jobs ran for .*, and .* rows were loaded\.$/ }).waitFor()
    await page.getByRole('region', { name: 'By configuration' }).getByRole('cell', { name: /shop/i }).waitFor()
  })

  await t.test('a template becomes a pipeline, and goes as a whole', async () => {
    const { masterToken } = await stack.newProject('Templates')
    await changeTo(masterToken)
    await go('/templates')
    await page.getByRole('button', { name: 'Use From an API to a report' }).click()
    await page.getByLabel('Name', { exact: true }).fill('My shop')
    await page.getByLabel('Password').fill('lovelace')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const made = page.getByRole('region', { name: 'Created from templates' })
    await made.getByRole('link', { name: 'My shop', exact: true }).waitFor()
    const links = await made.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')!))
    assert.ok(links.length >= 3, 'an extractor, a transformation and a flow')
    assert.ok(
      links.every((link) => !link.includes('undefined')),
      links.join(' '),
    )
    await made.getByRole('button', { name: 'Delete My shop' }).click()
    await page.getByRole('dialog', { name: 'Delete: My shop' }).getByRole('button', { name: 'Delete' }).click()
    await made.waitFor({ state: 'detached' })
    nothingWrong()
  })

  await t.test('a schedule shows its next runs before it is made', async () => {
    await changeTo(stack.masterToken)
    await go('/schedules')
    await page.getByRole('heading', { name: 'Nothing runs by itself.' }).waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('When', { exact: true }).fill('every now and then')
    await page.getByRole('alert').waitFor()
    mayComplainOf(/status of 400 .*\/scheduler\/preview/)
    await page.getByLabel('When', { exact: true }).fill('30 2 * 3 0') // the last Sunday of March has no half past two
    await page
      .getByRole('dialog')
      .getByText(/clock change/)
      .first()
      .waitFor()
    await page.getByLabel('When', { exact: true }).fill('30 6 * * *')
    const inViewersZone = page.getByRole('dialog').getByRole('listitem').first()
    await inViewersZone.getByText(/06:30:00/).waitFor()
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo')
    await inViewersZone.getByText(/2[23]:30:00/).waitFor() // the day before in Prague, in winter or in summer
    await page.getByLabel('Time zone').selectOption('Europe/Prague')
    await inViewersZone.getByText(/06:30:00/).waitFor()
    await page.getByRole('button', { name: 'Run Shop API by the clock' }).click()
    await page.getByRole('heading', { name: '1 schedule, none stopped.' }).waitFor()
    await page.getByRole('link', { name: 'Home' }).first().click()
    await page.getByRole('region', { name: 'Next runs' }).getByRole('listitem').getByText('Shop API').waitFor()
    assert.match(
      await page.getByRole('region', { name: 'Next runs' }).getByRole('listitem').innerText(),
      /^06:30\s+Shop API\s+in /,
    )
    await page.getByRole('link', { name: 'Components', exact: true }).first().click()
    await page.getByRole('heading', { name: '1 configuration of 1 component.' }).waitFor() // a schedule is not one of them
  })

  await t.test('a deleted configuration is brought back', async () => {
    await go('/components')
    await page.getByLabel('Select Shop API', { exact: true }).check()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Deleted 1 configuration.').waitFor()
    await page.getByRole('button', { name: 'Deleted' }).click()
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('Restored, with its rows and versions.').waitFor()
    await go('/components')
    await page.getByRole('link', { name: 'Shop API', exact: true }).waitFor()
  })

  await t.test('a token is made for one bucket, shown once, changed, and revoked', async () => {
    await go('/tokens')
    await page.getByRole('heading', { name: /of this project/ }).waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('What it is for').fill('nightly report')
    await page.locator('.token-scope').filter({ hasText: 'in.c-main' }).getByRole('combobox').selectOption('read')
    await page.getByRole('button', { name: 'Create the token' }).click()
    const token = (await page.getByRole('dialog').locator('code').textContent())!
    await page.getByRole('button', { name: 'I have it' }).click()
    const row = page.getByRole('row', { name: /^nightly report read in\.c-main/ })
    await row.waitFor()
    assert.ok(!(await page.content()).includes(token), 'it is shown once')
    const verify = async () => (await stack.request('GET', '/v2/storage/tokens/verify', { token })).status
    assert.equal(await verify(), 200)
    await row.getByRole('button', { name: 'Change nightly report' }).click()
    await page.locator('.token-scope').filter({ hasText: 'in.c-main' }).getByRole('combobox').selectOption('write')
    await page.getByRole('button', { name: 'Change the token' }).click()
    await page.getByRole('row', { name: /^nightly report write in\.c-main/ }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await row.waitFor()
    await row.getByRole('button', { name: 'Revoke nightly report' }).click()
    const asked = page.getByRole('dialog', { name: 'Revoke: nightly report' })
    await asked.getByText(/^Programs that use it are refused at once\./).waitFor()
    assert.equal(await verify(), 200, 'one click revokes nothing')
    await asked.getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    assert.equal(await verify(), 401)
    nothingWrong()
  })

  await t.test('the keys of a screen are shown, lead to places, and leave the focus where it was', async () => {
    await go('/tokens')
    const button = page.getByRole('button', { name: 'New token' })
    await button.focus()
    await page.keyboard.press('?')
    const sheet = page.getByRole('dialog', { name: 'Keys' })
    await sheet.getByText('New token').waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    assert.match(await page.evaluate<string>('document.activeElement.textContent'), /^New token/)
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.waitForURL(/\/console\/storage$/)
    await page.getByRole('heading', { name: /^1 table in/ }).waitFor()
  })

  await t.test('a schedule is paused and resumed', async () => {
    await go('/schedules')
    const row = page.getByRole('row', { name: /Shop API/ })
    await row.getByText(/^tomorrow|^today/).waitFor()
    const configurations = '/v2/storage/components/platform.ex-http/configs'
    const [shop] = (await stack.request('GET', configurations)).json<{ id: string }[]>()
    const target = `${configurations}/${shop!.id}`
    await stack.request('DELETE', target)
    await page.getByText(/was deleted/).waitFor() // what it runs is gone
    await stack.request('POST', `${target}/restore`)
    await row.getByText(/^tomorrow|^today/).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await row.getByText('never').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await row.getByText(/^tomorrow|^today/).waitFor()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('heading', { name: /^Shop API failed/ }).waitFor()
  })

  await t.test('what others change appears without a reload', async () => {
    await go('/storage')
    await page.getByRole('heading', { name: /^1 table in/ }).waitFor()
    const made = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', {
      form: { name: 'later', dataString: 'id\n1\n' },
    })
    assert.equal(made.status, 201)
    await page.getByRole('heading', { name: /^2 tables in/ }).waitFor()
    await page.getByRole('link', { name: /in\.c-main\.later/ }).waitFor()
  })

  await t.test('Ctrl K finds the table, and the page can be shown as curl', async () => {
    await go('/jobs')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('goods')
    await page.getByRole('option', { name: /table in\.c-main\.goods$/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /3 rows/ }).waitFor()
    await page.keyboard.press('c')
    await page
      .getByRole('dialog')
      .getByText(/v2\/storage\/tables\/in\.c-main\.goods'/)
      .waitFor()
    await page.keyboard.press('Escape')
  })

  await t.test('on a phone every place is reached, and files and buckets are found', async () => {
    await page.setViewportSize({ width: 390, height: 900 })
    await go('/jobs')
    const find = async (text: string, name: RegExp) => {
      await page.getByRole('button', { name: 'Search or run' }).click()
      await page.getByRole('combobox', { name: 'Search' }).fill(text)
      await page.getByRole('option', { name }).first().click()
    }
    await find('', /^Go to Streams/)
    await page.waitForURL(/\/streams$/)
    await find('main', /bucket in\.c-main$/)
    await page.getByRole('heading', { name: /^\d+ tables? in/ }).waitFor()
    assert.equal(await page.getByLabel('Filter by name or column').inputValue(), 'in.c-main')
    await find('goods', /file \d+$/)
    await page.getByRole('region', { name: 'Content' }).waitFor()
    await page.setViewportSize({ width: 1440, height: 900 })
    nothingWrong()
  })

  await t.test('no screen has serious accessibility findings or scrolls sideways, light or dark, wide or small', async () => {
    await checkScreensOn(opened, [
      ...['/', '/storage', '/storage/in.c-main.goods?tab=use', '/files', '/components?view=deleted', '/templates'],
      ...['/tokens', '/usage', '/upload', '/try'],
    ])
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('goods')
    await page.getByRole('option').first().waitFor()
    await checkScreen(opened, '/search')
    const close = async () => {
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
    await close()
    for (const [key, title] of [
      ['?', 'Keys'],
      ['c', 'This page as curl'],
    ] as const) {
      await page.keyboard.press(key)
      await page.getByRole('dialog', { name: title }).waitFor()
      await checkScreen(opened, `/${title}`)
      await close()
    }
  })

  await t.test('nothing is asked of another host, and no inline script would run', async () => {
    const answer = await stack.request('GET', '/console/storage', { token: null })
    assert.equal(answer.status, 200)
    const policy = answer.headers.get('content-security-policy')!
    assert.match(policy, /default-src 'none'/)
    assert.doesNotMatch(policy, /script-src[^;]*unsafe/)
    assert.equal((await stack.request('GET', '/console/assets/none.js', { token: null })).status, 404)
  })
})
