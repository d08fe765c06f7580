// The processes of a run and what they use, from the kernel (/proc). A process belongs to a run when it is in the
// run's group, descends from one that is, or carries the run's mark: a program that left its group is still ours.

import { readdirSync, readFileSync } from 'node:fs'

/** What every process of a run inherits, wherever it moves: an entry of the environment, and a limit that is never reached. */
export interface RunMark {
  /** `NAME=value`. */
  readonly entry: string
  /** Of processor time: some thirty years, and a number that no other run has. It stays when an environment is cleared. */
  readonly cpuSeconds: number
}

export interface ProcessRecord {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  readonly residentBytes: number
  /** Its own processor time and that of children it has waited for. */
  readonly cpuTicks: number
}

const PAGE_BYTES = 4096

/** Every process of the machine; empty where there is no /proc (the limits then rest on time and on the programs' own flags). */
export function readProcesses(pids: readonly string[] = listPids()): ProcessRecord[] {
  const records: ProcessRecord[] = []
  for (const name of pids) {
    const stat = readProc(`/proc/${name}/stat`)
    if (stat === undefined) continue
    // The command may hold blanks and brackets; the fields after its last bracket do not.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') continue // ended, and only waiting to be counted
    records.push({
      pid: Number(name),
      parent: Number(fields[1]),
      group: Number(fields[2]),
      session: Number(fields[3]),
      residentBytes: Number(fields[21]) * PAGE_BYTES,
      cpuTicks: Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]),
    })
  }
  return records
}

/** The processes of the run whose first process has the id `leader`. */
export function processesOf(leader: number, processes: readonly ProcessRecord[]): ProcessRecord[] {
  const members = new Map<number, ProcessRecord>()
  for (const one of processes) if (one.pid === leader || one.group === leader || one.session === leader) members.set(one.pid, one)
  for (let grown = true; grown; ) {
    grown = false
    for (const one of processes) {
      if (!members.has(one.pid) && members.has(one.parent)) {
        members.set(one.pid, one)
        grown = true
      }
    }
  }
  return [...members.values()]
}

/** What Linux counts in, on every machine that runs Node. */
const TICKS_PER_SECOND = 100

export const cpuSecondsOf = (processes: readonly ProcessRecord[]): number =>
  processes.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0) / TICKS_PER_SECOND

/** Memory of several processes: resident sizes count shared pages for each, so a suspicion is checked with proportional sizes. */
export function memoryOf(processes: readonly ProcessRecord[], suspicionBytes: number): number {
  const resident = processes.reduce((sum, one) => sum + one.residentBytes, 0)
  if (resident <= suspicionBytes || processes.length === 1) return resident
  return processes.reduce((sum, one) => sum + (proportionalBytes(one.pid) ?? one.residentBytes), 0)
}

function proportionalBytes(pid: number): number | undefined {
  const match = readProc(`/proc/${pid}/smaps_rollup`)?.match(/^Pss:\s+(\d+) kB/m)
  return match ? Number(match[1]) * 1024 : undefined
}

/**
 * Kills the group and everything else that descends from it or carries `mark`, also when it moved to a group of its own.
 * Answers how many it found; 0 means that nothing is left. Safe to call again.
 */
export function killEverything(leader: number, mark: RunMark): number {
  const younger = readProcesses(youngerThan(leader)) // without those that have ended: there is no need to wait until they are counted
  const found = new Set(processesOf(leader, younger).map(({ pid }) => pid))
  for (const { pid } of younger) if (!found.has(pid) && carries(pid, mark)) found.add(pid)
  send(-leader)
  for (const pid of found) send(pid)
  return found.size
}

const carries = (pid: number, { entry, cpuSeconds }: RunMark): boolean =>
  Boolean(readProc(`/proc/${pid}/environ`)?.split('\0').includes(entry)) ||
  new RegExp(`^Max cpu time +${cpuSeconds} `, 'm').test(readProc(`/proc/${pid}/limits`) ?? '')

/** Ids are given in order and start over at a limit: what was started since then lies between the leader's and the last one given. */
function youngerThan(leader: number): string[] {
  const last = Number(readProc('/proc/loadavg')?.trim().split(' ').at(-1) ?? 0)
  const isYounger = last >= leader ? (pid: number) => pid >= leader && pid <= last : (pid: number) => pid >= leader || pid <= last
  return listPids().filter((pid) => isYounger(Number(pid)))
}

function send(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}

function listPids(): string[] {
  try {
    return readdirSync('/proc').filter((name) => name >= '1' && name <= '9999999' && /^\d+$/.test(name))
  } catch {
    return []
  }
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined // ended meanwhile, or not ours to read
  }
}
