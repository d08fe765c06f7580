// HTTP for the queue (spec platform 2.1): check the shape, call one use case, shape the answer.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { serviceUrl } from '../../../http/addresses.ts'
import { asksForEvents, beginEvents } from '../../../http/connection/event-stream.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { RoutesServer } from '../../../model/module.ts'
import { FailureGroupView } from './failures.ts'
import { followJob, type JobEventList } from './job-events.ts'
import type { JobNotifier } from './job-notifier.ts'
import { JobBody, requestAgain } from './job-request.ts'
import {
  ByComponent,
  ById,
  ByTag,
  createJobStarter,
  IDEMPOTENCY_HEADER,
  type JobRoutesDeps,
  jobId,
  ProjectStats,
  send,
} from './job-routes.ts'
import {
  CountQuery,
  FailuresQuery,
  fieldsOf,
  GroupedSearchQuery,
  LineageQuery,
  numberOf,
  SearchQuery,
  searchQuery,
} from './job-search.ts'
import { type JobField, JobView, jobView } from './job-view.ts'
import type { JobRow } from './queue.schema.ts'
import { StateOfRowView, stateView } from './state-history-view.ts'

export interface QueueRoutesDeps extends JobRoutesDeps {
  readonly events: JobEventList
  readonly notifier: JobNotifier
}

