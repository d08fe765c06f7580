// Sources, sinks, finished loads and tasks in the metadata database.

import type { Generated, Selectable } from 'kysely'
import { type Db, ofWorkingProject, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Column } from './columns.ts'

interface Tables {
  stream_source: {
    id: Generated<number>
    project_id: number
    branch_id: number
    source_id: string
    type: SourceType
    name: string
    description: string
    secret_hash: string
    secret: string
    is_disabled: number
    limits: string
    version: number
    created_at: number
    updated_at: number
    creator_token_id: number
    creator_description: string
  }
  stream_sink: {
    id: Generated<number>
    project_id: number
    source_key: number
    sink_id: string
    name: string
    description: string
    table_id: string
    columns: string
    is_disabled: number
    actor: string
    records_count: number
    last_loaded_at: number | null
    last_error: string | null
    version: number
    created_at: number
    updated_at: number
  }
  stream_load: { sink_key: number; segment: string; loaded_at: number }
  stream_task: { project_id: number; task_id: string; content: string; created_at: number }
}

export type SourceType = 'http' | 'otlp'

/** When a batch is loaded, whatever comes first. */
export interface BatchLimits {
  readonly records: number
  readonly bytes: number
  readonly ageMs: number
}

export interface Source {
  readonly key: number
  readonly projectId: number
  readonly branchId: number
  readonly sourceId: string
  readonly type: SourceType
  readonly name: string
  readonly description: string
  readonly secretHash: string
  /** Encrypted. */
  readonly secret: string
  readonly isDisabled: boolean
  readonly limits: BatchLimits
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly creator: { readonly tokenId: number; readonly description: string }
}

