// Flows as they run. What happens next is decided by advance.ts; here the facts are read, and what was decided is written: the state, new
// jobs, ends and messages in one transaction, or nothing of it.
//  (1) A decision is written only over the revision it was made from; a job that ends raises the revision and makes the flow due.
//  (2) So every task is started once, by whichever node decides first, and a crash at any moment is a decision not yet made.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { RecordChange } from '../../../model/change.ts'
import type { EventType, RecordEvent } from '../../../model/event.ts'
import type { FlowJob, FlowQueue, StepJobs, StepStart } from '../../../model/flow-ports.ts'
import type { NotificationPort } from '../../../model/notification-port.ts'
import { advance, type Decision, type EndedPhase, startState } from './advance.ts'
import { type FlowPlan, onlyTasks, unknownTasks } from './flow-plan.ts'
import { resultOf, succeededTasks } from './flow-result.ts'
import type { FlowState, Step, StepEnd } from './flow-state.ts'
import { createFlowsStore, type FlowRun } from './flows.store.ts'
import type { FlowPlace, FlowValidation } from './validation.ts'

export interface FlowToRun extends FlowPlace {
  readonly configurationId: string | undefined
  /** JSON text. */
  readonly configuration: string
  readonly onlyTaskIds: readonly string[] | undefined
}

export interface FlowsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly queue: FlowQueue
  readonly validation: FlowValidation
  readonly configurations: {
    /** JSON text; undefined when there is none. */
    find(place: FlowPlace, configurationId: string): Promise<string | undefined>
    /** Values of variables: of the row named, else of the configuration's default row. */
    variables(place: FlowPlace, configuration: string, valuesId: string | null): Promise<Readonly<Record<string, unknown>>>
  }
  readonly notifications: NotificationPort
  readonly recordChange: RecordChange
  /** Opens secrets that were encrypted for the configuration of the flow; JSON text in, JSON text out. */
  readonly decrypt: (flow: FlowJob, text: string) => Promise<string>
  readonly recordEvent: RecordEvent
  readonly onError: (error: unknown, jobId: number) => void
}

export type Flows = ReturnType<typeof createFlows>

