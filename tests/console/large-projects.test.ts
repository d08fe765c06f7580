// A project of thousands of tables and configurations: every screen that chooses one of them loads a page, and finds the others by name.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { settled, signedIn, startBrowser } from '../support/browser.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'

const MANY = 3000
const SQL = 'keboola.duckdb-transformation'
/** The most items of one answer: lists that grow with the project would be longer. */
const MAX_ITEMS = 1000

test('a project of thousands in a browser', { timeout: 600_000 }, async (t) => {
  const browser = await startBrowser(t)
  const stack = await startTestStack(t)
  await fill(stack)
  const opened = await signedIn(browser, stack, '/flows')
  const { page, go, nothingWrong } = opened
  const answers: { readonly path: string; readonly items: number }[] = []
  page.on('response', (response) => {
    const { pathname, search } = new URL(response.url())
    if (!response.headers()['content-type']?.includes('json')) return
    void response.json().then(
      (json: unknown) => answers.push({ path: pathname + search, items: longestList(json) }),
      () => {}, // of a request that was given up
    )
  })
  const option = (name: string) => page.getByRole('option', { name, exact: true })
  const dialog = page.getByRole('dialog')
  const chooseConfiguration = async (label: string) => {
    await dialog.getByLabel('Filter configurations').fill('Sums 2987')
    await option('Sums 2987, SQL transformation').waitFor({ state: 'attached' })
    await dialog.getByLabel(label, { exact: true }).selectOption('Sums 2987, SQL transformation')
    assert.equal(await dialog.getByLabel(label, { exact: true }).inputValue(), `${SQL} sums-2987`)
  }

  await t.test('flows are listed a page at a time, and found by name', async () => {
    await page.getByText(`${MANY.toLocaleString('en')} flows, none failed last.`).waitFor()
    assert.equal(await page.getByRole('row').count(), 101)
    await page.getByLabel('Filter by name').fill('Nightly 2987')
    await page.getByRole('link', { name: 'Nightly 2987' }).waitFor()
    await page.getByRole('link', { name: 'Nightly 1', exact: true }).waitFor({ state: 'detached' })
    await page.getByLabel('Filter by name').fill('')
    await page.getByRole('button', { name: 'Show 100 more' }).click()
    await page.getByRole('row').nth(150).waitFor()
    nothingWrong()
  })

  await t.test('schedules are listed a page at a time, and found by the name of what they run', async () => {
    await go('/schedules')
    await page.getByText(`${MANY.toLocaleString('en')} schedules, none stopped.`).waitFor()
    assert.equal(await page.getByRole('row').count(), 101)
    await page.getByLabel('Filter by name').fill('Nightly 2987')
    await page.getByRole('link', { name: 'Nightly 2987' }).waitFor()
    assert.equal(await page.getByRole('row').count(), 2)
    await page.getByLabel('Filter by name').fill('')
    await page.getByRole('button', { name: 'Show 100 more' }).click()
    await page.getByRole('row').nth(150).waitFor()
    await page.getByRole('link', { name: 'As a week' }).click()
    await page.getByText(`The week has 200 of ${MANY.toLocaleString('en')} schedules.`).waitFor()
    await page.getByRole('button', { name: 'Show 100 more' }).click()
    await page.getByText(`The week has 300 of ${MANY.toLocaleString('en')} schedules.`).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('pause nightly 2987')
    await page.getByRole('option', { name: 'Pause the schedule of Nightly 2987' }).waitFor()
    await page.keyboard.press('Escape')
    nothingWrong()
  })

  await t.test('tokens are listed a page at a time, and found by their description', async () => {
    await go('/tokens')
    await page.getByText('The first 100 tokens.').waitFor()
    assert.equal(await page.getByRole('row').count(), 101)
    await page.getByLabel('Filter by description').fill('Reads orders 2987')
    await page.getByText('1 matching token.').waitFor()
    assert.equal(await page.getByRole('row').count(), 2)
    await page.getByLabel('Filter by description').fill('')
    await page.getByRole('button', { name: 'Show 100 more' }).click()
    await page.getByRole('row').nth(150).waitFor()
    nothingWrong()
  })

  await t.test('a schedule, a notification and a trigger find what they are about', async () => {
    await go('/schedules')
    await page
      .getByRole('button', { name: /^New schedule/ })
      .first()
      .click()
    await chooseConfiguration('What runs')
    await dialog.getByRole('button', { name: 'Run Sums 2987 by the clock' }).waitFor()
    await page.keyboard.press('Escape')
    await go('/notifications')
    await page
      .getByRole('button', { name: /^New notification/ })
      .first()
      .click()
    await chooseConfiguration('Of')
    await page.keyboard.press('Escape')
    await go('/storage/in.c-big.t1?tab=triggers')
    await page.getByRole('button', { name: 'New trigger' }).click()
    await chooseConfiguration('Run')
    await dialog.getByLabel('When all of these were loaded').fill('t2987')
    await page.locator('datalist option[value="in.c-big.t2987"]').waitFor({ state: 'attached' })
    await page.keyboard.press('Escape')
    nothingWrong()
  })

  await t.test('a task of a flow, a command of the palette and the users of a variable are found', async () => {
    await go('/flows/keboola.flow/nightly-1')
    await page.getByRole('button', { name: 'Add a phase' }).click()
    await page
      .getByRole('button', { name: /^Add a task/ })
      .first()
      .click()
    await page.getByLabel('Filter configurations').fill('Sums 2987')
    await option('Sums 2987, SQL transformation').waitFor({ state: 'attached' })
    await page.getByLabel('Configuration to run').selectOption('Sums 2987, SQL transformation')
    await page.getByRole('button', { name: 'Add the task' }).click()
    await page.getByRole('combobox', { name: 'Runs', exact: true }).waitFor()
    assert.equal(await page.getByRole('combobox', { name: 'Runs', exact: true }).inputValue(), `${SQL} sums-2987`)
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('run sums 2987')
    await page.getByRole('option', { name: 'Run Sums 2987' }).waitFor()
    await page.keyboard.press('Escape')
    await go('/vault')
    await page.getByRole('button', { name: 'Replace' }).click()
    await dialog.getByText('The next run of these uses the new value:').waitFor()
    await dialog.getByRole('link', { name: 'Sums 2987' }).waitFor()
    assert.equal(await dialog.getByRole('link').count(), 1)
    await page.keyboard.press('Escape')
    nothingWrong()
  })

  await t.test('SQL is completed with tables that match, and with columns of those that it names', async () => {
    await go('/sql')
    await page.getByText(`${MANY.toLocaleString('en')} tables`).waitFor()
    const editor = page.getByRole('textbox', { name: 'SQL' })
    await editor.click()
    await page.keyboard.type('select * from t2987')
    await page.getByRole('option', { name: /^t2987/ }).click()
    await until(page, 'from "in.c-big"."t2987"')
    await page.keyboard.type(' where on')
    await page.getByRole('option', { name: /^only_here/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByLabel('Filter tables and columns').fill('only_here')
    await page.getByRole('button', { name: 'only_here' }).waitFor()
    nothingWrong()
  })

  await t.test('a mapping finds its table, and home counts all of them', async () => {
    await go(`/components/${SQL}/sums-1?tab=tables`)
    await page.getByRole('button', { name: 'Add table in' }).click()
    await page.getByLabel('Filter tables').fill('t2987')
    await option('t2987').waitFor({ state: 'attached' })
    await page.getByLabel('Table', { exact: true }).first().selectOption('in.c-big.t2987')
    await page.getByText('0 rows', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Discard' }).first().click()
    await go('/')
    await page.getByText(`${MANY.toLocaleString('en')} tables to work with.`, { exact: false }).waitFor()
    await settled(page)
    nothingWrong()
  })

  const long = answers.filter(({ items }) => items > MAX_ITEMS)
  assert.deepEqual([...new Set(long.map(({ path, items }) => `${path}: ${items}`))], [])
  const verified = answers.filter(({ path }) => path.startsWith('/v2/storage/tokens/verify'))
  assert.deepEqual([...new Set(verified.map(({ path }) => path))], ['/v2/storage/tokens/verify?onlyGivenBuckets=true'])
  assert.ok(answers.length > 50, `${answers.length} answers were looked at`)
})

const until = (page: Awaited<ReturnType<typeof signedIn>>['page'], text: string) =>
  page.getByRole('textbox', { name: 'SQL' }).filter({ hasText: text }).waitFor()

function longestList(json: unknown): number {
  if (Array.isArray(json)) return Math.max(json.length, ...json.slice(0, 20).map(longestList))
  if (typeof json !== 'object' || json === null) return 0
  return Math.max(0, ...Object.values(json).map(longestList))
}

/** One table, configuration and flow by the API, and as many as are wanted from them in the database. */
async function fill(stack: TestStack): Promise<void> {
  const ok = async (method: string, path: string, json: object) => {
    const answer = await stack.request(method, path, { json })
    assert.ok(answer.status < 300, answer.text)
    return answer
  }
  await ok('POST', '/v2/storage/buckets', { name: 'big', stage: 'in' })
  await ok('POST', '/v2/storage/buckets/in.c-big/tables', { name: 't1', dataString: 'id,name\n1,a\n' })
  await ok('POST', '/v2/storage/buckets/in.c-big/tables', { name: 't2987', dataString: 'id,only_here\n' })
  await ok('POST', `/v2/storage/components/${SQL}/configs`, { configurationId: 'sums-1', name: 'Sums 1', configuration: {} })
  const uses = { parameters: { blocks: [{ name: 'B', codes: [{ name: 'C', script: ["select '{{ vault.KEY }}'"] }] }] } }
  const used = { configurationId: 'sums-2987', name: 'Sums 2987', configuration: uses }
  await ok('POST', `/v2/storage/components/${SQL}/configs`, used)
  const flow = { configurationId: 'nightly-1', name: 'Nightly 1', configuration: { phases: [], tasks: [] } }
  await ok('POST', '/v2/storage/components/keboola.flow/configs', flow)
  const daily = { cronTab: '0 5 * * *', timezone: 'UTC', state: 'enabled' }
  const target = { componentId: 'keboola.flow', configurationId: 'nightly-1', mode: 'run' }
  const schedule = { configurationId: 'daily-1', name: 'Daily 1', configuration: { schedule: daily, target } }
  await ok('POST', '/v2/storage/components/keboola.scheduler/configs', schedule)
  await ok('POST', '/scheduler/schedules', { configurationId: 'daily-1' })
  await ok('POST', '/v2/storage/tokens', { description: 'Reads orders 1' })
  await ok('POST', '/vault/variables', { key: 'KEY', value: 'x' })
  const { db } = stack.platform.metadata
  const numbers = sql`(with recursive g(i) as (select 2 union all select i + 1 from g where i < ${MANY}) select i from g)`
  await sql`insert into data_table (project_id, bucket, name, display_name, columns, primary_key, snapshot, created_at)
    select t.project_id, t.bucket, 't' || n.i, 't' || n.i, t.columns, t.primary_key, t.snapshot, t.created_at
    from data_table as t, ${numbers} as n where t.name = 't1' and n.i <> 2987`.execute(db)
  const columns = sql.raw(
    `project_id, branch_id, component_id, is_disabled, is_deleted, version, content_version, rows_sort_order, state, change_description,
     version_identifier, revision, rows_revision, created_at, creator_token_id, creator_token_description, changed_at, changer_token_id,
     changer_token_description, words_stale, secrets_stale, description`,
  )
  for (const [from, name] of [
    ['sums-1', 'Sums'],
    ['nightly-1', 'Nightly'],
    ['daily-1', 'Daily'],
  ])
    await sql`insert into configuration (configuration_id, name, ${columns})
      select ${name!.toLowerCase()} || '-' || n.i, ${name} || ' ' || n.i, ${columns}
      from configuration as c, ${numbers} as n where c.configuration_id = ${from} and (n.i <> 2987 or ${from} <> 'sums-1')`.execute(
      db,
    )
  const ofToken = sql.raw('project_id, permissions, is_master, is_disabled, created_at, refreshed_at, is_automatic, is_internal')
  await sql`insert into token (hash, description, ${ofToken})
    select 'hash ' || n.i, 'Reads orders ' || n.i, ${ofToken}
    from token as t, ${numbers} as n where t.description = 'Reads orders 1'`.execute(db)
  const kept = sql.raw(
    'project_id, token_id, configuration_version, schedule, target_component_id, policy, next_run_at, created_at',
  )
  await sql`insert into schedule (configuration_id, target_configuration_id, target, ${kept})
    select 'daily-' || n.i, 'nightly-' || n.i, replace(s.target, 'nightly-1', 'nightly-' || n.i), ${kept}
    from schedule as s, ${numbers} as n`.execute(db)
}
