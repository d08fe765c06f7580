// The table of saved queries.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { QueryParameter } from './query-parameters.ts'

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
}

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

    async update(trx: Trx, query: SavedQuery): Promise<boolean> {
      const row = await withTables<SavedQueryTables>(trx)
        .updateTable('saved_query')
        .set(changeable(query))
        .where('project_id', '=', query.projectId)
        .where('id', '=', query.id)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    async remove(trx: Trx, projectId: number, id: number): Promise<boolean> {
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

const changeable = ({ name, description, sql, parameters, updatedAt }: Omit<SavedQuery, 'id'>) => ({
  ...{ name, description, sql },
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
})
