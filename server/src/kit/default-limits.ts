// The one place of every default that an environment variable has (start/config.ts) and that engines and modules use without one:
// tests and the command line create them without reading the environment.

const HOUR_MS = 3_600_000

export const DEFAULT_LIMITS = {
  databaseConnections: 10,
  worker: {
    jobs: 10,
    projectJobs: 10,
    attempts: 2,
    storeWaitMs: 300_000,
    actions: 20,
    projectActions: 5,
    diskBytes: 10e9,
    results: 10_000,
    spares: 4,
    checkpointHours: 24,
    checkpointBytes: 10e9,
    path: '/usr/local/bin:/usr/bin:/bin',
    uid: 65_534,
  },
  tables: {
    warmWorkers: 1,
    workerMemoryMb: 1536,
    maxRowBytes: 32 << 20,
    maxInflatedBytes: 2 ** 40,
    maxInflateRatio: 500,
    retentionDays: 7,
  },
  sql: { sessions: 4, memoryMb: 1536, diskMb: 8192, temporaryMb: 4096, timeoutMs: 300_000 },
  workspaces: { workspaceMb: 10_240, workspaceDays: 30, workspacesPerProject: 200, workspacesPerToken: 20 },
  apps: { max: 20, startMs: 60_000 },
  sessions: { idleMs: 24 * HOUR_MS, maxMs: 14 * 24 * HOUR_MS },
  agentCallsPerDay: 10_000,
} as const
