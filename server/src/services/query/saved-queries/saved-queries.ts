// Named queries that a project shares. A result is computed with the rights of the caller, and kept in memory while the tables that the query
// names stay as they are.

import { createHash } from 'node:crypto'
import { type Db, isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import { type QueryParameter, type Values, withValues, wrong } from '../../../engines/sql/parameters.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { creatorTokenOf } from '../../../model/actor.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import { createResultCache } from './result-cache.ts'
import { createSavedQueriesStore, type SavedQuery, type SavedQueryVersion } from './saved-queries.store.ts'

export interface SavedQueriesDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  /** The states of the tables that the query reads, history included; undefined if the caller cannot read one of them. */
  readonly statesRead: (scope: Scope, sql: string) => Promise<readonly string[] | undefined>
  readonly run: (
    scope: Scope,
    query: { readonly sql: string; readonly format: 'json' | 'csv'; readonly limit: number },
    signal: AbortSignal,
  ) => Promise<AsyncIterable<Buffer>>
}

export interface QueryInput {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly sql?: string | undefined
  readonly parameters?: readonly QueryParameter[] | undefined
  /** Of the state that is changed: refused if it is another by now. */
  readonly version?: number | undefined
}

export interface ResultRequest {
  readonly values: Values
  readonly format: 'json' | 'csv'
  readonly limit: number
  /** Computed again, without the cache. */
  readonly refresh: boolean
}

export type RemovalCheck = (projectId: number, id: number) => Promise<void>

const MAX_QUERIES = 1000

export type SavedQueries = ReturnType<typeof createSavedQueries>

export function createSavedQueries({ db, inTransaction, clock, recordEvent, statesRead, run }: SavedQueriesDeps) {
  const store = createSavedQueriesStore(db)
  const cache = createResultCache(clock)
  /** Each throws when something needs the query. */
  const removalChecks: RemovalCheck[] = []

  async function get({ actor }: Scope, id: number): Promise<SavedQuery> {
    const query = await store.find(actor.projectId, id)
    if (!query) throw notFound(id)
    return query
  }

  async function create(scope: Scope, { name = '', description = '', sql = '', parameters = [] }: QueryInput, origin: Origin) {
    await check(sql, parameters)
    const { projectId } = scope.actor
    const now = clock.now()
    const creator = creatorTokenOf(scope.actor)
    return inTransaction(async (trx) => {
      if ((await store.count(trx, projectId)) >= MAX_QUERIES)
        throw new PlatformError('sql.savedQueries.tooMany', { limit: MAX_QUERIES })
      const query = { projectId, name, description, sql, parameters, creator, createdAt: now, updatedAt: now, version: 1 }
      const created = await store.insert(trx, query).catch(nameTaken(name))
      await store.keepVersion(trx, created, creator)
      await recordEvent(trx, scope.actor, queryEvent('storage.savedQueryCreated', created), origin)
      return created
    })
  }

  async function update(scope: Scope, id: number, input: QueryInput, origin: Origin): Promise<SavedQuery> {
    const query = await get(scope, id)
    if (input.version !== undefined && input.version !== query.version)
      throw new PlatformError('sql.savedQueries.changedSince', { id })
    const { name = query.name, description = query.description, sql = query.sql, parameters = query.parameters } = input
    await check(sql, parameters)
    const changed = { ...query, name, description, sql, parameters, updatedAt: clock.now(), version: query.version + 1 }
    await inTransaction(async (trx) => {
      if (!(await store.update(trx, changed).catch(nameTaken(name))))
        throw new PlatformError('sql.savedQueries.changedSince', { id })
      await store.keepVersion(trx, changed, creatorTokenOf(scope.actor))
      await recordEvent(trx, scope.actor, queryEvent('storage.savedQueryUpdated', changed), origin)
    })
    return changed
  }

  async function remove(scope: Scope, id: number, origin: Origin): Promise<void> {
    const query = await get(scope, id)
    for (const check of removalChecks) await check(query.projectId, id)
    await inTransaction(async (trx) => {
      if (!(await store.remove(trx, query.projectId, id))) throw notFound(id)
      await recordEvent(trx, scope.actor, queryEvent('storage.savedQueryDeleted', query), origin)
    })
  }

  /** One statement, each `$name` declared, and defaults that fit their types. Whether its tables exist shows its result. */
  async function check(sql: string, parameters: readonly QueryParameter[]): Promise<void> {
    const names = parameters.map(({ name }) => name)
    const twice = names.find((name, i) => names.indexOf(name) !== i)
    if (twice !== undefined) throw wrong(twice, 'is declared twice')
    const samples = parameters.map((one) => [one.name, one.default ?? SAMPLES[one.type]])
    await withValues(sql, parameters, Object.fromEntries(samples))
  }

  /** `isKept`: it was computed before, from the same states of the tables. */
  async function result(
    scope: Scope,
    id: number,
    { values, format, limit, refresh }: ResultRequest,
    signal: AbortSignal,
  ): Promise<{ readonly isKept: boolean; readonly body: Buffer | AsyncIterable<Buffer> }> {
    const query = await get(scope, id)
    const { sql, placed } = await withValues(query.sql, query.parameters, values)
    const key = await keyOf(scope, sql, format, limit)
    const kept = refresh || key === undefined ? undefined : cache.find(key)
    if (kept) return { isKept: true, body: kept }
    const body = await run(scope, { sql, format, limit }, signal).catch((error: unknown) => {
      throw placed(error)
    })
    return { isKept: false, body: key === undefined ? body : cache.keepingUp(key, body) }
  }

  /** Undefined if nothing can be cached: the caller cannot read a table that it names, which its run reports. */
  async function keyOf(scope: Scope, sql: string, format: string, limit: number): Promise<string | undefined> {
    const states = await statesRead(scope, sql)
    if (!states) return undefined
    const parts = [scope.actor.projectId, scope.branch.id, sql, format, limit, states]
    return createHash('sha256').update(JSON.stringify(parts)).digest('base64')
  }

  async function versions(scope: Scope, id: number): Promise<readonly SavedQueryVersion[]> {
    await get(scope, id)
    return store.versions(scope.actor.projectId, id)
  }

  const list = ({ actor }: Scope, page: { readonly limit: number; readonly offset: number }) => store.list(actor.projectId, page)

  return {
    list,
    get,
    create,
    update,
    remove,
    versions,
    result,
    checkRemoval: (check: RemovalCheck) => void removalChecks.push(check),
  }
}

const SAMPLES = { text: '', number: '0', boolean: 'true', date: '2026-01-31', timestamp: '2026-01-31 12:00:00' } as const

const notFound = (id: number) => new PlatformError('sql.savedQueries.notFound', { id })

const nameTaken = (name: string) => (error: unknown) => {
  throw isUniqueViolation(error) ? new PlatformError('sql.savedQueries.alreadyExists', { name }) : error
}

const queryEvent = (
  event: 'storage.savedQueryCreated' | 'storage.savedQueryUpdated' | 'storage.savedQueryDeleted',
  { id, name }: SavedQuery,
) => eventOf(event, {}, { objectId: String(id), objectName: name })
