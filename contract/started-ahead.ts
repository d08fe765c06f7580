// A process of a built-in program may be started before its job exists (ADR 0062): it loads the program and waits in `untilJob()`.
// server/src/engines/runner/spares/spare-program.mjs is the other side.

const ARRIVAL = Symbol.for('millrace.untilJob')

/**
 * The first statement of a built-in program: nothing of a job, its environment and its data folder, may be read before it.
 * Returns at once in a process that was started for its job.
 */
export function untilJob(): void {
  const arrival = (globalThis as Record<symbol, unknown>)[ARRIVAL] as (() => void) | undefined // set by spare-program.mjs only
  arrival?.()
}
