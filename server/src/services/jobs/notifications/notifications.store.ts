// Subscriptions, deliveries and attempts in the metadata database.

import type { Generated, Selectable } from 'kysely'
import { claimRows, type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'
import type { Filter } from './filters.ts'
import type { Template } from './message-bodies.ts'
import type { Payload } from './payloads.ts'

interface RecipientColumns {
  channel: 'email' | 'webhook'
  address: string
  template: string
  signing_secret: string | null
}

interface Tables {
  notification_subscription: RecipientColumns & {
    id: Generated<number>
    project_id: number
    event: string
    filters: string
    expires_at: number | null
    created_at: number
    creator_token_id: number
    creator_description: string
  }
  notification_delivery: RecipientColumns & {
    id: Generated<number>
    project_id: number
    subscription_id: number | null
    message_id: string
    event: string
    unique_key: string | null
    payload: string
    status: DeliveryStatus
    attempts: number
    next_attempt_at: number
    give_up_at: number
    created_at: number
    ended_at: number | null
  }
  notification_attempt: {
    id: Generated<number>
    project_id: number
    delivery_id: number
    attempted_at: number
    duration_ms: number
    status_code: number | null
    answer: string
    error: string | null
  }
}

/** `cancelled`: its subscription was deleted while it waited for an attempt. */
export type DeliveryStatus = 'waiting' | 'delivered' | 'failed' | 'cancelled'

export interface Recipient {
  readonly channel: 'email' | 'webhook'
  readonly address: string
  readonly template: Template
  /** Encrypted; undefined for mail and for messages that belong to no subscription. */
  readonly signingSecret: string | undefined
}

export interface Subscription {
  readonly id: number
  readonly projectId: number
  readonly event: string
  readonly filters: readonly Filter[]
  readonly recipient: Recipient
  readonly expiresAt: Date | undefined
  readonly createdAt: Date
  readonly creator: { readonly tokenId: number; readonly description: string }
}

export interface Delivery {
  readonly id: number
  readonly projectId: number
  readonly subscriptionId: number | undefined
  /** The same in every attempt: receivers recognise a repetition by it. */
  readonly messageId: string
  readonly event: string
  readonly recipient: Recipient
  readonly payload: Payload
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly nextAttemptAt: Date
  readonly giveUpAt: Date
  readonly createdAt: Date
  readonly endedAt: Date | undefined
}

export interface NewDelivery
  extends Pick<Delivery, 'projectId' | 'subscriptionId' | 'messageId' | 'event' | 'recipient' | 'payload'> {
  /** One delivery per subscription and key. */
  readonly uniqueKey: string | undefined
  readonly nextAttemptAt: number
  readonly giveUpAt: number
  readonly createdAt: number
}

export interface Attempt {
  readonly attemptedAt: Date
  readonly durationMs: number
  readonly statusCode: number | undefined
  readonly answer: string
  readonly error: string | undefined
}

const tables = (db: Db) => withTables<Tables>(db)

/** Queried at the end of every job. */
const subscribers = statement((db, at: { projectId: number; event: string }) =>
  tables(db)
    .selectFrom('notification_subscription')
    .selectAll()
    .where('project_id', '=', at.projectId)
    .where('event', '=', at.event),
)

/** Queried every second. */
const anyDue = statement((db, { now }: { now: number }) =>
  tables(db)
    .selectFrom('notification_delivery')
    .select('id')
    .where('status', '=', 'waiting')
    .where('next_attempt_at', '<=', now)
    .limit(1),
)

export type NotificationsStore = ReturnType<typeof createNotificationsStore>

export function createNotificationsStore(database: Db) {
  const db = tables(database)

  return {
    insertSubscription: async (trx: Trx, subscription: Omit<Subscription, 'id'>): Promise<Subscription> => {
      const { projectId, event, filters, recipient, expiresAt, createdAt, creator } = subscription
      const { id } = await tables(trx)
        .insertInto('notification_subscription')
        .values({
          project_id: projectId,
          event,
          filters: JSON.stringify(filters),
          ...columnsOf(recipient),
          expires_at: expiresAt?.getTime() ?? null,
          created_at: createdAt.getTime(),
          creator_token_id: creator.tokenId,
          creator_description: creator.description,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...subscription, id }
    },

    countSubscriptions: async (trx: Trx, projectId: number): Promise<number> => {
      const { count } = await tables(trx)
        .selectFrom('notification_subscription')
        .select((e) => e.fn.countAll<number>().as('count'))
        .where('project_id', '=', projectId)
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    listSubscriptions: async (projectId: number): Promise<Subscription[]> => {
      const rows = await db
        .selectFrom('notification_subscription')
        .selectAll()
        .where('project_id', '=', projectId)
        .orderBy('id')
        .execute()
      return rows.map(toSubscription)
    },

    findSubscription: async (projectId: number, id: number): Promise<Subscription | undefined> => {
      const row = await db
        .selectFrom('notification_subscription')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toSubscription(row)
    },

    /** Subscriptions to an event, expired ones too. */
    subscribersTo: async (from: Db, projectId: number, event: string): Promise<Subscription[]> =>
      (await subscribers(from, { projectId, event })).map(toSubscription),

    /** Subscriptions to one of the events, in all projects. */
    subscribersToAny: async (events: readonly string[]): Promise<Subscription[]> =>
      (await db.selectFrom('notification_subscription').selectAll().where('event', 'in', events).orderBy('id').execute()).map(
        toSubscription,
      ),

    /** What it still had to send is not sent any more. */
    removeSubscription: async (trx: Trx, projectId: number, id: number, now: number): Promise<boolean> => {
      await tables(trx)
        .updateTable('notification_delivery')
        .set({ status: 'cancelled', ended_at: now })
        .where('project_id', '=', projectId)
        .where('subscription_id', '=', id)
        .where('status', '=', 'waiting')
        .execute()
      const { numDeletedRows } = await tables(trx)
        .deleteFrom('notification_subscription')
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    /** Undefined when there is one with its key already. */
    insertDelivery: async (trx: Trx, delivery: NewDelivery): Promise<number | undefined> => {
      const inserted = await tables(trx)
        .insertInto('notification_delivery')
        .values({
          project_id: delivery.projectId,
          subscription_id: delivery.subscriptionId ?? null,
          message_id: delivery.messageId,
          event: delivery.event,
          unique_key: delivery.uniqueKey ?? null,
          ...columnsOf(delivery.recipient),
          payload: JSON.stringify(delivery.payload),
          status: 'waiting',
          attempts: 0,
          next_attempt_at: delivery.nextAttemptAt,
          give_up_at: delivery.giveUpAt,
          created_at: delivery.createdAt,
        })
        .onConflict((conflict) => conflict.columns(['subscription_id', 'unique_key']).doNothing())
        .returning('id')
        .executeTakeFirst()
      return inserted?.id
    },

    hasDue: async (now: number): Promise<boolean> => (await anyDue(database, { now })).length > 0,

    /** Claims deliveries that are due, of all projects; no other node gets them before `leaseUntil`. */
    claimDue: async (
      trx: Trx,
      now: number,
      leaseUntil: number,
      busyAddresses: readonly string[],
      limit: number,
    ): Promise<Delivery[]> => {
      let due = tables(trx)
        .selectFrom('notification_delivery')
        .select('id')
        .where('status', '=', 'waiting')
        .where('next_attempt_at', '<=', now)
      if (busyAddresses.length > 0) due = due.where('address', 'not in', busyAddresses)
      const ids = (await due.orderBy('next_attempt_at').limit(limit).$call(claimRows(trx)).execute()).map(({ id }) => id)
      if (ids.length === 0) return []
      const rows = await tables(trx)
        .updateTable('notification_delivery')
        .set((e) => ({ next_attempt_at: leaseUntil, attempts: e('attempts', '+', 1) }))
        .where('id', 'in', ids)
        .returningAll()
        .execute()
      return rows.map(toDelivery)
    },

    claimOne: async (trx: Trx, projectId: number, id: number, leaseUntil: number): Promise<Delivery> => {
      const row = await tables(trx)
        .updateTable('notification_delivery')
        .set((e) => ({ next_attempt_at: leaseUntil, attempts: e('attempts', '+', 1) }))
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow()
      return toDelivery(row)
    },

    /** Nothing is written of an attempt that another node has repeated meanwhile. */
    recordAttempt: async (
      trx: Trx,
      delivery: Pick<Delivery, 'id' | 'projectId' | 'attempts'>,
      attempt: Attempt,
      outcome: { readonly status: DeliveryStatus; readonly nextAttemptAt: number; readonly endedAt: number | null },
    ): Promise<void> => {
      const { numUpdatedRows } = await tables(trx)
        .updateTable('notification_delivery')
        .set({ status: outcome.status, next_attempt_at: outcome.nextAttemptAt, ended_at: outcome.endedAt })
        .where('project_id', '=', delivery.projectId)
        .where('id', '=', delivery.id)
        .where('attempts', '=', delivery.attempts)
        .where('status', '=', 'waiting')
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return
      await tables(trx)
        .insertInto('notification_attempt')
        .values({
          project_id: delivery.projectId,
          delivery_id: delivery.id,
          attempted_at: attempt.attemptedAt.getTime(),
          duration_ms: attempt.durationMs,
          status_code: attempt.statusCode ?? null,
          answer: attempt.answer,
          error: attempt.error ?? null,
        })
        .execute()
    },

    /** The newest first. */
    listDeliveries: async (
      projectId: number,
      filter: {
        readonly subscriptionId?: number
        readonly status?: DeliveryStatus
        readonly beforeId?: number
        /** Only those of these subscriptions. */
        readonly own?: readonly number[]
      },
      limit: number,
    ): Promise<Delivery[]> => {
      let query = db.selectFrom('notification_delivery').selectAll().where('project_id', '=', projectId)
      if (filter.subscriptionId !== undefined) query = query.where('subscription_id', '=', filter.subscriptionId)
      if (filter.own !== undefined) query = query.where('subscription_id', 'in', filter.own.length === 0 ? [0] : filter.own)
      if (filter.status !== undefined) query = query.where('status', '=', filter.status)
      if (filter.beforeId !== undefined) query = query.where('id', '<', filter.beforeId)
      return (await query.orderBy('id', 'desc').limit(limit).execute()).map(toDelivery)
    },

    findDelivery: async (projectId: number, id: number): Promise<Delivery | undefined> => {
      const row = await db
        .selectFrom('notification_delivery')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toDelivery(row)
    },

    listAttempts: async (projectId: number, deliveryIds: readonly number[]): Promise<Map<number, Attempt[]>> => {
      const found = new Map<number, Attempt[]>(deliveryIds.map((id) => [id, []]))
      if (deliveryIds.length === 0) return found
      const rows = await db
        .selectFrom('notification_attempt')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('delivery_id', 'in', deliveryIds)
        .orderBy('id')
        .execute()
      for (const row of rows) found.get(row.delivery_id)?.push(toAttempt(row))
      return found
    },

    /** Deliveries that ended before `endedBefore`, and subscriptions that have expired. */
    sweep: async (trx: Trx, endedBefore: number, now: number): Promise<void> => {
      await tables(trx)
        .deleteFrom('notification_attempt')
        .where('delivery_id', 'in', (e) =>
          e.selectFrom('notification_delivery').select('id').where('status', '!=', 'waiting').where('ended_at', '<', endedBefore),
        )
        .execute()
      await tables(trx)
        .deleteFrom('notification_delivery')
        .where('status', '!=', 'waiting')
        .where('ended_at', '<', endedBefore)
        .execute()
      await tables(trx).deleteFrom('notification_subscription').where('expires_at', '<', now).execute()
    },
  }
}

const columnsOf = ({ channel, address, template, signingSecret }: Recipient): RecipientColumns => ({
  channel,
  address,
  template: JSON.stringify(template),
  signing_secret: signingSecret ?? null,
})

const toRecipient = (row: RecipientColumns): Recipient => ({
  channel: row.channel,
  address: row.address,
  template: JSON.parse(row.template) as Template, // written by columnsOf
  signingSecret: row.signing_secret ?? undefined,
})

const toSubscription = (row: Selectable<Tables['notification_subscription']>): Subscription => ({
  id: row.id,
  projectId: row.project_id,
  event: row.event,
  filters: JSON.parse(row.filters) as Filter[], // written by insertSubscription
  recipient: toRecipient(row),
  expiresAt: dateOf(row.expires_at),
  createdAt: new Date(row.created_at),
  creator: { tokenId: row.creator_token_id, description: row.creator_description },
})

const toDelivery = (row: Selectable<Tables['notification_delivery']>): Delivery => ({
  id: row.id,
  projectId: row.project_id,
  subscriptionId: row.subscription_id ?? undefined,
  messageId: row.message_id,
  event: row.event,
  recipient: toRecipient(row),
  payload: JSON.parse(row.payload) as Payload, // written by insertDelivery
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: new Date(row.next_attempt_at),
  giveUpAt: new Date(row.give_up_at),
  createdAt: new Date(row.created_at),
  endedAt: dateOf(row.ended_at),
})

const toAttempt = (row: Selectable<Tables['notification_attempt']>): Attempt => ({
  attemptedAt: new Date(row.attempted_at),
  durationMs: row.duration_ms,
  statusCode: row.status_code ?? undefined,
  answer: row.answer,
  error: row.error ?? undefined,
})

const dateOf = (ms: number | null): Date | undefined => (ms === null ? undefined : new Date(ms))
