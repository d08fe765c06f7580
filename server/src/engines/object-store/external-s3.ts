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
  const { createStsAccess } = await import('./sts-access.ts')
  return { store: await openExternalStore(options), access: createStsAccess(options) }
}

/** Without a way to give others access to it: for backups. */
export const openExternalStore = async (options: S3ObjectStoreOptions): Promise<ObjectStore> =>
  (await import('./s3-object-store.ts')).openS3ObjectStore(options)
