import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { SavedQueriesModule } from '../saved-queries/saved-queries.module.ts'
import { dashboardsRoutes } from './dashboards.routes.ts'
import { createDashboards } from './dashboards.ts'

export interface DashboardsModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly branches: BranchesModule
  readonly savedQueries: SavedQueriesModule
}

export function createDashboardsModule({ core, tokens, branches, savedQueries }: DashboardsModuleDeps) {
  const { db, inTransaction, clock, recordEvent } = core
  const defaultBranch = async (projectId: number) => {
    const project = await tokens.findProject(projectId)
    return project && !project.isDisabled && !project.deleteAfter ? branches.findByName(projectId, 'default') : undefined
  }
  const dashboards = createDashboards({ db, inTransaction, clock, recordEvent, queries: savedQueries.queries, defaultBranch })
  savedQueries.queries.checkRemoval(dashboards.checkUnused)
  return defineModule({ name: 'dashboards', routes: [dashboardsRoutes(dashboards)] })
}
