import type { Core } from '../../../model/core.ts'
import type { FlowQueue } from '../../../model/flow-ports.ts'
import { defineModule } from '../../../model/module.ts'
import type { EncryptionModule } from '../../access/encryption/encryption.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { ConfigurationsModule, RunAccess } from '../../configuration/configurations/configurations.module.ts'
import type { NotificationsModule } from '../notifications/notifications.module.ts'
import { flowFormatOf } from './flow-plan.ts'
import { flowVariables } from './flow-variables.ts'
import { createFlowsLoop } from './flows.loop.ts'
import { flowsRoutes } from './flows.routes.ts'
import { createFlows } from './flows.ts'
import { createRunningPhases } from './running-phases.ts'
import { createFlowValidation, type FlowPlace } from './validation.ts'

export interface FlowsModuleDeps {
  readonly core: Core
  readonly components: ComponentsModule
  readonly encryption: EncryptionModule
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly notifications: NotificationsModule
  /** Of the queue, which is created later: it runs flows as jobs. */
  readonly queue: FlowQueue
}

export type FlowsModule = ReturnType<typeof createFlowsModule>

export function createFlowsModule(deps: FlowsModuleDeps) {
  const { core, components, encryption, branches, configurations, notifications, queue } = deps
  const { db, inTransaction, clock, log, recordEvent, recordChange, subscribe } = core
  const { runAccess } = configurations
  const findIn = (access: Pick<RunAccess, 'find'>) => async (place: FlowPlace, configurationId: string) =>
    (await access.find({ ...place, configurationId }))?.configuration
  const validationOf = (access: Pick<RunAccess, 'find'>) =>
    createFlowValidation({
      formatOf: (componentId) => flowFormatOf(components.canonicalId(componentId)),
      componentExists: components.exists,
      findConfiguration: findIn(access),
    })
  const validation = validationOf(runAccess)
  const flows = createFlows({
    db,
    inTransaction,
    clock,
    notifications: notifications.outbox,
    recordChange,
    recordEvent,
    decrypt: async (flow, text) =>
      (await encryption.decryptForRun({ ...flow, configurationId: flow.configurationId ?? undefined }, text)).text,
    onError: (error, jobId) => log.error({ err: error, jobId }, 'a flow could not be advanced; retrying'),
    validation,
    configurations: {
      find: findIn(runAccess),
      variables: (place, configuration, valuesId) =>
        flowVariables(configuration, valuesId, (componentId, configurationId) =>
          runAccess.find({ ...place, componentId, configurationId }),
        ),
    },
    queue,
  })
  const loop = createFlowsLoop({
    flows,
    onError: (error) => log.error({ err: error }, 'flows could not be read; they are looked at again in a second'),
  })

  subscribe('configuration.saving', validation.checkSaved)
  subscribe('configuration.validated', ({ actor, branch }, { componentId, configurationId }, _content, text) =>
    validation.contentProblems({ projectId: actor.projectId, branchId: branch.id, componentId }, configurationId, text),
  )

  return defineModule({
    name: 'flows',
    routes: [flowsRoutes({ validate: validation.validate, findBranch: branches.findByName })],
    background: [{ role: 'worker', start: loop.start, stop: loop.stop }],
    ...flows,
    loop,
    formatOf: flowFormatOf,
    runningPhases: createRunningPhases({ db, listRunning: queue.listRunning }),
    /** Checks flows against configurations that are being written. */
    checkWith: (access: Pick<RunAccess, 'find'>) => validationOf(access).checkSaved,
  })
}
