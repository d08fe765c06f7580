// Tools that run configurations and explain how jobs ended.

import { setTimeout as delay } from 'node:timers/promises'
import { Type } from 'typebox'
import { path } from '../../../../http/inner/inner-api.ts'
import { type JsonDifference, jsonDifferences } from '../../../../kit/text/json-differences.ts'
import type { Api } from '../api.ts'
import {
  Anything,
  asData,
  ComponentId,
  ConfigurationId,
  Data,
  defineTool,
  Items,
  Next,
  offsetOf,
  optionalText,
  type Tool,
} from '../tool.ts'

const PAGE = 50
const MAX_WAIT_SECONDS = 25
const POLL_MS = 500
const MAX_DIFFERENCES = 20

export interface Job {
  readonly id: string
  readonly status: string
  readonly component: string
  readonly config: string | null
  readonly createdTime: string
  readonly startTime: string | null
  readonly endTime: string | null
  readonly durationSeconds: number
  readonly isFinished: boolean
  readonly configVersion: string | null
  readonly cause: { readonly kind: string; readonly subject: string | null } | null
  readonly progress: unknown
  readonly branchId: string
  readonly result: {
    readonly message?: string
    readonly error?: { readonly cause?: Readonly<Record<string, unknown>> }
    readonly output?: { readonly tables?: readonly { readonly id: string }[] }
  }
  readonly error?: { readonly message: string }
}

interface LogLine {
  readonly created: string
  readonly type: string
  readonly message: string
}

const JobId = Type.String()
const JobOutput = { job: Anything, data: Data }

export const runTools: readonly Tool[] = [
  defineTool('run', 'list_jobs', {
    description: 'Jobs, the newest first.',
    input: {
      component: Type.Optional(ComponentId),
      configuration: Type.Optional(ConfigurationId),
      status: optionalText('waiting, processing, success, error, terminated, warning or cancelled.'),
      next: Next,
    },
    output: { items: Items },
    kind: 'reads',
    run: async ({ component, configuration, status, next }, api) => {
      const offset = offsetOf(next)
      const jobs = await api.get<readonly Job[]>('/queue/search/jobs', {
        ...{ component, config: configuration, status, branchId: api.branch, limit: PAGE, offset },
        ...{ sortBy: 'createdTime', sortOrder: 'desc' },
      })
      const hasMore = jobs.length === PAGE
      return { items: jobs.map(jobView), offset, total: hasMore ? null : offset + jobs.length, hasMore }
    },
  }),

  defineTool('run', 'get_job', {
    description: 'State of a job; waits up to `waitSeconds` for its end.',
    input: {
      job: JobId,
      waitSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_WAIT_SECONDS, description: '0 by default.' })),
    },
    output: JobOutput,
    kind: 'reads',
    run: async ({ job: id, waitSeconds = 0 }, api) => described(await followed(api, id, waitSeconds)),
  }),

  defineTool('run', 'explain_job', {
    description: 'Why a job failed: cause, advice, the request or place, what changed since the last good run, end of the log.',
    input: { job: JobId },
    output: { ...JobOutput, cause: Type.Optional(Data), sinceLastGoodRun: Type.Optional(Type.Unknown()) },
    kind: 'reads',
    run: async ({ job: id }, api) => {
      const job = await api.get<Job>(path`/queue/jobs/${id}`)
      const log = await api.find<readonly LogLine[]>(path`/queue/jobs/${id}/events`, { limit: 200 })
      const { since, ...cause } = job.result.error?.cause ?? {}
      const shown = described(job)
      const lines = (log ?? []).slice(-15).map(({ created, type, message }) => `${created} ${type}: ${message.slice(0, 300)}`)
      return {
        job: shown.job,
        ...(Object.keys(cause).length > 0 && { cause: asData(cause) }),
        ...(isSince(since) && { sinceLastGoodRun: { ...since, differences: await changesSince(api, job, since) } }),
        data: { ...shown.data, log: lines },
      }
    },
  }),

  defineTool('run', 'run_configuration', {
    description: 'Start a job of a configuration, flow or transformation. Follow it with get_job.',
    input: {
      component: ComponentId,
      configuration: ConfigurationId,
      rows: Type.Optional(Type.Array(Type.String(), { description: 'Row ids; all by default.' })),
      waitSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_WAIT_SECONDS, description: '0 by default.' })),
    },
    output: JobOutput,
    needsDirect: true,
    startsJob: true,
    kind: 'writes',
    isOpenWorld: true,
    run: async ({ component, configuration, rows, waitSeconds = 0 }, api) => {
      const job = await api.send<Job>('POST', '/queue/jobs', {
        ...{ component, config: configuration, mode: 'run' },
        ...(rows !== undefined && { configRowIds: rows }),
        ...(api.branch !== undefined && { branchId: api.branch }),
      })
      return described(await followed(api, job.id, waitSeconds))
    },
  }),

  defineTool('run', 'control_job', {
    description: 'Cancel a waiting or running job, or run a finished one again with the configuration as it is now.',
    input: { job: JobId, action: Type.Enum(['cancel', 'rerun']) },
    output: JobOutput,
    needsDirect: true,
    startsJob: true,
    kind: 'destroys',
    isOpenWorld: true,
    run: async ({ job: id, action }, api) => {
      if (action === 'rerun') return described(await api.send<Job>('POST', path`/queue/jobs/${id}/rerun`, {}))
      await api.send('POST', path`/queue/jobs/${id}/kill`, {})
      return described(await api.get<Job>(path`/queue/jobs/${id}`))
    },
  }),
]

