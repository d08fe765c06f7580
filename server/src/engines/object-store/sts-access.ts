// Links and temporary credentials of an external S3: links are signed with its key, credentials come from its STS with a policy that
// allows exactly the scope.

import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts'
import { type Clock, formatExpiration } from '../../kit/clock.ts'
import { named } from '../../kit/errors.ts'
import { policyFor } from './access-policy.ts'
import type { ObjectAccess } from './object-access.ts'
import { presign } from './presign.ts'

export interface StsAccessOptions {
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly roleArn: string | undefined
  readonly clock: Clock
}

/** The default maximum of an AWS role. */
const SECONDS = 3600
/** Stores other than AWS do not look at the role, but the call must name one. */
const ANY_ROLE = 'arn:aws:iam::000000000000:role/millrace-files'

export function createStsAccess(options: StsAccessOptions): ObjectAccess & { close(): void } {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey, roleArn = ANY_ROLE, clock } = options
  const isAws = new URL(endpoint).hostname.endsWith('.amazonaws.com')
  const sts = new STSClient({ region, credentials: { accessKeyId, secretAccessKey }, ...(!isAws && { endpoint }) })

  return {
    bucket,
    region,
    endpointFor: () => endpoint,

    link: (key, { expiresInSeconds, contentDisposition, contentType }) => {
      const query = {
        ...(contentDisposition && { 'response-content-disposition': contentDisposition }),
        ...(contentType && { 'response-content-type': contentType }),
      }
      const request = { method: 'GET', endpoint, bucket, key, region, now: clock.now(), expiresInSeconds, query }
      return presign(request, { accessKeyId, secretAccessKey })
    },

    async credentials(scope, seconds = SECONDS) {
      try {
        const { Credentials } = await sts.send(
          new AssumeRoleCommand({
            RoleArn: roleArn,
            RoleSessionName: 'millrace',
            DurationSeconds: Math.min(seconds, SECONDS),
            Policy: JSON.stringify(policyFor(scope, bucket)),
          }),
        )
        const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {}
        if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration) throw new Error('STS answered without credentials')
        return { AccessKeyId, SecretAccessKey, SessionToken, Expiration: formatExpiration(Expiration) }
      } catch (cause) {
        throw named('storage.unavailable', { what: 'issue credentials' }, cause)
      }
    },

    close: () => sts.destroy(),
  }
}
