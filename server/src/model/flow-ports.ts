// Between flows and the queue: the job of a flow, the jobs of its tasks, and the calls between the two.

import type { Db, Trx } from '../engines/metadata-db/dialects.ts'
import type { Actor } from './actor.ts'

/** The job of a flow, as the queue has it. */
export interface FlowJob {
  readonly id: number
  readonly projectId: number
  readonly branchId: number
  readonly isDefaultBranch: boolean
  readonly componentId: string
  readonly configurationId: string | null
  /** JSON text; null: the stored configuration. */
  readonly configData: string | null
  readonly variableValuesId: string | null
  readonly variableValues: readonly { readonly name: string; readonly value: unknown }[]
  readonly onlyTaskIds: readonly string[] | null
  readonly previousJobId: number | null
  /** Who started it: the jobs of its tasks run with the same rights. */
  readonly actor: Actor
  readonly runId: string
  readonly baseUrl: string
  /** How many of its jobs run at once; null: as many as can. */
  readonly parallelism: number | null
}

export interface RunningFlow {
  readonly flow: FlowJob
  readonly earlierRunIds: readonly number[]
}

export interface VariableValue {
  readonly name: string
  readonly value: unknown
}

/** What a task of type job runs. */
export interface JobWork {
  readonly type: 'job'
  readonly component: string
  readonly config?: string
  /** JSON text. */
  readonly configData?: string
  readonly configRowIds?: readonly string[]
  readonly mode?: 'run' | 'forceRun' | 'debug' | 'rehearse'
  readonly tag?: string
  readonly variableValuesId?: string
  readonly variableValues: readonly VariableValue[]
  /** Names of flow variables that reach the job; undefined: all. */
  readonly variableOverrides?: readonly string[]
  readonly previousJobId?: string
  readonly parallelism?: string
  readonly delayMs: number
}

/** A job to queue for a task. */
export interface StepStart {
  readonly visit: number
  readonly task: number
  readonly phaseId: string
  readonly taskId: string
  readonly work: JobWork
  /** Variables of the flow that reach the job. */
  readonly variableOverrides: readonly VariableValue[]
  /** Null: at once. */
  readonly startAfter: number | null
}

/** The job of a task as the queue has it. */
export interface StepJob {
  readonly id: number
  readonly status: string
  readonly isFinished: boolean
  readonly component: string
  readonly config: string | null
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly result: Readonly<Record<string, unknown>>
  readonly error: string | null
}

export type StepJobs = ReadonlyMap<number, StepJob>

/** How a flow ends by its plan. */
export interface FlowEnd {
  readonly status: 'success' | 'warning' | 'error'
  readonly result: { readonly message: string; readonly [name: string]: unknown }
}

/** What flows need of the queue. */
export interface FlowQueue {
  /** Flows of the default branch that run now, with those of their last runs that ended well. */
  listRunning(projectIds: readonly number[], runs: number): Promise<readonly RunningFlow[]>
  /** A flow that still runs. */
  find(projectId: number, jobId: number): Promise<FlowJob | undefined>
  /** Which configuration a job ran. */
  configurationOf(projectId: number, jobId: number): Promise<string | null | undefined>
  /** The same, locked until the transaction ends. */
  hold(trx: Trx, projectId: number, jobId: number): Promise<boolean>
  /** The jobs of its tasks, and others by id. */
  listJobs(from: Db, projectId: number, jobId: number, otherIds: readonly number[]): Promise<StepJobs>
  /** Refuses with a PlatformError what cannot run; `insert` queues it in the transaction of the step and answers its id. */
  prepare(flow: FlowJob, start: StepStart): Promise<{ insert(trx: Trx): Promise<number> }>
  /** Answers which of the jobs a worker has to stop. */
  kill(trx: Trx, projectId: number, jobIds: readonly number[]): Promise<readonly number[]>
  end(trx: Trx, flow: FlowJob, end: FlowEnd): Promise<void>
  /** What was queued and killed is committed. */
  committed(killed: readonly number[]): void
}
