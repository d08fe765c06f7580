// A stack that is killed while it exchanges a refresh token: the others continue afterwards, with the token that is valid.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBrowser, startAuthorisationServer } from '../support/servers/authorisation-server.ts'
import { until } from '../support/until.ts'
import { startStack } from './stack.ts'

const MANAGE = 'a-manage-token-for-tests'
const ROUNDS = process.env.MILLRACE_LONG ? 10 : 1
const CREDENTIALS = '/oauth/credentials/keboola.ex-generic-v2/shop'

test('kill -9 during a refresh keeps the credentials usable, and nothing waits for the dead process', async (t) => {
  const stack = await startStack(t, { env: { MILLRACE_MANAGE_TOKEN: MANAGE, MILLRACE_EGRESS_ALLOW: '127.0.0.1' } })
  const server = await startAuthorisationServer(t, {
    redirectUrls: [`${stack.url}/oauth/authorize/keboola.ex-generic-v2/callback`],
  })
  const added = await fetch(`${stack.url}/oauth/manage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-kbc-manageapitoken': MANAGE },
    body: JSON.stringify({ component_id: 'test', ...server.definition }),
  })
  assert.equal(added.status, 201, await added.text())
  const browser = createBrowser()
  const query = new URLSearchParams({ token: stack.masterToken, provider: 'test', id: 'shop', authorizedFor: 'x' })
  const start = await browser.visit(`${stack.url}/oauth/authorize/keboola.ex-generic-v2?${query}`)
  assert.equal((await browser.visit(await browser.agree(start.location!, server.url))).status, 200)

  for (let round = 0; round < ROUNDS; round++) {
    let isHeld = false
    server.intercept((request) => {
      if (request.url !== '/token') return false
      isHeld = true
      return true // and never answered
    })
    const lost = stack.post(`${CREDENTIALS}/refresh`, {}).catch(() => undefined)
    await until('the exchange is under way', () => isHeld)
    await stack.kill()
    await lost
    server.intercept(undefined)
    await stack.start()
    const refreshed = await stack.post(`${CREDENTIALS}/refresh`, {})
    assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body))
    const tested = await stack.post(`${CREDENTIALS}/test`, {})
    assert.equal((tested.body as { status: string }).status, 'ok')
  }
})
