// Prometheus numbers: requests by operation, the process itself, and what the modules report on every scrape.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Workload } from '../../../model/workload.ts'

/** Read at every scrape. A source that fails has no numbers then; the others do. */
export interface MetricSources {
  readonly version: string
  /** By queue. */
  readonly workloads: Readonly<Record<string, () => Promise<Workload>>>
  /** Component jobs that this node found without a living worker, by what became of them. */
  readonly lostJobs: () => Readonly<Record<string, number>>
  readonly scheduleLagMs: () => Promise<number>
  readonly isObjectStoreUp: () => Promise<boolean>
  /** Nodes with a recent heartbeat, by role and state. */
  readonly nodes: () => Promise<readonly { readonly role: string; readonly state: string; readonly count: number }[]>
  /** Of this node to PostgreSQL, by state; none on SQLite. */
  readonly databaseConnections: () => Readonly<Record<string, number>>
  /** How far the clock of this node is ahead of the database's. */
  readonly clockDifferenceMs: () => number
  readonly areSchedulesPaused: boolean
  /** When the newest good backup ended; undefined when none ever did. */
  readonly lastBackupAt: () => Promise<number | undefined>
  readonly disk: () => Promise<{ readonly freeBytes: number; readonly totalBytes: number }>
  /** Bytes by what they belong to; reads every record, hence read once a minute at most. */
  readonly storageBytes: Readonly<Record<string, () => Promise<number>>>
  /** What each project has used so far. */
  readonly usage: () => Promise<readonly ProjectUsage[]>
  /** By lane. */
  readonly tableWork: () => Readonly<Record<string, { readonly waiting: number; readonly running: number }>>
}

interface ProjectUsage {
  readonly projectId: number
  readonly job_ms: number
  readonly sql_ms: number
  readonly rows_in: number
  readonly bytes_in: number
  readonly byte_seconds: number
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number]
type Read = () => Promise<readonly Sample[]>

const SLOW_EVERY_MS = 60_000

