import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { EncryptionModule } from '../encryption/encryption.module.ts'
import { vaultRoutes } from './vault.routes.ts'
import { createVault } from './vault.ts'

export interface VaultModuleDeps {
  readonly core: Core
  readonly encryption: EncryptionModule
  readonly branches: BranchesModule
}

export type VaultModule = ReturnType<typeof createVaultModule>

export function createVaultModule({ core: { db, inTransaction, clock }, encryption, branches }: VaultModuleDeps) {
  const vault = createVault({ db, inTransaction, clock, encrypt: encryption.encryptForProject })
  return defineModule({
    name: 'vault',
    routes: [vaultRoutes({ vault, findBranch: branches.findByName })],
    valuesIn: vault.valuesIn,
  })
}
