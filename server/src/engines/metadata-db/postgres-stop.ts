// The stop of a node whose PostgreSQL is unreachable. A server that was cut off, or that hangs, sends nothing and closes nothing: work that waits for
// it would never end, and the stop neither. So a stop checks over a separate connection whether the database still responds; when it does
// not, connections are cut: the waiting work fails, and the stop continues.

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export interface StopSettings {
  /** How often the database is checked. */
  readonly everyMs: number
  /** How long it may take to answer. */
  readonly answerMs: number
}

const SETTINGS: StopSettings = { everyMs: 500, answerMs: 3_000 }

export async function stopWithin<T>(
  url: string,
  cut: () => void,
  work: () => Promise<T>,
  { everyMs, answerMs }: StopSettings = SETTINGS,
): Promise<T> {
  const done = new AbortController()
  const watch = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await sleep(everyMs, undefined, { signal: done.signal }).catch(() => {})
      if (done.signal.aborted) return
      if (!(await answers(url, answerMs))) return cut()
    }
  }
  const watching = watch()
  try {
    return await work()
  } finally {
    done.abort()
    await watching
  }
}

async function answers(url: string, ms: number): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'millrace stop',
    connectionTimeoutMillis: ms,
    query_timeout: ms,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await endClient(client)
  }
}

const FAREWELL_MS = 1_000

/** Sends the end of the connection, and does not wait long for a response. */
export async function endClient(client: pg.Client): Promise<void> {
  const late = new AbortController()
  const ended = client.end().catch(() => {})
  await Promise.race([ended, sleep(FAREWELL_MS, undefined, { signal: late.signal }).catch(() => {})])
  late.abort()
  cutClient(client)
}

/** What waits for this connection fails at once. */
export const cutClient = (client: pg.Client): void =>
  void (client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }).connection.stream.destroy()
