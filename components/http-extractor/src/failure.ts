// Details of a failure besides its message: the kind, where in the configuration, which request (docs/errors.md).

import { type CauseKind, type FailureFacts, jsonPointer } from '../../../contract/failure-causes.ts'
import type { UserError } from './errors.ts'

/** Where to look for each kind, when it is not the job itself. */
const POINTERS: Partial<Record<CauseKind, string>> = {
  'http.unauthorized': 'api.authentication',
  'http.forbidden': 'api.authentication',
  'http.tooManyRequests': 'api.retryConfig',
  'http.serverError': 'api.retryConfig',
  'login.failed': 'api.authentication',
  'network.nameNotFound': 'api.baseUrl',
  'network.unreachable': 'api.baseUrl',
  'network.refusedHere': 'api.baseUrl',
  'network.timeout': 'api.http',
  'network.tls': 'api.caCertificate',
  'pagination.endless': 'api.pagination',
}
/** Members of a job that a kind is about. */
const IN_JOB: Partial<Record<CauseKind, string>> = {
  'http.notFound': '/endpoint',
  'response.noItems': '/dataField',
  'response.unreadable': '/responseType',
}

/** `config.jobs.0` is `/parameters/config/jobs/0`. */
export const pointerOf = (path: string): string => jsonPointer(['parameters', ...path.split('.')])

export function failureFacts(error: UserError): FailureFacts {
  const { facts } = error
  const named = facts.kind === undefined ? pathIn(error.message) : undefined
  // What fails before the first request is wrong in the configuration.
  const kind = facts.kind ?? (named === undefined && facts.request?.url !== undefined ? undefined : 'configuration.invalid')
  const path = named ?? (kind && POINTERS[kind])
  const ofJob = facts.pointer && kind ? facts.pointer + (IN_JOB[kind] ?? '') : facts.pointer
  const pointer = path === undefined ? ofJob : pointerOf(path)
  const host = facts.request?.url === undefined ? undefined : URL.parse(facts.request.url)?.host
  return {
    ...facts,
    ...(kind && { kind }),
    ...(pointer !== undefined && { pointer }),
    ...(host !== undefined && { subject: host }),
  }
}

/** Messages about a configuration name the member: `'config.concurrency' must be ...`, or the section that is missing. */
function pathIn(message: string): string | undefined {
  const path = /\b(?:api|config|iterations|sshProxy|aws)(?:\.[\w#-]+)+/.exec(message)?.[0]
  return path ?? SECTIONS[/'(\w+)'/.exec(message)?.[1] ?? '']
}

const SECTIONS: Readonly<Record<string, string | undefined>> = {
  api: 'api',
  config: 'config',
  jobs: 'config.jobs',
  baseUrl: 'api.baseUrl',
  loginRequest: 'api.authentication.loginRequest',
}
