import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { PeopleModule } from '../../access/people/people.module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { StorageMetadataModule } from '../storage-metadata/storage-metadata.module.ts'
import { createBucketJobs } from './bucket-jobs.ts'
import { createBuckets, type TablesOfBuckets } from './buckets.ts'
import { type BucketsOfTablesDeps, createBucketsOfTables } from './buckets-of-tables.ts'
import { createLinkedEvents } from './linked-events.ts'
import { createSharing } from './sharing.ts'
import { createShownMetadata } from './shown-metadata.ts'

export interface BucketsModuleDeps {
  readonly core: Core
  readonly branches: BranchesModule
  readonly tokens: TokensModule
  readonly people: PeopleModule
  readonly storageMetadata: StorageMetadataModule
  /** Rows and bytes of the tables in buckets, read in a transaction where one is given. */
  readonly tableUsage: TablesOfBuckets['usage'] & BucketsOfTablesDeps['usage']
}

export type BucketsModule = ReturnType<typeof createBucketsModule>

export function createBucketsModule({ core, branches, tokens, people, storageMetadata, tableUsage }: BucketsModuleDeps) {
  const { db, inTransaction, clock, recordEvent, publish, subscribe } = core
  const buckets = createBuckets({
    db,
    inTransaction,
    clock,
    recordEvent,
    defaultBranchId: branches.defaultId,
    backendName: tokens.backendName,
    tables: {
      usage: tableUsage,
      dropAll: async (...args) => (await publish('bucket.emptied', ...args)).flat(),
      listAliasesInto: async (...args) => (await publish('bucket.aliasesListed', ...args)).flat(),
      dropAliasesInto: (...args) => publish('bucket.unlinked', ...args),
    },
    metadata: storageMetadata.ofBuckets,
    findAdmin: tokens.findAdmin,
    permissions: { forget: tokens.forgetBucket, forgotten: tokens.forgetKnown },
  })
  const sharing = createSharing({
    buckets,
    inTransaction,
    clock,
    recordEvent,
    findProject: tokens.findProject,
    findAdmin: async (user) => (await people.findAdmin(user)) ?? tokens.findMaster(user),
  })
  const ofTables = createBucketsOfTables({
    buckets,
    sharing,
    usage: tableUsage,
    shownMetadata: createShownMetadata(storageMetadata.viewsOfBuckets, sharing),
  })
  subscribe('branch.deleted', (trx, { id }, source) => buckets.removeOfBranch(trx, source, id))
  subscribe('branch.removed', async () => tokens.forgetKnown())
  subscribe(
    'event.recorded',
    createLinkedEvents({ recordEvent, defaultBranchId: branches.defaultId, listLinksInto: buckets.store.listLinksInto }),
  )
  return defineModule({
    name: 'buckets',
    lightJobHandlers: createBucketJobs(buckets, sharing),
    ...buckets,
    buckets,
    sharing,
    /** Buckets as the tables module sees them. */
    ofTables,
  })
}
