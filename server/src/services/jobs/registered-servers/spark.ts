// The state of the cluster from the Spark master, as far as a project may see it.

import { readJson } from '../../../kit/text/json-text.ts'
import { jobOfApplication } from '../../../model/spark-application.ts'

export interface SparkApplication {
  readonly id: string
  readonly name: string
  /** The job that runs it. */
  readonly jobId: string
  readonly state: string
  readonly cores: number
  readonly memoryPerExecutorMb: number
  readonly startedAt: Date
}

export interface SparkCluster {
  readonly status: string
  readonly workers: { readonly alive: number; readonly all: number }
  readonly cores: { readonly all: number; readonly used: number }
  readonly memoryMb: { readonly all: number; readonly used: number }
  /** Running ones of the project. */
  readonly applications: readonly SparkApplication[]
}

/** `spark://host:7077` has its pages on port 8080 of the same host, unless the operator sets another. */
export function pagesOf(sparkUrl: string, pagesUrl: string | undefined): string | undefined {
  if (pagesUrl !== undefined) return pagesUrl
  const host = /^spark:\/\/([\w.-]+):/.exec(sparkUrl)?.[1]
  return host && `http://${host}:8080`
}

/** From `GET /json/` of the master; undefined when this is not the answer of one. */
export function readCluster(text: string, projectId: number): SparkCluster | undefined {
  const read = readJson(text)
  const master = read.ok ? membersOf(read.value) : {}
  if (typeof master.status !== 'string' || !Array.isArray(master.workers)) return undefined
  const alive = master.workers.filter((worker) => membersOf(worker).state === 'ALIVE').length
  const applications = Array.isArray(master.activeapps) ? master.activeapps : []
  return {
    status: master.status,
    workers: { alive, all: master.workers.length },
    cores: { all: numberOf(master.cores), used: numberOf(master.coresused) },
    memoryMb: { all: numberOf(master.memory), used: numberOf(master.memoryused) },
    applications: applications.flatMap((application) => readApplication(membersOf(application), projectId) ?? []),
  }
}

function readApplication(given: Members, projectId: number): SparkApplication | undefined {
  const name = String(given.name)
  const jobId = jobOfApplication(name, projectId)
  if (jobId === undefined) return undefined
  return {
    id: String(given.id),
    name,
    jobId,
    state: String(given.state),
    cores: numberOf(given.cores),
    memoryPerExecutorMb: numberOf(given.memoryperexecutor ?? given.memoryperslave), // the older name of the same
    startedAt: new Date(numberOf(given.starttime)),
  }
}

/** The JSON of the master leaves its version out; its page has it. */
export const readVersion = (page: string): string | undefined => /class="version"[^>]*>\s*(\d[\w.+-]*)/.exec(page)?.[1]

type Members = Readonly<Record<string, unknown>>
const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {}) // JSON
const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)
