// The search over everything: one source for each kind of thing.

import type { FastifyInstance } from 'fastify'
import { addRoutes } from '../http/add-routes.ts'
import { listNames } from '../services/configurations/names.ts'
import { createConfigurationSearch } from '../services/configurations/search.store.ts'
import { findableBucket, findableConfiguration, findableTable } from '../services/global-search/findable.ts'
import { globalSearchRoutes } from '../services/global-search/global-search.routes.ts'
import { createGlobalSearch } from '../services/global-search/global-search.ts'
import { createPeopleFinder } from '../services/people/find-people.ts'
import { createJobFinder } from '../services/queue/find-jobs.ts'
import { searchRoutes } from '../services/search/search.routes.ts'
import { createSearch, type Source } from '../services/search/search.ts'
import { createTableSearch } from '../services/tables/table-search.ts'
import type { ConfigurationModules } from './configurations.ts'
import type { Core } from './core.ts'
import type { TableModules } from './tables.ts'

/** The search by a word, for people who type. */
export function registerWordSearch(
  app: FastifyInstance,
  { metadata, tokens }: Core,
  { components }: ConfigurationModules,
  { parts }: TableModules,
  others: { readonly file: Source; readonly schedule: Source },
): void {
  const tables = createTableSearch(parts)
  const configurations = createConfigurationSearch(metadata, components)
  addRoutes(
    app,
    searchRoutes(
      createSearch({
        table: tables.tables,
        column: tables.columns,
        configuration: configurations.configurations,
        row: configurations.rows,
        content: configurations.contents,
        job: createJobFinder(metadata.db, components.canonicalId),
        person: createPeopleFinder(tokens.people),
        ...others,
      }),
    ),
  )
}

export function registerSearch(
  app: FastifyInstance,
  { metadata, tokens }: Core,
  { components, branches }: ConfigurationModules,
  { buckets, tables }: TableModules,
): void {
  const { search } = createGlobalSearch({
    sources: [
      async (scope) => (await buckets.list(scope)).filter(({ branchId }) => branchId === scope.branch.id).map(findableBucket),
      async (scope) => (await tables.list(scope)).filter(({ bucket }) => bucket.branchId === scope.branch.id).map(findableTable),
      async (scope) =>
        (await listNames(metadata.db, components, scope)).map((found) => findableConfiguration(components.find, found)),
    ],
    branchesOf: branches.list,
  })
  addRoutes(app, globalSearchRoutes({ search, projectName: async (id) => (await tokens.getProject(id)).name }))
}
