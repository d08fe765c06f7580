// One attempt to deliver a message, and what follows from it. The message id is the same in every attempt, so that a receiver that
// got a message whose answer was lost can recognize the next one as a repetition.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { messageOf, textBody, webhookBody } from './message-bodies.ts'
import { type Attempt, createNotificationsStore, type Delivery, type DeliveryStatus } from './notifications.store.ts'
import type { Payload } from './payloads.ts'
import { MAIL_NOT_SET_UP, webhookUrl } from './recipients.ts'
import { signatureOf } from './signature.ts'

export interface OutgoingMail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly messageId: string
}

export interface DeliveryDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  /** Fails with a PlatformError when there is no answer. */
  readonly post: (request: {
    readonly url: URL
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly timeoutMs: number
  }) => Promise<{ readonly status: number; readonly text: string }>
  /** Undefined when mail is not set up. Returns the response of the mail server. */
  readonly sendMail: ((mail: OutgoingMail) => Promise<string>) | undefined
  readonly decrypt: (projectId: number, cipher: string) => Promise<string>
  /** Adds the names of the objects of the payload. */
  readonly withNames: (projectId: number, payload: Payload) => Promise<Payload>
}

const TIMEOUT_MS = 10_000
const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 3_600_000
const GONE = 410
/** Longer than an attempt can take: another node adopts only what a dead one left. */
export const LEASE_MS = 6 * TIMEOUT_MS

export type Deliver = ReturnType<typeof createDeliver>

/** Makes the attempt that was claimed, and writes down how it went. */
export function createDeliver(deps: DeliveryDeps) {
  const { clock, inTransaction } = deps
  const store = createNotificationsStore(deps.db)

  async function send(delivery: Delivery): Promise<Pick<Attempt, 'statusCode' | 'answer' | 'error'>> {
    const payload = await deps.withNames(delivery.projectId, delivery.payload)
    return delivery.recipient.channel === 'email' ? sendMail(delivery, payload) : callWebhook(delivery, payload)
  }

  async function sendMail({ recipient, messageId }: Delivery, payload: Payload) {
    if (!deps.sendMail) throw new PlatformError('notification.invalid', { field: 'recipient.channel', reason: MAIL_NOT_SET_UP })
    const message = messageOf(payload)
    const answer = await deps.sendMail({ to: recipient.address, subject: message.title, text: textBody(message), messageId })
    return { statusCode: undefined, answer: answer.slice(0, 1000), error: undefined }
  }

  async function callWebhook({ projectId, recipient, messageId }: Delivery, payload: Payload) {
    const body = JSON.stringify(webhookBody(recipient.template, payload))
    const timestamp = Math.floor(clock.now().getTime() / 1000)
    const secret = recipient.signingSecret && (await deps.decrypt(projectId, recipient.signingSecret))
    const answer = await deps.post({
      url: webhookUrl(recipient.address),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Millrace',
        'webhook-id': messageId,
        'webhook-timestamp': String(timestamp),
        ...(secret && { 'webhook-signature': signatureOf(secret, messageId, timestamp, body) }),
      },
      body,
      timeoutMs: TIMEOUT_MS,
    })
    return { statusCode: answer.status, answer: answer.text.slice(0, 1000), error: refusalOf(answer.status) }
  }

  return async function deliver(delivery: Delivery): Promise<void> {
    const attemptedAt = clock.now()
    const result = await send(delivery).catch((error: unknown) => {
      if (!(error instanceof PlatformError)) throw error
      return { statusCode: undefined, answer: '', error: error.message }
    })
    const now = clock.now().getTime()
    const attempt = { ...result, attemptedAt, durationMs: Math.max(0, now - attemptedAt.getTime()) }
    const { status, nextAttemptAt } = outcomeOf(delivery, attempt, now)
    const endedAt = status === 'waiting' ? null : now
    await inTransaction((trx) => store.recordAttempt(trx, delivery, attempt, { status, nextAttemptAt, endedAt }))
  }
}

/** Redirects are not followed: the address that was checked and signed for is the one that must answer. */
function refusalOf(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined
  if (status >= 300 && status < 400)
    return `It answered ${status}, a redirect; redirects are not followed. Subscribe with the final address.`
  return `It answered ${status}.`
}

/** Pauses double from ten seconds to an hour, scattered by half, until a day is over. */
function outcomeOf(
  { attempts, giveUpAt }: Delivery,
  { error, statusCode }: Pick<Attempt, 'error' | 'statusCode'>,
  now: number,
): { status: DeliveryStatus; nextAttemptAt: number } {
  if (error === undefined) return { status: 'delivered', nextAttemptAt: now }
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1))
  const nextAttemptAt = Math.round(now + pause / 2 + (Math.random() * pause) / 2)
  const isOver = statusCode === GONE || nextAttemptAt > giveUpAt.getTime()
  return isOver ? { status: 'failed', nextAttemptAt: now } : { status: 'waiting', nextAttemptAt }
}
