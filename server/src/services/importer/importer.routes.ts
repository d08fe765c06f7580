// HTTP of the importer (specification row 2, contract platform 5): one request uploads a file.

import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { fromPairs } from '../../http/form.ts'
import { boundaryOf, type FormPart, readParts } from '../../http/multipart.ts'
import { validate } from '../../http/validation.ts'
import { PlatformError } from '../../kit/errors.ts'

/** Fields beside the file; what a form says about it, all optional. */
const UploadFields = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 10_000 })),
  isPermanent: Type.Optional(Type.Boolean()),
  isPublic: Type.Optional(Type.Boolean()),
  isEncrypted: Type.Optional(Type.Boolean()),
  notify: Type.Optional(Type.Boolean()),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), { maxItems: 1000 })),
})

export type UploadFields = Type.Static<typeof UploadFields>

export interface ImporterDeps {
  /** Stores the bytes and makes the file; resolves to the file as the files room shows it. */
  readonly uploadFile: (request: FastifyRequest, upload: IncomingUpload) => Promise<unknown>
}

export interface IncomingUpload {
  readonly filename: string
  readonly body: AsyncIterable<Uint8Array>
  /** Asked when the body has ended: fields may follow the file in the form. */
  readonly fields: () => Promise<UploadFields & { readonly name: string }>
}

export function importerRoutes({ uploadFile }: ImporterDeps): FastifyPluginAsync {
  return async (app) => {
    app.post(
      '/import/upload-file',
      {
        config: {
          operation: 'import.uploadFile',
          summary: 'Upload a file in one request (multipart, field data)',
          body: 'stream',
        },
        schema: { response: { 201: Type.Unknown() } },
      },
      async (req, reply) => {
        const file = await receive(req, (upload) => uploadFile(req, upload))
        if (file === undefined) throw new PlatformError('import.dataMissing')
        return reply.code(201).send(file)
      },
    )
  }
}

const MAX_FIELD_BYTES = 1024 * 1024

/**
 * Reads the form part by part. The file is stored while it arrives; the store asks for the fields when the file has ended, and
 * those that follow it in the form are read then.
 */
async function receive(request: FastifyRequest, store: (upload: IncomingUpload) => Promise<unknown>): Promise<unknown> {
  const boundary = boundaryOf(request.headers['content-type'])
  if (boundary === undefined)
    throw new PlatformError('malformedRequest', {
      reason: 'the body must be multipart/form-data with the file in the field "data".',
    })
  // Not destroyed on the way out: after a refusal the answer still has to get through.
  const parts = readParts(request.raw.iterator({ destroyOnReturn: false }), boundary)
  const pairs: [string, string][] = []

  async function readRemainingFields(): Promise<void> {
    for (let next = await parts.next(); !next.done; next = await parts.next())
      if (next.value.filename === undefined) pairs.push([next.value.name, await readField(next.value)])
  }

  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    const part = next.value
    if (part.name !== 'data') {
      if (part.filename === undefined) pairs.push([part.name, await readField(part)])
      continue
    }
    const filename = part.filename || 'upload'
    return store({
      filename,
      body: part.body,
      fields: async () => {
        await readRemainingFields()
        const said = validate(UploadFields, fromPairs(pairs))
        return { ...said, name: said.name || filename }
      },
    })
  }
  return undefined
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
