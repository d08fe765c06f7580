// A flow as it runs: both public formats become this one plan (spec platform 2.7, 2.11). It is written when the run starts and never
// changes; everything that happens is in the state.

import type { JobWork } from '../../../model/flow-ports.ts'
import type { NotificationRecipient } from '../../../model/notification-port.ts'
import type { Condition } from './conditions.ts'

export type FlowFormat = 'orchestrator' | 'flow'

/** Components whose configurations are flows. */
const FORMATS: ReadonlyMap<string, FlowFormat> = new Map([
  ['keboola.orchestrator', 'orchestrator'],
  ['keboola.flow', 'flow'],
])

/** Undefined for a component whose configurations are not flows. */
export const flowFormatOf = (canonicalId: string): FlowFormat | undefined => FORMATS.get(canonicalId)

export interface FlowPlan {
  readonly format: FlowFormat
  readonly phases: readonly PlannedPhase[]
  /** Only chosen tasks run: conditions are ignored, phases follow each other, and a failed task stops nothing. */
  readonly isPartial: boolean
  readonly timeLimitMs: number | null
}

export interface PlannedPhase {
  readonly id: string
  readonly name: string
  /** Of the orchestrator: phases that have to end before. */
  readonly dependsOn: readonly string[]
  /** Of the orchestrator: tasks that fail are tolerated. */
  readonly isTolerant: boolean
  /** Of the flow: where to go when the phase has ended; the first whose condition is true. */
  readonly next: readonly Transition[]
  readonly retry: Retry | null
  readonly tasks: readonly PlannedTask[]
}

export interface Transition {
  /** Undefined is always true. */
  readonly condition?: Condition
  /** Null ends the flow. */
  readonly goto: string | null
}

export interface PlannedTask {
  readonly id: string
  readonly name: string
  readonly isEnabled: boolean
  readonly continueOnFailure: boolean
  readonly retry: Retry | null
  readonly timeLimitMs: number | null
  readonly work: Work
  /** In the list of tasks of the configuration. */
  readonly index: number
}

export type Work = JobWork | VariableWork | NotificationWork

export interface VariableWork {
  readonly type: 'variable'
  readonly name: string
  readonly value?: unknown
  readonly source?: Condition
}

export interface NotificationWork {
  readonly type: 'notification'
  readonly title: string
  readonly message: string
  readonly recipients: readonly NotificationRecipient[]
}

/** `most` retries, each `delayMs` after the previous failure. Stored with the plan of a running flow, so the name stays. */
export interface Retry {
  readonly most: number
  readonly delayMs: number
  /** Failures it is for; empty: all. */
  readonly on: readonly { readonly type: 'contains' | 'exact'; readonly value: string }[]
}

export const retriesMessage = ({ on }: Retry, message: string): boolean =>
  on.length === 0 || on.some(({ type, value }) => (type === 'exact' ? message === value : message.includes(value)))

/** The plan with only these tasks (spec platform 2.2: onlyOrchestrationTaskIds, onlyFlowTaskIds); disabled ones run when they are named. */
export function onlyTasks(plan: FlowPlan, taskIds: readonly string[]): FlowPlan {
  const chosen = new Set(taskIds)
  const phases = plan.phases.map((phase) => ({
    ...phase,
    tasks: phase.tasks.map((task) => ({ ...task, isEnabled: chosen.has(task.id) })),
  }))
  return { ...plan, phases, isPartial: plan.format === 'flow' }
}

export const unknownTasks = (plan: FlowPlan, taskIds: readonly string[]): string[] => {
  const known = new Set(plan.phases.flatMap(({ tasks }) => tasks.map(({ id }) => id)))
  return taskIds.filter((id) => !known.has(id))
}
