// The tables of a project: the functions for other parts of the platform. Each subject has its own file.

import { isUniqueViolation } from '../../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Origin } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import type { CreateJob, NewStorageJob, Requester, StorageJob } from '../../../model/storage-job.ts'
import { type BucketRef, type Table, type TableParts, tableEvent, tableExists } from './catalog/table-catalog.ts'
import { checkDisplayName, jobOn, refuseIfLinked, refuseWithAliases } from './table-checks.ts'

const UNCHANGED_PAGE = 1000

export type Tables = ReturnType<typeof createTables>

export function createTables(parts: TableParts, createJob: CreateJob) {
  const { catalog, store, buckets, inTransaction, recordEvent } = parts

  async function rename(scope: Scope, tableId: string, displayName: string, origin: Origin): Promise<Table> {
    const table = await catalog.getForChange(scope, tableId)
    await checkDisplayName(parts, table, displayName)
    await inTransaction(async (trx) => {
      await store.setDisplayName(trx, table.row.key, displayName).catch((error: unknown) => {
        throw isUniqueViolation(error) ? tableExists(table.row.name, displayName) : error
      })
      await recordEvent(trx, scope.actor, tableEvent(table, 'storage.tableUpdated', {}), origin)
    })
    return catalog.get(scope, tableId)
  }

  async function startRename(requester: Requester & Scope, tableId: string, displayName: string): Promise<StorageJob> {
    const table = await catalog.getForChange(requester, tableId)
    await checkDisplayName(parts, table, displayName)
    return createJob(requester, jobOn(table, 'tableUpdate', { displayName }))
  }

  /** Writing finds only tables of the branch; a table of production gets a sentence of its own. */
  async function refuseForeign(scope: Scope, tableId: string): Promise<void> {
    const table = await catalog.get(scope, tableId)
    if (table.bucket.branchId !== scope.branch.id) throw new PlatformError('proposals.notOwnTable', { table: table.id })
  }

  /** A table that may go: with `force` its aliases go too, without it they keep it. */
  async function getForRemoval(scope: Scope, tableId: string, force: boolean): Promise<Table> {
    if (scope.actor.onlyProposes) await refuseForeign(scope, tableId)
    const [stage, bucket, name] = tableId.split('.')
    if (name) await buckets.getForChange(scope, `${stage}.${bucket}`, 'write') // its bucket is missed first (corrections-2, A19)
    const table = await catalog.getForChange(scope, tableId)
    await refuseIfLinked(parts, table)
    if (!force) await refuseWithAliases(parts, table)
    return table
  }

  /** Does not wait for a running load: it finds the table deleted when it publishes, and reports it. */
  async function remove(scope: Scope, tableId: string, force: boolean, origin: Origin): Promise<void> {
    const table = await getForRemoval(scope, tableId, force)
    await inTransaction(async (trx) => {
      await catalog.drop(trx, table)
      await buckets.touch(trx, table.bucket)
      await recordEvent(trx, scope.actor, tableEvent(table, 'storage.tableDeleted', {}), origin)
    })
  }

  async function startRemoval(requester: Requester & Scope, tableId: string, force: boolean): Promise<StorageJob> {
    return createJob(requester, await planRemoval(requester, tableId, force))
  }

  const planRemoval = async (scope: Scope, tableId: string, force: boolean): Promise<NewStorageJob> =>
    jobOn(await getForRemoval(scope, tableId, force), 'tableDrop', {})

  /** Tables of one branch that were last written in the range, the longest ago first; `until` is the end of this page. */
  async function listUnchanged(projectId: number, branchId: number, range: { after: number; until: number }) {
    const page = await store.listUnchanged(projectId, range, UNCHANGED_PAGE)
    const found: { id: string; bucketId: string; updatedAt: number }[] = []
    const known = new Map<number, BucketRef | undefined>()
    for (const { bucket: key, name, updatedAt } of page) {
      if (!known.has(key)) known.set(key, await buckets.findByKey(key))
      const bucket = known.get(key)
      if (bucket?.branchId === branchId) found.push({ id: `${bucket.id}.${name}`, bucketId: bucket.id, updatedAt })
    }
    // Of a full page the last millisecond may not be whole.
    return { tables: found, until: page.length < UNCHANGED_PAGE ? range.until : page.at(-1)!.updatedAt - 1 }
  }

  return {
    get: catalog.get,
    placeOf: async (scope: Scope, tableId: string) => catalog.placeOf(await catalog.get(scope, tableId)),
    listAliases: catalog.listAliases,
    getForChange: catalog.getForChange,
    list: catalog.list,
    listPage: catalog.listPage,
    listOfBucket: catalog.listOfBucket,
    listInBucket: async (scope: Scope, bucketId: string) => catalog.listOfBucket(await buckets.get(scope, bucketId)),
    /** Whether there is such a table that the caller may read. */
    exists: (scope: Scope, tableId: string): Promise<boolean> =>
      catalog.get(scope, tableId).then(
        () => true,
        (error: unknown) => {
          if (error instanceof PlatformError && error.kind !== 'bug' && error.kind !== 'transient') return false
          throw error
        },
      ),
    rename,
    startRename,
    remove,
    startRemoval,
    planRemoval,
    /** Epoch milliseconds of the last load; null before the first. */
    importedAt: async (scope: Scope, tableId: string) => (await catalog.get(scope, tableId)).data.lastImportAt?.getTime() ?? null,
    /** Rows and bytes, by bucket and of a whole project. */
    usage: store.usage,
    usageOfProject: store.usageOfProject,
    listUnchanged,
    totalBytes: store.totalBytes,
    dropAllOfBucket: catalog.dropAllOfBucket,
    listAliasesInto: catalog.listAliasesInto,
    dropAliasesInto: catalog.dropAliasesInto,
  }
}

export type { BucketRef, Table }
