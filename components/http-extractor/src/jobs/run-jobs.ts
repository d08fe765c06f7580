// The work itself (spec extractor 8.1). Jobs run one after another; a job runs page by page; after a page is stored, each
// child runs to its end for each item of that page. With config.concurrency several jobs, and several children of a page, run at the
// same time; pages are stored as if they did not. Nothing of a page is kept but the spool.
//
// Where a page has no children the next request is sent before the page is stored: the API works on its answer while we write rows.

import { setImmediate as turn } from 'node:timers/promises'
import { evaluate, evaluateMembers, type Scope } from '../functions/evaluate.ts'
import type { Client, Fetched } from '../http/client.ts'
import type { RequestSettings } from '../http/request.ts'
import { entriesOf, isObject, type JsonValue } from '../json/json.ts'
import type { Log } from '../log.ts'
import { createLoopGuard } from '../pagination/loop-guard.ts'
import type { ScrollerFactory } from '../pagination/scroller.ts'
import type { Page } from '../tables/tables.ts'
import type { JobDefinition } from './job.ts'
import { withJobContext } from './job-context.ts'
import { type Aside, DIRECT, inOrder, type Outlet } from './outlet.ts'
import { type Bound, bindPlaceholders, fillEndpoint, overridden, parentColumns, unsetPlaceholders } from './placeholders.ts'
import type { Progress } from './progress.ts'
import { createRepetitionCheck } from './repetition.ts'
import { createStopLog, type StopLog } from './stop-log.ts'

export interface JobsDeps {
  /** Which of the iterations this is. */
  readonly iteration: number
  readonly client: Client
  readonly scrollers: ScrollerFactory
  /** Requests at once. */
  readonly concurrency: number
  readonly store: (page: Page) => void
  /** For params and userData: attr and time. */
  readonly scope: Scope
  /** config.userData */
  readonly userData: JsonValue | undefined
  readonly log: Log
  readonly progress: Progress
}

export interface Place {
  /** Which run of which job this is, among all of the run: the same in every run of the same configuration. */
  readonly path: string
  /** 0 for a job of config.jobs. */
  readonly depth: number
  /** The item a child runs for, then its parent's, and so on. */
  readonly ancestors: readonly JsonValue[]
  /** Bound placeholders of this job and all above it, outermost first. */
  readonly bound: readonly Bound[]
}

type Columns = readonly (readonly [string, JsonValue])[]

export const TOP: Place = { path: '', depth: 0, ancestors: [], bound: [] }

interface RunningDeps extends JobsDeps {
  readonly stops: StopLog
  readonly aside: Aside
}

/** How many jobs are begun for one that can send a request: while the first of them is being stored, the next ones have been requested. */
const AHEAD = 2

export async function runJobs(jobs: readonly JobDefinition[], deps: JobsDeps): Promise<void> {
  warnOfIdleChildren(jobs, deps.log)
  const running = { ...deps, stops: createStopLog(deps.log), aside: { bytes: 0 } }
  const tasks = jobs.map(
    (job, at) => (outlet: Outlet) => runJob(job, { ...TOP, path: `${deps.iteration}/${at}` }, outlet, running),
  )
  await inOrder(tasks, DIRECT, widthOf(deps), running.aside)
}

const widthOf = ({ concurrency }: JobsDeps) => (concurrency === 1 ? 1 : concurrency * AHEAD)

/** A child whose endpoint cannot be filled in is not requested (spec extractor 8.2); placeholders of its ancestors count. */
function warnOfIdleChildren(jobs: readonly JobDefinition[], log: Log, inherited: readonly string[] = []): void {
  for (const { children } of jobs) {
    for (const child of children) {
      const known = [...inherited, ...child.placeholders.map(({ key }) => key)]
      const missing = unsetPlaceholders(child.endpoint, known).map((key) => `{${key}}`)
      if (missing.length > 0 && child.placeholders.length === 0)
        log.warning(`No 'placeholders' set for '${child.endpoint}'. Nothing is requested for it.`)
      else if (missing.length > 0)
        log.warning(`Nothing in 'placeholders' sets ${missing.join(', ')} of '${child.endpoint}': it is sent as it stands there.`)
      warnOfIdleChildren([child], log, known)
    }
  }
}

