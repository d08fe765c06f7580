// HTTP for schedules (spec platform 3); `next` and `preview` are ours.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DryRun, DryRunView } from '../../../http/dry-run.ts'
import { idFrom } from '../../../http/ids.ts'
import { numberedId, OptionalPage, paged } from '../../../http/parameters.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { createScheduleDryRun } from './dry-run.ts'
import type { PlannedRun } from './planned-runs.ts'
import { MAX_UPCOMING, type Scheduler, type ScheduleWithExecutions } from './scheduler.ts'

const ScheduleView = Type.Object(
  {
    id: Type.String(),
    tokenId: Type.String(),
    configurationId: Type.String(),
    configurationVersionId: Type.String(),
    schedule: Type.Object({ cronTab: Type.String(), timezone: Type.String(), state: Type.String() }),
    target: Type.Object({
      componentId: Type.String(),
      configurationId: Type.String(),
      configurationRowIds: Type.Array(Type.String()),
      mode: Type.String(),
      tag: Type.String(),
    }),
    executions: Type.Array(
      Type.Object({
        jobId: Type.Union([Type.String(), Type.Null()]),
        executionTime: Type.String(),
        dueTime: Type.String(),
        status: Type.String({ description: 'started, skipped or failed' }),
        reason: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
    nextExecutionTime: Type.Union([Type.String(), Type.Null()]),
    stoppedReason: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'Schedule' },
)

const PlannedRunView = Type.Object({
  executionTime: Type.String(),
  dst: Type.Union([Type.String(), Type.Null()], { description: 'Effect of daylight saving time on this run, if any.' }),
})

const ById = Type.Object({ id: numberedId('schedule') })
const ListQuery = Type.Object({
  componentId: Type.Optional(Type.String({ description: 'Component of the target.' })),
  configurationId: Type.Optional(Type.String({ description: 'Configuration of the target.' })),
  configurationIds: Type.Optional(
    Type.Array(Type.String(), { maxItems: 100, description: 'Only schedules of these configurations.' }),
  ),
  sort: Type.Optional(
    Type.Literal('next', { description: 'Only schedules that will run, the soonest first. By default all, by id.' }),
  ),
  ...OptionalPage,
})
const TotalsView = Type.Object({ schedules: Type.Integer(), stopped: Type.Integer() })
const Count = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_UPCOMING, description: 'Number of runs; 10 by default.' }))

