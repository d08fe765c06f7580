// The wiring of the scheduler: one part of platform.ts, in a file of its own for its length.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ConfigurationRooms } from './configuration-rooms.ts'
import type { Foundation } from './foundation.ts'
import type { Clock } from './kit/clock.ts'
import type { QueueRooms } from './queue-rooms.ts'
import { createFiring } from './services/scheduler/firing.ts'
import type { Target } from './services/scheduler/schedule-configuration.ts'
import { createSchedulerLoop } from './services/scheduler/scheduler.loop.ts'
import { schedulerRoutes } from './services/scheduler/scheduler.routes.ts'
import { createScheduler } from './services/scheduler/scheduler.ts'

export interface SchedulerRoomDeps extends Foundation {
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly rooms: ConfigurationRooms
  readonly queueRooms: QueueRooms
  /** The stack's own address, for the links of jobs that no request made. */
  readonly baseUrl: () => string
}

const SCHEDULER_COMPONENT = 'platform.scheduler'

export function createSchedulerRoom({ metadata, events, tokens, clock, log, rooms, queueRooms, baseUrl }: SchedulerRoomDeps) {
  const { db, inTransaction } = metadata
  const { branches, components, runAccess } = rooms
  const { queue } = queueRooms

  const defaultBranchId = async (projectId: number): Promise<number> =>
    (await branches.resolve(projectId, undefined))?.id ?? (await branches.findDefault(projectId)).id

  /** Schedules work on the default branch only (contract platform 3.4). */
  const addressOf = async (projectId: number, componentId: string, configurationId: string) => ({
    projectId,
    branchId: await defaultBranchId(projectId),
    componentId: components.canonicalId(componentId),
    configurationId,
  })

  const scheduler = createScheduler({
    db,
    inTransaction,
    clock,
    recordEvent: events.record,
    schedulerComponentId: SCHEDULER_COMPONENT,
    findConfiguration: async (projectId, componentId, configurationId) => {
      const found = await runAccess.find(await addressOf(projectId, componentId, configurationId))
      if (!found) return undefined
      const configuration: unknown = JSON.parse(found.configuration)
      return { version: found.version, isDisabled: found.isDisabled, configuration, rowIds: found.rows.map((row) => row.id) }
    },
    findVersion: async (projectId, configurationId, version) => {
      const found = await runAccess.findAt(await addressOf(projectId, SCHEDULER_COMPONENT, configurationId), version)
      return found && { ...found, configuration: JSON.parse(found.configuration) as unknown }
    },
    tokens: { issue: tokens.issueInternal, refresh: tokens.refreshInternal, revoke: tokens.revokeInternal },
  })

  const { fireDue } = createFiring({
    scheduler,
    inTransaction,
    recordEvent: events.record,
    schedulerComponentId: SCHEDULER_COMPONENT,
    configurationExists: async (projectId, componentId, configurationId) =>
      runAccess.exists(await addressOf(projectId, componentId, configurationId)),
    actorOfToken: tokens.findActor,
    queue: {
      prepare: async (actor, target) => {
        const prepared = await queue.prepare(actor, requestFor(target), {
          branch: { id: await defaultBranchId(actor.projectId), isDefault: true },
          baseUrl: baseUrl(),
        })
        return { insert: async (trx) => ({ id: String((await queue.insert(trx, prepared)).id) }) }
      },
      hasUnfinished: (projectId, target) =>
        queue.hasUnfinished(projectId, components.canonicalId(target.componentId), target.configurationId),
      wake: queueRooms.wake,
    },
    onError: (error, scheduleId) => log.error({ err: error, scheduleId }, 'a schedule could not fire'),
  })

  const loop = createSchedulerLoop({
    clock,
    fireDue,
    onError: (error) => log.error({ err: error }, 'looking for due schedules failed; it is tried again in a second'),
  })

  return {
    loop,
    registerRoutes: (app: FastifyInstance) => app.register(schedulerRoutes(scheduler)),
  }
}

const requestFor = (target: Target) => ({
  component: target.componentId,
  config: target.configurationId,
  mode: target.mode as 'run' | 'forceRun' | 'debug', // checked when the schedule was activated
  ...(target.configurationRowIds.length > 0 && { configRowIds: target.configurationRowIds }),
  ...(target.tag !== '' && { tag: target.tag }),
})
