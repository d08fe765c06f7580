// What the jobs of this module do: create, delete and merge a branch, each in the one transaction that also ends the job.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { EventSource } from '../../../model/event.ts'
import type { JobHandler } from '../../../model/storage-job.ts'
import { CREATE, DELETE, MERGE } from './branch-job-names.ts'
import { branchView } from './branches.routes.ts'
import type { BranchRecord } from './branches.store.ts'
import type { Branches, BranchInput } from './branches.ts'

export interface BranchJobsDeps {
  readonly branches: Branches
  /** Removes what the branch had outside of the database. */
  readonly afterRemoval: (projectId: number, branchId: number) => Promise<void>
  readonly merge: (trx: Trx, from: BranchRecord, into: BranchRecord, source: EventSource) => Promise<unknown>
}

export function branchJobs({ branches, merge, afterRemoval }: BranchJobsDeps): Readonly<Record<string, JobHandler>> {
  const create: JobHandler = ({ job, publish }) =>
    publish(async (trx) => {
      const branch = await branches.create(trx, job.source, job.input as BranchInput, job.origin) // written by the route
      return { results: branchView(branch) }
    })

  const remove: JobHandler = async ({ job, publish }) => {
    const id = idOf(job.input)
    await publish(async (trx) => {
      await branches.remove(trx, job.source, id, job.origin)
      return undefined
    })
    await afterRemoval(job.projectId, id)
  }

  const mergeBack: JobHandler = async ({ job, publish }) => {
    const into = await branches.findDefault(job.projectId)
    const from = await branches.get(job.projectId, String(idOf(job.input)))
    await publish(async (trx) => ({ results: { changes: await merge(trx, from, into, job.source) } }))
  }

  return { [CREATE]: create, [DELETE]: remove, [MERGE]: mergeBack }
}

const idOf = (input: unknown): number => (input as { readonly branchId: number }).branchId // written by the route
