// The egress policy of a run. The platform hands it over in MILLRACE_EGRESS_POLICY:
// {"mode":"guarded","allow":["10.1.0.0/16","erp.local:8443"],"places":["http://127.0.0.1:8000/sample/"]}. Run by hand there is no policy and everything that speaks http or https is open.

import type { EgressPolicy } from '../../../../contract/egress-rules.ts'
import { ApplicationError } from '../errors.ts'

export const OPEN: EgressPolicy = { mode: 'open', allow: [] }

export function readEgressPolicy(text: string | undefined): EgressPolicy {
  if (text === undefined || text.trim() === '') return OPEN
  const refuse = (why: string) =>
    new ApplicationError(`MILLRACE_EGRESS_POLICY ${why}. Expected {"mode":"guarded"|"open","allow":[..]}.`)
  let policy: unknown
  try {
    policy = JSON.parse(text)
  } catch {
    throw refuse('is not valid JSON')
  }
  if (typeof policy !== 'object' || policy === null) throw refuse('is not an object')
  const { mode, allow = [], places = [] } = policy as { mode?: unknown; allow?: unknown; places?: unknown } // checked in the next lines
  // A policy that cannot be read must not permit everything.
  if (mode !== 'guarded' && mode !== 'open') throw refuse('has an unknown mode')
  if (!isTexts(allow)) throw refuse('has a list "allow" that is not made of texts')
  if (!isTexts(places) || !places.every((place) => URL.canParse(place)))
    throw refuse('has a list "places" that is not made of addresses')
  return { mode, allow, places }
}

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((entry) => typeof entry === 'string')
