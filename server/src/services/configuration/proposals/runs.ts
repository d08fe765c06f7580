// Jobs of a proposal, which start once it is accepted. They run in production, with the rights of who accepted it last.
//  1. They become due in the transaction that applies the proposal, so that none is forgotten by a stack that stops in between.
//  2. Each is started once, on any number of nodes: the job and its mark are one transaction.
//  3. One that cannot be started because of an internal error stays due, and delays no other.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { type KnownRun, listDueRuns, setDone } from './runs.store.ts'

export interface StartRunsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  /** Undefined when the token is gone, expired or disabled. */
  readonly findActor: (projectId: number, tokenId: number) => Promise<Actor | undefined>
  readonly jobs: {
    /** Refuses what cannot run; the answer queues the job in a transaction. */
    prepare(
      actor: Actor,
      target: { readonly component: string; readonly config: string },
    ): Promise<{ insert(trx: Trx): Promise<{ readonly id: string }> }>
    /** Jobs were queued and committed. */
    wake(): void
  }
  /** Of an internal error; the run is tried again. */
  readonly onError: (error: unknown, run: KnownRun) => void
}

const BATCH = 100

/** A node that is slower than another one leaves its transaction without a job. */
class AlreadyStarted extends Error {}

export function createStartRuns({ db, inTransaction, findActor, jobs, onError }: StartRunsDeps) {
  async function start(run: KnownRun): Promise<void> {
    const { projectId, tokenId, componentId, configurationId } = run
    const fail = (problem: string) => inTransaction((trx) => setDone(trx, run, { jobId: null, problem }))
    const actor = tokenId === undefined ? undefined : await findActor(projectId, tokenId)
    if (!actor) {
      await fail('The token that accepted the proposal is no longer valid.')
      return
    }
    try {
      const prepared = await jobs.prepare(actor, { component: componentId, config: configurationId })
      await inTransaction(async (trx) => {
        const { id } = await prepared.insert(trx)
        if (!(await setDone(trx, run, { jobId: id, problem: null }))) throw new AlreadyStarted()
      })
    } catch (error) {
      if (error instanceof AlreadyStarted) return
      if (!(error instanceof PlatformError) || error.kind === 'bug' || error.kind === 'transient') throw error
      await fail(error.message)
    }
  }

  /** Starts everything that is due. */
  return async (): Promise<void> => {
    let due: KnownRun[] = []
    do {
      due = await listDueRuns(db, { after: due.at(-1)?.id ?? 0, limit: BATCH })
      for (const run of due) await start(run).catch((error: unknown) => onError(error, run))
      if (due.length > 0) jobs.wake()
    } while (due.length === BATCH)
  }
}
