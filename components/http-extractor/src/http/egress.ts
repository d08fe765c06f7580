// The one way out to the network. Every socket of the extractor (login, jobs, next links, redirects, OAuth, SSH) is opened
// through the connector or the lookup of this file, so nothing can go round the policy.
//
// Invariants, each with a test in egress.test.ts:
//  (1) a name is resolved once; every answer is checked; one forbidden answer refuses the name;
//  (2) the socket goes to a checked address: the lookup hands the checked answers to the connection itself;
//  (3) an address written as a number is checked the same way (Node asks no lookup for those).

import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import { UserError } from '../errors.ts'
import { type EgressPolicy, egressRules, unbracketed } from './egress-policy.ts'

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

/** A refused connection. Never retried: the answer would be the same. */
export class EgressError extends UserError {
  constructor(hostname: string, port: number, why: string) {
    super(
      `The connection to ${hostname}:${port} is not allowed: ${why}. ` +
        'An administrator can permit it in MILLRACE_EGRESS_ALLOW (host, network or host:port).',
    )
    this.name = 'EgressError'
  }
}

export interface Egress {
  /** Throws unless the host and port may be asked for. `extraPorts` are standard for the caller's protocol (SSH: 22). */
  check(hostname: string, port: number, extraPorts?: readonly number[]): void
  /** Resolves a name to addresses that all passed the policy. */
  resolve(hostname: string, port: number, extraPorts?: readonly number[]): Promise<readonly LookupAddress[]>
  /** For net.connect and tls.connect. */
  lookupFor(port: number, extraPorts?: readonly number[]): LookupFunction
  /** Wraps a connector of undici so that it can only reach permitted addresses. */
  guard(connect: (lookup: LookupFunction) => buildConnector.connector): buildConnector.connector
}

const resolveBySystem: Resolve = (hostname) =>
  new Promise((done, fail) => systemLookup(hostname, { all: true }, (error, found) => (error ? fail(error) : done(found))))

/** Told of every connection that only an entry of the administrator permits. */
export type Audit = (hostname: string, port: number, address: string) => void

export function createEgress(policy: EgressPolicy, resolveName: Resolve = resolveBySystem, audit: Audit = () => {}): Egress {
  const rules = egressRules(policy)
  const note = (hostname: string, port: number, address: string) => {
    if (rules.isExempted(address, hostname, port)) audit(hostname, port, address)
  }

  function check(hostname: string, port: number, extraPorts: readonly number[] = []): void {
    const why = refuseLiteral(hostname, port, extraPorts) ?? rules.refuseName(hostname, port, extraPorts)
    if (why !== undefined) throw new EgressError(hostname, port, why)
    if (isIP(unbracketed(hostname))) note(hostname, port, unbracketed(hostname))
  }

  function refuseLiteral(hostname: string, port: number, extraPorts: readonly number[]): string | undefined {
    const address = unbracketed(hostname)
    return isIP(address) ? rules.refuseAddress(address, hostname, port, extraPorts) : undefined
  }

  async function resolve(hostname: string, port: number, extraPorts: readonly number[] = []): Promise<readonly LookupAddress[]> {
    const found = await resolveName(hostname)
    for (const { address } of found) {
      const why = rules.refuseAddress(address, hostname, port, extraPorts)
      if (why !== undefined) throw new EgressError(hostname, port, `it resolves to ${address}, but ${why}`)
      note(hostname, port, address)
    }
    return found
  }

  const lookupFor =
    (port: number, extraPorts: readonly number[] = []): LookupFunction =>
    (hostname, options, callback) => {
      resolve(hostname, port, extraPorts).then(
        (found) => {
          const usable = options.family === 4 || options.family === 6 ? found.filter((a) => a.family === options.family) : found
          const first = usable[0]
          if (!first) callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' }), '')
          else if (options.all) callback(null, [...usable])
          else callback(null, first.address, first.family)
        },
        (error: NodeJS.ErrnoException) => callback(error, ''),
      )
    }

  /** undici names the port of an origin only when it is not the scheme's own. */
  const portOf = (options: buildConnector.Options) => Number(options.port || (options.protocol === 'https:' ? 443 : 80))

  function guard(connect: (lookup: LookupFunction) => buildConnector.connector): buildConnector.connector {
    const connectors = new Map<number, buildConnector.connector>()
    return (options, callback) => {
      const port = portOf(options)
      try {
        check(options.hostname, port)
      } catch (error) {
        callback(error as Error, null) // check throws nothing but EgressError
        return
      }
      const connector = connectors.get(port) ?? connect(lookupFor(port))
      connectors.set(port, connector)
      connector(options, callback)
    }
  }

  return { check, resolve, lookupFor, guard }
}
