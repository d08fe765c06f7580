// What a worker may use, for the modules that run components and apps.

import type { IsolationSettings } from '../engines/runner/isolation.ts'
import { DEFAULT_LIMITS } from '../kit/default-limits.ts'

/** Folders of this machine that components may read and write, by name. */
export interface NamedFolders {
  readonly read: Readonly<Record<string, string>>
  readonly write: Readonly<Record<string, string>>
}

export interface WorkerSettings {
  /** Max jobs that this node runs at once. */
  readonly jobs: number
  /** Max jobs that one project runs at once, on all nodes (spec platform 2.6). */
  readonly projectJobs: number
  /** Max starts of a job whose worker was lost and whose component may be repeated. */
  readonly attempts: number
  /** How long a job waits for an object store that does not answer. */
  readonly storeWaitMs: number
  /** The labels of this node, which components and configurations can require. */
  readonly labels: readonly string[]
  /** Max sync actions that this node runs at once. */
  readonly actions: number
  /** Max sync actions of one project that this node runs at once. */
  readonly projectActions: number
  /** Max disk that one run may fill. */
  readonly diskBytes: number
  /** Max files that one row may leave as results, slices included. */
  readonly results: number
  /** Max processes of built-in components that wait for a job. */
  readonly spares: number
  /** How long what a failed run has left for the next one is kept, and how much of it on this node. */
  readonly checkpointHours: number
  readonly checkpointBytes: number
  /** Where commands are looked for. */
  readonly path: string
  readonly egressAllow: readonly string[]
  /** Where packages of Python transformations are found; undefined: the public index. */
  readonly pythonIndexUrl: string | undefined
  readonly folders: NamedFolders
  /** How components that are commands are isolated. */
  readonly isolation: Pick<IsolationSettings, 'mode' | 'readable' | 'uid'>
}

const { uid, ...limits } = DEFAULT_LIMITS.worker

export const DEFAULT_WORKER: WorkerSettings = {
  ...limits,
  labels: [],
  egressAllow: [],
  pythonIndexUrl: undefined,
  folders: { read: {}, write: {} },
  isolation: { mode: 'off', readable: [], uid },
}
