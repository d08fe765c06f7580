// parameters.cache (spec extractor 19): answers are kept in <data>/cache and reused while they are young enough.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, secondsAt } from '../configuration/read.ts'
import type { JsonObject } from '../json/json.ts'
import { addressText } from './address.ts'
import type { HttpRequest, HttpResponse, Send } from './exchange.ts'

const WEEK_SECONDS = 604_800

export const cacheSchema = {
  type: 'object',
  title: 'Cache',
  description: 'Keeps answers to GET requests in the data folder and reuses them, for trying out a configuration.',
  properties: { ttl: { type: ['integer', 'string'], default: WEEK_SECONDS, description: 'Seconds.' } },
} as const

interface Entry {
  readonly response: Omit<HttpResponse, 'body'>
  readonly body: string
}

/** Only successful GET requests, and only below the authentication: the key covers what was really sent. */
export function withCache(send: Send, settings: JsonObject, dataDir: string, now: () => number): Send {
  const dir = join(dataDir, 'cache')
  const ttlMs = secondsAt(at(settings, 'ttl'), WEEK_SECONDS) * 1000

  return async (request) => {
    if (request.method !== 'GET') return send(request)
    const file = join(dir, `${keyOf(request)}.json`)
    const kept = read(file, now() - ttlMs)
    if (kept) return kept
    const answer = await send(request)
    if (answer.status >= 200 && answer.status < 300) write(dir, file, answer)
    return answer
  }
}

function keyOf({ address, headers }: HttpRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([addressText(address), [...headers.values()]]))
    .digest('hex')
}

function read(file: string, notBefore: number): HttpResponse | undefined {
  try {
    if (statSync(file).mtimeMs < notBefore) return undefined
    const { response, body } = JSON.parse(readFileSync(file, 'utf8')) as Entry // written by us
    return { ...response, body: Buffer.from(body, 'base64') }
  } catch {
    return undefined // missing or incomplete: request it
  }
}

function write(dir: string, file: string, { body, ...response }: HttpResponse): void {
  mkdirSync(dir, { recursive: true })
  const entry: Entry = { response, body: body.toString('base64') }
  writeFileSync(`${file}.tmp`, JSON.stringify(entry))
  renameSync(`${file}.tmp`, file)
}
