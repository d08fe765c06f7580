// A form with one file in it, stored while it arrives: fields may precede and follow it.

import type { FastifyRequest } from 'fastify'
import { lentChunks } from '../../kit/chunk-memory.ts'
import { PlatformError } from '../../kit/errors.ts'
import { parseBody } from '../body.ts'
import { fromPairs } from './form.ts'
import { boundaryOf, type FormPart, readParts } from './multipart.ts'

export interface FormWithFile<T> {
  readonly fields: Readonly<Record<string, unknown>>
  /** What `store` made of the file; undefined when the form has none. */
  readonly file: T | undefined
}

export interface ArrivingFile {
  readonly filename: string
  /** A chunk is valid until the reader requests the next. */
  readonly body: AsyncIterable<Buffer>
  /** Reads the rest of the form, once the body has ended: fields may follow the file. */
  fields(): Promise<FormWithFile<unknown>['fields']>
}

const MAX_FIELD_BYTES = 1024 * 1024

/** For routes with `body: 'stream'`. A body that is no multipart form is read as fields. */
export async function readFormWithFile<T>(
  request: FastifyRequest,
  fileField: string,
  store: (file: ArrivingFile) => Promise<T>,
): Promise<FormWithFile<T>> {
  const boundary = boundaryOf(request.headers['content-type'])
  if (boundary === undefined) {
    const body = await parseBody(request, request.raw)
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { fields: { ...body }, file: undefined }
    throw new PlatformError('malformedRequest', { reason: 'the body should be an object of fields.' })
  }
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw new PlatformError('malformedRequest', {
      reason: `Content-Encoding "${encoding.slice(0, 40)}" is not supported for a form with a file. Send the form as it is, with a packed file in it.`,
    })
  // Not destroyed on the way out: after a refusal the answer still has to get through.
  const parts = readParts(lentChunks(request.raw.iterator({ destroyOnReturn: false })), boundary)
  const pairs: [string, string][] = []
  const keepField = async (part: FormPart) => {
    if (part.filename === undefined) pairs.push([part.name, await readField(part)])
  }
  const fields = async () => {
    for await (const part of parts) {
      if (part.name === fileField)
        throw new PlatformError('malformedRequest', { reason: `the form has the file "${fileField}" twice. Send one file.` })
      await keepField(part)
    }
    return fromPairs(pairs)
  }

  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    const { name, filename } = next.value
    const body = name === fileField ? await unlessEmpty(next.value) : undefined
    if (name !== fileField) await keepField(next.value)
    else if (body) {
      const file = await store({ filename: filename || 'upload', body, fields })
      return { fields: await fields(), file }
    }
  }
  return { fields: fromPairs(pairs), file: undefined }
}

/** The bytes of a file. `data=` has no name and no bytes: it is no file, while an empty file has a name. */
async function unlessEmpty({ filename, body }: FormPart): Promise<AsyncIterable<Buffer> | undefined> {
  if (filename) return body
  const chunks = body[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done) return undefined
  return (async function* () {
    yield first.value
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
  })()
}

async function readField(part: FormPart): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of part.body) {
    size += chunk.length
    if (size > MAX_FIELD_BYTES) throw new PlatformError('bodyTooLarge', { limit: MAX_FIELD_BYTES })
    chunks.push(Buffer.from(chunk))
  }
  return Buffer.concat(chunks).toString()
}
