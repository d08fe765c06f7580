import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { createStorageMetadata } from './storage-metadata.ts'

export type StorageMetadataModule = ReturnType<typeof createStorageMetadataModule>

export const createStorageMetadataModule = ({ core }: { readonly core: Core }) =>
  defineModule({ name: 'storage-metadata', ...createStorageMetadata(core.db) })
