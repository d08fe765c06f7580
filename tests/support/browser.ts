// A real Chromium from npm, one for a test file.

import type { TestContext } from 'node:test'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as launcher, type Page } from 'playwright-core'

/** Its own list runs everything in one process, which hangs when a second context is opened. */
const ARGUMENTS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']
/** For one step on a busy machine. */
const STEP_MS = 30_000

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
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, timezoneId: 'Europe/Prague' })
  const page = await context.newPage()
  page.setDefaultTimeout(STEP_MS)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => (message.type() === 'error' ? complaints.push(message.text()) : undefined))
  return { page, complaints }
}
