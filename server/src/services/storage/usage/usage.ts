// What projects use, counted in the transaction of the work itself (SQL queries: every few seconds), and the limits that refuse more of it (spec platform 6.6).

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { type EventSource, eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { JobEndFacts } from '../../../model/job-end.ts'
import { PROJECT_LIMITS, type ProjectLimit, type ProjectLimits } from '../../../model/project-limits.ts'
import type { LoadUsage, UsagePort } from '../../../model/usage-port.ts'
import { createUsageStore, type UsageOwner, type UsageQuery } from './usage.store.ts'
import { type UsageGroup, type UsageLine, usageLines } from './usage-lines.ts'

export interface UsageDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  /** What is stored, as the transaction `at` sees it: a job publishes several tables and files in one. */
  readonly storedBy: (projectId: number, at: Db) => Promise<{ readonly bytes: number; readonly files: number }>
  readonly listProjectIds: () => Promise<readonly number[]>
  readonly findJob: (
    projectId: number,
    id: number,
    at: Db,
  ) => Promise<{ readonly component_id: string; readonly configuration_id: string | null } | undefined>
}

/** One credit is an hour of a job; there is no billing, so there are always enough. */
const ENDLESS_CREDITS = 1_000_000
/** A stack that was off for long stored the data all the same, but the amount is unknown. */
const LONGEST_GAP_MS = 2 * 3_600_000

export type Usage = ReturnType<typeof createUsage>

