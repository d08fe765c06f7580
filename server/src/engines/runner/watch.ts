// Limits that only a look from outside can keep: memory and number of processes of a run, and the disk space it takes.
// One look at /proc serves every run; nothing is looked at while nothing runs.

import { sizeOf } from './data-folder.ts'
import { cpuSecondsOf, memoryOf, processesOf, readProcesses } from './process-tree.ts'

export type Excess = 'memory' | 'processes' | 'disk'

export interface Watched {
  readonly leader: number
  /** The leader is all there is of it. */
  readonly isAlone: boolean
  readonly memoryBytes: number
  readonly processes: number
  readonly folder: string
  readonly diskBytes: number
  onExcess(what: Excess): void
}

export interface Watching {
  /** The most memory seen so far, in bytes. */
  peakMemoryBytes(): number
  /** Processor time when it was last looked at. */
  cpuSeconds(): number
  stop(): void
}

export interface Watch {
  add(run: Watched): Watching
}

const LOOK_MS = 200
/** Walking a folder costs more than a look at /proc, and disks fill slower than memory. */
const LOOKS_PER_WALK = 5

export function createWatch(): Watch {
  const runs = new Set<{ readonly run: Watched; peak: number; cpu: number; walking: boolean }>()
  let timer: NodeJS.Timeout | undefined
  let looks = 0

  function look(): void {
    looks += 1
    const all = [...runs].every(({ run }) => run.isAlone) ? undefined : readProcesses()
    for (const entry of runs) {
      const own = all ? processesOf(entry.run.leader, all) : readProcesses([String(entry.run.leader)])
      const memory = memoryOf(own, entry.run.memoryBytes)
      entry.peak = Math.max(entry.peak, memory)
      entry.cpu = Math.max(entry.cpu, cpuSecondsOf(own))
      if (memory > entry.run.memoryBytes) entry.run.onExcess('memory')
      else if (own.length > entry.run.processes) entry.run.onExcess('processes')
      if (looks % LOOKS_PER_WALK === 0 && !entry.walking) void walk(entry)
    }
  }

  async function walk(entry: { readonly run: Watched; walking: boolean }): Promise<void> {
    entry.walking = true
    if ((await sizeOf(entry.run.folder)) > entry.run.diskBytes) entry.run.onExcess('disk')
    entry.walking = false
  }

  return {
    add(run) {
      const entry = { run, peak: 0, cpu: 0, walking: false }
      runs.add(entry)
      timer ??= setInterval(look, LOOK_MS).unref()
      return {
        peakMemoryBytes: () => entry.peak,
        cpuSeconds: () => entry.cpu,
        stop() {
          runs.delete(entry)
          if (runs.size > 0) return
          clearInterval(timer)
          timer = undefined
        },
      }
    },
  }
}
