// Queries that were run in a project, by POST query: who, when, for how long, and what went wrong. The last thousand are kept.

import type { Generated } from 'kysely'
import { type Db, withTables } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { creatorTokenOf, seesWholeProject } from '../../../model/actor.ts'
import type { Scope } from '../../../model/scope.ts'

interface HistoryTables {
  query_run: {
    id: Generated<number>
    project_id: number
    token_id: number
    creator: string
    sql: string
    error: string | null
    started_at: number
    duration_ms: number
  }
}

const MAX_RUNS = 1000
const MAX_SQL = 20_000
const MAX_ERROR = 1000

export interface HistoryPage {
  readonly limit: number
  /** Only older ones than this. */
  readonly before?: number | undefined
  /** Only with this text, upper or lower case. */
  readonly q?: string | undefined
}

export interface QueryHistoryDeps {
  readonly db: Db
  readonly clock: Clock
  readonly onFailure: (error: unknown) => void
}

export type QueryHistory = ReturnType<typeof createQueryHistory>

export function createQueryHistory({ db: database, clock, onFailure }: QueryHistoryDeps) {
  const db = withTables<HistoryTables>(database)

  async function add({ actor }: Scope, sql: string, startedAt: Date, error: string | null): Promise<void> {
    await db
      .insertInto('query_run')
      .values({
        project_id: actor.projectId,
        token_id: actor.tokenId,
        creator: JSON.stringify(creatorTokenOf(actor)),
        sql: sql.slice(0, MAX_SQL),
        error,
        started_at: startedAt.getTime(),
        duration_ms: Math.max(0, clock.now().getTime() - startedAt.getTime()),
      })
      .execute()
    const oldest = await db
      .selectFrom('query_run')
      .select('id')
      .where('project_id', '=', actor.projectId)
      .orderBy('id', 'desc')
      .offset(MAX_RUNS)
      .limit(1)
      .executeTakeFirst()
    if (oldest) await db.deleteFrom('query_run').where('project_id', '=', actor.projectId).where('id', '<=', oldest.id).execute()
  }

  /** The rows that `start` gives; the query is recorded when they end. A record that cannot be written does not fail the query. */
  async function recorded(
    scope: Scope,
    sql: string,
    start: () => Promise<AsyncIterable<Buffer>>,
  ): Promise<AsyncIterable<Buffer>> {
    const startedAt = clock.now()
    const end = (error?: unknown) =>
      add(scope, sql, startedAt, error === undefined ? null : reasonOf(error).slice(0, MAX_ERROR)).catch(onFailure)
    const rows = await start().catch(async (error: unknown) => {
      await end(error)
      throw error
    })
    return (async function* () {
      let failure: unknown
      try {
        yield* rows
      } catch (error) {
        failure = error
        throw error
      } finally {
        await end(failure)
      }
    })()
  }

  /** Tokens that do not read the whole project see their own queries: the texts of others name tables that they may not see. */
  async function list({ actor }: Scope, { limit, before, q }: HistoryPage) {
    let rows = db.selectFrom('query_run').selectAll().where('project_id', '=', actor.projectId)
    if (!seesWholeProject(actor)) rows = rows.where('token_id', '=', actor.tokenId)
    if (before !== undefined) rows = rows.where('id', '<', before)
    const word = q?.toLowerCase() ?? ''
    // A first sieve: an underscore matches any character.
    if (word !== '') rows = rows.where((eb) => eb(eb.fn('lower', ['sql']), 'like', `%${word}%`))
    const found = await rows.orderBy('id', 'desc').limit(limit).execute()
    return found
      .filter((row) => row.sql.toLowerCase().includes(word))
      .map((row) => ({
        id: String(row.id),
        sql: row.sql,
        creatorToken: readStored<{ id: number; description: string }>(row.creator),
        started: new Date(Number(row.started_at)).toISOString(),
        durationMs: Number(row.duration_ms),
        error: row.error,
      }))
  }

  return { recorded, list }
}

/** The message that the caller got. */
const reasonOf = (error: unknown): string =>
  error instanceof PlatformError
    ? error.message
    : error instanceof Error && error.name === 'AbortError'
      ? 'It was stopped.'
      : 'It failed.'
