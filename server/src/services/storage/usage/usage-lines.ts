// Sums of usage as clients read them, as JSON and as CSV.

import { csvLine } from '../../../kit/text/double-quoted.ts'
import { COUNTERS, type Counters, type UsageDay } from './usage.store.ts'

export const USAGE_GROUPS = ['day', 'component', 'configuration'] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

export interface UsageLine {
  readonly day?: string
  readonly componentId?: string
  readonly configurationId?: string
  readonly jobs: number
  readonly failedJobs: number
  readonly jobSeconds: number
  readonly sqlSeconds: number
  readonly rowsLoaded: number
  readonly bytesLoaded: number
  readonly bytesRead: number
  readonly storageByteHours: number
}

/** One line for each combination of the requested groups; one line in total without groups. */
export function usageLines(days: readonly UsageDay[], groups: readonly UsageGroup[]): readonly UsageLine[] {
  const sums = new Map<string, UsageDay>()
  for (const day of days) {
    const key = JSON.stringify(groups.map((group) => day[FIELDS[group]]))
    const sum = sums.get(key)
    sums.set(key, sum ? added(sum, day) : day)
  }
  return [...sums.values()].map((sum) => ({
    ...Object.fromEntries(groups.map((group) => [FIELDS[group], sum[FIELDS[group]]])),
    jobs: sum.jobs,
    failedJobs: sum.failed_jobs,
    jobSeconds: sum.job_ms / 1000,
    sqlSeconds: sum.sql_ms / 1000,
    rowsLoaded: sum.rows_in,
    bytesLoaded: sum.bytes_in,
    bytesRead: sum.bytes_out,
    storageByteHours: Math.round(sum.byte_seconds / 3600),
  }))
}

const FIELDS = { day: 'day', component: 'componentId', configuration: 'configurationId' } as const

function added(a: UsageDay, b: Counters): UsageDay {
  return { ...a, ...Object.fromEntries(COUNTERS.map((name) => [name, a[name] + b[name]])) }
}

const NUMBERS = [
  'jobs',
  'failedJobs',
  'jobSeconds',
  'sqlSeconds',
  'rowsLoaded',
  'bytesLoaded',
  'bytesRead',
  'storageByteHours',
] as const

export function usageCsv(lines: readonly UsageLine[], groups: readonly UsageGroup[]): string {
  const columns = [...groups.map((group) => FIELDS[group]), ...NUMBERS]
  return [columns, ...lines.map((line) => columns.map((column) => String(line[column] ?? '')))].map(csvLine).join('')
}
