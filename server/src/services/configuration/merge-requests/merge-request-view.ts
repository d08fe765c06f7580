// A merge request as the API shows it, and as the results of its job hold it (spec storage 2.3).

import { formatTimestamp } from '../../../kit/clock.ts'
import { BRANCH_DELETED, type MergeRequest, type Person } from './merge-requests.store.ts'

const time = (at: number): string => formatTimestamp(new Date(at))

export const mergeRequestView = (request: MergeRequest) => ({
  id: request.id,
  creator: { id: request.creator.id, name: request.creator.name },
  title: request.title,
  description: request.description,
  state: request.state,
  branches: { branchFromId: isOfDeletedBranch(request) ? null : request.branchFromId, branchIntoId: request.branchIntoId },
  merge: {
    mergedAt: request.merged ? time(request.merged.at) : null,
    mergerId: request.merged?.by.id ?? null,
    mergerName: request.merged?.by.name ?? null,
  },
  createdAt: time(request.createdAt),
  externalId: request.externalId,
  autoMergeStrategy: request.autoMergeStrategy,
  autoMergeAt: request.autoMergeAt,
  approvals: request.approvals.map(({ by, at }) => ({ approverId: by.id, approverName: by.name, createdAt: time(at) })),
  reviewers: request.reviewerIds.map((id) => reviewerView(id, request)),
})

/** With what it changes: from the request for a review on, also when the branch is gone. */
export const mergeRequestDetail = (request: MergeRequest) => ({
  ...mergeRequestView(request),
  changeLog: request.changeLog.length === 0 ? [] : { configurations: request.changeLog },
})

/** Cancelled because its branch was deleted (corrections-2, M2). */
const isOfDeletedBranch = ({ state, activity }: MergeRequest): boolean =>
  state === 'canceled' && activity.some(({ reason }) => reason === BRANCH_DELETED)

const reviewerView = (id: number, { approvals }: MergeRequest) => {
  const approval = approvals.find(({ by }) => by.id === id)
  return { id, name: approval?.by.name ?? null, email: null, status: approval ? 'approved' : 'pending' }
}

export const activityView = ({ at, by, what, reason }: { at: number; by: Person; what: string; reason?: string }) => ({
  createdAt: time(at),
  actor: { id: by.id, name: by.name },
  action: what,
  reason: reason ?? null,
})
