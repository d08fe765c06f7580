// A job in a browser: its timeline and progress while it runs, a log that is followed or paused, who ended it; and no request twice.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkScreensOn, signedIn, startBrowser } from '../support/browser.ts'
import { shellStack } from '../support/shell-stack.ts'
import { until } from '../support/until.ts'

const LONG = 'a_table_with_a_rather_long_name_that_does_not_fit_into_the_side_column_of_the_page'

test('jobs in a browser', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await shellStack(t)
  const folder = await mkdtemp(join(tmpdir(), 'millrace-jobs-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const [more, last] = [join(folder, 'more'), join(folder, 'last')]
  const wait = (path: string) => `while [ ! -e ${path} ]; do sleep 0.1; done`
  await stack.add(
    'test.slow',
    `[ "$KBC_CONFIGROWID" = quick ] && exit 0; seq -f 'early %.0f' 80; ${wait(more)}; seq -f 'more %.0f' 80; ${wait(last)}; echo last; sleep 600`,
  )
  await stack.add(
    'test.tables',
    `for n in 1 2; do printf 'id\\n1\\n' > "$KBC_DATADIR/out/tables/out.c-main.${LONG}_$n.csv"; done`,
  )
  const configure = async (component: string, id: string, name: string, rows: readonly string[]) => {
    const address = `/v2/storage/components/${component}/configs`
    assert.equal((await stack.request('POST', address, { json: { configurationId: id, name } })).status, 201)
    for (const rowId of rows)
      assert.equal((await stack.request('POST', `${address}/${id}/rows`, { json: { rowId, name: rowId } })).status, 201)
  }
  const start = async (component: string, config: string) =>
    (await stack.request('POST', '/queue/jobs', { json: { component, config, mode: 'run' } })).json<{ id: string }>().id
  await configure('test.slow', 'slow', 'Slow one', ['quick', 'slow'])
  await configure('test.tables', 'two', 'Two tables', [])
  const opened = await signedIn(browser, stack, '/help')
  const { page, go, nothingWrong } = opened

  await t.test('a running job shows its timeline and progress, and its log is paused and followed', async () => {
    const id = await start('test.slow', 'slow')
    await go(`/jobs/${id}`)
    const timeline = page.getByRole('region', { name: 'Timeline', exact: true })
    await timeline.getByText('quick', { exact: true }).waitFor()
    await timeline.getByText('slow', { exact: true }).waitFor()
    const progress = page.getByRole('progressbar', { name: 'Progress of the job' })
    await page.getByText('About 50 %, 1 of 2 rows, running').waitFor()
    assert.equal(await progress.getAttribute('aria-valuenow'), '50')
    const log = page.getByRole('region', { name: 'Lines of the log' })
    await log.getByText('early 80', { exact: true }).waitFor()
    assert.match((await log.locator('time').last().textContent())!, /^\d\d:\d\d:\d\d\.\d{3}$/)
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await writeFile(more, '')
    await page.getByRole('button', { name: 'Follow, 80 new' }).waitFor()
    assert.equal(await log.getByText('more 80', { exact: true }).count(), 0)
    await page.getByRole('button', { name: 'Follow, 80 new' }).click()
    await log.getByText('more 80', { exact: true }).waitFor()
    await writeFile(last, '')
    await log.getByText('last', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Terminate this job' }).click()
    await page.getByText(/Terminated by .+\./).waitFor()
    nothingWrong()
  })

  await t.test('tables with long names can be told apart', async () => {
    await go(`/jobs/${await start('test.tables', 'two')}`)
    const link = page.getByRole('link', { name: `out.c-main.${LONG}_2` })
    await link.waitFor()
    assert.ok(await link.evaluate((at) => at.scrollWidth <= at.clientWidth || at.clientWidth === 0), 'the name is not cut')
    nothingWrong()
  })

  await t.test('the first load of a screen asks for nothing twice', async () => {
    await until('nothing changes', async () => {
      const recent = await stack.request('GET', '/v2/storage/changes?recentSeconds=12')
      return !recent.text.includes('"kind"')
    })
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.resourceType() === 'fetch') asked.push(`${request.url()} ${request.postData() ?? ''}`)
    })
    const stream = page.waitForResponse(/\/v2\/storage\/changes/)
    await page.clock.install()
    await page.goto(`${stack.url}/console/`)
    await stream
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('load')
    await page.clock.runFor(2000) // changes come together after a moment
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    const twice = asked.filter((url, index) => asked.indexOf(url) !== index)
    assert.deepEqual(twice, [])
    nothingWrong()
  })

  await t.test('no screen has serious accessibility findings or scrolls sideways', async () => {
    const [job] = (await stack.request('GET', '/queue/search/jobs?limit=1')).json<{ id: string }[]>()
    await checkScreensOn(opened, [`/jobs/${job!.id}`])
  })
})
