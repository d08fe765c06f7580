// The path of a request: host-based service names, the branch prefix and trailing slashes become one plain path.

import type { IncomingMessage } from 'node:http'
import { hostname, networkInterfaces } from 'node:os'
import { withHost } from './tls.ts'

/**
 * The services published in the index (spec storage 2.1), in that order, then newer ones that we have, then those that clients look up
 * and stop without. The path under the stack's address is `/<id>`.
 */
export const SERVICE_IDS = [
  'docker-runner',
  'import',
  'syrup',
  'oauth',
  'queue',
  'billing',
  'encryption',
  'sandboxes',
  'mlflow',
  'spark',
  'scheduler',
  'sync-actions',
  'notification',
  'templates',
  'vault',
  'stream',
  'data-science',
  'editor',
  'query',
  'iceberg',
  'ai',
] as const

export type ServiceId = (typeof SERVICE_IDS)[number]

const SERVICE_PATH = new RegExp(`^/(${SERVICE_IDS.join('|')})(?=[/?]|$)`)

/** Whether an address (after rewriting) belongs to one of the services around storage. */
export const isServicePath = (path: string): boolean => SERVICE_PATH.test(path)

const BRANCH_PREFIX = /^\/v2\/storage\/branch\/([^/?]+)(?=[/?]|$)/
const branchOf = new WeakMap<IncomingMessage, string>()

/** The `{branchId}` the address named: an id or `default`; undefined without the prefix. */
export const namedBranch = (request: IncomingMessage): string | undefined => branchOf.get(request)

export function rewriteUrl(given: IncomingMessage, domain: string | undefined): string {
  const request = withHost(given)
  const url = request.url ?? '/'
  const question = url.indexOf('?')
  let path = question < 0 ? url : url.slice(0, question)
  const query = question < 0 ? '' : url.slice(question)
  if (/^https?:\/\//i.test(path)) path = path.replace(/^https?:\/\/[^/]*/i, '') || '/'
  if (domain !== undefined) path = withService(path, hostOf(request), domain)
  const branch = BRANCH_PREFIX.exec(path)
  if (branch) {
    branchOf.set(request, safeDecode(branch[1]!))
    path = `/v2/storage${path.slice(branch[0].length)}`
  }
  if (!ENDS_WITH_TAG.test(path)) while (path.length > 1 && path.endsWith('/')) path = path.slice(0, -1)
  return path + query
}

/** A tag may contain slashes, and end with one (spec storage 1.1). */
const ENDS_WITH_TAG = /^\/v2\/storage\/files\/\d+\/tags\/[^/]/

const hostOf = (request: IncomingMessage): string => (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase()

/** `queue.example.com/jobs` is `/queue/jobs`; `connection.example.com` and `connection.<customer>.example.com` are the stack itself. */
function withService(path: string, host: string, domain: string): string {
  if (!host.endsWith(`.${domain}`)) return path
  const [label] = host.split('.')
  return SERVICE_IDS.includes(label as ServiceId) ? `/${label}${path === '/' ? '' : path}` : path
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export interface AddressOptions {
  readonly publicUrl: string | undefined
  readonly domain: string | undefined
}

/** The stack's own address as the client sees it, without a trailing slash. */
export function baseUrlOf(request: IncomingMessage, { publicUrl, domain }: AddressOptions): string {
  if (publicUrl !== undefined) return publicUrl.endsWith('/') ? publicUrl.replace(/\/+$/, '') : publicUrl
  const host = request.headers.host
  const valid = host !== undefined && /^[\w.:[\]-]{1,255}$/.test(host) && URL.canParse(`http://${host}`) ? host : 'localhost'
  if (domain !== undefined) {
    const bare = valid.replace(/:\d+$/, '')
    const port = valid.slice(bare.length)
    const rest = bare.endsWith(`.${domain}`) ? bare.slice(bare.indexOf('.') + 1) : domain
    return `${protocolOf(request)}://connection.${rest}${port}`
  }
  return `${protocolOf(request)}://${valid}`
}

/** The stack's own address, as configured. */
export interface OwnAddress extends AddressOptions {
  /** Where it listens, as an origin. */
  readonly listening: string
  /** Names and addresses of this machine. */
  readonly machine: { readonly name: string; readonly addresses: readonly string[] }
}

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]'])
const EVERYWHERE = new Set(['0.0.0.0', '[::]'])

/**
 * The base of links that are passed to others. A client writes any host into its request, and the link would carry a secret there: only what
 * the operator has set, and names of this machine with its port, are taken. Otherwise it is where the stack listens.
 */
export function linkBaseUrl(asked: string, { publicUrl, domain, listening, machine }: OwnAddress): string {
  if (publicUrl !== undefined || domain !== undefined) return asked // made of these
  const own = new URL(listening)
  const { hostname, port } = new URL(asked)
  const isEverywhere = EVERYWHERE.has(own.hostname)
  const names = isEverywhere ? [machine.name, ...machine.addresses.map(inAddress)] : [own.hostname]
  const isOwn =
    port === own.port && (names.includes(hostname) || ((isEverywhere || LOCAL.has(own.hostname)) && LOCAL.has(hostname)))
  const host = isOwn ? hostname : isEverywhere ? machine.name : own.hostname
  return `${own.protocol}//${host}${own.port === '' ? '' : `:${own.port}`}`
}

export const thisMachine = (): OwnAddress['machine'] => ({
  name: hostname(),
  addresses: Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)),
})

/** As a part of a URL. */
const inAddress = (address: string): string => (address.includes(':') ? `[${address}]` : address)

/** The address of one service: by host when a domain is set, else a path of the stack. */
export function serviceUrl(id: ServiceId, baseUrl: string, domain: string | undefined): string {
  const url = new URL(baseUrl)
  if (domain !== undefined && url.hostname.startsWith('connection.')) {
    url.hostname = `${id}.${url.hostname.slice('connection.'.length)}`
    return url.toString().replace(/\/$/, '')
  }
  return `${baseUrl}/${id}`
}

const protocolOf = (request: IncomingMessage): string =>
  request.headers['x-forwarded-proto'] === 'https' || 'encrypted' in request.socket ? 'https' : 'http'
