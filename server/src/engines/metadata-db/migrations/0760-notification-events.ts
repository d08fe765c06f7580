// Subscriptions by event over all projects: what no call causes is looked for only while somebody has asked for it.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.createIndex('notification_subscription_of_event').on('notification_subscription').column('event').execute()
}
