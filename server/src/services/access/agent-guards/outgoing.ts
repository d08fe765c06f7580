// What of a text leads out of the project: hosts of addresses and servers, and mail addresses.

import { createHash } from 'node:crypto'
import { inTurns } from '../../../kit/in-turns.ts'
import { type JsonPath, readJson, visitScalars } from '../../../kit/text/json-text.ts'

// Each pattern begins with a fixed text, so that a long text is read once: bodies have megabytes.
const AUTHORITY = /:\/\/((?:\{\{[^{}\n]{0,200}\}\}|[^\s"'\\/?#<>)\]]){1,255})/g
/** Programs read `https:evil.example` and `https:\evil.example` as addresses, too. */
const SCHEME = /\b(?:https?|wss?|ftp):(?!\/\/)[\\/\t\r\n]*([^\s"'\\/?#<>)\]]{1,255})/gi
const SERVER = /"(?:host|hostname|server|domain|sshhost)"\s*:\s*"([^"\\]{1,255})"/gi
/** Of an API it is a path, of a store a host: then it has a dot or a port. */
const ENDPOINT = /"endpoint"\s*:\s*"([^"\\/]{1,255})/gi
/** The base of an address in YAML that an expression computes. */
const COMPUTED = /\b(?:url_base|base_?url|url)["']?[ \t]*:[ \t]*["']?(\{\{[^{}\n]{1,300}\}\}[^\s"'/]{0,200})/gi
const IS_HOST = /\.|:\d/
const MAIL_DOMAIN = /@(?:\[[^\]\s]{1,60}\]|[\p{L}\p{N}-]{1,63}(?:[.。．｡][\p{L}\p{N}-]{1,63}){1,8})/giu
const MAIL_NAME = /(?:[^\s<>(),;:"@\\[\]]{1,64}|"[^"\n]{1,62}")$/
const MAX_MAIL_NAME = 64
/** Of texts that could be orders or names: short ones occur by chance. */
const MIN_LENGTH = 8
const MAX_LENGTH = 2_000
const SERVER_NAMES: ReadonlySet<string> = new Set(['host', 'hostname', 'server', 'domain', 'sshhost'])
/** Recipients on a known host: a bucket of a store, a channel of a chat. */
const RECIPIENT_NAMES: ReadonlySet<string> = new Set(['bucket', 'channelid'])
/** Of these an object computes the address: `{"function": "concat", "args": [...]}`. */
const ADDRESS_NAMES: ReadonlySet<string> = new Set(['url', 'baseurl', 'url_base', 'base_url', 'apiurl'])
/** JSON in a text of JSON, as configurations are sent in forms, and so on. */
const MAX_NESTED = 4
const MAX_HOST = 255
const MAX_ADDRESS = 2_000
const NO_HOST = 'none.invalid'
/** Not a number or a date. */
const BARE_HOST = /^(?!\d+\.\d+(?:\.\d+)?$)[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}(?::\d{1,5})?(?=\/|$)/u
/** Of settings that hold the id of a bucket of the project. */
const OWN_BUCKET = 'outputbucket'
/** Encrypted by Millrace. */
const CIPHER = /KBC::[A-Za-z]{0,40}Secure::[\w+/=.:-]{1,10000}/g

interface Leads {
  /** Of addresses, of servers and of endpoints, each with its port. */
  readonly authorities: string[]
  readonly servers: string[]
  readonly endpoints: string[]
  readonly mails: string[]
  readonly ciphers: string[]
  /** What computes an address. */
  readonly computed: string[]
}

/** Hosts without user and port, and mail addresses, in small letters. JSON is decoded, as its readers do. */
export function outgoingIn(text: string): string[] {
  const { authorities, servers, endpoints, mails, computed } = leadsOf(text)
  const hosts = new Set([...authorities, ...servers, ...endpoints].map((authority) => hostOf(authority).replace(/:\d+$/, '')))
  hosts.delete('')
  return [...new Set([...hosts, ...computed, ...mails.filter((mail) => !hosts.has(mail.split('@')[1] ?? ''))])]
}

/** Hosts with their ports. */
export function hostsIn(text: string): string[] {
  const { authorities, servers, endpoints, computed } = leadsOf(text)
  const hosts = [...authorities, ...servers, ...endpoints].map(hostOf).filter((host) => host !== '')
  return [...new Set([...hosts, ...computed])]
}

/** Encrypted values. */
export const ciphersIn = (text: string): string[] => leadsOf(text).ciphers

/** What `find` returns for each of many texts: other work runs in between. */
export async function foundInAll(texts: readonly string[], find: (text: string) => readonly string[]): Promise<Set<string>> {
  const found = new Set<string>()
  let next = 0
  await inTurns(() => {
    const text = texts[next++]
    for (const one of text === undefined ? [] : find(text)) found.add(one)
    return next >= texts.length
  })
  return found
}

function leadsOf(whole: string): Leads {
  const leads: Leads = { authorities: [], servers: [], endpoints: [], mails: [], ciphers: [], computed: [] }
  const open = [{ text: whole, depth: 0 }]
  for (const { text, depth } of open) {
    const json = depth <= MAX_NESTED ? jsonIn(text) : undefined
    if (json === undefined) {
      readPlain(text, leads)
      continue
    }
    const names = new Set<string>()
    let computedTo = 0
    visitScalars(
      json,
      ({ start, end, name, path }) => {
        if (name !== undefined) names.add(name)
        if (json[start] !== '"') return
        const value = JSON.parse(json.slice(start, end)) as string // a string by the grammar
        const key = name?.toLowerCase() ?? ''
        readNamed(key, value, leads)
        readAddress(value, leads)
        if (key !== OWN_BUCKET && BARE_HOST.test(value) && isReferredBy(path())) leads.servers.push(value.split('/', 1)[0]!)
        open.push({ text: value, depth: depth + 1 })
      },
      ({ start, end, name }) => {
        if (name !== undefined) names.add(name)
        if (start >= computedTo && ADDRESS_NAMES.has(name?.toLowerCase() ?? '')) {
          computedTo = end() // those inside are a part of it: each would be read again
          leads.computed.push(computedBy(json.slice(start, computedTo)))
        }
        return undefined
      },
    )
    for (const name of names) readPlain(name, leads)
  }
  return leads
}

function jsonIn(text: string): string | undefined {
  const json = text.trim()
  return /^[{["]/.test(json) && readJson(json).ok ? json : undefined
}

function readNamed(name: string, value: string, { servers, endpoints }: Leads): void {
  if (value === '' || value.length > MAX_HOST) return
  if (SERVER_NAMES.has(name) || RECIPIENT_NAMES.has(name)) servers.push(value)
  const [host = ''] = value.split('/', 1)
  if (name === 'endpoint' && IS_HOST.test(host) && !value.includes('://')) endpoints.push(host)
}

/**
 * A value that is an address, as programs read it: without tabs and line ends, with `\` as `/`, quotes as a part of the host, and the
 * scheme of what it is resolved against.
 */
function readAddress(value: string, { authorities }: Leads): void {
  if (!value.includes(':') && !/^[\0- ]*[\\/]/.test(value)) return
  const address = value
    .replaceAll(/[\t\r\n]/g, '')
    .replace(/^[\0- ]+/, '')
    .slice(0, MAX_ADDRESS)
  const base = `https://${NO_HOST}/`
  const { host } = URL.canParse(address, base) ? new URL(address, base) : { host: NO_HOST }
  if (host !== '' && host !== NO_HOST) authorities.push(host)
}

/** Long ones are compared by their hash. */
function computedBy(text: string): string {
  const whole = `computed by ${text.replaceAll(/\s+/g, ' ')}`
  if (whole.length <= MAX_ADDRESS) return whole
  return `${whole.slice(0, MAX_ADDRESS)} (SHA-256 ${createHash('sha256').update(whole).digest('hex')})`
}

/** Prose, programs and what is no JSON. */
function readPlain(text: string, { authorities, servers, endpoints, mails, ciphers }: Leads): void {
  const plain = text.replaceAll('\\/', '/')
  for (const [cipher] of plain.matchAll(CIPHER)) ciphers.push(cipher)
  for (const [, authority = ''] of plain.matchAll(AUTHORITY)) authorities.push(authority)
  for (const [, authority = ''] of plain.matchAll(SCHEME)) authorities.push(authority)
  for (const [, host = ''] of plain.matchAll(COMPUTED)) authorities.push(host)
  for (const [, host = ''] of plain.matchAll(SERVER)) servers.push(host)
  for (const [, host = ''] of plain.matchAll(ENDPOINT)) if (IS_HOST.test(host)) endpoints.push(host)
  for (const { 0: domain, index } of plain.matchAll(MAIL_DOMAIN)) {
    const [name] = MAIL_NAME.exec(plain.slice(Math.max(0, index - MAX_MAIL_NAME), index)) ?? []
    if (name !== undefined) mails.push((name + domain).toLowerCase())
  }
}

/** Members of configurations that are sent with requests, with everything below them. */
const SENT_NAMES: ReadonlySet<string> = new Set([
  ...['params', 'headers', 'query', 'queryparams', 'body', 'payload', 'defaultoptions'],
  ...['endpoint', 'path', 'url', 'baseurl', 'title', 'text'],
])
const ADDRESS = /:\/\/[^\s"'<>\\]{1,2000}/g
const SENT_PARTS = /[/?&#=;]/
/** More are not compared one by one. */
export const MAX_SENT = 5_000

/** What such members and requests take their values from by name: variables, and settings of connectors. */
const isReferred = (path: JsonPath, at: number): boolean =>
  (path[at] === 'values' && path.at(-1) === 'value') ||
  (path[at] === 'config' && path[at - 1] === 'parameters' && !['jobs', 'mappings'].includes(String(path[at + 1])))

const isReferredBy = (path: JsonPath): boolean => path.some((_, at) => isReferred(path, at))

const isSent = (path: JsonPath, at: number): boolean => SENT_NAMES.has(String(path[at]).toLowerCase()) || isReferred(path, at)

/**
 * Values that requests of a configuration would carry to their host: parameters with their names, headers, the parts of addresses, and
 * what these may refer to.
 */
export function sentValuesIn(whole: string): string[] {
  const found = new Set<string>()
  const add = (value: string): void => {
    for (const part of [value, ...value.split(SENT_PARTS).map(unescaped)]) {
      const text = part.trim()
      if (text.length >= MIN_LENGTH && text.length <= MAX_LENGTH && found.size <= MAX_SENT) found.add(text)
    }
  }
  const open = [{ text: whole, depth: 0 }]
  for (const { text, depth } of open) {
    const json = depth <= MAX_NESTED ? jsonIn(text) : undefined
    if (json === undefined) {
      for (const [address] of text.matchAll(ADDRESS)) add(address.slice(address.indexOf('/', 3) + 1))
      continue
    }
    visitScalars(json, ({ start, end, path }) => {
      const names = path()
      const literal = json.slice(start, end)
      const isText = literal.startsWith('"')
      const value = isText ? (JSON.parse(literal) as string) : literal // a string by the grammar
      const sentAt = names.findIndex((_, at) => isSent(names, at))
      if (sentAt >= 0) for (const one of [...names.slice(sentAt + 1).map(String), value]) add(one)
      else if (isText) open.push({ text: value, depth: depth + 1 })
    })
  }
  return [...found]
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch {
    return part
  }
}

const hostOf = (authority: string): string => authority.slice(authority.lastIndexOf('@') + 1).toLowerCase()

/** The value itself, if it is long enough to be recognised, and what of it leads out. */
export function partsOf(value: string): string[] {
  const text = value.trim()
  const whole = text.length >= MIN_LENGTH && text.length <= MAX_LENGTH ? [text] : []
  return [...outgoingIn(text), ...whole]
}
