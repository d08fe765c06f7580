import { defineModule } from '../../../model/module.ts'
import type { RunScope } from '../../../model/run-ports.ts'
import type { WorkerSettings } from '../../../model/worker-settings.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { JobRunnerModule } from '../job-runner/job-runner.module.ts'
import { createActionSlots } from './action-slots.ts'
import { type Caller, syncActionsRoutes } from './sync-actions.routes.ts'

export interface SyncActionsModuleDeps {
  readonly components: ComponentsModule
  readonly branches: BranchesModule
  readonly jobRunner: JobRunnerModule
  readonly worker: WorkerSettings
}

/** How long an action waits for its turn; it may then still take its 30 seconds. */
const WAIT_MS = 5_000

export function createSyncActionsModule({ components, branches, jobRunner, worker }: SyncActionsModuleDeps) {
  const slots = createActionSlots({
    max: () => worker.actions,
    maxPerProject: () => worker.projectActions,
    waitMs: WAIT_MS,
  })
  return defineModule({
    name: 'sync-actions',
    routes: [
      syncActionsRoutes({
        run: (caller, action, signal) =>
          slots.run(caller.actor.projectId, signal, () => jobRunner.runAction(scopeOf(caller), action, signal)),
        tryScript: (caller, trial, signal) =>
          slots.run(caller.actor.projectId, signal, () => jobRunner.tryScript(scopeOf(caller), trial, signal)),
        canonicalId: components.canonicalId,
        actionsOf: (id) => components.find(id)?.data.synchronous_actions,
        findBranch: branches.findByName,
        resolve: (caller, request) => jobRunner.resolve(scopeOf(caller), request),
      }),
    ],
  })
}

const scopeOf = ({ actor, branch, baseUrl }: Caller): RunScope => ({
  actor,
  projectId: actor.projectId,
  branchId: branch.id,
  isDefaultBranch: branch.isDefault,
  runId: '',
  baseUrl,
})
