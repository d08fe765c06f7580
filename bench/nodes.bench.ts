// How much longer an empty job takes, from its order to its end, when one node takes the order and another one runs it, than on one node that does
// both. Both stacks have a PostgreSQL database and an S3 of their own and take turns. Target: at most 1.3 x.

import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { freshPostgres } from '../tests/support/fresh-databases.ts'
import { startS3 } from '../tests/support/servers/start-s3.ts'
import { type Stack, startStackProcess } from '../tests/support/stack-process.ts'
import { until } from '../tests/support/until.ts'
import { inTurns, report } from './support/measure.ts'

const ROUNDS = 40
const COMPONENT = 'bench.empty'
const ends: (() => unknown)[] = []
const scope = { after: (end: () => unknown) => void ends.unshift(end) } as Parameters<typeof startStackProcess>[0] // they pass functions without parameters

/** One stack of as many nodes as there are lists of roles; requests go to the first one. */
async function startNodes(...roles: readonly string[]): Promise<Stack> {
  const database = await freshPostgres()
  const s3 = await startS3()
  ends.unshift(database.remove, s3.close)
  const env = {
    MILLRACE_DATABASE_URL: (database.location as { url: string }).url, // of PostgreSQL
    MILLRACE_S3_ENDPOINT: s3.endpoint,
    MILLRACE_S3_BUCKET: 'millrace',
    MILLRACE_S3_ACCESS_KEY_ID: s3.sessions.root.accessKeyId,
    MILLRACE_S3_SECRET_ACCESS_KEY: s3.sessions.root.secretAccessKey,
    MILLRACE_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  }
  const nodes: Stack[] = []
  for (const own of roles) nodes.push(await startStackProcess(scope, { env: { ...env, MILLRACE_ROLES: own } }))
  for (const { dataDir } of nodes) describe(dataDir)
  const [first] = nodes as [Stack, ...Stack[]] // roles are given
  await until('the component is known', async () => (await first.get(`/v2/storage/components/${COMPONENT}`)).status === 200)
  return first
}

function describe(dataDir: string): void {
  const definition = { type: 'builtin', uri: '../bench/support/empty-component.ts', tag: '1' }
  const description = { id: COMPONENT, type: 'application', name: 'Empty', hasRun: true, data: { definition } }
  mkdirSync(`${dataDir}/components`, { recursive: true })
  writeFileSync(`${dataDir}/components/empty.json`, JSON.stringify(description))
}

interface Job {
  readonly id: string
  readonly status: string
  readonly isFinished: boolean
  readonly result: { readonly message?: string }
}

const millisecondsOfJob = (stack: Stack) => async (): Promise<number> => {
  const began = performance.now()
  const { body } = await stack.post('/queue/jobs', { component: COMPONENT, mode: 'run', configData: {} })
  for (;;) {
    const job = (await stack.get(`/queue/jobs/${(body as Job).id}`)).body as Job // records of the stack
    if (job.isFinished && job.status !== 'success') throw new Error(`job ${job.id}: ${job.status} ${job.result.message}`)
    if (job.isFinished) return performance.now() - began
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

try {
  const one = millisecondsOfJob(await startNodes('api,worker,scheduler'))
  const two = millisecondsOfJob(await startNodes('api,scheduler', 'worker'))
  await inTurns(3, { one, two })
  const ms = await inTurns(ROUNDS, { one, two })
  report({
    bench: 'nodes-job-latency',
    ratio: ms.two / ms.one,
    target: '<= 1.3',
    ms: { one: Math.round(ms.one), two: Math.round(ms.two) },
  })
} finally {
  for (const end of ends) await end()
}
process.exit(0) // a PostgreSQL of this process ends with it
