// Pages of charts and tables over saved queries. Members of the project see results with their own rights; a link shows the results of one
// dashboard, and nothing else, until it expires or is revoked.

import { hash, randomBytes } from 'node:crypto'
import { type Db, isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Values } from '../../../engines/sql/parameters.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { type Actor, creatorTokenOf } from '../../../model/actor.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import { createDashboardsStore, type Dashboard, type Filter, type Link, type Tile } from './dashboards.store.ts'

interface Query {
  readonly id: number
  readonly parameters: readonly { readonly name: string }[]
}

interface Result {
  readonly isKept: boolean
  readonly body: Buffer | AsyncIterable<Buffer>
}

export interface DashboardsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly queries: {
    readonly get: (scope: Scope, id: number) => Promise<Query>
    readonly result: (
      scope: Scope,
      id: number,
      asked: { readonly values: Values; readonly format: 'json' | 'csv'; readonly limit: number; readonly refresh: boolean },
      signal: AbortSignal,
    ) => Promise<Result>
  }
  /** The branch in which links are shown; undefined for a project that is not there any more. */
  readonly defaultBranch: (projectId: number) => Promise<Scope['branch'] | undefined>
  readonly onFailure: (error: unknown, what: { readonly dashboardId: number; readonly tileId: string }) => void
}

export interface DashboardInput {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly tiles?: readonly Tile[] | undefined
  readonly filters?: readonly Filter[] | undefined
  /** Of the state that is changed: refused if it is another by now. */
  readonly version?: number | undefined
}

export interface TileRequest {
  readonly tileId: string
  readonly values: Values
  /** Computed again, without the cache. */
  readonly refresh: boolean
}

const MAX_DASHBOARDS = 500
const MAX_LINKS = 50
/** More is nothing that a page shows. */
const MAX_ROWS = 2000
/** Results that one link computes at the same time. */
const MAX_AT_ONCE = 4
/** For one figure with an alert. */
const FIGURE_MS = 20_000

interface Rows {
  readonly columns: readonly { readonly name: string }[]
  readonly rows: readonly (readonly unknown[])[]
}

export type Dashboards = ReturnType<typeof createDashboards>

