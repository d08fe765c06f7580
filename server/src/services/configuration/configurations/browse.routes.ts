// HTTP for browsing configurations (spec storage 2.6): pages of those of all components, how many there are, and the names of some.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Db } from '../../../engines/metadata-db/dialects.ts'
import { Nullable, Offset, optionalFlag, optionalText } from '../../../http/parameters.ts'
import { scopeOf } from '../../../http/scope.ts'
import { type ComponentLookup, mayUse } from './access.ts'
import { browseConfigurations, countConfigurations, findNames, listUsedComponents } from './records/browse.store.ts'

const Query = Type.Object({
  text: optionalText('Only configurations whose name or id, or the name of whose component, contains the text.'),
  isDeleted: optionalFlag('True: deleted configurations instead of the others.'),
  componentId: Type.Optional(
    Type.Array(Type.String(), { maxItems: 100, description: 'Only configurations of these components, by id or alias.' }),
  ),
  exceptComponentId: optionalText('Without the configurations of this component.'),
  canRun: optionalFlag('True: only configurations of components that jobs can run.'),
  vaultVariable: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Only configurations that use this variable of the vault, in themselves or in a row.',
      examples: ['API_URL'],
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'At most this many; 100 by default.' })),
  offset: Offset,
})
const ConfigurationLine = Type.Object({
  componentId: Type.String({ examples: ['keboola.ex-generic-v2'] }),
  configurationId: Type.String({ examples: ['my-shop'] }),
  name: Type.String(),
  version: Type.Integer(),
  isDisabled: Type.Boolean(),
  creator: Type.String({ description: 'Description of the token that created it.' }),
  folder: Type.String({ description: 'Empty: in none.' }),
})
const CountView = Type.Object({
  componentId: Type.String(),
  configurations: Type.Integer(),
  disabled: Type.Integer(),
})
const MAX_NAMES = 200
const NamesBody = Type.Object(
  {
    configurations: Type.Array(
      Type.Object(
        {
          componentId: Type.String({ maxLength: 255, description: 'Id or alias of the component.' }),
          configurationId: Type.Optional(
            Type.String({ maxLength: 255, description: 'Id of the configuration. If omitted, only the component is named.' }),
          ),
        },
        { additionalProperties: false },
      ),
      { maxItems: MAX_NAMES, description: `Configurations to name, at most ${MAX_NAMES}.` },
    ),
  },
  { additionalProperties: false },
)
const NamesLine = Type.Object({
  componentId: Type.String({ examples: ['keboola.ex-generic-v2'], description: 'As requested.' }),
  configurationId: Nullable(Type.String({ examples: ['my-shop'], description: 'As requested.' })),
  name: Nullable(
    Type.String({ description: 'Null: the configuration does not exist, is deleted, or the caller may not use the component.' }),
  ),
  componentName: Nullable(Type.String({ description: 'Null: the component does not exist.' })),
})

export interface BrowseRoutesDeps {
  readonly db: Db
  readonly components: Omit<ComponentLookup, 'find'> & {
    find(id: string): { readonly id: string; readonly type: string; readonly name: string; readonly hasRun: boolean } | undefined
  }
}

export function configurationBrowseRoutes({ db, components }: BrowseRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/browse/configurations',
      {
        config: {
          operation: 'configurations.browse',
          summary: 'Configurations of all components, a page at a time',
          needs: 'component',
        },
        schema: { querystring: Query, response: { 200: Type.Array(ConfigurationLine) } },
      },
      async (req) => {
        const { text = '', isDeleted = false, exceptComponentId, canRun, vaultVariable, limit = 100, offset = 0 } = req.query
        const only = req.query.componentId?.map((id) => components.canonicalId(id))
        const { actor, branch } = scopeOf(req)
        const used = await listUsedComponents(db, actor.projectId, branch.id)
        const componentIds = used.filter(
          (id) =>
            id !== exceptComponentId &&
            (only === undefined || only.includes(id)) &&
            (!canRun || components.find(id)?.hasRun === true) &&
            mayUse(components, actor, id),
        )
        const wanted = text.trim().toLowerCase()
        const isNamed = (id: string) => components.find(id)?.name.toLowerCase().includes(wanted)
        const filter = {
          projectId: actor.projectId,
          branchId: branch.id,
          isDeleted,
          componentIds,
          text: wanted,
          matchingComponentIds: componentIds.filter(isNamed),
          vaultVariable,
        }
        return browseConfigurations(db, filter, { limit, offset })
      },
    )

    app.get(
      '/v2/storage/browse/configurations/totals',
      {
        config: {
          operation: 'configurations.totals',
          summary: 'How many configurations each component has',
          needs: 'component',
        },
        schema: { response: { 200: Type.Array(CountView) } },
      },
      async (req) => {
        const { actor, branch } = scopeOf(req)
        const counts = await countConfigurations(db, actor.projectId, branch.id)
        return counts.filter(({ componentId }) => mayUse(components, actor, componentId))
      },
    )

    app.post(
      '/v2/storage/browse/configurations/names',
      {
        config: {
          operation: 'configurations.names',
          summary: 'Names of some configurations and of their components, in the order of the request',
          needs: 'component',
          onlyReads: true,
        },
        schema: { body: NamesBody, response: { 200: Type.Array(NamesLine) } },
      },
      async (req) => {
        const { actor, branch } = scopeOf(req)
        const wanted = req.body.configurations.map(({ componentId, configurationId = null }) => ({
          asked: { componentId, configurationId },
          component: components.find(componentId),
        }))
        const places = wanted.flatMap(({ asked: { configurationId }, component }) =>
          component && configurationId !== null && mayUse(components, actor, component.id)
            ? [{ componentId: component.id, configurationId }]
            : [],
        )
        const names = await findNames(db, actor.projectId, branch.id, places)
        return wanted.map(({ asked, component }) => ({
          ...asked,
          name: names.get(`${component?.id} ${asked.configurationId}`) ?? null,
          componentName: component?.name ?? null,
        }))
      },
    )
  }
}
