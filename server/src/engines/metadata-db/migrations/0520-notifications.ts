// Notifications: who wants to hear of what, the outbox of messages, and what became of each attempt to deliver one.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('notification_subscription')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('event', 'text', (c) => c.notNull())
    .addColumn('filters', 'text', (c) => c.notNull())
    .addColumn('channel', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('template', 'text', (c) => c.notNull())
    .addColumn('signing_secret', 'text')
    .addColumn('expires_at', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('creator_token_id', 'bigint', (c) => c.notNull())
    .addColumn('creator_description', 'text', (c) => c.notNull())
    .execute()
  await trx.schema
    .createIndex('notification_subscription_by_event')
    .on('notification_subscription')
    .columns(['project_id', 'event'])
    .execute()
  await trx.schema
    .createTable('notification_delivery')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('subscription_id', 'bigint')
    .addColumn('message_id', 'text', (c) => c.notNull())
    .addColumn('event', 'text', (c) => c.notNull())
    .addColumn('unique_key', 'text')
    .addColumn('channel', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('template', 'text', (c) => c.notNull())
    .addColumn('signing_secret', 'text')
    .addColumn('payload', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('attempts', 'bigint', (c) => c.notNull())
    .addColumn('next_attempt_at', 'bigint', (c) => c.notNull())
    .addColumn('give_up_at', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('ended_at', 'bigint')
    .execute()
  await trx.schema
    .createIndex('notification_delivery_due')
    .on('notification_delivery')
    .columns(['status', 'next_attempt_at'])
    .execute()
  await trx.schema
    .createIndex('notification_delivery_by_project')
    .on('notification_delivery')
    .columns(['project_id', 'subscription_id', 'id'])
    .execute()
  // One message about one thing to one subscriber, however often the thing is looked at. Rows without a key are never equal.
  await trx.schema
    .createIndex('notification_delivery_unique_key')
    .on('notification_delivery')
    .columns(['subscription_id', 'unique_key'])
    .unique()
    .execute()
  await trx.schema
    .createTable('notification_attempt')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('delivery_id', 'bigint', (c) => c.notNull().references('notification_delivery.id').onDelete('cascade'))
    .addColumn('attempted_at', 'bigint', (c) => c.notNull())
    .addColumn('duration_ms', 'bigint', (c) => c.notNull())
    .addColumn('status_code', 'bigint')
    .addColumn('answer', 'text', (c) => c.notNull())
    .addColumn('error', 'text')
    .execute()
  await trx.schema
    .createIndex('notification_attempt_by_delivery')
    .on('notification_attempt')
    .columns(['delivery_id', 'id'])
    .execute()
}
