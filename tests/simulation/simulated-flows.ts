// Flows of the simulation, and how often each of their tasks must have run: counted from the list of jobs, without the code that decides.

import assert from 'node:assert/strict'

const job = (configId: string, componentId = 'once') => ({ type: 'job', componentId, configId })
const failedPhase = (phase: string) => ({
  type: 'operator',
  operator: 'EQUALS',
  operands: [
    { type: 'phase', phase, value: 'status' },
    { type: 'const', value: 'error' },
  ],
})

export const FLOWS: Readonly<Record<string, { readonly component: string; readonly content: object }>> = {
  diamond: {
    component: 'keboola.orchestrator',
    content: {
      phases: [
        { id: 'first' },
        { id: 'left', dependsOn: ['first'] },
        { id: 'right', dependsOn: ['first'] },
        { id: 'last', dependsOn: ['left', 'right'] },
      ],
      tasks: [
        { id: 'a', phase: 'first', task: job('a') },
        { id: 'b', phase: 'first', task: job('rows-b', 'repeatable') },
        { id: 'c', phase: 'left', task: job('c'), continueOnFailure: true },
        { id: 'd', phase: 'right', task: job('d', 'repeatable') },
        { id: 'off', phase: 'right', task: job('d'), enabled: false },
        { id: 'e', phase: 'last', task: job('e') },
      ],
    },
  },
  retrying: {
    component: 'keboola.flow',
    content: {
      phases: [
        { id: 'load', next: [{ condition: failedPhase('load'), goto: 'repair' }, { goto: 'report' }] },
        { id: 'repair', next: [{ goto: 'report' }] },
        { id: 'report' },
      ],
      tasks: [
        { id: 'f', phase: 'load', task: { ...job('f'), retry: { strategyParams: { maxRetries: 2, delay: 5 } } } },
        { id: 'g', phase: 'repair', task: job('g') },
        { id: 'h', phase: 'report', task: job('h') },
      ],
    },
  },
  nested: {
    component: 'keboola.orchestrator',
    content: {
      phases: [{ id: 'one' }, { id: 'two', dependsOn: ['one'] }],
      tasks: [
        { id: 'i', phase: 'one', task: job('diamond', 'keboola.orchestrator') },
        { id: 'j', phase: 'two', task: job('j') },
      ],
    },
  },
}

/** The job of a task. `createdAt` and `endedAt` are positions in the order of everything that happened in the database. */
export interface TaskJob {
  readonly task: string
  readonly status: string
  readonly createdAt: number
  readonly endedAt: number
}

const isGood = ({ status }: TaskJob): boolean => status === 'success' || status === 'warning'

/** What a flow that has ended must have run, and in which order. A flow that was ended by a user may have run less. */
export function checkFlow(name: string, status: string, jobs: readonly TaskJob[]): void {
  const what = `flow ${name} (${status}) of ${JSON.stringify(jobs)}`
  const byTask = new Map<string, TaskJob[]>()
  for (const one of jobs) byTask.set(one.task, [...(byTask.get(one.task) ?? []), one])
  const runs = (task: string) => byTask.get(task) ?? []
  const isKilled = status === 'terminated' || status === 'cancelled'
  const expect = (task: string, count: number) =>
    assert.ok(
      isKilled ? runs(task).length <= count : runs(task).length === count,
      `${runs(task).length} jobs of task ${task}, not ${count}: ${what}`,
    )
  const good = (task: string) => runs(task).some(isGood)
  const after = (task: string, ...before: readonly string[]) => {
    for (const later of runs(task))
      for (const earlier of before.flatMap(runs))
        assert.ok(earlier.endedAt < later.createdAt, `task ${task} was started before its phase: ${what}`)
  }
  let isEndGood: boolean
  if (name === 'diamond') {
    expect('a', 1)
    expect('b', 1)
    const isFirstGood = good('a') && good('b')
    expect('c', isFirstGood ? 1 : 0)
    expect('d', isFirstGood ? 1 : 0)
    expect('e', isFirstGood && good('d') ? 1 : 0)
    expect('off', 0)
    after('c', 'a', 'b')
    after('d', 'a', 'b')
    after('e', 'c', 'd')
    isEndGood = isFirstGood && good('d') && good('e')
  } else if (name === 'retrying') {
    const tries = runs('f')
    assert.ok(tries.length <= 3 && tries.slice(0, -1).every((one) => !isGood(one)), `retries of task f: ${what}`)
    if (!good('f')) expect('f', 3)
    expect('g', good('f') ? 0 : 1)
    expect('h', good('f') || good('g') ? 1 : 0)
    for (const [at, one] of tries.entries())
      assert.ok(at === 0 || tries[at - 1]!.endedAt < one.createdAt, `a retry before the failure: ${what}`)
    after('g', 'f')
    after('h', 'f', 'g')
    isEndGood = good('h')
  } else {
    expect('i', 1)
    expect('j', good('i') ? 1 : 0)
    after('j', 'i')
    isEndGood = good('i') && good('j')
  }
  // A task that was tried again until it succeeded is no reason for a warning.
  const lastOf = [...byTask.values()].map((tries) => tries.at(-1)!)
  const end = isEndGood ? (lastOf.every((one) => one.status === 'success') ? 'success' : 'warning') : 'error'
  if (!isKilled) assert.equal(status, end, `the end of ${what}`)
}
