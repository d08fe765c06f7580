// The wiring of notifications: one part of platform.ts, in a file of its own for its length.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { egressPolicyFrom } from '../../../contract/egress-rules.ts'
import { createEgress } from '../engines/egress/egress.ts'
import { createMailer } from '../engines/mail/mailer.ts'
import { addRoutes } from '../http/add-routes.ts'
import type { Clock } from '../kit/clock.ts'
import { createDeliver } from '../services/notifications/delivery.ts'
import { addNames } from '../services/notifications/names.ts'
import { createNotificationsLoop } from '../services/notifications/notifications.loop.ts'
import { notificationsRoutes } from '../services/notifications/notifications.routes.ts'
import { createNotificationsStore } from '../services/notifications/notifications.store.ts'
import { createNotifications } from '../services/notifications/notifications.ts'
import { createOutbox } from '../services/notifications/outbox.ts'
import { createSubscriptions } from '../services/notifications/subscriptions.ts'
import { createWatches, type WatchesDeps } from '../services/notifications/watches.ts'
import type { ConfigurationModules } from './configurations.ts'
import type { Core } from './core.ts'

export interface NotificationModulesDeps
  extends Core,
    Pick<WatchesDeps, 'runningJobs' | 'runningPhases' | 'unchangedTables' | 'diskSpace'> {
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly configurations: ConfigurationModules
  readonly egressAllow: readonly string[]
  readonly smtpUrl: string | undefined
  /** The stack's own address, for links in messages that no request caused. */
  readonly baseUrl: () => string
}

export type NotificationModules = ReturnType<typeof createNotificationModules>

export function createNotificationModules(deps: NotificationModulesDeps) {
  const { metadata, events, tokens, clock, log, configurations } = deps
  const { db, inTransaction } = metadata
  const { components, encryption, branches, runAccess } = configurations
  const mailer = deps.smtpUrl === undefined ? undefined : createMailer(deps.smtpUrl)
  const egress = createEgress({ policy: egressPolicyFrom(deps.egressAllow) })

  const subscriptions = createSubscriptions({
    db,
    inTransaction,
    clock,
    recordEvent: events.record,
    checkAddress: egress.check,
    encrypt: (projectId, secret) => encryption.encryptBody(secret, false, { projectId: String(projectId) }),
    isMailSetUp: mailer !== undefined,
    canonicalComponentId: components.canonicalId,
  })
  const outbox = createOutbox({
    db,
    clock,
    canonicalComponentId: components.canonicalId,
    checkAddress: egress.check,
    baseUrl: deps.baseUrl,
  })
  const deliver = createDeliver({
    db,
    inTransaction,
    clock,
    post: (request) => egress.send({ method: 'POST', ...request }),
    sendMail: mailer?.send,
    decrypt: encryption.decryptForProject,
    withNames: (projectId, payload) =>
      addNames(
        {
          projectName: async () => (await tokens.findProject(projectId))?.name,
          componentName: (id) => components.find(id)?.name,
          configurationName: async (componentId, configurationId) =>
            (
              await runAccess.find({
                projectId,
                branchId: (await branches.findDefault(projectId)).id,
                componentId,
                configurationId,
              })
            )?.name,
        },
        payload,
      ),
  })
  const { look } = createWatches({ ...deps, db, inTransaction, outbox })
  const loop = createNotificationsLoop({
    store: createNotificationsStore(db),
    inTransaction,
    clock,
    deliver,
    look,
    onError: (err) => log.error({ err }, 'a notification could not be delivered by our fault; it is tried again'),
  })
  const notifications = createNotifications({ db, inTransaction, clock, subscriptions, outbox, deliver })

  return {
    outbox,
    loop,
    registerRoutes(app: FastifyInstance): void {
      addRoutes(app, notificationsRoutes({ subscriptions, notifications }))
    },
  }
}
