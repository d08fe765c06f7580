// What a room says when it changes something. The events room writes it in the transaction of the change itself.

import type { Trx } from '../engines/metadata-db/dialects.ts'

export type EventType = 'info' | 'success' | 'warn' | 'error'

/** Where a request came from; stored as the event's context. */
export interface Origin {
  readonly runId: string | null
  readonly remoteAddress: string | null
  readonly userAgent: string | null
}

export const NO_ORIGIN: Origin = { runId: null, remoteAddress: null, userAgent: null }

export interface NewEvent {
  /** For example `storage.tokenCreated`. */
  readonly event: string
  readonly component?: string
  readonly message: string
  readonly description?: string
  readonly type?: EventType
  readonly configurationId?: string | null
  readonly objectId?: string
  readonly objectName?: string
  readonly objectType?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly results?: Readonly<Record<string, unknown>>
  readonly performance?: Readonly<Record<string, unknown>>
  readonly branchId?: number | null
  /** Files it is about. */
  readonly attachments?: readonly EventAttachment[]
}

/** A file as it was when the event happened; whether it is still there is asked when the event is shown. */
export interface EventAttachment {
  readonly id: number
  readonly name: string
  readonly isSliced: boolean
  readonly sizeBytes: number
  /** As records write times. */
  readonly created: string
}

/** Who caused the event. */
export interface EventSource {
  readonly projectId: number
  readonly tokenId: number
  readonly tokenDescription: string
}

/** Rooms receive this from platform.ts; the transaction knows no tables, each room sees only its own. */
export type RecordEvent = (transaction: Trx, source: EventSource, event: NewEvent, origin?: Origin) => Promise<void>
