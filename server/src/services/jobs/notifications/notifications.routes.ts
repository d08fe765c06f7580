// HTTP for notifications (spec platform 6.7); the delivery log and the test are ours.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { formatExpiration } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { OPERATORS } from './filters.ts'
import type { Attempt, Recipient, Subscription } from './notifications.store.ts'
import type { DeliveryWithAttempts, Notifications } from './notifications.ts'
import type { NewSubscription, Subscriptions } from './subscriptions.ts'

export interface NotificationsRoutesDeps {
  readonly subscriptions: Subscriptions
  readonly notifications: Notifications
}

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])
const EVENT = '^[a-zA-Z][a-zA-Z0-9._-]{0,99}$'
const Address = Type.String({ maxLength: 2000, description: 'E-mail address, or URL of the webhook.' })
const Template = Type.Union(
  [Type.Literal('payload'), Type.Literal('slack'), Type.Literal('teams'), Type.Record(Type.String(), Type.Unknown())],
  {
    description:
      'Format of a webhook: the event (`payload`, default), a message for `slack` or `teams`, or a JSON object with `{{path}}` in its strings.',
  },
)
const Channel = Type.Union([Type.Literal('email'), Type.Literal('webhook')], { description: 'email or webhook' })
const Filter = Type.Object({
  field: Type.String({ pattern: '^[\\w.-]{1,200}$', description: 'A path into the payload, such as job.configuration.id.' }),
  value: Type.Union([Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean()], {
    description: 'Value to compare with.',
  }),
  operator: Type.Optional(Type.Enum([...OPERATORS], { description: '== by default.' })),
})
const SubscriptionBody = Type.Object({
  event: Type.String({ pattern: EVENT, description: 'Event to subscribe to, such as job-failed.' }),
  filters: Type.Optional(
    Type.Array(Filter, { maxItems: 50, description: 'All filters must match. Without filters, every event of this kind.' }),
  ),
  recipient: Type.Object(
    {
      channel: Channel,
      address: Type.Optional(Address),
      url: Type.Optional(Type.String({ maxLength: 2000, description: 'URL of a webhook; alias of `address`.' })),
      template: Type.Optional(Template),
      signingSecret: Type.Optional(
        Type.String({ maxLength: 200, description: 'For a webhook: `whsec_` and a key in base64. Generated if omitted.' }),
      ),
    },
    { description: 'Recipient of the message.' },
  ),
  expiresAt: Type.Optional(
    Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
      description: 'Expiry: a time, or a phrase such as +24 hours.',
    }),
  ),
})

const RecipientView = Type.Object({
  channel: Type.String(),
  address: Type.String(),
  url: Type.Optional(Type.String()),
  template: Type.Optional(Type.Unknown()),
  signingSecret: Type.Optional(Type.String({ description: 'Returned only when it is created.' })),
})
const SubscriptionView = Type.Object({
  id: Type.String(),
  event: Type.String(),
  filters: Type.Array(Type.Object({ field: Type.String(), value: Type.Unknown(), operator: Type.String() })),
  recipient: RecipientView,
  expiresAt: Nullable(Type.String()),
  createdAt: Type.String(),
  warnings: Type.Array(Type.String(), { description: 'Reasons why it may never send a message.' }),
})
const DeliveryView = Type.Object({
  id: Type.String(),
  messageId: Type.String({ description: 'Value of the header `webhook-id`, the same in every attempt.' }),
  subscriptionId: Nullable(Type.String()),
  event: Type.String(),
  recipient: RecipientView,
  status: Type.String({ description: 'waiting, delivered, failed or cancelled' }),
  createdAt: Type.String(),
  endedAt: Nullable(Type.String()),
  nextAttemptAt: Nullable(Type.String()),
  attempts: Type.Array(
    Type.Object({
      attemptedAt: Type.String(),
      durationMs: Type.Integer(),
      statusCode: Nullable(Type.Integer()),
      answer: Type.String({ description: 'The beginning of the response of the receiver.' }),
      error: Nullable(Type.String()),
    }),
  ),
})

