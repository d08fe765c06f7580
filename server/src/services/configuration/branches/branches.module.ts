// Branches as other modules use them. Routes and jobs, which copy and merge configurations, are in branches-api.module.ts.

import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { createBranches } from './branches.ts'

export type BranchesModule = ReturnType<typeof createBranchesModule>

export function createBranchesModule({ core }: { readonly core: Core }) {
  const { db, inTransaction, clock, recordEvent, publish } = core
  const branches = createBranches({
    db,
    inTransaction,
    clock,
    recordEvent,
    onCreate: (trx, from, into, source) => publish('branch.created', trx, from, into, source),
    onDelete: (trx, branch, source) => publish('branch.deleted', trx, branch, source),
    isMerging: async (projectId, id, from) => (await publish('branch.isLocked', projectId, id, from)).includes(true),
  })
  return defineModule({
    name: 'branches',
    ...branches,
    /** By id or `default`; undefined when there is none. Always a promise, which most callers expect. */
    findByName: async (projectId: number, name: string | undefined) => branches.resolve(projectId, name),
  })
}
