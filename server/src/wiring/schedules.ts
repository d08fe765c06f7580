// What starts jobs by itself: schedules and triggers.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Trx } from '../engines/metadata-db/dialects.ts'
import { addRoutes } from '../http/add-routes.ts'
import type { Clock } from '../kit/clock.ts'
import type { Actor } from '../model/actor.ts'
import { undone } from '../model/dry-run.ts'
import type { NotificationPort } from '../model/notification-port.ts'
import type { RunAccess } from '../services/configurations/run-access.ts'
import { createScheduleRule } from '../services/scheduler/content-rule.ts'
import { createScheduleDryRun } from '../services/scheduler/dry-run.ts'
import { createFiring } from '../services/scheduler/firing.ts'
import { runRequestOf } from '../services/scheduler/schedule-configuration.ts'
import { createSchedulerLoop } from '../services/scheduler/scheduler.loop.ts'
import { schedulerRoutes } from '../services/scheduler/scheduler.routes.ts'
import { createScheduler, type SchedulerDeps } from '../services/scheduler/scheduler.ts'
import { triggersRoutes } from '../services/triggers/triggers.routes.ts'
import { createTriggers } from '../services/triggers/triggers.ts'
import type { ConfigurationModules } from './configurations.ts'
import type { Core } from './core.ts'
import type { QueueModules } from './queue.ts'
import type { TableModules } from './tables.ts'

export interface ScheduleModulesDeps extends Core {
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly configurations: ConfigurationModules
  readonly queueModules: QueueModules
  readonly tableModules: TableModules
  readonly notifications: NotificationPort
  /** The stack's own address, for the links of jobs that no request made. */
  readonly baseUrl: () => string
}

const SCHEDULER_COMPONENT = 'keboola.scheduler'

export type ScheduleModules = ReturnType<typeof createScheduleModules>

export function createScheduleModules(deps: ScheduleModulesDeps) {
  const { metadata, events, tokens, clock, log, configurations, queueModules, tableModules, baseUrl } = deps
  const { db, inTransaction } = metadata
  const { branches, components, runAccess } = configurations
  const { queue } = queueModules

  /** Schedules work on the default branch only (spec platform 3.4). */
  const addressOf = async (projectId: number, componentId: string, configurationId: string) => ({
    projectId,
    branchId: await branches.defaultId(projectId),
    componentId: components.canonicalId(componentId),
    configurationId,
  })

  const prepareRun = async (actor: Actor, request: Parameters<typeof queue.prepare>[1]) =>
    queue.prepareLater(actor, request, {
      branch: { id: await branches.defaultId(actor.projectId), isDefault: true },
      baseUrl: baseUrl(),
    })

  const schedulerOn = (place: Pick<SchedulerDeps, 'db' | 'inTransaction'>, access: RunAccess) =>
    createScheduler({
      ...place,
      clock,
      recordEvent: events.record,
      schedulerComponentId: SCHEDULER_COMPONENT,
      canonicalComponentId: components.canonicalId,
      findConfiguration: async (projectId, componentId, configurationId) =>
        access.findParsed(await addressOf(projectId, componentId, configurationId)),
      configurationExists: async (projectId, componentId, configurationId) =>
        access.exists(await addressOf(projectId, componentId, configurationId)),
      findVersion: async (projectId, configurationId, version) =>
        access.findParsedAt(await addressOf(projectId, SCHEDULER_COMPONENT, configurationId), version),
      tokens: { issue: tokens.issueInternal, refresh: tokens.refreshInternal, revoke: tokens.revokeInternal },
    })
  const scheduler = schedulerOn({ db, inTransaction }, runAccess)
  const tried = schedulerOn({ db, inTransaction: undone(inTransaction) }, runAccess)

  const { fireDue } = createFiring({
    scheduler,
    inTransaction,
    recordEvent: events.record,
    recordChange: deps.changes.record,
    notifications: deps.notifications,
    schedulerComponentId: SCHEDULER_COMPONENT,
    configurationExists: async (projectId, componentId, configurationId) =>
      runAccess.exists(await addressOf(projectId, componentId, configurationId)),
    actorOfToken: tokens.findActor,
    queue: {
      prepare: (actor, target) => prepareRun(actor, runRequestOf(target)),
      hasUnfinished: (projectId, target) =>
        queue.hasUnfinished(projectId, components.canonicalId(target.componentId), target.configurationId),
      wake: queueModules.wake,
    },
    onError: (error, scheduleId) => log.error({ err: error, scheduleId }, 'a schedule could not fire'),
  })

  const triggers = createTriggers({
    db,
    inTransaction,
    clock,
    recordEvent: events.record,
    actorOfToken: tokens.findActor,
    canonicalId: components.canonicalId,
    expires: async (projectId, tokenId) => (await tokens.get(projectId, tokenId)).expiresAt !== undefined,
    importedAt: async (actor, tableId) =>
      tableModules.tables.importedAt(
        { actor, branch: { id: await branches.defaultId(actor.projectId), isDefault: true } },
        tableId,
      ),
    queue: {
      prepare: (actor, component, configurationId) => prepareRun(actor, { component, config: configurationId, mode: 'run' }),
      wake: queueModules.wake,
    },
    onError: (error, triggerId) => log.error({ err: error, triggerId }, 'a trigger could not fire'),
  })

  const loop = createSchedulerLoop({
    clock,
    fireDue: async (now) => (await fireDue(now)) + (await triggers.fireReady(now)),
    onError: (error) => log.error({ err: error }, 'looking for due schedules failed; it is tried again in a second'),
  })

  return {
    loop,
    /** The same in a transaction of another module. */
    inside: (trx: Trx, access: RunAccess) => schedulerOn({ db: trx, inTransaction: (work) => work(trx) }, access),
    lagMs: scheduler.lagMs,
    find: scheduler.find,
    /** Of all projects, for those who run the stack. */
    stopped: () => scheduler.store.listStopped(100),
    nextRunsOf: scheduler.nextRunsOf,
    /** For checks of configurations. */
    contentRule: createScheduleRule(scheduler, SCHEDULER_COMPONENT),
    registerRoutes(app: FastifyInstance): void {
      addRoutes(app, schedulerRoutes(scheduler, createScheduleDryRun(tried)))
      addRoutes(app, triggersRoutes(triggers))
    },
  }
}
