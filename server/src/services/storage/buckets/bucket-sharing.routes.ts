// HTTP for sharing buckets between projects and for links to them (spec storage 2.4).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { includeFrom } from '../../../http/include.ts'
import { JobView, jobStarter } from '../../../http/job-view.ts'
import { Async, BucketId, include, numberedId } from '../../../http/parameters.ts'
import { scopeOf } from '../../../http/scope.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { CreateJob } from '../../../model/storage-job.ts'
import { bucketJob } from './bucket-jobs.ts'
import { bucketView, sharingParametersOf } from './bucket-view.ts'
import { type Bucket, SHARINGS, type Sharing, type SharingParameters } from './buckets.store.ts'
import type { Buckets } from './buckets.ts'
import { parametersFor, type SharingRules, sharingFrom } from './sharing.ts'

const ById = Type.Object({ bucketId: BucketId })
const Include = Type.Object({ include: include('metadata') })

export interface BucketSharingDeps {
  readonly buckets: Buckets
  readonly sharing: SharingRules
  readonly createJob: CreateJob
  readonly metadataViews: (projectId: number, buckets: readonly number[]) => Promise<ReadonlyMap<number, unknown[]>>
  /** Names of the tables of shared buckets. */
  readonly tableNames: (
    bucket: Bucket,
  ) => Promise<readonly { readonly id: string; readonly name: string; readonly displayName: string }[]>
}

