// HTTP for what arrives (spec platform 7.1): no token, the secret is part of the address.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { keptHeaders, projectFrom, type Receiving } from './receiving.ts'

/** A record is one event, not a file. */
const MAX_RECORD_BYTES = 1024 * 1024

const Address = Type.Object({
  projectId: Type.String({ description: 'Id of the project.' }),
  sourceId: Type.String({ description: 'Id of the source.' }),
  secret: Type.String({ description: 'The secret of the source.' }),
})

export function receivingRoutes(receiving: Receiving): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/stream/:projectId/:sourceId/:secret',
      {
        config: {
          operation: 'stream.receive',
          summary: 'Send a record: JSON, a form or text. 200 once it is on disk',
          needs: 'nothing',
          body: 'text',
          consumes: ['application/json', 'application/x-www-form-urlencoded', 'text/plain', '*/*'],
          produces: ['text/plain'],
          quiet: true,
        },
        bodyLimit: MAX_RECORD_BYTES,
        schema: { params: Address, response: { 200: Type.String() } },
      },
      async (req, reply) => {
        const { projectId, sourceId, secret } = req.params
        await receiving.receive({ projectId: projectFrom(projectId), sourceId, secret, type: 'http' }, [recordOf(req)])
        return reply.type('text/plain').send('OK')
      },
    )
  }
}

function recordOf(req: FastifyRequest) {
  const type = (req.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  return {
    ip: req.ip,
    headers: keptHeaders(req.headers),
    // A multipart form arrives parsed; a request without a body as an empty object.
    body: typeof req.body === 'string' ? req.body : type === '' ? '' : JSON.stringify(req.body),
    isForm: type === 'application/x-www-form-urlencoded',
  }
}
