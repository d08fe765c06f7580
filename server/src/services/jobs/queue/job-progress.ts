// Stores the progress of a job, at most once in a while: the newest value counts. A job that ends sooner writes nothing.

import type { JobProgress } from '../../../model/job-progress.ts'

export interface ProgressWriterDeps {
  readonly write: (progress: JobProgress) => Promise<void>
  readonly everyMs: number
  readonly onError: (error: unknown) => void
}

export function createProgressWriter({ write, everyMs, onError }: ProgressWriterDeps) {
  let newest: JobProgress | undefined
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let isStopped = false

  function flush(): void {
    timer = undefined
    const progress = newest
    newest = undefined
    if (progress) writing = write(progress).catch(notWritten(progress)).finally(written)
  }

  /** It is stored with the next turn, unless there is a newer value. */
  const notWritten = (progress: JobProgress) => (error: unknown) => {
    onError(error)
    if (!isStopped) newest ??= progress
  }

  /** A slow database gets the next word when it has taken the one before. */
  function written(): void {
    writing = undefined
    if (newest) wait()
  }

  function wait(): void {
    if (timer === undefined && writing === undefined) timer = setTimeout(flush, everyMs).unref()
  }

  return {
    tell(progress: JobProgress): void {
      newest = progress
      wait()
    },
    /** What was not written yet is not worth it any more. */
    async stop(): Promise<void> {
      isStopped = true
      newest = undefined
      clearTimeout(timer)
      await writing
    },
  }
}
