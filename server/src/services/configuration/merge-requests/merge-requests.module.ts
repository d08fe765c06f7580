import type { Actor } from '../../../model/actor.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { Requester } from '../../../model/storage-job.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { StorageJobsModule } from '../../storage/storage-jobs/storage-jobs.module.ts'
import type { BranchesModule } from '../branches/branches.module.ts'
import type { ConfigurationsModule } from '../configurations/configurations.module.ts'
import { conflictError, createMerging, MERGE_REQUEST_JOB } from './merge-requests.jobs.ts'
import { createMergeRequestsLoop } from './merge-requests.loop.ts'
import { mergeRequestsRoutes } from './merge-requests.routes.ts'
import { createMergeRequests } from './merge-requests.ts'

export interface MergeRequestsModuleDeps {
  readonly core: Core
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly storageJobs: StorageJobsModule
  readonly tokens: TokensModule
}

export type MergeRequestsModule = ReturnType<typeof createMergeRequestsModule>

export function createMergeRequestsModule({ core, branches, configurations, storageJobs, tokens }: MergeRequestsModuleDeps) {
  const { db, inTransaction, clock, log, recordEvent, publish, subscribe } = core
  const mergeRequests = createMergeRequests({
    db,
    inTransaction,
    clock,
    recordEvent,
    branches,
    changesOf: configurations.merging.changesOf,
    people: tokens.listPeople,
  })
  const merging = createMerging({
    mergeRequests,
    inTransaction,
    insertJob: storageJobs.insert,
    wakeJobs: storageJobs.wake,
    log,
    ...configurations.merging,
    removeBranch: branches.remove,
    beforeMerge: (source, branchId) => publish('branch.beforeMerge', source, branchId),
    merged: (...args) => publish('mergeRequest.merged', ...args),
    afterRemoval: (projectId, branchId) => publish('branch.removed', projectId, branchId),
  })
  const loop = createMergeRequestsLoop(merging, log)

  subscribe('branch.isLocked', mergeRequests.isMerging)
  subscribe('branch.merging', mergeRequests.checkDirectMerge)
  subscribe('branch.deleted', async (trx, branch, source) => {
    await mergeRequests.cancelOf(trx, source, branch.id)
  })

  return defineModule({
    name: 'merge-requests',
    routes: [mergeRequestsRoutes({ mergeRequests, merging })],
    lightJobHandlers: { [MERGE_REQUEST_JOB]: merging.run },
    background: [{ start: loop.start, stop: loop.stop }],
    isMerging: mergeRequests.isMerging,
    requests: mergeRequests,
    /** Approves, and merges when there are enough approvals and the request contains it; conflicts are refused before. */
    approveAndMerge: async (requester: Requester & { readonly actor: Actor }, id: number, reason?: string) => {
      const conflicts = await merging.conflictsOf(await mergeRequests.get(requester.actor.projectId, id))
      if (conflicts.length > 0) throw conflictError(id, conflicts)
      const approved = await mergeRequests.advance(requester.actor, id, 'approve', requester.origin, reason)
      return merging.mergeIfWanted(requester, approved)
    },
    /** Runs the merges that are due. */
    tick: merging.tick,
  })
}
