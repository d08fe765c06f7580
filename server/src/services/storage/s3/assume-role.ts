// AssumeRole of STS, far enough that another stack can use this store as its external S3: the inline policy must be one of those
// that engines/object-store/access-policy.ts writes.

import type { ServerResponse } from 'node:http'
import { scopeOfPolicy } from '../../../engines/object-store/access-policy.ts'
import type { SessionTokens } from '../../../engines/object-store/session-token.ts'
import type { Clock } from '../../../kit/clock.ts'
import { authorize } from './authorize.ts'
import { type PayloadSource, readPayload } from './payload.ts'
import type { S3Call } from './s3-call.ts'
import { S3Error } from './s3-errors.ts'
import { element, xmlDocument } from './xml.ts'

const MAX_FORM_BYTES = 64 * 1024
const MIN_SECONDS = 900
const MAX_SECONDS = 12 * 3600

/** STS receives forms at `/`; S3 itself has no POST there. */
export const isStsCall = (call: S3Call): boolean => call.method === 'POST' && call.path === '/' && call.key === ''

export interface AssumeRoleDeps {
  readonly sessions: SessionTokens
  readonly bucket: string
  readonly clock: Clock
}

export async function assumeRole(
  source: PayloadSource,
  response: ServerResponse,
  { sessions, bucket, clock }: AssumeRoleDeps,
): Promise<void> {
  authorize(source.auth.principal, { action: 'administer' })
  const form = new URLSearchParams(await readPayload(source, MAX_FORM_BYTES))
  if (form.get('Action') !== 'AssumeRole') throw new S3Error('InvalidArgument', 'Only the action AssumeRole is supported here.')
  const seconds = Number(form.get('DurationSeconds') ?? 3600)
  if (!Number.isInteger(seconds) || seconds < MIN_SECONDS || seconds > MAX_SECONDS)
    throw new S3Error('InvalidArgument', `DurationSeconds must be a whole number from ${MIN_SECONDS} to ${MAX_SECONDS}.`)
  const scope = scopeOfPolicy(parse(form.get('Policy') ?? ''), bucket)
  if (!scope)
    throw new S3Error('InvalidArgument', 'The policy must allow reading or writing one key, or one prefix, of the bucket.')
  const expiresMs = (Math.floor(clock.now().getTime() / 1000) + seconds) * 1000
  const issued = sessions.issue(scope, expiresMs)
  const credentials = element('Credentials', [
    element('AccessKeyId', issued.accessKeyId),
    element('SecretAccessKey', issued.secretAccessKey),
    element('SessionToken', issued.sessionToken),
    element('Expiration', new Date(expiresMs).toISOString()),
  ])
  const document = xmlDocument(
    element(
      'AssumeRoleResponse',
      [element('AssumeRoleResult', [credentials])],
      ' xmlns="https://sts.amazonaws.com/doc/2011-06-15/"',
    ),
  )
  response.writeHead(200, { 'content-type': 'text/xml', 'content-length': Buffer.byteLength(document) }).end(document)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
