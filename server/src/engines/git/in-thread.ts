// Work of git is done in a thread: it keeps a processor busy, and it can be stopped.

import { Worker } from 'node:worker_threads'

const THREAD_MEMORY_MB = 512

/** Answers `{ problem }` when the thread fails or is stopped. */
export function inThread<T>(file: URL, order: object, signal: AbortSignal): Promise<T | { readonly problem: string }> {
  const thread = new Worker(file, { workerData: order, resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB } })
  const stop = () => void thread.terminate()
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return new Promise<T | { readonly problem: string }>((resolve) => {
    thread.once('message', resolve)
    thread.once('error', (error) => resolve({ problem: error.message }))
    thread.once('exit', () => resolve({ problem: 'The work was stopped.' }))
  }).finally(() => signal.removeEventListener('abort', stop))
}
