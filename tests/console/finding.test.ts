// Finding and doing things in a browser: the palette with its verbs, and the graph of what comes from what.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkScreensOn, settled, signedIn, startBrowser, tabTo } from '../support/browser.ts'
import { shellStack } from '../support/shell-stack.ts'

test('finding in a browser', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await shellStack(t)
  await stack.add('test.orders', `printf 'id\\n1\\n' > "$KBC_DATADIR/out/tables/in.c-shop.orders.csv"`)
  await stack.add('test.sums', `printf 'id\\n1\\n' > "$KBC_DATADIR/out/tables/out.c-shop.sums.csv"`)
  await stack.add('test.mail', 'exit 0')
  const create = async (component: string, configurationId: string, name: string, configuration: object) => {
    const json = { configurationId, name, configuration }
    const answer = await stack.request('POST', `/v2/storage/components/${component}/configs`, { json })
    assert.equal(answer.status, 201, answer.text)
  }
  const reads = (...tables: string[]) => ({
    storage: { input: { tables: tables.map((source) => ({ source, destination: `${source}.csv` })) } },
  })
  const writes = (destination: string) => ({ output: { tables: [{ source: `${destination}.csv`, destination }] } })
  await create('test.orders', 'orders', 'Orders of the shop', { storage: writes('in.c-shop.orders') })
  const sums = reads('in.c-shop.orders')
  await create('test.sums', 'sums', 'Sums of orders', { storage: { ...sums.storage, ...writes('out.c-shop.sums') } })
  await create('test.mail', 'mail', 'Mail to the shop', reads('out.c-shop.sums', 'in.c-shop.orders'))
  const task = (id: number, componentId: string, configId: string, phase: number) => ({
    ...{ id, name: configId, phase, enabled: true, continueOnFailure: false },
    task: { mode: 'run', componentId, configId },
  })
  await create('keboola.orchestrator', 'nightly', 'Nightly flow', {
    phases: [1, 2].map((id) => ({ id, name: `Phase ${id}`, dependsOn: id === 1 ? [] : [1] })),
    tasks: [task(1, 'test.orders', 'orders', 1), task(2, 'test.sums', 'sums', 2)],
  })
  const run = async (component: string, config: string) => {
    const job = (await stack.request('POST', '/queue/jobs', { json: { component, config, mode: 'run' } })).json<{ id: string }>()
    await stack.wait({ ...job, url: `/queue/jobs/${job.id}` } as Parameters<typeof stack.wait>[0])
  }
  await run('test.orders', 'orders')
  await run('test.sums', 'sums')
  const opened = await signedIn(browser, stack, '/')
  const { page, go, nothingWrong, mayComplainOf } = opened

  await t.test('the graph has a flow before all sources, and no line passes behind a box', async () => {
    const graph = page.getByRole('region', { name: /^Asset graph/ })
    await graph.getByRole('link', { name: /Nightly flow/ }).waitFor()
    const laneOf = async (name: RegExp) => {
      const box = (await graph.getByRole('link', { name }).boundingBox())!
      for (const lane of await graph.locator('.lane').all())
        if (Math.abs((await lane.boundingBox())!.x - box.x) < 40) return lane.textContent()
      return undefined
    }
    assert.equal(await laneOf(/Nightly flow/), 'Flows')
    assert.equal(await laneOf(/Orders of the shop/), 'Sources')
    assert.equal(await laneOf(/Sums of orders/), 'Transformations')
    assert.equal(await laneOf(/Mail to the shop/), 'Delivery')
    assert.deepEqual(await page.evaluate(LINES_BEHIND_BOXES), [])
    nothingWrong()
  })

  const palette = page.getByRole('dialog', { name: 'Search or run' })
  const type = async (text: string) => {
    await page.keyboard.press('Control+k')
    await palette.getByLabel('Search').fill(text)
  }
  await t.test('the palette narrows by a letter, opens a job by its number, runs, creates and pauses', async () => {
    await type('t orders')
    await palette.getByRole('option', { name: /^orders/ }).waitFor()
    assert.equal(await palette.getByRole('option', { name: /Orders of the shop/ }).count(), 0)
    await page.keyboard.press('Escape')
    const [job] = (await stack.request('GET', '/queue/search/jobs?limit=1')).json<{ id: string }[]>()
    await type(`job ${job!.id}`)
    await palette.getByRole('option', { name: `Open job ${job!.id}` }).click()
    await page.waitForURL(new RegExp(`/jobs/${job!.id}$`))
    await type('run orders of')
    await palette.getByRole('option', { name: 'Run Orders of the shop' }).click()
    await page.getByRole('heading', { name: /^Orders of the shop/ }).waitFor()
    assert.ok(!page.url().endsWith(`/jobs/${job!.id}`), 'it is a new job')
    await type('new flow')
    await palette.getByRole('option', { name: 'New flow' }).click()
    await page.getByRole('dialog', { name: 'New flow' }).waitFor()
    await page.keyboard.press('Escape')
    const target = { componentId: 'test.orders', configurationId: 'orders', mode: 'run' }
    const schedule = { cronTab: '0 3 * * *', timezone: 'UTC', state: 'enabled' }
    await create('keboola.scheduler', 'nightly', 'Nightly', { schedule, target })
    const activated = await stack.request('POST', '/scheduler/schedules', { json: { configurationId: 'nightly' } })
    assert.ok(activated.status < 300, activated.text)
    await go('/schedules')
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
    await type('s orders')
    await palette.getByRole('option', { name: 'Schedule of Orders of the shop' }).waitFor()
    await page.keyboard.press('Escape')
    await type('pause')
    await palette.getByRole('option', { name: 'Pause the schedule of Orders of the shop' }).click()
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor()
    nothingWrong()
  })

  await t.test('keyboard alone: a table is found, its cells are walked, and a cell is opened', async () => {
    await type('t orders')
    await palette.getByRole('option', { name: /^orders/ }).waitFor()
    await page.keyboard.press('Enter')
    const grid = page.getByRole('grid', { name: 'Rows of the table' })
    await grid.locator('td[data-cell]').first().waitFor()
    await tabTo(grid.locator('[data-cell]'))
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('td:focus').waitFor() // the focus is back on the cell
    nothingWrong()
  })

  await t.test('keyboard alone: a bucket is created, described and deleted', async () => {
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.getByRole('button', { name: /^New bucket/ }).waitFor()
    await page.keyboard.press('n')
    await page.getByRole('dialog', { name: 'New bucket' }).locator(':is(input, select):focus').waitFor() // not the help of a label
    await tabTo(page.getByLabel('Name', { exact: true }))
    await page.keyboard.type('by-keys')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'by-keys is empty.' }).waitFor()
    await tabTo(page.getByLabel('Description'))
    await page.keyboard.type('Without a mouse')
    await tabTo(page.getByRole('button', { name: 'Save', exact: true }))
    await page.keyboard.press('Enter')
    await page.locator('.subtitle').getByText('Without a mouse').waitFor()
    await tabTo(page.getByRole('button', { name: 'Delete the bucket' }))
    await page.keyboard.press('Enter')
    const asked = page.getByRole('dialog')
    await asked.getByText('No configuration of the project names it.').waitFor()
    await tabTo(asked.getByRole('button', { name: 'Delete the bucket' }))
    await page.keyboard.press('Enter')
    await page.getByText('in.c-by-keys is deleted.').waitFor()
    nothingWrong()
  })

  await t.test('keyboard alone: a configuration is renamed, run, and its job is read', async () => {
    await type('c mail')
    await palette.getByRole('option', { name: /^Mail to the shop/ }).waitFor()
    await page.keyboard.press('Enter')
    await tabTo(page.getByRole('button', { name: 'Settings', exact: true }))
    await page.keyboard.press('Enter')
    await tabTo(page.getByRole('dialog', { name: 'Settings' }).getByLabel('Name', { exact: true }))
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Mail to everyone')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Mail to everyone' }).waitFor()
    await tabTo(page.getByRole('button', { name: /^Run/ }).first())
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Mail to everyone/ }).waitFor()
    await page.waitForURL(/\/jobs\/\d+$/)
    await page.getByText('Success', { exact: true }).first().waitFor()
    nothingWrong()
  })

  await t.test('keyboard alone: a query is written, run and saved for the project', async () => {
    await page.keyboard.press('g')
    await page.keyboard.press('q')
    const editor = page.getByLabel('SQL', { exact: true })
    await editor.waitFor()
    await tabTo(editor)
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('select id from "in.c-shop"."orders"')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('heading', { name: /^One row in/ }).waitFor()
    await tabTo(page.getByRole('button', { name: 'Save the query' }))
    await page.keyboard.press('Enter')
    await tabTo(page.getByLabel('Name', { exact: true }))
    await page.keyboard.type('Ids by keys')
    await page.keyboard.press('Enter')
    await page.getByText('Ids by keys is saved for everyone in the project.').waitFor()
    nothingWrong()
  })

  await t.test('keyboard alone: a schedule is created, paused and deleted, which is undone', async () => {
    await page.keyboard.press('Escape')
    await type('new schedule')
    await palette.getByRole('option', { name: 'New schedule' }).waitFor()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New schedule' })
    await tabTo(dialog.getByLabel('When', { exact: true }))
    await page.keyboard.press('Control+a')
    mayComplainOf(/status of 400 .*\/scheduler\/preview/) // of what is not typed to its end
    await page.keyboard.type('15 4 * * *')
    await dialog.getByText('every day at 04:15').first().waitFor()
    await tabTo(dialog.getByRole('button', { name: /^Run .* by the clock$/ }))
    await page.keyboard.press('Enter')
    const row = page.getByRole('row', { name: /every day at 04:15/ })
    await tabTo(row.getByRole('button', { name: 'Pause' }))
    await page.keyboard.press('Enter')
    await row.getByRole('button', { name: 'Resume' }).waitFor()
    await tabTo(row.getByRole('button', { name: 'Delete' }))
    await page.keyboard.press('Enter')
    await row.waitFor({ state: 'detached' })
    await tabTo(page.getByRole('button', { name: 'Undo' }))
    await page.keyboard.press('Enter')
    await row.waitFor()
    nothingWrong()
  })

  await t.test('what is on a screen does not move when more of it is loaded', async () => {
    const job = (await stack.request('GET', '/queue/search/jobs?limit=1')).json<[{ id: string }]>()[0].id
    await page.evaluate(`self.moved = []
      new PerformanceObserver((list) => self.moved.push(...list.getEntries())).observe({ type: 'layout-shift' })`)
    const jumpy: string[] = []
    for (const screen of [
      ...['/', '/storage', '/storage/in.c-shop.orders', '/storage/in.c-shop.orders?tab=tests', '/jobs', `/jobs/${job}`],
      ...['/components', '/components/test.mail/mail?tab=versions', '/flows/keboola.orchestrator/nightly', '/schedules'],
      ...['/sql', '/agents', '/settings', '/usage', '/people', '/tokens', '/files', '/streams', '/templates'],
    ]) {
      await page.evaluate('self.moved.length = 0')
      await go(screen)
      await settled(page)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))')
      // As browsers count it: the part of the window that moved, by how far. 0.1 is what people notice.
      const sum = await page.evaluate<number>('self.moved.reduce((sum, { value }) => sum + value, 0)')
      if (sum > 0.05) jumpy.push(`${screen}: ${sum.toFixed(3)}`)
    }
    assert.deepEqual(jumpy, [])
    nothingWrong()
  })

  await t.test('no screen has serious accessibility findings or scrolls sideways', () =>
    checkScreensOn(opened, [
      '/',
      '/storage/in.c-shop.orders',
      { path: '/storage', open: () => type('new') },
      '/storage/in.c-shop.orders?tab=lineage',
    ]),
  )
})

/** A script of the page: points of lines that lie within a box, not counting the ends of the line. */
const LINES_BEHIND_BOXES = `(() => {
  const boxes = [...document.querySelectorAll('.asset-box')].map((box) => ({ name: box.textContent, at: box.getBoundingClientRect() }))
  const frame = document.querySelector('.asset-canvas').getBoundingClientRect()
  return [...document.querySelectorAll('.asset-canvas svg.edges path')].flatMap((path) => {
    const length = path.getTotalLength()
    const points = Array.from({ length: 200 }, (_, n) => path.getPointAtLength((length * (n + 0.5)) / 200))
    return boxes
      .filter(({ at }) => points.some(({ x, y }) =>
        x + frame.x > at.left + 4 && x + frame.x < at.right - 4 && y + frame.y > at.top + 2 && y + frame.y < at.bottom - 2))
      .map(({ name }) => name)
  })
})()`
