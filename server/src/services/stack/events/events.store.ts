// Events in the metadata database: appended, never changed.

import { type Expression, type Generated, type Selectable, type SqlBool, sql } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { takeNumber } from '../../../engines/metadata-db/numbers.ts'
import { ofRun } from '../../../engines/metadata-db/run-ids.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'

interface Tables {
  event: {
    id: Generated<number>
    project_id: number
    uuid: string
    event: string
    component: string
    type: string
    message: string
    description: string
    run_id: string | null
    configuration_id: string | null
    object_id: string | null
    object_name: string | null
    object_type: string | null
    params: string
    results: string
    performance: string
    context: string
    token_id: number
    token_description: string
    branch_id: number | null
    attachments: string
    created_at: number
  }
}

export type EventRow = Selectable<Tables['event']>
export type NewEventRow = Omit<EventRow, 'id'>

export interface EventFilter {
  readonly limit: number
  readonly offset: number
  readonly newestFirst: boolean
  readonly sinceId?: number
  readonly maxId?: number
  readonly component?: string
  readonly configurationId?: string
  readonly runId?: string
  readonly tokenId?: number
  /** Also events about the token of `tokenId`, caused by any token. */
  readonly aboutToken?: boolean
  readonly objectType?: string
  readonly objectId?: string
  readonly branch?: { readonly id: number; readonly isDefault: boolean }
  /** Matches of a whole column, from `q`; a message has to contain the value. */
  readonly terms: readonly ({ readonly column: SearchColumn } & SearchCondition)[]
  /** Words that must occur in the message or the event's name, from `q`. */
  readonly words: readonly SearchCondition[]
}

/** With `isPattern`, `*` in the value matches any text. */
export interface SearchText {
  readonly value: string
  readonly isPattern: boolean
}

/** With `isNegated`, the text must not occur. */
export interface SearchCondition extends SearchText {
  readonly isNegated: boolean
}

export interface StackEventFilter {
  /** False: without what jobs and components logged. */
  readonly logs?: boolean
  readonly projectId?: number
  readonly who?: string
  readonly tokenId?: number
  readonly what?: string
  readonly objectId?: string
  readonly since?: number
  readonly until?: number
  readonly beforeId?: number
  readonly limit: number
}

export interface ObjectSpan {
  readonly objectType: string
  readonly objectId: string
  /** Epoch milliseconds. */
  readonly from: number
  readonly to: number
}

export type SearchColumn =
  | 'event'
  | 'component'
  | 'type'
  | 'object_id'
  | 'object_type'
  | 'configuration_id'
  | 'run_id'
  | 'message'
  | NumericColumn

type NumericColumn = 'token_id' | 'branch_id'

export const isNumeric = (column: SearchColumn): column is NumericColumn => column === 'token_id' || column === 'branch_id'

const insertEvent = (db: Db, event: NewEventRow) => withTables<Tables>(db).insertInto('event').values(event)
const addEvent = statement(insertEvent)
const addEventForId = statement((db, event: NewEventRow) => insertEvent(db, event).returning('id'))

