import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { StorageJobsModule } from '../../storage/storage-jobs/storage-jobs.module.ts'
import type { ConfigurationsModule } from '../configurations/configurations.module.ts'
import { branchJobs } from './branches.jobs.ts'
import type { BranchesModule } from './branches.module.ts'
import { branchesRoutes } from './branches.routes.ts'

export interface BranchesApiDeps {
  readonly core: Core
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly storageJobs: StorageJobsModule
}

export function createBranchesApiModule({ core, branches, configurations: { copies }, storageJobs }: BranchesApiDeps) {
  return defineModule({
    name: 'branches-api',
    routes: [
      branchesRoutes({
        branches,
        createJob: storageJobs.create,
        checkMerge: async (actor, branchId) => {
          await core.publish('branch.merging', actor.projectId)
          await core.publish('branch.beforeMerge', actor, branchId)
        },
        changes: (from, into) => copies.changes(core.db, from.projectId, from, into),
      }),
    ],
    lightJobHandlers: branchJobs({
      branches,
      afterRemoval: (projectId, branchId) => core.publish('branch.removed', projectId, branchId),
      merge: (trx, from, into, source) => copies.merge(trx, from.projectId, { from, into }, source),
    }),
  })
}