export function createFlows(deps: FlowsDeps) {
  const { db, inTransaction, clock, queue } = deps
  const store = createFlowsStore(db)

  function chosen(plan: FlowPlan, taskIds: readonly string[] | null | undefined): FlowPlan {
    if (!taskIds || taskIds.length === 0) return plan
    const unknown = unknownTasks(plan, taskIds)
    if (unknown.length > 0) throw new PlatformError('flows.unknownTasks', { tasks: unknown.join(', ') })
    return onlyTasks(plan, taskIds)
  }

  async function check(flow: FlowToRun): Promise<void> {
    chosen(await deps.validation.planToRun(flow, flow.configurationId, flow.configuration), flow.onlyTaskIds)
  }

  /** Everything is read and refused before the transaction that begins the run. */
  async function open(job: FlowJob): Promise<(trx: Trx) => Promise<void>> {
    const text = job.configData ?? (await deps.configurations.find(job, job.configurationId ?? ''))
    if (text === undefined)
      throw new PlatformError('storage.configuration.notFound', { id: job.configurationId ?? '', component: job.componentId })
    const plan = chosen(await deps.validation.planToRun(job, job.configurationId ?? undefined, text), job.onlyTaskIds)
    const previous = await previousRun(job)
    const kept = previous ? await keptOf(previous) : {}
    const variables = {
      ...(await deps.configurations.variables(job, text, job.variableValuesId)),
      ...(Object.keys(kept).length > 0 ? previous?.state.variables : {}),
      ...Object.fromEntries(job.variableValues.map(({ name, value }) => [name, value])),
    }
    return (trx) =>
      store.insert(trx, {
        jobId: job.id,
        projectId: job.projectId,
        plan,
        state: startState(clock.now().getTime(), variables, kept),
      })
  }

  async function previousRun({ projectId, configurationId, previousJobId }: FlowJob): Promise<FlowRun | undefined> {
    if (previousJobId === null) return undefined
    const run = await store.find(db, projectId, previousJobId)
    if (run && (await queue.configurationOf(projectId, previousJobId)) === configurationId) return run
    throw new PlatformError('flows.notARun', { id: previousJobId })
  }

  /** Of a run in which everything succeeded nothing is kept: running it again runs it whole. */
  async function keptOf(previous: FlowRun): Promise<Readonly<Record<string, StepEnd>>> {
    const jobs = await jobsOf(db, previous)
    const kept = succeededTasks(previous.plan, previous.state, jobs)
    const { end } = advance(previous.plan, previous.state, jobs, clock.now().getTime())
    return end?.status === 'success' ? {} : kept
  }

  const jobsOf = (from: Db, { projectId, jobId, state }: FlowRun): Promise<StepJobs> =>
    queue.listJobs(
      from,
      projectId,
      jobId,
      Object.values(state.kept).flatMap(({ jobId: id }) => (id === undefined ? [] : [id])),
    )

  async function progress(from: Db, projectId: number, jobId: number, hasEnded: boolean): Promise<Record<string, unknown>> {
    const run = await store.find(from, projectId, jobId)
    if (!run) return {}
    return { ...resultOf(run.plan, run.state, await jobsOf(from, run), clock.now().getTime(), hasEnded) }
  }

  /** Decides what is next for flows that are due; answers how many of them advanced. One that fails does not stop the others. */
  async function advanceDue(): Promise<number> {
    let count = 0
    for (const { project_id, job_id } of await store.listDue(clock.now().getTime(), BATCH)) {
      try {
        await advanceOne(project_id, job_id)
        count++
      } catch (error) {
        deps.onError(error, job_id)
      }
    }
    return count
  }

  async function advanceOne(projectId: number, jobId: number): Promise<void> {
    const run = await store.find(db, projectId, jobId)
    const flow = await queue.find(projectId, jobId)
    if (!run) return
    if (!flow) return store.rest(projectId, jobId)
    const jobs = await jobsOf(db, run)
    const now = clock.now().getTime()
    const decision = advance(run.plan, run.state, jobs, now)
    const prepared = await prepareAll(flow, decision.starts)
    const killed = await inTransaction((trx) => write(trx, { run, flow, jobs, now, decision, prepared }))
    if (killed) queue.committed(killed)
  }

  /** A job that cannot be queued is a task that failed: its configuration may be gone. */
  async function prepareAll(flow: FlowJob, starts: readonly StepStart[]): Promise<readonly PreparedStart[]> {
    const prepared: PreparedStart[] = []
    for (const start of starts) {
      const job = await prepareOne(flow, start).catch((error: unknown) => {
        if (error instanceof PlatformError && error.kind !== 'bug' && error.kind !== 'transient') return error.message
        throw error
      })
      prepared.push({ start, job })
    }
    return prepared
  }

  /** Secrets of a task were encrypted with the flow, for the flow; the queue encrypts them again for the component that gets them. */
  async function prepareOne(flow: FlowJob, start: StepStart): Promise<{ insert(trx: Trx): Promise<number> }> {
    const { configData } = start.work
    if (configData === undefined) return queue.prepare(flow, start)
    const opened = await deps.decrypt(flow, configData).catch((error: unknown) => {
      if (error instanceof PlatformError) return configData // encrypted for the component itself: it decrypts them, or reports that it cannot
      throw error
    })
    return queue.prepare(flow, { ...start, work: { ...start.work, configData: opened } })
  }

  /** Undefined if another worker was faster. */
  async function write(trx: Trx, { run, flow, jobs, now, decision, prepared }: Decided): Promise<readonly number[] | undefined> {
    if (!(await queue.hold(trx, flow.projectId, flow.id)) || !(await store.claim(trx, run))) return undefined
    let { state } = decision
    for (const { start, job } of prepared) {
      const step: Step =
        typeof job === 'string'
          ? { kind: 'done', end: { status: 'user_error', message: job, startedAt: now, endedAt: now } }
          : { kind: 'job', jobId: await job.insert(trx) }
      state = withLastStep(state, start, step)
    }
    // A task that could not be queued has ended: what follows is decided at once.
    const wakeAt = prepared.some(({ job }) => typeof job === 'string') ? now : decision.wakeAt
    await store.save(trx, run, state, decision.end ? null : wakeAt)
    await deps.recordChange(trx, [
      {
        ...placeOf(flow),
        kind: 'flow',
        objectId: String(flow.id),
        state: decision.end?.status ?? 'processing',
        version: run.revision + 1,
        tokenId: flow.actor.tokenId,
      },
    ])
    for (const { title, message, recipients } of decision.notifications)
      await deps.notifications.notify(trx, { projectId: flow.projectId, recipients, title, message, jobId: flow.id })
    for (const { kind, ...ended } of decision.moves.filter((move) => move.kind === 'ended'))
      await deps.notifications.phaseEnded(trx, { ...placeOf(flow), ...ended })
    await tell(trx, flow, decision)
    const killed = await queue.kill(trx, flow.projectId, decision.kills)
    if (decision.end) {
      const { status, message } = decision.end
      await queue.end(trx, flow, { status, result: { message, ...resultOf(run.plan, state, jobs, now, true) } })
    }
    return killed
  }

  /** What `GET jobs/{id}/events` shows of a flow. */
  async function tell(trx: Trx, flow: FlowJob, { moves, end }: Decision): Promise<void> {
    const { actor, componentId, configurationId, branchId } = flow
    const say = (type: EventType, message: string) =>
      deps.recordEvent(
        trx,
        actor,
        {
          event: `ext.${componentId}.${configurationId ?? ''}`,
          component: componentId,
          configurationId,
          branchId,
          type,
          message,
        },
        { runId: String(flow.id), remoteAddress: null, userAgent: null },
      )
    for (const move of moves) {
      if (move.kind === 'started') await say('info', `Phase "${move.name}" started.`)
      else await say(TYPES[move.status], `Phase "${move.phase.name}" ended with ${detailsOf(move)}`)
    }
    if (end) await say(end.status === 'success' ? 'success' : TYPES[end.status], end.message)
  }

  return {
    check,
    open,
    progress,
    advanceDue,
    wake: (trx: Trx, projectId: number, jobId: number): Promise<void> => store.wake(trx, projectId, jobId),
  }
}

