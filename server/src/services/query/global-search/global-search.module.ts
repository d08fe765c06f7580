import { defineModule } from '../../../model/module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import type { BucketsModule } from '../../storage/buckets/buckets.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import { findableBucket, findableConfiguration, findableTable } from './findable.ts'
import { globalSearchRoutes } from './global-search.routes.ts'
import { createGlobalSearch } from './global-search.ts'

export interface GlobalSearchModuleDeps {
  readonly tokens: TokensModule
  readonly components: ComponentsModule
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly buckets: BucketsModule
  readonly tables: TablesModule
}

/** The search over everything: one source for each kind of object. */
export function createGlobalSearchModule(deps: GlobalSearchModuleDeps) {
  const { tokens, components, branches, configurations, buckets, tables } = deps
  const { search } = createGlobalSearch({
    sources: [
      async (scope) => (await buckets.list(scope)).filter(scope.owns).map(findableBucket),
      async (scope) => (await tables.list(scope)).filter(({ bucket }) => scope.owns(bucket)).map(findableTable),
      async (scope) => (await configurations.listNames(scope)).map((found) => findableConfiguration(components.find, found)),
    ],
    branchesOf: branches.list,
    assignedBuckets: async (projectId) =>
      new Map([...(await buckets.assignedToBranches(projectId))].map(([bucket, branch]) => [bucket.key, branch])),
  })
  return defineModule({
    name: 'global-search',
    routes: [globalSearchRoutes({ search, projectName: async (id) => (await tokens.getProject(id)).name })],
  })
}
