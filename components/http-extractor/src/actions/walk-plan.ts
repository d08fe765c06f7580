// walkPlan: every job with its children, as a run goes through them, but only some pages of each and children of some items; all
// requests in their order, and the tables that came out of them.

import { at, flagAt, integerAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import type { JobDefinition } from '../jobs/job.ts'
import { createProgress } from '../jobs/progress.ts'
import { runJobs } from '../jobs/run-jobs.ts'
import { type JsonObject, type JsonValue, objectOf } from '../json/json.ts'
import type { ScrollerFactory } from '../pagination/scroller.ts'
import type { ActionDeps } from './action.ts'
import { beforeDeadline, describeRequest, type Exchange, type OpenPlan, openPlan, recordingOf } from './first-page.ts'
import { describeResponse, withTables } from './preview-page.ts'

interface Limits {
  /** Of each job and of each run of a child. */
  readonly pages: number
  /** Of each page, whose children are requested. */
  readonly items: number
  readonly requests: number
}

/** Of each answer: there are many, and a page can be looked at alone. */
const SHOWN_BODY = 2000

export async function walkPlan(deps: ActionDeps): Promise<JsonValue> {
  const open = await openPlan(deps)
  const { parameters } = open.configuration
  const limit = (name: string, otherwise: number, max: number) => {
    const value = integerAt(at(parameters, name), name) ?? otherwise
    if (value < 1 || value > max) throw new UserError(`'${name}' must be from 1 to ${max}, not ${value}.`)
    return value
  }
  const limits = { pages: limit('pages', 2, 10), items: limit('items', 2, 20), requests: limit('requests', 30, 100) }
  let error: string | null = null
  let tables: readonly JsonObject[] = []
  try {
    tables = await withTables(open.plan, deps, (store) => beforeDeadline(runLimited(open, limits, store, deps), deps))
  } catch (failure) {
    if (!(failure instanceof UserError)) throw failure
    error = failure.message
  } finally {
    await open.close()
  }
  return objectOf([
    ['steps', open.exchanges.map(describe)],
    ['tables', [...tables]],
    ['error', error],
    ...(flagAt(at(parameters, 'record'), 'record') ? recordingOf(open, deps) : []),
  ])
}

function runLimited(
  open: OpenPlan,
  limits: Limits,
  store: Parameters<Parameters<typeof withTables>[2]>[0],
  { log, now }: ActionDeps,
): Promise<void> {
  const { plan, exchanges } = open
  const client = open.clientWith(async (request) => {
    if (exchanges.length >= limits.requests)
      throw new UserError(`Stopped after ${limits.requests} requests, the limit of this walk. A run continues.`)
    return open.send(request)
  })
  return runJobs(
    plan.jobs.map((job) => withFewItems(job, limits.items)),
    {
      iteration: 0,
      client,
      scrollers: withFewPages(plan.scrollers, limits.pages),
      concurrency: 1,
      store,
      scope: plan.scope,
      userData: plan.userData,
      log,
      progress: createProgress(log, now),
    },
  )
}

/** A job with children keeps only the first items of a page, so that their children are few. */
function withFewItems(job: JobDefinition, items: number): JobDefinition {
  if (job.children.length === 0) return job
  return {
    ...job,
    filter: (all) => job.filter(all).slice(0, items),
    pickAgain: (response) => job.pickAgain(response).slice(0, items),
    children: job.children.map((child) => withFewItems(child, items)),
  }
}

function withFewPages(scrollers: ScrollerFactory, pages: number): ScrollerFactory {
  return (name) => {
    const scroller = scrollers(name)
    let fetched = 0
    return {
      ...scroller,
      first: (job) => scroller.first(job),
      next: (job, page) => (++fetched < pages ? scroller.next(job, page) : { stop: `${pages} pages were requested.` }),
    }
  }
}

const describe = (exchange: Exchange): JsonObject =>
  objectOf([
    ['kind', exchange.request.isLogin ? 'login' : 'page'],
    ['request', describeRequest(exchange.request)],
    ['response', describeResponse(exchange, SHOWN_BODY)],
    ['durationMs', exchange.durationMs],
  ])
