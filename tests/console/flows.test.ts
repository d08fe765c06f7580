// Flows in the console: three phases built by clicking, run, and continued from the task that failed.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { checkScreensOn, signedIn, startBrowser } from '../support/browser.ts'
import { startReceiver } from '../support/servers/webhook-receiver.ts'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

const EXTRACTOR = 'keboola.ex-generic-v2'
const SQL = 'keboola.duckdb-transformation'
const FLOW = 'keboola.flow'

test('flows in a browser', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const api = await startReceiver(t)
  const stack = await startTestStack(t, { worker: { egressAllow: ['127.0.0.1'] } })
  const open = await signedIn(browser, stack, '/flows') // one page for all journeys: loading it is what costs
  const { page, go, mayComplainOf, nothingWrong } = open
  const graph = page.getByRole('region', { name: 'Graph of phases and tasks' })
  const make = async (component: string, id: string, configuration: object) => {
    const json = { configurationId: id, name: id, configuration }
    const made = await stack.request('POST', `/v2/storage/components/${component}/configs`, { json })
    assert.equal(made.status, 201, made.text)
  }
  const scriptOf = (statement: string) => ({
    parameters: { blocks: [{ name: 'Block', codes: [{ name: 'Code', script: [statement] }] }] },
    storage: { output: { tables: [{ source: 'result', destination: 'out.c-flow.result' }] } },
  })
  const good = 'create table result as select 1 as n'
  const config = { outputBucket: 'flow', jobs: [{ endpoint: 'orders', dataField: 'orders' }] }
  await make(EXTRACTOR, 'Collect', { parameters: { api: { baseUrl: `${api.url}/` }, config } })
  await make(SQL, 'Clean', scriptOf('create table result as select nothing'))
  await make(SQL, 'Deliver', scriptOf(good))
  let run = ''

  await t.test('a flow of three phases is built, is seen running, fails in one task, and is rerun from there', async () => {
    await page.getByRole('heading', { name: 'Nothing runs in order yet.' }).waitFor()
    await page.keyboard.press('n')
    await page.getByRole('textbox', { name: 'Name' }).fill('Nightly')
    await page.getByRole('button', { name: 'Create the flow' }).click()
    await page.getByRole('heading', { name: 'Nightly: 0 tasks in 0 phases.' }).waitFor()
    for (const [index, task] of [
      'Collect, HTTP extractor',
      'Clean, SQL transformation',
      'Deliver, SQL transformation',
    ].entries()) {
      await page.getByRole('button', { name: 'Add a phase' }).click()
      await page.getByRole('button', { name: `Add a task to Phase ${index + 1}` }).click()
      await page.getByLabel('Configuration to run').selectOption({ label: task })
      await page.getByRole('button', { name: 'Add the task' }).click()
    }
    await page.getByRole('heading', { name: 'Nightly: 3 tasks in 3 phases.' }).waitFor()
    await page.getByRole('button', { name: /Deliver/ }).focus()
    await page.keyboard.press('Alt+ArrowLeft') // and back again
    await page.getByRole('button', { name: /Deliver/ }).focus()
    await page.keyboard.press('Alt+ArrowRight')
    const held: ServerResponse[] = []
    api.answerWith((response) => void held.push(response)) // until the test has looked
    await page.getByRole('button', { name: 'Save and run' }).click()

    await page.getByRole('heading', { name: 'Nightly finished 0 of 3 tasks. Collect is running.' }).waitFor()
    await graph.getByRole('button', { name: /^Running Collect/ }).waitFor()
    await graph.getByRole('button', { name: /^Waiting Deliver Waits/ }).waitFor()
    await until('the API is asked', () => held.length > 0)
    held[0]!.setHeader('content-type', 'application/json').end('{"orders":[{"id":1}]}')
    await graph.getByRole('button', { name: /^Success Collect/ }).waitFor() // without a reload
    await page.getByRole('heading', { name: 'Nightly finished 1 of 3 tasks. Clean failed, so 1 task was left out.' }).waitFor()

    const side = page.getByRole('complementary', { name: 'Selected task' })
    await side.getByRole('heading', { name: 'Clean' }).waitFor() // the task that broke the chain
    await side.getByRole('img', { name: /^Last runs, oldest first: Failed/ }).waitFor()
    await side.getByText('after Phase 1').waitFor()
    await side.getByText('run Clean, Deliver', { exact: true }).waitFor()
    await side.getByText('keep the results of the other task').waitFor()
    await graph.getByRole('button', { name: /^Success Collect/ }).click()
    await side.getByText('in.c-flow.orders').waitFor()
    assert.match(page.url(), /[?&]task=/)
    await page.keyboard.press('Escape')
    await side.waitFor({ state: 'detached' })
    run = new URL(page.url()).pathname

    const mended = await stack.request('PUT', `/v2/storage/components/${SQL}/configs/Clean`, {
      json: { configuration: scriptOf(good) },
    })
    assert.equal(mended.status, 200, mended.text)
    await page.getByRole('button', { name: /^Rerun from failure/ }).click()
    await page.getByRole('heading', { name: 'Nightly finished 3 of 3 tasks.' }).waitFor()
    await page.getByText('Kept from the run before').waitFor()
    const compared = page.getByRole('region', { name: 'Compared' })
    await compared.getByRole('row', { name: /Clean Failed Success/ }).waitFor()
    await compared.getByRole('row', { name: /Deliver Skipped Success/ }).waitFor()
    const earlier = page.getByRole('link', { name: 'Earlier run [' })
    await earlier.waitFor()
    await page.keyboard.press('[')
    await side.getByRole('heading', { name: 'Clean' }).waitFor()
    assert.equal(new URL(page.url()).pathname, run)
    await page.getByRole('link', { name: 'Later run ]' }).click()
    await earlier.waitFor()
    nothingWrong()
  })

  await t.test(
    'schedule, notifications, variables and runs of a flow are on its page, and one task is run alone or with what follows',
    async () => {
      const [nightly] = (await stack.request('GET', `/v2/storage/components/${FLOW}/configs`)).json<{ id: string }[]>()
      await go(`/flows/${FLOW}/${nightly!.id}`)
      const schedule = page.getByRole('region', { name: 'Schedule' })
      await schedule.getByText('It runs only when someone starts it.').waitFor()
      await schedule.getByRole('button', { name: 'New schedule' }).click()
      assert.equal(await page.getByLabel('What runs').locator('option:checked').textContent(), 'Nightly, Flow')
      await page.getByRole('button', { name: 'Run Nightly by the clock' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await schedule.getByText(/^Next /).waitFor()
      await schedule.getByRole('button', { name: 'Pause' }).click()
      await schedule.getByText('Paused', { exact: true }).waitFor()
      const notifications = page.getByRole('region', { name: 'Notifications' })
      await notifications.getByRole('button', { name: 'New notification' }).click()
      await page.getByLabel('Address of the webhook').fill(`${api.url}/hook`)
      await page.getByRole('button', { name: 'Create the notification' }).click()
      await notifications.getByRole('row', { name: /a job fails Nightly/ }).waitFor()
      const variables = page.getByRole('region', { name: 'Variables' })
      await variables.getByRole('button', { name: 'Add variables' }).click()
      await variables.getByLabel('New variable').fill('day')
      await variables.getByRole('button', { name: 'Add a variable' }).click()
      await variables.getByLabel('Value of day').fill('Monday')
      await variables.getByRole('button', { name: 'Save the variables' }).click()
      await page.getByText('The variables are saved.').waitFor()
      await page.getByRole('heading', { name: 'How long runs took' }).waitFor()
      await graph.getByRole('button', { name: /Clean/ }).click()
      const side = page.getByRole('region', { name: 'Selected' })
      await side.getByRole('button', { name: 'Run from here, 2 tasks' }).waitFor()
      await side.getByRole('button', { name: 'Run this task' }).click()
      await page.getByRole('heading', { name: /^Nightly finished 1 of/ }).waitFor()
      await page.goBack()
      await graph.getByRole('button', { name: /Clean/ }).click()
      await side.getByRole('button', { name: 'Run from here, 2 tasks' }).click()
      await page.getByRole('heading', { name: /^Nightly finished 2 of/ }).waitFor()
      nothingWrong()
    },
  )

  await t.test('all jobs of the project are on one timeline, a window at a time', async () => {
    await go('/jobs')
    await page.getByRole('link', { name: 'As a timeline' }).click()
    const lanes = page.getByRole('region', { name: 'Timeline of jobs' })
    await lanes.getByRole('link', { name: /^Clean, failed, by .*, ran / }).waitFor()
    await page.getByText(/^\d+ jobs of 4 configurations; at most \d+ at once/).waitFor()
    await page.getByLabel('Status').selectOption('error')
    await page.getByText(/^2 jobs of 2 configurations/).waitFor()
    await page.getByLabel('Status').selectOption('')
    await page.getByLabel('Window').selectOption('1')
    await page.getByRole('button', { name: 'Earlier' }).click()
    await page.getByRole('button', { name: 'Earlier' }).click()
    await page.getByRole('button', { name: 'Earlier' }).click()
    await page.getByText('No job ran or waited in this window.').waitFor()
    await page.getByRole('button', { name: 'Now' }).click()
    await lanes.getByRole('link', { name: 'Deliver', exact: true }).click()
    await page.getByRole('heading', { name: 'How long runs took' }).waitFor()
    nothingWrong()
  })

  await t.test('phases and tasks are put into another order, and a condition is a sentence', async () => {
    const task = (id: string, phase: string, componentId = SQL) => ({
      id,
      name: id,
      phase,
      task: { type: 'job', componentId, configId: id },
    })
    await make(FLOW, 'ordered', {
      phases: [
        { id: 'a', name: 'First', next: [{ id: 'to-b', goto: 'b' }] },
        { id: 'b', name: 'Second' },
      ],
      tasks: [task('Collect', 'a', EXTRACTOR), task('Clean', 'a'), task('Deliver', 'b')],
    })
    await go('/flows/keboola.flow/ordered')
    await graph.getByRole('button', { name: /Clean/ }).dragTo(graph.getByRole('button', { name: /Collect/ }))
    await page.getByText('changed and not saved').waitFor()
    await graph.getByRole('button', { name: 'Second', exact: true }).focus()
    await page.keyboard.press('Alt+ArrowLeft')
    await graph.getByRole('listitem').first().getByText('Second', { exact: true }).waitFor()
    await graph.getByRole('button', { name: 'Second', exact: true }).click()
    await page.getByRole('button', { name: 'Only when …' }).click()
    await page.getByLabel('Way 1, sentence 1, whose').selectOption({ label: 'the number of rows that Deliver loaded' })
    await page.getByLabel('Way 1, sentence 1, with').fill('10')
    await page.getByRole('button', { name: 'And also' }).click()
    await page.getByLabel('Way 1, sentence 2, whose').selectOption({ label: 'the status of any task of Second' })
    await page.getByLabel('Way 1, sentence 2, with').selectOption({ label: 'success' })
    await graph
      .getByText(
        'then First, only when the number of rows that Deliver loaded is greater than 10 and the status of any task of Second is success',
      )
      .waitFor()
    await page.getByRole('button', { name: /^Save Ctrl/ }).click()
    await page.getByText('Saved as version 2.').waitFor()
    const saved = (await stack.request('GET', '/v2/storage/components/keboola.flow/configs/ordered')).json<{
      configuration: { phases: { id: string; next?: { goto: string | null; condition?: unknown }[] }[]; tasks: { id: string }[] }
    }>().configuration
    assert.deepEqual(
      saved.phases.map(({ id, next = [] }) => [id, next.map(({ goto }) => goto)]),
      [
        ['b', ['a', null]],
        ['a', []],
      ],
    )
    assert.deepEqual(
      saved.tasks.map(({ id }) => id),
      ['Clean', 'Collect', 'Deliver'],
    )
    nothingWrong()
    // Somebody saves meanwhile: both changes are kept.
    await page.getByRole('region', { name: 'Selected' }).getByLabel('Name', { exact: true }).fill('Before')
    const theirs = { ...saved, tasks: saved.tasks.map((one, index) => (index === 0 ? { ...one, enabled: false } : one)) }
    const put = await stack.request('PUT', '/v2/storage/components/keboola.flow/configs/ordered', {
      json: { configuration: theirs },
    })
    assert.equal(put.status, 200, put.text)
    await page.getByRole('button', { name: /^Save Ctrl/ }).click()
    await page.getByRole('heading', { name: /while you were editing. There are no conflicts/ }).waitFor()
    await page.getByRole('button', { name: 'Save as version 4' }).click()
    await graph.getByRole('button', { name: 'Before', exact: true }).waitFor()
    await graph.getByRole('button', { name: /^Disabled Clean/ }).waitFor()
    mayComplainOf(/status of 409 /)
  })

  await t.test('a mistake is marked on the task it concerns', async () => {
    const lost = { id: 1, name: 'Lost', phase: 1, task: { type: 'job', componentId: SQL, configId: 'none' } }
    await make(FLOW, 'wrong', { phases: [{ id: 1, name: 'One' }], tasks: [lost] })
    await go('/flows/keboola.flow/wrong')
    await page.getByRole('button', { name: /^(Failed|Warning) Lost/ }).waitFor()
    await page.getByRole('heading', { name: 'Problems' }).waitFor()
  })

  await t.test('no screen has serious accessibility findings or scrolls sideways', () =>
    checkScreensOn(open, [
      '/flows',
      '/flows/keboola.flow/wrong',
      '/flows/keboola.flow/ordered',
      run.replace('/console', ''),
      '/jobs?view=timeline',
      `/components/${SQL}/Deliver?tab=runs`,
    ]),
  )
})
