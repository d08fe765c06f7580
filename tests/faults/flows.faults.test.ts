// kill -9 while flows run and while they are ended: every task runs exactly once or is reported lost once, and every flow ends.
// Tasks write the id of their job to one file when they run, so that a second run of the same job would be seen.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, kills } from '../support/chance.ts'
import { sharedByNodes } from '../support/servers/shared-by-nodes.ts'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const ROUNDS = kills(2, 100)
const PHASES = 3
const TASKS_PER_PHASE = 2
const FLOWS_AT_ONCE = 2
/** Tasks write to a file outside their data folder. */
const OPEN = { MILLRACE_ISOLATION: 'off' }

interface Task {
  readonly id: string
  readonly status: string
  readonly jobId: string | null
  readonly type: string
}

interface Job {
  readonly id: string
  readonly status: string
  readonly isFinished: boolean
  readonly orchestrationTaskId: string
  readonly result: {
    readonly message?: string
    readonly tasks?: readonly Task[]
    readonly variables?: Readonly<Record<string, unknown>>
  }
}

/** A data folder with the component from the start. */
function dataFolder(t: TestContext, log: string): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-flows-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  mkdirSync(join(dataDir, 'components'))
  const definition = { type: 'command', uri: '', tag: '1', command: ['/bin/sh', '-c', `echo "$KBC_RUNID" >> ${log}; sleep 0.05`] }
  const description = { id: 'test.once', type: 'application', name: 'once', hasRun: true, data: { definition } }
  writeFileSync(join(dataDir, 'components/test.once.json'), JSON.stringify(description))
  return dataDir
}

function logFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-flows-log-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'ran'), '')
  return join(folder, 'ran')
}

const task = { type: 'job', componentId: 'test.once', configData: {} }
const tasks = Array.from({ length: PHASES * TASKS_PER_PHASE }, (_, id) => ({
  id,
  name: `t${id}`,
  phase: Math.floor(id / TASKS_PER_PHASE),
  continueOnFailure: true,
  task,
}))
const ORCHESTRATION = {
  phases: Array.from({ length: PHASES }, (_, id) => ({ id, name: `p${id}`, dependsOn: id === 0 ? [] : [id - 1] })),
  tasks,
}
/** Continues after every phase, and counts its phases in a variable. */
const FLOW = {
  phases: Array.from({ length: PHASES }, (_, id) => ({
    id,
    name: `p${id}`,
    next: [{ condition: { type: 'const', value: true }, goto: id === PHASES - 1 ? null : id + 1 }, { goto: null }],
  })),
  tasks: [
    ...tasks,
    ...Array.from({ length: PHASES }, (_, id) => ({
      id: `v${id}`,
      name: `v${id}`,
      phase: id,
      task: { type: 'variable', name: 'phase', value: id },
    })),
  ],
}

/** Answers the ids of flows that were acknowledged; a request that dies with the stack is not. */
async function startFlows(stack: Stack): Promise<string[]> {
  const started: string[] = []
  for (let i = 0; i < FLOWS_AT_ONCE; i++) {
    const [component, configData] = i % 2 === 0 ? ['platform.orchestrator', ORCHESTRATION] : ['platform.flow', FLOW]
    const answer = await stack.post('/queue/jobs', { component, configData }).catch(() => undefined)
    if (answer?.status === 201) started.push((answer.body as Job).id)
  }
  return started
}

/** Every third round a flow is ended by a request right before the crash; only what was acknowledged counts. */
async function endOne(stack: Stack, round: number, id: string | undefined, ended: Set<string>): Promise<void> {
  if (round % 3 !== 0 || id === undefined) return
  const answer = await stack.post(`/queue/jobs/${id}/kill`, {})
  if (answer.status === 200) ended.add(id)
}

const get = async (stack: Stack, id: string): Promise<Job> => (await stack.get(`/queue/jobs/${id}`)).body as Job

