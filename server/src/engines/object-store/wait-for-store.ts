// A store that cannot be reached is waited for: a restart of an S3, or a minute without network, fails no job.

import { PlatformError } from '../../kit/errors.ts'
import { retry } from '../../kit/retry.ts'

export const isStoreAway = (error: unknown): boolean => error instanceof PlatformError && error.code === 'storage.unavailable'

/** Repeats work that failed because the store could not be reached. The work must be safe to repeat. */
export type WaitForStore = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/** `waitMs`: how long work waits for a store that does not answer. 0: it fails at once. */
export const createWaitForStore =
  (waitMs: number): WaitForStore =>
  (work, signal) => {
    const end = performance.now() + waitMs
    return retry(work, {
      attempts: Number.POSITIVE_INFINITY,
      firstPauseMs: 250,
      longestPauseMs: 5_000,
      isWorthRetrying: (error) => isStoreAway(error) && performance.now() < end,
      ...(signal && { signal }),
    })
  }