export function createMetrics(sources: MetricSources) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'millrace_request_duration_seconds',
    help: 'Finished requests by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  })
  const delays = new Histogram({
    name: 'millrace_event_loop_delay_seconds',
    help: 'How late the event loop of this node was, looked at twenty times a second.',
    buckets: [0.01, 0.05, 0.1, 0.2, 0.5, 1, 5],
    registers: [registry],
  })
  const longest = new Gauge({
    name: 'millrace_event_loop_delay_max_seconds',
    help: 'The longest delay of the event loop of this node since it was started.',
    registers: [registry],
  })
  let longestMs = 0
  const gauge = (name: string, help: string, labelNames: readonly string[], read: Read) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const samples = await read().catch(() => [])
        if (labelNames.length > 0) this.reset()
        else this.remove() // without labels, reset would mean 0
        for (const [labels, value] of samples) this.set(labels, value)
      },
    })
  const workloads = Object.entries(sources.workloads)
  const ofQueues = async (samples: (queue: string, load: Workload) => readonly Sample[]): Promise<readonly Sample[]> =>
    (await Promise.all(workloads.map(async ([queue, read]) => samples(queue, await read())))).flat()

  gauge('millrace_info', 'The version that runs.', ['version'], async () => [[{ version: sources.version }, 1]])
  gauge('millrace_queue_depth', 'Jobs that wait or run, by queue and status.', ['queue', 'status'], () =>
    ofQueues((queue, { open }) => Object.entries(open).map(([status, jobs]) => [{ queue, status }, jobs])),
  )
  gauge('millrace_oldest_waiting_job_seconds', 'How long the oldest job waits that could start, by queue.', ['queue'], () =>
    ofQueues((queue, { oldestWaitingMs }) => [[{ queue }, oldestWaitingMs / 1000]]),
  )
  new Counter({
    name: 'millrace_jobs_ended_total',
    help: 'Jobs that have ended, by queue and outcome, of all nodes.',
    labelNames: ['queue', 'outcome'],
    registers: [registry],
    async collect() {
      const samples = await ofQueues((queue, { ended }) =>
        Object.entries(ended).map(([outcome, jobs]) => [{ queue, outcome }, jobs]),
      ).catch(() => [])
      this.reset()
      for (const [labels, value] of samples) this.inc(labels, value)
    },
  })
  new Counter({
    name: 'millrace_leases_lost_total',
    help: 'Component jobs whose lease had run out, as this node found them, by what became of them.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [outcome, jobs] of Object.entries(sources.lostJobs())) this.inc({ outcome }, jobs)
    },
  })
  gauge('millrace_schedule_lag_seconds', 'How late the schedule is that has been due the longest.', [], async () => [
    [{}, (await sources.scheduleLagMs()) / 1000],
  ])
  gauge(
    'millrace_clock_difference_seconds',
    'How far the clock of this node is ahead of the clock of the database.',
    [],
    async () => [[{}, sources.clockDifferenceMs() / 1000]],
  )
  gauge('millrace_object_store_up', '1 when the object store answers this node, otherwise 0.', [], async () => [
    [{}, Number(await sources.isObjectStoreUp())],
  ])
  gauge('millrace_nodes', 'Nodes of the stack, by role and state.', ['role', 'state'], async () =>
    (await sources.nodes()).map(({ role, state, count }): Sample => [{ role, state }, count]),
  )
  gauge(
    'millrace_database_connections',
    'Connections of this node to PostgreSQL, and work that waits for one.',
    ['state'],
    async () => Object.entries(sources.databaseConnections()).map(([state, count]): Sample => [{ state }, count]),
  )
  gauge('millrace_schedules_paused', '1 when no schedule fires because the stack is a restored copy.', [], async () => [
    [{}, Number(sources.areSchedulesPaused)],
  ])
  gauge(
    'millrace_backup_last_success_timestamp_seconds',
    'When the newest successful backup finished; 0 without any.',
    [],
    async () => [[{}, ((await sources.lastBackupAt()) ?? 0) / 1000]],
  )
  gauge('millrace_disk_free_bytes', 'Free bytes of the disk with the data folder.', [], async () => [
    [{}, (await sources.disk()).freeBytes],
  ])
  gauge('millrace_disk_size_bytes', 'Size of the disk with the data folder.', [], async () => [
    [{}, (await sources.disk()).totalBytes],
  ])
  gauge(
    'millrace_storage_bytes',
    'Bytes of all projects, by kind.',
    ['kind'],
    rarely(async () =>
      Promise.all(Object.entries(sources.storageBytes).map(async ([kind, read]) => [{ kind }, await read()] as const)),
    ),
  )
  gauge('millrace_table_work', 'Work on tables in this node, by lane and state.', ['lane', 'state'], async () =>
    Object.entries(sources.tableWork()).flatMap(([lane, { waiting, running }]): Sample[] => [
      [{ lane, state: 'waiting' }, waiting],
      [{ lane, state: 'running' }, running],
    ]),
  )

  const ofProjects = rarely(sources.usage)
  const usageGauge = (name: string, help: string, value: (usage: ProjectUsage) => number) =>
    gauge(name, help, ['project'], async () =>
      (await ofProjects()).map((usage) => [{ project: String(usage.projectId) }, value(usage)]),
    )
  usageGauge('millrace_project_job_seconds', 'Seconds of jobs of a project so far.', ({ job_ms }) => job_ms / 1000)
  usageGauge('millrace_project_sql_seconds', 'Seconds of SQL of a project so far.', ({ sql_ms }) => sql_ms / 1000)
  usageGauge('millrace_project_rows_loaded', 'Rows loaded into tables of a project so far.', ({ rows_in }) => rows_in)
  usageGauge('millrace_project_bytes_loaded', 'Bytes loaded into tables of a project so far.', ({ bytes_in }) => bytes_in)
  usageGauge(
    'millrace_project_storage_byte_hours',
    'Bytes of a project times the hours they were stored, so far.',
    ({ byte_seconds }) => byte_seconds / 3600,
  )

  // The label lookup of prom-client, once for each pair instead of for each request.
  const kept = new Map<string, { observe(seconds: number): void }>()
  return {
    requestFinished({ operation, status, durationMs }: { operation: string; status: number; durationMs: number }): void {
      const key = `${operation} ${status}`
      const histogram = kept.get(key) ?? requests.labels(operation, String(status))
      kept.set(key, histogram)
      histogram.observe(durationMs / 1000)
    },
    eventLoopDelayed(delayMs: number): void {
      delays.observe(delayMs / 1000)
      if (delayMs <= longestMs) return
      longestMs = delayMs
      longest.set(delayMs / 1000)
    },
    read: shared(async () => ({ contentType: registry.contentType, text: await registry.metrics() })),
  }
}

/** All callers during a read share its result. */
function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  return () => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
}

/** The result is cached for a while; a failure is not. */
function rarely<T>(read: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  let askedAt = 0
  return () => {
    const now = performance.now()
    if (answer && now - askedAt < SLOW_EVERY_MS) return answer
    askedAt = now
    answer = read().catch((error: unknown) => {
      answer = undefined
      throw error
    })
    return answer
  }
}
