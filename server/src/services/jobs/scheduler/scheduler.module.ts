import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Core } from '../../../model/core.ts'
import { undone } from '../../../model/dry-run.ts'
import { defineModule } from '../../../model/module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { ConfigurationsModule, RunAccess } from '../../configuration/configurations/configurations.module.ts'
import type { NotificationsModule } from '../notifications/notifications.module.ts'
import type { QueueModule } from '../queue/queue.module.ts'
import type { TriggersModule } from '../triggers/triggers.module.ts'
import { createScheduleRule } from './content-rule.ts'
import { createScheduleDryRun } from './dry-run.ts'
import { createFiring } from './firing.ts'
import { runRequestOf } from './schedule-configuration.ts'
import { createSchedulerLoop } from './scheduler.loop.ts'
import { schedulerRoutes } from './scheduler.routes.ts'
import { createScheduler, type SchedulerDeps } from './scheduler.ts'

const SCHEDULER_COMPONENT = 'keboola.scheduler'

export interface SchedulerModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly components: ComponentsModule
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly notifications: NotificationsModule
  readonly queue: QueueModule
  readonly triggers: TriggersModule
  /** The stack's own address, for the links of jobs that no request caused. */
  readonly baseUrl: () => string
}

export type SchedulerModule = ReturnType<typeof createSchedulerModule>

export function createSchedulerModule(deps: SchedulerModuleDeps) {
  const { core, tokens, components, branches, configurations, queue, triggers, baseUrl } = deps
  const { db, inTransaction, clock, log, recordEvent, subscribe } = core
  const { runAccess } = configurations

  /** Schedules work on the default branch only (spec platform 3.4). */
  const addressOf = async (projectId: number, componentId: string, configurationId: string) => ({
    projectId,
    branchId: await branches.defaultId(projectId),
    componentId: components.canonicalId(componentId),
    configurationId,
  })
  const existsIn = (access: RunAccess) => async (projectId: number, componentId: string, configurationId: string) =>
    access.exists(await addressOf(projectId, componentId, configurationId))
  const schedulerOn = (place: Pick<SchedulerDeps, 'db' | 'inTransaction'>, access: RunAccess) =>
    createScheduler({
      ...place,
      clock,
      recordEvent,
      schedulerComponentId: SCHEDULER_COMPONENT,
      canonicalComponentId: components.canonicalId,
      findConfiguration: async (projectId, componentId, configurationId) =>
        access.findParsed(await addressOf(projectId, componentId, configurationId)),
      configurationExists: existsIn(access),
      findVersion: async (projectId, configurationId, version) =>
        access.findParsedAt(await addressOf(projectId, SCHEDULER_COMPONENT, configurationId), version),
      tokens: { issue: tokens.issueInternal, refresh: tokens.refreshInternal, revoke: tokens.revokeInternal },
    })
  const scheduler = schedulerOn({ db, inTransaction }, runAccess)
  const tried = schedulerOn({ db, inTransaction: undone(inTransaction) }, runAccess)

  const { fireDue } = createFiring({
    scheduler,
    inTransaction,
    recordEvent,
    recordChange: core.recordChange,
    notifications: deps.notifications.outbox,
    schedulerComponentId: SCHEDULER_COMPONENT,
    configurationExists: existsIn(runAccess),
    actorOfToken: tokens.findActor,
    queue: {
      prepare: async (actor, target) => {
        const branch = { id: await branches.defaultId(actor.projectId), isDefault: true }
        return queue.prepareLater(actor, runRequestOf(target), { branch, baseUrl: baseUrl() })
      },
      hasUnfinished: (projectId, target) =>
        queue.hasUnfinished(projectId, components.canonicalId(target.componentId), target.configurationId),
      wake: queue.wake,
    },
    onError: (error, scheduleId) => log.error({ err: error, scheduleId }, 'a schedule could not fire'),
  })
  const loop = createSchedulerLoop({
    clock,
    fireDue: async (now) => (await fireDue(now)) + (await triggers.fireReady(now)),
    onError: (error) => log.error({ err: error }, 'looking for due schedules failed; it is tried again in a second'),
  })

  const rule = createScheduleRule(scheduler, SCHEDULER_COMPONENT)
  subscribe('configuration.validated', ({ actor }, { componentId }, content) => rule(actor.projectId, componentId, content))
  subscribe('configuration.nextRunsListed', scheduler.nextRunsOf)

  /** The same in a transaction of another module. */
  const inside = (trx: Trx, access: RunAccess) => schedulerOn({ db: trx, inTransaction: (work) => work(trx) }, access)
  subscribe('schedules.accepted', async (trx, source, schedules) => {
    if (schedules.length === 0) return
    const actor = await tokens.findActor(source.projectId, source.tokenId)
    if (!actor) return // what this token may not activate is left out
    await inside(trx, configurations.inside(trx, () => async () => []).runAccess).follow(actor, schedules)
  })

  return defineModule({
    name: 'scheduler',
    routes: [schedulerRoutes(scheduler, createScheduleDryRun(tried))],
    background: [{ role: 'scheduler', isOffInCopies: true, start: loop.start, stop: loop.stop }],
    loop,
    lagMs: scheduler.lagMs,
    find: scheduler.find,
    /** Of all projects, for operators. */
    stopped: () => scheduler.store.listStopped(100),
    isScheduler: (componentId: string): boolean => components.canonicalId(componentId) === SCHEDULER_COMPONENT,
    inside,
  })
}