export function createDashboards({ db, inTransaction, clock, recordEvent, queries, defaultBranch, onFailure }: DashboardsDeps) {
  const store = createDashboardsStore(db)
  const busy = new Map<number, number>()

  async function get({ actor }: Scope, id: number): Promise<Dashboard> {
    const found = await store.find(actor.projectId, id)
    if (!found) throw notFound(id)
    return found
  }

  async function create(scope: Scope, { name = '', description = '', tiles = [], filters = [] }: DashboardInput, origin: Origin) {
    await check(scope, tiles, filters)
    const { projectId } = scope.actor
    if ((await store.list(projectId)).length >= MAX_DASHBOARDS)
      throw new PlatformError('dashboards.tooMany', { limit: MAX_DASHBOARDS, what: 'dashboards' })
    const now = clock.now()
    const creator = creatorTokenOf(scope.actor)
    return inTransaction(async (trx) => {
      const values = { projectId, name, description, tiles, filters, creator, createdAt: now, updatedAt: now, version: 1 }
      const created = await store.insert(trx, values).catch(nameTaken(name))
      await recordEvent(trx, scope.actor, eventAbout('storage.dashboardCreated', created), origin)
      return created
    })
  }

  async function update(scope: Scope, id: number, input: DashboardInput, origin: Origin): Promise<Dashboard> {
    const before = await get(scope, id)
    if (input.version !== undefined && input.version !== before.version) throw changedSince(id)
    const { name = before.name, description = before.description, tiles = before.tiles, filters = before.filters } = input
    await check(scope, tiles, filters)
    const changed = { ...before, name, description, tiles, filters, updatedAt: clock.now(), version: before.version + 1 }
    await inTransaction(async (trx) => {
      if (!(await store.update(trx, changed).catch(nameTaken(name)))) throw changedSince(id)
      await recordEvent(trx, scope.actor, eventAbout('storage.dashboardUpdated', changed), origin)
    })
    return changed
  }

  async function remove(scope: Scope, id: number, origin: Origin): Promise<void> {
    const dashboard = await get(scope, id)
    await inTransaction(async (trx) => {
      if (!(await store.remove(trx, dashboard.projectId, id))) throw notFound(id)
      await recordEvent(trx, scope.actor, eventAbout('storage.dashboardDeleted', dashboard), origin)
    })
  }

  /** Tiles have ids of their own and queries of the project, filters have different names. */
  async function check(scope: Scope, tiles: readonly Tile[], filters: readonly Filter[]): Promise<void> {
    const twice = repeated(tiles.map(({ id }) => id)) ?? repeated(filters.map(({ name }) => name))
    if (twice !== undefined) throw new PlatformError('dashboards.invalid', { what: twice, reason: 'is declared twice' })
    for (const { title, queryId, alert, type } of tiles) {
      await queries.get(scope, Number(queryId))
      if (alert && type !== 'figure')
        throw new PlatformError('dashboards.invalid', { what: title || queryId, reason: 'has an alert, which only figures have' })
    }
  }

  /** Rows of a tile, with the rights of the caller. */
  const result = async (scope: Scope, id: number, asked: TileRequest, signal: AbortSignal): Promise<Result> =>
    resultIn(scope, await get(scope, id), asked, signal)

  /** A filter goes to the queries that have a parameter of its name. */
  async function resultIn(
    scope: Scope,
    { filters, tiles }: Dashboard,
    { tileId, values, refresh }: TileRequest,
    signal: AbortSignal,
  ): Promise<Result> {
    const tile = tiles.find(({ id }) => id === tileId)
    if (!tile) throw new PlatformError('dashboards.noTile', { id: tileId.slice(0, 60) })
    const stranger = Object.keys(values).find((name) => !filters.some((one) => one.name === name))
    if (stranger !== undefined)
      throw new PlatformError('dashboards.invalid', { what: stranger.slice(0, 60), reason: 'is not a filter of this dashboard' })
    const query = await queries.get(scope, Number(tile.queryId))
    const given = filters
      .filter(({ name }) => query.parameters.some((one) => one.name === name))
      .map((filter) => [filter.name, values[filter.name] ?? filter.default] as const)
      .filter(([, value]) => value !== undefined && value !== '')
    const asked = { values: Object.fromEntries(given), format: 'json', limit: MAX_ROWS, refresh } as const
    return queries.result(scope, query.id, asked, signal)
  }

  async function createLink(scope: Scope, id: number, expiresInSeconds: number, origin: Origin) {
    const dashboard = await get(scope, id)
    if ((await store.links(dashboard.projectId, id)).length >= MAX_LINKS)
      throw new PlatformError('dashboards.tooMany', { limit: MAX_LINKS, what: 'links of a dashboard' })
    const value = randomBytes(33).toString('base64url')
    const now = clock.now()
    const { projectId } = dashboard
    return inTransaction(async (trx) => {
      const expiresAt = new Date(now.getTime() + expiresInSeconds * 1000)
      const values = { projectId, dashboardId: id, creator: creatorTokenOf(scope.actor), createdAt: now, expiresAt }
      const link = await store.insertLink(trx, values, hashOf(value))
      await recordEvent(trx, scope.actor, eventAbout('storage.dashboardLinkCreated', dashboard), origin)
      return { link, value }
    })
  }

  async function removeLink(scope: Scope, id: number, linkId: number, origin: Origin): Promise<void> {
    const dashboard = await get(scope, id)
    await inTransaction(async (trx) => {
      if (!(await store.removeLink(trx, dashboard.projectId, id, linkId)))
        throw new PlatformError('dashboards.noLink', { id: linkId })
      await recordEvent(trx, scope.actor, eventAbout('storage.dashboardLinkDeleted', dashboard), origin)
    })
  }

  const links = async (scope: Scope, id: number): Promise<readonly Link[]> => {
    await get(scope, id)
    return store.links(scope.actor.projectId, id)
  }

  /** The dashboard of a link. Unknown, expired and revoked ones have the same error. */
  async function shared(value: string): Promise<{ readonly link: Link; readonly dashboard: Dashboard; readonly scope: Scope }> {
    const link = /^[\w-]{44}$/.test(value) ? await store.findLink(hashOf(value)) : undefined
    const branch = link && link.expiresAt > clock.now() ? await defaultBranch(link.projectId) : undefined
    const dashboard = link && branch ? await store.find(link.projectId, link.dashboardId) : undefined
    if (!link || !branch || !dashboard) throw new PlatformError('dashboards.linkInvalid')
    return { link, dashboard, scope: { actor: readerBehind(link), branch } }
  }

  /** Never computed again for a link while the tables are the same. `signal` is aborted when the response has ended, however it ended. */
  async function sharedResult(value: string, asked: TileRequest, signal: AbortSignal): Promise<Result> {
    const { link, dashboard, scope } = await shared(value)
    const count = busy.get(link.id) ?? 0
    if (count >= MAX_AT_ONCE) throw new PlatformError('tooManyRequests', { seconds: 1 })
    if (signal.aborted) throw new PlatformError('sql.cancelled')
    busy.set(link.id, count + 1)
    signal.addEventListener('abort', () => release(link.id), { once: true }) // also when the response was never read
    return resultIn(scope, dashboard, { ...asked, refresh: false }, signal)
  }

  function release(linkId: number): void {
    const left = (busy.get(linkId) ?? 1) - 1
    if (left > 0) busy.set(linkId, left)
    else busy.delete(linkId)
  }

  const list = ({ actor }: Scope) => store.list(actor.projectId)

  /** Figures that are beyond their bounds, with the defaults of the filters. One that cannot be computed does not hide the others. */
  async function figureAlerts(projectId: number) {
    const branch = await defaultBranch(projectId)
    const found = []
    for (const dashboard of branch ? await store.list(projectId) : [])
      for (const tile of dashboard.tiles) {
        if (!tile.alert || !branch) continue
        const scope = { actor: readerBehind(dashboard), branch }
        const value = await figureIn(scope, dashboard, tile).catch((error: unknown) =>
          onFailure(error, { dashboardId: dashboard.id, tileId: tile.id }),
        )
        const { operator, value: bound } = tile.alert
        if (typeof value !== 'number' || !(operator === 'above' ? value > bound : value < bound)) continue
        const names = { dashboard: { id: String(dashboard.id), name: dashboard.name }, tile: { id: tile.id, title: tile.title } }
        found.push({ projectId, ...names, value, operator, bound })
      }
    return found
  }

  /** Of the last row: the column that the tile names, else the last one with a number. */
  async function figureIn(scope: Scope, dashboard: Dashboard, { id: tileId, y }: Tile): Promise<number | undefined> {
    const asked = { tileId, values: {}, refresh: false }
    const { body } = await resultIn(scope, dashboard, asked, AbortSignal.timeout(FIGURE_MS))
    const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body))
    const { columns, rows } = readStored<Rows>(bytes.toString('utf8'))
    const row = rows.at(-1) ?? []
    const at =
      y?.[0] === undefined ? row.findLastIndex((value) => isNumber(value)) : columns.findIndex(({ name }) => name === y[0])
    return isNumber(row[at]) ? Number(row[at]) : undefined
  }

  /** Throws for a query that a dashboard shows. */
  async function checkUnused(projectId: number, queryId: number): Promise<void> {
    const user = (await store.list(projectId)).find(({ tiles }) => tiles.some((tile) => tile.queryId === String(queryId)))
    if (user) throw new PlatformError('sql.savedQueries.inUse', { id: queryId, dashboard: user.name })
  }

  return {
    list,
    get,
    create,
    update,
    remove,
    result,
    createLink,
    links,
    removeLink,
    shared,
    sharedResult,
    checkUnused,
    figureAlerts,
  }
}

