// The share of the disk a run has, kept while the platform itself fills the data folder: nothing runs yet that could be stopped, so
// what is being written is.

import { type DataFolder, sizeOf } from './data-folder.ts'

export interface DiskQuota {
  readonly folder: DataFolder
  readonly bytes: number
  /** Thrown when the folder grows beyond it. */
  readonly excess: () => Error
}

const LOOK_MS = 100

/** Does `work`, which writes into the folder and stops with its signal. */
export async function withinQuota<T>(
  quota: DiskQuota,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const tooMuch = new AbortController()
  const look = async (): Promise<void> => {
    if ((await sizeOf(quota.folder.root)) > quota.bytes) tooMuch.abort()
  }
  let looking = false
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    void look().finally(() => {
      looking = false
    })
  }, LOOK_MS).unref()
  try {
    const done = await work(AbortSignal.any([signal, tooMuch.signal]))
    await look() // the last of it may have come after the last look
    if (!tooMuch.signal.aborted) return done
  } catch (error) {
    if (!tooMuch.signal.aborted) throw error
  } finally {
    clearInterval(timer)
  }
  throw quota.excess()
}
