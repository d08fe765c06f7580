// A dbt project in the console: its job shows each model, what failed runs again, and the test of dbt is among those of its table. dbt is stood in for.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createIsolation } from '../../server/src/engines/runner/isolation.ts'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { signedIn, startBrowser } from '../support/browser.ts'
import { shellStack } from '../support/shell-stack.ts'

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const isolation = { mode: 'auto', readable: [pathOf('../support/servers'), pathOf('../../node_modules')], uid: 65_534 } as const
const path = process.env.PATH ?? DEFAULT_WORKER.path
const { problem } = await createIsolation({ ...isolation, path, hidden: [] })()

test('a run of dbt shows its models, and what failed runs again from the page of the job', { timeout: 240_000 }, async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  const browser = await startBrowser(t) // before the stack, which waits for its connections when it ends
  const folder = mkdtempSync(join(tmpdir(), 'millrace-dbt-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'dbt_project.yml'), 'name: shop\n')
  const writeModels = (customers: string) => {
    const models = [
      { name: 'orders', sql: "select 1 as id, 'ann' as customer" },
      { name: 'customers', sql: customers, depends: ['model.shop.orders'] },
      {
        ...{ kind: 'test', name: 'not_null_customers_id', attached: 'model.shop.customers', depends: ['model.shop.customers'] },
        sql: 'select * from analytics.customers where id is null',
      },
    ]
    writeFileSync(join(folder, 'models.json'), JSON.stringify(models))
  }
  writeModels('select nothing from nowhere')
  const worker = { ...DEFAULT_WORKER, path, isolation, egressAllow: ['127.0.0.1'] }
  const stack = await shellStack(t, { worker: { ...worker, folders: { read: { models: folder }, write: {} } } })
  const parameters = {
    project: { folder: 'models' },
    program: ['node', pathOf('../support/servers/dbt-stand-in.mjs')],
    buckets: [{ schema: 'analytics', bucket: 'out.c-analytics' }],
  }
  const id = await stack.configure('platform.dbt', { parameters })
  const { page, go, nothingWrong } = await signedIn(browser, stack, `/components/platform.dbt/${id}`)

  await page.getByRole('button', { name: /^Run/ }).first().click()
  await page.waitForURL(/\/jobs\/\d+/)
  const models = page.getByRole('region', { name: 'Models and tests' })
  await models.getByText('3 nodes, 1 failed').waitFor()
  const rows = models.getByRole('row')
  assert.match((await rows.nth(1).textContent()) ?? '', /customers.*Database Error.*nowhere/s, 'what failed comes first')
  const failedAt = page.url()

  writeModels('select id, customer from analytics.orders')
  await models.getByRole('button', { name: /again/i }).click()
  await page.waitForURL((url) => /\/jobs\/\d+/.test(url.pathname) && url.href !== failedAt)
  await models.getByText('2 nodes').waitFor()
  await models.getByRole('link', { name: 'customers', exact: true }).click()
  await page.getByRole('heading', { name: /^1 row, last loaded/ }).waitFor()
  await go('/storage/out.c-analytics.customers?tab=tests')
  await page.getByText('not_null_customers_id').first().waitFor()
  nothingWrong()
})
