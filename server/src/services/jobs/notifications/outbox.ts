// Events become deliveries: one for each subscription to the event, in the transaction of the event itself. Whatever happens
// after the commit, the messages are sent; before it, nothing is visible.

import { randomUUID } from 'node:crypto'
import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { JobEndFacts } from '../../../model/job-end.ts'
import type { DirectNotification, NotificationPort, NotificationRecipient } from '../../../model/notification-port.ts'
import { matches, withImplied } from './filters.ts'
import { createNotificationsStore, type Recipient, type Subscription } from './notifications.store.ts'
import { type Payload, payloadOfJob, payloadOfMissed, payloadOfPhase } from './payloads.ts'
import { addressOf, checkRecipient } from './recipients.ts'

export interface OutboxDeps {
  readonly db: Db
  readonly clock: Clock
  readonly canonicalComponentId: (id: string) => string
  readonly checkAddress: (url: URL) => void
  /** The stack's own address, for links in messages that no request caused. */
  readonly baseUrl: () => string
}

/** Attempts are made for a day. */
const KEEP_TRYING_MS = 86_400_000

export type Outbox = ReturnType<typeof createOutbox>

export function createOutbox(deps: OutboxDeps) {
  const { clock, canonicalComponentId } = deps
  const store = createNotificationsStore(deps.db)
  const sameComponent = (a: string, b: string): boolean => canonicalComponentId(a) === canonicalComponentId(b)

  const wants = ({ event, filters, expiresAt }: Subscription, payload: Payload): boolean =>
    (expiresAt === undefined || expiresAt > clock.now()) && matches(withImplied(event, filters), payload, sameComponent)

  /** Answers how many deliveries there are now. */
  async function emit(trx: Trx, projectId: number, payload: Payload): Promise<number> {
    let count = 0
    for (const subscription of await store.subscribersTo(trx, projectId, payload.eventType)) {
      if (!wants(subscription, payload)) continue
      await put(trx, projectId, payload, subscription.recipient, { subscriptionId: subscription.id })
      count++
    }
    return count
  }

  function put(
    trx: Trx,
    projectId: number,
    payload: Payload,
    recipient: Recipient,
    options: { readonly subscriptionId?: number; readonly uniqueKey?: string | undefined; readonly keepTryingMs?: number } = {},
  ): Promise<number | undefined> {
    const now = clock.now().getTime()
    return store.insertDelivery(trx, {
      projectId,
      subscriptionId: options.subscriptionId,
      messageId: `msg_${randomUUID().replaceAll('-', '')}`,
      event: payload.eventType,
      recipient,
      payload,
      uniqueKey: options.uniqueKey,
      nextAttemptAt: now,
      giveUpAt: now + (options.keepTryingMs ?? KEEP_TRYING_MS),
      createdAt: now,
    })
  }

  async function jobEnded(trx: Trx, job: JobEndFacts): Promise<void> {
    const payload = payloadOfJob(job)
    if (payload) await emit(trx, job.projectId, payload)
  }

  /** A recipient that is not valid does not stop the flow: its delivery fails with the reason. */
  async function notify(trx: Trx, notification: DirectNotification): Promise<void> {
    const { projectId, recipients, title, message, jobId } = notification
    const job = { id: String(jobId), url: `${deps.baseUrl()}/queue/jobs/${jobId}` }
    const payload = { eventType: DIRECT, title, message, project: { id: String(projectId) }, job }
    for (const recipient of recipients) await put(trx, projectId, payload, directRecipient(recipient))
  }

  /** A message that belongs to no subscription. */
  async function sendDirect(trx: Trx, projectId: number, data: object, recipient: NotificationRecipient): Promise<number> {
    checkRecipient(recipient, deps.checkAddress)
    const payload = { ...data, eventType: DIRECT, project: { id: String(projectId) } }
    return (await put(trx, projectId, payload, directRecipient(recipient)))! // without a key there is no conflict
  }

  const port: NotificationPort = {
    notify,
    phaseEnded: async (trx, phase) => {
      const payload = payloadOfPhase(phase, deps.baseUrl())
      if (payload) await emit(trx, phase.projectId, payload)
    },
    scheduleMissed: async (trx, missed) => void (await emit(trx, missed.projectId, payloadOfMissed(missed))),
  }

  return { ...port, wants, emit, put, sendDirect, jobEnded }
}

const DIRECT = 'direct-notification'

const directRecipient = (recipient: NotificationRecipient): Recipient => ({
  channel: recipient.channel,
  address: addressOf(recipient),
  template: 'payload',
  signingSecret: undefined,
})
