// HTTP for files (spec storage 2.6).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { ObjectAccess } from '../../../engines/object-store/object-access.ts'
import { idFrom } from '../../../http/ids.ts'
import { JobView, jobView } from '../../../http/job-view.ts'
import { Async, numberedId, Offset, optionalFlag } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { NewStorageJob, Requester, StorageJob } from '../../../model/storage-job.ts'
import { FileFlags, FileView, fileView, Tag, uploadParams } from './file-view.ts'
import type { FileRecord } from './files.store.ts'
import { type Files, MAX_LINK_SECONDS } from './files.ts'

const MAX_NAME = 10_000
/** S3's own limit for one object. */
const MAX_SIZE_BYTES = 5 * 1024 ** 4

/** `type/subtype`, with parameters or without, in characters that a header can carry; or nothing. */
const CONTENT_TYPE = '^([!-.0-:<-~]+/[!-.0-:<-~]+(;[ -~]*)?)?$'

const PrepareBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: MAX_NAME, description: 'Name of the file.', examples: ['orders.csv'] }),
  sizeBytes: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_SIZE_BYTES, description: 'Size, when it is known.' })),
  federationToken: Type.Optional(
    Type.Boolean({ description: 'Requests temporary credentials; the response always contains them.' }),
  ),
  contentType: Type.Optional(Type.String({ maxLength: 255, pattern: CONTENT_TYPE, description: 'Content type of downloads.' })),
  isSliced: optionalFlag('True: the content is uploaded in slices, with a manifest that lists them.'),
  ...FileFlags,
})

const ById = Type.Object({ id: numberedId('file') })
const DetailQuery = Type.Object({
  federationToken: optionalFlag('True: add temporary credentials that can read the file.'),
  linkSeconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LINK_SECONDS,
      description: 'Validity of `url` in seconds, at most a week (604800); an hour (3600) by default.',
    }),
  ),
})

const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ description: 'Maximum number of items; 100 by default.' })),
  offset: Offset,
  tags: Type.Optional(Type.Array(Type.String(), { maxItems: 100, description: 'Only files with all of these tags.' })),
  q: Type.Optional(
    Type.String({ maxLength: 4000, description: 'Search terms such as `name:orders`, `tags:"daily"`, joined by AND, OR, NOT.' }),
  ),
  sinceId: Type.Optional(Type.Integer({ description: 'Only files with a larger id.' })),
  maxId: Type.Optional(Type.Integer({ description: 'Only files with a smaller id.' })),
  runId: Type.Optional(Type.String({ maxLength: 255, description: 'Only files of this run.' })),
  isPublic: optionalFlag('True: only files uploaded as public; false: only others.'),
  showExpired: optionalFlag('True: include expired files.'),
})

const DeleteQuery = Type.Object({ async: Async })
const TagBody = Type.Object({ tag: Tag })

export interface FilesRoutesDeps {
  readonly files: Files
  readonly access: ObjectAccess
  readonly createJob: (requester: Requester, job: NewStorageJob) => Promise<StorageJob>
}

