// Rules for events: what happened, who did it, and what of it a token may see. Tickets are the ids that runs are numbered with.

import { randomUUID } from 'node:crypto'
import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import { validationError } from '../../../http/validation.ts'
import type { Clock } from '../../../kit/clock.ts'
import { defined } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { type Actor, tablePermissionOf } from '../../../model/actor.ts'
import {
  type EventSource,
  type EventType,
  type NewEvent,
  NO_ORIGIN,
  type Origin,
  type RecordEvent,
} from '../../../model/event.ts'
import { createLaterEvents } from './events.later.ts'
import {
  createEventsStore,
  type EventFilter,
  type EventRow,
  isNumeric,
  type NewEventRow,
  type ObjectSpan,
  type SearchColumn,
  type SearchText,
  type StackEventFilter,
} from './events.store.ts'

const MAX_EVENT_BYTES = 200_000
const MAX_LIMIT = 10_000
const IS_ID = /^\d+$/
const IS_UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export interface EventRequest {
  readonly component: string
  readonly message: string
  readonly description?: string | null
  readonly type?: EventType
  readonly configurationId?: string | null
  readonly params?: Readonly<Record<string, unknown>>
  readonly results?: Readonly<Record<string, unknown>>
  readonly duration?: number | null
  readonly runId?: string | null
}

export interface EventQuery {
  readonly limit?: number
  readonly offset?: number
  readonly sinceId?: string
  readonly maxId?: string
  readonly component?: string
  readonly configurationId?: string
  readonly runId?: string
  readonly q?: string
  readonly sortOrder?: string
}

/** Narrows a list to what the address names: one branch, one token, one object. */
export interface EventScope {
  /** Events without a branch belong to the default branch. */
  readonly branch?: { readonly id: number; readonly isDefault: boolean }
  readonly tokenId?: number
  readonly objectType?: string
  readonly objectId?: string
}

export type Events = ReturnType<typeof createEvents>

export interface EventsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  /** In the transaction of an event that a module recorded. */
  readonly onRecorded?: (trx: Trx, source: EventSource, event: NewEvent) => Promise<void>
  /** Events of reading that could not be written. */
  readonly onLost?: (error: unknown) => void
}

