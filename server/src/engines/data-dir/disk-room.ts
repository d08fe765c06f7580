// Whether there is room to write: free space of the disk with the data folder, and writes that just failed for lack of space. The second
// is all that is known of a quota, or of the disk of a database elsewhere.

import type { Clock } from '../../kit/clock.ts'
import { diskSpaceOf } from './data-dir.ts'

const REFUSED_MS = 10_000
const INSUFFICIENT_STORAGE = 507

export function createDiskRoom(deps: { readonly dataDir: string; readonly reserveBytes: number; readonly clock: Clock }) {
  let refusedAt = Number.NEGATIVE_INFINITY
  return {
    requestFinished({ status }: { readonly status: number }): void {
      if (status === INSUFFICIENT_STORAGE) refusedAt = deps.clock.now().getTime()
    },
    async problems(): Promise<readonly string[]> {
      const { freeBytes } = await diskSpaceOf(deps.dataDir)
      const mebibytes = (bytes: number) => Math.floor(bytes / 2 ** 20)
      if (freeBytes < deps.reserveBytes)
        return [
          `the disk of its data folder has ${mebibytes(freeBytes)} MiB left, less than the ${mebibytes(deps.reserveBytes)} MiB of MILLRACE_DISK_RESERVE_BYTES`,
        ]
      return Math.abs(deps.clock.now().getTime() - refusedAt) < REFUSED_MS ? ['a disk it writes to is full'] : []
    },
  }
}
