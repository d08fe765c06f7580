// Every node reports every few seconds that it is alive, its properties and its load; a query returns all nodes.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { createNodesStore, HeldJob, NodeLoad, NodeState, StackNode } from './nodes.store.ts'

export interface NodesDeps {
  readonly store: ReturnType<typeof createNodesStore>
  readonly clock: Clock
  readonly node: Pick<StackNode, 'id' | 'name' | 'version' | 'roles' | 'labels'>
  readonly dataFolder: () => Promise<string>
  readonly load: () => NodeLoad
  readonly onError: (error: unknown) => void
}

export interface NodeView extends Omit<StackNode, 'state' | 'dataFolder'> {
  readonly state: NodeState | 'silent'
  readonly jobs: readonly HeldJob[]
  readonly storageJobs: readonly HeldJob[]
}

const BEAT_MS = 5_000
/** A node without a heartbeat for so long is considered as down by the others. */
const SILENT_MS = 20_000
const FORGOTTEN_MS = 24 * 3600 * 1000

/** As others see it. */
export const stateAt = ({ state, seenAt }: Pick<StackNode, 'state' | 'seenAt'>, now: Date): NodeView['state'] =>
  seenAt.getTime() >= now.getTime() - SILENT_MS ? state : 'silent'

export type Nodes = ReturnType<typeof createNodes>

export function createNodes({ store, clock, node, dataFolder, load, onError }: NodesDeps) {
  const startedAt = clock.now()
  let state: NodeState = 'working'
  let timer: NodeJS.Timeout | undefined
  let saying: Promise<void> = Promise.resolve()

  const say = (): Promise<void> => {
    saying = saying
      .then(async () =>
        store.save({ ...node, dataFolder: await dataFolder(), state, load: load(), startedAt, seenAt: clock.now() }),
      )
      .catch(onError)
    return saying
  }

  return {
    async start(): Promise<void> {
      await store.removeSilent(clock.now().getTime() - FORGOTTEN_MS).catch(onError)
      await store.removeBefore(node.id, await dataFolder()).catch(onError)
      await say()
      timer = setInterval(say, BEAT_MS).unref()
    },
    /** It finishes what it runs and takes nothing more. */
    async drain(): Promise<void> {
      state = 'draining'
      await say()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await saying
      await store.remove(node.id).catch(onError)
    },
    async list(): Promise<NodeView[]> {
      const [nodes, jobs, storageJobs] = await Promise.all([store.list(), store.heldJobs(), store.heldStorageJobs()])
      const now = clock.now()
      return nodes.map(({ dataFolder: _, ...one }) => ({
        ...one,
        state: stateAt(one, now),
        jobs: jobs.filter(({ worker }) => worker === one.id),
        storageJobs: storageJobs.filter(({ worker }) => worker === one.id),
      }))
    },
    /** How many nodes have a role, by state; every role is listed, also when no node has it. */
    async byRole(): Promise<{ readonly role: string; readonly state: string; readonly count: number }[]> {
      const now = clock.now()
      const all = (await store.list()).map((one) => ({ roles: one.roles, state: stateAt(one, now) }))
      return ['api', 'worker', 'scheduler'].flatMap((role) =>
        (['working', 'draining', 'silent'] as const).map((state) => ({
          role,
          state,
          count: all.filter((one) => one.state === state && one.roles.includes(role)).length,
        })),
      )
    },
    /** How far the clocks of the nodes that are there are ahead of the database's. */
    async clocks(): Promise<{ readonly node: string; readonly differenceMs: number }[]> {
      const now = clock.now()
      const there = (await store.list()).filter((one) => stateAt(one, now) !== 'silent')
      return there.map(({ name, load: { clockDifferenceMs = 0 } }) => ({ node: name, differenceMs: clockDifferenceMs }))
    },
    /** Whether a worker that takes jobs now has all of these labels. */
    async hasWorkerWith(trx: Trx, labels: readonly string[]): Promise<boolean> {
      const workers = await store.workerLabels(trx, clock.now().getTime() - SILENT_MS)
      return workers.some((own) => labels.every((label) => own.has(label)))
    },
  }
}
