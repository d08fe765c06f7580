// Operations of notifications besides subscriptions: the log of deliveries, a test, and messages sent by call.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { formatExpiration } from '../../../kit/clock.ts'
import { defined } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, seesWholeProject } from '../../../model/actor.ts'
import type { NotificationRecipient } from '../../../model/notification-port.ts'
import { type Deliver, LEASE_MS } from './delivery.ts'
import { invalid, valueAt } from './filters.ts'
import { type Attempt, createNotificationsStore, type Delivery, type DeliveryStatus } from './notifications.store.ts'
import type { Outbox } from './outbox.ts'
import type { Payload } from './payloads.ts'
import type { Subscriptions } from './subscriptions.ts'

export interface NotificationsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly subscriptions: Subscriptions
  readonly outbox: Outbox
  readonly deliver: Deliver
}

export interface DeliveryWithAttempts extends Delivery {
  readonly log: readonly Attempt[]
}

export interface DeliveryFilter {
  readonly subscriptionId?: number
  readonly status?: DeliveryStatus
  readonly beforeId?: number
}

export type Notifications = ReturnType<typeof createNotifications>

export function createNotifications({ db, inTransaction, clock, subscriptions, outbox, deliver }: NotificationsDeps) {
  const store = createNotificationsStore(db)

  async function withAttempts(projectId: number, deliveries: readonly Delivery[]): Promise<DeliveryWithAttempts[]> {
    const ids = deliveries.map(({ id }) => id)
    const attempts = await store.listAttempts(projectId, ids)
    return deliveries.map((delivery) => ({ ...delivery, log: attempts.get(delivery.id) ?? [] }))
  }

  /** Undefined: those of all subscriptions, and messages without one. */
  const ownSubscriptions = async (actor: Actor): Promise<readonly number[] | undefined> =>
    seesWholeProject(actor) ? undefined : (await subscriptions.list(actor, undefined)).map(({ id }) => id)

  async function getDelivery(actor: Actor, id: number): Promise<DeliveryWithAttempts> {
    const found = await store.findDelivery(actor.projectId, id)
    if (!found) throw new PlatformError('notification.deliveryNotFound', { id })
    const own = await ownSubscriptions(actor)
    if (own && !own.includes(found.subscriptionId ?? 0)) throw new PlatformError('accessDenied')
    return (await withAttempts(actor.projectId, [found]))[0]!
  }

  /** One attempt, now, which is not repeated. */
  async function sendTest(actor: Actor, subscriptionId: number): Promise<DeliveryWithAttempts> {
    const { projectId, event, recipient } = await subscriptions.get(actor, subscriptionId)
    const claimed = await inTransaction(async (trx) => {
      const payload = testPayload(event, projectId, clock.now())
      const id = await outbox.put(trx, projectId, payload, recipient, { subscriptionId, keepTryingMs: 0 })
      return store.claimOne(trx, projectId, id!, clock.now().getTime() + LEASE_MS) // without a key there is no conflict
    })
    await deliver(claimed)
    return getDelivery(actor, claimed.id)
  }

  /** An event that an external caller emits (spec platform 6.7, `POST /events/{eventType}`). */
  function emitEvent(actor: Actor, event: string, data: Readonly<Record<string, unknown>>): Promise<number> {
    const named = valueAt(data, 'project.id')
    if (named !== undefined && String(named) !== String(actor.projectId))
      throw invalid('project.id', `The token belongs to project ${actor.projectId}.`)
    const payload = { ...data, eventType: event, project: { id: String(actor.projectId) } }
    return inTransaction((trx) => outbox.emit(trx, actor.projectId, payload))
  }

  /** A message to one recipient that belongs to no subscription. */
  const sendDirect = (actor: Actor, recipient: NotificationRecipient, data: object): Promise<number> =>
    inTransaction((trx) => outbox.sendDirect(trx, actor.projectId, data, recipient))

  return {
    listDeliveries: async (actor: Actor, filter: DeliveryFilter, limit: number) => {
      const own = await ownSubscriptions(actor)
      return withAttempts(actor.projectId, await store.listDeliveries(actor.projectId, { ...filter, ...defined({ own }) }, limit))
    },
    getDelivery,
    sendTest,
    emitEvent,
    sendDirect,
  }
}

function testPayload(eventType: string, projectId: number, now: Date): Payload {
  const time = formatExpiration(now)
  return {
    eventType,
    isTest: true,
    message: 'This is a test. A real message of this subscription arrives at the same place.',
    job: { id: '0', url: '', tasks: [], startTime: time, endTime: time, component: { id: '' }, configuration: { id: null } },
    project: { id: String(projectId) },
  }
}
