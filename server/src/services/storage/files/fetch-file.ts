// A file from a user-supplied URL, straight into the object store. The egress rules apply to the URL and to every place it
// redirects to. What is named is never stored: a signed link is a secret.

import type { Egress, OpenAnswer } from '../../../engines/egress/egress.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Origin } from '../../../model/event.ts'
import type { FileRecord } from './files.store.ts'
import type { FileBranch, FileRequest, Files } from './files.ts'

export interface FetchRequest extends Omit<FileRequest, 'name'> {
  readonly url: string
  /** The one that the server of the address gives, or the end of its path, by default. */
  readonly name?: string
  readonly branch?: FileBranch
}

export interface FetchLimits {
  readonly maxBytes: number
  /** Without a byte for so long, it has failed. */
  readonly silenceMs: number
}

export interface FetchFileDeps {
  readonly open: Egress['open']
  readonly upload: Files['upload']
  readonly limits?: FetchLimits
}

const LIMITS: FetchLimits = { maxBytes: 10 * 1024 ** 3, silenceMs: 60_000 }
const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const MAX_NAME = 255

export function createFetchFile({ open, upload, limits = LIMITS }: FetchFileDeps) {
  /** `gone` aborts it when the caller has disconnected. */
  return async (actor: Actor, { url: text, name, ...request }: FetchRequest, origin: Origin, gone: AbortSignal) => {
    const url = addressFrom(text)
    const silence = watchSilence(limits.silenceMs)
    try {
      const { answer, from } = await openFollowing(url, AbortSignal.any([gone, silence.signal]))
      const called = name || nameFrom(answer, from)
      return await upload(actor, called, limited(answer.body, silence.heard), async () => ({ ...request, name: called }), origin)
    } catch (error) {
      throw silence.signal.aborted
        ? notFetched(url, `no byte arrived for ${limits.silenceMs / 1000} seconds`)
        : refusalOf(url, error)
    } finally {
      silence.end()
    }
  }

  async function openFollowing(first: URL, signal: AbortSignal): Promise<{ readonly answer: OpenAnswer; readonly from: URL }> {
    let from = first
    for (let count = 0; count <= MAX_REDIRECTS; count++) {
      // Packed on the way or not, what is stored is the file itself.
      const answer = await open(from, { 'accept-encoding': 'identity', 'user-agent': 'Millrace' }, signal)
      if (answer.status === 200) return { answer, from }
      for await (const _ of answer.body) break // lets go of the connection
      const { location } = answer.headers
      if (!REDIRECTS.has(answer.status) || location === undefined) throw notFetched(first, `it answered ${answer.status}`)
      from = addressFrom(location, from)
    }
    throw notFetched(first, `it redirects more than ${MAX_REDIRECTS} times`)
  }

  async function* limited(body: AsyncIterable<Buffer>, heard: () => void): AsyncGenerator<Buffer> {
    let size = 0
    for await (const chunk of body) {
      heard()
      size += chunk.length
      if (size > limits.maxBytes)
        throw new PlatformError('egress.failed', { reason: `it is longer than ${limits.maxBytes} bytes` })
      yield chunk
    }
  }
}

export type FetchFile = (actor: Actor, request: FetchRequest, origin: Origin, gone: AbortSignal) => Promise<FileRecord>

function watchSilence(silenceMs: number) {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), silenceMs)
  return { signal: stop.signal, heard: () => void timer.refresh(), end: () => clearTimeout(timer) }
}

/** Without its query, which may hold a signature. */
const shown = ({ origin, pathname }: URL): string => `${origin}${pathname}`

const notFetched = (url: URL, reason: string): PlatformError =>
  new PlatformError('storage.files.notFetched', { url: shown(url), reason })

/** What the other side did wrong is an answer to the request, not a failure of the stack. */
function refusalOf(url: URL, error: unknown): unknown {
  if (!(error instanceof PlatformError)) return error
  if (error.code === 'egress.failed') return notFetched(url, String(error.details.reason))
  return error
}

function addressFrom(text: string, base?: URL): URL {
  const refused = (reason: string) => new PlatformError('storage.validation', { field: 'url', reason })
  if (!URL.canParse(text, base?.href)) throw refused('This is not an address. Give one such as https://example.com/orders.csv.')
  const url = new URL(text, base?.href)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused('Only http and https addresses can be fetched.')
  if (url.username !== '' || url.password !== '') throw refused('An address with a user name or password in it is not accepted.')
  return url
}

function nameFrom({ headers }: OpenAnswer, url: URL): string {
  const given = /filename="?([^";]+)"?/i.exec(headers['content-disposition'] ?? '')?.[1]
  return (given ?? lastPartOf(url)).replaceAll('/', '_').slice(0, MAX_NAME) || 'download'
}

function lastPartOf({ pathname }: URL): string {
  const part = pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
