// What the routes of jobs and their older forms have in common: shapes, and how a request becomes a job.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { numberedId } from '../../../http/parameters.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { membersOf, stringifyWithRaw } from '../../../kit/text/json-text.ts'
import { type JobBody, type JobContext, type JobRequest, readJobRequest } from './job-request.ts'
import type { JobRow } from './queue.schema.ts'
import type { Queue } from './queue.ts'

export interface JobRoutesDeps {
  readonly queue: Queue
  readonly clock: Clock
  readonly domain: string | undefined
  readonly projectName: (projectId: number) => Promise<string>
}

const Component = Type.String({ minLength: 1, description: 'Id of the component.', examples: ['keboola.ex-generic-v2'] })
export const IDEMPOTENCY_HEADER = { 'Idempotency-Key': 'A repeated request with the same key returns the job of the first one.' }
export const ById = Type.Object({ id: numberedId('job') })
export const ByComponent = Type.Object({ component: Component })
export const ByTag = Type.Object({
  component: Component,
  tag: Type.String({ minLength: 1, description: 'Version of the component.' }),
})

/** Time in seconds. */
export const ProjectStats = Type.Object({ jobs: Type.Object({ durationSum: Type.Integer() }) })

export const send = (reply: FastifyReply, status: number, body: unknown): FastifyReply =>
  reply.code(status).type('application/json').send(stringifyWithRaw(body))

export const jobId = (text: string): number =>
  idFrom(text, () => new PlatformError('queue.jobNotFound', { id: text.slice(0, 60) }))

export function createJobStarter({ queue, clock }: Pick<JobRoutesDeps, 'queue' | 'clock'>) {
  const requestOf = (req: FastifyRequest, body: Static<typeof JobBody>, context: Partial<JobContext>): JobRequest =>
    readJobRequest(body, {
      ...context,
      parentRunId: req.origin.runId,
      configData: membersOf(req.rawBody).get('configData'),
      now: clock.now(),
    })

  const idempotencyKey = (req: FastifyRequest): string | undefined => {
    const key = req.headers['idempotency-key']
    return typeof key === 'string' && key !== '' ? key.slice(0, 255) : undefined
  }

  /** A run as `POST /<component>/run` starts it (spec platform 2.1). */
  async function runComponent(req: FastifyRequest, body: Static<typeof JobBody>, context: Partial<JobContext>): Promise<JobRow> {
    const request = requestOf(req, body, context)
    return queue.create(req.actor, request, {
      branch: req.branch,
      baseUrl: req.baseUrl,
      asWaiting: true,
      idempotencyKey: idempotencyKey(req),
    })
  }

  return { requestOf, idempotencyKey, runComponent }
}
