// The figures of a queue for monitoring.

export interface Workload {
  /** Jobs that wait or run, by status; a status that no job has is 0. */
  readonly open: Readonly<Record<string, number>>
  /** Jobs that ever ended, by outcome; empty where they are not counted. */
  readonly ended: Readonly<Record<string, number>>
  /** How long the oldest job has been waiting that could have started; 0 when none waits. */
  readonly oldestWaitingMs: number
}
