// The tables of dashboards and of links to them.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import type { QueryParameter } from '../../../engines/sql/parameters.ts'
import { readStored } from '../../../kit/stored-json.ts'

interface DashboardTables {
  dashboard: {
    id: Generated<number>
    project_id: number
    name: string
    description: string
    tiles: string
    filters: string
    creator: string
    created_at: number
    updated_at: number
    version: number
  }
  dashboard_link: {
    id: Generated<number>
    project_id: number
    dashboard_id: number
    value_hash: string
    creator: string
    created_at: number
    expires_at: number
  }
}

export const TILE_TYPES = ['table', 'line', 'area', 'bar', 'scatter', 'pivot', 'figure'] as const
export const OPERATORS = ['above', 'below'] as const

export interface Tile {
  readonly id: string
  readonly queryId: string
  readonly title: string
  readonly type: (typeof TILE_TYPES)[number]
  /** In thirds of the page. */
  readonly width: number
  /** Columns of the result: along the bottom, the values, and what makes one line of many. */
  readonly x?: string
  readonly y?: readonly string[]
  readonly series?: string
  /** Of a figure. */
  readonly alert?: { readonly operator: (typeof OPERATORS)[number]; readonly value: number }
}

/** A value that goes to every query with a parameter of its name. */
export interface Filter extends QueryParameter {
  readonly label?: string
}

type Creator = { readonly id: number; readonly description: string }

export interface Dashboard {
  readonly id: number
  readonly projectId: number
  readonly name: string
  readonly description: string
  readonly tiles: readonly Tile[]
  readonly filters: readonly Filter[]
  readonly creator: Creator
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly version: number
}

export interface Link {
  readonly id: number
  readonly projectId: number
  readonly dashboardId: number
  readonly creator: Creator
  readonly createdAt: Date
  readonly expiresAt: Date
}

export function createDashboardsStore(database: Db) {
  const db = withTables<DashboardTables>(database)
  const own = (trx: Trx) => withTables<DashboardTables>(trx)
  const ofProject = (projectId: number) => db.selectFrom('dashboard').where('project_id', '=', projectId)
  return {
    async list(projectId: number): Promise<Dashboard[]> {
      return (await ofProject(projectId).selectAll().orderBy('name').execute()).map(toDashboard)
    },

    async find(projectId: number, id: number): Promise<Dashboard | undefined> {
      const row = await ofProject(projectId).selectAll().where('id', '=', id).executeTakeFirst()
      return row && toDashboard(row)
    },

    async insert(trx: Trx, dashboard: Omit<Dashboard, 'id'>): Promise<Dashboard> {
      const { projectId, creator, createdAt } = dashboard
      const values = {
        ...{ project_id: projectId, creator: JSON.stringify(creator), created_at: createdAt.getTime() },
        ...changeable(dashboard),
      }
      return toDashboard(await own(trx).insertInto('dashboard').values(values).returningAll().executeTakeFirstOrThrow())
    },

    /** False: it is gone, or another request has changed it since. */
    async update(trx: Trx, dashboard: Dashboard): Promise<boolean> {
      const row = await own(trx)
        .updateTable('dashboard')
        .set(changeable(dashboard))
        .where('project_id', '=', dashboard.projectId)
        .where('id', '=', dashboard.id)
        .where('version', '=', dashboard.version - 1)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    async remove(trx: Trx, projectId: number, id: number): Promise<boolean> {
      const trxDb = own(trx)
      await trxDb.deleteFrom('dashboard_link').where('project_id', '=', projectId).where('dashboard_id', '=', id).execute()
      const row = await trxDb
        .deleteFrom('dashboard')
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    async links(projectId: number, dashboardId: number): Promise<Link[]> {
      const rows = await db
        .selectFrom('dashboard_link')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('dashboard_id', '=', dashboardId)
        .orderBy('id', 'desc')
        .execute()
      return rows.map(toLink)
    },

    async insertLink(trx: Trx, link: Omit<Link, 'id'>, valueHash: string): Promise<Link> {
      const values = {
        project_id: link.projectId,
        dashboard_id: link.dashboardId,
        value_hash: valueHash,
        creator: JSON.stringify(link.creator),
        created_at: link.createdAt.getTime(),
        expires_at: link.expiresAt.getTime(),
      }
      return toLink(await own(trx).insertInto('dashboard_link').values(values).returningAll().executeTakeFirstOrThrow())
    },

    async removeLink(trx: Trx, projectId: number, dashboardId: number, id: number): Promise<boolean> {
      const row = await own(trx)
        .deleteFrom('dashboard_link')
        .where('project_id', '=', projectId)
        .where('dashboard_id', '=', dashboardId)
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    /** Of any project: the value is all that the request has. */
    async findLink(valueHash: string): Promise<Link | undefined> {
      const row = await db.selectFrom('dashboard_link').selectAll().where('value_hash', '=', valueHash).executeTakeFirst()
      return row && toLink(row)
    },
  }
}

const changeable = ({ name, description, tiles, filters, updatedAt, version }: Omit<Dashboard, 'id'>) => ({
  ...{ name, description, version },
  tiles: JSON.stringify(tiles),
  filters: JSON.stringify(filters),
  updated_at: updatedAt.getTime(),
})

const toDashboard = (row: Selectable<DashboardTables['dashboard']>): Dashboard => ({
  id: Number(row.id),
  projectId: Number(row.project_id),
  name: row.name,
  description: row.description,
  tiles: readStored<Tile[]>(row.tiles),
  filters: readStored<Filter[]>(row.filters),
  creator: readStored<Creator>(row.creator),
  createdAt: new Date(Number(row.created_at)),
  updatedAt: new Date(Number(row.updated_at)),
  version: row.version,
})

const toLink = (row: Selectable<DashboardTables['dashboard_link']>): Link => ({
  id: Number(row.id),
  projectId: Number(row.project_id),
  dashboardId: Number(row.dashboard_id),
  creator: readStored<Creator>(row.creator),
  createdAt: new Date(Number(row.created_at)),
  expiresAt: new Date(Number(row.expires_at)),
})
