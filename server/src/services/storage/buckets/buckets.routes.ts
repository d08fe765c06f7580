// HTTP for buckets (spec storage 2.4).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { callerGone } from '../../../http/connection/caller-gone.ts'
import { DryRun, DryRunView, isDryRun } from '../../../http/dry-run.ts'
import { idFrom } from '../../../http/ids.ts'
import { includeFrom } from '../../../http/include.ts'
import { JobView, jobStarter } from '../../../http/job-view.ts'
import { readMetadataItems, readProvider } from '../../../http/metadata-items.ts'
import {
  Async,
  BucketId,
  include,
  MetadataId,
  MetadataList,
  numberedId,
  optionalFlag,
  optionalText,
  Provider,
} from '../../../http/parameters.ts'
import { EventListQuery } from '../../../http/record-schemas.ts'
import { scopeOf } from '../../../http/scope.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { DryRunAnswer } from '../../../model/dry-run.ts'
import { eventOf } from '../../../model/event.ts'
import type { RoutesServer } from '../../../model/module.ts'
import type { Scope } from '../../../model/scope.ts'
import type { NewStorageJob, Requester, StorageJob } from '../../../model/storage-job.ts'
import { bucketJob } from './bucket-jobs.ts'
import { BucketView, bucketView } from './bucket-view.ts'
import type { Bucket } from './buckets.store.ts'
import { type Buckets, metadataNotFound } from './buckets.ts'
import type { SharingRules } from './sharing.ts'
import type { ShownMetadata } from './shown-metadata.ts'

const DisplayName = optionalText('Display name; can be changed, unlike the id.')
const Color = optionalText('Colour of the bucket in user interfaces.')
const ById = Type.Object({ bucketId: BucketId })
const LIST_INCLUDES = ['metadata', 'linkedBuckets', 'attributes']
const DETAIL_INCLUDES = ['columns', 'columnMetadata', ...LIST_INCLUDES]
const CreateBody = Type.Object({
  name: Type.Optional(Type.String({ description: 'Name; the id is `{stage}.c-{name}`.', examples: ['main'] })),
  stage: Type.Optional(Type.String({ description: '`in` or `out`.', examples: ['in'] })),
  description: optionalText('Free text.'),
  backend: optionalText('Omit it: all buckets have the backend of this stack.'),
  displayName: DisplayName,
  color: Color,
  sourceProjectId: Type.Optional(
    Type.Integer({ description: 'Project of a shared bucket. With sourceBucketId, the new bucket is a link to it.' }),
  ),
  sourceBucketId: optionalText('Id of the shared bucket to link.'),
})
const OwnerView = Type.Object({ id: Type.Integer(), name: Type.String(), email: Type.Union([Type.String(), Type.Null()]) })
const MetadataBody = Type.Object({ provider: Provider, metadata: MetadataList })

export interface BucketsRoutesDeps {
  readonly buckets: Buckets
  readonly sharing: SharingRules
  readonly createJob: (requester: Requester, job: NewStorageJob) => Promise<StorageJob>
  /** What a job on the bucket would do. */
  readonly dryRun: (req: Requester & Scope, job: NewStorageJob, bucket: Bucket, signal: AbortSignal) => Promise<DryRunAnswer>
  /** The tables of a bucket as its detail shows them. */
  readonly tableViews: (req: FastifyRequest, bucket: Bucket, include: ReadonlySet<string>) => Promise<unknown[]>
  readonly shownMetadata: ShownMetadata
  readonly eventsOfBucket: (
    req: FastifyRequest,
    bucketId: string,
    query: Type.Static<typeof EventListQuery>,
  ) => Promise<unknown[]>
}

