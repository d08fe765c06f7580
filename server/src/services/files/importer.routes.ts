// HTTP of the importer (spec platform 5): one request uploads a file.

import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type ArrivingFile, readFormWithFile } from '../../http/form-with-file.ts'
import { FormFile, optionalFlag } from '../../http/parameters.ts'
import { validate } from '../../http/validation.ts'
import { PlatformError } from '../../kit/errors.ts'

/** Fields beside the file; what a form says about it, all optional. */
const UploadFields = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 10_000, description: 'Name of the file; that of the form part by default.' })),
  isPermanent: optionalFlag('True: kept until it is deleted. False: removed after its age, 15 days.'),
  isPublic: optionalFlag('Kept and shown; every read needs a link or credentials all the same.'),
  isEncrypted: optionalFlag('Kept and shown.'),
  notify: optionalFlag('Kept; no mail is sent.'),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
      maxItems: 1000,
      description: 'Tags, by which lists can be narrowed.',
    }),
  ),
})

export type UploadFields = Type.Static<typeof UploadFields>

export interface ImporterDeps {
  /** Stores the bytes and makes the file; resolves to the file as the files module shows it. */
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
          form: Type.Object({ data: FormFile, ...UploadFields.properties }),
        },
        schema: { response: { 200: Type.Unknown() } },
      },
      async (req, reply) => {
        const { file } = await readFormWithFile(req, 'data', (arriving) => uploadFile(req, incoming(arriving)))
        if (file === undefined) throw new PlatformError('import.dataMissing')
        return reply.code(200).send(file)
      },
    )
  }
}

const incoming = ({ filename, body, fields }: ArrivingFile): IncomingUpload => ({
  filename,
  body,
  fields: async () => {
    const said = validate(UploadFields, await fields())
    return { ...said, name: said.name || filename }
  },
})
