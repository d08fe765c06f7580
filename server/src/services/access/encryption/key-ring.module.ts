// The keys of projects. The command line checks and rotates them without opening the rest of encryption.

import { join } from 'node:path'
import { openWith, seal } from '../../../engines/encryption/cipher.ts'
import { rootKeysFromEnvironment, rootKeysFromFile } from '../../../engines/encryption/root-keys.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { createKeyRing } from './key-ring.ts'

export interface KeyRingModuleDeps {
  readonly core: Core
  /** In the data folder, used when the environment names no keys. */
  readonly keysFile: string
  readonly keysOfEnvironment: readonly Uint8Array[] | undefined
  readonly projectExists: (projectId: number) => Promise<boolean>
}

export type KeyRingModule = ReturnType<typeof createKeyRingModule>

export function createKeyRingModule({ core, keysFile, keysOfEnvironment, projectExists }: KeyRingModuleDeps) {
  const { db, inTransaction, clock, dataDir } = core
  const keyRing = createKeyRing({
    db,
    inTransaction,
    clock,
    rootKeys:
      keysOfEnvironment === undefined ? rootKeysFromFile(join(dataDir, keysFile)) : rootKeysFromEnvironment(keysOfEnvironment),
    projectExists,
  })
  return defineModule({
    name: 'key-ring',
    ...keyRing,
    /** For secrets of the stack itself, bound to their owner. */
    seal: async (text: string, owner: string) => seal((await keyRing.keysOf(undefined)).current, text, owner),
    open: async (cipher: string, owner: string) => openWith((await keyRing.keysOf(undefined)).byId, cipher, owner),
  })
}
