// For operators: liveness, readiness, metrics; and for programmers: the API documentation (spec platform 6.10).

import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { ComponentDescription } from '../../../../../contract/component.ts'
import { PAGE_POLICY } from '../../../http/html-page.ts'
import { type DocumentedRoute, openApiDocument } from '../../../http/openapi.ts'
import { ComponentId } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { componentPage, iconOf } from './component-page.ts'
import { DOCS_SCRIPT, docsPage } from './docs-page.ts'

export interface ProbesDeps {
  readonly version: string
  /** Of the sources that run, where it is known. */
  readonly commit?: string | undefined
  /** Throws or answers problems when the stack cannot serve. */
  readonly problems: () => Promise<readonly string[]>
  /** Set: readers of the metrics send it as `Authorization: Bearer`. */
  readonly metricsToken?: string | undefined
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
}

export interface PagesDeps {
  readonly version: string
  readonly routes: readonly DocumentedRoute[]
  /** By any of its ids. */
  readonly component: (id: string) => ComponentDescription | undefined
}

const Html = Type.String()
const page = (operation: string, summary: string, type = 'text/html') => ({
  config: { operation, summary, needs: 'nothing', produces: [type] } as const,
  schema: { response: { 200: Html } },
})

/** What every node answers, whatever its roles. */
export function probesRoutes({ version, commit, problems, metrics, metricsToken }: ProbesDeps): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.get('/health', page('operations.health', 'Liveness check', 'application/json'), async (_req, reply) =>
      reply.type('application/json').send(JSON.stringify({ status: 'ok', version, commit })),
    )

    app.get('/ready', page('operations.ready', 'Readiness check', 'application/json'), async (_req, reply) => {
      const found = await problems()
      if (found.length > 0) throw new PlatformError('unavailable', { what: `The stack (${found.join('; ')})` })
      return reply.type('application/json').send(JSON.stringify({ status: 'ready', version, commit }))
    })

    app.get('/metrics', page('operations.metrics', 'Metrics in Prometheus format', 'text/plain'), async (req, reply) => {
      if (metricsToken !== undefined && !isBearer(req.headers.authorization, metricsToken))
        throw new PlatformError('storage.tokenInvalid')
      const { contentType, text } = await metrics()
      return reply.type(contentType).send(text)
    })
  }
}

function isBearer(header: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`))
}

/** On a node without the role `api`: other requests are served by another node. */
export const elsewhereRoutes: FastifyPluginAsync = async (app) => {
  const elsewhere = page('operations.elsewhere', 'The API is served by other nodes', 'application/json')
  const params = Type.Object({ '*': Type.String({ description: 'Any address.' }) })
  app.all('/*', { ...elsewhere, schema: { ...elsewhere.schema, params } }, async () => {
    throw new PlatformError('noApiHere')
  })
}

export function pagesRoutes({ version, routes, component }: PagesDeps): FastifyPluginAsyncTypebox {
  const openApiAt = keptByAddress((baseUrl) => JSON.stringify(openApiDocument(routes, version, baseUrl)))
  const docsPageAt = keptByAddress((baseUrl) => docsPage(routes, baseUrl))
  const componentOf = (id: string): ComponentDescription => {
    const found = component(id)
    if (!found) throw new PlatformError('storage.components.notFound', { id: id.slice(0, 130) })
    return found
  }

  return async (app) => {
    app.get(
      '/docs/components/:componentId',
      {
        ...page('operations.componentPage', 'Documentation of a component'),
        schema: { params: OfComponent, response: { 200: Html } },
      },
      async (req, reply) => sendPage(reply, componentPage(componentOf(req.params.componentId), req.baseUrl)),
    )

    app.get(
      '/docs/components/:componentId/icon.svg',
      {
        ...page('operations.componentIcon', 'The icon of a component', 'image/svg+xml'),
        schema: { params: OfComponent, response: { 200: Html } },
      },
      async (req, reply) => reply.type('image/svg+xml').send(iconOf(componentOf(req.params.componentId))),
    )

    app.get(
      '/openapi.json',
      page('operations.openapi', 'OpenAPI 3.1 document of this API', 'application/json'),
      async (req, reply) => reply.type('application/json').send(openApiAt(req.baseUrl)),
    )

    app.get('/docs', page('operations.docs', 'API reference as a page'), async (req, reply) =>
      reply.type('text/html; charset=utf-8').header('content-security-policy', DOCS_POLICY).send(docsPageAt(req.baseUrl)),
    )
  }
}

/** Caches what takes a tenth of a second to write, for the last few URLs of the stack that were requested. No token is required. */
function keptByAddress(write: (baseUrl: string) => string): (baseUrl: string) => string {
  const kept = new Map<string, string>()
  return (baseUrl) => {
    const text = kept.get(baseUrl) ?? write(baseUrl)
    kept.delete(baseUrl)
    kept.set(baseUrl, text) // as the last one
    if (kept.size > KEPT_ADDRESSES) kept.delete(kept.keys().next().value!) // not empty: it has just grown
    return text
  }
}

const KEPT_ADDRESSES = 4

const OfComponent = Type.Object({ componentId: ComponentId })

const sendPage = (reply: FastifyReply, html: string) =>
  reply.type('text/html; charset=utf-8').header('content-security-policy', PAGE_POLICY).send(html)

/** Of all pages only this one runs a script: its filter, and the forms that send requests to this stack. */
const DOCS_POLICY = `${PAGE_POLICY}; connect-src 'self'; script-src 'sha256-${createHash('sha256').update(DOCS_SCRIPT).digest('base64')}'`