export function bucketSharingRoutes({
  buckets,
  sharing,
  createJob,
  metadataViews,
  tableNames,
}: BucketSharingDeps): FastifyPluginAsyncTypebox {
  const startJob = jobStarter(createJob)

  const shareAs = async (
    req: FastifyRequest,
    reply: FastifyReply,
    operation: string,
    way: Sharing,
    parameters: SharingParameters,
  ) => {
    const bucket = await buckets.getForChange(scopeOf(req), (req.params as { bucketId: string }).bucketId, 'manage')
    await sharing.checkSharable(bucket, req.branch)
    return startJob(req, reply, bucketJob(operation, bucket, { bucketKey: bucket.key, sharing: way, parameters }))
  }

  return async (app) => {
    for (const [path, operation, name, way] of [
      ['share-organization', 'bucketShareToOrganization', 'buckets.shareOrganization', 'organization'],
      [
        'share-organization-project',
        'bucketShareToOrganizationProject',
        'buckets.shareOrganizationProject',
        'organization-project',
      ],
    ] as const)
      app.post(
        `/v2/storage/buckets/:bucketId/${path}`,
        {
          config: { operation: name, summary: 'Share a bucket with all projects of the stack', needs: 'canManageBuckets' },
          schema: { params: ById, response: { 202: JobView } },
        },
        async (req, reply) => shareAs(req, reply, operation, way, {}),
      )

    app.post(
      '/v2/storage/buckets/:bucketId/share-to-projects',
      {
        config: {
          operation: 'buckets.shareToProjects',
          summary: 'Share a bucket with selected projects',
          needs: 'canManageBuckets',
        },
        schema: {
          params: ById,
          body: Type.Object({
            targetProjectIds: Type.Array(Type.Integer(), {
              minItems: 1,
              maxItems: 1000,
              description: 'Ids of the projects that may link the bucket.',
            }),
          }),
          response: { 202: JobView },
        },
      },
      async (req, reply) => {
        await sharing.checkProjects(req.body.targetProjectIds)
        return shareAs(req, reply, 'bucketShareToProjects', 'specific-projects', { projects: req.body.targetProjectIds })
      },
    )

    app.post(
      '/v2/storage/buckets/:bucketId/share-to-users',
      {
        config: {
          operation: 'buckets.shareToUsers',
          summary: 'Share a bucket with selected users',
          needs: 'canManageBuckets',
        },
        schema: {
          params: ById,
          body: Type.Object({
            targetUsers: Type.Array(Type.String({ minLength: 1 }), {
              minItems: 1,
              maxItems: 1000,
              description: 'Users who can link the bucket, by id or e-mail; master tokens by `admin.id`.',
            }),
          }),
          response: { 202: JobView },
        },
      },
      async (req, reply) => {
        const users = await sharing.adminsFrom(req.body.targetUsers)
        return shareAs(req, reply, 'bucketShareToAdmins', 'specific-users', { users })
      },
    )

    app.put(
      '/v2/storage/buckets/:bucketId/share',
      {
        config: { operation: 'buckets.changeSharing', summary: 'Change the sharing of a bucket', needs: 'canManageBuckets' },
        schema: {
          params: ById,
          body: Type.Object({ sharing: Type.String({ description: `One of ${SHARINGS.join(', ')}.` }) }),
          response: { 202: JobView },
        },
      },
      async (req, reply) => {
        const bucket = await buckets.getForChange(scopeOf(req), req.params.bucketId, 'manage')
        const way = sharingFrom(req.body.sharing)
        if (bucket.sharing === null) throw new PlatformError('storage.bucket.notShared', { bucket: bucket.id })
        return shareAs(req, reply, 'bucketShareUpdate', way, parametersFor(way, bucket))
      },
    )

    app.delete(
      '/v2/storage/buckets/:bucketId/share',
      {
        config: { operation: 'buckets.unshare', summary: 'Stop sharing a bucket', needs: 'canManageBuckets' },
        schema: { params: ById, response: { 202: JobView } },
      },
      async (req, reply) => {
        const bucket = await buckets.getForChange(scopeOf(req), req.params.bucketId, 'manage')
        await sharing.checkUnshare(bucket)
        return startJob(req, reply, bucketJob('bucketRemoveShare', bucket, { bucketKey: bucket.key }))
      },
    )

    app.delete(
      '/v2/storage/buckets/:bucketId/links/:projectId',
      {
        config: {
          operation: 'buckets.forceUnlink',
          summary: 'Remove the link of another project to a bucket',
          needs: 'canManageBuckets',
        },
        schema: {
          params: Type.Object({ bucketId: BucketId, projectId: numberedId('linking project') }),
          querystring: Type.Object({ async: Async }),
          response: { 204: Type.Null(), 202: JobView },
        },
      },
      async (req, reply) => {
        const bucket = await buckets.getForChange(scopeOf(req), req.params.bucketId, 'manage')
        const unknown = () =>
          new PlatformError('storage.buckets.linkNotFound', { bucket: bucket.id, project: req.params.projectId.slice(0, 40) })
        const projectId = idFrom(req.params.projectId, unknown)
        const link = await sharing.checkForceUnlink(bucket, projectId)
        if (req.query.async)
          return startJob(req, reply, bucketJob('bucketForceUnlink', bucket, { bucketKey: bucket.key, projectId }))
        await sharing.inTransaction((trx) => sharing.forceUnlink(trx, req.actor, bucket, link, req.origin))
        buckets.permissionsForgotten()
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/shared-buckets',
      {
        config: {
          operation: 'buckets.listShared',
          summary: 'List buckets that other projects share with this project',
          needs: 'canManageBuckets',
        },
        schema: { querystring: Include, response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) => {
        const include = includeFrom(req.query.include, ['metadata'])
        const shared = await sharing.listShared(req.actor)
        const usage = await buckets.usageOf(shared)
        return Promise.all(
          shared.map(async (bucket) => {
            const metadata = include.has('metadata')
              ? (await metadataViews(bucket.projectId, [bucket.key])).get(bucket.key)
              : undefined
            const project = (await sharing.findProject(bucket.projectId)) ?? { id: bucket.projectId, name: '' }
            return {
              ...bucketView(bucket, req.baseUrl, {
                usage: usage.get(bucket.key),
                metadata,
                backend: await buckets.backendName(bucket.projectId),
              }),
              project: { id: project.id, name: project.name },
              tables: await tableNames(bucket),
              sharingParameters: sharingParametersOf(bucket),
            }
          }),
        )
      },
    )
  }
}
