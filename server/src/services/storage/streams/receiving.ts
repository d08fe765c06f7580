// One record, from the request to the disk. It is acknowledged when it is durable on this node, and loaded by this node.

import { randomUUID, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import type { Db } from '../../../engines/metadata-db/dialects.ts'
import { listLogs, openRecordLog, type RecordLog } from '../../../engines/record-log/record-log.ts'
import { idFrom } from '../../../http/ids.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { StreamRecord } from './columns.ts'
import { hashOf } from './sources.ts'
import { createStreamsStore, type Source, type SourceType } from './streams.store.ts'

export interface ReceivingDeps {
  readonly db: Db
  readonly clock: Clock
  /** A folder for each source. */
  readonly folder: string
}

/** The source of a record, and its secret. */
export interface Sender {
  readonly projectId: number
  readonly sourceId: string
  readonly secret: string
  readonly type: SourceType
}

/** How long what is known of a source holds on this node. */
const KNOWN_MS = 1000
const MAX_KNOWN = 10_000
/** Records of a source that may wait on disk while its tables cannot be loaded. */
const MAX_WAITING_BYTES = 2 ** 30

export type Receiving = ReturnType<typeof createReceiving>

export function createReceiving({ db, clock, folder }: ReceivingDeps) {
  const store = createStreamsStore(db)
  /** One log for each source, however many callers open it at once. */
  const opening = new Map<number, Promise<RecordLog>>()
  const logs = new Map<number, RecordLog>()
  /** Senders that were admitted a moment ago: their secret need not be hashed again for every record. */
  const known = new Map<string, { readonly source: Source; readonly at: number }>()

  async function openLog(sourceKey: number): Promise<RecordLog> {
    const log = opening.get(sourceKey) ?? openRecordLog(join(folder, String(sourceKey)), () => clock.now().getTime())
    opening.set(sourceKey, log)
    try {
      logs.set(sourceKey, await log)
    } catch (cause) {
      opening.delete(sourceKey)
      throw new PlatformError('stream.notStored', {}, { cause })
    }
    return log
  }

  function findKnown(sender: Sender, now: number): Source | undefined {
    const kept = known.get(keyOf(sender))
    return kept && Math.abs(now - kept.at) < KNOWN_MS ? kept.source : undefined
  }

  /** The same response for a wrong source and a wrong secret: it does not reveal which sources exist. */
  async function admit(sender: Sender, now: number): Promise<Source> {
    const { projectId, sourceId, secret, type } = sender
    const source = await store.findSource(projectId, sourceId)
    if (!source || source.type !== type || !isSame(hashOf(secret), source.secretHash))
      throw new PlatformError('stream.unknownSource')
    if (!(await store.isWorking(projectId))) throw new PlatformError('projectPaused', { reason: 'its streams take nothing' })
    if (source.isDisabled) throw new PlatformError('stream.disabled', { source: sourceId })
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(keyOf(sender), { source, at: now })
    return source
  }

  /** All of them are durable when it resolves. */
  async function receive(sender: Sender, records: readonly Omit<StreamRecord, 'id' | 'at'>[]): Promise<void> {
    const at = clock.now().getTime()
    const source = findKnown(sender, at) ?? (await admit(sender, at))
    const log = logs.get(source.key) ?? (await openLog(source.key))
    if (log.sizeBytes() > MAX_WAITING_BYTES) throw new PlatformError('stream.full', { source: source.sourceId })
    try {
      await log.append(records.map((record) => JSON.stringify({ id: randomUUID(), at, ...record })))
    } catch (cause) {
      throw new PlatformError('stream.notStored', {}, { cause })
    }
  }

  return {
    receive,
    /** Refuses a sender before its body is read. */
    check: async (sender: Sender): Promise<void> => {
      const now = clock.now().getTime()
      if (!findKnown(sender, now)) await admit(sender, now)
    },
    /** Opens what earlier processes left. */
    async openAll(): Promise<void> {
      for (const name of (await listLogs(folder)).filter((one) => /^\d+$/.test(one))) {
        const log = await openLog(Number(name))
        await log.finishRemovals(store.forgetLoads)
      }
    },
    /** Every log that is open on this node. */
    logs: (): readonly (readonly [sourceKey: number, log: RecordLog])[] => [...logs],
    async close(): Promise<void> {
      for (const log of logs.values()) await log.close()
    },
  }
}

export const projectFrom = (text: string): number => idFrom(text, () => new PlatformError('stream.unknownSource'))

const keyOf = ({ projectId, sourceId, secret, type }: Sender): string => `${type}/${projectId}/${sourceId}/${secret}`

const isSame = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

/** What would let a reader of the table act as the sender is left out. */
const NOT_KEPT = new Set(['authorization', 'cookie', 'x-storageapi-token'])

/** Runs for every record. */
export function keptHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !NOT_KEPT.has(name)) kept[name] = String(value)
  }
  return kept
}
