// The SQL workbench, places on small screens, and what does not exist, in a browser.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkScreensOn, replaceText, signedIn, startBrowser } from '../support/browser.ts'
import { startTestStack } from '../support/test-stack.ts'

test('the workbench in a browser', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const opened = await signedIn(browser, stack, '/sql')
  const { page, go, nothingWrong, mayComplainOf } = opened
  assert.equal((await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'shop' } })).status, 201)
  const dataString = `id,note\n1,${'long '.repeat(4000)}\n2,${'word '.repeat(30)}\n`
  await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables', { form: { name: 'notes', dataString } })
  const editor = page.getByLabel('SQL', { exact: true })
  const run = page.getByRole('button', { name: /^Run Ctrl/ })

  await t.test('several statements are run in order, a mistake is placed in the text, and queries have tabs', async () => {
    await replaceText(editor, "select 'a;b' as first;\nselect 2 as second, repeat('long ', 20) as third")
    await run.click()
    await page.getByRole('heading', { name: /^2 statements in/ }).waitFor()
    await page.getByRole('cell', { name: 'a;b' }).waitFor()
    await page.getByRole('button', { name: /^Open third: long/ }).click()
    await page.getByRole('dialog', { name: 'third' }).getByText('100 characters').waitFor()
    await page.keyboard.press('Escape')
    await replaceText(editor, 'select 1;\n\nselect nope from (select 1 as one)')
    await run.click()
    await page.getByText('In statement 2, line 3, column 8.').waitFor()
    assert.equal(await page.locator('.cm-lintRange-error').textContent(), 'nope')
    mayComplainOf(/status of 400 .*\/query/)
    await page.getByRole('button', { name: 'New query' }).click()
    await replaceText(editor, 'select 3 as three')
    const tabs = page.getByRole('navigation', { name: 'Open queries' })
    await tabs.getByRole('button', { name: /^select 1; select nope/ }).click()
    await editor.getByText('select nope').waitFor()
    await page.reload()
    await tabs.getByRole('button', { name: 'select 3 as three' }).click()
    await page.getByRole('button', { name: 'Close this query' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await tabs.getByRole('button', { name: 'select 3 as three' }).waitFor()
    nothingWrong()
  })

  await t.test('the tree of tables finds a column, and puts names into the query', async () => {
    await replaceText(editor, 'select ')
    const tree = page.getByRole('region', { name: 'Tables', exact: true })
    await tree.getByLabel('Filter tables and columns').fill('not')
    await tree.getByRole('button', { name: 'note', exact: true }).click()
    await page.keyboard.type(' from ')
    await tree.getByRole('button', { name: 'Insert the name' }).click()
    await editor.getByText('select "note" from "in.c-shop"."notes"').waitFor()
    await run.click()
    await page.getByRole('heading', { name: /^2 rows in/ }).waitFor()
    await tree.getByLabel('Filter tables and columns').fill('nothing like it')
    await tree.getByText('No table or column is called').waitFor()
    nothingWrong()
  })

  await t.test('a query that runs shows for how long, and is stopped', async () => {
    await replaceText(editor, 'select count(*) from range(100000000000) a')
    await run.click()
    await page.getByRole('heading', { name: /^Running for/ }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('heading', { name: 'The query was stopped.' }).waitFor()
    await run.waitFor()
    nothingWrong()
  })

  await t.test('a flow that does not exist is said in the frame of its screen', async () => {
    await go('/flows/keboola.flow/none')
    await page.getByRole('heading', { name: 'This flow cannot be shown.' }).waitFor()
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Flows' }).waitFor()
    mayComplainOf(/status of 404 .*configs\/none/)
    nothingWrong()
  })

  await t.test('on a low and on a small screen every place and the sign-out can be reached', async () => {
    await page.setViewportSize({ width: 1440, height: 600 })
    await go('/sql')
    const find = (await page
      .getByRole('button', { name: /^Search or run/ })
      .first()
      .boundingBox())!
    assert.ok(find.height >= 24, `the search is ${find.height} px high`)
    const out = (await page.getByRole('button', { name: 'Sign out' }).boundingBox())!
    assert.ok(out.y + out.height <= 600, `Sign out ends at ${out.y + out.height} px`)
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('button', { name: 'More' }).click()
    const places = page.getByRole('dialog', { name: 'Places' })
    await places.getByRole('link', { name: 'Schedules' }).click()
    await page.getByRole('heading', { name: 'Nothing runs by itself.' }).waitFor()
    assert.equal(await places.count(), 0)
    await page.getByRole('button', { name: 'More' }).click()
    await places.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 1440, height: 900 })
    nothingWrong()
  })

  await t.test('no screen has serious accessibility findings or scrolls sideways', () =>
    checkScreensOn(opened, [
      '/sql',
      '/schedules',
      '/help',
      '/storage/in.c-shop.notes',
      {
        path: '/storage/in.c-shop.notes',
        open: () =>
          page
            .getByRole('button', { name: /^Open note/ })
            .first()
            .click(),
      },
      '/help?guide=extractor',
      { path: '/jobs', open: () => page.keyboard.press('?') },
    ]),
  )
})