export function createUsage({ db, inTransaction, clock, recordEvent, storedBy, listProjectIds, findJob }: UsageDeps) {
  const store = createUsageStore(db)
  const today = (): string => dayOf(clock.now())

  /** Clients choose the run ids of their own calls; one that ends with the id of a job is that of the job. */
  async function ownerOf(trx: Trx, projectId: number, runId: string | null): Promise<UsageOwner> {
    const jobId = Number(/(?:^|\.)(\d{1,15})$/.exec(runId ?? '')?.[1])
    const job = jobId ? await findJob(projectId, jobId, trx) : undefined
    return job
      ? { projectId, componentId: job.component_id, configurationId: job.configuration_id ?? '' }
      : { projectId, ...WITHOUT_JOB }
  }

  async function loaded(trx: Trx, { projectId, runId, rows, bytes, grownBytes }: LoadUsage): Promise<void> {
    await store.add(trx, await ownerOf(trx, projectId, runId), today(), { rows_in: rows, bytes_in: bytes })
    const limits = await store.limits(trx, projectId)
    if (limits.has('storage.maxRowsPerDay'))
      refuseAbove(limits, 'storage.maxRowsPerDay', await store.rowsOfDay(trx, projectId, today()))
    if (limits.has('storage.maxBytes') && grownBytes > 0)
      refuseAbove(limits, 'storage.maxBytes', (await storedBy(projectId, trx)).bytes)
  }

  async function fileAdded(trx: Trx, projectId: number, bytes: number): Promise<void> {
    const limits = await store.limits(trx, projectId)
    if (!limits.has('storage.maxFiles') && !limits.has('storage.maxBytes')) return
    const stored = await storedBy(projectId, trx)
    refuseAbove(limits, 'storage.maxFiles', stored.files + 1)
    refuseAbove(limits, 'storage.maxBytes', stored.bytes + bytes)
  }

  const port: UsagePort = {
    loaded,
    fileAdded,
    exported: async (trx, projectId, runId, bytes) =>
      store.add(trx, await ownerOf(trx, projectId, runId), today(), { bytes_out: bytes }),
  }

  /** Containers only wait for their jobs, and those are counted. */
  async function jobEnded(trx: Trx, job: JobEndFacts): Promise<void> {
    if (job.type !== 'standard') return
    await store.add(
      trx,
      { projectId: job.projectId, componentId: job.componentId, configurationId: job.configurationId ?? '' },
      dayOf(new Date(job.endedAt)),
      {
        jobs: 1,
        failed_jobs: job.status === 'success' || job.status === 'warning' ? 0 : 1,
        job_ms: job.startedAt === null ? 0 : Math.max(0, job.endedAt - job.startedAt),
        bytes_out: job.inputBytes,
      },
    )
  }

  /** Queries that have ended and are not stored yet, summed by project, run and day: a commit for each would cost more than most of them. */
  let ended = new Map<string, EndedQueries>()

  /** A query that has ended, whatever its end. Counted in memory until `storeQueries`; a crash loses the time of the last seconds. */
  function queryEnded(projectId: number, runId: string | null, ms: number): void {
    const day = today()
    const key = `${projectId} ${day} ${runId ?? ''}`
    ended.set(key, { projectId, runId, day, ms: ms + (ended.get(key)?.ms ?? 0) })
  }

  async function storeQueries(): Promise<void> {
    if (ended.size === 0) return
    const stored = ended
    ended = new Map()
    try {
      await inTransaction(async (trx) => {
        for (const { projectId, runId, day, ms } of stored.values())
          await store.add(trx, await ownerOf(trx, projectId, runId), day, { sql_ms: ms })
      })
    } catch (error) {
      for (const [key, { ms, ...query }] of stored) ended.set(key, { ...query, ms: ms + (ended.get(key)?.ms ?? 0) })
      throw error
    }
  }

  /** Adds what every project has stored since the last time; called every few minutes. */
  async function measureStorage(): Promise<void> {
    for (const projectId of await listProjectIds()) {
      const { bytes } = await storedBy(projectId, db)
      const now = clock.now()
      await inTransaction(async (trx) => {
        const before = await store.takeMeasured(trx, projectId, now.getTime())
        const ms = before === undefined ? 0 : Math.min(Math.max(0, now.getTime() - before), LONGEST_GAP_MS)
        if (bytes > 0 && ms > 0)
          await store.add(trx, { projectId, ...WITHOUT_JOB }, dayOf(now), { byte_seconds: (bytes / 1000) * ms })
      })
    }
  }

  async function list(actor: Actor, query: UsageQuery, groups: readonly UsageGroup[]): Promise<readonly UsageLine[]> {
    await storeQueries()
    return usageLines(await store.list(actor.projectId, query), groups)
  }

  /** Of the present month. */
  async function credits(actor: Actor) {
    const now = today()
    const [sum] = usageLines(await store.list(actor.projectId, { from: `${now.slice(0, 7)}-01`, to: now }), [])
    const consumed = (sum?.jobSeconds ?? 0) / 3600
    return {
      remaining: ENDLESS_CREDITS - consumed,
      consumed,
      purchased: ENDLESS_CREDITS,
      stats: { workspaceJobs: [], month: sum ?? null },
    }
  }

  async function limitsOf(projectId: number): Promise<ProjectLimits> {
    return Object.fromEntries(await store.limits(db, projectId))
  }

  /** Undefined takes a limit away. All of them, or none when one of them is not known. */
  async function changeLimits(
    projectId: number,
    limits: Readonly<Record<string, number | undefined>>,
    { source, origin }: { readonly source: EventSource; readonly origin: Origin },
  ): Promise<void> {
    const changes = Object.entries(limits).map(([name, value]) => ({ name: knownLimit(name), value }))
    await inTransaction(async (trx) => {
      for (const { name, value } of changes) {
        await store.setLimit(trx, projectId, name, value)
        const event = eventOf('storage.projectLimitChanged', { name, value: value ?? null }, { objectId: String(projectId) })
        await recordEvent(trx, source, event, origin)
      }
    })
  }

  return {
    port,
    jobEnded,
    queryEnded,
    storeQueries,
    measureStorage,
    list,
    credits,
    limitsOf,
    changeLimits,
    /** For the queue: jobs at once of the projects that have a limit of their own. */
    jobLimits: (trx: Trx) => store.limitsNamed(trx, 'components.jobsParallelism'),
    totals: store.totals,
  }
}

interface EndedQueries {
  readonly projectId: number
  readonly runId: string | null
  readonly day: string
  readonly ms: number
}

const WITHOUT_JOB = { componentId: '', configurationId: '' }

const dayOf = (date: Date): string => date.toISOString().slice(0, 10)

function refuseAbove(limits: ReadonlyMap<string, number>, name: ProjectLimit, used: number): void {
  const limit = limits.get(name)
  if (limit !== undefined && used > limit)
    throw new PlatformError('usage.limitReached', { what: PROJECT_LIMITS[name], limit, used, name })
}

function knownLimit(name: string): ProjectLimit {
  if (Object.hasOwn(PROJECT_LIMITS, name)) return name as ProjectLimit // it is a key of the list
  throw new PlatformError('usage.unknownLimit', { name: name.slice(0, 80), known: Object.keys(PROJECT_LIMITS).join(', ') })
}
