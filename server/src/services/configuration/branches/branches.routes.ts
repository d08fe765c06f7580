// HTTP for branches and their metadata (spec storage 2.3).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { JobView, jobView } from '../../../http/job-view.ts'
import { readMetadataItems } from '../../../http/metadata-items.ts'
import { BranchId, MetadataId, MetadataList, optionalText } from '../../../http/parameters.ts'
import { Timestamp } from '../../../http/record-schemas.ts'
import type { Needs } from '../../../http/rights.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { EventSource } from '../../../model/event.ts'
import type { NewStorageJob, Requester, StorageJob } from '../../../model/storage-job.ts'
import { BRANCHES_LOCK, CREATE, DELETE, MERGE } from './branch-job-names.ts'
import type { BranchMetadata, BranchRecord } from './branches.store.ts'
import type { Branches } from './branches.ts'

export interface BranchesRoutesDeps {
  readonly branches: Branches
  readonly createJob: (requester: Requester, job: NewStorageJob) => Promise<StorageJob>
  /** Refuses where the project requires a review. */
  /** Refuses a merge that needs a review, or would break the default branch. */
  readonly checkMerge: (source: EventSource, branchId: number) => Promise<void>
  /** What a merge would do, for people to look at first. */
  readonly changes: (from: BranchRecord, into: BranchRecord) => Promise<readonly unknown[]>
}

const BRANCHES = '/v2/storage/dev-branches'
const ById = Type.Object({ branchId: BranchId })
const Name = optionalText('Name, unique among the branches of the project.')
const Description = optionalText('Free text.')
const BranchView = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    description: Type.String(),
    created: Timestamp,
    isDefault: Type.Boolean(),
    creatorToken: Type.Unknown({ description: 'id and name; an empty list for the default branch, which has no creator.' }),
  },
  { title: 'Branch' },
)
const MetadataView = Type.Object({ id: Type.String(), key: Type.String(), value: Type.String(), timestamp: Timestamp })

const config = (operation: string, summary: string, needs: Needs) =>
  ({ operation: `branches.${operation}`, summary, needs, branch: 'refused' }) as const
const metadataConfig = (operation: string, summary: string, needs: Needs) =>
  ({ operation: `branchMetadata.${operation}`, summary, needs, branch: 'required' }) as const

export function branchesRoutes({ branches, createJob, checkMerge, changes }: BranchesRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      BRANCHES,
      { config: config('list', 'List branches', 'token'), schema: { response: { 200: Type.Array(BranchView) } } },
      async (req) => (await branches.list(req.actor.projectId)).map(branchView),
    )

    app.post(
      BRANCHES,
      {
        config: config('create', 'Create a branch with a copy of every configuration (storage job)', 'canManageDevBranches'),
        schema: {
          body: Type.Object({
            name: Name,
            description: Description,
          }),
          response: { 202: JobView },
        },
      },
      async (req, reply) => {
        const input = { name: req.body.name ?? '', description: req.body.description ?? '' }
        await branches.checkNew(req.actor, input)
        const operationParams = { values: input }
        const job = await createJob(req, { operationName: CREATE, operationParams, input, lockKeys: [BRANCHES_LOCK] })
        return reply.code(202).send(jobView(job, req.baseUrl))
      },
    )

    app.get(
      `${BRANCHES}/:branchId`,
      {
        config: config('get', 'One branch, by id or `default`', 'token'),
        schema: { params: ById, response: { 200: BranchView } },
      },
      async (req) => branchView(await branches.get(req.actor.projectId, req.params.branchId)),
    )

    app.put(
      `${BRANCHES}/:branchId`,
      {
        config: config('update', 'Change name or description of a branch', 'canManageDevBranches'),
        schema: { params: ById, body: Type.Object({ name: Name, description: Description }), response: { 200: BranchView } },
      },
      async (req) => {
        const input = { name: req.body.name ?? undefined, description: req.body.description ?? undefined }
        return branchView(await branches.update(req.actor, req.params.branchId, input, req.origin))
      },
    )

    app.delete(
      `${BRANCHES}/:branchId`,
      {
        config: config('delete', 'Delete a branch with its contents (storage job)', 'canManageDevBranches'),
        schema: { params: ById, response: { 202: JobView } },
      },
      async (req, reply) => {
        const { id } = await branches.checkDelete(req.actor, req.params.branchId)
        const job = await createJob(req, {
          operationName: DELETE,
          operationParams: { branchId: id },
          input: { branchId: id },
          lockKeys: [BRANCHES_LOCK],
        })
        return reply.code(202).send(jobView(job, req.baseUrl))
      },
    )

    app.get(
      `${BRANCHES}/:branchId/changes`,
      {
        config: config('changes', 'Changes of a branch, and conflicts of a merge', 'branchRead'),
        schema: { params: ById, response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) => {
        const { branch, into } = await branches.compared(req.actor, req.params.branchId)
        return [...(await changes(branch, into))]
      },
    )

    app.post(
      `${BRANCHES}/:branchId/merge`,
      {
        config: config(
          'merge',
          'Merge the configurations of a branch into the default branch (storage job)',
          'canManageDevBranches',
        ),
        schema: { params: ById, response: { 202: JobView } },
      },
      async (req, reply) => {
        const { branch } = await branches.checkMerge(req.actor, req.params.branchId)
        await checkMerge(req.actor, branch.id)
        const job = await createJob(req, {
          operationName: MERGE,
          operationParams: { branchId: branch.id },
          input: { branchId: branch.id },
          lockKeys: [BRANCHES_LOCK],
        })
        return reply.code(202).send(jobView(job, req.baseUrl))
      },
    )

    app.get(
      '/v2/storage/metadata',
      {
        config: metadataConfig('list', 'Metadata of a branch', 'token'),
        schema: { response: { 200: Type.Array(MetadataView) } },
      },
      async (req) => (await branches.listMetadata(req.actor.projectId, req.branch.id)).map(metadataView),
    )

    app.post(
      '/v2/storage/metadata',
      {
        config: metadataConfig('set', 'Set metadata of a branch', 'branchDescribe'),
        schema: { body: Type.Object({ metadata: MetadataList }), response: { 201: Type.Array(MetadataView) } },
      },
      async (req, reply) => {
        const items = readMetadataItems(req.body.metadata)
        const all = await branches.setMetadata(req.actor, req.branch.id, items, req.origin)
        return reply.code(201).send(all.map(metadataView))
      },
    )

    app.delete(
      '/v2/storage/metadata/:metadataId',
      {
        config: metadataConfig('delete', 'Delete one metadata item of a branch', 'branchDescribe'),
        schema: { params: Type.Object({ metadataId: MetadataId }), response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        const { metadataId } = req.params
        const id = idFrom(metadataId, () => new PlatformError('storage.metadata.notFound', { id: metadataId.slice(0, 50) }))
        await branches.removeMetadata(req.actor, req.branch.id, id, req.origin)
        return reply.code(204).send(null)
      },
    )
  }
}

export const branchView = (branch: BranchRecord) => ({
  id: branch.id,
  name: branch.name,
  description: branch.description,
  created: formatTimestamp(new Date(branch.createdAt)),
  isDefault: branch.isDefault,
  creatorToken: branch.creator ? { id: branch.creator.tokenId, name: branch.creator.tokenDescription } : [],
})

const metadataView = (item: BranchMetadata) => ({
  id: String(item.id),
  key: item.key,
  value: item.value,
  timestamp: formatTimestamp(new Date(item.changedAt)),
})
