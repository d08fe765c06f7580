// Names of this module's storage jobs (spec storage 6), and the lock they share.

export const CREATE = 'devBranchCreate'
export const DELETE = 'devBranchDelete'
export const MERGE = 'devBranchMerge'

/** Jobs on branches of one project run one after the other: a branch is copied from a default branch that no merge is changing. */
export const BRANCHES_LOCK = 'dev-branches'
