// Buckets in the metadata database. A linked bucket has no tables of its own: `source_bucket` names the bucket it shows.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'
import { defined } from '../../../kit/defined.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Admin } from '../../../model/admin.ts'

export const STAGES = ['in', 'out', 'sys'] as const
export type Stage = (typeof STAGES)[number]

export const SHARINGS = ['organization', 'organization-project', 'specific-projects', 'specific-users'] as const
export type Sharing = (typeof SHARINGS)[number]

export interface SharingParameters {
  readonly projects?: readonly number[]
  readonly users?: readonly Admin[]
}

interface Tables {
  bucket: {
    id: Generated<number>
    project_id: number
    branch_id: number
    bucket_id: string
    name: string
    stage: Stage
    display_name: string
    description: string
    color: string | null
    sharing: Sharing | null
    sharing_parameters: string | null
    shared_by: string | null
    owner: string | null
    source_bucket: number | null
    created_at: number
    updated_at: number | null
    last_change_at: number | null
  }
}

export interface Bucket {
  /** The number other records refer to; the id people see is `id`. */
  readonly key: number
  readonly projectId: number
  readonly branchId: number
  readonly id: string
  readonly name: string
  readonly stage: Stage
  readonly displayName: string
  readonly description: string
  readonly color: string | null
  readonly sharing: Sharing | null
  readonly sharingParameters: SharingParameters
  readonly sharedBy: { readonly id: number; readonly name: string; readonly date: string } | null
  /** Who answers for it. */
  readonly owner: Admin | null
  readonly sourceKey: number | undefined
  readonly createdAt: Date
  readonly updatedAt: Date | undefined
  readonly lastChangeAt: Date | undefined
}

export type NewBucket = Pick<
  Bucket,
  'projectId' | 'branchId' | 'id' | 'name' | 'stage' | 'displayName' | 'description' | 'color' | 'sourceKey' | 'createdAt'
>

export type BucketChange = Partial<
  Pick<
    Bucket,
    | 'displayName'
    | 'description'
    | 'color'
    | 'sharing'
    | 'sharingParameters'
    | 'sharedBy'
    | 'owner'
    | 'updatedAt'
    | 'lastChangeAt'
  >
>

const idsOfProject = statement((db, { projectId }: { projectId: number }) =>
  withTables<Tables>(db).selectFrom('bucket').select('bucket_id').where('project_id', '=', projectId).orderBy('id'),
)

