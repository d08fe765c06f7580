// Rules for rehearsals.
//  1. A rehearsal runs in the branch of the proposal, with the rights of the token that proposes, regardless of the caller: what it reads is
//     what that token may read, and what it writes stays in the branch.
//  2. Its jobs have the mode `rehearse`: no network, recorded answers, no state that is kept (job-runner/rehearsal.ts).
//  3. Tables that it is known to write are the ones of production when it begins: values are copied, no bytes move.
//  4. Its result is what was found when its job had ended; it is computed once, and names the content it belongs to. Tables that were not
//     compared are named or counted: they do not pass for equal ones.
//  5. A proposal has one rehearsal at a time. It is written down before its work begins, and has no job until then.

import { type Db, lockTable, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, tablePermissionOf } from '../../../model/actor.ts'
import type { Requester } from '../../../model/storage-job.ts'
import type { Comparison } from './compare.ts'
import { differs, type Found, rowsOf, summaryOf } from './found.ts'
import { keyOf, type Place, type Plan, planRehearsal, type Uses } from './plan.ts'
import {
  countRehearsals,
  deleteRehearsal,
  insertRehearsal,
  listRehearsals,
  type Rehearsal,
  saveJob,
  saveResult,
} from './rehearsals.store.ts'

/** The part of a proposal that this module reads. */
interface Proposal {
  readonly id: number
  readonly branchId: number
  readonly token: { readonly id: number }
}

interface Change extends Place {
  readonly kind: 'created' | 'changed' | 'deleted'
  readonly branchVersionIdentifier: string
}

interface StepJob {
  readonly id: number
  readonly componentId: string
  readonly configurationId: string | null
  readonly status: string
  readonly error: string | null
  readonly tables: readonly string[]
}

export interface RehearsalsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly getProposal: (actor: Actor, id: number) => Promise<{ readonly proposal: Proposal; readonly state: string }>
  /** Undefined: the token is deleted, disabled or expired. */
  readonly actorOf: (projectId: number, tokenId: number) => Promise<Actor | undefined>
  readonly changesOf: (projectId: number, branchId: number) => Promise<readonly Change[]>
  readonly usesOf: (projectId: number, branchId: number) => Promise<readonly Uses[]>
  /** Why a configuration of a branch cannot run; undefined when it can. */
  readonly problemOf: (projectId: number, branchId: number, place: Place) => Promise<string | undefined>
  readonly isDelivery: (componentId: string) => boolean
  readonly tables: {
    /** Deletes the table from the branch, if it has one of its own. */
    drop(requester: Requester & { readonly actor: Actor }, branchId: number, tableId: string): Promise<void>
    /** Brings the table of production into the branch; nothing, if production has none. */
    pull(requester: Requester & { readonly actor: Actor }, branchId: number, tableId: string): Promise<void>
    /** Undefined: the branch has no table of its own under this id. */
    compare(actor: Actor, branchId: number, tableId: string): Promise<Comparison | undefined>
  }
  readonly jobs: {
    /** Runs the levels one after the other, and returns the id of the job. */
    start(actor: Actor, branchId: number, levels: Plan['levels'], baseUrl: string): Promise<number>
    /** The job of the rehearsal and those of its steps. */
    find(projectId: number, jobId: number): Promise<{ readonly isFinished: boolean; readonly steps: readonly StepJob[] }>
  }
  readonly perHour: number
}

export interface RehearsalView extends Found {
  readonly id: number | null
  readonly proposalId: number
  readonly state: 'none' | 'running' | 'finished'
  readonly jobId: string | null
  readonly created: Date | null
  readonly isCurrent: boolean
  readonly notRun: Plan['notRun']
  readonly deliveries: readonly (Plan['deliveries'][number] & { readonly rows: number })[]
  /** Tables that differ and that the caller may not read. */
  readonly hiddenTables: number
  readonly summary: string
}

const ENDED: ReadonlySet<string> = new Set(['accepted', 'undone', 'expired', 'discarded'])
const MAX_COMPARED = 50
/** Tables are dropped and pulled before the job exists. */
const LONGEST_BEGIN_MS = 600_000
const KEPT = 5

export type Rehearsals = ReturnType<typeof createRehearsals>

