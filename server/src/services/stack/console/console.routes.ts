// The console: its files, and its page for every address below /console (spec platform 6.10, ADR 0031).

import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { StaticFile, StaticFiles } from '../../../engines/static-files/static-files.ts'
import { PlatformError } from '../../../kit/errors.ts'

export interface ConsoleDeps {
  readonly files: StaticFiles
  /** Where uploads go and downloads come from; empty until the object store listens. */
  readonly s3Url: () => string
}

const PAGE = 'index.html'
const Any = Type.Unsafe<unknown>({})
const params = Type.Object({ '*': Type.String({ description: 'A file of the console, or the path of one of its pages.' }) })

export function consoleRoutes({ files, s3Url }: ConsoleDeps): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.get(
      '/',
      {
        config: { operation: 'console.start', summary: 'Redirect to the console', needs: 'nothing' },
        schema: { response: { 302: Any } },
      },
      async (_req, reply) => reply.redirect('/console/', 302),
    )

    app.get(
      '/console', // the server takes slashes at the end of an address away
      {
        config: { operation: 'console.page', summary: 'The web console', needs: 'nothing', produces: ['text/html'] },
        schema: { response: { 200: Any } },
      },
      async (req, reply) => sendPage(req, reply),
    )

    app.get<{ Params: { '*': string } }>(
      '/console/*',
      {
        config: { operation: 'console.get', summary: 'A page or a file of the console', needs: 'nothing', produces: ['*/*'] },
        schema: { params, response: { 200: Any } },
      },
      async (req, reply) => {
        const path = req.params['*']
        const file = files.get(path)
        if (file && path !== PAGE) return sendFile(req, reply.header('cache-control', cachingOf(path)), file)
        if (path.startsWith('assets/')) throw new PlatformError('notFound', { what: `The file ${path} of the console` })
        return sendPage(req, reply)
      },
    )

    async function sendPage(req: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
      const page = files.get(PAGE)
      if (!page) throw new PlatformError('console.notBuilt')
      reply.header('cache-control', 'no-cache').header('content-security-policy', policyFor(s3Url()))
      return sendFile(req, reply.header('referrer-policy', 'no-referrer'), page)
    }
  }
}

/** Files of the build carry a fingerprint in their names and never change; the others are revalidated. */
const cachingOf = (path: string): string => (path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')

async function sendFile(req: FastifyRequest, reply: FastifyReply, file: StaticFile): Promise<FastifyReply> {
  const { type, bytes, etag } = file
  reply.header('etag', etag).header('vary', 'accept-encoding')
  if (req.headers['if-none-match'] === etag) return reply.code(304).send()
  const packed = /\bbr\b/.test(req.headers['accept-encoding'] ?? '') ? await file.brotli() : undefined
  if (packed) reply.header('content-encoding', 'br')
  return reply.type(type).send(packed ?? bytes)
}

const policyFor = (s3Url: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'", // widths of bars and places of virtual rows
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${s3Url}`.trim(),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
