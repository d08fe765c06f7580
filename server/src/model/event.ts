// An event, which a service records when it changes something. The events service writes it in the transaction of the change itself.

import { counted } from '../../../contract/counted.ts'
import type { Trx } from '../engines/metadata-db/dialects.ts'
import { EVENTS, type EventDefinition, type EventName, type EventParams, type EventType } from './event-definitions.ts'

export type { EventType }

/** Where a request came from; stored as the event's context. */
export interface Origin {
  readonly runId: string | null
  readonly remoteAddress: string | null
  readonly userAgent: string | null
}

export const NO_ORIGIN: Origin = { runId: null, remoteAddress: null, userAgent: null }

export interface NewEvent {
  /** One of event-definitions.ts, or what a component or a script reports. */
  readonly event: EventName | `ext.${string}`
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
  /** About a table that a linked bucket shows; the project that owns the table has this event as well. */
  readonly isOfLink?: true
  /** Files it is about. */
  readonly attachments?: readonly EventAttachment[]
}

/** A file as it was when the event happened; whether it still exists is checked when the event is shown. */
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

/** Modules receive this from the wiring; the transaction is typed without tables, each module sees only its own. */
export type RecordEvent = (transaction: Trx, source: EventSource, event: NewEvent, origin?: Origin) => Promise<void>

export interface EventDetails {
  readonly objectId?: string
  readonly objectName?: string
  readonly component?: string
  readonly configurationId?: string | null
  readonly branchId?: number | null
  readonly description?: string
  readonly results?: Readonly<Record<string, unknown>>
  readonly performance?: Readonly<Record<string, unknown>>
  readonly attachments?: readonly EventAttachment[]
}

/** An event as it is defined: its params in order, and its sentence filled in. */
export function eventOf<N extends EventName>(name: N, params: EventParams<N>, details: EventDetails = {}): NewEvent {
  const definition: EventDefinition = EVENTS[name]
  const given = params as Readonly<Record<string, unknown>> // named by the definition
  const own: Record<string, unknown> = {}
  const prepared = PREPARED.get(definition)!
  for (const param of prepared.params) if (given[param] !== undefined) own[param] = given[param]
  return {
    ...details,
    event: name,
    objectType: definition.objectType,
    ...(definition.type && { type: definition.type }),
    params: own,
    message: sentence(prepared.message, own, details),
  }
}

interface PreparedDefinition {
  /** Without their question marks. */
  readonly params: readonly string[]
  /** Text and paths of values in turns, the first is text. */
  readonly message: readonly string[]
}

/** Taken apart once: an event is recorded with every change. */
const PREPARED: ReadonlyMap<EventDefinition, PreparedDefinition> = new Map(
  Object.values<EventDefinition>(EVENTS).map((definition) => [
    definition,
    { params: definition.params.map((param) => param.replace('?', '')), message: definition.message.split(/\{([\w. ]+)\}/) },
  ]),
)

function sentence(parts: readonly string[], params: object, details: object): string {
  let text = ''
  for (const [i, part] of parts.entries()) text += i % 2 === 0 ? part : filledIn(part, params, details)
  return text
}

function filledIn(place: string, params: object, details: object): unknown {
  const [path = '', noun] = place.split(' ')
  const value = valueAt(params, path) ?? valueAt(details, path) ?? ''
  return noun === undefined ? value : counted(Number(value), noun)
}

const valueAt = (from: object, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, part) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined),
      from,
    )
