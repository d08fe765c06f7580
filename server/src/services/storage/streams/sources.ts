// Rules of sources and sinks. Each change bumps a version; who read an older one is refused instead of overwriting.

import { createHash, randomBytes } from 'node:crypto'
import { type Db, isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { firstRepeated } from '../../../kit/first-repeated.ts'
import { type Actor, mayChangeEverything } from '../../../model/actor.ts'
import { type Column, checkColumn, invalidStream } from './columns.ts'
import { type BatchLimits, createStreamsStore, type Sink, type Source, type SourceType } from './streams.store.ts'

export interface StreamPlace {
  readonly actor: Actor
  readonly branchId: number
}

export interface SourceRequest {
  readonly sourceId?: string | undefined
  readonly type: SourceType
  readonly name: string
  readonly description?: string | undefined
}

export interface SinkRequest {
  readonly sinkId?: string | undefined
  readonly name: string
  readonly description?: string | undefined
  readonly tableId: string
  readonly columns: readonly Column[]
}

export interface SourcesDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly encrypt: (projectId: number, secret: string) => Promise<string>
  readonly decrypt: (projectId: number, cipher: string) => Promise<string>
  /** Undefined for a table that does not exist: the first load creates it. */
  readonly findTable: (place: StreamPlace, tableId: string) => Promise<SinkTable | undefined>
}

export interface SinkTable {
  readonly isAlias: boolean
  readonly isTyped: boolean
  readonly columns: readonly string[]
}

/** Defaults of the public service (spec platform 7.1). */
export const DEFAULT_LIMITS: BatchLimits = { records: 50_000, bytes: 50_000_000, ageMs: 60_000 }
const MAX_SOURCES = 100
const MAX_SINKS = 100
const MAX_COLUMNS = 100
const SECRET_BYTES = 24

export type Sources = ReturnType<typeof createSources>

export function createSources({ db, inTransaction, clock, encrypt, decrypt, findTable }: SourcesDeps) {
  const store = createStreamsStore(db)

  async function newSecret(projectId: number) {
    const secret = randomBytes(SECRET_BYTES).toString('hex')
    return { secretHash: hashOf(secret), secret: await encrypt(projectId, secret) }
  }

  async function create({ actor, branchId }: StreamPlace, request: SourceRequest): Promise<Source> {
    needMaster(actor)
    const sourceId = request.sourceId ?? idFrom(request.name)
    if ((await store.listSources(actor.projectId, branchId)).length >= MAX_SOURCES)
      throw new PlatformError('stream.tooMany', { limit: MAX_SOURCES, what: 'sources' })
    const now = clock.now()
    const source = {
      projectId: actor.projectId,
      branchId,
      sourceId,
      type: request.type,
      name: request.name,
      description: request.description ?? '',
      ...(await newSecret(actor.projectId)),
      isDisabled: false,
      limits: DEFAULT_LIMITS,
      version: 1,
      createdAt: now,
      updatedAt: now,
      creator: { tokenId: actor.tokenId, description: actor.tokenDescription },
    }
    return inTransaction((trx) => store.insertSource(trx, source)).catch((error: unknown) => {
      throw isUniqueViolation(error) ? new PlatformError('stream.exists', { what: `Source "${sourceId}"` }) : error
    })
  }

  async function get({ actor, branchId }: StreamPlace, sourceId: string): Promise<Source> {
    const found = await store.findSource(actor.projectId, sourceId, branchId)
    if (!found) throw new PlatformError('stream.notFound', { what: `Source "${sourceId.slice(0, 60)}"` })
    return found
  }

  async function change(place: StreamPlace, sourceId: string, changed: Partial<Source>): Promise<Source> {
    needMaster(place.actor)
    const before = await get(place, sourceId)
    const after = { ...before, ...changed, version: before.version + 1, updatedAt: clock.now() }
    if (!(await inTransaction((trx) => store.updateSource(trx, before, after))))
      throw new PlatformError('stream.changed', { what: `Source "${sourceId}"` })
    return after
  }

  async function remove(place: StreamPlace, sourceId: string): Promise<Source> {
    needMaster(place.actor)
    const source = await get(place, sourceId)
    await inTransaction((trx) => store.removeSource(trx, source))
    return source
  }

  async function createSink(place: StreamPlace, sourceId: string, request: SinkRequest): Promise<Sink> {
    needMaster(place.actor)
    const source = await get(place, sourceId)
    checkSink(request)
    checkFits(request, await findTable(place, request.tableId))
    if ((await store.listSinks(source.projectId, source.key)).length >= MAX_SINKS)
      throw new PlatformError('stream.tooMany', { limit: MAX_SINKS, what: 'sinks' })
    const sinkId = request.sinkId ?? idFrom(request.name)
    const now = clock.now()
    const sink = {
      projectId: source.projectId,
      sourceKey: source.key,
      sinkId,
      name: request.name,
      description: request.description ?? '',
      tableId: request.tableId,
      columns: request.columns,
      isDisabled: false,
      actor: place.actor,
      recordsCount: 0,
      lastLoadedAt: undefined,
      lastError: undefined,
      version: 1,
      createdAt: now,
      updatedAt: now,
    }
    return inTransaction((trx) => store.insertSink(trx, sink)).catch((error: unknown) => {
      throw isUniqueViolation(error) ? new PlatformError('stream.exists', { what: `Sink "${sinkId}"` }) : error
    })
  }

  async function listSinks(place: StreamPlace, sourceId: string): Promise<Sink[]> {
    const source = await get(place, sourceId)
    return store.listSinks(source.projectId, source.key)
  }

  async function getSink(place: StreamPlace, sourceId: string, sinkId: string): Promise<Sink> {
    const found = (await listSinks(place, sourceId)).find((sink) => sink.sinkId === sinkId)
    if (!found) throw new PlatformError('stream.notFound', { what: `Sink "${sinkId.slice(0, 60)}"` })
    return found
  }

  async function changeSink(place: StreamPlace, sourceId: string, sinkId: string, changed: Partial<Sink>): Promise<Sink> {
    needMaster(place.actor)
    const before = await getSink(place, sourceId, sinkId)
    const after = { ...before, ...changed, actor: place.actor, version: before.version + 1, updatedAt: clock.now() }
    checkSink(after)
    checkFits(after, await findTable(place, after.tableId))
    if (!(await inTransaction((trx) => store.updateSink(trx, before, after))))
      throw new PlatformError('stream.changed', { what: `Sink "${sinkId}"` })
    return after
  }

  async function removeSink(place: StreamPlace, sourceId: string, sinkId: string): Promise<Sink> {
    needMaster(place.actor)
    const sink = await getSink(place, sourceId, sinkId)
    await inTransaction((trx) => store.removeSink(trx, sink))
    return sink
  }

  return {
    create,
    get,
    change,
    remove,
    list: ({ actor, branchId }: StreamPlace): Promise<Source[]> => store.listSources(actor.projectId, branchId),
    rotateSecret: async (place: StreamPlace, sourceId: string): Promise<Source> =>
      change(place, sourceId, await newSecret(place.actor.projectId)),
    /** In clear, for the address that people copy. */
    secretOf: ({ projectId, secret }: Source): Promise<string> => decrypt(projectId, secret),
    createSink,
    listSinks,
    getSink,
    changeSink,
    removeSink,
  }
}

