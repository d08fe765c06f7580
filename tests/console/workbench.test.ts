// The SQL workbench, places on small screens, and what does not exist, in a browser.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { checkScreen, checkScreensOn, replaceText, signedIn, startBrowser } from '../support/browser.ts'
import { startTestStack } from '../support/test-stack.ts'

/** Selects the first line and runs it, with three keys in one turn: before the screen is drawn again. A script of the page. */
const FIRST_LINE_AT_ONCE = `(() => {
  const content = document.querySelector('.sql-text').shadowRoot.querySelector('.cm-content')
  const keys = [{ key: 'Home', ctrlKey: true }, { key: 'End', shiftKey: true }, { key: 'Enter', ctrlKey: true }]
  for (const key of keys) content.dispatchEvent(new KeyboardEvent('keydown', { ...key, bubbles: true, composed: true, cancelable: true }))
})()`

test('the workbench in a browser', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const opened = await signedIn(browser, stack, '/sql')
  const { page, go, nothingWrong, mayComplainOf } = opened
  assert.equal((await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'shop' } })).status, 201)
  const dataString = `id,note\n1,${'long '.repeat(4000)}\n2,${'word '.repeat(30)}\n`
  await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables', { form: { name: 'notes', dataString } })
  const script = [
    'create table counts as select id, length(note) as letters from notes',
    "create view longest as select id, letters, letters / 5 as words, 'x' as kind from counts order by letters desc",
  ]
  const configuration = {
    storage: {
      input: { tables: [{ source: 'in.c-shop.notes', destination: 'notes' }] },
      output: {
        tables: [
          { source: 'counts', destination: 'out.c-shop.counts' },
          { source: 'longest', destination: 'out.c-shop.longest' },
        ],
      },
    },
    parameters: {
      blocks: [
        { name: 'Count', codes: [{ name: 'Letters of each note', script: [script[0]] }] },
        { name: 'Order', codes: [{ name: 'Longest first', script: [script[1]] }] },
      ],
    },
  }
  const tried = { configurationId: 'tried', name: 'Letters of notes', configuration }
  await stack.request('POST', '/v2/storage/components/keboola.duckdb-transformation/configs', { json: tried })
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
    await page.getByRole('region', { name: 'Result', exact: true }).waitFor() // of the statement before
    mayComplainOf(/status of 400 .*\/query/)
    await editor.press('Control+End')
    await page.keyboard.press('Shift+Home')
    await page.getByRole('button', { name: 'Run selection' }).click()
    await page.getByText('In line 3, column 8.').waitFor()
    await page.evaluate(FIRST_LINE_AT_ONCE)
    await page.getByRole('heading', { name: /^One row in/ }).waitFor()
    assert.equal(await page.locator('.cm-lintRange-error').count(), 0)
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

  await t.test('a table without its bucket gets its full name with a click', async () => {
    await page.getByRole('button', { name: 'New query' }).click()
    await replaceText(editor, 'select count(*) as n from notes')
    await run.click()
    await page.getByRole('button', { name: 'Write "in.c-shop"."notes"' }).click()
    await run.click()
    await page.getByRole('heading', { name: /^One row in/ }).waitFor()
    mayComplainOf(/status of 400 .*\/storage\/query/)
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

  await t.test('a query with parameters is saved for the project, changed, brought back, and opened by its link', async () => {
    await page.getByRole('button', { name: 'New query' }).click()
    await replaceText(editor, 'select id, $word as word from "in.c-shop"."notes" where id >= $least order by id -- $no')
    await page.getByLabel('Value of word').fill("it's")
    await page.getByLabel('Value of least').fill('2')
    await run.click()
    await page.getByRole('heading', { name: /^One row in/ }).waitFor()
    const typedQuery = (await editor.textContent())!
    await replaceText(editor, 'select $word, $least, nope')
    await run.click()
    await page.getByText('In line 1, column 23.').waitFor()
    assert.equal(await page.locator('.cm-lintRange-error').textContent(), 'nope')
    await replaceText(editor, typedQuery)
    await run.click()
    await page.getByRole('heading', { name: /^One row in/ }).waitFor()
    await page.getByRole('cell', { name: "it's" }).waitFor()
    await page.getByRole('button', { name: 'Save the query' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Notes by word')
    await page.getByRole('button', { name: 'Save for the project' }).click()
    await page.getByText('Notes by word is saved for everyone in the project.').waitFor()
    await page.getByRole('button', { name: 'Format', exact: true }).click()
    await editor.getByText('order by id -- $no', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as version 2 of Notes by word.').waitFor()
    await page.getByRole('button', { name: 'Saved', exact: true }).click()
    const saved = page.getByRole('region', { name: 'Saved queries' })
    await saved.getByText(/^version 2/).waitFor()
    await saved.getByRole('button', { name: 'Versions of Notes by word' }).click()
    await page.getByRole('dialog', { name: 'Versions of Notes by word' }).getByRole('button', { name: 'Restore' }).click()
    await saved.getByText(/^version 3/).waitFor()
    const [query] = (await stack.request('GET', '/v2/storage/saved-queries')).json<{ id: string; parameters: unknown }[]>()
    assert.deepEqual(query?.parameters, [
      { name: 'word', type: 'text', default: "it's" },
      { name: 'least', type: 'text', default: '2' },
    ])
    await page.evaluate('sessionStorage.removeItem("millrace.sql-open")')
    await page.goto(`${stack.url}/console/sql?query=${query?.id}`)
    await page.getByRole('navigation', { name: 'Open queries' }).getByRole('button', { name: 'Notes by word' }).waitFor()
    assert.equal(await page.getByLabel('Value of word').inputValue(), "it's")
    await page.getByRole('button', { name: 'Saved', exact: true }).click()
    await saved.getByRole('button', { name: 'Delete Notes by word' }).click()
    await page.getByText('Notes by word is deleted.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await saved.getByRole('button', { name: 'Notes by word', exact: true }).waitFor()
    nothingWrong()
  })

  await t.test('a plan is shown and measured, snippets are put in, and the project has its history', async () => {
    await page.getByRole('button', { name: 'New query' }).click()
    await page.getByRole('button', { name: 'Snippets' }).click()
    await page.getByRole('button', { name: 'Running total' }).click()
    await editor.getByText('sum(n) over').waitFor()
    await page.getByRole('button', { name: 'Plan' }).click()
    const plan = page.getByRole('dialog', { name: 'Plan' })
    await plan.getByText(/WINDOW/).waitFor()
    await plan.getByLabel('Run it, and show the time').check()
    await plan.getByText(/Total Time/).waitFor()
    await page.keyboard.press('Escape')
    await stack.request('POST', '/v2/storage/query', { json: { sql: 'select 41 + 1 as by_a_program' } })
    await page.getByRole('button', { name: 'History' }).click()
    await page.getByLabel('Filter queries').fill('by_a_program')
    await page.getByRole('button', { name: 'select 41 + 1 as by_a_program' }).click()
    await editor.getByText('select 41 + 1 as by_a_program').waitFor()
    nothingWrong()
  })

  await t.test('a result is drawn in six ways, and becomes a file with a link', async () => {
    await replaceText(
      editor,
      "select * from (values ('Mon', 'Praha', 2, 1.5), ('Mon', 'Brno', 1, 2.5), ('Tue', 'Praha', 4, 0.5)) t(day, city, n, w)",
    )
    await run.click()
    await page.getByRole('heading', { name: /^3 rows in/ }).waitFor()
    await page.getByRole('button', { name: 'Chart' }).click()
    await page.getByRole('list', { name: 'w by day' }).getByText('Mon').waitFor()
    await page.getByLabel('How much').selectOption('n')
    await page.getByLabel('Kind').selectOption('line')
    await page.getByLabel('One for each').selectOption('city')
    await page.getByRole('img', { name: 'w by day' }).waitFor()
    await page.locator('figcaption').getByText('Brno').waitFor()
    await checkScreen(opened, '/sql-line')
    for (const kind of ['area', 'scatter'] as const) {
      await page.getByLabel('Kind').selectOption(kind)
      await page.getByRole('img', { name: kind === 'area' ? 'w by day' : 'w by n' }).waitFor()
    }
    await page.getByLabel('Kind').selectOption('pivot')
    await page.getByRole('rowheader', { name: 'Mon' }).waitFor()
    await page.getByLabel('Kind').selectOption('figure')
    await page.getByText('0.5', { exact: true }).last().waitFor()
    await page.getByRole('button', { name: 'Save as a file' }).click()
    const drawer = page.getByRole('dialog', { name: 'Saved as a file' })
    await drawer.getByText('query.csv').waitFor()
    await drawer.getByRole('button', { name: 'Create a link' }).click()
    await drawer.getByRole('button', { name: /Copy/ }).first().waitFor()
    await page.keyboard.press('Escape')
    nothingWrong()
  })

  await t.test(
    'a query becomes a transformation in one click, is tried, checked before it is saved, and its columns are drawn',
    async () => {
      await go('/sql')
      await page.getByRole('button', { name: 'New query' }).click()
      await replaceText(editor, 'select id, upper(left(note, 4)) as word from "in.c-shop"."notes" where id > $least')
      await page.getByLabel('Value of least').fill('0')
      const slowTables = (url: URL) => url.pathname === '/v2/storage/browse'
      await page.route(slowTables, async (route) => {
        await setTimeout(1000) // the transformation is created before the screen knows the tables of the query
        await route.continue()
      })
      await page.getByRole('button', { name: 'Create a transformation' }).click()
      await page.getByRole('heading', { name: 'Query of notes', exact: true }).waitFor()
      await page.unrouteAll({ behavior: 'wait' })
      const outline = page.getByRole('region', { name: 'Outline' })
      await outline.getByRole('button', { name: 'Query of notes', exact: true }).waitFor()
      await editor.getByText(`where id > '0'`).waitFor()
      await page.getByRole('button', { name: 'Try all' }).click()
      await page.getByRole('heading', { name: /^1 statement in/ }).waitFor()
      await page.getByText('Read: in_c_shop_notes (2 rows). Made: query_of_notes (2 rows).').waitFor()
      await page.getByRole('cell', { name: 'LONG' }).waitFor()

      await outline.getByRole('button', { name: 'Add a block' }).click()
      await outline.getByRole('button', { name: 'Rename the block New block' }).click()
      await page.getByLabel('Name of the block New block').fill('After')
      await page.keyboard.press('Enter')
      await outline.getByRole('button', { name: 'Add a code to After' }).click()
      const names = () => outline.getByRole('listitem').allInnerTexts()
      await outline.getByRole('button', { name: 'Move New code up' }).last().click()
      await outline.getByRole('button', { name: 'Remove the code New code' }).first().click()
      await outline.getByRole('button', { name: 'Undo', exact: true }).click()
      assert.equal((await names()).filter((name) => name.startsWith('New code')).length, 2)
      await outline.getByRole('button', { name: 'Undo', exact: true }).click()
      await outline.getByRole('button', { name: 'Redo', exact: true }).click()

      await outline.getByRole('button', { name: 'New code', exact: true }).last().click()
      await replaceText(editor, 'create table again as select word from query_of_notes;\n\nselect nope from again')
      await page.keyboard.press('Control+Enter')
      await page.getByRole('heading', { name: '2 statements ran, then one failed' }).waitFor()
      await page.getByText('Statement 2, line 1, character 8 of it.').waitFor()
      assert.equal(await page.locator('.cm-lintRange-error').textContent(), 'nope')
      await page.keyboard.press('Control+s')
      await page.getByText('A run would fail as it is.').waitFor()
      mayComplainOf(/status of 400 .*\/sync-actions\/actions/)
      await outline.getByRole('button', { name: 'Query of notes', exact: true }).click()
      await page.getByRole('button', { name: 'Go to the mistake in New code' }).click()
      await editor.getByText('select nope from again').waitFor()
      await replaceText(editor, 'create table again as select word from query_of_notes')
      await page.getByRole('button', { name: /^Save Ctrl/ }).click()
      await page.getByText('Saved as version 2.').waitFor()
      await page.getByRole('button', { name: 'Check and draw the columns' }).click()
      await page.getByRole('button', { name: 'word, from in.c-shop.notes.note' }).focus()
      assert.equal(await page.locator('.column-lineage path.held').count(), 1)
      nothingWrong()
    },
  )

  await t.test('a transformation is tried in a workspace, where its tables stay', async () => {
    const made = await stack.request('POST', '/sandboxes/sandboxes', { json: { type: 'duckdb' } })
    assert.ok(made.status < 300, made.text)
    await page.reload()
    const rows = page.getByLabel('Rows to try it on')
    await rows.locator('option', { hasText: 'in workspace' }).waitFor({ state: 'attached' })
    await rows.selectOption({ label: (await rows.locator('option').allInnerTexts()).at(-1)! })
    for (const _ of [1, 2]) {
      await page.getByRole('button', { name: 'Try all' }).click()
      await page.getByRole('heading', { name: /^2 statements in/ }).waitFor()
      await page.getByRole('cell', { name: 'LONG' }).first().waitFor()
    }
    const { stagingWorkspaceId: id } = made.json<{ stagingWorkspaceId: string }>()
    const there = (await stack.request('GET', `/v2/storage/workspaces/${id}/objects`)).text
    assert.match(there, /again/)
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
    await page.setViewportSize({ width: 1440, height: 700 })
    await go('/sql')
    for (const place of await page.getByRole('navigation', { name: 'Main' }).getByRole('link').all()) {
      const { y, height } = (await place.boundingBox())!
      assert.ok(y + height <= 640, `${await place.textContent()} ends at ${y + height} px, behind who is signed in`)
    }
    await page.setViewportSize({ width: 1440, height: 600 })
    const find = (await page
      .getByRole('button', { name: /^Search or run/ })
      .first()
      .boundingBox())!
    assert.ok(find.height >= 24, `the search is ${find.height} px high`)
    const out = (await page.getByRole('button', { name: 'Sign out' }).boundingBox())!
    assert.ok(out.y + out.height <= 600, `Sign out ends at ${out.y + out.height} px`)
    await page.setViewportSize({ width: 1024, height: 768 })
    for (const one of await page.getByRole('navigation', { name: 'Main' }).locator('a:visible, button:visible').all()) {
      const { y, height } = (await one.boundingBox())!
      assert.ok(
        y >= 0 && y + height <= 768,
        `${(await one.getAttribute('aria-label')) ?? (await one.textContent())} ends at ${y + height} px`,
      )
    }
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
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
      {
        path: '/components/keboola.duckdb-transformation/tried',
        open: async () => {
          await page.getByRole('button', { name: 'Try all' }).click()
          await page.getByRole('heading', { name: /^2 statements in/ }).waitFor()
          await page.getByRole('button', { name: 'Check and draw the columns' }).click()
          await page.getByRole('heading', { name: 'Where the columns come from' }).waitFor()
        },
      },
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
