// Rules of subscriptions (spec platform 6.7): allowed events, rights and warnings.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { parseMoment } from '../../../kit/relative-time.ts'
import { type Actor, canUseComponent, seesWholeProject } from '../../../model/actor.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { EventName, EventParams } from '../../../model/event-definitions.ts'
import type { NotificationRecipient } from '../../../model/notification-port.ts'
import { checkFilters, type Filter, invalid, withDefaultBranch } from './filters.ts'
import type { Template } from './message-bodies.ts'
import { createNotificationsStore, type Recipient, type Subscription } from './notifications.store.ts'
import { OWN_EVENTS } from './payloads.ts'
import { addressOf, checkRecipient, MAIL_NOT_SET_UP } from './recipients.ts'
import { isSigningSecret, newSigningSecret } from './signature.ts'

export interface RecipientRequest extends NotificationRecipient {
  readonly template?: Template | undefined
  readonly signingSecret?: string | undefined
}

export interface SubscriptionRequest {
  readonly event: string
  readonly filters: readonly Filter[]
  readonly recipient: RecipientRequest
  readonly expiresAt: string | undefined
}

export interface SubscriptionsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  /** Throws for an address that could never be reached. */
  readonly checkAddress: (url: URL) => void
  readonly encrypt: (projectId: number, secret: string) => Promise<string>
  readonly isMailSetUp: boolean
  readonly canonicalComponentId: (id: string) => string
  readonly defaultBranchId: (projectId: number) => Promise<number>
}

/** A new subscription, with the secret in clear: shown this once. */
export interface NewSubscription {
  readonly subscription: Subscription
  readonly signingSecret: string | undefined
}

const MAX_SUBSCRIPTIONS = 1000
const MAX_TEMPLATE_CHARS = 20_000

export type Subscriptions = ReturnType<typeof createSubscriptions>

export function createSubscriptions(deps: SubscriptionsDeps) {
  const { inTransaction, clock, recordEvent } = deps
  const store = createNotificationsStore(deps.db)

  async function create(actor: Actor, request: SubscriptionRequest, origin: Origin): Promise<NewSubscription> {
    checkFilters(request.event, request.filters)
    if (!mayHearOf(actor, request.filters)) throw new PlatformError('notification.componentFilterNeeded')
    checkRecipient(request.recipient, deps.checkAddress)
    if (JSON.stringify(request.recipient.template ?? '').length > MAX_TEMPLATE_CHARS)
      throw invalid('recipient.template', `It is longer than ${MAX_TEMPLATE_CHARS} characters.`)
    const signingSecret = request.recipient.channel === 'webhook' ? signingSecretOf(request.recipient) : undefined
    const recipient: Recipient = {
      channel: request.recipient.channel,
      address: addressOf(request.recipient),
      template: request.recipient.template ?? 'payload',
      signingSecret: signingSecret && (await deps.encrypt(actor.projectId, signingSecret)),
    }
    const filters = withDefaultBranch(request.event, request.filters, await deps.defaultBranchId(actor.projectId))
    const subscription = await inTransaction(async (trx) => {
      if ((await store.countSubscriptions(trx, actor.projectId)) >= MAX_SUBSCRIPTIONS)
        throw new PlatformError('notification.tooMany', { limit: MAX_SUBSCRIPTIONS })
      const created = await store.insertSubscription(trx, {
        projectId: actor.projectId,
        event: request.event,
        filters,
        recipient,
        expiresAt: request.expiresAt === undefined ? undefined : expiryOf(request.expiresAt),
        createdAt: clock.now(),
        creator: { tokenId: actor.tokenId, description: actor.tokenDescription },
      })
      await recordEvent(trx, actor, subscriptionEvent(created, 'notification.subscriptionCreated', {}), origin)
      return created
    })
    return { subscription, signingSecret }
  }

  function expiryOf(text: string): Date {
    const moment = parseMoment(text, clock.now())
    if (!moment) throw invalid('expiresAt', `"${text.slice(0, 60)}" is not a time. Send "2027-01-31T12:00:00Z" or "+24 hours".`)
    if (moment <= clock.now()) throw invalid('expiresAt', `"${text.slice(0, 60)}" is in the past.`)
    return moment
  }

  const isExpired = ({ expiresAt }: Subscription): boolean => expiresAt !== undefined && expiresAt <= clock.now()

  /** Messages contain facts about jobs: a token with some components gets only those of its components. */
  const mayHearOf = (actor: Actor, filters: readonly Filter[]): boolean =>
    seesWholeProject(actor) ||
    filters.some(
      ({ field, operator, value }) =>
        field === 'job.component.id' && operator === '==' && canUseComponent(actor, String(value), deps.canonicalComponentId),
    )

  async function get(actor: Actor, id: number): Promise<Subscription> {
    const found = await store.findSubscription(actor.projectId, id)
    if (!found || isExpired(found)) throw new PlatformError('notification.subscriptionNotFound', { id })
    if (!maySee(actor, found)) throw new PlatformError('accessDenied')
    return found
  }

  async function list(actor: Actor, event: string | undefined): Promise<Subscription[]> {
    const all = await store.listSubscriptions(actor.projectId)
    return all.filter((one) => maySee(actor, one) && !isExpired(one) && (event === undefined || one.event === event))
  }

  async function remove(actor: Actor, id: number, origin: Origin): Promise<void> {
    const found = await get(actor, id)
    await inTransaction(async (trx) => {
      if (!(await store.removeSubscription(trx, actor.projectId, id, clock.now().getTime())))
        throw new PlatformError('notification.subscriptionNotFound', { id })
      await recordEvent(trx, actor, subscriptionEvent(found, 'notification.subscriptionDeleted', {}), origin)
    })
  }

  /** Warnings for its owner: why it may never send anything. */
  function warningsOf({ event, recipient }: Subscription): string[] {
    const warnings: string[] = []
    if (recipient.channel === 'email' && !deps.isMailSetUp) warnings.push(MAIL_NOT_SET_UP)
    if (!OWN_EVENTS.some((own) => own === event))
      warnings.push(
        `The stack itself does not emit "${event}"; messages are sent when POST /notification/events/${event} is called.`,
      )
    return warnings
  }

  return { create, get, list, remove, warningsOf }
}

/** Its own, or all of the project. */
const maySee = (actor: Actor, { creator }: Subscription): boolean => seesWholeProject(actor) || creator.tokenId === actor.tokenId

function signingSecretOf({ signingSecret }: RecipientRequest): string {
  if (signingSecret === undefined) return newSigningSecret()
  if (!isSigningSecret(signingSecret))
    throw invalid('recipient.signingSecret', 'A secret is "whsec_" and 24 to 64 bytes in base64. Omit it to have one generated.')
  return signingSecret
}

const subscriptionEvent = <N extends EventName>({ id, event }: Subscription, name: N, params: EventParams<N>) =>
  eventOf(name, params, { objectId: String(id), objectName: event })
