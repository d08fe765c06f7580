// Phases of flows that run now, and how long the same phases took in the last runs.

import type { Db } from '../../../engines/metadata-db/dialects.ts'
import type { FlowQueue, RunningFlow } from '../../../model/flow-ports.ts'
import type { ListRunning, RunningWork } from '../../../model/notification-port.ts'
import { createFlowsStore, type FlowRun } from './flows.store.ts'

export interface RunningPhasesDeps {
  readonly db: Db
  readonly listRunning: FlowQueue['listRunning']
}

/** How many earlier runs make the average. */
const RUNS = 10

/** Milliseconds, by phase. */
type Averages = ReadonlyMap<string, number>

export function createRunningPhases({ db, listRunning }: RunningPhasesDeps): ListRunning {
  const store = createFlowsStore(db)
  /** By the job of the flow: what ran before it stays as it was. */
  let known = new Map<number, Averages>()

  async function averagesOf({ flow, earlierRunIds }: RunningFlow): Promise<Averages> {
    const kept = known.get(flow.id)
    if (kept) return kept
    const runs: FlowRun[] = []
    for (const id of earlierRunIds) {
      const run = await store.find(db, flow.projectId, id)
      if (run) runs.push(run)
    }
    return averageDurations(runs)
  }

  return async (projectIds) => {
    const running = await listRunning(projectIds, RUNS)
    const averages = new Map<number, Averages>()
    const phases: RunningWork[] = []
    for (const one of running) {
      averages.set(one.flow.id, await averagesOf(one))
      const run = await store.find(db, one.flow.projectId, one.flow.id)
      if (run) phases.push(...openPhases(one, run, averages.get(one.flow.id)!))
    }
    known = averages
    return phases
  }
}

function averageDurations(runs: readonly FlowRun[]): Averages {
  const durations = new Map<string, number[]>()
  for (const { phaseId, status, startedAt, endedAt } of runs.flatMap(({ state }) => state.visits)) {
    if (endedAt === null || status === 'error') continue
    durations.set(phaseId, [...(durations.get(phaseId) ?? []), endedAt - startedAt])
  }
  return new Map([...durations].map(([id, all]) => [id, all.reduce((sum, one) => sum + one, 0) / all.length]))
}

const openPhases = ({ flow }: RunningFlow, { plan, state }: FlowRun, averages: Averages): RunningWork[] =>
  state.visits.flatMap(({ phaseId, startedAt, endedAt }) => {
    const averageMs = averages.get(phaseId)
    if (endedAt !== null || averageMs === undefined) return []
    return {
      projectId: flow.projectId,
      branchId: flow.branchId,
      jobId: flow.id,
      componentId: flow.componentId,
      configurationId: flow.configurationId,
      phase: { id: phaseId, name: plan.phases.find(({ id }) => id === phaseId)?.name ?? '' },
      startedAt,
      averageMs,
      baseUrl: flow.baseUrl,
    }
  })