export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

function needMaster(actor: Actor): void {
  if (!mayChangeEverything(actor)) throw new PlatformError('accessDenied')
}

function checkSink({ tableId, columns }: Pick<SinkRequest, 'tableId' | 'columns'>): void {
  if (!/^(in|out)\.[A-Za-z0-9_-]{1,96}\.[A-Za-z0-9_-]{1,96}$/.test(tableId))
    throw invalidStream('table.tableId', `"${tableId.slice(0, 100)}" is not the id of a table, such as in.c-events.orders.`)
  if (columns.length === 0 || columns.length > MAX_COLUMNS)
    throw invalidStream('table.mapping.columns', `A table has 1 to ${MAX_COLUMNS} columns.`)
  columns.forEach(checkColumn)
  const twice = firstRepeated(columns.map(({ name }) => name.toLowerCase()))
  if (twice !== undefined) throw invalidStream('table.mapping.columns', `The column "${twice}" is there twice.`)
}

/** Otherwise the records would be accepted, and every load of them would fail. */
function checkFits({ tableId, columns }: Pick<SinkRequest, 'tableId' | 'columns'>, table: SinkTable | undefined): void {
  if (!table) return
  if (table.isAlias) throw invalidStream('table.tableId', `${tableId} is an alias, and aliases cannot be loaded.`)
  const sent = new Set(columns.map(({ name }) => name.toLowerCase()))
  const missing = table.columns.filter((name) => !sent.has(name.toLowerCase()))
  if (missing.length > 0)
    throw invalidStream(
      'table.mapping.columns',
      `The table ${tableId} exists and has other columns: ${missing.slice(0, 10).join(', ')}. Map a column to each of them, or choose another table.`,
    )
  const known = new Set(table.columns.map((name) => name.toLowerCase()))
  const added = columns.filter(({ name }) => !known.has(name.toLowerCase())).map(({ name }) => name)
  if (table.isTyped && added.length > 0)
    throw invalidStream(
      'table.mapping.columns',
      `The table ${tableId} has typed columns and does not have ${added.slice(0, 10).join(', ')}. Add the columns to the table first.`,
    )
}

/** `My first source` becomes `my-first-source`. */
function idFrom(name: string): string {
  const id = name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 48)
  return id === '' ? randomBytes(6).toString('hex') : id
}
