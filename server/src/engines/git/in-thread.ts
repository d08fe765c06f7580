// Work of git is done in threads: it keeps a processor busy, and it can be stopped. A thread takes one order at a time. It is kept for a
// while for the next one, because most orders take less time than the start of a thread.

import { Worker } from 'node:worker_threads'

const THREAD_MEMORY_MB = 512
const KEPT_MS = 5_000

type Answer<T> = T | { readonly problem: string }

interface Thread<T> {
  readonly worker: Worker
  /** Ends the wait for its present order. */
  settle(answer: Answer<T>): void
  isStopped: boolean
}

/** Answers `{ problem }` when the thread fails or is stopped. */
export function createThreads<Order extends object, T>(file: URL): (order: Order, signal: AbortSignal) => Promise<Answer<T>> {
  let idle: Thread<T> | undefined

  function start(): Thread<T> {
    const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB } })
    const thread: Thread<T> = { worker, settle: () => {}, isStopped: false }
    worker.on('message', (answer: T) => {
      thread.settle(answer)
      if (!thread.isStopped) keep(thread)
    })
    worker.on('error', (error: Error) => thread.settle({ problem: error.message }))
    worker.on('exit', () => {
      if (idle === thread) idle = undefined
      thread.settle({ problem: 'The work was stopped.' })
    })
    return thread
  }

  function take(): Thread<T> {
    const thread = idle ?? start()
    idle = undefined
    thread.worker.ref()
    return thread
  }

  function keep(thread: Thread<T>): void {
    if (idle) return void thread.worker.terminate()
    idle = thread
    thread.worker.unref()
    setTimeout(() => {
      if (idle !== thread) return
      idle = undefined
      void thread.worker.terminate()
    }, KEPT_MS).unref()
  }

  return (order, signal) => {
    const thread = take()
    const stop = () => {
      thread.isStopped = true
      void thread.worker.terminate()
    }
    signal.addEventListener('abort', stop)
    return new Promise<Answer<T>>((resolve) => {
      thread.settle = resolve
      if (signal.aborted) stop()
      else thread.worker.postMessage(order)
    }).finally(() => signal.removeEventListener('abort', stop))
  }
}
