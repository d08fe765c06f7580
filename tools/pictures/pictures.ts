// `npm run pictures`: the pictures of the console in the guides, in both themes, of a stack with the sample shop. Beside them it writes which
// headings and labels they show, so that a test finds pictures of screens that have changed since (tests/documents.test.ts).

import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { VERSION } from '../../server/src/start/version.ts'
import { openPage, replaceText, settled, showIn, startBrowser, THEMES } from '../../tests/support/browser.ts'
import { startTestStack } from '../../tests/support/test-stack.ts'
import { consoleTexts } from './console-texts.ts'
import { fillShop, type Shop } from './shop.ts'

export const FOLDER = fileURLToPath(new URL('../../docs/images', import.meta.url))
export const LABELS_FILE = fileURLToPath(new URL('./labels.json', import.meta.url))
export const SIZE = { width: 1280, height: 800 }
const QUALITY = 80
/** For charts and lists that are drawn after the page has settled. */
const SETTLE_MS = 1_000

interface Picture {
  readonly path: (shop: Shop) => string
  /** What has to be opened, run or waited for. */
  readonly show?: (page: Page) => Promise<unknown>
}

const at = (path: string, show?: Picture['show']): Picture => ({ path: () => path, ...(show && { show }) })

const QUERY = `select status, count(*) as orders, round(sum(total::double), 2) as revenue
from "in.c-shop"."orders"
group by all
order by revenue desc`

/** By name; the files are console-<name>-light.webp and console-<name>-dark.webp. */
export const PICTURES: Readonly<Record<string, Picture>> = {
  home: at('/', (page) => page.getByRole('region', { name: /^Asset graph/ }).waitFor()),
  builder: at('/builder/orders', async (page) => {
    const live = page.getByRole('region', { name: 'Live' })
    await live.getByRole('button', { name: '1 page' }).click()
    await live.getByRole('columnheader', { name: 'customer_id' }).waitFor()
  }),
  catalogue: at('/components?view=catalogue', async (page) => {
    const connectors = page.getByRole('list', { name: 'Connectors', exact: true })
    await connectors.getByRole('heading', { name: 'Stripe' }).waitFor()
    await connectors.evaluate((list) =>
      (list as unknown as { scrollIntoView(at: object): void }).scrollIntoView({ block: 'center' }),
    )
  }),
  configuration: at('/components/keboola.ex-generic-v2/customers'),
  job: { path: ({ failedJobId }) => `/jobs/${failedJobId}` },
  timeline: at('/jobs?view=timeline&hours=0.25'),
  table: at('/storage/in.c-shop.orders', (page) => page.getByText('all distinct').first().waitFor()),
  'data-tests': at('/storage/in.c-shop.orders?tab=tests', (page) => page.getByText('known states').first().waitFor()),
  sql: at('/sql', async (page) => {
    await replaceText(page.getByLabel('SQL', { exact: true }), QUERY)
    await page.getByRole('button', { name: /^Run Ctrl/ }).click()
    await page.getByRole('heading', { name: /rows in/ }).waitFor()
  }),
  transformation: at('/components/keboola.duckdb-transformation/revenue', async (page) => {
    await page.getByRole('button', { name: 'Try all' }).click()
    await page.getByRole('heading', { name: /^2 statements in/ }).waitFor()
  }),
  flow: at('/flows/keboola.flow/daily'),
  schedules: at('/schedules?view=week'),
  deliveries: at('/deliveries'),
  dashboard: {
    path: ({ dashboardId }) => `/dashboards/${dashboardId}`,
    show: (page) => page.getByRole('img', { name: 'Revenue by hour' }).waitFor(),
  },
  branch: { path: ({ branchId }) => `/branches/${branchId}` },
  proposal: {
    path: ({ proposalId }) => `/proposals/${proposalId}`,
    show: (page) => page.getByRole('group', { name: 'Differences of Revenue' }).waitFor(),
  },
}

/** Headings, tabs and places: what a reader looks for on a picture. */
const SHOWN = 'h1, h2, h3, nav a, nav button, [role=tab], main button, main a.button'

async function takePictures(): Promise<void> {
  const ends: (() => unknown)[] = []
  const scope = { after: (end: () => unknown) => void ends.push(end) }
  try {
    const browser = await startBrowser(scope)
    const stack = await startTestStack(scope, { version: VERSION, worker: { egressAllow: ['127.0.0.1'] } })
    const shop = await fillShop(stack)
    const { page, go, nothingWrong } = await openPage(browser)
    const [name, value] = shop.person.cookie()!.split('=') as [string, string]
    await page.context().addCookies([{ name, value, url: stack.url }])
    await page.setViewportSize(SIZE)
    await page.goto(`${stack.url}/console/`)
    await settled(page)
    const session = await page.context().newCDPSession(page)
    mkdirSync(FOLDER, { recursive: true })
    const labels: Record<string, readonly string[]> = {}
    const known = consoleTexts()
    let bytes = 0
    for (const [picture, { path, show }] of Object.entries(PICTURES)) {
      await go(path(shop))
      await settled(page)
      await show?.(page).catch((cause: unknown) => {
        throw new Error(`${picture} could not be shown`, { cause })
      })
      await page.waitForTimeout(SETTLE_MS)
      for (const theme of THEMES) {
        await showIn(page, theme)
        const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
        const picture64 = Buffer.from(data, 'base64')
        bytes += picture64.length
        writeFileSync(`${FOLDER}/console-${picture}-${theme}.webp`, picture64)
      }
      const texts = await page.locator(SHOWN).allInnerTexts()
      labels[picture] = [...new Set(texts.map((text) => text.trim()).filter((text) => text !== '' && known.has(text)))].sort()
    }
    nothingWrong()
    writeFileSync(LABELS_FILE, `${JSON.stringify(labels, null, 2)}\n`)
    console.log(`${Object.keys(PICTURES).length} pictures in both themes, ${Math.round(bytes / 1000)} kB, in docs/images`)
  } finally {
    for (const end of ends) await end()
  }
}

if (import.meta.main) await takePictures()
