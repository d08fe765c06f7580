// What of a text leads out of the project: hosts of addresses and servers, and mail addresses.

import { inTurns } from '../../../kit/in-turns.ts'
import { type JsonPath, readJson, visitScalars } from '../../../kit/text/json-text.ts'

// Each pattern begins with a fixed text, so that a long text is read once: bodies have megabytes.
const AUTHORITY = /:\/\/([^\s"'\\/?#<>)\]]{1,255})/g
const SERVER = /"(?:host|hostname|server|domain)"\s*:\s*"([^"\\]{1,255})"/gi
/** Of an API it is a path, of a store a host: then it has a dot or a port. */
const ENDPOINT = /"endpoint"\s*:\s*"([^"\\/]{1,255})/gi
const IS_HOST = /\.|:\d/
const MAIL_DOMAIN = /@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/gi
const MAIL_NAME = /[a-z0-9._%+-]{1,64}$/i
const MAX_MAIL_NAME = 64
/** Of texts that could be orders or names: short ones occur by chance. */
const MIN_LENGTH = 8
const MAX_LENGTH = 2_000
const SERVER_NAMES: ReadonlySet<string> = new Set(['host', 'hostname', 'server', 'domain'])
/** JSON in a text of JSON, as configurations are sent in forms, and so on. */
const MAX_NESTED = 4
const MAX_HOST = 255

interface Leads {
  /** Of addresses, of servers and of endpoints, each with its port. */
  readonly authorities: string[]
  readonly servers: string[]
  readonly endpoints: string[]
  readonly mails: string[]
}

/** Hosts without user and port, and mail addresses, in small letters. JSON is decoded, as its readers do. */
export function outgoingIn(text: string): string[] {
  const { authorities, servers, endpoints, mails } = leadsOf(text)
  const hosts = new Set([...authorities, ...servers, ...endpoints].map((authority) => hostOf(authority).replace(/:\d+$/, '')))
  hosts.delete('')
  return [...new Set([...hosts, ...mails.filter((mail) => !hosts.has(mail.split('@')[1] ?? ''))])]
}

/** Hosts with their ports. */
export function hostsIn(text: string): string[] {
  const { authorities, servers, endpoints } = leadsOf(text)
  return [...authorities, ...servers, ...endpoints].map(hostOf).filter((host) => host !== '')
}

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
  const leads: Leads = { authorities: [], servers: [], endpoints: [], mails: [] }
  const open = [{ text: whole, depth: 0 }]
  for (const { text, depth } of open) {
    const json = depth <= MAX_NESTED ? jsonIn(text) : undefined
    if (json === undefined) {
      readPlain(text, leads)
      continue
    }
    const names = new Set<string>()
    visitScalars(
      json,
      ({ start, end, name }) => {
        if (name !== undefined) names.add(name)
        if (json[start] !== '"') return
        const value = JSON.parse(json.slice(start, end)) as string // a string by the grammar
        readNamed(name?.toLowerCase() ?? '', value, leads)
        open.push({ text: value, depth: depth + 1 })
      },
      ({ name }) => {
        if (name !== undefined) names.add(name)
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
  if (SERVER_NAMES.has(name)) servers.push(value)
  const [host = ''] = value.split('/', 1)
  if (name === 'endpoint' && IS_HOST.test(host) && !value.includes('://')) endpoints.push(host)
}

/** Prose, programs and what is no JSON. */
function readPlain(text: string, { authorities, servers, endpoints, mails }: Leads): void {
  const plain = text.replaceAll('\\/', '/')
  for (const [, authority = ''] of plain.matchAll(AUTHORITY)) authorities.push(authority)
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
