// What a run did with tables and files (spec storage 2.10), counted from its storage jobs and files.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { StorageJob } from '../../../model/storage-job.ts'
import type { StorageJobs } from './storage-jobs.ts'

export interface RunStatsDeps {
  readonly jobs: StorageJobs
  readonly filesOfRun: (
    actor: Actor,
    runId: string,
  ) => Promise<readonly { readonly sizeBytes?: number | undefined; readonly tags: readonly string[] }[]>
}

const SHOWN = 100

export function runStatsRoutes({ jobs, filesOfRun }: RunStatsDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/stats',
      {
        config: { operation: 'stats.get', summary: 'Statistics of the tables and files of a run', needs: 'token' },
        schema: {
          querystring: Type.Object({
            runId: Type.Optional(Type.String({ maxLength: 255, description: 'Id of the run.' })),
          }),
          response: { 200: Type.Object({ tables: Type.Unknown(), files: Type.Unknown() }) },
        },
      },
      async (req) => {
        const { runId } = req.query
        if (!runId) {
          const reason = 'This field is missing.'
          throw new PlatformError(
            'storage.validation',
            { field: 'runId', reason },
            { errors: [{ key: 'runId', message: reason }] },
          )
        }
        const [imports, exports, files] = await Promise.all([
          jobs.listOfRun(req.actor, runId, ['tableImport', 'tableCreate']),
          jobs.listOfRun(req.actor, runId, ['tableExport', 'workspaceLoad', 'workspaceLoadClone']),
          filesOfRun(req.actor, runId),
        ])
        const sizes = files.map((file) => file.sizeBytes ?? 0)
        return {
          tables: { import: tablesOf(imports), export: tablesOf(exports) },
          files: {
            total: { count: files.length, dataSizeBytes: spread(sizes) },
            tags: firstOf(
              'tags',
              counted(files.flatMap((file) => file.tags)).map(([tag, count]) => ({ tag, count })),
            ),
          },
        }
      },
    )
  }
}

function tablesOf(jobs: readonly StorageJob[]) {
  const reads = jobs.flatMap((job) => tablesOfJob(job).map((tableId) => ({ tableId, job })))
  const byTable = Map.groupBy(reads, ({ tableId }) => tableId)
  const tables = [...byTable].map(([id, group]) => ({
    id,
    count: group.length,
    durationTotalSeconds: Math.round(group.reduce((sum, { job }) => sum + durationMs(job), 0) / 1000),
  }))
  return { ...firstOf('tables', tables), totalCount: reads.length }
}

/** A load of a workspace reads each of its tables (corrections-2, W12). */
const tablesOfJob = ({ operationName, tableId, results }: StorageJob): readonly string[] =>
  operationName.startsWith('workspaceLoad')
    ? ((results as LoadResults | null)?.tables ?? []).map(({ source }) => source)
    : [tableId ?? '']

/** Of the workspaces module; none while the job runs. */
interface LoadResults {
  readonly tables?: readonly { readonly source: string }[]
}

const durationMs = (job: StorageJob): number =>
  job.startedAt && job.endedAt ? job.endedAt.getTime() - job.startedAt.getTime() : 0

/** The largest by count, and how much the others make up. */
function firstOf<T extends { readonly count: number }>(name: string, items: readonly T[]) {
  const sorted = items.toSorted((a, b) => b.count - a.count)
  return { [name]: sorted.slice(0, SHOWN), other: { count: sorted.slice(SHOWN).reduce((sum, item) => sum + item.count, 0) } }
}

const counted = (words: readonly string[]): [string, number][] =>
  [...Map.groupBy(words, (word) => word)].map(([word, group]) => [word, group.length])

const spread = (sizes: readonly number[]) => {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return {
    total,
    mean: sizes.length === 0 ? 0 : Math.round(total / sizes.length),
    max: sizes.reduce((max, size) => Math.max(max, size), 0),
    min: sizes.reduce((min, size) => Math.min(min, size), sizes[0] ?? 0),
  }
}
