// How the stack is doing: each check by itself, with the facts behind it.

import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../../kit/clock.ts'
import type { Workload } from '../../../model/workload.ts'

export type Level = 'ok' | 'warning' | 'problem'

export interface Check {
  readonly check: string
  readonly level: Level
  /** One sentence: what is so, and what to do where something has to be done. */
  readonly text: string
  readonly facts: Readonly<Record<string, unknown>>
}

export interface Status {
  readonly level: Level
  readonly version: string
  readonly at: Date
  readonly checks: readonly Check[]
}

export interface StoppedSchedule {
  readonly id: number
  readonly projectId: number
  readonly configurationId: string
  readonly reason: string
}

export interface Drill {
  readonly at: string
  readonly backupOf: string
  readonly isGood: boolean
}

export interface NodeClock {
  readonly node: string
  readonly differenceMs: number
}

export interface StatusSources {
  readonly version: string
  readonly clock: Clock
  readonly disk: () => Promise<{ readonly freeBytes: number; readonly totalBytes: number }>
  readonly database: { readonly dialect: string; readonly ask: () => Promise<unknown> }
  /** Resolves when the object store answers. */
  readonly objectStore: () => Promise<unknown>
  readonly workloads: Readonly<Record<string, () => Promise<Workload>>>
  /** How far the clock of each node that is there is ahead of the database's. */
  readonly clocks: () => Promise<readonly NodeClock[]>
  readonly lastBackupAt: () => Promise<number | undefined>
  /** When this stack was made from a backup; undefined when it was not. */
  readonly restoredAt: Date | undefined
  /** The last proof that a backup becomes a stack again. */
  readonly lastDrill: () => Promise<Drill | undefined>
  readonly scheduleLagMs: () => Promise<number>
  readonly stoppedSchedules: () => Promise<readonly StoppedSchedule[]>
  /** What is wrong with the files of the components folder. */
  readonly componentProblems: () => readonly string[]
  /** PEM; undefined without TLS. */
  readonly certificate: () => string | undefined
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const LITTLE_SPACE_BYTES = 5e9
const NO_SPACE_BYTES = 5e8
const LONG_WAIT_MS = 10 * MINUTE_MS
const LATE_MS = 5 * MINUTE_MS
const OLD_BACKUP_MS = 2 * DAY_MS
const CLOCK_WARNING_MS = 1_000
const CERTIFICATE_WARNING_MS = 21 * DAY_MS

export function createStatus(sources: StatusSources) {
  const { clock } = sources

  const checks: Readonly<Record<string, () => Promise<Omit<Check, 'check'>>>> = {
    disk: async () => {
      const { freeBytes, totalBytes } = await sources.disk()
      const level = freeBytes < NO_SPACE_BYTES ? 'problem' : freeBytes < LITTLE_SPACE_BYTES ? 'warning' : 'ok'
      const text = `${gigabytes(freeBytes)} of ${gigabytes(totalBytes)} are free.${level === 'ok' ? '' : ' Make space, or move the data folder to a larger disk.'}`
      return { level, text, facts: { freeBytes, totalBytes } }
    },
    database: async () => {
      const began = performance.now()
      await sources.database.ask()
      const answeredMs = Math.round(performance.now() - began)
      return { level: 'ok', text: `It answers in ${answeredMs} ms.`, facts: { dialect: sources.database.dialect, answeredMs } }
    },
    objectStore: async () => {
      const began = performance.now()
      await sources.objectStore()
      const answeredMs = Math.round(performance.now() - began)
      return { level: 'ok', text: `It answers in ${answeredMs} ms.`, facts: { answeredMs } }
    },
    ...Object.fromEntries(
      Object.entries(sources.workloads).map(([name, workload]) => [
        `queue.${name}`,
        async () => {
          const { open, oldestWaitingMs } = await workload()
          const level = oldestWaitingMs > LONG_WAIT_MS ? 'warning' : 'ok'
          const waits = oldestWaitingMs > 0 ? `The oldest waiting job has waited ${duration(oldestWaitingMs)}.` : 'No job waits.'
          return {
            level,
            text: level === 'ok' ? waits : `${waits} Add workers, or look for a job that does not end.`,
            facts: { open, oldestWaitingMs },
          }
        },
      ]),
    ),
    clocks: async () => {
      const wrong = (await sources.clocks()).filter(({ differenceMs }) => Math.abs(differenceMs) > CLOCK_WARNING_MS)
      const told = wrong.map(({ node, differenceMs }) => `${node} by ${(differenceMs / 1000).toFixed(1)} s`).join(', ')
      const text =
        told === ''
          ? 'No node is more than a second away from the database.'
          : `These nodes differ from the database: ${told}. Leases and schedules follow the database; synchronise the clocks.`
      return { level: told === '' ? 'ok' : 'warning', text, facts: { wrong } }
    },
    backup: async () => {
      const [at, drill] = [await sources.lastBackupAt(), await sources.lastDrill()]
      const drilled = {
        restoredAt: sources.restoredAt?.toISOString() ?? null,
        verifiedAt: drill?.at ?? null,
        verifiedBackupOf: drill?.backupOf ?? null,
        isVerifiedGood: drill?.isGood ?? null,
      }
      if (at === undefined)
        return {
          level: 'warning',
          text: 'No backup was ever made. Set MILLRACE_BACKUP_FOLDER, or run millrace backup.',
          facts: { lastAt: null, ageMs: null, ...drilled },
        }
      const ageMs = clock.now().getTime() - at
      const isBroken = drill?.isGood === false
      return {
        level: isBroken ? 'problem' : ageMs > OLD_BACKUP_MS ? 'warning' : 'ok',
        text: `The last good backup is ${duration(ageMs)} old. ${drillText(drill, clock.now())}`,
        facts: { lastAt: new Date(at).toISOString(), ageMs, ...drilled },
      }
    },
    schedules: async () => {
      const [lagMs, stopped] = [await sources.scheduleLagMs(), await sources.stoppedSchedules()]
      const late = lagMs > LATE_MS ? ` The latest one is ${duration(lagMs)} late.` : ''
      const text =
        stopped.length === 0
          ? `None has stopped.${late}`
          : `${stopped.length} have stopped.${late} Activate them again, or delete them.`
      return { level: stopped.length > 0 || late !== '' ? 'warning' : 'ok', text, facts: { lagMs, stopped } }
    },
    components: async () => {
      const problems = sources.componentProblems()
      const text = problems.length === 0 ? 'Every description can be used.' : `${problems.length} cannot be used: ${problems[0]}`
      return { level: problems.length === 0 ? 'ok' : 'problem', text, facts: { problems } }
    },
    certificate: async () => {
      const pem = sources.certificate()
      if (pem === undefined) return { level: 'ok', text: 'The stack is served without TLS.', facts: { validTo: null } }
      const { validToDate, subject } = new X509Certificate(pem)
      const leftMs = validToDate.getTime() - clock.now().getTime()
      const level = leftMs < 0 ? 'problem' : leftMs < CERTIFICATE_WARNING_MS ? 'warning' : 'ok'
      const text = leftMs < 0 ? 'It has expired. Renew it.' : `It is valid for another ${duration(leftMs)}.`
      return { level, text, facts: { validTo: validToDate.toISOString(), subject } }
    },
  }

  return async (): Promise<Status> => {
    const found = await Promise.all(
      Object.entries(checks).map(async ([check, look]) =>
        look().then(
          (result): Check => ({ check, ...result }),
          (error: unknown): Check => ({
            check,
            level: 'problem',
            text: `It could not be looked at: ${error instanceof Error ? error.message.slice(0, 200) : 'it gave no reason.'}`,
            facts: {},
          }),
        ),
      ),
    )
    const level = found.some((one) => one.level === 'problem')
      ? 'problem'
      : found.some((one) => one.level === 'warning')
        ? 'warning'
        : 'ok'
    return { level, version: sources.version, at: clock.now(), checks: found }
  }
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`

function duration(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.floor(ms / DAY_MS)} days`
  if (ms >= 2 * HOUR_MS) return `${Math.floor(ms / HOUR_MS)} hours`
  if (ms >= 2 * MINUTE_MS) return `${Math.floor(ms / MINUTE_MS)} minutes`
  return `${Math.round(ms / 1000)} seconds`
}

function drillText(drill: Drill | undefined, now: Date): string {
  if (!drill) return 'No restore was ever verified: run millrace restore --verify.'
  const ago = duration(now.getTime() - Date.parse(drill.at))
  return drill.isGood
    ? `A restore was verified ${ago} ago.`
    : `The restore that was verified ${ago} ago failed: make a new backup and verify it.`
}
