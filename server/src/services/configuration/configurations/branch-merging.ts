// What a merge request does to configurations: the changes it would make, and making them.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { PlatformError } from '../../../kit/errors.ts'
import type { EventSource } from '../../../model/event.ts'
import type { BranchChange, BranchCopies } from './branch-copies.ts'

interface Branch {
  readonly id: number
  readonly projectId: number
  readonly name: string
  readonly isDefault: boolean
}

/** The part of a merge request that names its branches. */
interface MergedBranches {
  readonly id?: number
  readonly projectId: number
  readonly branchFromId: number
  readonly branchIntoId: number
}

export interface BranchMergingDeps {
  readonly db: Db
  readonly copies: Pick<BranchCopies, 'changes' | 'merge'>
  readonly branches: {
    get(projectId: number, name: string, from?: Db): Promise<Branch>
    resolve(projectId: number, name: string): unknown
  }
}

export function createBranchMerging({ db, copies, branches }: BranchMergingDeps) {
  const sidesOf = async ({ projectId, branchFromId, branchIntoId }: MergedBranches, from: Db) => ({
    from: await branches.get(projectId, String(branchFromId), from),
    into: await branches.get(projectId, String(branchIntoId), from),
  })

  return {
    /** None when the branch is gone. */
    async changesOf(request: MergedBranches) {
      if ((await branches.resolve(request.projectId, String(request.branchFromId))) === undefined) return []
      const { from, into } = await sidesOf(request, db)
      return copies.changes(db, request.projectId, from, into)
    },
    async merge(
      trx: Trx,
      request: MergedBranches,
      source: EventSource,
      refusal: (conflicts: readonly BranchChange[]) => PlatformError,
    ) {
      const { from, into } = await sidesOf(request, trx)
      const words = `Configuration merged in merge request #${request.id} from branch: "${from.name}"`
      return copies.merge(trx, request.projectId, { from, into }, source, { words: () => words, refusal })
    },
  }
}
