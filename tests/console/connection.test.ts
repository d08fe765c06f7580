// Journeys without a connection: what a person does offline fails at once, and nothing is sent later.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openPage, signedIn, startBrowser } from '../support/browser.ts'
import { newMember, newStackAdmin, PASSWORD } from '../support/clients/person-client.ts'
import { startTestStack } from '../support/test-stack.ts'

const COMPONENT = 'keboola.ex-generic-v2'
const OFFLINE = 'This browser is offline. Nothing was sent: try again when the connection is back.'

test('the console without a connection', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const json = { configurationId: 'shop', name: 'Shop', configuration: { parameters: { api: { baseUrl: `${stack.url}/` } } } }
  assert.equal((await stack.request('POST', `/v2/storage/components/${COMPONENT}/configs`, { json })).status, 201)

  await t.test('offline, a run and another screen fail at once, and being online again sends nothing', async () => {
    const { page, go } = await signedIn(browser, stack, `/components/${COMPONENT}/shop`)
    await page.getByText('Live', { exact: true }).waitFor()
    const run = page.getByRole('button', { name: /^Run\b/ }).first()
    await run.waitFor()
    const sent: string[] = []
    page.on('request', (request) => (request.method() === 'POST' ? sent.push(new URL(request.url()).pathname) : undefined))
    await page.context().setOffline(true)
    await page.getByText('Connecting again').waitFor()
    await run.click()
    await page.getByRole('alert').getByText(OFFLINE).first().waitFor()
    const title = await page.locator('.head > .grow').boundingBox()
    assert.ok(title!.width > 300, `the error leaves room for the title: ${title!.width} px`)
    await go('/storage')
    await page.getByRole('alert').getByText(OFFLINE).first().waitFor()
    const before = sent.length
    await page.context().setOffline(false)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByText('Tables hold what components extract').waitFor() // loaded by itself
    assert.equal(new URL(page.url()).pathname, '/console/storage', 'the page stays where the person went')
    assert.deepEqual(sent.slice(before), [], 'nothing is sent late')
    assert.deepEqual((await stack.request('GET', '/queue/search/jobs')).json(), [], 'and nothing runs')
    await page.context().close()
  })

  await t.test('a stream that the stack ends is not shown as live', async () => {
    const { page } = await signedIn(browser, { ...stack, url: stack.url }, '/storage')
    await page.getByText('Live', { exact: true }).waitFor()
    let asked = 0
    await page.route(/\/v2\/storage\/changes/, (route) => {
      // Answered once with a stream that ends, then not at all: as a stack that stops.
      if (++asked === 1) void route.fulfill({ contentType: 'text/event-stream', body: 'event: open\ndata: {}\n\n' })
    })
    await page.reload()
    await page.getByText('Connecting again').waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.context().close()
  })

  await t.test('two tabs: what one saves appears in the other, and a save over it is a decision', async () => {
    const [one, other] = [
      await signedIn(browser, stack, `/components/${COMPONENT}/shop`),
      await signedIn(browser, stack, `/components/${COMPONENT}/shop`),
    ]
    for (const { page } of [one, other]) await page.getByText('Live', { exact: true }).waitFor()
    await other.page.getByLabel('Base address').fill('https://other.example/')
    await one.page.getByLabel('Base address').fill('https://one.example/')
    await one.page.getByRole('button', { name: /^Save Ctrl/ }).click()
    await one.page.getByText(/^Version 2, changed/).waitFor()
    await other.page.getByRole('button', { name: /^Save Ctrl/ }).click()
    await other.page.getByRole('heading', { name: /while you were editing\. 1 value needs your decision/ }).waitFor()
    await other.page.getByRole('button', { name: 'Use mine' }).click()
    await other.page.getByRole('button', { name: /^Save as version/ }).click()
    await one.page.getByText(/^Version 3, changed/).waitFor() // by itself
    assert.equal(await one.page.getByLabel('Base address').inputValue(), 'https://other.example/')
    await one.page.context().close()
    await other.page.context().close()
  })

  await t.test('two tabs of a person: signing out in one ends the other, which leads back after signing in', async () => {
    const admin = await newStackAdmin(stack)
    const member = await newMember(stack, admin, { projectId: stack.projectId, role: 'editor', email: 'ed@example.com' })
    const { page } = await openPage(browser)
    const signIn = async (at: Page) => {
      await at.getByLabel('E-mail').fill(member.email)
      await at.getByLabel('Password').fill(PASSWORD)
      await at.getByRole('button', { name: 'Sign in' }).click()
      await at.getByText('Live', { exact: true }).waitFor()
    }
    await page.goto(`${stack.url}/console/files`)
    await signIn(page)
    const second = await page.context().newPage()
    await second.goto(`${stack.url}/console/storage`)
    await second.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).first().click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await second.getByRole('heading', { name: 'Sign in' }).waitFor() // without a click
    await signIn(second)
    assert.equal(new URL(second.url()).pathname, '/console/storage')
    await page.context().close()
  })
})
