// The life of a merge request. It is written in `development`, waits for others in `in_review`, and is `approved` by enough of them (the
// last approval finishes the review) or sent back; the
// merge job holds it in `in_merge` and leaves it `published`, or `approved` again when the merge failed. `canceled` ends it early: its
// branch was deleted. A merge may be requested again while it is `in_merge`, because the node of the first job may have crashed; whichever
// job comes second finds it published and fails.

import { PlatformError } from '../../../kit/errors.ts'

export type MergeRequestState = 'development' | 'in_review' | 'approved' | 'in_merge' | 'published' | 'canceled'
export type Move =
  | 'request-review'
  | 'approve'
  | 'finish-review'
  | 'request-changes'
  | 'merge'
  | 'auto-merge'
  | 'publish'
  | 'fail'
  | 'cancel'

const MOVES: Record<MergeRequestState, Partial<Record<Move, MergeRequestState>>> = {
  development: { 'request-review': 'in_review', cancel: 'canceled' },
  in_review: { approve: 'in_review', 'finish-review': 'approved', 'request-changes': 'development', cancel: 'canceled' },
  approved: { merge: 'in_merge', 'auto-merge': 'in_merge', 'request-changes': 'development', cancel: 'canceled' },
  in_merge: { merge: 'in_merge', publish: 'published', fail: 'approved', cancel: 'canceled' },
  published: {},
  canceled: {},
}

export function move(state: MergeRequestState, by: Move): MergeRequestState {
  const next = MOVES[state][by]
  if (next === undefined) throw new PlatformError('mergeRequest.wrongState', { state, move: by })
  return next
}

/** What events call a move. */
export const operationOf = (by: Move): string => (by === 'auto-merge' ? 'merge' : by.replace('-', '_'))
