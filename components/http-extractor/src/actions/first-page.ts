// One job and its pages, with every request as it went over the wire: what testConnection, previewPage and walkPages share.

import { exchangeLine } from '../archive/archive.ts'
import type { Configuration } from '../configuration/configuration.ts'
import { at, integerAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { addressText } from '../http/address.ts'
import type { Client, Fetched } from '../http/client.ts'
import type { HttpRequest, HttpResponse, Send } from '../http/exchange.ts'
import type { RequestSettings } from '../http/request.ts'
import type { JobDefinition } from '../jobs/job.ts'
import { requestOf, TOP } from '../jobs/run-jobs.ts'
import { type JsonObject, type JsonValue, objectOf } from '../json/json.ts'
import { clientOf } from '../run.ts'
import { createPlan, type RunPlan } from '../run-plan.ts'
import type { ActionDeps } from './action.ts'

/** Of one request, and of all together: a login, redirects and the pages. */
const TIMEOUT_MS = 20_000
const DEADLINE_SECONDS = 25

export interface Exchange {
  readonly request: HttpRequest
  readonly response: HttpResponse
  readonly durationMs: number
}

export interface OpenPlan {
  readonly plan: RunPlan
  readonly configuration: Configuration
  /** Every exchange of the way: login, redirects, the page itself last. */
  readonly exchanges: readonly Exchange[]
  /** What goes out and is noted. */
  readonly send: Send
  readonly clientWith: (send: Send) => Client
  close(): Promise<void>
}

export interface OpenJob extends OpenPlan {
  readonly client: Client
  readonly job: JobDefinition
  /** Its place in config.jobs. */
  readonly index: number
  readonly settings: RequestSettings
}

export interface FirstPage extends OpenJob {
  readonly fetched: Fetched
}

/** The first iteration of a configuration; whatever goes over its wire is noted. */
export async function openPlan(deps: ActionDeps): Promise<OpenPlan> {
  const configuration = deps.configuration()
  const currentStart = Math.floor(deps.now() / 1000)
  const plan = quick(createPlan(configuration, configuration.runs[0]!, { ...deps, previousStart: 0, currentStart }))
  const wire = await deps.openWire(plan)
  const exchanges: Exchange[] = []
  const send: Send = async (request) => {
    const began = deps.now()
    const response = await wire.send(request)
    exchanges.push({ request, response, durationMs: deps.now() - began })
    return response
  }
  return {
    configuration,
    plan,
    exchanges,
    send,
    clientWith: (through) => clientOf(plan, through, deps),
    close: () => wire.close(),
  }
}

/** `parameters.job` picks one of config.jobs; the first without it. Children need a parent's item and cannot be picked. */
export async function openJob(deps: ActionDeps): Promise<OpenJob> {
  const open = await openPlan(deps)
  const { configuration, plan, send } = open
  try {
    const index = integerAt(at(configuration.parameters, 'job'), 'job') ?? 0
    const job = plan.jobs[index]
    if (!job) throw new UserError(`Job ${index} does not exist; the configuration has ${plan.jobs.length}.`)
    const client = open.clientWith(send)
    const settings = requestOf(job, TOP.bound, { client, scope: plan.scope })
    return { ...open, client, job, index, settings }
  } catch (error) {
    await open.close()
    throw error
  }
}

const MAX_RECORDED_BYTES = 4 << 20

/** With `record` in the parameters: the exchanges in the format of an archive, without secrets. */
export function recordingOf({ exchanges }: OpenPlan, { redactor }: ActionDeps): [string, JsonValue][] {
  const lines = exchanges.map(({ request, response }) => `${redactor.redact(exchangeLine(request, response))}\n`)
  const size = lines.reduce((sum, line) => sum + line.length, 0)
  if (size > MAX_RECORDED_BYTES)
    throw new UserError(`The answers are ${size} bytes; an action records at most ${MAX_RECORDED_BYTES}. Record a run instead.`)
  return [['recording', lines.join('')]]
}

export async function fetchFirstPage(deps: ActionDeps): Promise<FirstPage> {
  const open = await openJob(deps)
  const { plan, client, job, settings } = open
  try {
    const fetched = await beforeDeadline(client.fetch(plan.scrollers(job.scroller).first(settings), job.decode), deps)
    return { ...open, fetched }
  } finally {
    await open.close()
  }
}

/** Reports a timeout itself, before the platform kills the process. */
export async function beforeDeadline<T>(work: Promise<T>, { sleep }: ActionDeps): Promise<T> {
  const done = new AbortController()
  const late = sleep(DEADLINE_SECONDS, done.signal).then(() => {
    throw new UserError(`The API has not answered within the ${DEADLINE_SECONDS} seconds an action may take. A run waits longer.`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    done.abort()
  }
}

/** One try, within the time of an action. */
function quick(plan: RunPlan): RunPlan {
  const { api } = plan
  return {
    ...plan,
    api: {
      ...api,
      retry: { ...api.retry, maxRetries: 0 },
      connectTimeoutMs: Math.min(api.connectTimeoutMs, TIMEOUT_MS / 2),
      requestTimeoutMs: Math.min(api.requestTimeoutMs, TIMEOUT_MS),
    },
  }
}

export function describeRequest({ method, address, headers, body }: HttpRequest): JsonObject {
  return objectOf([
    ['method', method],
    ['url', addressText(address)],
    ['headers', objectOf([...headers.values()])],
    ['body', body ?? null],
  ])
}
