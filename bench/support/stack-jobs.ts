// A stack in this process that runs jobs, and the memory of their components.

import { readdirSync, readFileSync } from 'node:fs'
import { startTestStack } from '../../tests/support/test-stack.ts'
import { until } from '../../tests/support/until.ts'

interface Job {
  readonly id: string
  readonly status: string
  readonly isFinished: boolean
  readonly durationMs: number
  readonly result: { readonly message?: string }
}

const HOURS_MS = 7_200_000

export async function startJobStack() {
  const ends: (() => unknown)[] = []
  const stack = await startTestStack({ after: (end) => ends.push(end) }, { worker: { egressAllow: ['127.0.0.1'] } })
  const start = async (json: object): Promise<string> => {
    const answer = await stack.request('POST', '/queue/jobs', { json: { mode: 'run', ...json } })
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.json<Job>().id
  }
  return {
    stack,
    start,
    /** Answers its seconds. */
    async run(json: object): Promise<number> {
      const id = await start(json)
      const job = await until(
        `job ${id} ends`,
        async () => {
          const read = (await stack.request('GET', `/queue/jobs/${id}`)).json<Job>()
          return read.isFinished && read
        },
        HOURS_MS,
      )
      if (job.status !== 'success') throw new Error(job.result.message)
      return job.durationMs / 1000
    },
    async configure(component: string, configuration: object): Promise<string> {
      const json = { name: 'bench', configuration }
      const made = await stack.request('POST', `/v2/storage/components/${component}/configs`, { json })
      if (made.status !== 201) throw new Error(made.text)
      return made.json<{ id: string }>().id
    },
    async query(sql: string): Promise<readonly unknown[][]> {
      const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
      return answer.status === 200 ? answer.json<{ rows: unknown[][] }>().rows : []
    },
    async stop() {
      for (const end of ends) await end()
    },
  }
}

/** The greatest memory of any process whose command line has these words, in MiB, while `work` runs. For Linux. */
export async function peakOf(words: string, work: () => Promise<unknown>): Promise<number> {
  let peak = 0
  const look = () => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(words)) continue
        const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
        peak = Math.max(peak, Number(kib ?? 0) / 1024)
      } catch {
        // it has ended meanwhile
      }
  }
  const timer = setInterval(look, 250)
  await work()
  clearInterval(timer)
  look()
  return peak
}

/** `db` of a configuration. */
export function connectionOf(url: string) {
  const { hostname, port, username, password, pathname } = new URL(url)
  return { host: hostname, port: Number(port), user: username, '#password': password, database: pathname.slice(1) }
}
