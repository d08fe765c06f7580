// A guarded request. Redirects are followed; what is sent to one host only (Authorization) does not follow to another.

import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'

const MAX_REDIRECTS = 5
const QUIET_MS = 60_000

export type Headers = Readonly<Record<string, string>>

interface Options {
  readonly method?: 'GET' | 'HEAD'
  readonly redirects?: number
}

export async function httpGet(
  url: URL,
  headers: Headers,
  guard: EgressGuard,
  { method = 'GET', redirects = 0 }: Options = {},
): Promise<IncomingMessage> {
  const response = await send(url, headers, guard, method)
  const { statusCode = 0, headers: got } = response
  if ([301, 302, 303, 307, 308].includes(statusCode) && got.location) {
    response.resume()
    if (redirects === MAX_REDIRECTS) throw new UserError(`${nameOf(url)} redirects more than ${MAX_REDIRECTS} times.`)
    const next = new URL(got.location, url)
    const kept = next.origin === url.origin ? headers : {}
    return httpGet(next, kept, guard, { method, redirects: redirects + 1 })
  }
  if (statusCode === 200) return response
  const text = await firstText(response)
  throw new UserError(
    `${nameOf(url)} answered ${statusCode}${text === '' ? '' : `: ${text}`}. Check the address and the credentials.`,
  )
}

/** Without the query, which may have secrets. */
export const nameOf = (url: URL): string => `${url.origin}${url.pathname}`

function send(url: URL, headers: Headers, guard: EgressGuard, method: string): Promise<IncomingMessage> {
  const isTls = url.protocol === 'https:'
  if (!isTls && url.protocol !== 'http:') throw new UserError(`${nameOf(url)} is not an address of http or https.`)
  const port = Number(url.port || (isTls ? 443 : 80))
  guard.check(url.hostname, port)
  return new Promise((done, fail) => {
    const request = (isTls ? requestHttps : requestHttp)(url, {
      method,
      headers,
      lookup: guard.lookupFor(port),
      timeout: QUIET_MS,
    })
    request.once('response', done)
    request.once('timeout', () => request.destroy(new Error(`no answer for ${QUIET_MS / 1000} s`)))
    request.once('error', (error) => {
      if (error instanceof UserError) return fail(error)
      const problem = new UserError(`${url.host} cannot be reached: ${error.message}`, {}, error)
      fail(problem.withFacts({ kind: 'network.unreachable' }))
    })
    request.end()
  })
}

async function firstText(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk
    if (text.length > 500) break
  }
  return text
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 300)
}
