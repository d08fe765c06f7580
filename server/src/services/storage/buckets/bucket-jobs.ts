// What the jobs of buckets do. Each looks again at what the request checked, then changes it in the transaction that ends the job.

import { PlatformError } from '../../../kit/errors.ts'
import type { JobHandler, NewStorageJob, StorageJob } from '../../../model/storage-job.ts'
import { bucketView } from './bucket-view.ts'
import type { Bucket, BucketChange, NewBucket, Sharing, SharingParameters } from './buckets.store.ts'
import type { Buckets } from './buckets.ts'
import type { SharingRules } from './sharing.ts'

/** Inputs as the routes of this module write them. */
export type BucketJobInput =
  | { readonly bucketKey: number; readonly force: boolean } // bucketDelete
  | { readonly bucketKey: number; readonly change: BucketChange } // bucketUpdate
  | { readonly bucketKey: number; readonly sharing: Sharing; readonly parameters: SharingParameters } // bucketShare…
  | { readonly bucketKey: number; readonly projectId: number } // bucketForceUnlink
  | { readonly bucketKey: number } // bucketRemoveShare, bucketRefreshTablesInformation
  | { readonly link: Omit<NewBucket, 'createdAt'>; readonly adminId: number | undefined } // bucketLink

/** A job on a bucket; jobs on one bucket run one after the other. */
export const bucketJob = (
  operationName: string,
  bucket: Pick<Bucket, 'id' | 'branchId'>,
  input: BucketJobInput,
): NewStorageJob => ({
  operationName,
  operationParams: { bucketId: bucket.id },
  input,
  branchId: bucket.branchId,
  lockKeys: [`bucket:${bucket.branchId}:${bucket.id}`],
})

const SHARE_OPERATIONS = [
  'bucketShareToOrganization',
  'bucketShareToOrganizationProject',
  'bucketShareToProjects',
  'bucketShareToAdmins',
  'bucketShareUpdate',
] as const

export function createBucketJobs(buckets: Buckets, sharing: SharingRules): Readonly<Record<string, JobHandler>> {
  async function bucketOf(job: StorageJob): Promise<Bucket> {
    const bucket = await buckets.store.findByKey(inputOf<{ bucketKey: number }>(job).bucketKey)
    if (!bucket || bucket.projectId !== job.projectId)
      throw new PlatformError('storage.buckets.notFound', {
        id: String(job.operationParams.bucketId ?? ''),
        project: job.projectId,
      })
    return bucket
  }

  const remove: JobHandler = async ({ job, publish }) => {
    const bucket = await bucketOf(job)
    await buckets.checkDelete(bucket, inputOf<{ force: boolean }>(job).force)
    await publish(async (trx) => {
      await buckets.remove(trx, job.source, bucket, job.origin)
      return undefined
    })
    buckets.permissionsForgotten()
  }

  const update: JobHandler = async ({ job, publish }) => {
    const bucket = await bucketOf(job)
    const backend = await buckets.backendName(job.projectId)
    const { change } = inputOf<{ change: BucketChange }>(job)
    await publish(async (trx) => ({
      results: bucketView(await buckets.update(trx, job.source, bucket, change, job.origin), job.baseUrl, { backend }),
    }))
  }

  const share: JobHandler = async ({ job, publish }) => {
    const bucket = await bucketOf(job)
    const backend = await buckets.backendName(job.projectId)
    const input = inputOf<{ sharing: Sharing; parameters: SharingParameters }>(job)
    await publish(async (trx) => ({
      results: bucketView(await sharing.share(trx, job, bucket, input.sharing, input.parameters), job.baseUrl, { backend }),
    }))
  }

  const unshare: JobHandler = async ({ job, publish }) => {
    const bucket = await bucketOf(job)
    await sharing.checkUnshare(bucket)
    const backend = await buckets.backendName(job.projectId)
    await publish(async (trx) => ({
      results: bucketView(await sharing.unshare(trx, job.source, bucket, job.origin), job.baseUrl, { backend }),
    }))
  }

  const forceUnlink: JobHandler = async ({ job, publish }) => {
    const bucket = await bucketOf(job)
    const link = await sharing.checkForceUnlink(bucket, inputOf<{ projectId: number }>(job).projectId)
    await publish(async (trx) => {
      await sharing.forceUnlink(trx, job.source, bucket, link, job.origin)
      return undefined
    })
    buckets.permissionsForgotten()
  }

  const link: JobHandler = async ({ job, publish }) => {
    const { link: wanted, adminId } = inputOf<{ link: Omit<NewBucket, 'createdAt'>; adminId?: number }>(job)
    const source = await sharing.sourceOf(wanted)
    if (!source) throw new PlatformError('storage.bucket.notShared', { bucket: wanted.id })
    const backend = await buckets.backendName(job.projectId)
    sharing.checkLinker({ projectId: job.projectId, adminId }, source.bucket)
    await publish(async (trx) => {
      const created = await buckets.insertLink(trx, job.source, { ...wanted, createdAt: job.createdAt }, job.origin)
      return { results: bucketView(created, job.baseUrl, { source, backend }) }
    })
  }

  /** Records of tables are written with every change, so there is nothing to find out; clients wait for the answer. */
  const refresh: JobHandler = async ({ job }) => ({
    results: {
      ...bucketView(await bucketOf(job), job.baseUrl, { backend: await buckets.backendName(job.projectId) }),
      warnings: [],
    },
  })

  return {
    bucketDelete: remove,
    bucketRefreshTablesInformation: refresh,
    bucketUpdate: update,
    bucketLink: link,
    bucketForceUnlink: forceUnlink,
    bucketRemoveShare: unshare,
    ...Object.fromEntries(SHARE_OPERATIONS.map((name) => [name, share])),
  }
}

// Jobs of this module are created by its routes only, which write these inputs.
const inputOf = <T>(job: StorageJob): T => job.input as T
