// The egress policy of a run. The platform hands it over in MILLRACE_EGRESS_POLICY:
// {"mode":"guarded","allow":["10.1.0.0/16","erp.local:8443"]}. Run by hand there is no policy and everything that speaks http or https is open.

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
  const { mode, allow = [] } = policy as { mode?: unknown; allow?: unknown } // checked in the next lines
  // A policy that cannot be read must not permit everything.
  if (mode !== 'guarded' && mode !== 'open') throw refuse('has an unknown mode')
  if (!Array.isArray(allow) || !allow.every((entry) => typeof entry === 'string'))
    throw refuse('has a list "allow" that is not made of texts')
  return { mode, allow }
}
