import { BACKEND } from '../../../model/backend.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { EncryptionModule } from '../../access/encryption/encryption.module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import type { SqlPortModule } from '../sql-port/sql-port.module.ts'
import type { WorkspacesModule } from '../workspaces/workspaces.module.ts'
import { createSandboxTasks, SANDBOX_COMPONENT } from './sandbox-tasks.ts'
import { sandboxesRoutes } from './sandboxes.routes.ts'
import { createSandboxes } from './sandboxes.ts'

export interface SandboxesModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly branches: BranchesModule
  readonly encryption: EncryptionModule
  readonly configurations: ConfigurationsModule
  readonly workspaces: WorkspacesModule
  readonly sqlPort: SqlPortModule
}

export type SandboxesModule = ReturnType<typeof createSandboxesModule>

export function createSandboxesModule(deps: SandboxesModuleDeps) {
  const { core, tokens, branches, encryption, configurations, workspaces, sqlPort } = deps
  const sandboxes = createSandboxes({
    db: core.db,
    inTransaction: core.inTransaction,
    clock: core.clock,
    recordEvent: core.recordEvent,
    workspaces: {
      create: workspaces.create,
      resetPassword: async (projectId, id) => workspaces.resetPassword(await workspaces.find(projectId, id)),
      remove: async (projectId, id) => workspaces.remove({ projectId, id }),
    },
    encrypt: encryption.encryptForProject,
    decrypt: encryption.decryptForProject,
  })
  core.subscribe('workspaces.sweeping', sandboxes.removeExpired)
  return defineModule({
    name: 'sandboxes',
    routes: [
      sandboxesRoutes({
        sandboxes,
        sqlPort: sqlPort.number,
        findBranch: branches.resolveOpen,
        backendName: async (projectId) => (await tokens.backendName(projectId)) ?? BACKEND,
        adminOwners: tokens.adminOwners,
        describeWorkspace: workspaces.describe,
      }),
    ],
    /** For the job runner. */
    tasks: createSandboxTasks({
      sandboxes,
      readConfiguration: async ({ projectId, branchId }, configurationId) => {
        const place = { projectId, branchId, componentId: SANDBOX_COMPONENT, configurationId }
        return (await configurations.runAccess.find(place))?.configuration
      },
      saveConfiguration: async ({ actor, branchId, isDefaultBranch, runId }, configurationId, change) => {
        const branch = { id: branchId, isDefault: isDefaultBranch }
        const origin = { runId, remoteAddress: null, userAgent: null }
        await configurations.update({ actor, branch, origin }, SANDBOX_COMPONENT, configurationId, change)
      },
    }),
  })
}
