// HTTP for telemetry (OTLP/HTTP, spec platform 7.1): the secret is part of the address or a bearer token.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { PlatformError } from '../../../kit/errors.ts'
import { OTLP_SIGNALS, type OtlpEncoding, type OtlpSignal, otlpRecords } from './otlp.ts'
import { keptHeaders, projectFrom, type Receiving } from './receiving.ts'

/** Exporters send batches of some hundred records. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024
const ENCODINGS: Readonly<Record<string, OtlpEncoding>> = {
  'application/json': 'json',
  'application/x-protobuf': 'protobuf',
}

const Address = Type.Object({
  projectId: Type.String({ description: 'Id of the project.' }),
  sourceId: Type.String({ description: 'Id of the source.' }),
  signal: Type.Enum([...OTLP_SIGNALS], { description: 'logs, metrics or traces' }),
})
const SecretAddress = Type.Object({
  ...Address.properties,
  secret: Type.String({ description: 'The secret of the source.' }),
})

const TYPES = Object.keys(ENCODINGS)
const SETTINGS = {
  needs: 'nothing',
  body: 'bytes',
  validationCode: 'validation.failed',
  consumes: TYPES,
  produces: TYPES,
} as const

export function otlpRoutes(receiving: Receiving): FastifyPluginAsyncTypebox {
  async function receive(req: FastifyRequest, to: { projectId: string; sourceId: string; signal: OtlpSignal }, secret: string) {
    const type = mediaTypeOf(req)
    const encoding = ENCODINGS[type]
    if (encoding === undefined) throw new PlatformError('stream.invalidOtlp', { reason: WRONG_TYPE })
    const sender = { projectId: projectFrom(to.projectId), sourceId: to.sourceId, secret, type: 'otlp' } as const
    await receiving.check(sender)
    const bodies = otlpRecords(to.signal, encoding, Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0))
    const from = { ip: req.ip, headers: keptHeaders(req.headers), isForm: false }
    await receiving.receive(
      sender,
      bodies.map((body) => ({ ...from, body })),
    )
    return { type, content: encoding === 'json' ? '{}' : '' }
  }

  return async (app) => {
    app.post(
      '/otlp/:projectId/:sourceId/:secret/v1/:signal',
      {
        config: { operation: 'stream.otlp', summary: 'Send telemetry by OTLP/HTTP. 200 once it is on disk', ...SETTINGS },
        bodyLimit: MAX_REQUEST_BYTES,
        schema: { params: SecretAddress, response: { 200: Type.String() } },
      },
      async (req, reply) => {
        const { type, content } = await receive(req, req.params, req.params.secret)
        return reply.type(type).send(content)
      },
    )

    app.post(
      '/otlp/:projectId/:sourceId/v1/:signal',
      {
        config: {
          operation: 'stream.otlpWithBearer',
          summary: 'Send telemetry by OTLP/HTTP with the secret as a bearer token. 200 once it is on disk',
          headers: { Authorization: '`Bearer` and the secret of the source.' },
          ...SETTINGS,
        },
        bodyLimit: MAX_REQUEST_BYTES,
        schema: { params: Address, response: { 200: Type.String() } },
      },
      async (req, reply) => {
        const { type, content } = await receive(req, req.params, bearerOf(req))
        return reply.type(type).send(content)
      },
    )
  }
}

const WRONG_TYPE = 'the Content-Type must be application/json or application/x-protobuf'

const mediaTypeOf = (req: FastifyRequest): string => (req.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()

const bearerOf = (req: FastifyRequest): string => /^Bearer\s+(\S+)$/i.exec(req.headers.authorization ?? '')?.[1] ?? ''