export function createRehearsals(deps: RehearsalsDeps) {
  const { db, inTransaction, clock } = deps

  async function start(requester: Requester & { readonly actor: Actor }, proposalId: number): Promise<RehearsalView> {
    const { actor: caller, origin, baseUrl } = requester
    const { proposal, state } = await deps.getProposal(caller, proposalId)
    if (ENDED.has(state)) throw new PlatformError('proposals.wrongState', { id: proposalId, state, step: 'rehearse' })
    const { projectId } = caller
    const { branchId } = proposal
    const hour = new Date(clock.now().getTime() - 3_600_000)
    if ((await countRehearsals(db, projectId, hour)) >= deps.perHour)
      throw new PlatformError('proposals.tooMany', { what: 'rehearsals', limit: deps.perHour, seconds: 600 })
    const actor = await deps.actorOf(projectId, proposal.token.id)
    if (!actor) throw new PlatformError('proposals.tokenGone', { id: proposalId })
    const earlier = await listRehearsals(db, projectId, proposalId, KEPT)
    if (earlier[0] && (await stateOf(earlier[0])) === 'running')
      throw new PlatformError('proposals.rehearsing', { id: proposalId })
    const changes = await deps.changesOf(projectId, branchId)
    const plan = await planOf(projectId, branchId, changes)
    const asToken = { actor, origin, baseUrl }
    const content = contentOf(changes)
    const id = await inTransaction(async (trx) => {
      await lockTable(trx, 'rehearsal')
      const [newest] = await listRehearsals(trx, projectId, proposalId, 1)
      if (newest?.id !== earlier[0]?.id) throw new PlatformError('proposals.rehearsing', { id: proposalId })
      return insertRehearsal(trx, { projectId, proposalId, branchId, jobId: null, content, plan, createdAt: clock.now() })
    })
    try {
      const jobId = await begin(asToken, branchId, plan, earlier)
      await inTransaction((trx) => saveJob(trx, projectId, id, jobId))
    } catch (error) {
      await inTransaction((trx) => deleteRehearsal(trx, projectId, id))
      throw error
    }
    return get(caller, proposalId)
  }

  /** Rule 3. The id of the job; null: nothing of the proposal can run. */
  async function begin(
    asToken: Requester & { readonly actor: Actor },
    branchId: number,
    plan: Plan,
    earlier: readonly Rehearsal[],
  ): Promise<number | null> {
    const written = new Set(earlier.flatMap((one) => [...one.plan.writes, ...(one.result?.tables ?? []).map(({ id }) => id)]))
    for (const tableId of written) await deps.tables.drop(asToken, branchId, tableId)
    for (const tableId of plan.writes) await deps.tables.pull(asToken, branchId, tableId)
    return plan.levels.length === 0 ? null : deps.jobs.start(asToken.actor, branchId, plan.levels, asToken.baseUrl)
  }

  async function planOf(projectId: number, branchId: number, changes: readonly Change[]): Promise<Plan> {
    const uses = await deps.usesOf(projectId, branchId)
    const deleted = new Set(changes.filter(({ kind }) => kind === 'deleted').map(keyOf))
    const problems = new Map<string, string | undefined>()
    for (const place of [...changes, ...uses])
      if (!problems.has(keyOf(place)))
        problems.set(
          keyOf(place),
          deleted.has(keyOf(place))
            ? 'it would be deleted; its tables keep their rows'
            : await deps.problemOf(projectId, branchId, place),
        )
    return planRehearsal({
      changed: changes,
      uses,
      problemOf: (place) => problems.get(keyOf(place)),
      isDelivery: deps.isDelivery,
    })
  }

  async function stateOf(one: Rehearsal): Promise<'running' | 'finished'> {
    const { projectId, jobId } = one
    if (jobId === null) return isBeginning(one) ? 'running' : 'finished'
    return (await deps.jobs.find(projectId, jobId)).isFinished ? 'finished' : 'running'
  }

  /** Rule 5. One whose node has stopped meanwhile does not hold up the next. */
  const isBeginning = (one: Rehearsal): boolean =>
    hasNoJobYet(one) && clock.now().getTime() - one.createdAt.getTime() < LONGEST_BEGIN_MS

  /** The newest of the proposal. */
  async function get(actor: Actor, proposalId: number): Promise<RehearsalView> {
    const { proposal, state } = await deps.getProposal(actor, proposalId)
    const [newest] = await listRehearsals(db, actor.projectId, proposalId, 1)
    if (!newest) return { ...NEVER, proposalId }
    const isEnded = ENDED.has(state)
    const content = isEnded ? newest.content : contentOf(await deps.changesOf(actor.projectId, proposal.branchId))
    return viewOf(actor, newest, await foundBy(newest, isEnded), content)
  }

  /** Rule 4. Undefined while it runs. */
  async function foundBy(one: Rehearsal, isEnded: boolean): Promise<Found | undefined> {
    if (one.result) return one.result
    if (isBeginning(one)) return undefined
    const { projectId, branchId, jobId, plan } = one
    const job = jobId === null ? { isFinished: true, steps: [] } : await deps.jobs.find(projectId, jobId)
    if (!job.isFinished) return undefined
    const steps = job.steps.map(({ id, componentId, configurationId, status, error }) => ({
      ...{ componentId, configurationId: configurationId ?? '', jobId: String(id), status, error },
    }))
    const ids = [...new Set([...plan.writes, ...job.steps.flatMap(({ tables }) => tables)])].sort()
    const isLost = isEnded || hasNoJobYet(one)
    const reader = isLost ? undefined : await deps.actorOf(projectId, (await ownerOf(one)).id)
    const compared = reader ? ids.slice(0, MAX_COMPARED) : []
    const tables: ({ id: string } & Comparison)[] = []
    for (const id of compared) {
      const comparison = reader && (await comparedOrNot({ ...reader, canManageBuckets: true }, branchId, id))
      if (comparison) tables.push({ id, ...comparison })
    }
    const found: Found = { steps, tables, tablesLeftOut: ids.length - compared.length }
    // A token that is disabled may be enabled again.
    if (reader || isLost) await inTransaction((trx) => saveResult(trx, projectId, one.id, found))
    return found
  }

  /** A table that is too large to be compared in time, or whose rows cannot be read, does not hide the others. */
  async function comparedOrNot(actor: Actor, branchId: number, id: string): Promise<Comparison | undefined> {
    try {
      return await deps.tables.compare(actor, branchId, id)
    } catch (error) {
      if (!(error instanceof PlatformError) || error.kind === 'bug' || error.kind === 'transient') throw error
      return { ...NOT_COMPARED, problem: error.message }
    }
  }

  const ownerOf = async ({ projectId, proposalId }: Rehearsal): Promise<{ readonly id: number }> =>
    (await deps.getProposal({ ...SYSTEM, projectId }, proposalId)).proposal.token

  return { start, get }
}

