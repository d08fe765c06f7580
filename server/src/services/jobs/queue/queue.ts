// Rules of the job queue: what may be queued, what a kill does, how a container of rows ends. Independent of HTTP and processes.
//  (1) A job's status is written here and in the loop only, by the moves of job-states.ts, in one transaction with its lock.
//  (2) A job that has ended holds no lock.
//  (3) A container of rows ends in the transaction in which its last child ends. A flow is woken in it and ends when its plan is done.

import { counted, wasOrWere } from '../../../../../contract/counted.ts'
import { type Db, isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { type Actor, canUseComponent, seesWholeProject } from '../../../model/actor.ts'
import { type ComponentProblems, componentMissing } from '../../../model/component-missing.ts'
import type { FlowEnd } from '../../../model/flow-ports.ts'
import { jobCause } from '../../../model/job-cause.ts'
import type { JobEndFacts } from '../../../model/job-end.ts'
import { failureGroupView, groupFailures } from './failures.ts'
import { jobEndFacts } from './job-end.ts'
import { AT_ONCE, IDEMPOTENCY_KEY, type JobRequest, jobRow, type ParentJob } from './job-request.ts'
import { type JobRuntime, runtimeOf } from './job-runtime.ts'
import { type JobSearch, parseGroups, parseJobSearch, type Query } from './job-search.ts'
import { isFinished, isWaitingForJob, JOB_STATUSES, moveJob, waitingForJob } from './job-states.ts'
import { type DailyDuration, dailyDurations, parseDailyRange } from './job-stats.ts'
import type { JobRow, JobType } from './queue.schema.ts'
import type { JobEnd, QueueStore } from './queue.store.ts'
import type { KeptState } from './state-history.store.ts'

export interface QueuedComponent {
  readonly id: string
  readonly tag: string
  readonly features: readonly string[]
  /** What a node must have to run it. */
  readonly labels: readonly string[]
  /** Why it cannot be run. */
  readonly problem: string | undefined
  /** Its jobs are containers whose children follow a plan. */
  readonly isFlow: boolean
  /** Its jobs deliver data to other systems. */
  readonly isWriter: boolean
}

/** What the queue needs of components. */
export interface QueueComponents extends ComponentProblems {
  find(id: string): QueuedComponent | undefined
  canonicalId(id: string): string
}

/** What the queue needs of configurations. */
export interface QueueConfigurations {
  /** Throws not found. */
  get(place: { projectId: number; branchId: number; componentId: string; configurationId: string }): Promise<{
    readonly isDisabled: boolean
    /** JSON text. */
    readonly configuration: string
    readonly rows: readonly { readonly id: string; readonly isDisabled: boolean }[]
  }>
}

/** What the queue needs of flows. */
export interface QueueFlows {
  /** Refuses what cannot run: a plan with mistakes, tasks that are not there, a flow that contains itself. */
  check(flow: {
    readonly projectId: number
    readonly branchId: number
    readonly componentId: string
    readonly configurationId: string | undefined
    /** JSON text. */
    readonly configuration: string
    readonly onlyTaskIds: readonly string[] | undefined
  }): Promise<void>
  /** Reads what a claimed job runs, with everything that can be refused; what it answers begins the run, in a transaction. */
  open(job: JobRow): Promise<(trx: Trx) => Promise<void>>
  /** In the transaction in which a job of the flow ends. */
  wake(trx: Trx, flow: JobRow): Promise<void>
  /** How far a flow has come, as `result` of its job. */
  progress(from: Db, flow: JobRow, hasEnded: boolean): Promise<Readonly<Record<string, unknown>>>
}

export interface QueueDeps {
  readonly store: QueueStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly components: QueueComponents
  readonly configurations: QueueConfigurations
  readonly flows: QueueFlows
  readonly states: { listOfJob(projectId: number, jobId: number): Promise<readonly KeptState[]> }
  /** Encrypts clear `#` values of a configuration that came with the job itself. */
  readonly encrypt: (projectId: number, componentId: string, text: string) => Promise<string>
  readonly findBranch: (
    projectId: number,
    name: string,
  ) => Promise<{ readonly id: number; readonly isDefault: boolean } | undefined>
  /** The stack is a restored copy that was not resumed: the original may still deliver. */
  readonly isPausedCopy: boolean
  /** In the transaction in which a job ends. */
  readonly onEnd?: (trx: Trx, job: JobEndFacts) => Promise<void>
  /** Something in the queue changed: the loop looks again, and a killed job is stopped at once. */
  readonly onChange: (killed?: readonly number[]) => void
}

export interface CreateOptions {
  readonly branch: { readonly id: number; readonly isDefault: boolean }
  readonly baseUrl: string
  /** The status that clients of the run call expect (spec platform 2.9): one polls while a job is waiting or processing. */
  readonly asWaiting?: boolean
  /** The same key again returns the existing job instead of an error. */
  readonly idempotencyKey?: string | undefined
  /** The flow the job is made for. */
  readonly parent?: ParentJob
}

/** A job that may be queued. */
export interface PreparedJob {
  readonly row: ReturnType<typeof jobRow>
  /** As the client sent it: a duplicate is an error. */
  readonly deduplicationId: string | undefined
}

export interface JobGroup {
  readonly group: Readonly<Record<string, string>>
  readonly jobs: readonly JobRow[]
}

export type Queue = ReturnType<typeof createQueue>

export function createQueue(deps: QueueDeps) {
  const { store, inTransaction, clock, components, configurations } = deps

  async function create(actor: Actor, request: JobRequest, options: CreateOptions): Promise<JobRow> {
    const prepared = await prepare(actor, request, options)
    const job = await inTransaction((trx) => insert(trx, prepared)).catch((error: unknown) => {
      // Another request with the same deduplication id was faster; now its job can be seen.
      if (isUniqueViolation(error)) return inTransaction((trx) => insert(trx, prepared))
      throw error
    })
    deps.onChange()
    return job
  }

  /** Everything that may be refused, before a transaction begins. */
  /** The saved configuration that a request names; undefined when it brings its own. */
  async function configurationToRun(
    place: { readonly projectId: number; readonly branchId: number; readonly componentId: string },
    { config, configData, mode }: JobRequest,
  ) {
    if (config === undefined || configData !== undefined) return undefined
    const configuration = await configurations.get({ ...place, configurationId: config })
    if (configuration.isDisabled && mode !== 'forceRun')
      throw new PlatformError('queue.configurationDisabled', { configuration: config, component: place.componentId })
    return configuration
  }

  async function prepare(actor: Actor, request: JobRequest, options: CreateOptions): Promise<PreparedJob> {
    const component = components.find(request.component)
    if (!component) throw unknownComponent(components, request.component)
    if (!canUseComponent(actor, component.id, components.canonicalId)) throw new PlatformError('accessDenied')
    if (component.problem && !request.inputOnly)
      throw new PlatformError('queue.notRunnable', { component: request.component, reason: component.problem })
    if (component.isWriter && deps.isPausedCopy && !request.inputOnly)
      throw new PlatformError('queue.pausedCopy', { component: component.id })
    const branch = request.branchId === undefined ? options.branch : await branchOf(actor, request.branchId)
    const place = { projectId: actor.projectId, branchId: branch.id, componentId: component.id }
    const configuration = await configurationToRun(place, request)
    const content = request.configData ?? configuration?.configuration ?? '{}'
    const runtime = runtimeOf(content)
    refuseByBranch(component, runtime, branch.isDefault, request.mode)
    const rows = configuration && rowsToRun(request, configuration.rows)
    const parallelism = request.parallelism ?? runtime.parallelism
    if (component.isFlow && request.inputOnly)
      throw new PlatformError('queue.notRunnable', { component: request.component, reason: 'a flow has no data folder.' })
    if (component.isFlow)
      await deps.flows.check({
        ...place,
        configurationId: request.config,
        configuration: content,
        onlyTaskIds: request.onlyOrchestrationTaskIds ?? request.onlyFlowTaskIds,
      })
    const configData =
      request.configData === undefined ? null : await deps.encrypt(actor.projectId, component.id, request.configData)
    const deduplicationId =
      request.deduplicationId ?? (options.idempotencyKey === undefined ? null : `${IDEMPOTENCY_KEY} ${options.idempotencyKey}`)
    const row = jobRow(await withSecretsSealed(actor.projectId, request), {
      actor,
      branch,
      componentId: component.id,
      tag: request.tag ?? runtime.tag ?? component.tag,
      type: typeOf(component, parallelism, rows?.length ?? 0),
      parallelism,
      labels: [...new Set([...component.labels, ...runtime.labels])],
      configData,
      deduplicationId,
      status: options.asWaiting ? 'waiting' : 'created',
      baseUrl: options.baseUrl,
      now: clock.now().getTime(),
      parent: options.parent,
    })
    return { row, deduplicationId: request.deduplicationId }
  }

  /** Values of variables named with `#` are kept as ciphers, as those of stored rows are. */
  async function withSecretsSealed(projectId: number, request: JobRequest): Promise<JobRequest> {
    const { variableValues = [], variableOverrides = [] } = request
    if (![...variableValues, ...variableOverrides].some(({ name }) => name.startsWith('#'))) return request
    const text = await deps.encrypt(projectId, 'keboola.variables', JSON.stringify({ variableValues, variableOverrides }))
    return { ...request, ...readStored<Pick<JobRequest, 'variableValues' | 'variableOverrides'>>(text) }
  }

  /** In the caller's transaction; the caller calls onChange afterwards. */
  async function insert(trx: Trx, { row, deduplicationId }: PreparedJob): Promise<JobRow> {
    const known = row.deduplication_id ?? null
    const existing = known === null ? undefined : await store.findByDeduplicationId(trx, row.project_id, known)
    if (existing && deduplicationId !== undefined)
      throw new PlatformError('dbDeduplicationIdConflict', { deduplicationId, id: existing.id })
    if (existing && WHAT_RUNS.some((column) => existing[column] !== row[column]))
      throw new PlatformError('queue.idempotencyKeyReused', { id: existing.id })
    return existing ?? store.insert(trx, row)
  }

  function rowsToRun(request: JobRequest, rows: readonly { readonly id: string; readonly isDisabled: boolean }[]) {
    const wanted = request.configRowIds
    if (wanted === undefined) return rows.filter((row) => !row.isDisabled)
    const found = rows.filter((row) => wanted.includes(row.id))
    if (found.length === 0)
      throw new PlatformError('queue.rowsNotFound', { rows: wanted.join(', '), configuration: request.config! })
    return found
  }

  async function branchOf(actor: Actor, name: string): Promise<{ readonly id: number; readonly isDefault: boolean }> {
    const branch = await deps.findBranch(actor.projectId, name)
    if (!branch) throw new PlatformError('notFound', { what: `Branch "${name.slice(0, 60)}"` })
    return branch
  }

  async function get(actor: Actor, id: number): Promise<JobRow> {
    const job = await store.find(actor.projectId, id)
    if (!job) throw new PlatformError('queue.jobNotFound', { id })
    if (!maySee(actor, job)) throw new PlatformError('accessDenied')
    return (await asShown([job]))[0]!
  }

  /** The state belongs to the configuration: callers that cannot read that do not see it, not even of their own job. */
  async function states(actor: Actor, id: number): Promise<readonly KeptState[]> {
    const job = await get(actor, id)
    if (!canUseComponent(actor, job.component_id, components.canonicalId)) throw new PlatformError('accessDenied')
    return deps.states.listOfJob(actor.projectId, id)
  }

  /** Jobs of the components that a token may use, and its own: clients poll what they started. */
  const maySee = (actor: Actor, job: JobRow): boolean =>
    job.token_id === actor.tokenId || canUseComponent(actor, job.component_id, components.canonicalId)

  const visibleTo = (actor: Actor): JobSearch['visible'] =>
    seesWholeProject(actor)
      ? undefined
      : { tokenId: actor.tokenId, componentIds: actor.componentAccess.map(components.canonicalId) }

  /** With what changes while jobs wait and run and is not in their records: who they wait for, how far flows have come. */
  const asShown = async (jobs: JobRow[]): Promise<JobRow[]> => Promise.all((await withHolders(jobs)).map(withProgress))

  async function withProgress(job: JobRow): Promise<JobRow> {
    if (job.type !== 'orchestrationContainer' || isFinished(job.status) || job.result === undefined) return job
    return { ...job, result: JSON.stringify(await deps.flows.progress(store.db, job, false)) }
  }

  /** A job that waits for its configuration shows which job has it now: another one may have taken it meanwhile. */
  async function withHolders(jobs: JobRow[]): Promise<JobRow[]> {
    const keys = jobs.flatMap(({ status, lock_key }) => (status === 'waiting' && lock_key !== null ? [lock_key] : []))
    if (keys.length === 0) return jobs
    const holders = await store.holders([...new Set(keys)])
    return jobs.map((job) => {
      const holder = job.status === 'waiting' ? holders.get(job.lock_key ?? '') : undefined
      if (holder !== undefined) return { ...job, waiting_reason: waitingForJob(holder) }
      return isWaitingForJob(job.waiting_reason) ? { ...job, waiting_reason: null } : job
    })
  }

  async function parse(actor: Actor, query: Query): Promise<JobSearch> {
    const main = query.branchId === 'default' ? await deps.findBranch(actor.projectId, 'default') : undefined
    const named = main ? { ...query, branchId: String(main.id) } : query
    return { ...parseJobSearch(named, clock.now(), components.canonicalId), visible: visibleTo(actor) }
  }

  const search = async (actor: Actor, query: Query): Promise<JobRow[]> =>
    asShown(await store.search(actor.projectId, await parse(actor, query)))

  /** Every status with its number, those without jobs too. */
  async function counts(actor: Actor, query: Query): Promise<Readonly<Record<string, number>>> {
    const found = await store.countByStatus(actor.projectId, await parse(actor, query))
    return Object.fromEntries(JOB_STATUSES.map((status) => [status, found.get(status) ?? 0]))
  }

  async function failures(actor: Actor, query: Query, limit: number) {
    const wanted = await parse(actor, { endTimeFrom: FAILURES_SINCE, ...query })
    const groups = groupFailures(await store.failures(actor.projectId, wanted)).slice(0, limit)
    const newest = groups.flatMap(({ configurations }) => configurations.slice(0, 1).map(({ lastJobId }) => lastJobId))
    const messages = await store.messagesOf(actor.projectId, newest)
    return groups.map((group) => failureGroupView(group, messages))
  }

  /** The newest jobs of each group; `groupBy` are names of the search. */
  async function searchGrouped(
    actor: Actor,
    query: Query,
    groupBy: readonly string[],
    perGroup: number,
    limit: number,
  ): Promise<JobGroup[]> {
    const columns = parseGroups(groupBy)
    const groups = new Map<string, { group: Record<string, string>; jobs: JobRow[] }>()
    const max = Math.min(limit * perGroup, MAX_GROUPED)
    const wanted = await parse(actor, query)
    for (const job of await asShown(await store.searchGrouped(actor.projectId, wanted, [...columns.values()], perGroup, max))) {
      const group = Object.fromEntries([...columns].map(([name, column]) => [name, String(job[column] ?? '')]))
      const key = JSON.stringify(group)
      const entry = groups.get(key) ?? { group, jobs: [] }
      entry.jobs.push(job)
      groups.set(key, entry)
    }
    return [...groups.values()].slice(0, limit)
  }

  /** A job that has not started is cancelled, a running one gets a request to end; so are all jobs below it. */
  async function kill(actor: Actor, id: number): Promise<JobRow> {
    const now = clock.now().getTime()
    const { job, killed } = await inTransaction(async (trx) => {
      const found = await store.findForUpdate(trx, actor.projectId, id)
      if (!found) throw new PlatformError('queue.jobNotFound', { id })
      if (!canUseComponent(actor, found.component_id, components.canonicalId)) throw new PlatformError('accessDenied')
      if (found.status === 'terminating') return { job: found, killed: [found.id] }
      if (isFinished(found.status)) throw new PlatformError('queue.notKillable', { id, status: found.status })
      await store.setEndedBy(trx, actor.projectId, found.run_id, actor.tokenDescription)
      const ids = await killTree(trx, found, now)
      return { job: (await store.findForUpdate(trx, actor.projectId, id))!, killed: ids }
    })
    deps.onChange(killed)
    return job
  }

  /** Ends what a restored copy has brought along: the stack it was made of runs it, or has run it long ago. */
  async function cancelBefore(time: Date): Promise<void> {
    for (const { id, project_id } of await store.listOpenRoots(time.getTime()))
      deps.onChange(await inTransaction((trx) => killSteps(trx, project_id, [id])))
  }

  /** A job and everything below it; answers which of them a worker has to stop. */
  async function killTree(trx: Trx, job: JobRow, now: number): Promise<number[]> {
    const below = await store.listBelow(trx, job.project_id, job.run_id)
    const ids: number[] = []
    // A flow first, so that it starts nothing more; then the deepest: a container may end in the same transaction, with its last child.
    const depth = ({ type, run_id }: JobRow) => (type === 'orchestrationContainer' ? Number.MAX_SAFE_INTEGER : 0) + run_id.length
    for (const one of [job, ...below].sort((a, b) => depth(b) - depth(a))) {
      if (await killOne(trx, one, now)) ids.push(one.id)
    }
    return ids
  }

  /** Ends jobs of a flow from within its own step; answers which of them a worker has to stop. */
  async function killSteps(trx: Trx, projectId: number, jobIds: readonly number[]): Promise<number[]> {
    const stopped: number[] = []
    for (const id of jobIds) {
      const job = await store.findForUpdate(trx, projectId, id)
      if (job && !isFinished(job.status)) stopped.push(...(await killTree(trx, job, clock.now().getTime())))
    }
    return stopped
  }

  /** True when a worker has to stop it. */
  async function killOne(trx: Trx, job: JobRow, now: number): Promise<boolean> {
    if (isFinished(job.status) || job.status === 'terminating') return job.status === 'terminating'
    const status = moveJob(job.status, 'kill')
    if (isFinished(status)) {
      await end(
        trx,
        job,
        {
          status,
          result: JSON.stringify({ message: 'The job was cancelled before it started.' }),
          usage: '[]',
          metrics: '[]',
          error: null,
        },
        now,
      )
      return false
    }
    const killed = await store.setStatus(trx, job.id, status, now)
    if (killed.type !== 'standard') {
      await settleContainer(trx, killed, now)
      return false
    }
    return true
  }

  /** Ends a job, frees its configuration, and ends the container it may be the last of. */
  async function end(trx: Trx, job: JobRow, how: JobEnd, now: number): Promise<void> {
    await store.end(trx, job.id, how, now)
    await deps.onEnd?.(trx, jobEndFacts(job, how, now))
    if (job.lock_key !== null) await store.releaseLock(trx, job.id)
    if (job.parent_job_id === null) return
    const parent = await store.findForUpdate(trx, job.project_id, job.parent_job_id)
    if (!parent || isFinished(parent.status)) return
    if (parent.type === 'orchestrationContainer' && parent.status !== 'terminating') await wakeFlow(trx, parent, job, how)
    else await settleContainer(trx, parent, now)
  }

  /** A flow has something to decide when a job failed, or was the last of those it waits for together. */
  async function wakeFlow(trx: Trx, flow: JobRow, { step_group }: JobRow, { status }: JobEnd): Promise<void> {
    const isGood = status === 'success' || status === 'warning'
    if (!isGood || !(await store.hasOpenSteps(trx, flow.id, step_group))) await deps.flows.wake(trx, flow)
  }

  async function settleContainer(trx: Trx, container: JobRow, now: number): Promise<void> {
    const children = await store.listChildren(trx, container.id)
    if (children.some((child) => !isFinished(child.status))) return
    const ended = containerEnd(container, children)
    if (container.type !== 'orchestrationContainer') return end(trx, container, ended, now)
    const { message } = JSON.parse(ended.result) as { message: string } // written by containerEnd
    await end(
      trx,
      container,
      { ...ended, result: JSON.stringify({ message, ...(await deps.flows.progress(trx, container, true)) }) },
      now,
    )
  }

  /** The flow still runs: nothing below it is decided by another worker until the transaction ends. */
  async function holdFlow(trx: Trx, projectId: number, id: number): Promise<JobRow | undefined> {
    const flow = await store.findForUpdate(trx, projectId, id)
    return flow?.status === 'processing' ? flow : undefined
  }

  /** By its plan; a kill ends it by itself. */
  async function endFlow(trx: Trx, { projectId, id }: { projectId: number; id: number }, how: FlowEnd): Promise<void> {
    const flow = (await store.findForUpdate(trx, projectId, id))! // held by the transaction
    const { message, ...more } = how.result
    const isError = how.status === 'error'
    const cause = isError ? jobCause('parts.failed', 'jobRunner.componentFailed') : null
    const result = { message, ...(isError ? { error: { type: 'user', exceptionId: `job-${flow.id}`, cause } } : {}), ...more }
    const moves = { success: 'succeed', warning: 'warn', error: 'fail' } as const
    const ended = { status: moveJob(flow.status, moves[how.status]), result: JSON.stringify(result), usage: '[]', metrics: '[]' }
    await end(trx, flow, { ...ended, error: isError ? message : null, cause }, clock.now().getTime())
  }

  /** Makes the jobs of a container's rows, in the order they run; a container without any ends at once. */
  async function openContainer(trx: Trx, container: JobRow, rowIds: readonly string[], now: number): Promise<void> {
    const { parallelism } = JSON.parse(container.request) as { parallelism: string | null } // written by jobRow
    for (const rowId of rowIds) {
      const { id: _, run_id: __, ...copy } = container
      await store.insert(trx, {
        ...copy,
        type: 'standard',
        status: 'created',
        parent_run_id: container.run_id,
        parent_job_id: container.id,
        row_ids: JSON.stringify([rowId]),
        deduplication_id: null,
        lock_key: container.lock_key === null ? null : `${container.lock_key}/${rowId}`,
        step_group: null,
        sibling_limit: parallelism === 'infinity' ? null : Number(parallelism),
        created_at: now,
        start_after: AT_ONCE,
        started_at: null,
        updated_at: now,
        attempt: 0,
        worker: null,
        lease_until: null,
        has_begun: 0,
      })
    }
    await store.leaveOpen(trx, container.id, now)
    await settleContainer(trx, container, now)
  }

  return {
    create,
    prepare,
    insert,
    /** For schedules and triggers: checked now, written in a transaction of theirs. */
    async prepareLater(actor: Actor, request: JobRequest, options: CreateOptions) {
      const prepared = await prepare(actor, request, options)
      return { insert: async (trx: Trx) => ({ id: String((await insert(trx, prepared)).id) }) }
    },
    wake: () => deps.onChange(),
    changed: deps.onChange,
    hasUnfinished: (projectId: number, componentId: string, configurationId: string): Promise<boolean> =>
      store.hasUnfinished(projectId, components.canonicalId(componentId), configurationId),
    get,
    states,
    search,
    counts,
    failures,
    searchGrouped,
    kill,
    cancelBefore,
    end,
    endFlow,
    holdFlow,
    killSteps,
    listSteps: store.listSteps,
    listProcessing: store.listProcessing,
    listEarlierRuns: store.listEarlierRuns,
    find: store.find,
    openContainer,
    leaveOpen: (trx: Trx, id: number): Promise<void> => store.leaveOpen(trx, id, clock.now().getTime()),
    projectStats: async (actor: Actor): Promise<{ jobs: { durationSum: number } }> => ({
      jobs: { durationSum: Math.round((await store.durationSumMs(actor.projectId)) / 1000) },
    }),
    dailyDurations: async (actor: Actor, query: Query): Promise<readonly DailyDuration[]> => {
      const range = parseDailyRange(query, clock.now())
      return dailyDurations(range, await store.durationMsByDay(actor.projectId, range))
    },
    workload: () => store.workload(clock.now().getTime()),
  }
}

/** Rehearsals run in development branches only, and components that are not safe there do not. */
function refuseByBranch(component: QueuedComponent, runtime: JobRuntime, isDefault: boolean, mode: JobRequest['mode']): void {
  if (!isDefault) refuseInBranch(component, runtime)
  else if (mode === 'rehearse')
    throw new PlatformError('queue.notRunnable', {
      component: component.id,
      reason: 'a rehearsal runs in a development branch.',
    })
}

/** spec platform 1.25: what a component does outside the project, it does for real, in whichever branch it runs. */
function refuseInBranch({ id, features }: QueuedComponent, { isSafe }: JobRuntime): void {
  if (features.includes('dev-branch-job-blocked'))
    throw new PlatformError('queue.notRunnable', { component: id, reason: 'it does not run in development branches.' })
  if (features.includes('dev-branch-configuration-unsafe') && !isSafe)
    throw new PlatformError('queue.notRunnable', {
      component: id,
      reason:
        'in a development branch it may change things outside the project. Look at the configuration, and allow it with "runtime": {"safe": true}.',
    })
}

function typeOf({ isFlow }: QueuedComponent, parallelism: string | null, rows: number): JobType {
  if (isFlow) return 'orchestrationContainer'
  return parallelism !== null && parallelism !== '0' && rows > 1 ? 'container' : 'standard'
}

/** A request that is sent again has the same in all of these. */
const WHAT_RUNS = ['component_id', 'configuration_id', 'branch_id', 'row_ids', 'mode'] as const

/** When the question names no time. */
const FAILURES_SINCE = '-7 days'

/** Most jobs in one answer, whatever the groups: an answer is held in memory. */
const MAX_GROUPED = 10_000

function containerEnd(container: JobRow, children: readonly JobRow[]): JobEnd {
  const { behavior } = JSON.parse(container.request) as { behavior: { onError: string | null } } // written by jobRow
  const bad = children.filter((child) => child.status !== 'success' && child.status !== 'warning')
  const message = bad.map((child) => `Row ${rowOf(child)} ended with ${child.status}: ${messageOf(child)}`).join('\n')
  const ended = { usage: '[]', metrics: '[]' }
  if (container.status === 'terminating')
    return {
      ...ended,
      status: moveJob('terminating', 'endKilled'),
      result: JSON.stringify({ message: 'The job was terminated.' }),
      error: null,
    }
  if (bad.length === 0) {
    const status = moveJob(container.status, children.some((child) => child.status === 'warning') ? 'warn' : 'succeed')
    return {
      ...ended,
      status,
      result: JSON.stringify({ message: `${counted(children.length, 'row')} ${wasOrWere(children.length)} processed.` }),
      error: null,
    }
  }
  const tolerated = behavior.onError === 'warning'
  const cause = tolerated ? null : jobCause('parts.failed', 'jobRunner.componentFailed')
  const result = JSON.stringify({
    message,
    ...(tolerated ? {} : { error: { type: 'user', exceptionId: `job-${container.id}`, cause } }),
  })
  const status = moveJob(container.status, tolerated ? 'warn' : 'fail')
  return { ...ended, status, result, error: tolerated ? null : message, cause }
}

const rowOf = (job: JobRow): string => readStored<string[]>(job.row_ids ?? '[]').join(', ')

function messageOf(job: JobRow): string {
  const { message } = readStored<{ message?: string }>(job.result) // a result is an object, its message a text
  return job.error ?? message ?? ''
}

/** As the queue needs it; a description that cannot be used has the reason. */
const unknownComponent = (components: ComponentProblems, component: string): PlatformError =>
  components.problemOf(component) === undefined
    ? new PlatformError('queue.unknownComponent', { component })
    : componentMissing(components, component)
