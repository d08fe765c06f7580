// A multipart form with one file that is too large to hold: the file streams through, the fields around it are collected.

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import busboy from '@fastify/busboy'
import { PlatformError } from '../kit/errors.ts'
import { type FormValue, fromPairs } from './form.ts'

export interface IncomingFile {
  readonly filename: string
  readonly body: AsyncIterable<Uint8Array>
  /** The fields of the form; settles when the form has ended, after the file. */
  readonly fields: Promise<Record<string, FormValue>>
}

const LIMITS = { fields: 2000, fieldSize: 1024 * 1024, fieldNameSize: 1000, parts: 3000, headerPairs: 100 }

const malformed = (reason: string) => new PlatformError('malformedRequest', { reason })

/**
 * Hands the file of that field to `take` while it arrives. Resolves to what `take` made of it, or to undefined when the form has
 * ended without such a file. Other files in the form are read and forgotten.
 */
export async function readMultipartFile<T>(
  message: IncomingMessage,
  field: string,
  take: (file: IncomingFile) => Promise<T>,
): Promise<T | undefined> {
  const form = openForm(message, field)
  const pairs: [string, string][] = []
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  ended.catch(() => {}) // reported below, or by the reader of the fields
  const fields = ended.then(() => fromPairs(pairs))
  fields.catch(() => {})
  let taking: Promise<T> | undefined

  form.on('field', (name, value, nameTruncated, valueTruncated) => {
    if (nameTruncated || valueTruncated) return fail(malformed(`the field ${name.slice(0, 60)} is too long.`))
    pairs.push([name, value])
  })
  form.on('file', (name, stream, filename) => {
    if (name !== field || taking) return void stream.resume()
    open = stream
    taking = take({ filename: filename ?? '', body: stream, fields })
    taking.catch((error) => fail(error)) // a full disk: stop reading at once
  })
  for (const limit of ['partsLimit', 'fieldsLimit'] as const)
    form.on(limit, () => fail(malformed('the form has too many fields.')))
  form.on('error', (error) =>
    fail(malformed(`the multipart body is broken (${error instanceof Error ? error.message : String(error)}).`)),
  )
  form.on('finish', resolve)
  message.on('aborted', () => fail(malformed('the connection ended before the body did.')))
  message.on('error', fail)
  message.pipe(form)

  let open: Readable | undefined
  function fail(error: unknown): void {
    message.unpipe(form)
    message.resume() // what still comes is not wanted, and the answer must get through
    open?.destroy(error instanceof Error ? error : undefined)
    reject(error)
  }

  await ended
  return taking
}

function openForm(message: IncomingMessage, field: string) {
  const type = message.headers['content-type']
  if (type === undefined || !/^multipart\/form-data\b/i.test(type))
    throw malformed('the body must be multipart/form-data with the file in the field "data".')
  try {
    return new busboy.Busboy({
      headers: { ...message.headers, 'content-type': type },
      limits: LIMITS,
      isPartAFile: (name, _type, filename) => filename !== undefined || name === field,
    })
  } catch (error) {
    throw malformed(`the multipart body is broken (${error instanceof Error ? error.message : String(error)}).`)
  }
}