export interface Sink {
  readonly key: number
  readonly projectId: number
  readonly sourceKey: number
  readonly sinkId: string
  readonly name: string
  readonly description: string
  readonly tableId: string
  readonly columns: readonly Column[]
  readonly isDisabled: boolean
  /** Who made it: its table is loaded with these rights. */
  readonly actor: Actor
  readonly recordsCount: number
  readonly lastLoadedAt: Date | undefined
  readonly lastError: string | undefined
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface RenamedColumn {
  readonly branchId: number
  readonly tableId: string
  readonly from: string
  readonly to: string
}

const tables = (db: Db) => withTables<Tables>(db)

export type StreamsStore = ReturnType<typeof createStreamsStore>

export function createStreamsStore(database: Db) {
  const db = tables(database)

  return {
    insertSource: async (trx: Trx, source: Omit<Source, 'key'>): Promise<Source> => {
      const { id } = await tables(trx)
        .insertInto('stream_source')
        .values({
          ...sourceColumns(source),
          project_id: source.projectId,
          branch_id: source.branchId,
          source_id: source.sourceId,
          type: source.type,
          created_at: source.createdAt.getTime(),
          creator_token_id: source.creator.tokenId,
          creator_description: source.creator.description,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...source, key: id }
    },

    /** False if it was changed or deleted since it was read. */
    updateSource: async (trx: Trx, before: Source, after: Source): Promise<boolean> => {
      const { numUpdatedRows } = await tables(trx)
        .updateTable('stream_source')
        .set(sourceColumns(after))
        .where('project_id', '=', before.projectId)
        .where('id', '=', before.key)
        .where('version', '=', before.version)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** Its sinks go with it. */
    removeSource: async (trx: Trx, { projectId, key }: Source): Promise<boolean> => {
      const sinks = tables(trx).selectFrom('stream_sink').select('id').where('source_key', '=', key)
      await tables(trx).deleteFrom('stream_load').where('sink_key', 'in', sinks).execute()
      await tables(trx).deleteFrom('stream_sink').where('source_key', '=', key).execute()
      const { numDeletedRows } = await tables(trx)
        .deleteFrom('stream_source')
        .where('project_id', '=', projectId)
        .where('id', '=', key)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    findSource: async (projectId: number, sourceId: string, branchId?: number): Promise<Source | undefined> => {
      let query = db.selectFrom('stream_source').selectAll().where('project_id', '=', projectId).where('source_id', '=', sourceId)
      if (branchId !== undefined) query = query.where('branch_id', '=', branchId)
      const row = await query.executeTakeFirst()
      return row && toSource(row)
    },

    /** Whether the project of a source takes records now. */
    isWorking: async (projectId: number): Promise<boolean> => {
      const row = await db
        .selectFrom('stream_source')
        .select('id')
        .where('project_id', '=', projectId)
        .where(ofWorkingProject('stream_source'))
        .executeTakeFirst()
      return row !== undefined
    },

    findSourceByKey: async (key: number): Promise<Source | undefined> => {
      const row = await db.selectFrom('stream_source').selectAll().where('id', '=', key).executeTakeFirst()
      return row && toSource(row)
    },

    listSources: async (projectId: number, branchId: number): Promise<Source[]> => {
      const rows = await db
        .selectFrom('stream_source')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .orderBy('source_id')
        .execute()
      return rows.map(toSource)
    },

    insertSink: async (trx: Trx, sink: Omit<Sink, 'key'>): Promise<Sink> => {
      const { id } = await tables(trx)
        .insertInto('stream_sink')
        .values({
          ...sinkColumns(sink),
          project_id: sink.projectId,
          source_key: sink.sourceKey,
          sink_id: sink.sinkId,
          records_count: 0,
          created_at: sink.createdAt.getTime(),
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...sink, key: id }
    },

    updateSink: async (trx: Trx, before: Sink, after: Sink): Promise<boolean> => {
      const { numUpdatedRows } = await tables(trx)
        .updateTable('stream_sink')
        .set(sinkColumns(after))
        .where('project_id', '=', before.projectId)
        .where('id', '=', before.key)
        .where('version', '=', before.version)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    removeSink: async (trx: Trx, { projectId, key }: Sink): Promise<boolean> => {
      await tables(trx).deleteFrom('stream_load').where('sink_key', '=', key).execute()
      const { numDeletedRows } = await tables(trx)
        .deleteFrom('stream_sink')
        .where('project_id', '=', projectId)
        .where('id', '=', key)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    listSinks: async (projectId: number, sourceKey: number): Promise<Sink[]> => {
      const rows = await db
        .selectFrom('stream_sink')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('source_key', '=', sourceKey)
        .orderBy('sink_id')
        .execute()
      return rows.map(toSink)
    },

    isLoaded: async (sinkKey: number, segment: string): Promise<boolean> =>
      (await db
        .selectFrom('stream_load')
        .select('segment')
        .where('sink_key', '=', sinkKey)
        .where('segment', '=', segment)
        .executeTakeFirst()) !== undefined,

    /** Sinks of the table send the column under its new name. One that sends that name already stays as it is. */
    renameColumn: async (trx: Trx, projectId: number, { branchId, tableId, from, to }: RenamedColumn): Promise<void> => {
      const rows = await tables(trx)
        .selectFrom('stream_sink')
        .innerJoin('stream_source', 'stream_source.id', 'stream_sink.source_key')
        .selectAll('stream_sink')
        .where('stream_sink.project_id', '=', projectId)
        .where('stream_source.branch_id', '=', branchId)
        .where('stream_sink.table_id', '=', tableId)
        .execute()
      const isNamed = (column: Column, name: string) => column.name.toLowerCase() === name.toLowerCase()
      for (const { key, columns } of rows.map(toSink)) {
        const at = columns.findIndex((column) => isNamed(column, from))
        if (at === -1 || columns.some((column, i) => i !== at && isNamed(column, to))) continue
        await tables(trx)
          .updateTable('stream_sink')
          .set((e) => ({
            columns: JSON.stringify(columns.map((column, i) => (i === at ? { ...column, name: to } : column))),
            version: e('version', '+', 1),
          }))
          .where('project_id', '=', projectId)
          .where('id', '=', key)
          .execute()
      }
    },

    /**
     * In the transaction that shows the rows; fails when the segment was loaded before. False if the sink was changed or deleted since it
     * was read: the rows have the columns of before.
     */
    recordLoad: async (trx: Trx, sink: Sink, segment: string, records: number, now: number): Promise<boolean> => {
      await tables(trx).insertInto('stream_load').values({ sink_key: sink.key, segment, loaded_at: now }).execute()
      const { numUpdatedRows } = await tables(trx)
        .updateTable('stream_sink')
        .set((e) => ({ records_count: e('records_count', '+', records), last_loaded_at: now, last_error: null }))
        .where('project_id', '=', sink.projectId)
        .where('id', '=', sink.key)
        .where('version', '=', sink.version)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    recordFailure: async (sink: Sink, error: string): Promise<void> => {
      await db
        .updateTable('stream_sink')
        .set({ last_error: error })
        .where('project_id', '=', sink.projectId)
        .where('id', '=', sink.key)
        .execute()
    },

    /** After its file is deleted it is no longer needed. */
    forgetLoads: async (segment: string): Promise<void> => {
      await db.deleteFrom('stream_load').where('segment', '=', segment).execute()
    },

    insertTask: async (trx: Trx, projectId: number, taskId: string, content: string, now: number): Promise<void> => {
      await tables(trx)
        .deleteFrom('stream_task')
        .where('created_at', '<', now - TASKS_KEPT_MS)
        .execute()
      await tables(trx)
        .insertInto('stream_task')
        .values({ project_id: projectId, task_id: taskId, content, created_at: now })
        .execute()
    },

    findTask: async (projectId: number, taskId: string): Promise<string | undefined> => {
      const row = await db
        .selectFrom('stream_task')
        .select('content')
        .where('project_id', '=', projectId)
        .where('task_id', '=', taskId)
        .executeTakeFirst()
      return row?.content
    },
  }
}

const TASKS_KEPT_MS = 86_400_000

const sourceColumns = (source: Omit<Source, 'key'>) => ({
  name: source.name,
  description: source.description,
  secret_hash: source.secretHash,
  secret: source.secret,
  is_disabled: source.isDisabled ? 1 : 0,
  limits: JSON.stringify(source.limits),
  version: source.version,
  updated_at: source.updatedAt.getTime(),
})

const sinkColumns = (sink: Omit<Sink, 'key'>) => ({
  name: sink.name,
  description: sink.description,
  table_id: sink.tableId,
  columns: JSON.stringify(sink.columns),
  is_disabled: sink.isDisabled ? 1 : 0,
  actor: JSON.stringify(sink.actor),
  version: sink.version,
  updated_at: sink.updatedAt.getTime(),
})

const toSource = (row: Selectable<Tables['stream_source']>): Source => ({
  key: row.id,
  projectId: row.project_id,
  branchId: row.branch_id,
  sourceId: row.source_id,
  type: row.type,
  name: row.name,
  description: row.description,
  secretHash: row.secret_hash,
  secret: row.secret,
  isDisabled: row.is_disabled === 1,
  limits: JSON.parse(row.limits) as BatchLimits, // written by sourceColumns
  version: row.version,
  createdAt: new Date(row.created_at),
  updatedAt: new Date(row.updated_at),
  creator: { tokenId: row.creator_token_id, description: row.creator_description },
})

const toSink = (row: Selectable<Tables['stream_sink']>): Sink => ({
  key: row.id,
  projectId: row.project_id,
  sourceKey: row.source_key,
  sinkId: row.sink_id,
  name: row.name,
  description: row.description,
  tableId: row.table_id,
  columns: JSON.parse(row.columns) as Column[], // written by sinkColumns
  isDisabled: row.is_disabled === 1,
  actor: JSON.parse(row.actor) as Actor, // written by sinkColumns
  recordsCount: Number(row.records_count),
  lastLoadedAt: row.last_loaded_at === null ? undefined : new Date(row.last_loaded_at),
  lastError: row.last_error ?? undefined,
  version: row.version,
  createdAt: new Date(row.created_at),
  updatedAt: new Date(row.updated_at),
})