const Jobs = Type.Array(JobView)
const StatusCounts = Type.Object({ jobs: Type.Record(Type.String(), Type.Integer()) }, { title: 'JobsByStatus' })
const EventsQuery = Type.Object({
  sinceId: Type.Optional(Type.String({ maxLength: 64, description: 'Only events after this one.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: 'Maximum number of items; 1000 by default.' })),
})

interface JobCalls extends QueueRoutesDeps {
  readonly viewer: (req: FastifyRequest, fields?: readonly JobField[]) => Promise<(job: JobRow) => Record<string, unknown>>
}

export function queueRoutes(deps: QueueRoutesDeps): FastifyPluginAsyncTypebox {
  const { queue, clock, domain, projectName, notifier } = deps
  const { requestOf, idempotencyKey, runComponent } = createJobStarter(deps)

  const viewer: JobCalls['viewer'] = async (req, fields) => {
    const context = {
      projectName: await projectName(req.actor.projectId),
      queueUrl: serviceUrl('queue', req.baseUrl, domain),
      now: clock.now(),
    }
    return (job) => jobView(job, context, fields)
  }
  const calls = { ...deps, viewer }

  return async (app) => {
    app.addHook('preClose', async () => notifier.end()) // streams would keep the server from closing

    for (const path of ['/queue/:component/run', '/queue/:component/run/tag/:tag']) {
      app.post(
        path,
        {
          config: {
            operation: path.endsWith('run') ? 'queue.run' : 'queue.runTag',
            summary: 'Run a configuration of a component',
            needs: 'component',
            headers: IDEMPOTENCY_HEADER,
            validationCode: 'validation.failed',
          },
          schema: { params: path.endsWith('run') ? ByComponent : ByTag, body: JobBody, response: { 202: JobView } },
        },
        async (req, reply) => {
          const { component, tag } = req.params as Static<typeof ByTag> // of the two shapes above, the one with more
          return send(reply, 202, (await viewer(req))(await runComponent(req, req.body, { component, ...(tag && { tag }) })))
        },
      )
    }

    app.post(
      '/queue/jobs',
      {
        config: {
          operation: 'queue.create',
          summary: 'Create a job',
          needs: 'component',
          validationCode: 'validation.failed',
          headers: IDEMPOTENCY_HEADER,
        },
        schema: { body: JobBody, response: { 201: JobView } },
      },
      async (req, reply) => {
        const job = await queue.create(req.actor, requestOf(req, req.body, {}), {
          branch: req.branch,
          baseUrl: req.baseUrl,
          idempotencyKey: idempotencyKey(req),
        })
        return send(reply, 201, (await viewer(req))(job))
      },
    )

    addSearchRoutes(app, calls)
    addJobRoutes(app, calls)

    app.get(
      '/queue/stats/project',
      {
        config: { operation: 'queue.stats', summary: 'Total duration of the jobs of the project', needs: 'token' },
        schema: { response: { 200: ProjectStats } },
      },
      async (req) => queue.projectStats(req.actor),
    )

    app.get(
      '/queue/job/:id/open-api-lineage',
      {
        config: {
          operation: 'queue.lineage',
          summary: 'Tables that a job read and wrote, as OpenLineage events',
          needs: 'ownJob',
        },
        schema: { params: ById, response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) => lineageOf(await queue.get(req.actor, jobId(req.params.id)), req.baseUrl),
    )
  }
}

function addSearchRoutes(app: RoutesServer, { queue, viewer }: JobCalls): void {
  for (const path of ['/queue/jobs', '/queue/search/jobs']) {
    app.get(
      path,
      {
        config: {
          operation: path.includes('search') ? 'queue.search' : 'queue.list',
          summary: 'Find jobs, newest first',
          needs: 'token',
        },
        schema: { querystring: SearchQuery, response: { 200: Jobs } },
      },
      async (req, reply) => {
        const query = searchQuery(req.query, req.url)
        return send(reply, 200, (await queue.search(req.actor, query)).map(await viewer(req, fieldsOf(query.fields))))
      },
    )
  }

  app.get(
    '/queue/search/failures',
    {
      config: { operation: 'queue.failures', summary: 'Failed jobs grouped by cause, newest first', needs: 'token' },
      schema: { querystring: FailuresQuery, response: { 200: Type.Array(FailureGroupView) } },
    },
    async (req, reply) => {
      const { limit, ...query } = searchQuery(req.query, req.url)
      return send(reply, 200, await queue.failures(req.actor, query, numberOf('limit', limit, 100, 1, 500)))
    },
  )

  app.get(
    '/queue/search/open-lineage',
    {
      config: {
        operation: 'queue.lineageEvents',
        summary: 'OpenLineage run events of jobs, as JSON lines',
        needs: 'token',
        produces: ['application/x-ndjson'],
      },
      schema: { querystring: LineageQuery, response: { 200: Type.String() } },
    },
    async (req, reply) => {
      const jobs = await queue.search(req.actor, { sortOrder: 'asc', ...searchQuery(req.query, req.url) })
      const lines = jobs.flatMap((job) => lineageOf(job, req.baseUrl)).map((event) => `${JSON.stringify(event)}\n`)
      return reply.type('application/x-ndjson').send(lines.join(''))
    },
  )

  app.get(
    '/queue/stats/statuses',
    {
      config: { operation: 'queue.statuses', summary: 'Number of jobs by status', needs: 'token' },
      schema: { querystring: CountQuery, response: { 200: StatusCounts } },
    },
    async (req) => ({ jobs: await queue.counts(req.actor, searchQuery(req.query, req.url)) }),
  )

  app.get(
    '/queue/search/grouped-jobs',
    {
      config: { operation: 'queue.searchGrouped', summary: 'The newest jobs of each group', needs: 'token' },
      schema: {
        querystring: GroupedSearchQuery,
        response: { 200: Type.Array(Type.Object({ group: Type.Record(Type.String(), Type.String()), jobs: Jobs })) },
      },
    },
    async (req, reply) => {
      const { groupBy, jobsPerGroup, limit, ...query } = searchQuery(req.query, req.url)
      const names = Array.isArray(groupBy)
        ? groupBy.map(String)
        : groupBy === undefined
          ? ['componentId', 'configId']
          : [String(groupBy)]
      const groups = await queue.searchGrouped(
        req.actor,
        query,
        names,
        numberOf('jobsPerGroup', jobsPerGroup, 10, 1, 500),
        numberOf('limit', limit, 100, 1, 500),
      )
      const view = await viewer(req)
      return send(
        reply,
        200,
        groups.map(({ group, jobs }) => ({ group, jobs: jobs.map(view) })),
      )
    },
  )
}

function addJobRoutes(app: RoutesServer, { queue, events, notifier, viewer }: JobCalls): void {
  app.get(
    '/queue/jobs/:id',
    {
      config: { operation: 'queue.get', summary: 'Job detail', needs: 'ownJob' },
      schema: { params: ById, response: { 200: JobView } },
    },
    async (req, reply) => send(reply, 200, (await viewer(req))(await queue.get(req.actor, jobId(req.params.id)))),
  )

  app.get(
    '/queue/jobs/:id/states',
    {
      config: {
        operation: 'queue.states',
        summary: 'State of each row before and after the run of a job',
        needs: 'ownJob',
      },
      schema: { params: ById, response: { 200: Type.Array(StateOfRowView) } },
    },
    async (req, reply) => {
      const states = await queue.states(req.actor, jobId(req.params.id))
      return send(reply, 200, states.map(stateView))
    },
  )

  app.post(
    '/queue/jobs/:id/kill',
    {
      config: { operation: 'queue.kill', summary: 'Terminate a job', needs: 'component' },
      schema: { params: ById, response: { 200: JobView } },
    },
    async (req, reply) => send(reply, 200, (await viewer(req))(await queue.kill(req.actor, jobId(req.params.id)))),
  )

  app.post(
    '/queue/jobs/:id/rerun',
    {
      config: { operation: 'queue.rerun', summary: 'Run a job again with the current configuration', needs: 'component' },
      schema: { params: ById, response: { 201: JobView } },
    },
    async (req, reply) => {
      const previous = await queue.get(req.actor, jobId(req.params.id))
      const again = await queue.create(req.actor, requestAgain(previous), { branch: req.branch, baseUrl: req.baseUrl })
      return send(reply, 201, (await viewer(req))(again))
    },
  )

  app.get(
    '/queue/jobs/:id/events',
    {
      config: {
        operation: 'queue.events',
        summary: 'Log of a job; as server-sent events with Accept: text/event-stream',
        needs: 'ownJob',
        produces: ['application/json', 'text/event-stream'],
        headers: {
          Accept: '`text/event-stream`: server-sent events until the job ends.',
          'Last-Event-ID': 'For server-sent events: only events after this one.',
        },
      },
      schema: {
        params: ById,
        querystring: EventsQuery,
        response: { 200: Type.Array(Type.Record(Type.String(), Type.Unknown())) },
      },
    },
    async (req, reply) => {
      const job = await queue.get(req.actor, jobId(req.params.id))
      const lastSeen = req.headers['last-event-id']
      const since = typeof lastSeen === 'string' ? lastSeen : req.query.sinceId
      if (!asksForEvents(req)) {
        return events.list(req.actor, job, { sinceId: since, limit: req.query.limit ?? 1_000 }, req.baseUrl)
      }
      if (since !== undefined) await events.list(req.actor, job, { sinceId: since, limit: 1 }, req.baseUrl) // refuses what is no id
      const view = await viewer(req)
      const follower = notifier.follow(job.id)
      beginEvents(reply)
      await followJob(reply.raw, {
        follower,
        list: (sinceId, limit) => events.list(req.actor, job, { sinceId, limit }, req.baseUrl),
        // A stream lasts as long as its job, a token or a session perhaps not as long.
        current: async () => ((await req.isStillAdmitted()) ? queue.get(req.actor, job.id) : undefined),
        view,
        since,
      })
        .catch((error: unknown) => {
          req.log.error({ err: error, jobId: job.id }, 'the event stream of a job broke; its client resumes where it stopped')
          reply.raw.destroy()
        })
        .finally(follower.leave)
      return reply
    },
  )
}

interface TablesOfResult {
  readonly input?: { readonly tables?: readonly { readonly id: string }[] }
  readonly output?: { readonly tables?: readonly { readonly id: string }[] }
}

function lineageOf(job: JobRow, namespace: string): unknown[] {
  const result = readStored<TablesOfResult>(job.result)
  const datasets = (tables: readonly { readonly id: string }[] = []) => tables.map(({ id }) => ({ namespace, name: id }))
  const event = (eventType: string, at: number | null) => ({
    eventType,
    eventTime: new Date(at ?? job.created_at).toISOString(),
    run: { runId: job.run_id },
    job: { namespace, name: `${job.component_id}-${job.configuration_id ?? job.id}` },
    inputs: datasets(result.input?.tables),
    outputs: eventType === 'START' ? [] : datasets(result.output?.tables),
  })
  if (job.started_at === null) return []
  const last = { success: 'COMPLETE', warning: 'COMPLETE', error: 'FAIL', terminated: 'ABORT' }[job.status as string]
  return [event('START', job.started_at), ...(last ? [event(last, job.ended_at)] : [])]
}
