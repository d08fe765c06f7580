// A real Chromium from npm, one for a test file.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as launcher, type Page } from 'playwright-core'
import type { TestStack } from './test-stack.ts'

/** Its own list runs everything in one process, which hangs when a second context is opened. */
const ARGUMENTS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']
/** For one step on a very busy machine: a test may become slow, not red. */
const STEP_MS = 90_000
const WIDTHS = [1440, 1024, 390] as const
/** What 1440 by 900 px are when everything is shown at 200 % (WCAG 2.2, 1.4.4). */
const ZOOMED = { width: 720, height: 450 }
/** A folder that gets a picture of every screen; CI keeps it. */
const PICTURES = process.env.MILLRACE_PICTURES
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface OpenPage {
  readonly page: Page
  /** What the browser complained about: errors of scripts, blocked requests. */
  readonly complaints: readonly string[]
}

export async function startBrowser(t: TestContext): Promise<Browser> {
  const browser = await launcher.launch({ executablePath: await chromium.executablePath(), args: ARGUMENTS, headless: true })
  t.after(() => browser.close())
  return browser
}

export async function openPage(browser: Browser, options: { width?: number; theme?: 'light' | 'dark' } = {}): Promise<OpenPage> {
  const { width = 1440, theme = 'light' } = options
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    reducedMotion: 'reduce', // every step would wait until a transition ends
    timezoneId: 'Europe/Prague',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(STEP_MS)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => (message.type() === 'error' ? complaints.push(message.text()) : undefined))
  return { page, complaints }
}

export async function signedIn(
  browser: Browser,
  stack: Pick<TestStack, 'url' | 'masterToken'>,
  path: string,
  options: Parameters<typeof openPage>[1] = {},
): Promise<OpenPage> {
  const opened = await openPage(browser, options)
  await opened.page.addInitScript(`sessionStorage.setItem('millrace.token', '${stack.masterToken}')`)
  await opened.page.goto(`${stack.url}/console${path}`)
  return opened
}

/** An address; with what has to be opened on it, such as a drawer. */
export type Screen = string | { readonly path: string; readonly open: (page: Page) => Promise<unknown> }

/** Every screen in both themes without serious findings of axe, and at three widths and at 200 % without scrolling sideways. */
export async function checkScreens(
  browser: Browser,
  stack: Pick<TestStack, 'url' | 'masterToken'>,
  screens: readonly Screen[],
): Promise<void> {
  const { page } = await signedIn(browser, stack, '/')
  for (const one of screens) {
    const screen = typeof one === 'string' ? one : one.path
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(`${stack.url}/console${screen}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('.skel').first().waitFor({ state: 'detached' })
    if (typeof one !== 'string') await one.open(page)
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      await page.locator(`html[data-theme=${theme}]`).waitFor({ state: 'attached' })
      assert.deepEqual(await findingsOn(page, theme), [], `${screen} ${theme}`)
      for (const width of PICTURES || theme === 'light' ? WIDTHS : []) {
        await page.setViewportSize({ width, height: 900 })
        if (PICTURES)
          await page.screenshot({
            path: join(PICTURES, `${typeof one === 'string' ? '' : 'open'}${screen.replace(/\W+/g, '-')}-${width}-${theme}.png`),
          })
        assert.ok(await fitsWidth(page), `${screen} at ${width} px`)
      }
      await page.setViewportSize(ZOOMED)
      assert.ok(await fitsWidth(page), `${screen} at 200 %`)
      await page.setViewportSize({ width: WIDTHS[0], height: 900 })
    }
  }
  await page.context().close()
}

const fitsWidth = (page: Page): Promise<boolean> => page.evaluate('document.documentElement.scrollWidth <= innerWidth')

/** Serious and critical findings of axe, as readable lines. */
async function findingsOn(page: Page, theme: 'light' | 'dark'): Promise<readonly string[]> {
  if (theme === 'light') await page.evaluate(AXE)
  const { violations } = await page.evaluate<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>(
    // Only colours differ between the themes.
    theme === 'light' ? 'axe.run()' : "axe.run({ runOnly: ['color-contrast'] })",
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
}
