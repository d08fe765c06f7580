// One record, from the request to the disk. It is acknowledged when it is durable on this node, and loaded by this node.

import { randomUUID, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import type { Db } from '../../engines/metadata-db/dialects.ts'
import { listLogs, openRecordLog, type RecordLog } from '../../engines/record-log/record-log.ts'
import { idFrom } from '../../http/ids.ts'
import type { Clock } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { StreamRecord } from './columns.ts'
import { hashOf } from './sources.ts'
import { createStreamsStore, type Source, type SourceType } from './streams.store.ts'

export interface ReceivingDeps {
  readonly db: Db
  readonly clock: Clock
  /** A folder for each source. */
  readonly folder: string
}

/** Who sends: which source, and the secret that shows it may. */
export interface Sender {
  readonly projectId: number
  readonly sourceId: string
  readonly secret: string
  readonly type: SourceType
}

/** How long what is known of a source holds on this node. */
const KNOWN_MS = 1000
const MOST_KNOWN = 10_000
/** Records of a source that may wait on disk while its tables cannot be loaded. */
const MOST_WAITING_BYTES = 2 ** 30

export type Receiving = ReturnType<typeof createReceiving>

export function createReceiving({ db, clock, folder }: ReceivingDeps) {
  const store = createStreamsStore(db)
  const logs = new Map<number, Promise<RecordLog>>()
  const known = new Map<string, { readonly source: Source; readonly at: number }>()

  function logOf(sourceKey: number): Promise<RecordLog> {
    const log = logs.get(sourceKey) ?? openRecordLog(join(folder, String(sourceKey)), () => clock.now().getTime())
    logs.set(sourceKey, log)
    return log
  }

  async function findSource(projectId: number, sourceId: string): Promise<Source | undefined> {
    const name = `${projectId}/${sourceId}`
    const now = clock.now().getTime()
    const kept = known.get(name)
    if (kept && Math.abs(now - kept.at) < KNOWN_MS) return kept.source
    const source = await store.findSource(projectId, sourceId)
    if (known.size >= MOST_KNOWN) known.clear()
    if (source) known.set(name, { source, at: now })
    else known.delete(name)
    return source
  }

  /** The same answer for a wrong source and a wrong secret: nobody learns which sources there are. */
  async function admit({ projectId, sourceId, secret, type }: Sender): Promise<Source> {
    const source = await findSource(projectId, sourceId)
    if (!source || source.type !== type || !isSame(hashOf(secret), source.secretHash))
      throw new PlatformError('stream.unknownSource')
    if (source.isDisabled) throw new PlatformError('stream.disabled', { source: sourceId })
    return source
  }

  /** All of them are durable when it resolves. */
  async function receive(sender: Sender, records: readonly Omit<StreamRecord, 'id' | 'at'>[]): Promise<void> {
    const source = await admit(sender)
    const log = await logOf(source.key)
    if (log.sizeBytes() > MOST_WAITING_BYTES) throw new PlatformError('stream.full', { source: source.sourceId })
    const at = clock.now().getTime()
    try {
      await log.append(records.map((record) => Buffer.from(JSON.stringify({ id: randomUUID(), at, ...record }))))
    } catch (cause) {
      throw new PlatformError('stream.notStored', {}, { cause })
    }
  }

  return {
    receive,
    /** Refuses a sender before its body is read. */
    check: async (sender: Sender): Promise<void> => void (await admit(sender)),
    /** Opens what earlier processes left. */
    async openAll(): Promise<void> {
      for (const name of await listLogs(folder)) if (/^\d+$/.test(name)) await logOf(Number(name))
    },
    /** Every log that is open on this node. */
    logs: async (): Promise<readonly (readonly [sourceKey: number, log: RecordLog])[]> =>
      Promise.all([...logs].map(async ([key, log]) => [key, await log] as const)),
    async close(): Promise<void> {
      for (const log of logs.values()) await (await log).close()
    },
  }
}

export const projectFrom = (text: string): number => idFrom(text, () => new PlatformError('stream.unknownSource'))

const isSame = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

/** What would let a reader of the table act as the sender is left out. */
const NOT_KEPT = new Set(['authorization', 'cookie', 'x-storageapi-token'])

export const keptHeaders = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || NOT_KEPT.has(name) ? [] : [[name, String(value)]],
    ),
  )
