// The record of a storage job (spec storage 2.7), which routes of many modules answer with, always with status 202.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { formatTimestamp } from '../kit/clock.ts'
import type { DryRunJob } from '../model/dry-run.ts'
import type { NewStorageJob, Requester, StorageJob } from '../model/storage-job.ts'
import { callerGone } from './connection/caller-gone.ts'
import { isDryRun } from './dry-run.ts'
import { Timestamp } from './record-schemas.ts'

export const JobView = Type.Object(
  {
    id: Type.Integer(),
    status: Type.String({ description: 'waiting, processing, success or error' }),
    url: Type.String({ description: 'URL to poll' }),
    tableId: Type.Union([Type.String(), Type.Null()]),
    operationName: Type.String(),
    operationParams: Type.Record(Type.String(), Type.Unknown()),
    createdTime: Timestamp,
    startTime: Type.Union([Timestamp, Type.Null()]),
    endTime: Type.Union([Timestamp, Type.Null()]),
    runId: Type.String({ description: 'Id of the parent run; its own id if there is none.' }),
    results: Type.Unknown(),
    creatorToken: Type.Object({ id: Type.Integer(), description: Type.String() }),
    metrics: Type.Object({
      inCompressed: Type.Boolean(),
      inBytes: Type.Integer(),
      inBytesUncompressed: Type.Integer(),
      outCompressed: Type.Boolean(),
      outBytes: Type.Integer(),
      outBytesUncompressed: Type.Integer(),
    }),
    error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String(), exceptionId: Type.String() })),
  },
  { title: 'StorageJob' },
)

export const jobView = (job: StorageJob, baseUrl: string) => ({
  id: job.id,
  status: job.status,
  url: `${baseUrl}/v2/storage/jobs/${job.id}`,
  tableId: job.tableId,
  operationName: job.operationName,
  operationParams: job.operationParams,
  createdTime: formatTimestamp(job.createdAt),
  startTime: job.startedAt ? formatTimestamp(job.startedAt) : null,
  endTime: job.endedAt ? formatTimestamp(job.endedAt) : null,
  runId: job.origin.runId ?? String(job.id),
  results: job.results,
  creatorToken: { id: job.source.tokenId, description: job.source.tokenDescription },
  metrics: job.metrics,
  ...(job.error && { error: job.error }),
})

/** For routes that do nothing but start a job and answer with it. */
export const jobStarter =
  (createJob: (requester: Requester, job: NewStorageJob) => Promise<StorageJob>, dryRun?: DryRunJob) =>
  async (req: FastifyRequest, reply: FastifyReply, job: NewStorageJob) =>
    dryRun && isDryRun(req)
      ? reply.code(200).send(await dryRun(req, job, callerGone(reply)))
      : reply.code(202).send(jobView(await createJob(req, job), req.baseUrl))