/** Reads, and only what the queries of the dashboard name: no request chooses anything else. */
const readerBehind = ({ projectId, creator }: Pick<Link, 'projectId' | 'creator'>): Actor => ({
  projectId,
  tokenId: creator.id,
  tokenDescription: creator.description,
  isMasterToken: false,
  canManageBuckets: false,
  canManageTokens: false,
  canReadAllFileUploads: false,
  canPurgeTrash: false,
  canReadAllProjectEvents: false,
  canManageDevBranches: false,
  bucketPermissions: {},
  componentAccess: [],
  role: 'viewer',
})

const isNumber = (value: unknown): boolean =>
  value !== null && value !== '' && value !== undefined && Number.isFinite(Number(value))

const hashOf = (value: string): string => hash('sha256', value, 'hex')
const repeated = (names: readonly string[]): string | undefined => names.find((name, i) => names.indexOf(name) !== i)
const notFound = (id: number) => new PlatformError('dashboards.notFound', { id })
const changedSince = (id: number) => new PlatformError('dashboards.changedSince', { id })

const nameTaken = (name: string) => (error: unknown) => {
  throw isUniqueViolation(error) ? new PlatformError('dashboards.alreadyExists', { name }) : error
}

const eventAbout = (
  event: `storage.dashboard${'Created' | 'Updated' | 'Deleted' | 'LinkCreated' | 'LinkDeleted'}`,
  { id, name }: Dashboard,
) => eventOf(event, {}, { objectId: String(id), objectName: name })
