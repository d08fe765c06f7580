// HTTP of the importer (spec platform 5): one request uploads a file, or has the stack fetch one.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { callerGone } from '../../../http/connection/caller-gone.ts'
import { type ArrivingFile, readFormWithFile } from '../../../http/forms/form-with-file.ts'
import { FormFile, optionalFlag } from '../../../http/parameters.ts'
import { validate } from '../../../http/validation.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Scope } from '../../../model/scope.ts'
import type { FetchRequest } from './fetch-file.ts'
import { FileView } from './file-view.ts'

/** Attributes of a file, all optional. */
const FileFields = {
  isPermanent: optionalFlag('True: kept until it is deleted. False: deleted after 15 days.'),
  isPublic: optionalFlag('Stored and returned; has no effect: every read needs a link or credentials.'),
  isEncrypted: optionalFlag('Stored and returned.'),
  notify: optionalFlag('Stored; no mail is sent.'),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
      maxItems: 1000,
      description: 'Tags, which filter lists.',
    }),
  ),
  branchId: Type.Optional(
    Type.String({ description: 'Id of the development branch of the file; the default branch if omitted.' }),
  ),
}

const UploadFields = Type.Object({
  name: Type.Optional(
    Type.String({ maxLength: 10_000, description: 'Name of the file; by default the file name of the form part.' }),
  ),
  ...FileFields,
})

const FetchBody = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: 4000,
    description:
      'URL of the file, http or https; redirects are followed. The egress rules of the stack apply (MILLRACE_EGRESS_ALLOW).',
    examples: ['https://example.com/orders.csv'],
  }),
  name: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Name of the file; by default the name from the server or the end of the URL.',
    }),
  ),
  ...FileFields,
})

export type UploadFields = Type.Static<typeof UploadFields>

export interface ImporterDeps {
  /** Stores the bytes and makes the file; resolves to the file as the files module shows it. */
  readonly uploadFile: (request: FastifyRequest, upload: IncomingUpload) => Promise<unknown>
  /** A branch of the project by its id; throws when there is none. */
  readonly getBranch: (projectId: number, id: string) => Promise<Scope['branch']>
  /** The same with the bytes of an address. */
  readonly fetchFile: (request: FastifyRequest, body: FetchRequest, gone: AbortSignal) => Promise<Type.Static<typeof FileView>>
}

export interface IncomingUpload {
  readonly filename: string
  readonly body: AsyncIterable<Uint8Array>
  /** Called when the body has ended: fields may follow the file in the form. */
  readonly fields: () => Promise<Omit<UploadFields, 'branchId'> & { readonly name: string; readonly branch: Scope['branch'] }>
}

export function importerRoutes({ uploadFile, fetchFile, getBranch }: ImporterDeps): FastifyPluginAsyncTypebox {
  const branchOf = async (req: FastifyRequest, branchId: string | undefined): Promise<Scope['branch']> =>
    branchId === undefined ? req.branch : getBranch(req.actor.projectId, branchId)

  const incoming = (req: FastifyRequest, { filename, body, fields }: ArrivingFile): IncomingUpload => ({
    filename,
    body,
    fields: async () => {
      const { branchId, ...said } = validate(UploadFields, await fields())
      return { ...said, name: said.name || filename, branch: await branchOf(req, branchId) }
    },
  })

  return async (app) => {
    app.post(
      '/import/upload-file',
      {
        config: {
          operation: 'import.uploadFile',
          summary: 'Upload a file in one request (multipart, field data)',
          needs: 'token',
          body: 'stream',
          form: Type.Object({ data: FormFile, ...UploadFields.properties }),
        },
        schema: { response: { 200: Type.Unknown() } },
      },
      async (req, reply) => {
        const { file } = await readFormWithFile(req, 'data', (arriving) => uploadFile(req, incoming(req, arriving)))
        if (file === undefined) throw new PlatformError('import.dataMissing')
        return reply.code(200).send(file)
      },
    )

    app.post(
      '/import/fetch-file',
      {
        config: {
          operation: 'import.fetchFile',
          summary: 'Fetch a file from a URL; responds when it is stored',
          needs: 'token',
        },
        schema: { body: FetchBody, response: { 200: FileView } },
      },
      async (req, reply) => {
        const { branchId, ...said } = req.body
        return fetchFile(req, { ...said, branch: await branchOf(req, branchId) }, callerGone(reply))
      },
    )
  }
}
