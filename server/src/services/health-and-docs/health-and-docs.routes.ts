// For those who run the stack: is it alive, can it serve, how is it doing; and for those who program it: the API documentation (spec platform 6.10).

import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Type } from 'typebox'
import { PAGE_POLICY } from '../../http/html-page.ts'
import { type DocumentedRoute, openApiDocument } from '../../http/openapi.ts'
import { PlatformError } from '../../kit/errors.ts'
import { docsPage, FILTER_SCRIPT } from './docs-page.ts'

export interface ProbesDeps {
  readonly version: string
  /** Throws or answers problems when the stack cannot serve. */
  readonly problems: () => Promise<readonly string[]>
  /** Set: whoever reads the metrics sends it as `Authorization: Bearer`. */
  readonly metricsToken?: string | undefined
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
}

export interface PagesDeps {
  readonly version: string
  readonly routes: readonly DocumentedRoute[]
}

const Html = Type.String()
const page = (operation: string, summary: string) => ({
  config: { operation, summary, needs: 'nothing' } as const,
  schema: { response: { 200: Html } },
})

/** What every node answers, whatever its roles. */
export function probesRoutes({ version, problems, metrics, metricsToken }: ProbesDeps): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.get('/health', page('operations.health', 'Is the process alive?'), async (_req, reply) =>
      reply.type('application/json').send(JSON.stringify({ status: 'ok', version })),
    )

    app.get('/ready', page('operations.ready', 'Can the stack serve?'), async (_req, reply) => {
      const found = await problems()
      if (found.length > 0) throw new PlatformError('unavailable', { what: `The stack (${found.join('; ')})` })
      return reply.type('application/json').send(JSON.stringify({ status: 'ready', version }))
    })

    app.get('/metrics', page('operations.metrics', 'Prometheus text'), async (req, reply) => {
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

/** On a node without the role `api`: whatever else is asked for is served by another node. */
export const elsewhereRoutes: FastifyPluginAsync = async (app) => {
  const elsewhere = page('operations.elsewhere', 'The API is served by other nodes')
  const params = Type.Object({ '*': Type.String({ description: 'Any address.' }) })
  app.all('/*', { ...elsewhere, schema: { ...elsewhere.schema, params } }, async () => {
    throw new PlatformError('noApiHere')
  })
}

export function pagesRoutes({ version, routes }: PagesDeps): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.get('/openapi.json', page('operations.openapi', 'This API as OpenAPI 3.1'), async (req, reply) =>
      reply.type('application/json').send(JSON.stringify(openApiDocument(routes, version, req.baseUrl))),
    )

    app.get('/docs', page('operations.docs', 'This API as a page'), async (req, reply) =>
      reply.type('text/html; charset=utf-8').header('content-security-policy', DOCS_POLICY).send(docsPage(routes, req.baseUrl)),
    )
  }
}

/** Of all pages only this one runs a script: its filter. */
const DOCS_POLICY = `${PAGE_POLICY}; script-src 'sha256-${createHash('sha256').update(FILTER_SCRIPT).digest('base64')}'`
