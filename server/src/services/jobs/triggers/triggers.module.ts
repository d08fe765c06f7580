import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { QueueModule } from '../queue/queue.module.ts'
import { triggersRoutes } from './triggers.routes.ts'
import { createTriggers } from './triggers.ts'

export interface TriggersModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly components: ComponentsModule
  readonly branches: BranchesModule
  readonly tables: TablesModule
  readonly queue: QueueModule
  /** The stack's own address, for the links of jobs that no request caused. */
  readonly baseUrl: () => string
}

export type TriggersModule = ReturnType<typeof createTriggersModule>

export function createTriggersModule({ core, tokens, components, branches, tables, queue, baseUrl }: TriggersModuleDeps) {
  const { db, inTransaction, clock, log, recordEvent } = core
  const defaultBranch = async (projectId: number) => ({ id: await branches.defaultId(projectId), isDefault: true })
  const triggers = createTriggers({
    db,
    inTransaction,
    clock,
    recordEvent,
    actorOfToken: tokens.findActor,
    canonicalId: components.canonicalId,
    mayLend: tokens.mayLend,
    expires: async (projectId, tokenId) => (await tokens.get(projectId, tokenId)).expiresAt !== undefined,
    importedAt: async (actor, tableId) => tables.importedAt({ actor, branch: await defaultBranch(actor.projectId) }, tableId),
    queue: {
      prepare: async (actor, component, config) => {
        const branch = await defaultBranch(actor.projectId)
        return queue.prepareLater(actor, { component, config, mode: 'run' }, { branch, baseUrl: baseUrl() })
      },
      wake: queue.wake,
    },
    onError: (error, triggerId) => log.error({ err: error, triggerId }, 'a trigger could not fire'),
  })
  return defineModule({ name: 'triggers', routes: [triggersRoutes(triggers)], fireReady: triggers.fireReady })
}