async function check(
  stack: Stack,
  flowIds: readonly string[],
  ended: ReadonlySet<string>,
  log: string,
): Promise<{ lost: number; succeeded: number }> {
  const ran = readFileSync(log, 'utf8').split('\n').filter(Boolean)
  assert.equal(new Set(ran).size, ran.length, 'no job ran twice')
  const counts = { lost: 0, succeeded: 0 }
  for (const id of flowIds) {
    const flow = await get(stack, id)
    const children = (await stack.get(`/queue/search/jobs?parentRunId=${id}&limit=500`)).body as Job[]
    const named = children.map(({ orchestrationTaskId }) => orchestrationTaskId)
    assert.equal(new Set(named).size, named.length, `flow ${id} has one job for each task: ${named}`)
    for (const child of children) {
      const isLost = child.status === 'error' && /was lost|was stopped/.test(child.result.message ?? '')
      const isEnded = ended.has(id) && ['cancelled', 'terminated'].includes(child.status)
      assert.ok(child.status === 'success' || isLost || isEnded, JSON.stringify(child))
      if (child.status === 'success') assert.ok(ran.includes(child.id), `job ${child.id} succeeded without a run`)
      if (!isEnded) counts[isLost ? 'lost' : 'succeeded']++
    }
    if (ended.has(id)) assert.match(flow.status, /^(cancelled|terminated)$/)
    // Ended before it had a plan: cancelled while it waited, or terminated when the worker that had just taken it was killed.
    if (flow.status === 'cancelled' || (ended.has(id) && children.length === 0)) continue
    const jobs = (flow.result.tasks ?? []).filter(({ type }) => type === 'job')
    assert.equal(jobs.length, PHASES * TASKS_PER_PHASE, JSON.stringify(flow))
    assert.deepEqual(
      jobs
        .map(({ jobId }) => jobId)
        .filter((jobId) => jobId !== null)
        .sort(),
      children.map((child) => child.id).sort(),
      'the result names every job',
    )
    if (ended.has(id)) continue
    // Losses are tolerated by both flows, so each runs to its end.
    assert.equal(children.length, PHASES * TASKS_PER_PHASE, `flow ${id}: ${JSON.stringify(flow.result)}`)
    const isWhole = children.every(({ status }) => status === 'success')
    assert.ok(isWhole ? flow.status === 'success' : ['warning', 'error'].includes(flow.status), `${flow.status} ${isWhole}`)
    if ('phase' in (flow.result.variables ?? {})) assert.equal(flow.result.variables!.phase, PHASES - 1)
  }
  return counts
}

test(`${ROUNDS} kills of the stack: every task of a flow runs once or is reported lost once`, async (t) => {
  const log = logFile(t)
  const masterToken = `1-1-${randomBytes(24).toString('hex')}`
  const stack = await startStack(t, { env: OPEN, existing: { dataDir: dataFolder(t, log), masterToken } })
  const flows: string[] = []
  const ended = new Set<string>()
  for (let round = 1; round <= ROUNDS; round++) {
    const started = await startFlows(stack)
    flows.push(...started)
    await sleep(chance() * 1_500) // the moment of death is the random input of this test
    await endOne(stack, round, started.at(-1), ended)
    await stack.kill()
    await stack.start()
  }
  await until(
    () => `every flow ends\n${stack.output()}`,
    async () => (await Promise.all(flows.map((id) => get(stack, id)))).every(({ isFinished }) => isFinished),
  )
  const { lost, succeeded } = await check(stack, flows, ended, log)
  t.diagnostic(`${flows.length} flows, ${succeeded} tasks succeeded, ${lost} were lost`)
  assert.ok(succeeded > lost)
})

test(`${ROUNDS} kills of one of two workers on PostgreSQL: the same`, async (t) => {
  const shared = {
    ...(await sharedByNodes(t)),
    MILLRACE_WORKER_JOBS: '4',
    ...OPEN,
  }
  const log = logFile(t)
  const masterToken = `1-1-${randomBytes(24).toString('hex')}`
  const startNode = (role: string): Promise<Stack> =>
    startStack(t, { env: { ...shared, MILLRACE_ROLES: role }, existing: { dataDir: dataFolder(t, log), masterToken } })
  const api = await startNode('api')
  const workers = [await startNode('worker'), await startNode('worker')] as const
  const flows: string[] = []
  const ended = new Set<string>()
  for (let round = 1; round <= ROUNDS; round++) {
    const victim = workers[round % 2]!
    const started = await startFlows(api)
    flows.push(...started)
    await sleep(chance() * 1_500) // the moment of death is the random input of this test
    await endOne(api, round, started.at(-1), ended)
    await victim.kill()
    await victim.start()
  }
  await until(
    () => `every flow ends\n${workers[0].output()}`,
    async () => (await Promise.all(flows.map((id) => get(api, id)))).every(({ isFinished }) => isFinished),
  )
  const { lost, succeeded } = await check(api, flows, ended, log)
  t.diagnostic(`${flows.length} flows, ${succeeded} tasks succeeded, ${lost} were lost`)
  assert.ok(succeeded > lost)
})
