import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import { createAgentGuards } from './agent-guards.ts'
import { createBudgets } from './budgets.ts'
import { foundInAll, hostsIn } from './outgoing.ts'

export interface AgentGuardsModuleDeps {
  readonly core: Core
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
}

export type AgentGuardsModule = ReturnType<typeof createAgentGuardsModule>

export function createAgentGuardsModule({ core, branches, configurations }: AgentGuardsModuleDeps) {
  const { db, inTransaction, clock } = core
  return defineModule({
    name: 'agent-guards',
    ...createAgentGuards({
      ...{ db, inTransaction, clock },
      contents: async (projectId) => configurations.contents(projectId, await branches.defaultId(projectId)),
      contentsOfBranch: configurations.contents,
    }),
    /** Calls of a token on a day, counted and limited. */
    budget: createBudgets({ inTransaction, clock }),
    /** Hosts that texts of configurations name, in addresses or as the host of a server. */
    hostsIn: (texts: readonly string[]) => foundInAll(texts, hostsIn),
  })
}
