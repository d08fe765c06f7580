import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { BucketsModule } from '../buckets/buckets.module.ts'
import type { TablesModule } from '../tables/tables.module.ts'
import { tableCommentsRoutes } from './table-comments.routes.ts'
import { createTableComments } from './table-comments.ts'

export interface TableCommentsModuleDeps {
  readonly core: Core
  readonly branches: BranchesModule
  readonly buckets: BucketsModule
  readonly tables: TablesModule
}

export function createTableCommentsModule({ core, branches, buckets, tables }: TableCommentsModuleDeps) {
  const { db, inTransaction, clock, recordEvent, subscribe } = core
  const comments = createTableComments({ db, inTransaction, clock, recordEvent, getTable: tables.get })
  const { store } = comments
  subscribe('event.recorded', async (trx, { projectId }, { event, objectId, branchId }) => {
    if (event !== 'storage.tableDeleted' || objectId === undefined) return
    await store.removeOfTable(trx, {
      projectId,
      branchId: branchId ?? (await branches.defaultId(projectId)),
      tableId: objectId,
    })
  })
  subscribe('bucket.emptied', async (trx, projectId, bucketKey) => {
    const bucket = await buckets.ofTables.findByKey(bucketKey)
    if (bucket) await store.removeOfBucket(trx, projectId, bucket.branchId, bucket.id)
    return []
  })
  subscribe('branch.deleted', (trx, { projectId, id }) => store.removeOfBranch(trx, projectId, id))
  return defineModule({ name: 'table-comments', routes: [tableCommentsRoutes(comments)] })
}