async function runJob(job: JobDefinition, place: Place, outlet: Outlet, deps: RunningDeps): Promise<void> {
  const { client, scrollers, store, log, progress } = deps
  const scroller = scrollers(job.scroller)
  const guard = createLoopGuard(scroller.repeats)
  const { settings, added, first } = withJobContext(job.path, { job: job.id, endpoint: job.endpoint }, () => {
    const settings = requestOf(job, place.bound, deps)
    return { settings, added: addedColumns(job, place, deps), first: scroller.first(settings) }
  })
  const isRepeated = createRepetitionCheck()
  const ask = (request: RequestSettings, page: number) => client.fetch(request, job.decode, `${place.path}#${page}`)
  let answer = ask(first, 1)

  for (let number = 1; ; number++) {
    const context = { job: job.id, endpoint: settings.endpoint, page: number }
    const page = await withJobContext(job.path, context, async () => {
      const fetched = await answer
      const { items, warning } = job.pick(fetched.response)
      if (isRepeated(fetched, items)) return undefined
      if (warning !== undefined) log.warning(warning)
      return { ...fetched, items: job.filter(items) }
    })
    if (page === undefined) {
      deps.stops.repeated(job, settings.endpoint, place.depth, number)
      return
    }
    /** Undefined when there is no further page; then `stopReason` has the reason. */
    let stopReason = ''
    const sendNext = (): Promise<Fetched> | undefined => {
      const next = withJobContext(job.path, context, () => scroller.next(settings, page))
      if ('stop' in next) {
        stopReason = next.stop
        return undefined
      }
      withJobContext(job.path, context, () => guard.check(next.request, page.items))
      const sent = ask(next.request, number + 1)
      sent.catch(() => {}) // looked at when its turn comes, or never when this page cannot be stored
      return sent
    }
    const { body, items, isBodyDecoded } = page
    const isLeaf = job.children.length === 0
    const early = isLeaf ? sendNext() : undefined
    if (early) await turn() // storing does not yield, so let the request leave first
    const storing = outlet.run(() => {
      withJobContext(job.path, context, () =>
        store({
          type: job.dataType,
          items,
          added,
          keptAsText: job.keptAsText,
          origin: isBodyDecoded ? { body, pick: job.pickAgain } : undefined,
        }),
      )
      progress.page(items.length)
    }, body.length)
    if (storing !== undefined) await storing
    if (!isLeaf) await inOrder(childrenOf(job, items, number, place, deps), outlet, widthOf(deps), deps.aside)
    const next = isLeaf ? early : sendNext()
    if (next === undefined) {
      deps.stops.ended(job, settings.endpoint, place.depth, number, stopReason)
      return
    }
    answer = next
  }
}

/** What a job requests, before pagination changes it. */
export function requestOf(
  job: JobDefinition,
  bound: readonly Bound[],
  { client, scope }: Pick<JobsDeps, 'client' | 'scope'>,
): RequestSettings {
  return {
    endpoint: fillEndpoint(job.endpoint, bound),
    method: job.method ?? client.defaultMethod,
    params: evaluateMembers(job.params, scope),
    headers: job.headers,
  }
}

/** One task for each child and each item it runs for. */
function* childrenOf(job: JobDefinition, items: readonly JsonValue[], page: number, place: Place, deps: RunningDeps) {
  for (const [at, child] of job.children.entries()) {
    const isIdle = child.placeholders.length === 0 && unsetPlaceholders(child.endpoint, keysOfBound(place.bound)).length > 0
    if (!isIdle) yield* runsOf(child, items, `${place.path}#${page}/${at}`, place, deps)
  }
}

function* runsOf(child: JobDefinition, items: readonly JsonValue[], path: string, place: Place, deps: RunningDeps) {
  for (const [at, item] of items.entries()) {
    if (child.recursionFilter && !child.recursionFilter(item)) continue
    const ancestors = [item, ...place.ancestors]
    const bound = withJobContext(child.path, { job: child.id, endpoint: child.endpoint }, () =>
      bindPlaceholders(child.placeholders, ancestors, deps.scope.nowSeconds),
    )
    for (const [combination, own] of bound.entries()) {
      const below = {
        path: `${path}.${at}.${combination}`,
        depth: place.depth + 1,
        ancestors,
        bound: overridden(place.bound, own),
      }
      yield (outlet: Outlet) => runJob(child, below, outlet, deps)
    }
  }
}

const keysOfBound = (bound: readonly Bound[]) => bound.map(({ placeholder }) => placeholder.key)

/** userData first, then the columns that name the parent (spec extractor 8.2 and 13.8). */
export function addedColumns(
  job: JobDefinition,
  place: Place,
  { userData, scope }: Pick<JobsDeps, 'userData' | 'scope'>,
): Columns {
  const columns = new Map<string, JsonValue>()
  const add = (value: JsonValue | undefined, scalarName: string) => {
    if (value === undefined || value === null) return
    if (isObject(value) && !isExpression(value))
      for (const [name, member] of entriesOf(evaluateMembers(value, scope))) columns.set(name, member)
    else columns.set(scalarName, evaluate(value, scope))
  }
  if (place.depth === 0) add(userData, 'userData')
  add(job.userData, 'job_parent_id')
  for (const [name, value] of parentColumns(place.bound)) columns.set(name, value)
  return [...columns]
}

const isExpression = (value: JsonValue) => isObject(value) && entriesOf(value).some(([key]) => key === 'function')
