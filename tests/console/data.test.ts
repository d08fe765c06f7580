// Looking after data in a browser: the health of a project, columns, snapshots, large lists.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Request } from 'playwright-core'
import { withTables } from '../../server/src/engines/metadata-db/dialects.ts'
import { checkScreensOn, replaceText, signedIn, startBrowser } from '../support/browser.ts'
import { send, startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

const ORDERS = 'id,name,price\n1,Tea,3.50\n2,Milk,1.20\n3,Bread,2.80\n'

test('data in a browser', { timeout: 900_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const opened = await signedIn(browser, stack, '/') // one page for all journeys: so the console is loaded once
  const { page, go, nothingWrong } = opened
  const ask = async (method: string, path: string, json: unknown) => {
    const answer = await stack.request(method, path, { json })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
    return answer.json<{ id: string }>()
  }
  const load = async (table: string, dataString: string) => {
    const answer = await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables', {
      form: { name: table, dataString, primaryKey: 'id' },
    })
    assert.equal(answer.status, 201, answer.text)
  }
  await ask('POST', '/v2/storage/buckets', { stage: 'in', name: 'shop' })
  await load('orders', ORDERS)

  await t.test('the start page shows where data comes from and goes to, as a graph and as a list', async () => {
    const sums = 'keboola.duckdb-transformation'
    await ask('POST', `/v2/storage/components/${sums}/configs`, {
      configurationId: 'sums',
      name: 'Sums',
      configuration: {
        storage: {
          input: { tables: [{ source: 'in.c-shop.orders', destination: 'orders' }] },
          output: { tables: [{ source: 'sums', destination: 'out.c-shop.sums' }] },
        },
        parameters: { blocks: [{ name: 'a', codes: [{ name: 'b', script: ['create table sums as select 1 as n'] }] }] },
      },
    })
    await go('/')
    const graph = page.getByRole('region', { name: /^Asset graph: 1 configuration, 2 tables/ })
    await graph.getByRole('link', { name: /Sums.*Has not run yet/ }).waitFor()
    await ask('POST', '/queue/jobs', { component: sums, config: 'sums', mode: 'run' })
    await graph.getByRole('link', { name: /Sums.*Ran today/ }).waitFor()
    await graph.getByRole('link', { name: /orders/ }).waitFor()
    await page.getByRole('button', { name: 'List' }).click()
    const row = page.getByRole('row', { name: /^Sums/ })
    assert.match(await row.innerText(), /orders\s+sums/)
    await page.getByRole('img', { name: /^Rows loaded per day\. Today 4 so far\.$/ }).waitFor()
    nothingWrong()
  })

  await t.test('a table says who loaded it, how often that is usual, what is missing, and where it goes', async () => {
    const asked: string[] = []
    const note = (request: Request) => void asked.push(new URL(request.url()).pathname)
    page.on('request', note)
    await go('/storage/out.c-shop.sums')
    const by = page.getByRole('heading', { level: 1 }).getByRole('link', { name: 'Sums' })
    await by.waitFor()
    await page.getByRole('heading', { name: /^1 row, last loaded today [\d:]+ by Sums\.$/ }).waitFor()
    const lineage = page.getByRole('region', { name: 'Lineage' })
    await lineage.getByText('nothing here reads it').waitFor()
    await by.click()
    await page.getByRole('heading', { name: /^Sums succeeded/ }).waitFor()
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Sums' }).waitFor()

    for (const price of ['1', '2', '3']) {
      const dataString = `id,name,price\n1,Tea,${price}\n2,Milk,1.20\n`
      const loaded = await stack.request('POST', '/v2/storage/tables/in.c-shop.orders/import', {
        form: { dataString, incremental: '1' },
      })
      assert.equal(loaded.status, 200, loaded.text)
    }
    await go('/storage/in.c-shop.orders')
    const freshness = page.getByRole('region', { name: 'Freshness' })
    await freshness.getByText('2 in, 0 new, 1 replaced, 1 unchanged').waitFor()
    await freshness.getByText('not known yet: few loads, or all within half an hour').waitFor()
    await freshness.getByRole('img', { name: 'Rows of the last 4 loads, oldest first: 3, 2, 2, 2' }).waitFor()
    // As it is when nobody loads for a while: only the clock differs.
    const late = { state: 'late', usualIntervalMs: 3_600_000, expectedTime: new Date().toISOString(), lateByMs: 1_200_000 }
    await page.route(/\/freshness(\?|$)/, async (route) => {
      const answer = await route.fetch()
      const [judged, isList] = [(await answer.json()) as object, route.request().url().includes('?')]
      const json = isList
        ? (judged as { tableId: string }[]).map((one) => (one.tableId === 'in.c-shop.orders' ? { ...one, ...late } : one))
        : { ...judged, ...late }
      await route.fulfill({ response: answer, json })
    })
    await go('/')
    await page.reload() // requests again
    const lateTables = page.getByRole('region', { name: 'Late tables' })
    await lateTables.getByText('in.c-shop.orders is 20 min late; it is usually loaded every 1 h.').waitFor()
    await page.getByRole('heading', { name: '1 of 2 tables is late.' }).waitFor()
    await lateTables.getByText(/^Last loaded today/).waitFor()
    await go('/storage/in.c-shop.orders')
    await page
      .getByRole('heading', { name: /^3 rows, last loaded today .*\. A load was due by \d\d:\d\d and did not come\.$/ })
      .waitFor()
    await page.getByText('Late by 20 min').waitFor()
    await freshness.getByText('every 1 h').waitFor()
    await lineage.getByRole('link', { name: 'Sums' }).waitFor()
    await lineage.getByRole('link', { name: 'Whole graph' }).click()
    const graph = page.getByRole('region', { name: /^Asset graph: 1 configuration, 2 tables/ })
    await graph.getByRole('link', { name: /Sums/ }).waitFor()
    await page.getByRole('row', { name: /^Sums reads it/ }).waitFor()
    page.off('request', note)
    assert.ok(!asked.includes('/v2/storage/components'), 'names of all configurations are not loaded for those of some')
    await page.unrouteAll({ behavior: 'wait' })
    nothingWrong()
  })

  await t.test('a column is described, added and deleted, each with what it would do before', async () => {
    await go('/storage/in.c-shop.orders?tab=schema')
    await page.getByRole('button', { name: 'Change price', exact: true }).click()
    await page.getByLabel('Description', { exact: true }).fill('In crowns')
    await page.getByRole('button', { name: 'See what the change would do' }).click()
    await page.getByText(/Every row allows the change\. Used by Sums/).waitFor()
    await page.getByRole('button', { name: 'Change price', exact: true }).last().click()
    await page.getByRole('cell', { name: 'In crowns' }).waitFor()
    await page.getByRole('button', { name: 'Edit: Description of price' }).click()
    await page.getByRole('textbox', { name: 'Description of price' }).fill('In euros')
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'In euros' }).waitFor()
    await page.getByRole('region', { name: 'New column' }).getByLabel('Name').fill('note')
    await page.getByRole('button', { name: 'Add the column' }).click()
    await page.getByRole('button', { name: 'Change note' }).click()
    await page.getByRole('button', { name: 'See what deleting it would do' }).click()
    await page.getByText('note would be deleted from 3 rows.').waitFor()
    await page.getByRole('button', { name: 'Delete note' }).click()
    await page.getByRole('cell', { name: 'note', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('region', { name: 'Primary key' }).getByLabel('name', { exact: true }).check()
    await page.getByText('All rows are different in it: it can be the key.').waitFor()
    nothingWrong()
  })

  await t.test('a column gets another type after its values were looked at', async () => {
    await go('/storage/in.c-shop.orders?tab=schema')
    await page.getByRole('button', { name: 'Change name', exact: true }).click()
    await page.getByLabel('Type of name').selectOption('INTEGER')
    await page.getByRole('button', { name: 'Check the values' }).click()
    await page.getByText(/^3 values in 3 rows would be lost: “Bread”, “Milk”, “Tea”\./).waitFor()
    await page.getByRole('button', { name: 'Change name to INTEGER, and 3 values to null' }).waitFor()
    await page.getByRole('button', { name: 'Change name', exact: true }).click()
    await page.getByRole('button', { name: 'Change price', exact: true }).click()
    await page.getByLabel('Type of price').selectOption('NUMERIC')
    await page.getByLabel('Length of the new type').fill('10,2')
    await page.getByRole('button', { name: 'Check the values' }).click()
    await page.getByText(/^Every value can be converted: 3 rows would be rewritten with price as NUMERIC\./).waitFor()
    await page.getByRole('button', { name: 'Change price to NUMERIC' }).click()
    await page.getByText(/^price is NUMERIC now\./).waitFor()
    await page.getByRole('cell', { name: 'NUMERIC(10,2)' }).waitFor()
    nothingWrong()
  })

  let full = new Date()
  await t.test('a snapshot is compared with now, put back, and that is undone', async () => {
    full = new Date(Date.now() + 1000) // the field of a time has whole seconds
    await go('/storage/in.c-shop.orders?tab=snapshots')
    await page.getByLabel('What the snapshot is for').fill('before the sale')
    await page.getByRole('button', { name: 'Create a snapshot' }).click()
    await page.getByRole('cell', { name: 'before the sale' }).waitFor()
    await until('that time is past', () => Date.now() > full.getTime())
    const emptied = await stack.request('DELETE', '/v2/storage/tables/in.c-shop.orders/rows?allowTruncate=1')
    assert.equal(emptied.status, 202)
    await page.getByRole('heading', { name: /^0 rows/ }).waitFor()
    await page.getByRole('button', { name: 'Compare and restore' }).click()
    await page.getByText('The table would have 3 rows instead of 0.').waitFor()
    await page.getByRole('button', { name: 'Put these rows back' }).click()
    await page.getByRole('heading', { name: /^3 rows/ }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('heading', { name: /^0 rows/ }).waitFor()
    nothingWrong()
  })

  await t.test('the table comes back as it was at a moment without a snapshot', async () => {
    await go('/storage/in.c-shop.orders?tab=snapshots')
    await page.getByRole('heading', { name: /^0 rows/ }).waitFor()
    const inPrague = full.toLocaleString('sv-SE', { timeZone: 'Europe/Prague' }).replace(' ', 'T')
    const travel = page.getByRole('region', { name: 'Time travel' })
    await travel.getByLabel('The table as it was at').fill(inPrague)
    await travel.getByText('The table would have 3 rows instead of 0.').waitFor()
    await travel.getByRole('button', { name: 'Put these rows back' }).click()
    await page.getByRole('heading', { name: /^3 rows/ }).waitFor()
    nothingWrong()
  })

  await t.test(
    'rows are looked at as they were, with fewer columns and several filters, and numbers in their order',
    async () => {
      const rows = Array.from({ length: 12 }, (_, i) => `${i + 1},${i % 2 ? 'even' : 'odd'},${i + 1}.5`)
      await load('numbers', `id,kind,amount\n${rows.join('\n')}\n`)
      const then = new Date(Date.now() + 1000) // a field has whole seconds
      await until('that time is past', () => Date.now() > then.getTime())
      const emptied = await stack.request('DELETE', '/v2/storage/tables/in.c-shop.numbers/rows?allowTruncate=1')
      assert.equal(emptied.status, 202)
      await go('/storage/in.c-shop.numbers')
      await page.getByText('The table has no rows yet.').waitFor()
      await page.getByRole('button', { name: 'As of now' }).click()
      const inPrague = then.toLocaleString('sv-SE', { timeZone: 'Europe/Prague' }).replace(' ', 'T')
      await page.getByLabel('Time', { exact: true }).fill(inPrague)
      await page.getByRole('button', { name: 'Show these rows' }).click()
      await page.getByRole('button', { name: /^As of today \d\d:\d\d:\d\d$/ }).waitFor()
      await page.getByText('1 to 12 of 12 rows').waitFor()
      await page.getByRole('button', { name: '3 of 3 columns' }).click()
      await page.getByRole('dialog', { name: 'Columns' }).getByLabel('id', { exact: true }).click()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: '2 of 3 columns' }).waitFor()
      assert.equal(await page.getByRole('columnheader', { name: /^id/ }).count(), 0)
      const filter = async (column: string, op: string, value: string) => {
        await page.getByLabel('Column of the filter').selectOption(column)
        await page.getByLabel('How to compare').selectOption(op)
        await page.getByLabel('Value of the filter').fill(value)
        await page.getByLabel('Value of the filter').press('Enter')
      }
      await filter('kind', 'contains', 'VEN')
      await page.getByText('1 to 6, 6 rows match').waitFor()
      await page.getByRole('button', { name: 'And', exact: true }).click()
      await filter('amount', 'is over', '4.5')
      await page.getByText('1 to 4, 4 rows match').waitFor() // 6, 8, 10 and 12: as texts, 10 and 12 would be under 4
      await page
        .getByRole('columnheader', { name: /amount/ })
        .getByRole('button')
        .click()
      await page.waitForURL(/sort=amount/)
      await page.reload() // all of it is in the address
      await page.getByText('1 to 4, 4 rows match').waitFor()
      const cells = page.getByRole('region', { name: 'Data' }).locator('tbody tr')
      assert.deepEqual(await cells.allInnerTexts().then((all) => all.map((row) => row.split(/\s+/).at(-1))), [
        '6.5',
        '8.5',
        '10.5',
        '12.5',
      ])
      await page.getByRole('button', { name: 'Remove the filter kind contains VEN' }).click()
      await page.getByText('1 to 8, 8 rows match').waitFor()
      nothingWrong()
    },
  )

  await t.test('a long cell is read as JSON, and the table is asked with SQL', async () => {
    const note = JSON.stringify({ gift: true, note: 'Leave it at the reception of the building' })
    await load('notes', `id,meta\n1,"${note.replaceAll('"', '""')}"\n`)
    await go('/storage/in.c-shop.notes')
    await page.getByRole('button', { name: /^Open meta/ }).click()
    const cell = page.getByRole('dialog', { name: 'meta' })
    await cell.getByText(`${note.length} characters`).waitFor()
    assert.equal(await cell.locator('pre').textContent(), JSON.stringify(JSON.parse(note), null, 2))
    for (const close of [() => page.keyboard.press('Escape'), () => cell.getByRole('button', { name: 'Close' }).click()]) {
      await close()
      await cell.waitFor({ state: 'detached' })
      const focused = await page.evaluate<string | null>('document.activeElement.getAttribute("aria-label")')
      assert.match(focused ?? '', /^Open meta/, 'the focus is back where it was')
      await page.keyboard.press('Enter')
      await cell.waitFor()
    }
    await Promise.all([page.keyboard.press('Escape'), page.keyboard.press('Enter')]) // faster than anybody looks
    await cell.getByText(`${note.length} characters`).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Query', exact: true }).click()
    await page.getByLabel('SQL', { exact: true }).press('Control+Enter')
    await page.getByRole('heading', { name: /^One row in/ }).waitFor()
    nothingWrong()
  })

  await t.test('a wide table has only the columns that are seen, keys move in it, and a long cell is opened whole', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `c${index}`)
    const long = 'x'.repeat(20_000)
    const row = (id: number) =>
      names.map((_, index) => (index === 0 ? String(id) : index === 1 ? '-7.5' : index === 60 ? long : 'v'))
    await load('wide', `id,${names.join(',')}\n1,${row(10).join(',')}\n2,${row(9).join(',')}\n`)
    await go('/storage/in.c-shop.wide')
    const grid = page.getByRole('grid', { name: 'Rows of the table' })
    await grid.getByRole('gridcell', { name: '-7.5' }).first().waitFor()
    assert.equal(await grid.getAttribute('aria-colcount'), '302')
    assert.ok((await grid.locator('th').count()) < 30, 'columns out of sight do not exist')
    await grid.locator('[data-cell][tabindex="0"]').focus()
    await page.keyboard.press('ArrowDown')
    assert.equal(await page.evaluate('document.activeElement.textContent'), '2')
    await page.keyboard.press('End')
    const focused = page.locator('td:focus')
    await focused.getByText('v', { exact: true }).waitFor() // loaded when it comes into sight
    assert.equal(await focused.getAttribute('aria-colindex'), '302')
    await page.keyboard.press('Home')
    for (let n = 0; n < 3; n++) await page.keyboard.press('ArrowUp')
    assert.match((await page.locator('th:focus').textContent())!, /^id/)
    await page.keyboard.press('Enter')
    await page.waitForURL(/sort=id/)
    for (let n = 0; n < 2; n++) await page.keyboard.press('ArrowDown')
    for (let n = 0; n < 61; n++) await page.keyboard.press('ArrowRight')
    await focused.getByText(/^x+$/).waitFor()
    await page.keyboard.press('Enter')
    const cell = page.getByRole('dialog', { name: 'c60' })
    await cell.getByText('20,000 characters').waitFor()
    assert.equal((await cell.locator('pre').textContent())!.length, 20_000)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: '301 of 301 columns' }).click()
    await page.getByLabel('Filter columns').fill('c60')
    await page.getByRole('button', { name: 'Show only these' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: '1 of 301 columns' }).waitFor()
    await go('/storage/in.c-shop.wide?tab=profile')
    const figures = page.getByRole('row', { name: /^c0 / })
    assert.match(await figures.innerText(), /\b9\s+10\b/, 'numbers kept as text are compared as numbers')
    await page.getByText('50 columns of 301').waitFor()
    nothingWrong()
  })

  await t.test('a wide table and a large result have only the cells in sight, and scrolling adds those of a column', async () => {
    const names = Array.from({ length: 120 }, (_, index) => `c${index}`)
    const lines = Array.from({ length: 100 }, (_, id) => [id, ...names.map((name) => `${name} ${id}`)].join(','))
    await load('broad', `id,${names.join(',')}\n${lines.join('\n')}\n`)
    const moved = (frame: string, by: number) =>
      page.evaluate<{ added: number; removed: number; rows: number }>(`(async () => {
        const frame = document.querySelector('section[aria-label="${frame}"]')
        const counts = { added: 0, removed: 0, rows: frame.querySelectorAll('tr').length }
        const cells = (nodes) => [...nodes].filter((node) => /^(TD|TH)$/.test(node.nodeName)).length
        const seen = new MutationObserver((changes) => {
          for (const one of changes) {
            counts.added += cells(one.addedNodes)
            counts.removed += cells(one.removedNodes)
          }
        })
        seen.observe(frame, { childList: true, subtree: true })
        frame.scrollLeft += ${by}
        for (let n = 0; n < 5; n++) await new Promise(requestAnimationFrame)
        seen.disconnect()
        return counts
      })()`)
    const checkFrame = async (frame: string, labelled: string) => {
      const grid = page.getByRole('grid', { name: labelled })
      await grid.getByRole('gridcell', { name: 'c1 0', exact: true }).waitFor()
      assert.ok((await grid.locator('td').count()) < 700, 'cells out of sight do not exist')
      await moved(frame, 2_000)
      const { added, removed, rows } = await moved(frame, 168)
      assert.equal(added, rows, 'one cell in each row is new')
      assert.ok(removed <= rows, `${removed} cells left ${rows} rows`)
      await grid.locator('[data-cell][tabindex="0"]').focus()
      await page.keyboard.press('Control+End')
      await page.locator('td:focus').getByText('c119 99', { exact: true }).waitFor()
      await page.keyboard.press('Control+Home')
      await page.keyboard.press('ArrowDown')
      await page.locator('td:focus').getByText('0', { exact: true }).waitFor()
    }
    await go('/storage/in.c-shop.broad')
    await checkFrame('Data', 'Rows of the table')
    await go('/storage/in.c-shop.broad?pin="[\\"c100\\"]"')
    const pinned = page.getByRole('gridcell', { name: 'c100 0', exact: true })
    await pinned.waitFor()
    const left = async () => (await pinned.boundingBox())!.x
    await moved('Data', 3_000)
    assert.equal(await left(), (await page.getByRole('region', { name: 'Data', exact: true }).boundingBox())!.x)
    await go('/sql')
    await replaceText(page.getByLabel('SQL', { exact: true }), 'select * from "in.c-shop"."broad" order by id::int')
    await page.getByRole('button', { name: /^Run Ctrl/ }).click()
    await checkFrame('Rows of the result', 'Cells of the result')
    nothingWrong()
  })

  await t.test('a secret is put into the vault, replaced, deleted and brought back, and never shown', async () => {
    await go('/vault?set=shop-password') // as the report of a migration links
    await page.getByRole('heading', { name: 'The vault is empty.' }).waitFor()
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'shop-password')
    await page.getByLabel('Value', { exact: true }).fill('canary-1')
    await page.getByRole('button', { name: 'Set the variable' }).click()
    await page.getByRole('row', { name: /^shop-password encrypted every branch/ }).waitFor()
    const valueIn = async () => (await stack.request('GET', '/vault/variables')).json<{ value: string }[]>()[0]?.value
    const first = await valueIn()
    assert.match(first ?? '', /^KBC::/)
    await ask('POST', '/v2/storage/components/keboola.ex-generic-v2/configs', {
      configurationId: 'shop',
      name: 'Shop',
      configuration: { parameters: { api: { authentication: { '#password': '{{ vault.shop-password }}' } } } },
    })
    await page.getByRole('button', { name: 'Replace shop-password' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Shop', exact: true }).waitFor() // whom the new value reaches
    await page.getByLabel('Value', { exact: true }).fill('canary-2')
    await page.getByRole('button', { name: 'Replace the value' }).click()
    await page.getByText('shop-password is set. The next run uses it.').waitFor()
    const second = await valueIn()
    assert.notEqual(second, first)
    await page.getByRole('button', { name: 'Delete shop-password' }).click()
    await page.getByRole('heading', { name: 'The vault is empty.' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('heading', { name: '1 variable, 1 of them secret.' }).waitFor()
    assert.equal(await valueIn(), second)
    assert.doesNotMatch(await page.content(), /canary/)
    await page.keyboard.press('c')
    await page
      .getByRole('dialog')
      .getByText(/vault\/variables/)
      .first()
      .waitFor()
    assert.doesNotMatch(await page.content(), /canary/, 'nor in the commands of the page')
    await page.keyboard.press('Escape')
    nothingWrong()
  })

  await t.test('no screen has serious accessibility findings or scrolls sideways', async () => {
    await checkScreensOn(opened, [
      '/',
      '/storage/in.c-shop.orders',
      '/storage/in.c-shop.orders?tab=lineage',
      '/storage/in.c-shop.orders?tab=schema',
      '/storage/in.c-shop.orders?tab=snapshots',
      '/vault',
    ])
  })

  await t.test('rows of a small table are edited, added and deleted, each undone; typed columns are checked', async () => {
    await ask('POST', '/v2/storage/buckets/in.c-shop/tables-definition', {
      name: 'stock',
      primaryKeysNames: ['id'],
      columns: [
        { name: 'id', definition: { type: 'INTEGER', nullable: false } },
        { name: 'name', definition: { type: 'VARCHAR' } },
        { name: 'count', definition: { type: 'INTEGER' } },
      ],
    })
    const dataString = 'id,name,count\n1,Tea,7\n2,Milk,4\n'
    await until('the table exists and is filled', async () => {
      const fill = await stack.request('POST', '/v2/storage/tables/in.c-shop.stock/import', { form: { dataString } })
      return fill.status === 200
    })
    const rows = async () =>
      (await stack.request('GET', '/v2/storage/tables/in.c-shop.stock/rows?orderBy[0][column]=id')).json<{ rows: unknown[][] }>()
        .rows
    const undo = async () => {
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Undone.').waitFor()
    }
    await go('/storage/in.c-shop.stock')
    await page.getByRole('button', { name: 'Edit rows' }).click()
    const grid = page.getByRole('grid', { name: 'Rows of the table' })
    await grid.getByText('Milk').click()
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('dialog', { name: /^Row 2/ })
    await drawer.getByLabel('name', { exact: true }).waitFor()
    assert.equal(await page.evaluate<string>('document.activeElement.value'), 'Milk', 'the chosen cell has the focus')
    assert.ok(await drawer.getByLabel('id', { exact: true }).isDisabled(), 'the key finds the row')
    await drawer.getByLabel('name', { exact: true }).fill('Oat "milk"')
    await drawer.getByLabel('count is null').check()
    await drawer.getByRole('button', { name: 'Save the row' }).click()
    await page.getByText('The row is saved.').waitFor()
    assert.deepEqual(await rows(), [
      ['1', 'Tea', '7'],
      ['2', 'Oat "milk"', null],
    ])
    await undo()
    assert.deepEqual((await rows())[1], ['2', 'Milk', '4'])

    await grid.getByText('Tea').dblclick()
    const tea = page.getByRole('dialog', { name: /^Row 1/ })
    await tea.getByLabel('count', { exact: true }).fill('many')
    await tea.getByRole('button', { name: 'Save the row' }).click()
    await tea.getByRole('alert').getByText(/many/).waitFor()
    await stack.request('POST', '/v2/storage/tables/in.c-shop.stock/import', {
      form: { dataString: 'id,name,count\n1,Tea,8\n', incremental: '1' },
    })
    await tea.getByLabel('count', { exact: true }).fill('9')
    await tea.getByRole('button', { name: 'Save the row' }).click()
    await tea.getByText('The row was changed meanwhile. Close this and open the row again.').waitFor()
    await page.keyboard.press('Escape')
    await grid.getByText('Tea').dblclick()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the row' }).click()
    await page.getByText('The row is deleted.').waitFor()
    assert.equal((await rows()).length, 1)
    await undo()
    assert.deepEqual((await rows())[0], ['1', 'Tea', '8'])

    await page.getByRole('button', { name: 'New row' }).click()
    const added = page.getByRole('dialog', { name: 'New row' })
    await added.getByLabel('id', { exact: true }).fill('2')
    await added.getByLabel('count', { exact: true }).fill('1')
    await added.getByRole('button', { name: 'Add the row' }).click()
    await added.getByText('A row with this key already exists.').waitFor()
    await added.getByLabel('id', { exact: true }).fill('3')
    await added.getByRole('button', { name: 'Add the row' }).click()
    await page.getByText('The row is added.').waitFor()
    assert.deepEqual((await rows())[2], ['3', '', '1'])
    await undo()
    assert.equal((await rows()).length, 2)

    await ask('POST', '/v2/storage/buckets/in.c-shop/tables-definition', {
      name: 'loose',
      columns: [{ name: 'a', definition: { type: 'VARCHAR' } }],
    })
    await until('the table exists', async () => (await stack.request('GET', '/v2/storage/tables/in.c-shop.loose')).status === 200)
    await go('/storage/in.c-shop.loose')
    const refused = page.getByRole('button', { name: 'Edit rows' })
    assert.ok(await refused.isDisabled())
    assert.match((await refused.getAttribute('title'))!, /^Rows are found by the primary key, and this table has none\./)
    nothingWrong()
  })

  await t.test(
    'columns are pinned and resized, views are kept and shared, favourites, comments, owner, triggers, history',
    async () => {
      await go('/storage/in.c-shop.stock')
      const head = (name: string) => page.getByRole('columnheader', { name: new RegExp(`^${name}`) })
      await head('count').waitFor()
      const box = (await head('name').boundingBox())!
      await page.mouse.move(box.x + box.width - 3, box.y + 10)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width + 97, box.y + 10)
      await page.mouse.up()
      await until('the column is wider', async () => Math.abs((await head('name').boundingBox())!.width - box.width - 100) < 3)
      await page.getByRole('button', { name: '3 of 3 columns' }).click()
      await page.getByRole('button', { name: 'Pin count' }).click()
      await page.getByLabel('Width of count').fill('200')
      await page.keyboard.press('Escape')
      const order = () => page.getByRole('columnheader').allInnerTexts()
      await until('the pinned column is the first', async () => /count/.test((await order())[1]!))
      assert.equal((await head('count').boundingBox())!.width, 200)

      await page.getByRole('button', { name: 'Views' }).click()
      await page.getByLabel('Save what is shown as a view').fill('Counts first')
      await page.getByRole('button', { name: 'Save the view' }).click()
      await page.getByText('The view Counts first is saved.').waitFor()
      await page.getByLabel('Save what is shown as a view').fill('For all')
      await page.getByLabel('Share it with everyone who sees the table').check()
      await page.getByRole('button', { name: 'Save the view' }).click()
      await page.getByRole('button', { name: 'For all', exact: true }).waitFor()
      await page.keyboard.press('Escape')
      await go('/storage/in.c-shop.stock')
      await page.getByRole('button', { name: 'Views' }).click()
      await page.getByRole('button', { name: 'Counts first', exact: true }).click()
      await page.getByRole('button', { name: 'View: Counts first' }).click()
      assert.match((await order())[1]!, /count/)
      await page.getByRole('button', { name: 'Delete the view For all' }).click()
      await page.getByText('The view For all is deleted.').waitFor()
      await page.getByRole('button', { name: 'Delete the view Counts first' }).click()
      await page.keyboard.press('Escape')

      await page.getByRole('button', { name: 'Favourite' }).click()
      await page.getByRole('button', { name: 'Favourite', pressed: true }).waitFor()
      await go('/storage?favourite=only')
      await page.getByRole('link', { name: /^stock.*favourite/ }).waitFor()
      assert.equal(await page.getByRole('link', { name: /^orders/ }).count(), 0)

      await go('/storage/in.c-shop.stock?tab=comments')
      await page.getByLabel('New comment').fill('Counted on Mondays.')
      await page.getByRole('button', { name: 'Add the comment' }).click()
      await page.getByText('1 comment', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByLabel('Text of the comment').fill('Counted on Tuesdays.')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Counted on Tuesdays.').waitFor()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByText('0 comments', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Counted on Tuesdays.').waitFor()

      await go('/storage/in.c-shop.stock?tab=manage')
      await page.getByRole('textbox', { name: 'Owner' }).fill('ann@example.com')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText(/^Ask ann@example\.com · 3 columns/).waitFor()

      await go('/storage/in.c-shop.stock?tab=triggers')
      await page.getByRole('button', { name: 'New trigger' }).click()
      await page.getByLabel('Run', { exact: true }).selectOption({ value: 'keboola.duckdb-transformation sums' })
      await page.getByRole('button', { name: 'Create the trigger' }).click()
      const trigger = page.getByRole('row', { name: /^Sums/ })
      await trigger.getByText('1 minute').waitFor()
      await trigger.getByRole('button', { name: 'Change' }).click()
      await page.getByLabel('At most every so many minutes').fill('15')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await trigger.getByText('15 minutes').waitFor()
      await trigger.getByRole('button', { name: 'Delete' }).click()
      await trigger.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Undo' }).click()
      await trigger.getByText('15 minutes').waitFor()

      await go('/storage/in.c-shop.stock?tab=history')
      await page.getByLabel('Keep the history of the table').check()
      await page.getByText('Has the current state').waitFor()
      await page.getByRole('link', { name: 'in.c-shop.stock_history' }).waitFor()
      await page.getByLabel('Keep the history of the table').uncheck()
      await page.getByText('The history is no longer kept. Its rows stay.').waitFor()
      await checkScreensOn(
        opened,
        [
          '/storage/in.c-shop.stock?edit=rows',
          '/storage/in.c-shop.stock?tab=comments',
          '/storage/in.c-shop.stock?tab=triggers',
          '/storage/in.c-shop.stock?tab=history',
          { path: '/storage/in.c-shop.stock?edit=rows', open: (one) => one.getByRole('button', { name: 'New row' }).click() },
        ],
        true,
      )
      nothingWrong()
    },
  )

  await t.test('home says what to do next by what is there, what people did, and gives a tour that can be left', async () => {
    await go('/')
    const steps = page.getByRole('region', { name: 'Next steps' })
    await steps.getByText('No table has a test.').waitFor()
    await steps.getByText('Run on a schedule').waitFor()
    assert.equal(await steps.getByText('Create a table from others').count(), 0, 'a transformation exists')
    const test = { tableId: 'in.c-shop.orders', name: 'rows', type: 'rowCount', parameters: { min: 1 }, severity: 'warn' }
    await ask('POST', '/v2/storage/data-tests', test)
    await ask('POST', '/v2/storage/tables/in.c-shop.stock/comments', { text: 'Counted on Fridays.' })
    await page.reload()
    await steps.getByText('Run on a schedule').waitFor()
    assert.equal(await steps.getByText('No table has a test.').count(), 0)
    await page
      .getByRole('region', { name: 'What people did' })
      .getByText(/Commented on table in\.c-shop\.stock/)
      .first()
      .waitFor()
    await steps.getByRole('button', { name: 'Hide' }).click()
    await steps.waitFor({ state: 'detached' })
    await go('/help')
    await page.getByRole('button', { name: 'Show the next steps on Home' }).click()
    await page.getByRole('button', { name: 'Start the tour' }).click()
    const tour = page.locator('.tour')
    for (const title of [
      'Home: is the data right?',
      'Storage: the tables',
      'SQL: ask the data',
      'Components: bring data in and out',
    ]) {
      await tour.getByRole('heading', { name: title }).waitFor()
      await until('it has the focus', async () => (await page.evaluate<string>('document.activeElement.textContent')) === title)
      await tour.getByRole('button', { name: 'Next' }).click()
    }
    await tour.getByText('Tour, stop 5 of 5').waitFor()
    await checkScreensOn(opened, ['/help'])
    await tour.getByRole('button', { name: 'Back' }).click()
    await page.waitForURL(/\/components/)
    await page.keyboard.press('Escape')
    await tour.waitFor({ state: 'detached' })
    await go('/')
    await steps.waitFor()
    await checkScreensOn(opened, ['/'], true)
    nothingWrong()
  })

  await t.test('a list of thousands of tables keeps only those that are seen, and finds one by a column', async () => {
    const { masterToken } = await stack.newProject('Large')
    await go('/')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').fill(masterToken)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'An empty project, ready for its first table.' }).waitFor()
    const request = (path: string, json: object) => send(stack.url, 'POST', path, { token: masterToken, json })
    await request('/v2/storage/buckets', { name: 'main', stage: 'in' })
    const columns = ['id', 'needle'].map((name) => ({ name }))
    const created = await request('/v2/storage/buckets/in.c-main/tables-definition', { name: 'first', columns })
    const job = `/v2/storage/jobs/${created.json<{ id: number }>().id}`
    await until('the table is created', async () => {
      const answer = await send(stack.url, 'GET', job, { token: masterToken })
      return answer.json<{ status: string }>().status === 'success'
    })
    const { db } = stack.platform.metadata
    const records = withTables<Record<string, Record<string, unknown>>>(db)
    const { id: _, ...first } = await records
      .selectFrom('data_table')
      .selectAll()
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    for (let from = 0; from < 2_000; from += 200)
      await records
        .insertInto('data_table')
        .values(
          Array.from({ length: 200 }, (_one, at) => {
            const name = `table_${String(from + at).padStart(4, '0')}`
            return { ...first, name, display_name: name, columns: '["id"]', size_bytes: (from + at) * 1000 }
          }),
        )
        .execute()
    await go('/storage')
    await page.getByRole('heading', { name: '2,001 tables in 1 bucket, 2 GB.' }).waitFor()
    const list = page.locator('.rows')
    assert.ok((await list.locator('a').count()) < 100, 'only the rows that are seen exist')
    const last = page.getByRole('link', { name: /table_1999/ })
    await until('more is loaded while the list is scrolled', async () => {
      await list.evaluate((frame) => frame.scrollTo(0, frame.scrollHeight))
      return (await last.count()) > 0
    })
    await page.getByLabel('Sorted by').selectOption('size')
    await last.waitFor()
    await page.getByLabel('Size', { exact: true }).selectOption('over 1 MB')
    await page.getByLabel('Filter by name or column').fill('TABLE_15')
    const largest = page.getByRole('link', { name: /table_1599/ })
    await largest.waitFor() // at the top
    await last.waitFor({ state: 'detached' })
    assert.match(page.url(), /size=1M/)
    await page.getByLabel('Size', { exact: true }).selectOption('any')
    await page.getByLabel('Sorted by').selectOption('bucket and name')
    await page.getByLabel('Filter by name or column').fill('needle')
    await largest.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: /first/ }).waitFor()
    assert.equal(await list.locator('a').count(), 2, 'the table and its bucket')
    assert.match(page.url(), /q=needle/)
  })
})
