// The wiring of flows: what they need of the queue, of configurations and of notifications.

import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../kit/clock.ts'
import type { RecordChange } from '../model/change.ts'
import type { NotificationPort } from '../model/notification-port.ts'
import type { RunAccess } from '../services/configurations/run-access.ts'
import { flowFormatOf } from '../services/flows/flow-plan.ts'
import { flowVariables } from '../services/flows/flow-variables.ts'
import { createFlowsLoop } from '../services/flows/flows.loop.ts'
import { createFlows, type FlowsDeps } from '../services/flows/flows.ts'
import { createRunningPhases } from '../services/flows/running-phases.ts'
import { createFlowValidation, type FlowPlace } from '../services/flows/validation.ts'
import { createFlowQueue, createQueueFlows } from '../services/queue/flow-queue.ts'
import type { Queue } from '../services/queue/queue.ts'
import type { Core } from './core.ts'

export interface FlowModulesDeps extends Pick<Core, 'metadata' | 'events'> {
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly queue: () => Queue
  readonly runAccess: RunAccess
  readonly canonicalId: (componentId: string) => string
  readonly componentExists: (componentId: string) => boolean
  readonly notifications: NotificationPort
  readonly recordChange: RecordChange
  readonly decrypt: FlowsDeps['decrypt']
}

export function createFlowModules(deps: FlowModulesDeps) {
  const { metadata, events, clock, log, queue, runAccess, canonicalId, notifications } = deps
  const { db, inTransaction } = metadata
  const findIn = (access: Pick<RunAccess, 'find'>) => async (place: FlowPlace, configurationId: string) =>
    (await access.find({ ...place, configurationId }))?.configuration
  const findConfiguration = findIn(runAccess)

  const validationOf = (access: Pick<RunAccess, 'find'>) =>
    createFlowValidation({
      formatOf: (componentId) => flowFormatOf(canonicalId(componentId)),
      componentExists: deps.componentExists,
      findConfiguration: findIn(access),
    })
  const validation = validationOf(runAccess)

  const flowQueue = createFlowQueue(queue)
  const flows = createFlows({
    db,
    inTransaction,
    clock,
    notifications,
    recordChange: deps.recordChange,
    recordEvent: events.record,
    decrypt: deps.decrypt,
    onError: (error, jobId) => log.error({ err: error, jobId }, 'a flow could not go on; it is tried again'),
    validation,
    configurations: {
      find: findConfiguration,
      variables: (place, configuration, valuesId) =>
        flowVariables(configuration, valuesId, (componentId, configurationId) =>
          runAccess.find({ ...place, componentId, configurationId }),
        ),
    },
    queue: flowQueue,
  })

  const loop = createFlowsLoop({
    flows,
    onError: (error) => log.error({ err: error }, 'flows could not be read; they are looked at again in a second'),
  })

  return {
    loop,
    runningPhases: createRunningPhases({ db, listRunning: flowQueue.listRunning }),
    validate: validation.validate,
    check: validation.checkSaved,
    contentProblems: validation.contentProblems,
    /** The same over configurations that are being written. */
    checkWith: (access: Pick<RunAccess, 'find'>) => validationOf(access).checkSaved,
    /** For the queue. */
    ofQueue: createQueueFlows(flows),
  }
}