export function filesRoutes({ files, access, createJob }: FilesRoutesDeps): FastifyPluginAsyncTypebox {
  const show = (file: FileRecord, baseUrl: string, linkSeconds?: number) =>
    fileView(file, files.link(file, access.endpointFor(baseUrl), linkSeconds), access.region)

  /** With credentials, whether requested or not: nothing can be uploaded without them, and clients rely on it. */
  async function upload(file: FileRecord, baseUrl: string) {
    if (file.provider === 'azure') {
      const absCredentials = files.sharedAccess(file, 'upload', access.endpointFor(baseUrl))
      const { accountName, container } = absCredentials
      return { absUploadParams: { blobName: file.key, accountName, container, absCredentials } }
    }
    return { uploadParams: uploadParams(file, access, baseUrl, await files.credentials(file, 'upload')) }
  }

  async function download(file: FileRecord, baseUrl: string) {
    const endpoint = access.endpointFor(baseUrl)
    if (file.provider === 'azure') {
      const absCredentials = files.sharedAccess(file, 'download', endpoint)
      return { absPath: { container: absCredentials.container, name: file.key }, absCredentials }
    }
    return { s3Path: { bucket: access.bucket, key: file.key }, credentials: await files.credentials(file, 'download'), endpoint }
  }

  return async (app) => {
    app.post(
      '/v2/storage/files/prepare',
      {
        config: { operation: 'files.prepare', summary: 'Prepare a file; returns credentials for the upload', needs: 'token' },
        schema: { body: PrepareBody, response: { 201: FileView } },
      },
      async (req, reply) => {
        const { federationToken: _, sizeBytes, contentType, ...request } = req.body
        const optional = { ...(typeof sizeBytes === 'number' && { sizeBytes }), ...(contentType && { contentType }) }
        const file = await files.prepare(req.actor, { ...request, ...optional }, req.origin, req.branch)
        return reply.code(201).send({ ...show(file, req.baseUrl), ...(await upload(file, req.baseUrl)) })
      },
    )

    app.get(
      '/v2/storage/files',
      {
        config: { operation: 'files.list', summary: 'List files, newest first', needs: 'token' },
        schema: { querystring: ListQuery, response: { 200: Type.Array(FileView) } },
      },
      async (req) => (await files.list(req.actor, req.query, req.branch)).map((file) => show(file, req.baseUrl)),
    )

    app.get(
      '/v2/storage/files/:id',
      {
        config: {
          operation: 'files.get',
          summary: 'File detail, on request with credentials for the download',
          needs: 'ownFile',
        },
        schema: { params: ById, querystring: DetailQuery, response: { 200: FileView } },
      },
      async (req) => {
        const file = await files.get(req.actor, fileId(req.params.id), req.branch)
        const view = show(file, req.baseUrl, req.query.linkSeconds)
        if (!req.query.federationToken) return view
        return { ...view, ...(await download(file, req.baseUrl)) }
      },
    )

    app.delete(
      '/v2/storage/files/:id',
      {
        config: { operation: 'files.delete', summary: 'Delete a file, synchronously or as a job', needs: 'ownFile' },
        schema: { params: ById, querystring: DeleteQuery, response: { 202: JobView, 204: Type.Null() } },
      },
      async (req, reply) => {
        const id = fileId(req.params.id)
        if (!req.query.async) {
          await files.remove(req.actor, id, req.origin, req.branch)
          return reply.code(204).send(null)
        }
        await files.getChangeable(req.actor, id, req.branch)
        const operationParams = { fileId: id, branchId: req.branch.id }
        const job = await createJob(req, {
          operationName: 'fileDelete',
          operationParams,
          input: { fileId: id },
          branchId: req.branch.id,
        })
        return reply.code(202).send(jobView(job, req.baseUrl))
      },
    )

    app.put(
      '/v2/storage/files/:id/refresh',
      {
        config: { operation: 'files.refresh', summary: 'New credentials to continue an upload', needs: 'ownFile' },
        schema: { params: ById, response: { 200: FileView } },
      },
      async (req) => {
        const file = await files.getChangeable(req.actor, fileId(req.params.id), req.branch)
        return { ...show(file, req.baseUrl), ...(await upload(file, req.baseUrl)) }
      },
    )

    app.post(
      '/v2/storage/files/:id/tags',
      {
        config: { operation: 'files.addTag', summary: 'Add a tag to a file', needs: 'ownFile' },
        schema: { params: ById, body: TagBody, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await files.addTag(req.actor, fileId(req.params.id), req.body.tag, req.branch)
        return reply.code(204).send(null)
      },
    )

    // A tag may contain slashes, raw in the path (spec storage 1.1).
    app.delete(
      '/v2/storage/files/:id/tags/*',
      {
        config: { operation: 'files.removeTag', summary: 'Remove a tag from a file', needs: 'ownFile' },
        schema: {
          params: Type.Object({ id: numberedId('file'), '*': Type.String({ description: 'The tag to remove.' }) }),
          response: { 204: Type.Null() },
        },
      },
      async (req, reply) => {
        await files.removeTag(req.actor, fileId(req.params.id), req.params['*'], req.branch)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/files/:id/content',
      {
        config: { operation: 'files.content', summary: 'Content of a small file', needs: 'ownFile', produces: ['*/*'] },
        schema: { params: ById, response: { 200: Type.Unknown() } },
      },
      async (req, reply) => {
        const { info, body, contentType } = await files.content(req.actor, fileId(req.params.id), req.branch)
        return reply
          .type(contentType)
          .header('content-length', info.sizeBytes)
          .header('content-disposition', 'attachment')
          .send(body)
      },
    )
  }
}

const fileId = (text: string): number => idFrom(text, () => new PlatformError('storage.files.notFound'))
