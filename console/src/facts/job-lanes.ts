// Jobs on one axis of time: a lane for each configuration, with as many lines as run at once, and how many waited and ran at each moment.

/** What the picture needs of a job; times in milliseconds. */
export interface TimedJob {
  readonly id: string
  readonly component: string
  readonly config: string | null
  readonly status: string
  readonly by: string
  readonly created: number
  /** Undefined: it waits, or never started. */
  readonly started: number | undefined
  /** Undefined: it is not over. */
  readonly ended: number | undefined
}

export interface Lane {
  readonly key: string
  readonly component: string
  readonly config: string | null
  /** Jobs that do not overlap stand on one line. */
  readonly lines: readonly (readonly TimedJob[])[]
}

const endOf = (job: TimedJob, now: number): number => job.ended ?? now

/** In the order of their first job. Time grows with the jobs and the lines of one lane. */
export function lanesOf(jobs: readonly TimedJob[], now: number): readonly Lane[] {
  const lanes = new Map<string, { lane: Omit<Lane, 'lines'>; lines: { jobs: TimedJob[]; end: number }[] }>()
  for (const job of jobs.toSorted((a, b) => a.created - b.created)) {
    const key = `${job.component} ${job.config ?? ''}`
    const found = lanes.get(key) ?? { lane: { key, component: job.component, config: job.config }, lines: [] }
    lanes.set(key, found)
    const free = found.lines.find(({ end }) => end <= job.created)
    if (free) {
      free.jobs.push(job)
      free.end = endOf(job, now)
    } else found.lines.push({ jobs: [job], end: endOf(job, now) })
  }
  return [...lanes.values()].map(({ lane, lines }) => ({ ...lane, lines: lines.map((line) => line.jobs) }))
}

export interface Load {
  readonly at: number
  readonly running: number
  readonly waiting: number
}

/** Each moment at which the number of jobs that wait or run changes. */
export function loadOf(jobs: readonly TimedJob[], now: number): readonly Load[] {
  const changes = jobs.flatMap((job) => {
    const end = endOf(job, now)
    const start = job.started ?? end
    return [
      { at: job.created, running: 0, waiting: 1 },
      { at: start, running: job.started === undefined ? 0 : 1, waiting: -1 },
      ...(job.started === undefined ? [] : [{ at: end, running: -1, waiting: 0 }]),
    ]
  })
  const loads: Load[] = []
  let [running, waiting] = [0, 0]
  for (const change of changes.toSorted((a, b) => a.at - b.at || a.running - b.running)) {
    running += change.running
    waiting += change.waiting
    if (loads.at(-1)?.at === change.at) loads.pop()
    loads.push({ at: change.at, running, waiting })
  }
  return loads
}