export function createEvents({ db, inTransaction, clock, onRecorded, onLost = () => {} }: EventsDeps) {
  const store = createEventsStore(db)
  const later = createLaterEvents(
    (batch) =>
      inTransaction(async (trx) => {
        for (const { source, event, origin } of batch) await store.add(trx, rowOf(source, event, origin))
      }),
    onLost,
  )

  /** What reading leaves: written soon, and not in the way of the answer. */
  const recordRead = (source: EventSource, event: NewEvent, origin: Origin): void => later.add({ source, event, origin })

  /** Events of modules about their own changes, in the transaction of the change. */
  const record: RecordEvent = async (trx, source, event, origin = NO_ORIGIN) => {
    await store.add(trx, rowOf(source, event, origin))
    await onRecorded?.(trx, source, event)
  }

  const rowOf = (source: EventSource, event: NewEvent, origin: Origin): NewEventRow => {
    const now = clock.now()
    return {
      project_id: source.projectId,
      uuid: uuidV7(now),
      event: event.event,
      component: event.component ?? 'storage',
      type: event.type ?? 'info',
      message: event.message,
      description: event.description ?? '',
      run_id: origin.runId,
      configuration_id: event.configurationId ?? null,
      object_id: event.objectId ?? null,
      object_name: event.objectName ?? null,
      object_type: event.objectType ?? null,
      params: jsonOr('{}', event.params),
      results: jsonOr('{}', event.results),
      performance: jsonOr('{}', event.performance),
      context: JSON.stringify({ remoteAddr: origin.remoteAddress, userAgent: origin.userAgent }),
      token_id: source.tokenId,
      token_description: source.tokenDescription,
      branch_id: event.branchId ?? null,
      attachments: jsonOr('[]', event.attachments),
      created_at: now.getTime(),
    }
  }

  /** An event from outside: a component or a script reports what it did. */
  async function create(actor: Actor, request: EventRequest, branchId: number | null, origin: Origin): Promise<EventRow> {
    checkMembers(request)
    const size = Buffer.byteLength(JSON.stringify(request))
    if (size > MAX_EVENT_BYTES) throw new PlatformError('requestTooLarge', { limit: MAX_EVENT_BYTES })
    const event: NewEvent = {
      event: `ext.${request.component}.${request.configurationId ?? ''}`,
      component: request.component,
      message: request.message,
      description: request.description ?? '',
      type: request.type ?? 'info',
      configurationId: request.configurationId ?? null,
      params: request.params ?? {},
      results: request.results ?? {},
      performance: request.duration === undefined || request.duration === null ? {} : { duration: request.duration },
      branchId,
    }
    return inTransaction((trx) => store.insert(trx, rowOf(actor, event, { ...origin, runId: request.runId ?? origin.runId })))
  }

  async function list(actor: Actor, query: EventQuery, scope: EventScope = {}): Promise<EventRow[]> {
    const limit = query.limit ?? 100
    if (limit < 0 || limit > MAX_LIMIT)
      throw new PlatformError('storage.validation', {
        field: 'limit',
        reason: `This value should be between 0 and ${MAX_LIMIT}.`,
      })
    const { terms, words } = parseQuery(query.q ?? '')
    await later.flush()
    // Others' events are for admins and for tokens that may read them all; an object's own list is checked by its module.
    const ownOnly = !actor.isMasterToken && !actor.canReadAllProjectEvents && scope.objectId === undefined
    const tokenId = scope.tokenId ?? (ownOnly ? actor.tokenId : undefined)
    if (ownOnly && tokenId !== actor.tokenId) throw new PlatformError('accessDenied')
    const [sinceId, maxId] = await Promise.all([
      positionOf(actor, 'sinceId', query.sinceId),
      positionOf(actor, 'maxId', query.maxId),
    ])
    const { branch } = scope
    const filter: EventFilter = {
      limit,
      offset: Math.max(0, query.offset ?? 0),
      newestFirst: query.sortOrder !== 'asc',
      terms,
      words,
      ...defined({ component: query.component, configurationId: query.configurationId, runId: query.runId, tokenId }),
      aboutToken: scope.tokenId !== undefined,
      ...defined({ branch }),
      ...defined({ objectType: scope.objectType, objectId: scope.objectId, sinceId, maxId }),
    }
    return store.list(actor.projectId, filter)
  }

  /** sinceId and maxId are an id or a uuid. */
  async function positionOf(actor: Actor, field: string, text: string | undefined): Promise<number | undefined> {
    if (text === undefined || text === '') return undefined
    if (IS_ID.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
    const row = await find(actor.projectId, field, text)
    // An event of another project is as far away as one that never was: nothing is before or after it.
    return row?.id
  }

  /** `field` names what is wrong when the text is neither an id nor a uuid (spec storage 2.10: 400). */
  async function find(projectId: number, field: string, idOrUuid: string): Promise<EventRow | undefined> {
    if (IS_UUID.test(idOrUuid)) return store.findByUuid(projectId, idOrUuid.toLowerCase())
    if (!IS_ID.test(idOrUuid))
      throw new PlatformError('storage.validation', { field, reason: 'This is neither an id nor a uuid of an event.' })
    return Number.isSafeInteger(Number(idOrUuid)) ? store.find(projectId, Number(idOrUuid)) : undefined
  }

  /** A development branch shows its own events only (corrections-2, A12). */
  async function get(actor: Actor, idOrUuid: string, branch?: EventScope['branch']): Promise<EventRow> {
    const row = await find(actor.projectId, 'id', idOrUuid)
    if (!row || (branch && !branch.isDefault && row.branch_id !== branch.id)) throw new PlatformError('storage.events.notFound')
    if (row.token_id !== actor.tokenId && !actor.isMasterToken && !actor.canReadAllProjectEvents && !mayReadObject(actor, row))
      throw new PlatformError('accessDenied')
    return row
  }

  async function newestAt(): Promise<Date | undefined> {
    const at = await store.newestAt()
    return at === undefined ? undefined : new Date(at)
  }

  return {
    record,
    recordRead,
    create,
    list,
    get,
    newestAt,
    /** What happened to an object in a span of time, for modules that have checked that the caller may read them. */
    ofObject: async (projectId: number, span: ObjectSpan) =>
      (await store.ofObject(projectId, span)).map((row) => ({
        id: row.id,
        event: row.event,
        runId: row.run_id,
        createdAtMs: row.created_at,
        tokenDescription: row.token_description,
      })),
    /** Of all projects: for operators. */
    listOfStack: async (filter: StackEventFilter) => (await store.listOfStack(filter)).map(auditEntry),
    nextTicket: () => inTransaction(store.nextTicket),
    /** Writes what is still gathered. */
    stop: later.flush,
  }
}

/** An event as an audit shows it. */
const auditEntry = (row: EventRow) => ({
  id: row.id,
  projectId: row.project_id,
  event: row.event,
  component: row.component,
  message: row.message,
  objectType: row.object_type,
  objectId: row.object_id,
  tokenId: row.token_id,
  tokenDescription: row.token_description,
  remoteAddress: readStored<{ readonly remoteAddr: string | null }>(row.context).remoteAddr,
  at: new Date(row.created_at),
})

/** Members of `results` that components have agreed to send (spec storage 2.10). */
const REQUIRED_RESULTS: Readonly<Record<string, readonly string[]>> = { 'keboola.keboola-as-code': ['projectId'] }

function checkMembers({ component, results = {} }: EventRequest): void {
  const required = Object.hasOwn(REQUIRED_RESULTS, component) ? REQUIRED_RESULTS[component] : undefined
  const missing = (required ?? []).filter((name) => results[name] === undefined || results[name] === null)
  if (missing.length > 0)
    throw validationError(
      'storage.event.schemaValidationFailed',
      missing.map((name) => ({ key: `results.${name}`, message: `The property ${name} is required` })),
    )
}

const SEARCHABLE: Readonly<Record<string, SearchColumn>> = {
  event: 'event',
  component: 'component',
  type: 'type',
  objectId: 'object_id',
  objectType: 'object_type',
  configurationId: 'configuration_id',
  runId: 'run_id',
  'token.id': 'token_id',
  idBranch: 'branch_id',
  message: 'message',
}

/** A pattern is compared with every event in turn, and each further `*` takes longer. */
const MAX_STARS = 4

const ESCAPED = /\\(["\\])/g

/**
 * `q`: words that must occur, and `field:value` (quotes keep spaces together; \" is a quote in them), joined by an optional AND; after NOT, what must not occur.
 * `*` outside of quotes is any text.
 */
function parseQuery(q: string): Pick<EventFilter, 'terms' | 'words'> {
  const terms: EventFilter['terms'][number][] = []
  const words: EventFilter['words'][number][] = []
  let isNegated = false
  const refuse = (reason: string) => new PlatformError('storage.events.query', { query: q.slice(0, 120), reason })
  if ((q.replaceAll(ESCAPED, '').match(/"/g)?.length ?? 0) % 2 === 1) throw refuse('a quote is not closed.')
  for (const [, field, inQuotes, plain] of q.matchAll(/(?:([\w.]+):)?(?:"((?:\\["\\]|[^"])*)"|([^\s"]+))/g)) {
    const quoted = inQuotes?.replaceAll(ESCAPED, '$1')
    const value = quoted ?? plain ?? ''
    if (quoted === undefined) checkWord(value, refuse)
    if (value.split('*').length - 1 > MAX_STARS) throw refuse(`a word has more than ${MAX_STARS} *.`)
    if (field === undefined && plain === 'AND') continue
    if (field === undefined && plain === 'NOT') {
      isNegated = true
      continue
    }
    const negated = isNegated
    isNegated = false
    if (field === undefined) {
      words.push({ ...textOf(quoted, value), isNegated: negated })
      continue
    }
    const column = Object.hasOwn(SEARCHABLE, field) ? SEARCHABLE[field] : undefined
    if (!column) throw refuse(`field ${field} does not exist. Fields: ${Object.keys(SEARCHABLE).join(', ')}.`)
    if (isNumeric(column) && !/^\d{1,15}$/.test(value)) throw refuse(`${field} is a number.`)
    terms.push({
      column,
      isNegated: negated,
      ...(column === 'message' ? textOf(quoted, value) : { value, isPattern: quoted === undefined && value.includes('*') }),
    })
  }
  if (isNegated) throw refuse('a word is missing after NOT.')
  return { terms, words }
}

/** Text inside a message: in quotes a `*` at its end counts for nothing, as clients end their phrases with one. */
const textOf = (quoted: string | undefined, value: string): SearchText =>
  quoted === undefined
    ? { value, isPattern: value.includes('*') }
    : { value: quoted.replace(/\*+$/, '').trim(), isPattern: false }

/** What the search of the original cannot read either; in quotes everything is text. */
function checkWord(word: string, refuse: (reason: string) => PlatformError): void {
  if (word.startsWith(':')) throw refuse('a field is missing before the colon.')
  if (word.endsWith(':')) throw refuse('a value is missing after the colon.')
  if (word.startsWith('/')) throw refuse('a word begins with a slash. Put it in quotes.')
  if (word.startsWith('*')) throw refuse('a word begins with *. Put it in quotes, or start it with letters.')
}

/** An event seldom has more than params: no need to write the same empty text each time. */
const jsonOr = (empty: '{}' | '[]', value: object | undefined): string => (value === undefined ? empty : JSON.stringify(value))

/** RFC 9562 section 5.7: 48 bits of milliseconds, the version, then the chance of a version 4 uuid, whose variant is the same. */
function uuidV7(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** Buckets and tables list their events for all tokens that can read them. */
const mayReadObject = (actor: Actor, { object_type, object_id }: EventRow): boolean =>
  (object_type === 'bucket' || object_type === 'table') && tablePermissionOf(actor, object_id ?? '') !== undefined
