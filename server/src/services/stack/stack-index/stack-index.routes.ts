// The index of the stack (spec storage 2.1): where everything is. Needs no token.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { ComponentDescription } from '../../../../../contract/component.ts'
import { SERVICE_IDS, serviceUrl } from '../../../http/addresses.ts'
import { Nullable } from '../../../http/parameters.ts'
import { STACK_FEATURES } from '../../../model/features.ts'

const IndexView = Type.Object({
  host: Type.String(),
  api: Type.String(),
  version: Type.String(),
  revision: Type.String(),
  stack: Type.String(),
  documentation: Type.String(),
  components: Type.Optional(Type.Array(Type.Unknown())),
  services: Type.Array(Type.Object({ id: Type.String(), url: Type.String() })),
  features: Type.Array(Type.String()),
  urlTemplates: Type.Record(Type.String(), Type.String()),
  sqlPort: Nullable(Type.Integer({ description: 'The PostgreSQL port of the stack; null if disabled.' })),
})

/** What is left of a component with `exclude=componentDetails`. */
const BRIEF = ['id', 'name', 'type', 'ico64', 'ico128', 'features', 'flags', 'description', 'categories'] as const

export interface IndexDeps {
  readonly revision: string
  readonly domain: string | undefined
  readonly sqlPort: () => number | undefined
  /** The registry's descriptions; `baseUrl` for their links. */
  readonly components: (baseUrl: string) => Promise<readonly ComponentDescription[]> | readonly ComponentDescription[]
}

export function stackIndexRoutes({ revision, domain, sqlPort, components }: IndexDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage',
      {
        config: { operation: 'index.get', summary: 'The index: services, components, version', needs: 'nothing' },
        schema: {
          querystring: Type.Object({
            exclude: Type.Optional(Type.String({ description: 'Comma list of components, componentDetails.' })),
          }),
          response: { 200: IndexView },
        },
      },
      async (req) => {
        const excluded = new Set((req.query.exclude ?? '').split(',').map((word) => word.trim()))
        const host = new URL(req.baseUrl).host
        return {
          host,
          api: 'storage',
          version: 'v2',
          revision,
          stack: host,
          documentation: `${req.baseUrl}/docs`,
          ...(!excluded.has('components') && { components: await listComponents(req.baseUrl, excluded.has('componentDetails')) }),
          services: SERVICE_IDS.map((id) => ({ id, url: serviceUrl(id, req.baseUrl, domain) })),
          features: [...STACK_FEATURES],
          urlTemplates: urlTemplatesOf(req.baseUrl),
          sqlPort: sqlPort() ?? null,
        }
      },
    )
  }

  async function listComponents(baseUrl: string, brief: boolean): Promise<unknown[]> {
    const all = await components(baseUrl)
    return brief ? all.map((component) => Object.fromEntries(BRIEF.map((field) => [field, component[field]]))) : [...all]
  }
}

/** Where a person finds a thing in the console; `&&name&&` is filled in by the client. */
const urlTemplatesOf = (baseUrl: string) => ({
  orchestrationJob: `${baseUrl}/console/jobs/&&jobId&&`,
  job: `${baseUrl}/console/jobs/&&jobId&&`,
  configuration: `${baseUrl}/console/components/&&componentId&&/&&configurationId&&`,
  table: `${baseUrl}/console/storage/&&tableId&&`,
})
