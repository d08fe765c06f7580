// How an approved request is merged: on request, as soon as it is approved, or at its scheduled time; always by the same job.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type EventSource, NO_ORIGIN, type Origin } from '../../../model/event.ts'
import type { JobHandler, NewStorageJob, Requester, StorageJob } from '../../../model/storage-job.ts'
import { mergeRequestDetail } from './merge-request-view.ts'
import type { MergeRequest } from './merge-requests.store.ts'
import { type Change, loggedChange, type MergeRequests } from './merge-requests.ts'

export interface MergingDeps {
  readonly mergeRequests: MergeRequests
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly insertJob: (trx: Trx, requester: Requester, job: NewStorageJob) => Promise<StorageJob>
  /** After a job was inserted. */
  readonly wakeJobs: () => void
  /** What the merge would do; nothing when the branch is gone. */
  readonly changesOf: (request: MergeRequest) => Promise<readonly Change[]>
  readonly merge: (
    trx: Trx,
    request: MergeRequest,
    source: EventSource,
    refusal: (conflicts: readonly Change[]) => PlatformError,
  ) => Promise<readonly Change[]>
  readonly removeBranch: (trx: Trx, source: EventSource, branchId: number, origin: Origin) => Promise<void>
  /** Throws what the merge would break. */
  readonly beforeMerge: (source: EventSource, branchId: number) => Promise<void>
  /** In the transaction of the merge. */
  readonly merged: (trx: Trx, source: EventSource, id: number, changes: readonly Change[]) => Promise<void>
  /** Removes what the branch had outside of the database. */
  readonly afterRemoval: (projectId: number, branchId: number) => Promise<void>
  readonly log: { warn(details: object, text: string): void }
}

export const MERGE_REQUEST_JOB = 'mergeRequestMerge'

export type Merging = ReturnType<typeof createMerging>

export function createMerging({
  mergeRequests,
  inTransaction,
  insertJob,
  wakeJobs,
  changesOf,
  merge,
  removeBranch,
  beforeMerge,
  merged,
  afterRemoval,
  log,
}: MergingDeps) {
  const conflictsOf = async (request: MergeRequest): Promise<readonly Change[]> =>
    (await changesOf(request)).filter((change) => change.isConflict)

  /** The request and the job that ends it are one transaction: a branch is never locked without a job that unlocks it. */
  async function begin(requester: Requester, { id }: MergeRequest, by: 'merge' | 'auto-merge') {
    const begun = await inTransaction(async (trx) => ({
      request: await mergeRequests.step(trx, { source: requester.actor, origin: requester.origin }, id, by),
      job: await insertJob(trx, requester, {
        operationName: MERGE_REQUEST_JOB,
        operationParams: { mergeRequestId: id },
        input: { mergeRequestId: id },
        lockKeys: ['dev-branches'],
      }),
    }))
    wakeJobs()
    return begun
  }

  /** With `immediately`, an approved request without conflicts is merged; with conflicts it waits for a decision. */
  async function mergeIfWanted(requester: Requester, request: MergeRequest): Promise<MergeRequest> {
    if (request.state !== 'approved' || request.autoMergeStrategy !== 'immediately') return request
    if ((await conflictsOf(request)).length > 0) return request
    try {
      return (await begin(requester, request, 'auto-merge')).request
    } catch (error) {
      if (error instanceof PlatformError && error.code === 'mergeRequest.inProgress') return request // waits, as with conflicts
      throw error
    }
  }

  /** One look at the clock: starts what is due, in the name of who approved it last. */
  async function tick(): Promise<void> {
    for (const request of await mergeRequests.listDue()) {
      const approver = request.approvals.at(-1)?.by ?? request.creator
      const actor = { projectId: request.projectId, tokenId: approver.id, tokenDescription: approver.name }
      try {
        await begin({ actor, origin: NO_ORIGIN, baseUrl: '' }, request, 'auto-merge')
      } catch (error) {
        // Another node was faster, or another merge runs: it is tried again.
        if (error instanceof PlatformError && ['mergeRequest.wrongState', 'mergeRequest.inProgress'].includes(error.code))
          continue
        log.warn({ err: error, mergeRequestId: request.id }, 'A scheduled merge could not be started; it is tried again')
      }
    }
  }

  /** Either the branch is merged, the request published and the branch gone, or nothing is merged and it is approved as before. */
  const run: JobHandler = async ({ job, signal, publish }) => {
    const { mergeRequestId: id } = job.input as { readonly mergeRequestId: number } // written by createMergeJob
    const { branchFromId } = await mergeRequests.get(job.projectId, id)
    try {
      await beforeMerge(job.source, branchFromId)
      await publish(async (trx) => {
        const request = await mergeRequests.get(job.projectId, id, trx)
        if (request.state === 'approved') await mergeRequests.step(trx, job, id, 'merge') // tried again
        const changes = await merge(trx, request, job.source, (conflicts) => conflictError(id, conflicts))
        const changeLog = changes.map(loggedChange)
        const published = await mergeRequests.step(trx, job, id, 'publish', { changeLog })
        await merged(trx, job.source, id, changes)
        await removeBranch(trx, job.source, request.branchFromId, job.origin)
        return { results: mergeRequestDetail(published) }
      })
    } catch (error) {
      const lost = signal.aborted || (error instanceof PlatformError && error.code === 'storage.jobs.lost')
      if (!lost) await giveBack(job, id, error instanceof PlatformError ? error.message : 'The merge failed by our fault.')
      throw error
    }
    await afterRemoval(job.projectId, branchFromId)
  }

  async function giveBack(job: StorageJob, id: number, reason: string): Promise<void> {
    await inTransaction(async (trx) => {
      if ((await mergeRequests.get(job.projectId, id, trx)).state === 'in_merge')
        await mergeRequests.step(trx, job, id, 'fail', { reason })
    })
  }

  return { changesOf, conflictsOf, begin, mergeIfWanted, tick, run }
}

export function conflictError(id: number, conflicts: readonly Change[]): PlatformError {
  const errors = conflicts.map(conflictView)
  const text = errors.map(({ message }) => ` - ${message}\n`).join('')
  return new PlatformError('mergeRequest.conflict', { id, errors: text }, { params: { errors } })
}

export const conflictView = (conflict: Change) => {
  const { componentId, configurationId, branchBaseIdentifier: ours, defaultVersionIdentifier: theirs } = conflict
  return {
    message:
      `Configuration "${configurationId}" for component "${componentId}" in the dev branch is not based on the latest version from ` +
      `the default branch. Version identifier in the dev branch: "${ours}". Version identifier in the default branch: "${theirs ?? ''}".`,
    componentId,
    configurationId,
    isDeleted: conflict.kind === 'deleted',
    devBranchVersionIdentifier: ours,
    defaultBranchVersionIdentifier: theirs ?? null,
  }
}
