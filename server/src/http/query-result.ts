// The parameters of a query and its result, computed or cached.

import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { callerGone } from './connection/caller-gone.ts'

export interface QueryResult {
  readonly isKept: boolean
  readonly body: Buffer | AsyncIterable<Uint8Array>
}

/** Computes until the caller is gone. */
export async function sendQueryResult(
  reply: FastifyReply,
  contentType: string,
  compute: (signal: AbortSignal) => Promise<QueryResult>,
): Promise<FastifyReply> {
  const { isKept, body } = await compute(callerGone(reply))
  reply.header('X-Millrace-Cache', isKept ? 'hit' : 'miss')
  return reply.type(contentType).send(Buffer.isBuffer(body) ? body : Readable.from(body, { objectMode: false }))
}

/** A JSON object with a value for each name; `refuse` makes the error of any other text. */
export function valuesFromText(text: string | undefined, refuse: (reason: string) => Error): Record<string, unknown> {
  if (text === undefined || text === '') return {}
  try {
    const values: unknown = JSON.parse(text)
    if (typeof values === 'object' && values !== null && !Array.isArray(values)) return values as Record<string, unknown> // an object, as just checked
  } catch {} // reported below
  throw refuse('must be a JSON object with a value for each name')
}