export function schedulerRoutes(
  scheduler: Scheduler,
  dryRun: ReturnType<typeof createScheduleDryRun>,
): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/scheduler/schedules',
      {
        config: {
          operation: 'scheduler.activate',
          summary: 'Activate a schedule configuration (master token)',
          needs: 'master',
          refusal: 'scheduler.masterTokenNeeded',
          branch: 'refused',
        },
        schema: {
          body: Type.Object({
            configurationId: Type.String({
              minLength: 1,
              maxLength: 255,
              description: 'Configuration of the scheduler component with the schedule.',
            }),
            configurationVersionId: Type.Optional(
              Type.String({ description: 'The version to activate; the current one by default.' }),
            ),
          }),
          querystring: Type.Object({ dryRun: DryRun }),
          response: { 200: DryRunView, 201: ScheduleView },
        },
      },
      async (req, reply) => {
        const { configurationId, configurationVersionId } = req.body
        const wanted = { configurationId, ...(configurationVersionId && { version: configurationVersionId }) }
        if (req.query.dryRun) return reply.code(200).send(await dryRun(req.actor, wanted, req.origin))
        return reply.code(201).send(view(await scheduler.activate(req.actor, wanted, req.origin)))
      },
    )

    app.get(
      '/scheduler/schedules',
      {
        config: { operation: 'scheduler.list', summary: 'List schedules', needs: 'component' },
        schema: {
          querystring: ListQuery,
          response: { 200: Type.Array(ScheduleView) },
        },
      },
      async (req) => (await scheduler.list(req.actor, paged(req.query))).map(view),
    )

    app.get(
      '/scheduler/totals',
      {
        config: {
          operation: 'scheduler.totals',
          summary: 'How many schedules there are, and how many stopped by themselves',
          needs: 'component',
        },
        schema: { response: { 200: TotalsView } },
      },
      (req) => scheduler.totals(req.actor),
    )

    app.get(
      '/scheduler/schedules/:id',
      {
        config: { operation: 'scheduler.get', summary: 'Schedule detail', needs: 'component' },
        schema: { params: ById, response: { 200: ScheduleView } },
      },
      async (req) => view(await scheduler.get(req.actor, scheduleId(req.params.id))),
    )

    app.delete(
      '/scheduler/schedules/:id',
      {
        config: {
          operation: 'scheduler.delete',
          summary: 'Remove a schedule (master token)',
          needs: 'master',
          refusal: 'scheduler.masterTokenNeeded',
        },
        schema: { params: ById, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await scheduler.remove(req.actor, scheduleId(req.params.id), req.origin)
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/scheduler/configurations/:id',
      {
        config: {
          operation: 'scheduler.deleteByConfiguration',
          summary: 'Remove the schedule of a configuration (master token)',
          needs: 'master',
          refusal: 'scheduler.masterTokenNeeded',
        },
        schema: { params: ById, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await scheduler.removeByConfiguration(req.actor, req.params.id, req.origin)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/scheduler/schedules/:id/refreshToken',
      {
        config: {
          operation: 'scheduler.refreshToken',
          summary: 'Refresh the token of a schedule (master token)',
          needs: 'master',
          refusal: 'scheduler.masterTokenNeeded',
        },
        schema: { params: ById, response: { 200: ScheduleView } },
      },
      async (req) => view(await scheduler.refreshToken(req.actor, scheduleId(req.params.id), req.origin)),
    )

    app.get(
      '/scheduler/schedules/:id/next',
      {
        config: { operation: 'scheduler.next', summary: 'Next runs of a schedule', needs: 'component' },
        schema: { params: ById, querystring: Type.Object({ count: Count }), response: { 200: Type.Array(PlannedRunView) } },
      },
      async (req) => (await scheduler.next(req.actor, scheduleId(req.params.id), req.query.count ?? 10)).map(runView),
    )

    app.post(
      '/scheduler/preview',
      {
        config: {
          operation: 'scheduler.preview',
          summary: 'Next runs of a cron expression',
          needs: 'token',
          onlyReads: true,
        },
        schema: {
          body: Type.Object(
            {
              cronTab: Type.String({
                maxLength: 255,
                description: 'Cron expression with five fields.',
                examples: ['0 6 * * 1-5'],
              }),
              timezone: Type.Optional(Type.String({ maxLength: 255, description: 'Name of a time zone; UTC by default.' })),
              dst: Type.Optional(
                Type.Union([Type.Literal('once'), Type.Literal('skip'), Type.Literal('every')], {
                  description:
                    'Handling of runs in an hour that is skipped or repeated by daylight saving time; `once` by default.',
                }),
              ),
              count: Count,
            },
            { additionalProperties: false },
          ),
          response: { 200: Type.Array(PlannedRunView) },
        },
      },
      async ({ body }) => scheduler.preview(body.cronTab, body.timezone ?? 'UTC', body.dst, body.count).map(runView),
    )
  }
}

const view = ({ record, executions }: ScheduleWithExecutions) => ({
  id: String(record.id),
  tokenId: String(record.tokenId),
  configurationId: record.configurationId,
  configurationVersionId: String(record.configurationVersion),
  schedule: record.schedule,
  target: { ...record.target, configurationRowIds: [...record.target.configurationRowIds] },
  executions: executions.map((execution) => ({
    jobId: execution.jobId ?? null,
    executionTime: formatTimestamp(execution.executedAt),
    dueTime: formatTimestamp(execution.dueAt),
    status: execution.status,
    reason: execution.reason ?? null,
  })),
  nextExecutionTime: record.nextRunAt ? formatTimestamp(record.nextRunAt) : null,
  stoppedReason: record.stoppedReason ?? null,
})

const runView = (run: PlannedRun) => ({ executionTime: formatTimestamp(new Date(run.at)), dst: run.mark ?? null })

const scheduleId = (text: string): number =>
  idFrom(text, () => new PlatformError('scheduler.notFound', { id: text.slice(0, 40) }))
