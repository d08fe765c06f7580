// Flows in the console: three phases built by clicking, run, and continued from the task that failed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkScreens, signedIn, startBrowser } from '../support/browser.ts'
import { startTestStack } from '../support/test-stack.ts'

const CONFIGS = '/v2/storage/components/keboola.duckdb-transformation/configs'

test('flows in a browser', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const scriptOf = (statement: string) => ({
    parameters: { blocks: [{ name: 'Block', codes: [{ name: 'Code', script: [statement] }] }] },
    storage: { output: { tables: [{ source: 'result', destination: 'out.c-flow.result' }] } },
  })
  const good = 'create table result as select 1 as n'
  for (const [id, statement] of [
    ['Collect', good],
    ['Clean', 'create table result as select nothing'],
    ['Deliver', good],
  ] as const) {
    const made = await stack.request('POST', CONFIGS, {
      json: { configurationId: id, name: id, configuration: scriptOf(statement) },
    })
    assert.equal(made.status, 201, made.text)
  }
  let run = ''

  await t.test('a flow of three phases is built, fails in one task, and is rerun from there', async () => {
    const { page, complaints } = await signedIn(browser, stack, '/flows')
    await page.getByRole('heading', { name: 'Nothing runs in order yet.' }).waitFor()
    await page.keyboard.press('n')
    await page.getByRole('textbox', { name: 'Name' }).fill('Nightly')
    await page.getByRole('button', { name: 'Make the flow' }).click()
    await page.getByRole('heading', { name: 'Nightly: 0 tasks in 0 phases.' }).waitFor()
    for (const [index, task] of ['Collect', 'Clean', 'Deliver'].entries()) {
      await page.getByRole('button', { name: 'Add a phase' }).click()
      await page.getByRole('button', { name: `Add a task to Phase ${index + 1}` }).click()
      await page.getByLabel('Configuration to run').selectOption({ label: `${task}, SQL transformation` })
      await page.getByRole('button', { name: 'Add the task' }).click()
    }
    await page.getByRole('heading', { name: 'Nightly: 3 tasks in 3 phases.' }).waitFor()
    await page.getByRole('button', { name: /Deliver/ }).focus()
    await page.keyboard.press('Alt+ArrowLeft') // and back again
    await page.getByRole('button', { name: /Deliver/ }).focus()
    await page.keyboard.press('Alt+ArrowRight')
    await page.getByRole('button', { name: 'Save and run' }).click()
    await page.getByRole('heading', { name: 'Nightly finished 1 of 3 tasks. Clean failed, so 1 task was left out.' }).waitFor()
    await page.getByText('Rerunning from here runs Clean, Deliver').waitFor()
    run = new URL(page.url()).pathname
    const mended = await stack.request('PUT', `${CONFIGS}/Clean`, { json: { configuration: scriptOf(good) } })
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
    await page.getByRole('img', { name: /^Last runs, oldest first: Failed/ }).waitFor() // of the task that broke the chain
    assert.equal(new URL(page.url()).pathname, run)
    await page.getByRole('link', { name: 'Later run ]' }).click()
    await earlier.waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  await t.test('phases and tasks are put into another order, and a condition is a sentence', async () => {
    const task = (id: string) => ({
      id,
      name: id,
      phase: 'a',
      task: { type: 'job', componentId: 'keboola.duckdb-transformation', configId: id },
    })
    const made = await stack.request('POST', '/v2/storage/components/keboola.flow/configs', {
      json: {
        configurationId: 'ordered',
        name: 'Ordered',
        configuration: {
          phases: [
            { id: 'a', name: 'First', next: [{ id: 'to-b', goto: 'b' }] },
            { id: 'b', name: 'Second' },
          ],
          tasks: [task('Collect'), task('Clean'), { ...task('Deliver'), phase: 'b' }],
        },
      },
    })
    assert.equal(made.status, 201, made.text)
    const { page, complaints } = await signedIn(browser, stack, '/flows/keboola.flow/ordered')
    const graph = page.getByRole('region', { name: 'Graph of phases and tasks' })
    await graph.getByRole('button', { name: /Clean/ }).dragTo(graph.getByRole('button', { name: /Collect/ }))
    await page.getByText('changed and not saved').waitFor()
    await graph.getByRole('button', { name: 'Second', exact: true }).focus()
    await page.keyboard.press('Alt+ArrowLeft')
    await graph.getByRole('listitem').first().getByText('Second', { exact: true }).waitFor()
    await graph.getByRole('button', { name: 'Second', exact: true }).click()
    await page.getByRole('button', { name: 'Only when …' }).click()
    await page.getByLabel('Way 1, sentence 1, whose').selectOption({ label: 'the rows that Deliver loaded' })
    await page.getByLabel('Way 1, sentence 1, with').fill('10')
    await page.getByRole('button', { name: 'And also' }).click()
    await page.getByLabel('Way 1, sentence 2, whose').selectOption({ label: 'the status of any task of Second' })
    await page.getByLabel('Way 1, sentence 2, with').selectOption({ label: 'success' })
    await graph.getByText(/then First, only when .* of Deliver is greater than 10 and for any task of Second/).waitFor()
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
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  await t.test('a mistake is marked on the task it concerns', async () => {
    const made = await stack.request('POST', '/v2/storage/components/keboola.flow/configs', {
      json: {
        configurationId: 'wrong',
        name: 'Wrong',
        configuration: {
          phases: [{ id: 1, name: 'One' }],
          tasks: [
            {
              id: 1,
              name: 'Lost',
              phase: 1,
              task: { type: 'job', componentId: 'keboola.duckdb-transformation', configId: 'none' },
            },
          ],
        },
      },
    })
    assert.equal(made.status, 201, made.text)
    const { page } = await signedIn(browser, stack, '/flows/keboola.flow/wrong')
    await page.getByRole('button', { name: /^(Failed|Warning) Lost/ }).waitFor()
    await page.getByRole('heading', { name: 'To be mended' }).waitFor()
    await page.context().close()
  })

  await t.test('no screen has serious accessibility findings or scrolls sideways', () =>
    checkScreens(browser, stack, [
      '/flows',
      '/flows/keboola.flow/wrong',
      '/flows/keboola.flow/ordered',
      run.replace('/console', ''),
    ]),
  )
})
