// Start to ready on an existing data folder (target 2 s) and resident memory when idle (target 300 MB).

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { startStackProcess } from '../tests/support/stack-process.ts'
import { median, report } from './support/measure.ts'

const TARGET_MS = 2000
const TARGET_BYTES = 300e6
const cleanups: Array<() => unknown> = []
const stack = await startStackProcess({ after: (work) => cleanups.push(work as () => unknown) }) // it passes one function without parameters
const starts: number[] = []
for (let round = 0; round < 5; round++) {
  await stack.stop()
  starts.push((await stack.start()).readyMs)
}
report({ bench: 'start-to-ready', ratio: median(starts) / TARGET_MS, target: '<= 1', readyMs: Math.round(median(starts)) })
if (process.platform === 'linux') {
  const bytes = residentBytes()
  report({ bench: 'idle-memory', ratio: bytes / TARGET_BYTES, target: '<= 1', residentMb: Math.round(bytes / 1e6) })
}
for (const cleanup of cleanups) await cleanup()

/** Of the server process: the one in the data folder that runs main.ts without the leash. */
function residentBytes(): number {
  const mine = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && readOr(() => readlinkSync(`/proc/${pid}/cwd`)) === stack.dataDir,
  )
  const server = mine.find((pid) => /main\.ts/.test(commandOf(pid)) && !/leash\.ts/.test(commandOf(pid)))
  return Number(readFileSync(`/proc/${server}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)?.[1]) * 1024
}

function commandOf(pid: string): string {
  return readOr(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
}

function readOr(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
