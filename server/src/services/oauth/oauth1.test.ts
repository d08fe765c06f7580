// OAuth 1.0a from end to end, against a server that checks every signature by itself.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { createBrowser } from '../../../../tests/support/authorisation-server.ts'
import { type Job, shellStack } from '../../../../tests/support/shell-stack.ts'
import type { TestScope } from '../../../../tests/support/test-stack.ts'

const MANAGE = 'a-manage-token-for-tests'
const COMPONENT = 'keboola.ex-generic-v2'
const CLIENT = { key: 'consumer', secret: 'consumer & secret' }

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

/** The parameters of a request whose signature is right; undefined when it is not. */
function signed(request: IncomingMessage, origin: string, tokenSecret: string): Map<string, string> | undefined {
  const header = request.headers.authorization ?? ''
  const parameters = new Map(
    Array.from(header.matchAll(/(\w+)="([^"]*)"/g), ([, name, value]) => [name!, decodeURIComponent(value!)]),
  )
  const url = new URL(request.url ?? '', origin)
  const pairs = [...url.searchParams, ...[...parameters].filter(([name]) => name !== 'oauth_signature')]
  const sorted = pairs
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')
  const base = [request.method!, `${url.origin}${url.pathname}`, sorted].map(encoded).join('&')
  const expected = createHmac('sha1', `${encoded(CLIENT.secret)}&${encoded(tokenSecret)}`)
    .update(base)
    .digest('base64')
  return parameters.get('oauth_signature') === expected ? parameters : undefined
}

async function startServer(t: TestScope): Promise<string> {
  let callback = ''
  const server = createServer((request, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const path = request.url?.split('?')[0]
    const refuse = () => void response.writeHead(401).end('signature')
    if (path === '/request') {
      const found = signed(request, origin, '')
      if (!found) return refuse()
      callback = found.get('oauth_callback') ?? ''
      return void response.end('oauth_token=request-token&oauth_token_secret=request-secret&oauth_callback_confirmed=true')
    }
    if (path === '/authorize')
      return void response.writeHead(302, { location: `${callback}?oauth_token=request-token&oauth_verifier=v1` }).end()
    if (path === '/access') {
      const found = signed(request, origin, 'request-secret')
      if (found?.get('oauth_verifier') !== 'v1') return refuse()
      return void response.end('oauth_token=access-token&oauth_token_secret=access-secret&screen_name=ada')
    }
    if (!signed(request, origin, 'access-secret')) return refuse()
    response.setHeader('content-type', 'application/json')
    response.end('[{"id":1,"name":"ada"}]')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a person authorises by OAuth 1.0a, and the extractor signs with what came of it', async (t) => {
  const stack = await shellStack(t, { manageToken: MANAGE, worker: { egressAllow: ['127.0.0.1'] } })
  const server = await startServer(t)
  const added = await stack.request('POST', '/oauth/manage', {
    token: null,
    headers: { 'X-KBC-ManageApiToken': MANAGE },
    json: {
      component_id: COMPONENT,
      friendly_name: 'One',
      oauth_version: '1.0',
      request_token_url: `${server}/request`,
      auth_url: `${server}/authorize`,
      token_url: `${server}/access`,
      test_url: `${server}/list`,
      app_key: CLIENT.key,
      app_secret: CLIENT.secret,
    },
  })
  assert.equal(added.status, 201, added.text)
  const browser = createBrowser()
  const query = new URLSearchParams({ token: stack.masterToken, id: 'one', authorizedFor: 'ada' })
  const start = await browser.visit(`${stack.url}/oauth/authorize/${COMPONENT}?${query}`)
  assert.equal(start.status, 302, start.text)
  const back = await browser.visit(start.location!)
  assert.equal((await browser.visit(back.location!)).status, 200)
  assert.match((await browser.visit(back.location!)).text, /is not under way/)
  assert.equal((await stack.request('POST', `/oauth/credentials/${COMPONENT}/one/test`)).json().status, 'ok')
  const config = await stack.configure(COMPONENT, {
    authorization: { oauth_api: { id: 'one', version: 3 } },
    parameters: {
      api: { baseUrl: `${server}/`, authentication: { type: 'oauth10' } },
      config: { outputBucket: 'one', jobs: [{ endpoint: 'list', dataType: 'list' }] },
    },
  })
  const job = await stack.wait(
    (await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config } })).json<Job>(),
  )
  assert.equal(job.status, 'success', JSON.stringify(job.result))
})
