// HTTP for storage jobs (spec storage 2.7). Jobs belong to the project, never to a branch.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { JobView, jobView } from '../../../http/job-view.ts'
import { numberedId, Offset } from '../../../http/parameters.ts'
import type { Clock } from '../../../kit/clock.ts'
import { defined } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { parseMoment } from '../../../kit/relative-time.ts'
import type { TimeRange } from './storage-jobs.store.ts'
import type { StorageJobs } from './storage-jobs.ts'

const STATUSES = ['waiting', 'processing', 'success', 'error']
const moment = (which: string) =>
  Type.Optional(
    Type.String({ maxLength: 100, description: `Only jobs ${which} this time: ISO 8601, or words such as \`-2 days\`.` }),
  )
const statuses = (description: string) => Type.Optional(Type.Union([Type.Array(Type.String()), Type.String()], { description }))
const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ description: 'Maximum number of items; 20 by default.' })),
  offset: Offset,
  runId: Type.Optional(Type.String({ maxLength: 255, description: 'Only jobs of this run.' })),
  storage_job_status: statuses('Only jobs with one of these statuses: waiting, processing, success, error.'),
  excluded_storage_job_status: statuses('Only jobs without these statuses.'),
  created_time: moment('created at'),
  created_time_from: moment('created at or after'),
  created_time_to: moment('created at or before'),
  start_time: moment('started at'),
  start_time_from: moment('started at or after'),
  start_time_to: moment('started at or before'),
  end_time: moment('ended at'),
  end_time_from: moment('ended at or after'),
  end_time_to: moment('ended at or before'),
})

export function storageJobsRoutes(jobs: StorageJobs, clock: Clock): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/jobs',
      {
        config: { operation: 'storageJobs.list', summary: 'List storage jobs, newest first', needs: 'token', branch: 'refused' },
        schema: { querystring: ListQuery, response: { 200: Type.Array(JobView) } },
      },
      async (req) => {
        const { query } = req
        const range = (name: 'created_time' | 'start_time' | 'end_time'): TimeRange => ({
          ...bounds(name, query[name], clock),
          ...from(`${name}_from`, query[`${name}_from`], clock),
          ...to(`${name}_to`, query[`${name}_to`], clock),
        })
        const found = await jobs.listVisible(req.actor, {
          limit: query.limit ?? 20,
          offset: query.offset ?? 0,
          statuses: statusesFrom('storage_job_status', query.storage_job_status),
          excludedStatuses: statusesFrom('excluded_storage_job_status', query.excluded_storage_job_status),
          created: range('created_time'),
          started: range('start_time'),
          ended: range('end_time'),
          ...defined({ runId: query.runId }),
        })
        return found.map((job) => jobView(job, req.baseUrl))
      },
    )

    app.get(
      '/v2/storage/jobs/:id',
      {
        config: { operation: 'storageJobs.get', summary: 'Storage job detail', needs: 'ownJob', branch: 'refused' },
        schema: { params: Type.Object({ id: numberedId('storage job') }), response: { 200: JobView } },
      },
      async (req) => {
        const id = idFrom(req.params.id, () => new PlatformError('storage.jobs.notFound', { id: req.params.id.slice(0, 40) }))
        return jobView(await jobs.getVisible(req.actor, id), req.baseUrl)
      },
    )
  }
}

function statusesFrom(field: string, value: string | readonly string[] | undefined): readonly string[] {
  const statuses = value === undefined || value === '' ? [] : typeof value === 'string' ? value.split(',') : value
  const wrong = statuses.find((status) => !STATUSES.includes(status))
  if (wrong === undefined) return statuses
  const reason = `"${wrong.slice(0, 40)}" is not a status. Statuses: ${STATUSES.join(', ')}.`
  throw new PlatformError('storage.validation', { field, reason }, { errors: [{ key: field, message: reason }] })
}

function momentFrom(field: string, text: string, clock: Clock): number {
  const moment = parseMoment(text, clock.now())
  if (moment) return moment.getTime()
  const reason = `"${text.slice(0, 60)}" is not a time. Use unix seconds, an ISO date or a phrase such as "-2 days".`
  throw new PlatformError('storage.validation', { field, reason }, { errors: [{ key: field, message: reason }] })
}

/** Records show whole seconds, so an exact time means that second. */
function bounds(field: string, text: string | undefined, clock: Clock): TimeRange {
  if (text === undefined || text === '') return {}
  const second = Math.floor(momentFrom(field, text, clock) / 1000) * 1000
  return { from: second, to: second + 999 }
}

const from = (field: string, text: string | undefined, clock: Clock): TimeRange =>
  text === undefined || text === '' ? {} : { from: momentFrom(field, text, clock) }

const to = (field: string, text: string | undefined, clock: Clock): TimeRange =>
  text === undefined || text === '' ? {} : { to: momentFrom(field, text, clock) + 999 }
