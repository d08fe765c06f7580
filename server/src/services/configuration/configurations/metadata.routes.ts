// HTTP for the metadata of configurations and the search over it (spec storage 2.8.3 and 2.12).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { readMetadataItems } from '../../../http/metadata-items.ts'
import { ComponentId, ConfigurationId, include, MetadataId, MetadataList, optionalText } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { eventOf } from '../../../model/event.ts'
import type { ConfigurationMetadata } from './metadata.ts'
import { CONFIG, callerOf, InConfiguration, MetadataView } from './route-shapes.ts'
import { metadataView } from './views.ts'

const OneItem = Type.Object({ componentId: ComponentId, configurationId: ConfigurationId, metadataId: MetadataId })

const SearchQuery = Type.Object(
  {
    idComponent: optionalText('Only configurations of this component; alias of componentId.'),
    componentId: optionalText('Only configurations of this component.'),
    configurationId: optionalText('Only this configuration.'),
    metadataKeys: Type.Optional(
      Type.Union([Type.Array(Type.String()), Type.String()], { description: 'Only configurations with one of these keys.' }),
    ),
    include: include('filteredMetadata'),
  },
  { additionalProperties: false },
)

const Found = Type.Object({
  idComponent: Type.String(),
  configurationId: Type.String(),
  metadata: Type.Optional(Type.Array(MetadataView)),
})

const searchedEvent = ({ idComponent, componentId, configurationId, metadataKeys, include }: Type.Static<typeof SearchQuery>) =>
  eventOf('storage.componentsSearched', {
    idComponent: componentId ?? idComponent ?? null,
    configurationId: configurationId ?? null,
    metadataKeys: [metadataKeys ?? []].flat(),
    include: (include ?? '').split(',').filter((name) => name !== ''),
  })

export function configurationMetadataRoutes(metadata: ConfigurationMetadata): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      `${CONFIG}/metadata`,
      {
        config: { operation: 'configurationMetadata.list', summary: 'Metadata of a configuration', needs: 'component' },
        schema: { params: InConfiguration, response: { 200: Type.Array(MetadataView) } },
      },
      async (req) => {
        const { componentId, configurationId } = req.params
        return (await metadata.list(callerOf(req), componentId, configurationId)).map(metadataView)
      },
    )

    app.post(
      `${CONFIG}/metadata`,
      {
        config: {
          operation: 'configurationMetadata.set',
          summary: 'Set metadata of a configuration',
          needs: 'component',
          proposable: 'branch',
        },
        schema: {
          params: InConfiguration,
          body: Type.Object({ metadata: MetadataList }),
          response: { 201: Type.Array(MetadataView) },
        },
      },
      async (req, reply) => {
        const { componentId, configurationId } = req.params
        const items = readMetadataItems(req.body.metadata)
        const all = await metadata.set(callerOf(req), componentId, configurationId, items)
        return reply.code(201).send(all.map(metadataView))
      },
    )

    app.delete(
      `${CONFIG}/metadata/:metadataId`,
      {
        config: {
          operation: 'configurationMetadata.delete',
          summary: 'Delete one metadata item',
          needs: 'component',
          proposable: 'branch',
        },
        schema: { params: OneItem, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        const { componentId, configurationId, metadataId } = req.params
        const id = idFrom(metadataId, () => new PlatformError('storage.metadata.notFound', { id: metadataId.slice(0, 50) }))
        await metadata.remove(callerOf(req), componentId, configurationId, id)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/search/component-configurations',
      {
        config: {
          operation: 'search.configurations',
          summary: 'Search configurations by metadata',
          needs: 'component',
          branch: 'required',
          readEvent: (req) => searchedEvent(req.query as Type.Static<typeof SearchQuery>), // by the schema below
        },
        schema: { querystring: SearchQuery, response: { 200: Type.Array(Found) } },
      },
      async (req) => {
        const { idComponent, componentId = idComponent, configurationId, metadataKeys = [], include } = req.query
        const found = await metadata.search(callerOf(req), { componentId, configurationId, keys: [metadataKeys].flat() })
        const withMetadata = (include ?? '').split(',').includes('filteredMetadata')
        // With their metadata only those that have some are listed (corrections-2, G11).
        return found
          .filter((entry) => !withMetadata || entry.metadata.length > 0)
          .map((entry) => ({
            idComponent: entry.componentId,
            configurationId: entry.configurationId,
            ...(withMetadata && { metadata: entry.metadata.map(metadataView) }),
          }))
      },
    )
  }
}
