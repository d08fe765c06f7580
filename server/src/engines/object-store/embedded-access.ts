// Links and temporary credentials of the embedded object store, checked by services/s3 with the same secret.

import { type Clock, formatExpiration } from '../../kit/clock.ts'
import { CREDENTIALS_SECONDS, type ObjectAccess } from './object-access.ts'
import { presign } from './presign.ts'
import type { SessionTokens } from './session-token.ts'
import { azureNames, sharedAccessSignature } from './shared-access.ts'

export interface EmbeddedAccessDeps {
  readonly sessions: SessionTokens
  readonly bucket: string
  readonly region: string
  readonly clock: Clock
  readonly endpointFor: ObjectAccess['endpointFor']
}

export function createEmbeddedAccess({ sessions, bucket, region, clock, endpointFor }: EmbeddedAccessDeps): ObjectAccess {
  // Whole seconds, because Expiration has no fractions.
  const expiry = (seconds = CREDENTIALS_SECONDS): number => (Math.floor(clock.now().getTime() / 1000) + seconds) * 1000

  return {
    bucket,
    region,
    endpointFor,

    link: (key, { endpoint, expiresInSeconds, contentDisposition, contentType }) =>
      presign(
        {
          method: 'GET',
          endpoint,
          bucket,
          key,
          region,
          now: clock.now(),
          expiresInSeconds,
          query: {
            ...(contentDisposition && { 'response-content-disposition': contentDisposition }),
            ...(contentType && { 'response-content-type': contentType }),
          },
        },
        sessions.root,
      ),

    async credentials(scope, seconds) {
      const expiresMs = expiry(seconds)
      const issued = sessions.issue(scope, expiresMs)
      return {
        AccessKeyId: issued.accessKeyId,
        SecretAccessKey: issued.secretAccessKey,
        SessionToken: issued.sessionToken,
        Expiration: formatExpiration(new Date(expiresMs)),
      }
    },

    sharedAccess(scope, endpoint) {
      const expiresMs = expiry()
      // Objects are kept the same way for every protocol, and Azure has no header that requests encryption.
      const signature = sharedAccessSignature(sessions, { ...scope, demandEncryption: false }, expiresMs)
      const { blobEndpoint, accountName } = azureNames(endpoint, bucket)
      return {
        SASConnectionString: `BlobEndpoint=${blobEndpoint};SharedAccessSignature=${signature}`,
        expiration: formatExpiration(new Date(expiresMs)),
        accountName,
        container: bucket,
      }
    },
  }
}
