// A form with one file in it, stored while it arrives: fields may stand before and after it.

import type { FastifyRequest } from 'fastify'
import { PlatformError } from '../kit/errors.ts'
import { parseBody } from './body.ts'
import { fromPairs } from './form.ts'
import { boundaryOf, type FormPart, readParts } from './multipart.ts'

export interface FormWithFile<T> {
  readonly fields: Readonly<Record<string, unknown>>
  /** What `store` made of the file; undefined when the form has none. */
  readonly file: T | undefined
}

const MAX_FIELD_BYTES = 1024 * 1024

/** For routes with `body: 'stream'`. A body that is no multipart form is read as fields. */
export async function readFormWithFile<T>(
  request: FastifyRequest,
  fileField: string,
  store: (filename: string, body: AsyncIterable<Buffer>) => Promise<T>,
): Promise<FormWithFile<T>> {
  const boundary = boundaryOf(request.headers['content-type'])
  if (boundary === undefined) {
    const body = await parseBody(request, request.raw)
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { fields: { ...body }, file: undefined }
    throw new PlatformError('malformedRequest', { reason: 'the body should be an object of fields.' })
  }
  const pairs: [string, string][] = []
  let file: T | undefined
  // Not destroyed on the way out: after a refusal the answer still has to get through.
  for await (const part of readParts(request.raw.iterator({ destroyOnReturn: false }), boundary)) {
    if (part.name === fileField && file === undefined) file = await store(part.filename || 'upload', part.body)
    else if (part.filename === undefined) pairs.push([part.name, await readField(part)])
  }
  return { fields: fromPairs(pairs), file }
}

async function readField(part: FormPart): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of part.body) {
    size += chunk.length
    if (size > MAX_FIELD_BYTES) throw new PlatformError('bodyTooLarge', { limit: MAX_FIELD_BYTES })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
