// A job as the queue passes it to the job runner.

import type { Actor } from './actor.ts'

export interface QueuedJob {
  readonly id: number
  readonly projectId: number
  readonly branchId: number
  readonly isDefaultBranch: boolean
  readonly componentId: string
  readonly configurationId: string | null
  readonly configData: string | null
  readonly rowIds: readonly string[] | null
  readonly mode: 'run' | 'forceRun' | 'debug' | 'rehearse'
  /** Of debug mode: the folder as the component would find it, and nothing more. */
  readonly inputOnly: boolean
  /** As requested with the job. */
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
  /** From when on it could have run, and since when it does; milliseconds. */
  readonly readyAt: number
  readonly startedAt: number
}

export const placeOf = (job: QueuedJob) => ({
  projectId: job.projectId,
  branchId: job.branchId,
  componentId: job.componentId,
  configurationId: job.configurationId ?? undefined,
  isDefaultBranch: job.isDefaultBranch,
})
