// The older forms of the queue's routes (spec platform 2.10): the same jobs, in the shapes that older clients expect.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { serviceUrl } from '../../../http/addresses.ts'
import { readByRule } from '../../../http/parameters.ts'
import { JobBody, type JobContext } from './job-request.ts'
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
import { SearchQuery } from './job-search.ts'
import { legacyJobView } from './job-view.ts'
import { legacySearch } from './legacy-search.ts'
import type { JobRow } from './queue.schema.ts'
import { refusal } from './refusal.ts'

const OlderSearchQuery = Type.Object(
  {
    ...SearchQuery.properties,
    ...readByRule({
      q: 'Terms such as `+params.config:123 AND status:error`, joined by AND.',
      since: 'Alias of createdTimeFrom.',
      until: 'Alias of createdTimeTo.',
      include: '`metrics` adds the metrics of each job.',
    }).properties,
  },
  { additionalProperties: true },
)
const DaysQuery = readByRule({
  fromDate: 'First day, as YYYY-MM-DD; 30 days back by default.',
  toDate: 'Last day, as YYYY-MM-DD; today by default.',
  timezoneOffset: 'UTC offset of the days, such as `+02:00`; UTC by default.',
})
/** What every older form of a job has. */
const LegacyJob = Type.Object({ id: Type.Integer(), status: Type.String() })
const StartedJob = Type.Object({ ...LegacyJob.properties, url: Type.String() })
/** Has no program, which does not matter where nothing runs. */
const SANDBOX = 'keboola.sandboxes'

export function legacyRoutes(deps: JobRoutesDeps): FastifyPluginAsyncTypebox {
  const { queue, clock, domain, projectName } = deps
  const { runComponent } = createJobStarter(deps)

  const legacyViewer = async (req: FastifyRequest, withMetrics = false): Promise<(job: JobRow) => Record<string, unknown>> => {
    const legacyUrl = serviceUrl('syrup', req.baseUrl, domain)
    const name = await projectName(req.actor.projectId)
    const context = { projectName: name, queueUrl: '', legacyUrl, now: clock.now(), withMetrics }
    return (job) => legacyJobView(job, context)
  }

  async function start(
    req: FastifyRequest,
    reply: FastifyReply,
    body: Static<typeof JobBody>,
    context: Partial<JobContext>,
  ): Promise<FastifyReply> {
    const job = await runComponent(req, body, context)
    const { id, url, status } = (await legacyViewer(req))(job)
    return send(reply, 202, { id, url, status })
  }

  return async (app) => {
    for (const path of ['/syrup/docker/:component/run', '/syrup/docker/:component/run/tag/:tag']) {
      app.post(
        path,
        {
          config: {
            operation: path.endsWith('run') ? 'syrup.run' : 'syrup.runTag',
            summary: 'Run a configuration (older form)',
            needs: 'component',
            headers: IDEMPOTENCY_HEADER,
            validationCode: 'validation.failed',
          },
          schema: {
            params: path.endsWith('run') ? ByComponent : ByTag,
            body: JobBody,
            response: { 202: StartedJob },
          },
        },
        async (req, reply) => {
          const { component, tag } = req.params as Static<typeof ByTag> // of the two shapes, the one with more
          return start(req, reply, req.body, { component, ...(tag && { tag }) })
        },
      )
    }

    app.post(
      '/syrup/docker/:component/dry-run',
      {
        config: {
          operation: 'syrup.dryRun',
          summary: 'Run a configuration in debug mode: store its data folders as archives instead of its results',
          needs: 'component',
          validationCode: 'validation.failed',
          headers: IDEMPOTENCY_HEADER,
        },
        schema: { params: ByComponent, body: JobBody, response: { 202: StartedJob } },
      },
      async (req, reply) => start(req, reply, req.body, { component: req.params.component, mode: 'debug' }),
    )

    app.post(
      '/syrup/docker/:component/input',
      {
        config: {
          operation: 'syrup.input',
          summary: 'Store the input folder of a component as an archive; runs nothing',
          needs: 'component',
          validationCode: 'validation.failed',
          headers: IDEMPOTENCY_HEADER,
        },
        schema: { params: ByComponent, body: JobBody, response: { 202: StartedJob } },
      },
      async (req, reply) => {
        const { component } = req.params
        return start(req, reply, req.body, { component, mode: 'debug', inputOnly: true })
      },
    )

    app.post(
      '/syrup/docker/sandbox',
      {
        config: {
          operation: 'syrup.sandbox',
          summary: 'Store the input folder of a configuration as an archive; needs no component',
          needs: 'component',
          validationCode: 'validation.failed',
          headers: IDEMPOTENCY_HEADER,
        },
        schema: { body: JobBody, response: { 202: StartedJob } },
      },
      async (req, reply) => {
        if (!req.body.configData) throw refusal('configData', 'Send the configuration whose data folder is wanted.')
        return start(req, reply, req.body, { component: SANDBOX, mode: 'debug', inputOnly: true })
      },
    )

    app.get(
      '/syrup/queue/job/:id',
      {
        config: { operation: 'syrup.get', summary: 'Job detail (older form)', needs: 'ownJob' },
        schema: { params: ById, response: { 200: LegacyJob } },
      },
      async (req, reply) => send(reply, 200, (await legacyViewer(req))(await queue.get(req.actor, jobId(req.params.id)))),
    )

    app.get(
      '/syrup/queue/jobs',
      {
        config: { operation: 'syrup.list', summary: 'Find jobs (older form)', needs: 'token' },
        schema: {
          querystring: OlderSearchQuery,
          response: { 200: Type.Array(LegacyJob) },
        },
      },
      async (req, reply) => {
        const withMetrics = String(req.query.include ?? '')
          .split(',')
          .includes('metrics')
        return send(
          reply,
          200,
          (await queue.search(req.actor, legacySearch(req.query))).map(await legacyViewer(req, withMetrics)),
        )
      },
    )

    app.post(
      '/syrup/queue/jobs/:id/kill',
      {
        config: { operation: 'syrup.kill', summary: 'Terminate a job (older form)', needs: 'component' },
        schema: { params: ById, response: { 202: LegacyJob } },
      },
      async (req, reply) => send(reply, 202, (await legacyViewer(req))(await queue.kill(req.actor, jobId(req.params.id)))),
    )

    app.get(
      '/syrup/docker/stats/project',
      {
        config: { operation: 'syrup.stats', summary: 'Total duration of the jobs of the project (older form)', needs: 'token' },
        schema: { response: { 200: ProjectStats } },
      },
      async (req) => queue.projectStats(req.actor),
    )

    app.get(
      '/syrup/docker/stats/project/daily',
      {
        config: { operation: 'syrup.dailyStats', summary: 'Duration of the jobs of the project by day', needs: 'token' },
        schema: {
          querystring: DaysQuery,
          response: {
            200: Type.Object({ jobs: Type.Array(Type.Object({ date: Type.String(), durationSum: Type.Integer() })) }),
          },
        },
      },
      async (req) => ({ jobs: [...(await queue.dailyDurations(req.actor, req.query))] }),
    )
  }
}