const BATCH = 20
const LONGEST_DETAILS = 1_000
const TYPES = { success: 'info', warning: 'warn', error: 'error' } as const

interface PreparedStart {
  readonly start: StepStart
  /** A text is the reason why it cannot be queued. */
  readonly job: { insert(trx: Trx): Promise<number> } | string
}

interface Decided {
  readonly run: FlowRun
  readonly flow: FlowJob
  readonly jobs: StepJobs
  readonly now: number
  readonly decision: Decision
  readonly prepared: readonly PreparedStart[]
}

const detailsOf = ({ status, errorMessage }: EndedPhase): string =>
  errorMessage === '' ? `${status}.` : `${status}: ${errorMessage.slice(0, LONGEST_DETAILS)}`

/** The place that advance.ts has left for the job is filled. */
function withLastStep(state: FlowState, { visit: at, task: index }: StepStart, step: Step): FlowState {
  const visit = state.visits[at]! // advance.ts made both
  const run = visit.tasks[index]!
  const tasks = visit.tasks.with(index, { ...run, steps: run.steps.with(-1, step) })
  return { ...state, visits: state.visits.with(at, { ...visit, tasks }) }
}

const placeOf = ({ id, projectId, branchId, isDefaultBranch, componentId, configurationId }: FlowJob) => ({
  projectId,
  branchId,
  isDefaultBranch,
  jobId: id,
  componentId,
  configurationId,
})
