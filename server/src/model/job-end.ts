// A job that ends, as the queue passes it to other modules in the transaction of its end.

export interface JobEndFacts {
  readonly projectId: number
  readonly branchId: number
  readonly isDefaultBranch: boolean
  readonly jobId: number
  /** `standard`, or a container that only waits for its jobs. */
  readonly type: string
  readonly componentId: string
  readonly configurationId: string | null
  readonly status: string
  /** Part of a job that is reported as a whole: a row of a container, a phase, a try that is repeated. */
  readonly isPart: boolean
  /** Bytes of the tables it read. */
  readonly inputBytes: number
  readonly errorMessage: string | null
  /** Epoch milliseconds. */
  readonly startedAt: number | null
  readonly endedAt: number
  /** The stack's address as the client of the job saw it. */
  readonly baseUrl: string
  /** `result.tasks` of a flow. */
  readonly tasks: readonly unknown[]
}
