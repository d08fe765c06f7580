// The tables of saved queries and of their versions.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import type { QueryParameter } from '../../../engines/sql/parameters.ts'
import { readStored } from '../../../kit/stored-json.ts'

interface SavedQueryTables {
  saved_query: {
    id: Generated<number>
    project_id: number
    name: string
    description: string
    sql: string
    parameters: string
    creator: string
    created_at: number
    updated_at: number
    version: number
  }
  saved_query_version: {
    project_id: number
    query_id: number
    version: number
    name: string
    description: string
    sql: string
    parameters: string
    creator: string
    created_at: number
  }
}

export interface SavedQuery {
  readonly id: number
  readonly projectId: number
  readonly name: string
  readonly description: string
  readonly sql: string
  readonly parameters: readonly QueryParameter[]
  readonly creator: { readonly id: number; readonly description: string }
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly version: number
}

/** A state that a query had; `creator` made it. */
export type SavedQueryVersion = Pick<
  SavedQuery,
  'version' | 'name' | 'description' | 'sql' | 'parameters' | 'creator' | 'createdAt'
>

/** Older ones are deleted. */
const MAX_VERSIONS = 200

export function createSavedQueriesStore(database: Db) {
  const db = withTables<SavedQueryTables>(database)
  const ofProject = (projectId: number) => db.selectFrom('saved_query').where('project_id', '=', projectId)
  return {
    async list(projectId: number, { limit, offset }: { readonly limit: number; readonly offset: number }) {
      const rows = await ofProject(projectId).selectAll().orderBy('name').limit(limit).offset(offset).execute()
      return rows.map(toQuery)
    },

    async find(projectId: number, id: number): Promise<SavedQuery | undefined> {
      const row = await ofProject(projectId).selectAll().where('id', '=', id).executeTakeFirst()
      return row && toQuery(row)
    },

    async count(trx: Trx, projectId: number): Promise<number> {
      const { n } = await withTables<SavedQueryTables>(trx)
        .selectFrom('saved_query')
        .where('project_id', '=', projectId)
        .select((eb) => eb.fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
      return Number(n)
    },

    async insert(trx: Trx, query: Omit<SavedQuery, 'id'>): Promise<SavedQuery> {
      const row = await withTables<SavedQueryTables>(trx)
        .insertInto('saved_query')
        .values({
          project_id: query.projectId,
          creator: JSON.stringify(query.creator),
          created_at: query.createdAt.getTime(),
          ...changeable(query),
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      return toQuery(row)
    },

    /** False: it is gone, or another request has changed it since. */
    async update(trx: Trx, query: SavedQuery): Promise<boolean> {
      const row = await withTables<SavedQueryTables>(trx)
        .updateTable('saved_query')
        .set(changeable(query))
        .where('project_id', '=', query.projectId)
        .where('id', '=', query.id)
        .where('version', '=', query.version - 1)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    async keepVersion(trx: Trx, { id, projectId, ...query }: SavedQuery, creator: SavedQuery['creator']): Promise<void> {
      const own = withTables<SavedQueryTables>(trx)
      const { version, name, description, sql } = query
      await own
        .insertInto('saved_query_version')
        .values({
          ...{ project_id: projectId, query_id: id, version, name, description, sql },
          parameters: JSON.stringify(query.parameters),
          creator: JSON.stringify(creator),
          created_at: query.updatedAt.getTime(),
        })
        .execute()
      await own
        .deleteFrom('saved_query_version')
        .where('project_id', '=', projectId)
        .where('query_id', '=', id)
        .where('version', '<=', version - MAX_VERSIONS)
        .execute()
    },

    /** Newest first. */
    async versions(projectId: number, id: number): Promise<SavedQueryVersion[]> {
      const rows = await db
        .selectFrom('saved_query_version')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('query_id', '=', id)
        .orderBy('version', 'desc')
        .execute()
      return rows.map(({ version, name, description, sql, parameters, creator, created_at }) => ({
        ...{ version, name, description, sql },
        parameters: readStored<QueryParameter[]>(parameters),
        creator: readStored<SavedQuery['creator']>(creator),
        createdAt: new Date(created_at),
      }))
    },

    async remove(trx: Trx, projectId: number, id: number): Promise<boolean> {
      await withTables<SavedQueryTables>(trx)
        .deleteFrom('saved_query_version')
        .where('project_id', '=', projectId)
        .where('query_id', '=', id)
        .execute()
      const row = await withTables<SavedQueryTables>(trx)
        .deleteFrom('saved_query')
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

const changeable = ({ name, description, sql, parameters, updatedAt, version }: Omit<SavedQuery, 'id'>) => ({
  ...{ name, description, sql, version },
  parameters: JSON.stringify(parameters),
  updated_at: updatedAt.getTime(),
})

const toQuery = (row: Selectable<SavedQueryTables['saved_query']>): SavedQuery => ({
  id: row.id,
  projectId: row.project_id,
  name: row.name,
  description: row.description,
  sql: row.sql,
  parameters: readStored<QueryParameter[]>(row.parameters),
  creator: readStored<SavedQuery['creator']>(row.creator),
  createdAt: new Date(row.created_at),
  updatedAt: new Date(row.updated_at),
  version: row.version,
})
