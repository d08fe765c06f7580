// Whose address a request has: that of its connection, or, behind proxies that are trusted, the last one in X-Forwarded-For that is not a
// proxy's. For listeners without Fastify, which does the same.

import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'

export function clientAddresses(trustedProxies: readonly string[]): (message: IncomingMessage) => string {
  const trusted = new BlockList()
  for (const proxy of trustedProxies) {
    const [address = '', bits] = proxy.split('/')
    if (bits === undefined) trusted.addAddress(address, familyOf(address))
    else trusted.addSubnet(address, Number(bits), familyOf(address))
  }
  const isTrusted = (address: string): boolean => trusted.check(address, familyOf(address))
  return ({ socket, headers }) => {
    const said = String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((address) => address.trim())
      .filter(Boolean)
    const path = [...said, plain(socket.remoteAddress ?? '')]
    return path.findLast((address, at) => at === 0 || !isTrusted(address)) ?? ''
  }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** An IPv4 address as a socket for both kinds shows it. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