async function followed(api: Api, id: string, waitSeconds: number): Promise<Job> {
  for (let left = (waitSeconds * 1000) / POLL_MS; ; left--) {
    const job = await api.get<Job>(path`/queue/jobs/${id}`)
    if (job.isFinished || left <= 0) return job
    await delay(POLL_MS)
  }
}

interface SinceLastGood {
  readonly configVersion: string
  readonly isConfigurationChanged: boolean
  readonly rowsChanged: readonly string[]
}

/** Null for a configuration that has not run well yet. */
const isSince = (since: unknown): since is SinceLastGood => typeof since === 'object' && since !== null

interface Version {
  readonly configuration: unknown
  readonly rows?: readonly { readonly id: string; readonly isDisabled: boolean; readonly configuration: unknown }[]
}

/** Values that differ between the version of the last good run and that of the failed one, without secrets. */
async function changesSince(
  api: Api,
  { component, config, configVersion, branchId }: Job,
  { configVersion: good, isConfigurationChanged, rowsChanged }: SinceLastGood,
): Promise<readonly JsonDifference[]> {
  if (config === null || configVersion === null || (!isConfigurationChanged && rowsChanged.length === 0)) return []
  const branch = api.branch === undefined ? path`/branch/${branchId}` : '' // elsewhere the branch of the connection is added
  const versionOf = async (version: string) => {
    const found = await api.find<Version>(
      `/v2/storage${branch}${path`/components/${component}/configs/${config}/versions/${version}`}`,
    )
    if (!found) return undefined
    const { configuration, rows = [] } = found
    return {
      configuration,
      rows: Object.fromEntries(rows.map((row) => [row.id, { isDisabled: row.isDisabled, configuration: row.configuration }])),
    }
  }
  const [before, after] = [await versionOf(good), await versionOf(configVersion)]
  return before && after ? jsonDifferences(before, after, MAX_DIFFERENCES) : []
}

const jobView = ({ id, status, component, config, createdTime, durationSeconds, cause }: Job) => ({
  ...{ id, status, component, configuration: config, created: createdTime, durationSeconds },
  ...(cause && { cause: cause.kind }),
})

export const described = (job: Job) => ({
  job: {
    ...jobView(job),
    ...{ started: job.startTime, ended: job.endTime, isFinished: job.isFinished, configurationVersion: job.configVersion },
    ...{ branch: job.branchId, progress: job.progress, tables: job.result.output?.tables?.map(({ id }) => id) },
  },
  data: asData({ message: job.error?.message ?? job.result.message ?? null }),
})
