// How a variable's text becomes a value. Each throws an Error whose message completes the sentence "NAME is ...".

import { isIP, isIPv4 } from 'node:net'
import { resolve } from 'node:path'

type Parse<T> = (text: string) => T

const refuse = (reason: string): never => {
  throw new Error(reason)
}

export const wholeNumber =
  (min: number, max: number): Parse<number> =>
  (text) => {
    const number = Number(text)
    if (!/^\d+$/.test(text) || number < min || number > max) refuse(`not a whole number from ${min} to ${max}.`)
    return number
  }

export const port: Parse<number> = wholeNumber(0, 65_535)

export const word: Parse<string> = (text) => (/\s/.test(text) ? refuse('not one word: it contains a space.') : text)

/** As a component or a configuration requests it. */
export const label: Parse<string> = (text) =>
  /^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$/.test(text)
    ? text
    : refuse('not a label: lower-case letters, digits, dots, dashes, underscores.')

export const oneOf =
  <T extends string>(...allowed: readonly T[]): Parse<T> =>
  (text) =>
    allowed.find((one) => one === text) ?? refuse(`not one of ${allowed.join(', ')}.`)

/** Separated by commas; the same entry twice counts once. */
export const listOf =
  <T>(parse: Parse<T>): Parse<readonly T[]> =>
  (text) => {
    const entries = text.split(',').map((entry) => entry.trim())
    if (entries.includes('')) refuse('a list with an empty entry.')
    return [
      ...new Set(
        entries.map((entry) => {
          try {
            return parse(entry)
          } catch (error) {
            return refuse(`a list in which "${entry}" is ${(error as Error).message}`)
          }
        }),
      ),
    ]
  }

/** Addresses with `#branch`, separated by commas. Not listOf: an entry that is refused may have a password in it, and is not repeated. */
export const gitRepositories: Parse<readonly { readonly url: string; readonly ref: string }[]> = (text) =>
  text.split(',').map((entry) => {
    const [address = '', ref = ''] = entry.trim().split('#')
    const url = httpUrl(address)
    if (new URL(url).pathname.length < 2) refuse('an address of a host without the path of a repository.')
    if (!/^[\w.][\w./-]{0,199}$|^$/.test(ref) || ref.includes('..'))
      refuse('an address with a "#" that no branch, tag or commit follows.')
    return { url, ref }
  })

/** `https://user:password@host`, separated by commas; secrets, and therefore not repeated either. */
export const gitCredentials: Parse<
  readonly { readonly origin: string; readonly username: string; readonly password: string }[]
> = (text) =>
  text.split(',').map((entry) => {
    const url = URL.canParse(entry.trim()) ? new URL(entry.trim()) : undefined
    if (!url || !/^https?:$/.test(url.protocol) || url.password === '' || /%(?![0-9a-f]{2})/i.test(url.password + url.username))
      return refuse('not a list of https://user:password@host.')
    return { origin: url.origin, username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
  })

/** `name=path`, separated by commas: paths by name. */
export const namedFolders: Parse<Readonly<Record<string, string>>> = (text) =>
  Object.fromEntries(
    listOf((entry) => (/^[\w-]{1,64}=./.test(entry) ? entry : refuse('not name=path, such as shared=/srv/shared.')))(text).map(
      (entry) => {
        const at = entry.indexOf('=')
        return [entry.slice(0, at), resolve(entry.slice(at + 1))]
      },
    ),
  )

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i

export const host: Parse<string> = (text) =>
  isIP(text) || HOST_NAME.test(text) ? text : refuse('not an IP address or host name.')

export const domain: Parse<string> = (text) =>
  HOST_NAME.test(text) && !isIP(text)
    ? text.toLowerCase()
    : refuse('not a domain name, such as example.com (without scheme, port or path).')

/** Without the trailing slash, so that a path can be appended. */
export const httpUrl: Parse<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : refuse('not an address, such as https://data.example.com.')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') refuse('not an http or https address.')
  if (url.username || url.password) refuse('an address with credentials in it; leave them out.')
  if (url.search || url.hash) refuse('an address with a query or fragment; leave them out.')
  return url.href.replace(/\/+$/, '')
}

