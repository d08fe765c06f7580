// A guarded request with a file as its body. Redirects are not followed; what may pass is tried again.

import { createReadStream } from 'node:fs'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setTimeout as wait } from 'node:timers/promises'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { nameOf } from '../../../files-extractor/src/stores/http-get.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'

export interface HttpSend {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST'
  /** For each attempt: signatures have a time. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly file?: { readonly local: string; readonly bytes: number } | undefined
}

const ATTEMPTS = 4
const QUIET_MS = 60_000
const MAX_BODY = 65_536
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504])

export interface HttpAnswer {
  readonly status: number
  /** The beginning, readable in a sentence. */
  readonly text: string
  /** As it came, up to a limit. */
  readonly body: string
}

export async function httpSend(url: URL, send: HttpSend, guard: EgressGuard): Promise<HttpAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await once(url, send, guard).catch((error: unknown) => {
      if (error instanceof UserError || attempt === ATTEMPTS) throw asProblem(url, error)
      return undefined
    })
    if (answer && (!PASSING.has(answer.status) || attempt === ATTEMPTS)) return answer
    const asked = Number(answer?.after ?? Number.NaN)
    await wait(Number.isFinite(asked) && asked >= 0 ? Math.min(asked, 60) * 1000 : 500 * 2 ** attempt)
  }
}

/** The server's answer, for an error. */
export const refusalOf = (url: URL, { status, text }: HttpAnswer): UserError =>
  new UserError(`${nameOf(url)} answered ${status}${text === '' ? '' : `: ${text}`}. Check the address and the credentials.`)

async function once(url: URL, { method, headers, file, body }: HttpSend, guard: EgressGuard) {
  const isTls = url.protocol === 'https:'
  const port = Number(url.port || (isTls ? 443 : 80))
  guard.check(url.hostname, port)
  const response = await new Promise<IncomingMessage>((done, fail) => {
    const request = (isTls ? requestHttps : requestHttp)(url, {
      method,
      headers: { ...headers(), ...((file ?? body) && { 'content-length': String(file?.bytes ?? body?.length) }) },
      lookup: guard.lookupFor(port),
      timeout: QUIET_MS,
    })
    request.once('response', done)
    request.once('timeout', () => request.destroy(new Error(`no answer for ${QUIET_MS / 1000} s`)))
    request.once('error', fail)
    if (file) createReadStream(file.local).on('error', fail).pipe(request)
    else request.end(body)
  })
  let answered = ''
  for await (const chunk of response.setEncoding('utf8')) if (answered.length < MAX_BODY) answered += chunk
  return {
    status: response.statusCode ?? 0,
    after: response.headers['retry-after'],
    body: answered.slice(0, MAX_BODY),
    text: answered
      .slice(0, 2000)
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, 300),
  }
}

const asProblem = (url: URL, error: unknown): UserError =>
  error instanceof UserError
    ? error
    : new UserError(`${url.host} cannot be reached: ${(error as Error).message}`, {}, error).withFacts({
        kind: 'network.unreachable',
      })
