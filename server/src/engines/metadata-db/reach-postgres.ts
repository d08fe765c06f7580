// Waits for PostgreSQL at the start of a stack: machines and containers that start together are not ready together.

import type pg from 'pg'
import { PlatformError } from '../../kit/errors.ts'
import { retry } from '../../kit/retry.ts'
import { isDatabaseAway } from './dialects.ts'

export interface ReachOptions {
  /** How long to wait for a database that is not there yet; one that refuses us is not waited for. */
  readonly waitMs: number
  readonly onWait?: (reason: string) => void
}

/** The oldest that a stack starts on. */
export const MIN_POSTGRES = 14
const NO_SUCH_DATABASE = '3D000'

export async function reachPostgres(pool: pg.Pool, url: string, { waitMs, onWait }: ReachOptions): Promise<void> {
  const deadline = performance.now() + waitMs
  let isTold = false
  let server: PostgresVersion
  try {
    server = await retry(() => postgresVersion(pool), {
      attempts: Number.POSITIVE_INFINITY,
      firstPauseMs: 250,
      longestPauseMs: 2000,
      isWorthRetrying(error) {
        const isWaiting = isDatabaseAway(error) && codeOf(error) !== NO_SUCH_DATABASE && performance.now() < deadline
        if (isWaiting && !isTold) onWait?.(reasonOf(error))
        isTold ||= isWaiting
        return isWaiting
      },
    })
  } catch (error) {
    throw new PlatformError('stack.database', { address: addressOf(url), reason: reasonOf(error) }, { cause: error })
  }
  if (server.number < MIN_POSTGRES * 10_000)
    throw new PlatformError('stack.databaseTooOld', { address: addressOf(url), version: server.version, needed: MIN_POSTGRES })
}

interface PostgresVersion {
  /** `14.5`, with what a distribution adds to it. */
  readonly version: string
  /** 140005 */
  readonly number: number
}

export async function postgresVersion(pool: Pick<pg.Pool, 'query'>): Promise<PostgresVersion> {
  const text = "select current_setting('server_version') as version, current_setting('server_version_num')::int as number"
  return (await pool.query<PostgresVersion>(text)).rows[0]! // one row
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code

/** Node tries every address of a name and then reports only the code. */
const reasonOf = (error: unknown): string => ((error as Error).message || String(codeOf(error))).replace(/\.$/, '')

/** Without the user and the password. */
function addressOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname}:${port || 5432}${pathname}`
}
