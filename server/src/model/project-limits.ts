// What a project may use at most. A limit that is not set does not hold.

/** As `owner.limits` of a token shows them. */
export const PROJECT_LIMITS = {
  'components.jobsParallelism': 'jobs at once',
  'storage.maxBytes': 'bytes in tables and files',
  'storage.maxFiles': 'files',
  'storage.maxWorkspaces': 'SQL workspaces at once',
  'storage.maxRowsPerDay': 'rows loaded in a day (UTC)',
} as const

export type ProjectLimit = keyof typeof PROJECT_LIMITS
export type ProjectLimits = Readonly<Partial<Record<ProjectLimit, number>>>
