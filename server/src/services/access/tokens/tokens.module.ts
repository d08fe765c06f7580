// Projects and their tokens. Routes and loops are in tokens-api.module.ts, which the command line does not load.

import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { createTokens, type TokensDeps } from './tokens.ts'

export interface TokensModuleDeps extends Pick<TokensDeps, 'bucketIds' | 'findTriggerOf'> {
  readonly core: Core
}

export type TokensModule = ReturnType<typeof createTokensModule>

export function createTokensModule({ core, bucketIds, findTriggerOf }: TokensModuleDeps) {
  const { db, inTransaction, clock, recordEvent, publish } = core
  const tokens = createTokens({
    db,
    inTransaction,
    clock,
    recordEvent,
    bucketIds,
    findTriggerOf,
    onProjectCreated: (trx, projectId) => publish('project.created', trx, projectId),
  })
  return defineModule({
    name: 'tokens',
    ...tokens,
    projectName: async (projectId: number): Promise<string | undefined> => (await tokens.findProject(projectId))?.name,
    /** Whether development branches of the project show their own storage only. */
    showsOwnStorage: async (projectId: number) => (await tokens.findProject(projectId))?.settings.branchStorage === 'own',
    /** The backend that a project reports; undefined when it is the real one. */
    backendName: async (projectId: number) => (await tokens.findProject(projectId))?.settings.backend,
  })
}