export function bucketsRoutes(deps: BucketsRoutesDeps): FastifyPluginAsyncTypebox {
  const { buckets, sharing, createJob, dryRun, tableViews, shownMetadata, eventsOfBucket } = deps

  async function viewsOf(req: FastifyRequest, found: readonly Bucket[], include: ReadonlySet<string>) {
    const keys = found.map((bucket) => bucket.key)
    const [backend, usage, links, metadata] = await Promise.all([
      buckets.backendName(req.actor.projectId),
      buckets.usageOf(found),
      include.has('linkedBuckets') ? sharing.linksOf(keys) : undefined,
      include.has('metadata') ? shownMetadata(found) : undefined,
    ])
    const show = async (bucket: Bucket) =>
      bucketView(bucket, req.baseUrl, {
        usage: usage.get(bucket.key),
        source: await sharing.sourceOf(bucket),
        links: links?.get(bucket.key),
        metadata: metadata?.get(bucket.key),
        attributes: include.has('attributes'),
        backend,
      })
    return Promise.all(found.map(show))
  }

  const viewOf = async (req: FastifyRequest, bucket: Bucket, include: ReadonlySet<string>) =>
    (await viewsOf(req, [bucket], include))[0]!

  const startJob = jobStarter(createJob)

  return async (app) => {
    app.get(
      '/v2/storage/buckets',
      {
        config: {
          operation: 'buckets.list',
          summary: 'List buckets',
          needs: 'token',
          readEvent: () => eventOf('storage.bucketsListed', {}),
        },
        schema: { querystring: Type.Object({ include: include(...LIST_INCLUDES) }), response: { 200: Type.Array(BucketView) } },
      },
      async (req) => viewsOf(req, await buckets.list(scopeOf(req)), includeFrom(req.query.include, LIST_INCLUDES)),
    )

    app.post(
      '/v2/storage/buckets',
      {
        config: {
          operation: 'buckets.create',
          summary: 'Create a bucket, or link one that another project shares',
          needs: 'canManageBuckets',
          validationCode: 'storage.buckets.validation',
        },
        schema: {
          body: CreateBody,
          querystring: Type.Object({ async: Async }),
          response: { 201: BucketView, 202: JobView },
        },
      },
      async (req, reply) => {
        const { sourceProjectId, sourceBucketId, name = '', ...body } = req.body
        if (sourceProjectId === undefined && sourceBucketId === undefined) {
          const created = await buckets.create(scopeOf(req), { ...body, name }, req.origin)
          const backend = await buckets.backendName(req.actor.projectId)
          return reply.code(201).send(bucketView(created, req.baseUrl, { backend }))
        }
        const source = { sourceProjectId: sourceProjectId ?? 0, sourceBucketId: sourceBucketId ?? '' }
        const wanted = { ...body, name: name || (source.sourceBucketId.split('.').at(1) ?? ''), ...source }
        const link = await sharing.checkLink(scopeOf(req), wanted)
        if (req.query.async) {
          const { createdAt: _, ...rest } = link
          return startJob(req, reply, bucketJob('bucketLink', link, { link: rest, adminId: req.actor.adminId }))
        }
        const created = await sharing.inTransaction((trx) => buckets.insertLink(trx, req.actor, link, req.origin))
        const backend = await buckets.backendName(req.actor.projectId)
        return reply.code(201).send(bucketView(created, req.baseUrl, { source: await sharing.sourceOf(created), backend }))
      },
    )

    app.get(
      '/v2/storage/buckets/:bucketId',
      {
        config: { operation: 'buckets.get', summary: 'Bucket detail with its tables', needs: 'bucketRead' },
        schema: {
          params: ById,
          querystring: Type.Object({ include: include(...DETAIL_INCLUDES) }),
          response: { 200: BucketView },
        },
      },
      async (req) => {
        const include = includeFrom(req.query.include, DETAIL_INCLUDES)
        const bucket = await buckets.get(scopeOf(req), req.params.bucketId)
        const view = await viewOf(req, bucket, new Set([...include, 'metadata', 'linkedBuckets', 'attributes']))
        return { ...view, tables: await tableViews(req, bucket, include) }
      },
    )

    app.put(
      '/v2/storage/buckets/:bucketId',
      {
        config: {
          operation: 'buckets.update',
          summary: 'Change display name and color of a bucket',
          needs: 'bucketManage',
          validationCode: 'storage.buckets.validation',
        },
        schema: {
          params: ById,
          querystring: Type.Object({ async: Async }),
          body: Type.Object({ displayName: DisplayName, color: Color, async: Async }),
          response: { 200: BucketView, 202: JobView },
        },
      },
      async (req, reply) => {
        const bucket = await buckets.getForChange(scopeOf(req), req.params.bucketId, 'manage')
        const change = await buckets.checkUpdate(bucket, {
          displayName: req.body.displayName ?? null,
          color: req.body.color ?? bucket.color,
        })
        if (req.query.async || req.body.async)
          return startJob(req, reply, bucketJob('bucketUpdate', bucket, { bucketKey: bucket.key, change }))
        const changed = await sharing.inTransaction((trx) => buckets.update(trx, req.actor, bucket, change, req.origin))
        return viewOf(req, changed, new Set())
      },
    )

    app.delete(
      '/v2/storage/buckets/:bucketId',
      {
        config: {
          operation: 'buckets.delete',
          summary: 'Delete a bucket; force deletes its tables as well',
          needs: 'bucketManage',
        },
        schema: {
          params: ById,
          querystring: Type.Object({
            force: optionalFlag('Delete the tables of the bucket as well.'),
            async: Async,
            dryRun: DryRun,
          }),
          response: { 200: DryRunView, 204: Type.Null(), 202: JobView },
        },
      },
      async (req, reply) => {
        const bucket = await buckets.getForChange(scopeOf(req), req.params.bucketId, 'manage')
        const force = req.query.force ?? false
        buckets.checkDeleter(req.actor, bucket)
        await buckets.checkDelete(bucket, force)
        const job = bucketJob('bucketDelete', bucket, { bucketKey: bucket.key, force })
        if (isDryRun(req)) return reply.code(200).send(await dryRun(req, job, bucket, callerGone(reply)))
        if (req.query.async) return startJob(req, reply, job)
        await sharing.inTransaction((trx) => buckets.remove(trx, req.actor, bucket, req.origin))
        buckets.permissionsForgotten()
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/buckets/:bucketId/events',
      {
        config: { operation: 'buckets.events', summary: 'Events of a bucket', needs: 'bucketRead' },
        schema: { params: ById, querystring: EventListQuery, response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) => eventsOfBucket(req, (await buckets.get(scopeOf(req), req.params.bucketId)).id, req.query),
    )

    addMetadataRoutes(app, deps)

    app.get(
      '/v2/storage/listings',
      {
        config: {
          operation: 'buckets.listListings',
          summary: 'Listings of a data exchange; always empty',
          needs: 'token',
        },
        schema: { response: { 200: Type.Array(Type.Unknown()) } },
      },
      async () => [],
    )

    addOwnerRoutes(app, deps)
    addRefreshRoutes(app, deps)
    addUnsupportedRoutes(app)
  }
}

function addMetadataRoutes(app: RoutesServer, { buckets, shownMetadata }: BucketsRoutesDeps): void {
  app.get(
    '/v2/storage/buckets/:bucketId/metadata',
    {
      config: { operation: 'buckets.listMetadata', summary: 'Metadata of a bucket', needs: 'bucketRead' },
      schema: { params: ById, response: { 200: Type.Array(Type.Unknown()) } },
    },
    async (req) => {
      const bucket = await buckets.get(scopeOf(req), req.params.bucketId)
      return [...((await shownMetadata([bucket])).get(bucket.key) ?? [])]
    },
  )

  app.post(
    '/v2/storage/buckets/:bucketId/metadata',
    {
      config: { operation: 'buckets.setMetadata', summary: 'Set metadata of a bucket', needs: 'bucketWrite' },
      schema: { params: ById, body: MetadataBody, response: { 201: Type.Array(Type.Unknown()) } },
    },
    async (req, reply) => {
      const bucket = await buckets.getForChange(scopeOf(req), req.params.bucketId, 'write')
      const provider = readProvider(req.body.provider)
      await buckets.setMetadata(req.actor, bucket, provider, readMetadataItems(req.body.metadata), req.origin)
      return reply.code(201).send([...((await shownMetadata([bucket])).get(bucket.key) ?? [])])
    },
  )

  app.delete(
    '/v2/storage/buckets/:bucketId/metadata/:metadataId',
    {
      config: {
        operation: 'buckets.deleteMetadata',
        summary: 'Delete one item of the metadata of a bucket',
        needs: 'bucketWrite',
      },
      schema: { params: Type.Object({ bucketId: BucketId, metadataId: MetadataId }), response: { 204: Type.Null() } },
    },
    async (req, reply) => {
      const bucket = await buckets.getForChange(scopeOf(req), req.params.bucketId, 'write')
      const unknown = () => metadataNotFound(bucket, req.params.metadataId.slice(0, 40))
      await buckets.removeMetadata(bucket, idFrom(req.params.metadataId, unknown))
      return reply.code(204).send(null)
    },
  )
}

function addOwnerRoutes(app: RoutesServer, { buckets }: BucketsRoutesDeps): void {
  app.get(
    '/v2/storage/buckets/:bucketId/owner',
    {
      config: { operation: 'buckets.owner', summary: 'Owner of a bucket', needs: 'bucketRead' },
      schema: { params: ById, response: { 200: OwnerView } },
    },
    async (req) => {
      const { id, owner } = await buckets.get(scopeOf(req), req.params.bucketId)
      if (!owner) throw new PlatformError('storage.bucket.ownerNotFound', { bucket: id })
      return owner
    },
  )

  app.post(
    '/v2/storage/buckets/:bucketId/owner',
    {
      config: {
        operation: 'buckets.setOwner',
        summary: 'Set the owner of a bucket: a user of the project, or its master token',
        needs: 'bucketManage',
        validationCode: 'storage.buckets.validation',
      },
      schema: {
        params: ById,
        body: Type.Object({
          id: Type.Optional(Type.Integer({ description: 'Id of the owner: `admin.id` of their token.' })),
          email: optionalText('E-mail of a user of the project, instead of the id.'),
        }),
        response: { 200: OwnerView },
      },
    },
    async (req) => {
      const bucket = await buckets.getForChange(scopeOf(req), req.params.bucketId, 'manage')
      const { id, email } = req.body
      if ((id ?? email ?? '') === '')
        throw new PlatformError('storage.buckets.validation', {
          field: 'id',
          reason: 'Send the id of a person of the project, or their e-mail.',
        })
      return buckets.setOwner(req.actor, bucket, typeof id === 'number' ? { id } : { email: email ?? '' }, req.origin)
    },
  )
}

function addRefreshRoutes(app: RoutesServer, { buckets, createJob }: BucketsRoutesDeps): void {
  const startJob = jobStarter(createJob)

  app.post(
    '/v2/storage/buckets/:bucketId/refresh-tables-info',
    {
      config: {
        operation: 'buckets.refreshTablesInfo',
        summary: 'Refresh the tables of a bucket; has no effect, because they are always current',
        needs: 'bucketWrite',
        branch: 'required',
      },
      schema: { params: ById, response: { 202: JobView } },
    },
    async (req, reply) => {
      const bucket = await buckets.getForChange(scopeOf(req), req.params.bucketId, 'write')
      return startJob(req, reply, bucketJob('bucketRefreshTablesInformation', bucket, { bucketKey: bucket.key }))
    },
  )

  // Buckets that show a schema of a database outside can be refreshed (spec storage 2.4); this stack has none.
  for (const [method, path, operation] of [
    ['PUT', '/v2/storage/buckets/:bucketId/refresh', 'buckets.refresh'],
    ['POST', '/v2/storage/buckets/:bucketId/scheduled-tasks/refresh', 'buckets.scheduleRefresh'],
  ] as const)
    app.route({
      method,
      url: path,
      config: { operation, summary: 'Not supported: this stack has no external buckets', needs: 'bucketWrite' },
      schema: { params: ById, response: { 202: JobView } },
      handler: async (req) => {
        const { bucketId } = req.params as { bucketId: string } // by the schema above
        const bucket = await buckets.getForChange(scopeOf(req), bucketId, 'write')
        throw new PlatformError('storage.buckets.notExternal', { bucket: bucket.id })
      },
    })

  app.delete(
    '/v2/storage/scheduled-tasks/:taskId',
    {
      config: {
        operation: 'buckets.unscheduleRefresh',
        summary: 'Stop refreshing an external bucket',
        needs: 'canManageBuckets',
        branch: 'refused',
      },
      schema: { params: Type.Object({ taskId: numberedId('task') }), response: { 204: Type.Null() } },
    },
    async (req) => {
      throw new PlatformError('notFound', { what: `The scheduled task "${req.params.taskId.slice(0, 60)}"` })
    },
  )
}

function addUnsupportedRoutes(app: RoutesServer): void {
  for (const [method, path, operation] of [
    ['POST', '/v2/storage/buckets/register', 'buckets.register'],
    ['GET', '/v2/storage/buckets/register-guide', 'buckets.registerGuide'],
    ['GET', '/v2/storage/buckets/:bucketId/listing', 'buckets.getListing'],
    ['POST', '/v2/storage/buckets/:bucketId/listing', 'buckets.createListing'],
    ['PATCH', '/v2/storage/buckets/:bucketId/listing', 'buckets.updateListing'],
    ['DELETE', '/v2/storage/buckets/:bucketId/listing', 'buckets.deleteListing'],
  ] as const)
    app.route({
      method,
      url: path,
      config: {
        operation,
        summary: 'Not built: external buckets need a database outside of the stack',
        needs: 'canManageBuckets',
      },
      schema: { ...(path.includes(':bucketId') && { params: ById }), response: { 501: Type.Unknown() } },
      handler: async () => {
        throw new PlatformError('notImplemented', {
          what: 'External buckets and their listings live in a database outside of the stack, and this stack keeps its tables itself. Create a bucket and load tables into it; share it with other projects.',
        })
      },
    })
}