export function createEventsStore(database: Db) {
  const db = withTables<Tables>(database)

  return {
    /** Without returning its id, which would cost SQLite a third of the time again. */
    add: async (trx: Trx, row: NewEventRow): Promise<void> => {
      await addEvent(trx, row)
    },

    insert: async (trx: Trx, row: NewEventRow): Promise<EventRow> => {
      const [made] = await addEventForId(trx, row)
      return { ...row, id: made!.id }
    },

    find: (projectId: number, id: number): Promise<EventRow | undefined> =>
      db.selectFrom('event').selectAll().where('project_id', '=', projectId).where('id', '=', id).executeTakeFirst(),

    findByUuid: (projectId: number, uuid: string): Promise<EventRow | undefined> =>
      db.selectFrom('event').selectAll().where('project_id', '=', projectId).where('uuid', '=', uuid).executeTakeFirst(),

    list(projectId: number, filter: EventFilter): Promise<EventRow[]> {
      let query = db.selectFrom('event').selectAll().where('project_id', '=', projectId)
      if (filter.sinceId !== undefined) query = query.where('id', '>', filter.sinceId)
      if (filter.maxId !== undefined) query = query.where('id', '<', filter.maxId)
      if (filter.component !== undefined) query = query.where('component', '=', filter.component)
      if (filter.configurationId !== undefined) query = query.where('configuration_id', '=', filter.configurationId)
      const { tokenId } = filter
      if (tokenId !== undefined)
        query = query.where((e) =>
          e.or([
            e('token_id', '=', tokenId),
            ...(filter.aboutToken ? [e.and([e('object_type', '=', 'token'), e('object_id', '=', String(tokenId))])] : []),
          ]),
        )
      if (filter.objectType !== undefined) query = query.where('object_type', '=', filter.objectType)
      if (filter.objectId !== undefined) query = query.where('object_id', '=', filter.objectId)
      if (filter.runId !== undefined) query = query.where(ofRun(filter.runId))
      const { branch } = filter
      if (branch)
        query = query.where((e) =>
          e.or([e('branch_id', '=', branch.id), ...(branch.isDefault ? [e('branch_id', 'is', null)] : [])]),
        )
      for (const { column, isNegated, ...text } of filter.terms)
        query = query.where((e) => {
          const isFound = isNumeric(column)
            ? e(column, '=', Number(text.value))
            : column === 'message'
              ? contains(e.ref(column), text)
              : text.isPattern
                ? isLike(e.ref(column), patternOf(text))
                : e(column, '=', text.value)
          return isNegated ? e.or([e.not(isFound), e(column, 'is', null)]) : isFound
        })
      for (const { isNegated, ...word } of filter.words)
        query = query.where((e) => {
          const isFound = e.or([contains(e.ref('message'), word), contains(e.ref('event'), word)])
          return isNegated ? e.not(isFound) : isFound
        })
      return query
        .orderBy('id', filter.newestFirst ? 'desc' : 'asc')
        .limit(filter.limit)
        .offset(filter.offset)
        .execute()
    },

    /** Of one object in a span of time, the oldest first. */
    ofObject(projectId: number, { objectType, objectId, from, to }: ObjectSpan): Promise<EventRow[]> {
      return db
        .selectFrom('event')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('object_type', '=', objectType)
        .where('object_id', '=', objectId)
        .where('created_at', '>=', from)
        .where('created_at', '<=', to)
        .orderBy('id')
        .limit(100)
        .execute()
    },

    /** Of all projects, newest first: for operators. */
    async listOfStack(filter: StackEventFilter): Promise<EventRow[]> {
      let query = db.selectFrom('event').selectAll()
      if (filter.projectId !== undefined) query = query.where('project_id', '=', filter.projectId)
      if (filter.tokenId !== undefined) query = query.where('token_id', '=', filter.tokenId)
      if (filter.objectId !== undefined) query = query.where('object_id', '=', filter.objectId)
      if (filter.since !== undefined) query = query.where('created_at', '>=', filter.since)
      if (filter.until !== undefined) query = query.where('created_at', '<', filter.until)
      if (filter.beforeId !== undefined) query = query.where('id', '<', filter.beforeId)
      const { who, what } = filter
      if (who !== undefined) query = query.where((e) => contains(e.ref('token_description'), { value: who, isPattern: false }))
      if (filter.logs === false) query = query.where('event', 'not like', 'ext.%')
      if (what !== undefined) query = query.where('event', '>=', what).where('event', '<', `${what}\uffff`)
      return query.orderBy('id', 'desc').limit(filter.limit).execute()
    },

    /** Of all projects: when something last happened here. */
    newestAt: async (): Promise<number | undefined> =>
      (await db.selectFrom('event').select('created_at').orderBy('id', 'desc').limit(1).executeTakeFirst())?.created_at,

    nextTicket: (trx: Trx): Promise<number> => takeNumber(trx, 'ticket'),
  }
}

const contains = (column: Expression<string>, text: SearchText): Expression<SqlBool> =>
  isLike(sql`lower(${column})`, sql`lower(${`%${patternOf(text)}%`})`)

const isLike = (column: Expression<string | null>, pattern: Expression<unknown> | string): Expression<SqlBool> =>
  sql<SqlBool>`${column} like ${pattern} escape '\\'`

function patternOf({ value, isPattern }: SearchText): string {
  const literal = value.replace(/[\\%_]/g, '\\$&')
  return isPattern ? literal.replaceAll('*', '%') : literal
}
