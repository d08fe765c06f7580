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
  const onFailure = (err: unknown, what: { readonly dashboardId: number; readonly tileId: string }) =>
    core.log.warn({ err, ...what }, 'a figure with an alert could not be computed')
  const { queries } = savedQueries
  const dashboards = createDashboards({ db, inTransaction, clock, recordEvent, queries, defaultBranch, onFailure })
  queries.checkRemoval(dashboards.checkUnused)
  return defineModule({
    name: 'dashboards',
    routes: [dashboardsRoutes(dashboards)],
    /** Figures of a project that are beyond their bounds. */
    figureAlerts: dashboards.figureAlerts,
  })
}

export type DashboardsModule = ReturnType<typeof createDashboardsModule>