/** A standalone master (several with commas), Spark Connect, or threads of the node itself. */
export const sparkUrl: Parse<string> = (text) =>
  /^(spark:\/\/[\w.-]+:\d+(,[\w.-]+:\d+)*|sc:\/\/[\w.-]+(:\d+)?(\/\S*)?|local(\[(\*|\d+)\])?)$/.test(text)
    ? text
    : refuse('not the address of a Spark cluster, such as spark://host:7077, sc://host:15002 or local[*].')

/** A JSON object whose members are texts. */
export const textsByName: Parse<Readonly<Record<string, string>>> = (text) => {
  const value = parsed(text)
  const isRight =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((one) => typeof one === 'string')
  return isRight
    ? (value as Readonly<Record<string, string>>)
    : refuse('not a JSON object of texts, such as {"spark.executor.memory": "4g"}.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `{project}` is replaced by the id of a project: each has a server, or a part of one, of its own. */
export const urlOfProject: Parse<string> = (text) => {
  httpUrl(text.replaceAll('{project}', '1'))
  return text.replace(/\/+$/, '')
}

export const origin: Parse<string> = (text) => {
  if (text === '*') return text
  const url = httpUrl(text)
  return new URL(url).origin === url ? url : refuse('an address with a path; an origin is scheme, host and port.')
}

export const postgresUrl: Parse<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'postgres:' && url?.protocol !== 'postgresql:')
    refuse('not a PostgreSQL address, such as postgres://user:password@host/database.')
  if (!url || url.pathname.length < 2) refuse('a PostgreSQL address without a database name.')
  return text
}

export const smtpUrl: Parse<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if ((url?.protocol !== 'smtp:' && url?.protocol !== 'smtps:') || url.hostname === '')
    refuse('not the address of a mail server, such as smtp://user:password@host:587?from=millrace@example.com.')
  return text
}

const SHORTEST_TOKEN = 8

export const token: Parse<string> = (text) => {
  if (!/^[\x21-\x7e]+$/.test(text)) refuse('not usable in a header: only visible ASCII characters, no spaces.')
  return text.length >= SHORTEST_TOKEN ? text : refuse(`too short: at least ${SHORTEST_TOKEN} characters.`)
}

/** In the header of the manage tokens of people, which begin with that word. */
export const stackToken: Parse<string> = (text) =>
  text.startsWith('person-') ? refuse('like the manage token of a person: it must not begin with person-.') : token(text)

const key32: Parse<Uint8Array> = (text) => {
  const bytes = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, 'hex')
    : /^[A-Za-z0-9+/_-]+=*$/.test(text)
      ? Buffer.from(text, 'base64')
      : undefined
  return bytes?.length === 32 ? bytes : refuse('not a key of 32 bytes, written as 64 hexadecimal digits or base64.')
}

/** Not listOf: that one repeats the entry it refuses. */
export const keys32: Parse<readonly Uint8Array[]> = (text) => text.split(',').map((entry) => key32(entry.trim()))

export const addressOrNetwork: Parse<string> = (text) => {
  const [address, bits] = text.split('/') as [string, string?]
  const max = isIPv4(address) ? 32 : 128
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= max)
  return isIP(address) && isNetwork ? text : refuse('not a network, such as 10.0.0.0/8.')
}

/** `*`, a host, `*.host`, an IP address, a CIDR, or a host or address with `:port`; IPv6 with a port as `[::1]:8080`. */
export const egressTarget: Parse<string> = (text) => {
  if (text === '*' || isIP(text)) return text
  if (text.includes('/')) return addressOrNetwork(text)
  const [, name, portText] =
    text.match(/^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/) ?? refuse('not a host, address, network or host:port.')
  if (portText !== undefined && (Number(portText) < 1 || Number(portText) > 65_535))
    refuse('an address with a port outside 1 to 65535.')
  const bare = name!.replace(/^\[|\]$/g, '').replace(/^\*\./, '')
  return isIP(bare) || HOST_NAME.test(bare) ? text.toLowerCase() : refuse('not a host, address, network or host:port.')
}
