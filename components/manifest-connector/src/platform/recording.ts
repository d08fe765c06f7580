// Requests with their answers as a file of the project, without secrets, and a run that is answered from such a file. One JSON line per
// exchange, as the HTTP extractor writes them; only the names of headers keep the case that the server sent, because expressions see it.

import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Redactor } from '../../../http-extractor/src/redaction.ts'
import { ConnectorError } from '../errors.ts'
import { HttpResponse } from '../http/response.ts'
import type { HttpRequest, Send } from '../http/transport.ts'
import { isDict } from '../python/values.ts'

const FILE = 'http-exchanges.jsonl'
/** Secrets of an answer are known only after it has been read: an exchange is written when so many have followed, or so much text. */
const HELD = 8
const HELD_CHARACTERS = 8 << 20
/** Members of the answer to a login that are credentials. */
const CREDENTIAL = /token|secret|password|session|cookie|jwt|key|code|assertion/i
/** Signed with the time or a random number: never the same twice. */
const VOLATILE = /^(?:AWS4-HMAC-SHA256|OAuth|MAC) /

export interface Recorder {
  readonly tap: (send: Send) => Send
  /** Moves the file to the results of the run. */
  finish(): void
}

interface Exchange {
  readonly request: { readonly method: string; readonly url: string; readonly headers: object; readonly body?: string }
  readonly response: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
    readonly bodyBase64?: string
  }
  readonly began?: number
}

export function createRecorder(dataDir: string, redactor: Redactor, began: number): Recorder {
  const unfinished = join(dataDir, '.connector-record', FILE)
  mkdirSync(dirname(unfinished), { recursive: true })
  const file = openSync(unfinished, 'w', 0o600)
  const held: string[] = []
  let characters = 0
  let isFirst = true

  function writeOldest(): void {
    const line = held.shift()!
    characters -= line.length
    writeSync(file, `${redactor.redact(line)}\n`)
  }

  const tap =
    (send: Send): Send =>
    async (request) => {
      const response = await send(request)
      if (request.isLogin) for (const secret of credentialsIn(response.json())) redactor.addPassing(secret)
      const line = JSON.stringify({ ...exchangeOf(request, response), ...(isFirst && { began }) })
      isFirst = false
      held.push(line)
      characters += line.length
      while (held.length > HELD || (characters > HELD_CHARACTERS && held.length > 1)) writeOldest()
      return response
    }

  function finish(): void {
    while (held.length > 0) writeOldest()
    closeSync(file)
    const target = join(dataDir, 'out', 'files', FILE)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(`${target}.manifest`, JSON.stringify({ is_permanent: false, tags: ['http-exchanges'] }))
    renameSync(unfinished, target)
    rmSync(dirname(unfinished), { recursive: true, force: true })
  }

  return { tap, finish }
}

function* credentialsIn(answer: unknown, isCredential = false): Iterable<string> {
  if (typeof answer === 'string' && isCredential) yield answer
  if (Array.isArray(answer)) for (const each of answer) yield* credentialsIn(each, isCredential)
  if (isDict(answer))
    for (const [name, member] of Object.entries(answer)) yield* credentialsIn(member, isCredential || CREDENTIAL.test(name))
}

const comparedHeaders = (request: HttpRequest): [string, string][] =>
  Object.entries(request.headers).filter(([, value]) => !VOLATILE.test(value))

function exchangeOf(request: HttpRequest, response: HttpResponse): Exchange {
  const headers: Record<string, string> = {}
  for (const [name, value] of response.rawHeaders) headers[name] = name in headers ? `${headers[name]}, ${value}` : value
  const text = response.body.toString('utf8')
  const isText = Buffer.from(text, 'utf8').equals(response.body)
  return {
    request: {
      method: request.method,
      url: request.url,
      headers: Object.fromEntries(comparedHeaders(request)),
      ...(request.body !== undefined && { body: request.body }),
    },
    response: {
      status: response.status,
      headers,
      ...(isText ? { body: text } : { bodyBase64: response.body.toString('base64') }),
    },
  }
}

export interface Replay {
  readonly send: Send
  /** When the recorded run began, in milliseconds. */
  readonly began: number | undefined
}

/** Equal requests get the recorded answers one after the other; a login gets its last one again. Secrets are hidden on both sides. */
export function createReplay(text: string, redactor: Redactor): Replay {
  const answers = new Map<string, Exchange['response'][]>()
  let began: number | undefined
  let number = 0
  for (const line of text.split('\n')) {
    number++
    if (line.trim() === '') continue
    const exchange = exchangeIn(line, number)
    began ??= exchange.began
    const key = keyOf(exchange.request.method, exchange.request.url, exchange.request.headers, exchange.request.body)
    const others = answers.get(key)
    if (others) others.push(exchange.response)
    else answers.set(key, [exchange.response])
  }

  const send: Send = async (request) => {
    const headers = Object.fromEntries(comparedHeaders(request).map(([name, value]) => [name, redactor.redact(value)]))
    const shown = { url: redactor.redact(request.url), body: request.body && redactor.redact(request.body) }
    const left = answers.get(keyOf(request.method, shown.url, headers, shown.body))
    const answer = request.isLogin && left?.length === 1 ? left[0] : left?.shift()
    if (!answer)
      throw new ConnectorError(
        `The recording holds no (further) answer for ${request.method} ${shown.url}${shown.body ? ` with the body ${shown.body}` : ''}.`,
      )
    const body = Buffer.from(answer.bodyBase64 ?? answer.body ?? '', answer.bodyBase64 === undefined ? 'utf8' : 'base64')
    return new HttpResponse(answer.status, Object.entries(answer.headers), body, request.url)
  }
  return { send, began }
}

function keyOf(method: string, url: string, headers: object, body: string | undefined): string {
  const sorted = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value])
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([method, url, sorted, body ?? ''])
}

function exchangeIn(line: string, number: number): Exchange {
  try {
    const exchange = JSON.parse(line) as Exchange // written by createRecorder; a file of another kind is found below
    const { request, response } = exchange
    const isComplete = typeof request.url === 'string' && typeof response.status === 'number'
    if (isComplete && isDict(request.headers) && isDict(response.headers)) return exchange
  } catch {
    // reported below
  }
  throw new ConnectorError(`The recording is not readable: line ${number} is no request with its answer.`)
}
