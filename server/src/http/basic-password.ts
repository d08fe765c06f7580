import type { FastifyRequest } from 'fastify'

/** By HTTP Basic, whatever the user is; empty when none was sent. */
export function passwordOf({ headers }: Pick<FastifyRequest, 'headers'>): string {
  const [, encoded = ''] = /^Basic ([A-Za-z0-9+/=]{1,1000})$/i.exec(headers.authorization ?? '') ?? []
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}
