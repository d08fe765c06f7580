// Enforces the egress rules on every socket that a program opens: the extractor's and the server's own.
//
// Invariants, each with a test in components/http-extractor/tests/forbidden-addresses.test.ts:
//  (1) a name is resolved once; every answer is checked; one forbidden answer refuses the name;
//  (2) the socket goes to a checked address: the lookup hands the checked answers to the connection itself;
//  (3) an address written as a number is checked the same way (Node does no lookup for those).

import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { type EgressPolicy, egressRules, unbracketed } from './egress-rules.ts'

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

/** Called for every connection that only an entry of the administrator permits. */
export type Audit = (hostname: string, port: number, address: string) => void

export interface EgressGuard {
  /** Throws unless the host and port are permitted. `extraPorts` are standard for the caller's protocol (SSH: 22). */
  check(hostname: string, port: number, extraPorts?: readonly number[]): void
  /** Resolves a name to addresses that all passed the policy. */
  resolve(hostname: string, port: number, extraPorts?: readonly number[]): Promise<readonly LookupAddress[]>
  /** For net.connect, tls.connect, http.request and https.request. */
  lookupFor(port: number, extraPorts?: readonly number[]): LookupFunction
}

export interface EgressGuardOptions {
  readonly policy: EgressPolicy
  /** The error of a refused connection. Never worth a retry within one run: the answer would be the same. */
  readonly refusal: (hostname: string, port: number, why: string) => Error
  readonly resolveName?: Resolve | undefined
  readonly audit?: Audit | undefined
}

const resolveBySystem: Resolve = (hostname) =>
  new Promise((done, fail) => systemLookup(hostname, { all: true }, (error, found) => (error ? fail(error) : done(found))))

/** What every refusal contains. */
export const refusalText = (hostname: string, port: number, why: string): string =>
  `The connection to ${hostname}:${port} is not allowed: ${why}. ` +
  'An administrator can permit it in MILLRACE_EGRESS_ALLOW (host, network or host:port).'

export function createEgressGuard({
  policy,
  refusal,
  resolveName = resolveBySystem,
  audit = () => {},
}: EgressGuardOptions): EgressGuard {
  const rules = egressRules(policy)
  const note = (hostname: string, port: number, address: string) => {
    if (rules.isExempted(address, hostname, port)) audit(hostname, port, address)
  }

  function check(hostname: string, port: number, extraPorts: readonly number[] = []): void {
    const why = refuseLiteral(hostname, port, extraPorts) ?? rules.refuseName(hostname, port, extraPorts)
    if (why !== undefined) throw refusal(hostname, port, why)
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
      if (why !== undefined) throw refusal(hostname, port, `it resolves to ${address}, but ${why}`)
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

  return { check, resolve, lookupFor }
}
