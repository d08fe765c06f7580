// The API reference in a browser: every operation has a form that sends its request to this stack.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSite } from '../../tools/site/site.ts'
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

test('the API reference of the site sends to the stack that is named, and a token never to the site', {
  timeout: 200_000,
}, async (t) => {
  const browser = await startBrowser(t)
  const stack = await shellStack(t, { corsOrigins: ['*'] })
  const folder = await mkdtemp(join(tmpdir(), 'millrace-api-site-'))
  t.after(() => rm(folder, { recursive: true }))
  await makeSite(folder)
  const asked: string[] = []
  const site = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers['x-storageapi-token'] ?? ''}`)
    const isPage = request.url === '/api.html' || request.url?.endsWith('.js')
    response.setHeader('content-type', request.url?.endsWith('.js') ? 'text/javascript' : 'text/html')
    response.end(isPage ? readFileSync(join(folder, request.url!)) : '')
  }).listen(0, '127.0.0.1')
  t.after(() => site.close().closeAllConnections())
  await once(site, 'listening')
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/api.html`)
  assert.match((await page.locator('.bar').textContent()) ?? '', /Millrace \d+\.\d+\.\d+$/)
  await page.getByLabel('Search the documentation').waitFor()

  await page.getByLabel('Filter').fill('tokens.verify')
  const operation = page.locator('details:visible', { has: page.locator('code:text-is("tokens.verify")') }).first()
  await operation.locator('summary').click()
  const output = operation.locator('pre[role=status]')
  const send = async (address: string, answer: RegExp) => {
    await page.getByLabel('Address of the stack').fill(address)
    await operation.getByRole('button', { name: 'Send GET' }).click()
    await output.filter({ hasText: answer }).waitFor()
  }
  assert.equal(await page.getByLabel('Address of the stack').inputValue(), 'http://127.0.0.1:8000')
  await page.getByLabel('Token').fill(stack.masterToken)
  await send('', /^Enter the address of your stack/)
  await send('http://127.0.0.1:9', /^The request failed: .*MILLRACE_CORS_ORIGINS=http:\/\/127\.0\.0\.1/)
  await send(stack.url, /^200 .*"isMasterToken": true/s)
  assert.deepEqual(
    asked.filter((one) => !/^\/(api\.html|search\.js|favicon\.ico) $/.test(one)),
    [],
  )
})
