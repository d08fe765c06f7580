import { defineModule } from '../../../model/module.ts'
import type { EventsApiModule } from '../../stack/events/events-api.module.ts'
import type { StorageJobsModule } from '../storage-jobs/storage-jobs.module.ts'
import type { StorageMetadataModule } from '../storage-metadata/storage-metadata.module.ts'
import type { TablesModule } from '../tables/tables.module.ts'
import { bucketSharingRoutes } from './bucket-sharing.routes.ts'
import type { BucketsModule } from './buckets.module.ts'
import { bucketsRoutes } from './buckets.routes.ts'
import { createShownMetadata } from './shown-metadata.ts'

export interface BucketsApiDeps {
  readonly buckets: BucketsModule
  readonly tables: TablesModule
  readonly storageMetadata: StorageMetadataModule
  readonly storageJobs: StorageJobsModule
  readonly eventsApi: EventsApiModule
}

export function createBucketsApiModule({ buckets, tables, storageMetadata, storageJobs, eventsApi }: BucketsApiDeps) {
  const shared = {
    buckets,
    sharing: buckets.sharing,
    createJob: storageJobs.create,
    metadataViews: storageMetadata.viewsOfBuckets,
  }
  return defineModule({
    name: 'buckets-api',
    routes: [
      bucketsRoutes({
        ...shared,
        shownMetadata: createShownMetadata(storageMetadata.viewsOfBuckets, buckets.sharing),
        dryRun: async (req, job, bucket, signal) => tables.dryRuns.ofTables(req, job, await tables.listOfBucket(bucket), signal),
        tableViews: async (req, bucket, include) =>
          tables.views.many(await tables.listOfBucket(bucket), new Set([...include, 'metadata']), req.baseUrl),
        eventsOfBucket: (req, objectId, query) =>
          eventsApi.list(req.actor, query, { branch: req.branch, objectType: 'bucket', objectId }, req.baseUrl),
      }),
      bucketSharingRoutes({
        ...shared,
        // As the project that links the bucket will see them.
        tableNames: async (bucket) =>
          (await tables.listOfBucket({ ...bucket, sourceKey: bucket.key })).map(({ id, row }) => ({
            id,
            name: row.name,
            displayName: row.displayName,
          })),
      }),
    ],
  })
}
