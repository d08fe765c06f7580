// Subscriptions and what is sent to them. What watches running work and tables is in watches.module.ts: the queue, which it reads,
// sends notifications, too.

import { egressPolicyFrom } from '../../../../../contract/egress-rules.ts'
import { createEgress } from '../../../engines/egress/egress.ts'
import { createMailer } from '../../../engines/mail/mailer.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { EncryptionModule } from '../../access/encryption/encryption.module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import { createDeliver } from './delivery.ts'
import { addNames } from './names.ts'
import { notificationsRoutes } from './notifications.routes.ts'
import { createNotifications } from './notifications.ts'
import { createOutbox } from './outbox.ts'
import { payloadOfTests } from './payloads.ts'
import { createSubscriptions } from './subscriptions.ts'

export interface NotificationsModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly components: ComponentsModule
  readonly encryption: EncryptionModule
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly egressAllow: readonly string[]
  readonly smtpUrl: string | undefined
  /** The stack's own address, for links in messages that no request caused. */
  readonly baseUrl: () => string
}

export type NotificationsModule = ReturnType<typeof createNotificationsModule>

export function createNotificationsModule(deps: NotificationsModuleDeps) {
  const { core, tokens, components, encryption, branches, configurations, egressAllow, smtpUrl, baseUrl } = deps
  const { db, inTransaction, clock, recordEvent, subscribe } = core
  const mailer = smtpUrl === undefined ? undefined : createMailer(smtpUrl)
  const egress = createEgress({ policy: egressPolicyFrom(egressAllow) })
  const canonicalComponentId = components.canonicalId

  const subscriptions = createSubscriptions({
    db,
    inTransaction,
    clock,
    recordEvent,
    checkAddress: egress.check,
    encrypt: encryption.encryptForProject,
    isMailSetUp: mailer !== undefined,
    canonicalComponentId,
    defaultBranchId: branches.defaultId,
  })
  const outbox = createOutbox({ db, clock, canonicalComponentId, checkAddress: egress.check, baseUrl })
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
          projectName: async () => tokens.projectName(projectId),
          componentName: (id) => components.find(id)?.name,
          configurationName: async (componentId, configurationId) => {
            const branchId = await branches.defaultId(projectId)
            return (await configurations.runAccess.find({ projectId, branchId, componentId, configurationId }))?.name
          },
        },
        payload,
      ),
  })
  const notifications = createNotifications({ db, inTransaction, clock, subscriptions, outbox, deliver })
  subscribe('job.ended', outbox.jobEnded)
  subscribe('event.recorded', async (trx, { projectId }, event) => {
    const payload = payloadOfTests(projectId, event)
    if (payload && event.branchId === (await branches.defaultId(projectId))) await outbox.emit(trx, projectId, payload)
  })
  return defineModule({
    name: 'notifications',
    routes: [notificationsRoutes({ subscriptions, notifications })],
    outbox,
    deliver,
  })
}
