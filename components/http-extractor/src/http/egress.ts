// The one way out to the network. Every socket of the extractor (login, jobs, next links, redirects, OAuth, SSH) is opened
// through the connector or the lookup of this file, so nothing can go round the policy.

import { isIP, type LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import { type Audit, createEgressGuard, type EgressGuard, type Resolve, refusalText } from '../../../../contract/egress-guard.ts'
import { type EgressPolicy, unbracketed } from '../../../../contract/egress-rules.ts'
import { UserError } from '../errors.ts'
import type { Address } from './address.ts'
import { OPEN } from './egress-policy.ts'

/** A refused connection. Never retried: the answer would be the same. */
export class EgressError extends UserError {
  constructor(hostname: string, port: number, why: string) {
    super(refusalText(hostname, port, why))
    this.name = 'EgressError'
    this.withFacts({ kind: 'network.refusedHere' })
  }
}

export interface Egress extends EgressGuard {
  /**
   * Throws unless this request may be sent over a connection to its host. A host of one of the policy's places may be connected to whatever
   * its address is, so the requested path decides. True when only a place permits it.
   */
  admit(address: Pick<Address, 'hostname' | 'port' | 'path'>): Promise<boolean>
  /** Wraps a connector of undici so that it can only reach permitted addresses. */
  guard(connect: (lookup: LookupFunction) => buildConnector.connector): buildConnector.connector
}

export function createEgress(policy: EgressPolicy, resolveName?: Resolve, audit?: Audit): Egress {
  const refusal = (hostname: string, port: number, why: string) => new EgressError(hostname, port, why)
  const guarded = createEgressGuard({ policy, refusal, resolveName, audit })
  const unguarded = createEgressGuard({ policy: OPEN, refusal, resolveName })
  const places = (policy.places ?? []).map(placeOf)
  const placesAt = (hostname: string, port: number) =>
    places.filter((place) => place.hostname === hostname && place.port === port)

  async function admit({ hostname, port, path }: Pick<Address, 'hostname' | 'port' | 'path'>): Promise<boolean> {
    const there = placesAt(hostname, port)
    if (there.length === 0) return false
    // Nothing that the server could read as another path: the sample has no use for percent signs.
    if (there.some((place) => path.startsWith(place.path)) && !path.includes('%')) return true
    guarded.check(hostname, port)
    if (isIP(unbracketed(hostname)) === 0) await guarded.resolve(hostname, port)
    return false
  }

  /** undici names the port of an origin only when it is not the scheme's own. */
  const portOf = (options: buildConnector.Options) => Number(options.port || (options.protocol === 'https:' ? 443 : 80))

  function guard(connect: (lookup: LookupFunction) => buildConnector.connector): buildConnector.connector {
    const connectors = new Map<string, buildConnector.connector>()
    return (options, callback) => {
      const port = portOf(options)
      // By its exact name, so that another name with the same address gains nothing.
      const guardOfHost = placesAt(options.hostname, port).length > 0 ? unguarded : guarded
      try {
        guardOfHost.check(options.hostname, port)
      } catch (error) {
        callback(error as Error, null) // check throws nothing but EgressError
        return
      }
      const key = guardOfHost === unguarded ? 'place' : String(port)
      const connector = connectors.get(key) ?? connect(guardOfHost.lookupFor(port))
      connectors.set(key, connector)
      connector(options, callback)
    }
  }

  return { ...guarded, admit, guard }
}

function placeOf(address: string): Pick<Address, 'hostname' | 'port' | 'path'> {
  const { hostname, port, protocol, pathname } = new URL(address)
  return { hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)), path: pathname }
}
