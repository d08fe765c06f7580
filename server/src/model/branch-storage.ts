// What a development branch shows of the buckets, tables and files of the default branch (spec storage 1.12).

/** `inherited`: also what the branch does not have itself (the default); `own`: only its own. */
export const BRANCH_STORAGE = ['inherited', 'own'] as const
export type BranchStorage = (typeof BRANCH_STORAGE)[number]
