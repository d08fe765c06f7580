import { PlatformError } from '../../../kit/errors.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import type { ProposalsModule } from '../../configuration/proposals/proposals.module.ts'
import type { SqlModule } from '../../query/sql/sql.module.ts'
import type { LineageModule } from '../../storage/lineage/lineage.module.ts'
import type { StorageJobsModule } from '../../storage/storage-jobs/storage-jobs.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { JobRunnerModule } from '../job-runner/job-runner.module.ts'
import type { QueueModule } from '../queue/queue.module.ts'
import { compareTables } from './compare.ts'
import type { Place, Plan, Uses } from './plan.ts'
import { rehearsalsRoutes } from './rehearsals.routes.ts'
import { createRehearsals, type RehearsalsDeps } from './rehearsals.ts'

export interface RehearsalsModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly branches: BranchesModule
  readonly components: ComponentsModule
  readonly configurations: ConfigurationsModule
  readonly proposals: ProposalsModule
  readonly lineage: LineageModule
  readonly storageJobs: StorageJobsModule
  readonly tables: TablesModule
  readonly sql: SqlModule
  readonly jobRunner: JobRunnerModule
  readonly queue: QueueModule
}

const FLOW = 'keboola.flow'
/** What a project may rehearse within an hour: each runs jobs. */
const PER_HOUR = 60

export type RehearsalsModule = ReturnType<typeof createRehearsalsModule>

export function createRehearsalsModule(deps: RehearsalsModuleDeps) {
  const { core, tokens, branches, components, configurations, proposals, lineage } = deps
  const { db, inTransaction, clock } = core
  const rehearsals = createRehearsals({
    ...{ db, inTransaction, clock, perHour: PER_HOUR },
    getProposal: proposals.get,
    actorOf: tokens.findActor,
    changesOf: async (projectId, branchId) =>
      configurations.merging.changesOf({ projectId, branchFromId: branchId, branchIntoId: await branches.defaultId(projectId) }),
    usesOf: async (projectId, branchId) => {
      const ran = await lineage.usesOf(projectId, await branches.defaultId(projectId))
      return [...(await configurations.links(projectId, branchId)), ...ran.map(usesOfRun)]
    },
    problemOf: async (projectId, branchId, { componentId, configurationId }) => {
      const component = components.findRunnable(componentId)
      if (!component || isNotRun(component.id)) return `${componentId} only keeps settings`
      const problem = deps.jobRunner.notRehearsable(component)
      if (problem !== undefined) return problem
      const found = await configurations.runAccess.find({ projectId, branchId, componentId: component.id, configurationId })
      if (!found) return 'it does not exist in the branch'
      return found.isDisabled ? 'it is disabled' : undefined
    },
    isDelivery: (componentId) => ['writer', 'application'].includes(components.findRunnable(componentId)?.type ?? ''),
    tables: tablesOf(deps),
    jobs: jobsOf(deps),
  })
  return defineModule({
    name: 'rehearsals',
    routes: [rehearsalsRoutes(rehearsals)],
  })
}

/** Flows, schedules, variables and shared code run nothing by themselves. */
const isNotRun = (componentId: string): boolean =>
  /\.(flow|orchestrator|scheduler|variables|shared-code|sandboxes|data-apps)$/.test(componentId)

const usesOfRun = (use: {
  readonly component_id: string
  readonly configuration_id: string
  readonly table_id: string
  readonly direction: 'read' | 'write'
}): Uses => ({
  componentId: use.component_id,
  configurationId: use.configuration_id,
  reads: use.direction === 'read' ? [use.table_id] : [],
  writes: use.direction === 'write' ? [use.table_id] : [],
})

function tablesOf({ branches, storageJobs, tables, sql }: RehearsalsModuleDeps): RehearsalsDeps['tables'] {
  const scopeIn = (actor: Actor, branchId: number) => ({ actor, branch: { id: branchId, isDefault: false, isOwnOnly: true } })
  const part = (actor: Actor, branch: { id: number; isDefault: boolean; isOwnOnly?: boolean }, tableId: string) =>
    tables.sqlTables.part({ actor, branch }, tableId, {}).catch(undefinedWhenMissing)
  return {
    drop: async (requester, branchId, tableId) => {
      const scope = scopeIn(requester.actor, branchId)
      if (await part(scope.actor, scope.branch, tableId))
        await storageJobs.waitForSuccess(await tables.startRemoval({ ...requester, ...scope }, tableId, true))
    },
    pull: async (requester, branchId, tableId) => {
      const scope = scopeIn(requester.actor, branchId)
      const main = { id: await branches.defaultId(requester.actor.projectId), isDefault: true }
      const found = await part(requester.actor, main, tableId)
      if (!found || found.isAlias) return
      await storageJobs.waitForSuccess(await storageJobs.create(requester, await tables.pull(scope, tableId, requester.origin)))
    },
    compare: async (actor, branchId, tableId) => {
      const after = await part(actor, scopeIn(actor, branchId).branch, tableId)
      if (!after) return undefined
      const before = await part(actor, { id: await branches.defaultId(actor.projectId), isDefault: true }, tableId)
      return compareTables({ engine: sql.engine, onSession: sql.onSession }, { actor, before, after })
    },
  }
}

function undefinedWhenMissing(error: unknown): undefined {
  if (error instanceof PlatformError && error.kind === 'not-found') return undefined
  throw error
}

function jobsOf({ queue, core }: RehearsalsModuleDeps): RehearsalsDeps['jobs'] {
  return {
    start: async (actor, branchId, levels, baseUrl) => {
      const runner = { ...actor, componentAccess: [...actor.componentAccess, FLOW] }
      const request = { component: FLOW, configData: JSON.stringify(flowOf(levels)), branchId: String(branchId) }
      const job = await queue.create(runner, request, { branch: { id: branchId, isDefault: false }, baseUrl })
      return job.id
    },
    find: async (projectId, jobId) => {
      const job = await queue.find(projectId, jobId)
      if (!job) return { isFinished: true, steps: [] }
      const steps = await queue.listSteps(core.db, projectId, jobId, [])
      return {
        isFinished: ENDED.has(job.status),
        steps: steps.map((step) => ({
          id: step.id,
          componentId: step.component_id,
          configurationId: step.configuration_id,
          status: step.status,
          error: step.error,
          tables: (readStored<{ output?: { tables?: { id: string }[] } }>(step.result).output?.tables ?? []).map(({ id }) => id),
        })),
      }
    },
  }
}

const ENDED: ReadonlySet<string> = new Set(['success', 'error', 'terminated', 'warning', 'cancelled'])

/** One phase for each level; a step that fails does not keep the others from running. */
const flowOf = (levels: Plan['levels']) => ({
  phases: levels.map((_, at) => ({
    id: `level${at + 1}`,
    name: `Level ${at + 1}`,
    next: at + 1 < levels.length ? [{ id: `next${at + 1}`, goto: `level${at + 2}` }] : [],
  })),
  tasks: levels.flatMap((level, at) =>
    level.map(({ componentId, configurationId }: Place, task: number) => ({
      id: `step${at + 1}-${task + 1}`,
      name: `${componentId} ${configurationId}`.slice(0, 200),
      phase: `level${at + 1}`,
      continueOnFailure: true,
      task: { type: 'job', componentId, configId: configurationId, mode: 'rehearse', parallelism: '0' },
    })),
  ),
})
