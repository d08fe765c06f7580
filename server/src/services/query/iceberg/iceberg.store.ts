// What was written for Iceberg readers, in the metadata database. A snapshot goes with the state of the table that it describes (by the
// database itself); manifests are shared by snapshots and go when no snapshot names them.

import { type Generated, sql } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { ManifestFile } from './manifests.ts'
import type { IcebergSchema, SnapshotSummary } from './table-metadata.ts'

interface Tables {
  iceberg_snapshot: {
    state: number
    project_id: number
    data_table: number
    list_key: string | null
    metadata_key: string | null
    schema_id: number | null
    summary: string | null
    outside: string | null
  }
  iceberg_manifest: { id: Generated<number>; project_id: number; data_table: number; key: string; value: string; files: string }
  iceberg_snapshot_manifest: { state: number; manifest: number }
  iceberg_schema: { project_id: number; data_table: number; schema_id: number; value: string }
}

/** The table that holds the data, whatever shows it. */
export interface DataTable {
  readonly projectId: number
  readonly key: number
}

/** A state that readers of Iceberg may see. */
export interface WrittenSnapshot {
  readonly state: number
  readonly listKey: string
  readonly metadataKey: string | undefined
  readonly schemaId: number
  readonly summary: SnapshotSummary
  /** Folders and single files that lie outside the folder of the table. */
  readonly outside: readonly string[]
}

/** Files of a manifest by key, with the state that had each first. */
export type FilesOfManifest = Readonly<Record<string, number>>

export interface StoredManifest extends ManifestFile {
  readonly key: string
  readonly files: FilesOfManifest
}

export interface KnownManifest extends StoredManifest {
  readonly id: number
}

export type IcebergStore = ReturnType<typeof createIcebergStore>

export function createIcebergStore(database: Db) {
  const db = withTables<Tables>(database)

  return {
    /** The snapshots that were written, and the states that were found unfit. */
    async listSnapshots({ projectId, key }: DataTable) {
      const rows = await db
        .selectFrom('iceberg_snapshot')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('data_table', '=', key)
        .orderBy('state')
        .execute()
      const written = rows.flatMap((row): WrittenSnapshot[] =>
        row.list_key === null || row.schema_id === null
          ? []
          : [
              {
                state: row.state,
                listKey: row.list_key,
                metadataKey: row.metadata_key ?? undefined,
                schemaId: row.schema_id,
                summary: readStored<SnapshotSummary>(row.summary ?? '{}'),
                outside: readStored<string[]>(row.outside ?? '[]'),
              },
            ],
      )
      return { written, seen: new Set(rows.map((row) => row.state)) }
    },

    async listManifests({ projectId, key }: DataTable, state: number): Promise<KnownManifest[]> {
      const rows = await db
        .selectFrom('iceberg_manifest')
        .innerJoin('iceberg_snapshot_manifest', 'iceberg_snapshot_manifest.manifest', 'iceberg_manifest.id')
        .select(['iceberg_manifest.id', 'iceberg_manifest.key', 'value', 'files'])
        .where('iceberg_snapshot_manifest.state', '=', state)
        .where('project_id', '=', projectId)
        .where('data_table', '=', key)
        .orderBy('iceberg_manifest.id')
        .execute()
      return rows.map((row) => ({
        ...readStored<ManifestFile>(row.value),
        id: row.id,
        key: row.key,
        files: readStored<FilesOfManifest>(row.files),
      }))
    },

    async listSchemas({ projectId, key }: DataTable): Promise<IcebergSchema[]> {
      const rows = await db
        .selectFrom('iceberg_schema')
        .select('value')
        .where('project_id', '=', projectId)
        .where('data_table', '=', key)
        .orderBy('schema_id')
        .execute()
      return rows.map((row) => readStored<IcebergSchema>(row.value))
    },

    insertSchema: async (trx: Trx, { projectId, key }: DataTable, schema: IcebergSchema): Promise<void> => {
      await withTables<Tables>(trx)
        .insertInto('iceberg_schema')
        .values({ project_id: projectId, data_table: key, schema_id: schema['schema-id'], value: JSON.stringify(schema) })
        .execute()
    },

    insertUnfit: async (trx: Trx, { projectId, key }: DataTable, state: number): Promise<void> => {
      await withTables<Tables>(trx)
        .insertInto('iceberg_snapshot')
        .values({ state, project_id: projectId, data_table: key })
        .execute()
    },

    setMetadataKey: async (trx: Trx, { projectId, key }: DataTable, state: number, metadataKey: string): Promise<void> => {
      await withTables<Tables>(trx)
        .updateTable('iceberg_snapshot')
        .set({ metadata_key: metadataKey })
        .where('state', '=', state)
        .where('project_id', '=', projectId)
        .where('data_table', '=', key)
        .where('metadata_key', 'is', null)
        .execute()
    },

    async insertSnapshot(
      trx: Trx,
      { projectId, key }: DataTable,
      snapshot: WrittenSnapshot,
      kept: readonly number[],
      added: readonly StoredManifest[],
    ): Promise<number[]> {
      const tx = withTables<Tables>(trx)
      await tx
        .insertInto('iceberg_snapshot')
        .values({
          state: snapshot.state,
          project_id: projectId,
          data_table: key,
          list_key: snapshot.listKey,
          metadata_key: snapshot.metadataKey ?? null,
          schema_id: snapshot.schemaId,
          summary: JSON.stringify(snapshot.summary),
          outside: JSON.stringify(snapshot.outside),
        })
        .execute()
      const ids: number[] = []
      for (const { key: manifestKey, files, ...value } of added) {
        const { id } = await tx
          .insertInto('iceberg_manifest')
          .values({
            project_id: projectId,
            data_table: key,
            key: manifestKey,
            value: JSON.stringify(value),
            files: JSON.stringify(files),
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        ids.push(id)
      }
      for (const manifest of [...kept, ...ids])
        await tx.insertInto('iceberg_snapshot_manifest').values({ state: snapshot.state, manifest }).execute()
      return ids
    },

    /** Manifests and schemas that no snapshot names any more. */
    async removeUnused(trx: Trx): Promise<void> {
      await sql`delete from iceberg_manifest where id not in (select manifest from iceberg_snapshot_manifest)`.execute(trx)
      await sql`delete from iceberg_schema where data_table not in (select data_table from iceberg_snapshot)`.execute(trx)
    },

    /** Every object that a snapshot of the project needs besides the files of the table itself. */
    async *everyKey(projectId: number): AsyncGenerator<string> {
      for (let after = 0; ; ) {
        const rows = await db
          .selectFrom('iceberg_snapshot')
          .select(['state', 'list_key', 'metadata_key'])
          .where('project_id', '=', projectId)
          .where('state', '>', after)
          .orderBy('state')
          .limit(1000)
          .execute()
        for (const row of rows) yield* [row.list_key, row.metadata_key].filter((key) => key !== null)
        const last = rows.at(-1)
        if (!last) break
        after = last.state
      }
      for (let after = 0; ; ) {
        const query = db.selectFrom('iceberg_manifest').select(['id', 'key']).where('project_id', '=', projectId)
        const rows = await query.where('id', '>', after).orderBy('id').limit(1000).execute()
        for (const row of rows) yield row.key
        const last = rows.at(-1)
        if (!last) break
        after = last.id
      }
    },
  }
}
