import { defineModule } from '../../../model/module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import { encryptionRoutes } from './encryption.routes.ts'
import { createEncryption } from './encryption.ts'
import type { KeyRingModule } from './key-ring.module.ts'

export interface EncryptionModuleDeps {
  readonly keyRing: KeyRingModule
  readonly components: ComponentsModule
}

export type EncryptionModule = ReturnType<typeof createEncryptionModule>

export function createEncryptionModule({ keyRing, components }: EncryptionModuleDeps) {
  const encryption = createEncryption({ keyRing, componentNames: components.namesOf })
  return defineModule({
    name: 'encryption',
    routes: [encryptionRoutes(encryption)],
    ...encryption,
    encryptForProject: (projectId: number, text: string) => encryption.encryptBody(text, false, { projectId: String(projectId) }),
  })
}
