// Tries again what may work a moment later: errors of kind `transient`, with growing, scattered pauses.

import { setTimeout as sleep } from 'node:timers/promises'
import { PlatformError } from './errors.ts'

export interface RetryOptions {
  /** Including the first. */
  readonly attempts: number
  readonly firstPauseMs: number
  readonly longestPauseMs: number
  readonly isWorthRetrying?: (error: unknown) => boolean
  readonly signal?: AbortSignal
  readonly pause?: (ms: number, signal?: AbortSignal) => Promise<void>
}

const isTransient = (error: unknown): boolean => error instanceof PlatformError && error.kind === 'transient'

export async function retry<T>(work: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { attempts, firstPauseMs, longestPauseMs, isWorthRetrying = isTransient, signal, pause = pauseFor } = options
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt)
    } catch (error) {
      if (attempt >= attempts || signal?.aborted || !isWorthRetrying(error)) throw error
      const longest = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1))
      await pause(longest / 2 + (Math.random() * longest) / 2, signal) // with jitter, so that callers that failed together do not retry together
    }
  }
}

const pauseFor = (ms: number, signal?: AbortSignal): Promise<void> => sleep(ms, undefined, signal ? { signal } : undefined)
