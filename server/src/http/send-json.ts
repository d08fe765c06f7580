// Answers with text (or its bytes) that is JSON already, for modules that return JSON exactly as it was sent.

import type { FastifyReply } from 'fastify'

export const sendJson = (reply: FastifyReply, text: string | Buffer, status = 200): FastifyReply =>
  reply.code(status).type('application/json').send(text)
