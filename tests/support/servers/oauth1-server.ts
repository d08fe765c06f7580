// A server of OAuth 1.0a, which checks every signature by itself and agrees to everything.

import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestScope } from '../test-stack.ts'

export const CONSUMER = { key: 'consumer', secret: 'consumer & secret' }

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
  const expected = createHmac('sha1', `${encoded(CONSUMER.secret)}&${encoded(tokenSecret)}`)
    .update(base)
    .digest('base64')
  return parameters.get('oauth_signature') === expected ? parameters : undefined
}

/** Its address. */
export async function startOauth1Server(t: TestScope): Promise<string> {
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
