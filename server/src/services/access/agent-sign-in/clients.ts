// The client of a client id. Either it is the URL of a document that describes the client (client id metadata document), or it was given out
// by the registration endpoint and contains what was registered, sealed with the key of the stack: callers without a token store nothing.

import { PlatformError } from '../../../kit/errors.ts'

export interface Client {
  readonly id: string
  readonly name: string
  readonly redirectUris: readonly string[]
  /** The host that describes the client; undefined: the name is its own claim. */
  readonly host: string | undefined
}

export interface ClientsDeps {
  readonly seal: (text: string, owner: string) => Promise<string>
  readonly open: (cipher: string, owner: string) => Promise<string>
  /** A GET through the egress rules. */
  readonly get: (url: URL) => Promise<{ readonly status: number; readonly text: string }>
}

const OWNER = 'agent-client'
const PREFIX = 'client-'
const MAX_REDIRECTS = 10
const MAX_URI = 2_000
const MAX_NAME = 200

export function createClients({ seal, open, get }: ClientsDeps) {
  /** Throws `agents.clientInvalid` with a reason. */
  async function register(metadata: unknown): Promise<Client> {
    const client = read(metadata)
    const sealed = await seal(JSON.stringify(client), OWNER)
    return { ...client, id: `${PREFIX}${Buffer.from(sealed).toString('base64url')}`, host: undefined }
  }

  async function find(id: string): Promise<Client> {
    if (id.startsWith(PREFIX)) return { ...(await registered(id)), id, host: undefined }
    const url = URL.canParse(id) ? new URL(id) : undefined
    if (url?.protocol !== 'https:' || url.pathname === '/' || url.username !== '' || url.hash !== '')
      throw invalid('it is neither a registered client nor the https address of a client document')
    const { status, text } = await get(url)
    if (status !== 200) throw invalid(`its document was answered with ${status}`)
    const metadata = parsed(text)
    if ((metadata as { client_id?: unknown } | undefined)?.client_id !== id) throw invalid('its document names another client_id')
    return { ...read(metadata), id, host: url.host }
  }

  async function registered(id: string): Promise<Pick<Client, 'name' | 'redirectUris'>> {
    try {
      return JSON.parse(await open(Buffer.from(id.slice(PREFIX.length), 'base64url').toString(), OWNER)) as Client // as register wrote it
    } catch {
      throw invalid('it was not registered here')
    }
  }

  return { register, find }
}

const invalid = (reason: string) => new PlatformError('agents.clientInvalid', { reason })

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('its document is not JSON')
  }
}

function read(metadata: unknown): Pick<Client, 'name' | 'redirectUris'> {
  const { redirect_uris: uris, client_name: name } = (metadata ?? {}) as { redirect_uris?: unknown; client_name?: unknown }
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS)
    throw invalid(`redirect_uris must be a list of 1 to ${MAX_REDIRECTS} addresses`)
  for (const uri of uris) if (!isAllowed(uri)) throw invalid('each redirect URI must be https, or http on a loopback address')
  if (name !== undefined && typeof name !== 'string') throw invalid('client_name must be a text')
  const shown = name?.replace(/\p{C}/gu, '').trim().slice(0, MAX_NAME)
  return { name: shown || 'Agent', redirectUris: uris as string[] } // compared above
}

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost'])

function isAllowed(uri: unknown): boolean {
  if (typeof uri !== 'string' || uri.length > MAX_URI || !URL.canParse(uri)) return false
  const { protocol, hostname, username, hash } = new URL(uri)
  if (username !== '' || hash !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname))
}

/** Word by word, but for the port of a loopback address, which a program takes as it finds it (RFC 8252, 7.3). */
export function isRedirectOf({ redirectUris }: Pick<Client, 'redirectUris'>, given: string): boolean {
  if (!isAllowed(given)) return false
  return redirectUris.some((uri) => uri === given || (isLoopback(uri) && withoutPort(uri) === withoutPort(given)))
}

const isLoopback = (uri: string): boolean => new URL(uri).protocol === 'http:'

function withoutPort(uri: string): string {
  const url = new URL(uri)
  url.port = ''
  return url.href
}
