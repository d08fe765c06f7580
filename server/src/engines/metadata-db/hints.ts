// Hints between nodes: something was queued, look now. On PostgreSQL by NOTIFY over the pool, and LISTEN over a connection of its own that is
// opened again when it breaks. A hint may get lost, and nothing depends on one: every listener also polls now and then.
// On SQLite there is no other node.

import pg from 'pg'
import { endClient } from './postgres-stop.ts'

export interface Hints {
  /** After the commit that others should look at. Never fails and never waits. */
  send(topic: string): void
  /** Also for hints of this process. */
  listen(topic: string, onHint: () => void): void
  close(): Promise<void>
}

export const NO_HINTS: Hints = { send: () => {}, listen: () => {}, close: async () => {} }

const CHANNEL = 'millrace'
const RETRY_MS = 1000

export interface HintsDeps {
  readonly url: string
  readonly query: (text: string, values: readonly string[]) => Promise<unknown>
}

export function createPostgresHints({ url, query }: HintsDeps): Hints {
  const listeners = new Map<string, () => void>()
  const asked = new Set<string>()
  let client: pg.Client | undefined
  let retry: NodeJS.Timeout | undefined
  let connecting: Promise<void> = Promise.resolve()
  let isClosed = false

  async function connect(): Promise<void> {
    const fresh = new pg.Client({ connectionString: url, application_name: 'millrace hints' })
    const again = () => {
      if (isClosed || (client !== undefined && client !== fresh)) return
      client = undefined
      clearTimeout(retry)
      retry = setTimeout(open, RETRY_MS).unref()
    }
    fresh.on('error', again)
    fresh.on('end', again)
    fresh.on('notification', ({ payload }) => listeners.get(payload ?? '')?.())
    try {
      await fresh.connect()
      await fresh.query(`listen ${CHANNEL}`)
      client = fresh
    } catch {
      await fresh.end().catch(() => {})
      again()
    }
  }

  const open = (): void => {
    connecting = connect()
  }

  return {
    /** Hints of one turn of the event loop are one: a burst of jobs costs one statement. */
    send(topic) {
      if (asked.has(topic) || isClosed) return
      asked.add(topic)
      setImmediate(() => {
        asked.delete(topic)
        query('select pg_notify($1, $2)', [CHANNEL, topic]).catch(() => {})
      })
    },
    listen(topic, onHint) {
      if (listeners.size === 0) open()
      listeners.set(topic, onHint)
    },
    async close() {
      isClosed = true
      clearTimeout(retry)
      await connecting
      if (client) await endClient(client)
    },
  }
}
