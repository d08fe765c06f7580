// The one way out to the network. Every socket of the extractor (login, jobs, next links, redirects, OAuth, SSH) is opened
// through the connector or the lookup of this file, so nothing can go round the policy.

import type { LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import { type Audit, createEgressGuard, type EgressGuard, type Resolve, refusalText } from '../../../../contract/egress-guard.ts'
import type { EgressPolicy } from '../../../../contract/egress-rules.ts'
import { UserError } from '../errors.ts'

/** A refused connection. Never retried: the answer would be the same. */
export class EgressError extends UserError {
  constructor(hostname: string, port: number, why: string) {
    super(refusalText(hostname, port, why))
    this.name = 'EgressError'
  }
}

export interface Egress extends EgressGuard {
  /** Wraps a connector of undici so that it can only reach permitted addresses. */
  guard(connect: (lookup: LookupFunction) => buildConnector.connector): buildConnector.connector
}

export function createEgress(policy: EgressPolicy, resolveName?: Resolve, audit?: Audit): Egress {
  const refusal = (hostname: string, port: number, why: string) => new EgressError(hostname, port, why)
  const guarded = createEgressGuard({ policy, refusal, resolveName, audit })

  /** undici names the port of an origin only when it is not the scheme's own. */
  const portOf = (options: buildConnector.Options) => Number(options.port || (options.protocol === 'https:' ? 443 : 80))

  function guard(connect: (lookup: LookupFunction) => buildConnector.connector): buildConnector.connector {
    const connectors = new Map<number, buildConnector.connector>()
    return (options, callback) => {
      const port = portOf(options)
      try {
        guarded.check(options.hostname, port)
      } catch (error) {
        callback(error as Error, null) // check throws nothing but EgressError
        return
      }
      const connector = connectors.get(port) ?? connect(guarded.lookupFor(port))
      connectors.set(port, connector)
      connector(options, callback)
    }
  }

  return { ...guarded, guard }
}