const SubscriptionId = Type.Object({ id: Type.String({ description: 'Id of the subscription.' }) })
const DeliveryId = Type.Object({ id: Type.String({ description: 'Id of the delivery.' }) })
const DeliveriesQuery = Type.Object({
  subscriptionId: Type.Optional(Type.String({ description: 'Only deliveries of this subscription.' })),
  status: Type.Optional(
    Type.Enum(['waiting', 'delivered', 'failed', 'cancelled'], { description: 'Only deliveries with this status.' }),
  ),
  beforeId: Type.Optional(Type.String({ description: 'Only deliveries older than this id, for the next page.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'Maximum number of deliveries; 100 by default.' })),
})
const LIMIT = 100

/** With some components: for its own subscriptions, which match those components. */
const CHANGES = { needs: 'component', branch: 'refused', validationCode: 'validation.failed' } as const

export function notificationsRoutes({ subscriptions, notifications }: NotificationsRoutesDeps): FastifyPluginAsyncTypebox {
  const view = (subscription: Subscription, actor: Actor) =>
    subscriptionView(subscription, actor, subscriptions.warningsOf(subscription))

  return async (app) => {
    app.post(
      '/notification/project-subscriptions',
      {
        config: { operation: 'notification.subscribe', summary: 'Subscribe to an event of the project', ...CHANGES },
        schema: { body: SubscriptionBody, response: { 201: SubscriptionView } },
      },
      async (req, reply) => {
        const { event, filters = [], recipient, expiresAt } = req.body
        const request = {
          event,
          filters: filters.map(({ field, value, operator = '==' }) => ({ field, value, operator })),
          recipient,
          expiresAt: expiresAt ?? undefined,
        }
        const created = await subscriptions.create(req.actor, request, req.origin)
        return reply.code(201).send(withSecret(view(created.subscription, req.actor), created))
      },
    )

    app.get(
      '/notification/project-subscriptions',
      {
        config: {
          operation: 'notification.list',
          summary: 'Subscriptions of the project',
          needs: 'component',
          branch: 'refused',
        },
        schema: {
          querystring: Type.Object({ event: Type.Optional(Type.String({ description: 'Only subscriptions to this event.' })) }),
          response: { 200: Type.Array(SubscriptionView) },
        },
      },
      async (req) => (await subscriptions.list(req.actor, req.query.event)).map((one) => view(one, req.actor)),
    )

    app.get(
      '/notification/project-subscriptions/:id',
      {
        config: { operation: 'notification.get', summary: 'Subscription detail', needs: 'component', branch: 'refused' },
        schema: { params: SubscriptionId, response: { 200: SubscriptionView } },
      },
      async (req) => view(await subscriptions.get(req.actor, subscriptionId(req.params.id)), req.actor),
    )

    app.delete(
      '/notification/project-subscriptions/:id',
      {
        config: { operation: 'notification.unsubscribe', summary: 'Delete a subscription', ...CHANGES },
        schema: { params: SubscriptionId, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await subscriptions.remove(req.actor, subscriptionId(req.params.id), req.origin)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/notification/project-subscriptions/:id/test',
      {
        config: { operation: 'notification.test', summary: 'Send a test message', ...CHANGES },
        schema: { params: SubscriptionId, response: { 200: DeliveryView } },
      },
      async (req) => deliveryView(await notifications.sendTest(req.actor, subscriptionId(req.params.id)), req.actor),
    )

    app.get(
      '/notification/deliveries',
      {
        config: {
          operation: 'notification.deliveries',
          summary: 'List deliveries of messages with their attempts, newest first',
          needs: 'component',
          branch: 'refused',
        },
        schema: { querystring: DeliveriesQuery, response: { 200: Type.Array(DeliveryView) } },
      },
      async (req) => {
        const { subscriptionId: of, status, beforeId, limit = LIMIT } = req.query
        const filter = {
          ...(of !== undefined && { subscriptionId: subscriptionId(of) }),
          ...(beforeId !== undefined && { beforeId: deliveryId(beforeId) }),
          ...(status !== undefined && { status }),
        }
        return (await notifications.listDeliveries(req.actor, filter, limit)).map((one) => deliveryView(one, req.actor))
      },
    )

    app.get(
      '/notification/deliveries/:id',
      {
        config: {
          operation: 'notification.delivery',
          summary: 'A delivery with its attempts',
          needs: 'component',
          branch: 'refused',
        },
        schema: { params: DeliveryId, response: { 200: DeliveryView } },
      },
      async (req) => deliveryView(await notifications.getDelivery(req.actor, deliveryId(req.params.id)), req.actor),
    )

    app.post(
      '/notification/events/:event',
      {
        config: {
          operation: 'notification.emit',
          summary: 'Emit an event of your own',
          ...CHANGES,
          needs: 'master',
        },
        schema: {
          params: Type.Object({ event: Type.String({ pattern: EVENT, description: 'Name of the event.' }) }),
          body: Type.Record(Type.String(), Type.Unknown(), { description: 'The payload.' }),
          response: { 202: Type.Object({ deliveries: Type.Integer({ description: 'Number of messages that will be sent.' }) }) },
        },
      },
      async (req, reply) =>
        reply.code(202).send({ deliveries: await notifications.emitEvent(req.actor, req.params.event, req.body) }),
    )

    app.post(
      '/notification/notifications',
      {
        config: { operation: 'notification.send', summary: 'Send one message to one recipient', ...CHANGES, needs: 'master' },
        schema: {
          body: Type.Object({
            type: Type.Union([Type.Literal('direct-project-email'), Type.Literal('direct-project-webhook')], {
              description: 'Channel of the recipient.',
            }),
            recipient: Type.Object(
              { channel: Type.Optional(Channel), address: Type.Optional(Address), url: Type.Optional(Address) },
              { description: 'Recipient of the message.' },
            ),
            data: Type.Record(Type.String(), Type.Unknown(), {
              description: 'title, message, and further values of the message.',
            }),
          }),
          response: { 202: Type.Object({ id: Type.String({ description: 'Id of the delivery.' }) }) },
        },
      },
      async (req, reply) => {
        const { type, recipient, data } = req.body
        const channel = type === 'direct-project-email' ? ('email' as const) : ('webhook' as const)
        const { address, url } = recipient
        const to = { channel, ...(address !== undefined && { address }), ...(url !== undefined && { url }) }
        return reply.code(202).send({ id: String(await notifications.sendDirect(req.actor, to, data)) })
      },
    )
  }
}

const subscriptionId = (text: string): number =>
  idFrom(text, () => new PlatformError('notification.subscriptionNotFound', { id: text.slice(0, 40) }))
const deliveryId = (text: string): number =>
  idFrom(text, () => new PlatformError('notification.deliveryNotFound', { id: text.slice(0, 40) }))

/** One public client reads the address of a webhook as `url`, another as `address`: it is both. */
function recipientView({ channel, address, template }: Recipient, actor: Actor) {
  if (channel !== 'webhook') return { channel, address }
  const shown = actor.role === 'viewer' ? withoutPath(address) : address
  return { channel, address: shown, url: shown, template }
}

/** The whole URL of a webhook is enough to write there; viewers change nothing. */
const withoutPath = (address: string): string => `${new URL(address).origin}/***`

const subscriptionView = (subscription: Subscription, actor: Actor, warnings: string[]) => ({
  id: String(subscription.id),
  event: subscription.event,
  filters: [...subscription.filters],
  recipient: recipientView(subscription.recipient, actor),
  expiresAt: subscription.expiresAt ? formatExpiration(subscription.expiresAt) : null,
  createdAt: formatExpiration(subscription.createdAt),
  warnings,
})

const withSecret = <T extends { recipient: object }>(view: T, { signingSecret }: NewSubscription) => ({
  ...view,
  recipient: { ...view.recipient, ...(signingSecret !== undefined && { signingSecret }) },
})

const deliveryView = (delivery: DeliveryWithAttempts, actor: Actor) => ({
  id: String(delivery.id),
  messageId: delivery.messageId,
  subscriptionId: delivery.subscriptionId === undefined ? null : String(delivery.subscriptionId),
  event: delivery.event,
  recipient: recipientView(delivery.recipient, actor),
  status: delivery.status,
  createdAt: formatExpiration(delivery.createdAt),
  endedAt: delivery.endedAt ? formatExpiration(delivery.endedAt) : null,
  nextAttemptAt: delivery.status === 'waiting' ? formatExpiration(delivery.nextAttemptAt) : null,
  attempts: delivery.log.map(attemptView),
})

const attemptView = ({ attemptedAt, durationMs, statusCode, answer, error }: Attempt) => ({
  attemptedAt: formatExpiration(attemptedAt),
  durationMs,
  statusCode: statusCode ?? null,
  answer,
  error: error ?? null,
})
