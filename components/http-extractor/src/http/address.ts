// Addresses: an endpoint against the base address, by RFC 3986 reference resolution (spec extractor 10.1).
// The host goes through the WHATWG parser, which turns every way to write an address (0x7f.1, ①.②) into one. Path and query
// are kept as they were written, because APIs and signatures depend on it; only what a URL cannot carry is encoded.

import { UserError } from '../errors.ts'
import { rawEncode } from '../percent.ts'

export interface Address {
  readonly scheme: 'http' | 'https'
  /** Lower case, punycode, brackets around IPv6. */
  readonly hostname: string
  readonly port: number
  /** Starts with a slash. */
  readonly path: string
  /** Without the question mark; undefined when there is none at all. */
  readonly query: string | undefined
}

interface Parts {
  readonly scheme: string | undefined
  readonly authority: string | undefined
  readonly path: string
  readonly query: string | undefined
}

const REFERENCE = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#[\s\S]*)?$/i

function split(text: string): Parts {
  const m = REFERENCE.exec(text)
  if (!m) return { scheme: undefined, authority: undefined, path: text, query: undefined }
  return { scheme: m[1]?.toLowerCase(), authority: m[2], path: m[3] ?? '', query: m[4] }
}

const DEFAULT_PORT = { http: 80, https: 443 } as const

const isWebScheme = (scheme: string | undefined): scheme is 'http' | 'https' => scheme === 'http' || scheme === 'https'

function place(scheme: string, authority: string, whole: string): Pick<Address, 'scheme' | 'hostname' | 'port'> {
  if (!isWebScheme(scheme))
    throw new UserError(`The address '${whole}' uses the scheme '${scheme}'. Only http and https are supported.`)
  if (authority.includes('@')) {
    throw new UserError("Credentials inside an address are not supported. Use the authentication type 'basic' instead.")
  }
  // The WHATWG parser reads a backslash as a slash and drops line breaks: what it would not read as we do is refused.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\\\s\u0000-\u0020\u007f]/.test(authority) || !URL.canParse(`${scheme}://${authority}/`)) {
    throw new UserError(`The address '${whole}' has no valid host.`)
  }
  const url = new URL(`${scheme}://${authority}/`)
  return { scheme, hostname: url.hostname, port: url.port === '' ? DEFAULT_PORT[scheme] : Number(url.port) }
}

/** A full http or https address, or undefined when the text is not one. */
export function parseAddress(text: string): Address | undefined {
  const { scheme, authority, path, query } = split(text)
  if (!isWebScheme(scheme) || authority === undefined || authority === '' || !URL.canParse(`${scheme}://${authority}/`))
    return undefined
  return { ...place(scheme, authority, text), path: encodePath(removeDotSegments(path) || '/'), query: encodeQuery(query) }
}

export function resolveAddress(base: Address, reference: string): Address {
  const ref = split(reference)
  if (ref.scheme !== undefined && (ref.authority !== undefined || !/^\d/.test(ref.path))) {
    if (!ref.authority) throw new UserError(`The address '${reference}' has no host.`)
    return finish(place(ref.scheme, ref.authority, reference), ref.path, ref.query)
  }
  if (ref.authority !== undefined) return finish(place(base.scheme, ref.authority, reference), ref.path, ref.query)
  // `items:1` looks like a scheme and a path; it is a path when no address can be meant.
  const path = ref.scheme === undefined ? ref.path : `${ref.scheme}:${ref.path}`
  if (path === '') return { ...base, query: encodeQuery(ref.query) ?? base.query }
  return finish(base, path.startsWith('/') ? path : base.path.slice(0, base.path.lastIndexOf('/') + 1) + path, ref.query)
}

function finish(at: Pick<Address, 'scheme' | 'hostname' | 'port'>, path: string, query: string | undefined): Address {
  const { scheme, hostname, port } = at
  return { scheme, hostname, port, path: encodePath(removeDotSegments(path) || '/'), query: encodeQuery(query) }
}

/** RFC 3986 section 5.2.4, for absolute paths. Empty segments (double slashes) stay. */
function removeDotSegments(path: string): string {
  if (!/(?:^|\/)\.\.?(?:\/|$)/.test(path)) return path
  const out: string[] = []
  const segments = path.split('/')
  for (const [i, segment] of segments.entries()) {
    const isLast = i === segments.length - 1
    if (segment === '..') {
      if (out.length > 1) out.pop()
      if (isLast) out.push('')
    } else if (segment === '.') {
      if (isLast) out.push('')
    } else out.push(segment)
  }
  return out.join('/') || '/'
}

const ILLEGAL_IN_PATH = /[^a-zA-Z0-9_\-.~!$&'()*+,;=%:@/]+|%(?![A-Fa-f0-9]{2})/g
const ILLEGAL_IN_QUERY = /[^a-zA-Z0-9_\-.~!$&'()*+,;=%:@/?]+|%(?![A-Fa-f0-9]{2})/g

const encodePath = (path: string) => path.replace(ILLEGAL_IN_PATH, rawEncode)
const encodeQuery = (query: string | undefined) => query?.replace(ILLEGAL_IN_QUERY, rawEncode)

export const withQuery = (address: Address, query: string): Address => ({ ...address, query: query === '' ? undefined : query })

/** `host` or `host:port` as in the Host header. */
export function hostOf({ scheme, hostname, port }: Address): string {
  return port === DEFAULT_PORT[scheme] ? hostname : `${hostname}:${port}`
}

export const originOf = (address: Address) => `${address.scheme}://${hostOf(address)}`
/** Path and query: what the request line carries. */
export const targetOf = ({ path, query }: Address) => (query === undefined ? path : `${path}?${query}`)
export const addressText = (address: Address) => `${originOf(address)}${targetOf(address)}`
export const sameOrigin = (a: Address, b: Address) => originOf(a) === originOf(b)
