// A real Chromium from npm, one for a test file.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, type Locator, chromium as launcher, type Page } from 'playwright-core'
import { chromiumPath } from './chromium-path.ts'
import type { TestScope, TestStack } from './test-stack.ts'

/** Its own list runs everything in one process, which hangs when a second context is opened. */
const ARGUMENTS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']
/** For one step on a very busy machine: a test may become slow, not red. */
const STEP_MS = 90_000
const WIDTHS = [1440, 1024, 390] as const
const HEIGHT = 900
/** No screen has more stops than a person would tab through. */
const MAX_TABS = 120
export const THEMES = ['dark', 'light'] as const // the next step of a journey finds the light one
type Theme = (typeof THEMES)[number]
/** What 1440 by 900 px are when everything is shown at 200 % (WCAG 2.2, 1.4.4). */
const ZOOMED = { width: 720, height: 450 }
/** A folder that gets a picture of every screen; CI keeps it. */
const PICTURES = process.env.MILLRACE_PICTURES
const COLOURS = "['color-contrast']"
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface OpenPage {
  readonly page: Page
  /** From now on the browser may complain of this: the message may come late, also after the screen has shown the answer. */
  readonly mayComplainOf: (expected: RegExp) => void
  /** At the end of a journey: the browser complained of nothing else, such as errors of scripts and refused requests. */
  readonly nothingWrong: () => void
  /** Opens another screen as a link does. Reloading the console costs ten times as much. */
  readonly go: (path: string) => Promise<void>
}

export async function startBrowser(t: TestScope): Promise<Browser> {
  const browser = await launcher.launch({ executablePath: await chromiumPath(), args: ARGUMENTS, headless: true })
  t.after(() => browser.close())
  return browser
}

export async function openPage(browser: Browser, options: { width?: number } = {}): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? WIDTHS[0], height: HEIGHT },
    reducedMotion: 'reduce', // every step would wait until a transition ends
    timezoneId: 'Europe/Prague',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(STEP_MS)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) =>
    message.type() === 'error' ? complaints.push(`${message.text()} ${message.location().url}`) : undefined,
  )
  const expected: RegExp[] = []
  const nothingWrong = () => {
    const unexpected = complaints.splice(0).filter((complaint) => !expected.some((pattern) => pattern.test(complaint)))
    assert.deepEqual(unexpected, [])
  }
  return {
    page,
    mayComplainOf: (pattern) => void expected.push(pattern),
    nothingWrong,
    go: (path) => page.evaluate(moveTo(path)),
  }
}

/** A script of the page: the console's router follows the address, and is waited for. */
const moveTo = (path: string): string => `(async () => {
  const router = self.__TSR_ROUTER__
  history.pushState({}, '', ${JSON.stringify(`/console${path}`)})
  const isThere = () =>
    router.state.status === 'idle' && router.state.resolvedLocation?.pathname === router.latestLocation.pathname
  const end = Date.now() + ${STEP_MS}
  do {
    if (Date.now() > end) throw new Error('The console did not come to ' + location.pathname)
    await new Promise((resolve) => setTimeout(resolve, 5))
  } while (!isThere())
})()`

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

/**
 * Puts a text into a code editor in the place of what it holds, with the keys of a person. `fill` selects and inserts in two steps, and
 * an editor that has just got the focus may set its own selection in between: the text then stood inside the old one.
 */
export async function replaceText(editor: Locator, text: string): Promise<void> {
  await editor.press('Control+a')
  await editor.press('Delete')
  await editor.page().keyboard.insertText(text)
}

/** Moves the focus with Tab alone until it is there, as people without a mouse do. */
export async function tabTo(target: Locator): Promise<void> {
  const page = target.page()
  const focused = target.and(page.locator(':focus'))
  for (let n = 0; n < MAX_TABS; n++) {
    if ((await focused.count()) > 0) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`${MAX_TABS} times Tab do not lead to ${String(target)}`)
}

/** An address; with what has to be opened on it, such as a drawer. */
export type Screen = string | { readonly path: string; readonly open: (page: Page) => Promise<unknown> }

/** `withTargets`: also whether everything that is clicked is 24 px large, or has that much room (WCAG 2.2, 2.5.8). */
export async function checkScreensOn(opened: OpenPage, screens: readonly Screen[], withTargets = false): Promise<void> {
  const { page, go } = opened
  for (const one of screens) {
    const screen = typeof one === 'string' ? one : one.path
    await go(screen)
    if (typeof one === 'string') await checkScreen(opened, screen, withTargets)
    else {
      await settled(page)
      await one.open(page)
      await checkScreen(opened, `open${screen}`, withTargets)
      await page.reload() // what was opened is gone
    }
  }
}

export async function settled(page: Page): Promise<void> {
  await page.locator('h1:not(:has(.skeleton))').waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
}

/** What is shown, in both themes without serious findings of axe, and at three widths and at 200 % without scrolling sideways. */
export async function checkScreen({ page }: OpenPage, screen: string, withTargets = false): Promise<void> {
  await settled(page)
  if (withTargets) assert.deepEqual(await findingsOn(page, "['target-size']"), [], `${screen}: small targets`)
  assert.deepEqual(await findingsOn(page, 'rules'), [], `${screen} light`)
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT })
    if (PICTURES) await takePictures(page, `${screen.replace(/\W+/g, '-')}-${width}`)
    assert.ok(await fitsWidth(page), `${screen} at ${width} px`)
  }
  await page.setViewportSize(ZOOMED)
  assert.ok(await fitsWidth(page), `${screen} at 200 %`)
  await page.setViewportSize({ width: WIDTHS[0], height: HEIGHT })
  await showIn(page, 'dark')
  assert.deepEqual(await findingsOn(page, COLOURS), [], `${screen} dark`) // only they differ between the themes
  await showIn(page, 'light')
}

export async function showIn(page: Page, theme: Theme): Promise<void> {
  await page.emulateMedia({ colorScheme: theme })
  await page.locator(`html[data-theme=${theme}]`).waitFor({ state: 'attached' })
}

async function takePictures(page: Page, name: string): Promise<void> {
  for (const theme of THEMES) {
    await showIn(page, theme)
    await page.screenshot({ path: join(PICTURES!, `${name}-${theme}.png`) })
  }
}

const fitsWidth = (page: Page): Promise<boolean> => page.evaluate('document.documentElement.scrollWidth <= innerWidth')

/** Serious and critical findings of axe, as readable lines. */
async function findingsOn(page: Page, rules: string): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>("'axe' in self"))) await page.evaluate(AXE)
  return page.evaluate<string[]>(findings(rules))
}

/** A script of the page. Rules whose findings would not be serious are not run, but one; passed checks are not described. */
const findings = (rules: string): string => `(async () => {
  const rules = axe._audit.rules.flatMap(({ id, impact, enabled }) =>
    enabled && (impact === 'serious' || impact === 'critical' || id === 'landmark-unique') ? [id] : [])
  const { violations } = await axe.run({ runOnly: ${rules}, resultTypes: ['violations'], preload: false })
  return violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' | '))
})()`
