// A job as the queue hands it over, with what is asked of it at several places.

import type { Actor } from '../../model/actor.ts'
import type { RowPlan } from './run-configuration.ts'

export interface QueuedJob {
  readonly id: number
  readonly projectId: number
  readonly branchId: number
  readonly isDefaultBranch: boolean
  readonly componentId: string
  readonly configurationId: string | null
  readonly configData: string | null
  readonly rowIds: readonly string[] | null
  readonly mode: 'run' | 'forceRun' | 'debug'
  /** Of debug mode: the folder as the component would find it, and nothing more. */
  readonly inputOnly: boolean
  /** As asked for with the job. */
  readonly tag: string | null
  readonly actor: Actor
  readonly variableValuesId: string | null
  readonly variableValues: readonly { readonly name: string; readonly value: unknown }[]
  /** Of the flow the job belongs to; they win. */
  readonly variableOverrides: readonly { readonly name: string; readonly value: unknown }[]
  readonly backend: string | undefined
  readonly backendContext: string | undefined
  readonly orchestrationId: string | null
  readonly baseUrl: string
}

export const placeOf = (job: QueuedJob) => ({
  projectId: job.projectId,
  branchId: job.branchId,
  componentId: job.componentId,
  configurationId: job.configurationId ?? undefined,
  isDefaultBranch: job.isDefaultBranch,
})

/** A word for the bill, asked for with the job or in the configuration. */
export const contextOf = ({ backendContext }: QueuedJob, { runtime: { backend } }: RowPlan): string | undefined =>
  backendContext ?? (Array.isArray(backend) ? undefined : (backend?.context ?? undefined))
