// What modules publish and other modules subscribe to. A subscriber that fails fails the publisher: what is published in a transaction
// holds together with it.

import type { Db, Trx } from '../engines/metadata-db/dialects.ts'
import type { Actor } from './actor.ts'
import type { ContentProblem } from './content-problem.ts'
import type { DryRunAnswer } from './dry-run.ts'
import type { EventSource, NewEvent, Origin } from './event.ts'
import type { JobEndFacts } from './job-end.ts'

export interface BranchPlace {
  readonly id: number
  readonly projectId: number
}

/** What a proposal changes besides configurations. Each module that owns such things lists, applies and undoes its own. */
export interface StorageChange {
  readonly kind: 'dataTest' | 'dataContract' | 'table' | 'tableMetadata'
  readonly tableId: string
  /** Of the test; the id of the table for everything else. */
  readonly name: string
  /** What the default branch has now; undefined: nothing of that name. */
  readonly before: object | undefined
  readonly after: object
  /** The default branch has changed in a way that it cannot be applied. */
  readonly isConflict: boolean
}

/** As it was applied. The module that applied it reads the rest when it is undone. */
export interface AppliedStorageChange {
  readonly kind: StorageChange['kind']
  readonly tableId: string
  readonly name: string
  /** JSON values. */
  readonly replaced: unknown
  readonly applied: unknown
}

/** The branch of a proposal, and the default branch. */
export interface ProposalPlace {
  readonly projectId: number
  readonly branchId: number
  readonly branchIntoId: number
}

export interface DroppedTable {
  readonly id: string
  readonly name: string
  readonly branchId: number
}

export interface Hooks {
  /** An event was recorded; in its transaction. */
  'event.recorded': (trx: Trx, source: EventSource, event: NewEvent) => Promise<void>
  /** A project was created; in its transaction. */
  'project.created': (trx: Trx, projectId: number) => Promise<void>
  /** The grace period of a deleted project is over: remove what it has outside the database. Its rows are deleted afterwards. */
  'project.removed': (projectId: number) => Promise<void>
  /** Bytes and files that a project stores, at the time `at`. */
  'project.measured': (projectId: number, at: Db) => Promise<{ readonly bytes: number; readonly files: number }>
  /** A branch was created as a copy of the default branch; in its transaction. */
  'branch.created': (trx: Trx, defaultBranch: BranchPlace, branch: BranchPlace, source: EventSource) => Promise<void>
  /** A branch is about to be deleted; in the same transaction. */
  'branch.deleted': (trx: Trx, branch: BranchPlace, source: EventSource) => Promise<void>
  /** The deletion of a branch was committed: remove what it had outside the database. */
  'branch.removed': (projectId: number, branchId: number) => Promise<void>
  /** A branch is about to be merged without a merge request: refuse where the project requires a review. */
  'branch.merging': (projectId: number) => Promise<void>
  /** A branch is about to be merged, with or without a merge request: refuse what would break the default branch. */
  'branch.beforeMerge': (source: EventSource, branchId: number) => Promise<void>
  /** A merge request was merged; in its transaction. `source` is who approved it last, or started the merge. */
  'mergeRequest.merged': (
    trx: Trx,
    source: EventSource,
    mergeRequestId: number,
    changes: readonly { readonly componentId: string; readonly configurationId: string; readonly kind: string }[],
  ) => Promise<void>
  /** A person has accepted schedules, new ones or changes of them; in the transaction that saves them. */
  'schedules.accepted': (
    trx: Trx,
    source: EventSource,
    schedules: readonly { readonly configurationId: string; readonly isNew: boolean }[],
  ) => Promise<void>
  /** What accepting a proposal would change besides configurations. */
  'proposal.changesListed': (place: ProposalPlace) => Promise<readonly StorageChange[]>
  /** A proposal was accepted: apply what it changes besides configurations; in the transaction of the merge, before the branch is gone. */
  'proposal.accepted': (trx: Trx, source: EventSource, place: ProposalPlace) => Promise<readonly AppliedStorageChange[]>
  /** Bring back what it replaced; rejects with `proposals.storageChangedSince`. */
  'proposal.undone': (
    trx: Trx,
    source: EventSource,
    proposal: { readonly id: number; readonly branchIntoId: number },
    applied: readonly AppliedStorageChange[],
  ) => Promise<void>
  /** Whether a branch is locked against changes. */
  'branch.isLocked': (projectId: number, branchId: number, from: Db) => Promise<boolean>
  /** A bucket is about to be deleted: drop its tables, and return those that are gone. */
  'bucket.emptied': (trx: Trx, projectId: number, bucketKey: number) => Promise<readonly DroppedTable[]>
  /** The last link of a project to a bucket is about to be deleted: drop the aliases that show its tables. */
  'bucket.unlinked': (trx: Trx, projectId: number, bucketKey: number) => Promise<void>
  /** Names of the project's aliases that show tables of a bucket of another project. */
  'bucket.aliasesListed': (projectId: number, bucketKey: number) => Promise<readonly string[]>
  /** Before unused files of tables are searched: drop what is no longer needed. */
  'tables.sweeping': () => Promise<void>
  /** Objects below `tables/` that are in use though no state of a table names them. */
  'tables.keysInUseListed': (projectId: number) => AsyncIterable<string>
  /** Before unused workspaces are deleted: delete what expired. */
  'workspaces.sweeping': () => Promise<void>
  /** A configuration is about to be saved: refuse what could not run, return warnings. */
  'configuration.saving': (
    place: { readonly projectId: number; readonly branchId: number; readonly componentId: string },
    configurationId: string,
    configuration: string,
  ) => Promise<readonly string[]>
  /** All problems of a configuration, or of a row of one. */
  'configuration.validated': (
    caller: {
      readonly actor: Actor
      readonly branch: { readonly id: number; readonly isDefault: boolean }
      readonly origin: Origin
    },
    place: { readonly componentId: string; readonly configurationId?: string | undefined; readonly isRow: boolean },
    content: Readonly<Record<string, unknown>>,
    text: string,
  ) => Promise<readonly ContentProblem[]> | readonly ContentProblem[]
  /** When a configuration will be run next, for the answer of a dry run. */
  'configuration.nextRunsListed': (
    actor: Actor,
    componentId: string,
    configurationId: string,
  ) => Promise<DryRunAnswer['nextRuns']>
  /** A job of the queue has ended; in its transaction. */
  'job.ended': (trx: Trx, job: JobEndFacts) => Promise<void>
}

export type HookName = keyof Hooks

export type Subscribe = <N extends HookName>(name: N, subscriber: Hooks[N]) => void
/** Calls the subscribers one after the other and returns what they return: nothing, or a list. */
export type Publish = <N extends HookName>(
  name: N,
  ...args: Parameters<Hooks[N]>
) => Promise<ReturnType<Hooks[N]> extends Promise<void> ? void : Awaited<ReturnType<Hooks[N]>>[]>

export function createHooks(): { readonly subscribe: Subscribe; readonly publish: Publish } {
  const subscribers = new Map<HookName, ((...args: readonly unknown[]) => unknown)[]>()
  return {
    subscribe(name, subscriber) {
      subscribers.set(name, [...(subscribers.get(name) ?? []), subscriber as (...args: readonly unknown[]) => unknown])
    },
    async publish(name, ...args) {
      const answers: unknown[] = []
      for (const call of subscribers.get(name) ?? []) answers.push(await call(...args))
      return answers as never // subscribe accepts no others under this name
    },
  }
}
