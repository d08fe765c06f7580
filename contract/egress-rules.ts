// Which addresses a component or the server itself may connect to. Pure rules; egress-guard.ts enforces them.

import { BlockList, isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

export interface EgressPolicy {
  readonly mode: 'guarded' | 'open'
  /** `host`, `*.host`, `address`, `network/bits`, each also with `:port`. Without a port every port is meant. */
  readonly allow: readonly string[]
  /** Addresses that may be requested, with everything below their path, wherever they are: `http://127.0.0.1:8000/sample/`. For programs that check each request. */
  readonly places?: readonly string[]
}

/** As an administrator lists what is allowed besides public addresses; `*` allows everything. */
export const egressPolicyFrom = (allow: readonly string[]): EgressPolicy =>
  allow.includes('*') ? { mode: 'open', allow: [] } : { mode: 'guarded', allow }

const DENIED_V4: readonly (readonly [string, number, string])[] = [
  ['0.0.0.0', 8, 'the local machine (0.0.0.0/8)'],
  ['10.0.0.0', 8, 'a private network'],
  ['100.64.0.0', 10, 'carrier-grade NAT'],
  ['127.0.0.0', 8, 'the loopback interface'],
  ['168.63.129.16', 32, 'a cloud metadata service'],
  ['169.254.0.0', 16, 'the link-local network'],
  ['172.16.0.0', 12, 'a private network'],
  ['192.0.0.0', 24, 'a reserved network'],
  ['192.0.2.0', 24, 'a network for documentation'],
  ['192.31.196.0', 24, 'a reserved network'],
  ['192.52.193.0', 24, 'a reserved network'],
  ['192.88.99.0', 24, 'a 6to4 relay'],
  ['192.168.0.0', 16, 'a private network'],
  ['192.175.48.0', 24, 'a reserved network'],
  ['198.18.0.0', 15, 'a network for benchmarks'],
  ['198.51.100.0', 24, 'a network for documentation'],
  ['203.0.113.0', 24, 'a network for documentation'],
  ['224.0.0.0', 4, 'a multicast group'],
  ['240.0.0.0', 4, 'a reserved network'],
]

/** Only 2000::/3 is handed out to the public Internet; inside it these are not. Mapped, NAT64, ULA and link-local lie outside. */
const PUBLIC_V6: readonly [string, number] = ['2000::', 3]
const DENIED_V6: readonly (readonly [string, number, string])[] = [
  ['2001::', 23, 'a protocol assignment (Teredo and others)'],
  ['2001:db8::', 32, 'a network for documentation'],
  ['2002::', 16, 'a 6to4 network, which embeds IPv4 addresses'],
  ['2620:4f:8000::', 48, 'a reserved network'],
  ['3fff::', 20, 'a network for documentation'],
]

const METADATA_NAMES = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
])
const LOCAL_SUFFIXES = ['localhost', 'localdomain', 'local', 'internal', 'intranet', 'home.arpa', 'lan']

const STANDARD_PORTS = new Set([80, 443])

const family = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

function listOf(networks: readonly (readonly [string, number, ...unknown[]])[]): BlockList {
  const list = new BlockList()
  for (const [network, bits] of networks) list.addSubnet(network, bits, family(network))
  return list
}

const denials = [...DENIED_V4, ...DENIED_V6].map(([network, bits, why]) => ({
  list: listOf([[network, bits]]),
  family: family(network),
  why,
}))
const publicV6 = listOf([PUBLIC_V6])

interface Allowance {
  readonly port: number | undefined
  readonly name?: string
  readonly suffix?: string
  readonly list?: BlockList
}

export interface EgressRules {
  /** Why a name and port are not permitted at all, before it is resolved; undefined when they may. */
  refuseName(hostname: string, port: number, extraPorts?: readonly number[]): string | undefined
  /** Why one resolved address may not be connected to; undefined when it may. */
  refuseAddress(address: string, hostname: string, port: number, extraPorts?: readonly number[]): string | undefined
  /** True when only an entry of the administrator permits this address or port. */
  isExempted(address: string, hostname: string, port: number): boolean
}

