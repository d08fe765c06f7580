// The wiring of the search over everything: one source for each kind of thing, in a file of its own for its length.

import type { FastifyInstance } from 'fastify'
import { listNames, type NamedConfiguration } from '../services/configurations/names.ts'
import { globalSearchRoutes } from '../services/global-search/global-search.routes.ts'
import { createGlobalSearch, type Findable, type FoundType, type Source } from '../services/global-search/global-search.ts'
import type { ConfigurationModules } from './configurations.ts'
import type { Core } from './core.ts'
import type { TableModules } from './tables.ts'

const FLOWS = new Set(['platform.flow', 'platform.orchestrator'])
const SHARED_CODE = 'platform.shared-code'

export function registerSearch(
  app: FastifyInstance,
  { metadata, tokens }: Core,
  rooms: ConfigurationModules,
  tables: TableModules,
): void {
  const { components, branches } = rooms

  const configurations: Source = async (scope) => (await listNames(metadata.db, components, scope)).map(asFindable)

  function asFindable({ componentId, configurationId, name, row, createdAt }: NamedConfiguration): Findable {
    const component = { id: componentId, name: components.find(componentId)?.name ?? componentId }
    if (!row) return { id: configurationId, type: typeOf(componentId), name, componentId, path: { component }, createdAt }
    const path = { component, configuration: { id: configurationId, name } }
    const type = componentId === SHARED_CODE ? 'shared-code' : 'configuration-row'
    return { id: row.id, type, name: row.name, componentId, path, createdAt }
  }

  function typeOf(componentId: string): FoundType {
    if (FLOWS.has(componentId)) return 'flow'
    return components.find(componentId)?.type === 'transformation' ? 'transformation' : 'configuration'
  }

  const buckets: Source = async (scope) =>
    (await tables.buckets.list(scope)).map(({ id, displayName, createdAt }) => ({
      id,
      type: 'bucket',
      name: displayName,
      createdAt: createdAt.getTime(),
    }))

  const tablesOf: Source = async (scope) =>
    (await tables.tables.list(scope)).map(({ id, bucket, row }) => ({
      id,
      type: 'table',
      name: row.displayName,
      path: { bucket: { id: bucket.id, name: bucket.id } },
      createdAt: row.createdAt.getTime(),
    }))

  const { search } = createGlobalSearch({ sources: [buckets, tablesOf, configurations], branchesOf: branches.list })
  app.register(globalSearchRoutes({ search, projectName: async (id) => (await tokens.getProject(id)).name }))
}