/** Sees every proposal of the project. */
const SYSTEM: Actor = {
  projectId: 0,
  tokenId: 0,
  tokenDescription: 'rehearsal',
  isMasterToken: true,
  canManageBuckets: true,
  canManageTokens: false,
  canReadAllFileUploads: false,
  canPurgeTrash: false,
  canReadAllProjectEvents: false,
  canManageDevBranches: true,
  bucketPermissions: {},
  componentAccess: [],
}

const NOT_COMPARED: Comparison = {
  ...{ rowsBefore: 0, rowsAfter: 0, added: 0, removed: 0, changed: 0 },
  ...{ addedColumns: [], removedColumns: [], columns: [], samples: [] },
}

const NEVER: Omit<RehearsalView, 'proposalId'> = {
  ...{ id: null, state: 'none', jobId: null, created: null, isCurrent: false, summary: 'Not rehearsed yet.' },
  ...{ steps: [], notRun: [], tables: [], tablesLeftOut: 0, hiddenTables: 0, deliveries: [] },
}

const hasNoJobYet = ({ jobId, plan }: Rehearsal): boolean => jobId === null && plan.levels.length > 0

const contentOf = (changes: readonly Change[]): string =>
  JSON.stringify(changes.map((one) => [keyOf(one), one.kind, one.branchVersionIdentifier]).sort())

function viewOf(actor: Actor, one: Rehearsal, found: Found | undefined, content: string): RehearsalView {
  const all = found?.tables ?? []
  const tables = all.filter(({ id }) => tablePermissionOf(actor, id) !== undefined)
  const different = tables.filter(differs)
  return {
    id: one.id,
    proposalId: one.proposalId,
    state: found ? 'finished' : 'running',
    jobId: one.jobId === null ? null : String(one.jobId),
    created: one.createdAt,
    isCurrent: content === one.content,
    steps: found?.steps ?? [],
    notRun: one.plan.notRun,
    tables,
    tablesLeftOut: found?.tablesLeftOut ?? 0,
    hiddenTables: all.filter(differs).length - different.length,
    deliveries: one.plan.deliveries.map((delivery) => ({
      ...delivery,
      rows: different.filter(({ id }) => delivery.tables.includes(id)).reduce((sum, table) => sum + rowsOf(table), 0),
    })),
    summary: found ? summaryOf(tables, found, one.plan) : 'The rehearsal is running.',
  }
}