export function egressRules(policy: EgressPolicy): EgressRules {
  if (policy.mode === 'open') return { refuseName: () => undefined, refuseAddress: () => undefined, isExempted: () => false }
  const allowances = policy.allow.map(parseAllowance)
  const own = ownAddresses()

  const allowsName = (hostname: string, port: number) =>
    allowances.some(
      (a) => (a.port ?? port) === port && (a.name === hostname || (a.suffix !== undefined && hostname.endsWith(a.suffix))),
    )
  const allowsAddress = (address: string, port: number) =>
    allowances.some((a) => (a.port ?? port) === port && a.list?.check(address, family(address)))

  function refuseName(hostname: string, port: number, extraPorts: readonly number[] = []): string | undefined {
    const name = hostname.toLowerCase()
    if (name === '' || name.endsWith('.')) return 'a host name must not be empty or end with a dot'
    if (name.includes('%')) return 'zone identifiers are not allowed in addresses'
    if (allowsName(name, port)) return undefined
    if (METADATA_NAMES.has(name)) return 'it is the name of a cloud metadata service'
    if (LOCAL_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`)))
      return 'it is a name of the local network'
    // A port may be open for a network only; then the address decides, once it is known.
    const isOpen = isStandard(port, extraPorts) || allowances.some((a) => a.list && (a.port ?? port) === port)
    return isOpen ? undefined : portText(port)
  }

  function refuseAddress(
    address: string,
    hostname: string,
    port: number,
    extraPorts: readonly number[] = [],
  ): string | undefined {
    if (isAllowed(address, hostname, port)) return undefined
    return refuseByNature(address, port, extraPorts)
  }

  const isAllowed = (address: string, hostname: string, port: number) =>
    allowsName(hostname.toLowerCase(), port) || allowsAddress(address, port)

  function refuseByNature(address: string, port: number, extraPorts: readonly number[] = []): string | undefined {
    if (isIP(address) === 0) return 'it is not an IP address'
    if (own.has(address)) return 'it is an address of this machine'
    const kind = family(address)
    if (kind === 'ipv6' && !publicV6.check(address, 'ipv6')) return 'it is not a public IPv6 address'
    const denied = denials.find((d) => d.family === kind && d.list.check(address, kind))
    if (denied) return `it is an address of ${denied.why}`
    return isStandard(port, extraPorts) ? undefined : portText(port)
  }

  const isExempted = (address: string, hostname: string, port: number) =>
    isAllowed(address, hostname, port) && refuseByNature(address, port) !== undefined

  return { refuseName, refuseAddress, isExempted }
}

export const unbracketed = (host: string) => host.replace(/^\[|\]$/g, '')

const isStandard = (port: number, extraPorts: readonly number[]) => STANDARD_PORTS.has(port) || extraPorts.includes(port)
const portText = (port: number) => `port ${port} is not open (80 and 443 are)`

function parseAllowance(entry: string): Allowance {
  const text = entry.trim().toLowerCase()
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text)
  const split = bracketed ?? (isIPv6(text.split('/')[0]!) ? null : /^([^:]+):(\d+)$/.exec(text))
  const host = split ? split[1]! : text
  const port = split?.[2] === undefined ? undefined : Number(split[2])
  const [network, bits] = host.split('/') as [string, string | undefined]
  if (isIP(network)) {
    const list = new BlockList()
    if (bits === undefined) list.addAddress(network, family(network))
    else list.addSubnet(network, Number(bits), family(network))
    return { port, list, name: host }
  }
  return host.startsWith('*.') ? { port, suffix: host.slice(1) } : { port, name: host }
}

function ownAddresses(): ReadonlySet<string> {
  try {
    return new Set(Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((entry) => entry.address)))
  } catch {
    return new Set() // not every sandbox permits this call
  }
}
