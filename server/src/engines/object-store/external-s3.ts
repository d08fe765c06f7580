// An external S3 as object store. The SDK is loaded only here: it would take a fifth of the time that a start with the embedded store takes.

import type { ObjectAccess } from './object-access.ts'
import type { ObjectStore } from './object-store.ts'
import type { S3ObjectStoreOptions } from './s3-object-store.ts'
import type { StsAccessOptions } from './sts-access.ts'

export interface ExternalObjects {
  readonly store: ObjectStore
  readonly access: ObjectAccess & { close(): void }
}

export async function openExternalS3(options: S3ObjectStoreOptions & StsAccessOptions): Promise<ExternalObjects> {
  const { openS3ObjectStore } = await import('./s3-object-store.ts')
  const { createStsAccess } = await import('./sts-access.ts')
  return { store: await openS3ObjectStore(options), access: createStsAccess(options) }
}
