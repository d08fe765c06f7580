// The API reference in a browser: every operation has a form that sends its request to this stack.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBrowser } from '../support/browser.ts'
import { shellStack } from '../support/shell-stack.ts'

test('requests are sent from the API reference, with the token of the page and nothing else', { timeout: 200_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await shellStack(t)
  const page = await browser.newPage()
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(`${stack.url}/docs`)
  const operation = async (name: string) => {
    const details = page.locator('details', { has: page.locator(`code:text-is("${name}")`) })
    await details.locator('summary').click()
    return details
  }
  const send = async (details: Awaited<ReturnType<typeof operation>>, button: string, status: RegExp) => {
    const output = details.locator('pre[role=status]')
    await details.getByRole('button', { name: button }).click()
    await output.filter({ hasText: status }).waitFor()
    return (await output.textContent()) ?? ''
  }

  const create = await operation('buckets.create')
  await send(create, 'Send POST', /^401 /)
  problems.length = 0 // the browser reports the refused request
  await page.getByLabel('Token').fill(stack.masterToken)
  await create
    .getByLabel('Body (JSON)')
    .fill(JSON.stringify({ stage: 'in', name: 'c-reference', description: '<img src=x onerror=alert(1)>' }))
  const created = await send(create, 'Send POST', /^201 /)
  assert.match(created, /^201 [^\n]* application\/json[^\n]*\n\n\{\n[\s\S]*"id": "in\.c-reference"[\s\S]*<img src=x/)
  assert.equal(await page.locator('img').count(), 0)

  const read = await operation('buckets.get')
  await read.getByLabel(/^bucketId \(path, required\)|^id \(path, required\)/).fill('in.c-reference')
  await send(read, 'Send GET', /^200 .*in\.c-reference/s)
  assert.deepEqual(await page.evaluate(() => [...Object.keys(sessionStorage), ...Object.keys(localStorage)]), [])
  assert.deepEqual(await page.context().cookies(), [])
  assert.deepEqual(problems, [])
})
