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
  /** The registry's descriptions: the same list as long as none of them changes. */
  readonly components: () => Promise<readonly ComponentDescription[]>
  /** A description as clients see it, with links that begin with `baseUrl`. */
  readonly published: (component: ComponentDescription, baseUrl: string) => ComponentDescription
}

/** A stack has few base URLs; a client that invents others in its Host header pushes nothing but these out. */
const MAX_TEXTS = 16

export function stackIndexRoutes(deps: IndexDeps): FastifyPluginAsyncTypebox {
  /** The texts of the index, made once for each list of components: most of its 125 kB are their descriptions, and every client starts with it. */
  const textsOf = new WeakMap<readonly ComponentDescription[], Map<string, string>>()

  return async (app) => {
    app.get(
      '/v2/storage',
      {
        config: { operation: 'index.get', summary: 'The index: services, components, version', needs: 'nothing' },
        schema: {
          querystring: Type.Object({
            exclude: Type.Optional(
              Type.String({ description: 'What to omit, separated by commas: components, componentDetails.' }),
            ),
          }),
          response: { 200: IndexView },
        },
      },
      async (req, reply) => {
        const excluded = new Set((req.query.exclude ?? '').split(',').map((word) => word.trim()))
        const shape = excluded.has('components') ? 'none' : excluded.has('componentDetails') ? 'brief' : 'whole'
        const components = await deps.components()
        const texts = textsOf.get(components) ?? new Map<string, string>()
        textsOf.set(components, texts)
        const key = `${shape} ${deps.sqlPort() ?? ''} ${req.baseUrl}`
        const text = texts.get(key) ?? JSON.stringify(indexView(deps, components, shape, req.baseUrl))
        if (texts.size >= MAX_TEXTS) texts.clear()
        texts.set(key, text)
        return reply.header('content-type', 'application/json; charset=utf-8').send(text as never) // the text of an IndexView
      },
    )
  }
}

function indexView(
  { revision, domain, sqlPort, published }: IndexDeps,
  components: readonly ComponentDescription[],
  shape: 'none' | 'brief' | 'whole',
  baseUrl: string,
) {
  const shown = components.map((component) => published(component, baseUrl))
  const { host } = new URL(baseUrl)
  return {
    host,
    api: 'storage',
    version: 'v2',
    revision,
    stack: host,
    documentation: `${baseUrl}/docs`,
    ...(shape === 'whole' && { components: shown }),
    ...(shape === 'brief' && { components: shown.map((one) => Object.fromEntries(BRIEF.map((field) => [field, one[field]]))) }),
    services: SERVICE_IDS.map((id) => ({ id, url: serviceUrl(id, baseUrl, domain) })),
    features: [...STACK_FEATURES],
    urlTemplates: urlTemplatesOf(baseUrl),
    sqlPort: sqlPort() ?? null,
  }
}

/** Where a person finds a thing in the console; `&&name&&` is filled in by the client. */
const urlTemplatesOf = (baseUrl: string) => ({
  orchestrationJob: `${baseUrl}/console/jobs/&&jobId&&`,
  job: `${baseUrl}/console/jobs/&&jobId&&`,
  configuration: `${baseUrl}/console/components/&&componentId&&/&&configurationId&&`,
  table: `${baseUrl}/console/storage/&&tableId&&`,
})
