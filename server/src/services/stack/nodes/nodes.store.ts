// The nodes of the stack in the metadata database: one row for each process, written by itself.

import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'

export type NodeState = 'working' | 'draining'

/** How much a node has to do, as it reports. */
export interface NodeLoad {
  /** Component jobs that run, and how many may. */
  readonly jobs: number
  readonly slots: number
  readonly storageJobs: number
  readonly memoryBytes: number
  /** Of the machine, in the last minute. */
  readonly loadAverage: number
  /** How far its clock is ahead of the database's; nodes of an earlier release do not report it. */
  readonly clockDifferenceMs?: number
}

export interface StackNode {
  /** Of the process: another one after each start. */
  readonly id: string
  readonly name: string
  /** Identifies the next process on the same folder as the successor. */
  readonly dataFolder: string | null
  readonly version: string
  readonly roles: readonly string[]
  readonly labels: readonly string[]
  readonly state: NodeState
  readonly load: NodeLoad
  readonly startedAt: Date
  readonly seenAt: Date
}

/** A job that a node holds. */
export interface HeldJob {
  readonly worker: string
  readonly id: number
  readonly projectId: number
  readonly leaseUntil: Date
}

interface LeasedJob {
  id: number
  project_id: number
  worker: string | null
  lease_until: number | null
  status: string
  ended_at: number | null
}

interface Tables {
  stack_node: {
    id: string
    name: string
    data_folder: string | null
    version: string
    roles: string
    labels: string
    state: NodeState
    load: string
    started_at: number
    seen_at: number
  }
  queue_job: LeasedJob
  storage_job: LeasedJob
}

const MAX_HELD = 1000

export function createNodesStore(database: Db) {
  const db = withTables<Tables>(database)

  const held = async (table: 'queue_job' | 'storage_job', statuses: readonly string[]): Promise<HeldJob[]> => {
    const rows = await db
      .selectFrom(table)
      .select(['id', 'project_id', 'worker', 'lease_until'])
      .where('ended_at', 'is', null)
      .where('status', 'in', statuses)
      .where('worker', 'is not', null)
      .orderBy('id')
      .limit(MAX_HELD)
      .execute()
    return rows.map(({ id, project_id, worker, lease_until }) => ({
      worker: worker!, // of a query for rows that have one
      id,
      projectId: project_id,
      leaseUntil: new Date(lease_until ?? 0),
    }))
  }

  return {
    async save({ id, startedAt, seenAt, ...node }: StackNode): Promise<void> {
      const row = {
        name: node.name,
        data_folder: node.dataFolder,
        version: node.version,
        roles: node.roles.join(','),
        labels: node.labels.join(','),
        state: node.state,
        load: JSON.stringify(node.load),
        seen_at: seenAt.getTime(),
      }
      await db
        .insertInto('stack_node')
        .values({ id, started_at: startedAt.getTime(), ...row })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
        .execute()
    },

    async remove(id: string): Promise<void> {
      await db.deleteFrom('stack_node').where('id', '=', id).execute()
    },

    /** Only one process runs on a data folder: the others have ended, however they did. */
    async removeBefore(id: string, dataFolder: string): Promise<void> {
      await db.deleteFrom('stack_node').where('data_folder', '=', dataFolder).where('id', '!=', id).execute()
    },

    async removeSilent(before: number): Promise<void> {
      await db.deleteFrom('stack_node').where('seen_at', '<', before).execute()
    },

    async list(): Promise<StackNode[]> {
      const rows = await db.selectFrom('stack_node').selectAll().orderBy('started_at').orderBy('id').execute()
      return rows.map(({ data_folder, roles, labels, load, started_at, seen_at, ...node }) => ({
        ...node,
        dataFolder: data_folder,
        roles: wordsOf(roles),
        labels: wordsOf(labels),
        load: readStored<NodeLoad>(load),
        startedAt: new Date(started_at),
        seenAt: new Date(seen_at),
      }))
    },

    heldJobs: () => held('queue_job', ['processing', 'terminating']),
    heldStorageJobs: () => held('storage_job', ['processing']),

    /** Labels of each worker that takes jobs now. */
    async workerLabels(trx: Trx, seenSince: number): Promise<ReadonlySet<string>[]> {
      const rows = await withTables<Tables>(trx)
        .selectFrom('stack_node')
        .select(['roles', 'labels'])
        .where('seen_at', '>=', seenSince)
        .where('state', '=', 'working')
        .execute()
      return rows.filter(({ roles }) => wordsOf(roles).includes('worker')).map(({ labels }) => new Set(wordsOf(labels)))
    },
  }
}

const wordsOf = (text: string): string[] => (text === '' ? [] : text.split(','))
