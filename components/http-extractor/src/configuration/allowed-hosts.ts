// image_parameters.allowed_hosts (spec extractor 19): a white list that the platform may set for a component.

import { UserError } from '../errors.ts'
import { type Address, addressText, originOf, parseAddress, resolveAddress } from '../http/address.ts'
import type { JobDefinition } from '../jobs/job.ts'
import type { JsonValue } from '../json/json.ts'
import { at, integerAt, textAt } from './read.ts'

interface AllowedHost {
  readonly scheme: string | undefined
  readonly host: string
  readonly port: number | undefined
  readonly segments: readonly string[]
}

const segmentsOf = (path: string) => path.split('/').filter((segment) => segment !== '')

/**
 * Every top-level job must lie below one of the allowed places, by what the list compares (base and endpoint joined by one slash) and by
 * what is really requested, which `/path`, `..` and `//host` change. An empty list allows everything.
 */
export function checkAllowedHosts(list: readonly JsonValue[], base: Address, jobs: readonly JobDefinition[]): void {
  if (list.length === 0) return
  const allowed = list.map(readAllowedHost)
  for (const job of jobs) {
    for (const address of [parseAddress(job.endpoint) ?? joined(base, job.endpoint), resolveAddress(base, job.endpoint)]) {
      if (!allowed.some((place) => matches(place, address))) {
        throw new UserError(`The address '${addressText(address)}' is not in the list of allowed hosts of this component.`)
      }
    }
  }
}

function readAllowedHost(value: JsonValue, i: number): AllowedHost {
  const path = `image_parameters.allowed_hosts.${i}`
  return {
    scheme: textAt(at(value, 'scheme'), `${path}.scheme`),
    host: textAt(at(value, 'host'), `${path}.host`, '').toLowerCase(),
    port: integerAt(at(value, 'port'), `${path}.port`),
    segments: segmentsOf(textAt(at(value, 'endpoint'), `${path}.endpoint`, '')),
  }
}

function joined(base: Address, endpoint: string): Address {
  const text = `${originOf(base)}${base.path.replace(/\/+$/, '')}/${endpoint.replace(/^\/+/, '')}`
  return parseAddress(text) ?? base
}

function matches({ scheme, host, port, segments }: AllowedHost, address: Address): boolean {
  const path = segmentsOf(address.path)
  return (
    (scheme === undefined || scheme === address.scheme) &&
    host === address.hostname &&
    (port === undefined || port === address.port) &&
    segments.every((segment, i) => segment === path[i])
  )
}