export function createBucketsStore(database: Db) {
  const db = withTables<Tables>(database)

  return {
    find: async (projectId: number, branchId: number, id: string, trx?: Trx): Promise<Bucket | undefined> => {
      const row = await (trx ? withTables<Tables>(trx) : db)
        .selectFrom('bucket')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('bucket_id', '=', id)
        .executeTakeFirst()
      return row && toBucket(row)
    },

    /** Across projects: the source of a link. The caller has checked that it may look. */
    findByKey: async (key: number, trx?: Trx): Promise<Bucket | undefined> => {
      const row = await (trx ? withTables<Tables>(trx) : db)
        .selectFrom('bucket')
        .selectAll()
        .where('id', '=', key)
        .executeTakeFirst()
      return row && toBucket(row)
    },

    /** Some thousand at most. */
    findMany: async (keys: readonly number[]): Promise<Bucket[]> =>
      keys.length === 0 ? [] : (await db.selectFrom('bucket').selectAll().where('id', 'in', keys).execute()).map(toBucket),

    findByDisplayName: async (projectId: number, branchId: number, stage: Stage, name: string): Promise<Bucket | undefined> => {
      const row = await db
        .selectFrom('bucket')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('stage', '=', stage)
        .where('display_name', '=', name)
        .executeTakeFirst()
      return row && toBucket(row)
    },

    list: async (projectId: number, branchIds: readonly number[], trx?: Trx): Promise<Bucket[]> =>
      (
        await (trx ? withTables<Tables>(trx) : db)
          .selectFrom('bucket')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('branch_id', 'in', [...branchIds])
          .orderBy('id')
          .execute()
      ).map(toBucket),

    listIds: async (projectId: number, trx?: Trx): Promise<string[]> =>
      (await idsOfProject(trx ?? database, { projectId })).map((row) => row.bucket_id),

    /** Every shared bucket of the stack; who may see which is the rule's business. */
    listShared: async (): Promise<Bucket[]> =>
      (await db.selectFrom('bucket').selectAll().where('sharing', 'is not', null).orderBy('id').execute()).map(toBucket),

    listLinksTo: async (keys: readonly number[], trx?: Trx): Promise<Bucket[]> =>
      keys.length === 0
        ? []
        : (
            await (trx ? withTables<Tables>(trx) : db)
              .selectFrom('bucket')
              .selectAll()
              .where('source_bucket', 'in', [...keys])
              .orderBy('id')
              .execute()
          ).map(toBucket),

    /** Links of other projects to a bucket of this one. */
    listLinksInto: async (projectId: number, branchId: number, id: string, trx: Trx): Promise<Bucket[]> =>
      (
        await withTables<Tables>(trx)
          .selectFrom('bucket as link')
          .innerJoin('bucket as source', 'source.id', 'link.source_bucket')
          .selectAll('link')
          .where('source.project_id', '=', projectId)
          .where('source.branch_id', '=', branchId)
          .where('source.bucket_id', '=', id)
          .orderBy('link.id')
          .execute()
      ).map(toBucket),

    listOfBranch: async (projectId: number, branchId: number, trx: Trx): Promise<Bucket[]> =>
      (
        await withTables<Tables>(trx)
          .selectFrom('bucket')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('branch_id', '=', branchId)
          .execute()
      ).map(toBucket),

    insert: async (trx: Trx, bucket: NewBucket): Promise<Bucket> =>
      toBucket(
        await withTables<Tables>(trx)
          .insertInto('bucket')
          .values({
            project_id: bucket.projectId,
            branch_id: bucket.branchId,
            bucket_id: bucket.id,
            name: bucket.name,
            stage: bucket.stage,
            display_name: bucket.displayName,
            description: bucket.description,
            color: bucket.color,
            source_bucket: bucket.sourceKey ?? null,
            created_at: bucket.createdAt.getTime(),
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),

    update: async (trx: Trx, projectId: number, key: number, change: BucketChange): Promise<Bucket | undefined> => {
      const row = await withTables<Tables>(trx)
        .updateTable('bucket')
        .set({
          ...defined({
            display_name: change.displayName,
            description: change.description,
            color: change.color,
            sharing: change.sharing,
          }),
          ...(change.sharingParameters !== undefined && { sharing_parameters: JSON.stringify(change.sharingParameters) }),
          ...(change.sharedBy !== undefined && { shared_by: change.sharedBy === null ? null : JSON.stringify(change.sharedBy) }),
          ...(change.owner !== undefined && { owner: JSON.stringify(change.owner) }),
          ...(change.updatedAt !== undefined && { updated_at: change.updatedAt.getTime() }),
          ...(change.lastChangeAt !== undefined && { last_change_at: change.lastChangeAt.getTime() }),
        })
        .where('project_id', '=', projectId)
        .where('id', '=', key)
        .returningAll()
        .executeTakeFirst()
      return row && toBucket(row)
    },

    remove: async (trx: Trx, projectId: number, key: number): Promise<boolean> => {
      const row = await withTables<Tables>(trx)
        .deleteFrom('bucket')
        .where('project_id', '=', projectId)
        .where('id', '=', key)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

const moment = (ms: number | null): Date | undefined => (ms === null ? undefined : new Date(ms))

// The JSON columns are written by this file, hence of these shapes.
const toBucket = (row: Selectable<Tables['bucket']>): Bucket => ({
  key: row.id,
  projectId: row.project_id,
  branchId: row.branch_id,
  id: row.bucket_id,
  name: row.name,
  stage: row.stage,
  displayName: row.display_name,
  description: row.description,
  color: row.color,
  sharing: row.sharing,
  sharingParameters: row.sharing_parameters === null ? {} : readStored<SharingParameters>(row.sharing_parameters),
  sharedBy: row.shared_by === null ? null : readStored<Bucket['sharedBy']>(row.shared_by),
  owner: row.owner === null ? null : readStored<Admin>(row.owner),
  sourceKey: row.source_bucket ?? undefined,
  createdAt: new Date(row.created_at),
  updatedAt: moment(row.updated_at),
  lastChangeAt: moment(row.last_change_at),
})
