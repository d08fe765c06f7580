// Rules for rehearsals.
//  1. A rehearsal runs in the branch of the proposal, with the rights of the token that proposes, regardless of the caller: what it reads is
//     what that token may read, and what it writes stays in the branch.
//  2. Its jobs have the mode `rehearse`: no network, recorded answers, no state that is kept (job-runner/rehearsal.ts).
//  3. Tables that it is known to write are the ones of production when it begins: values are copied, no bytes move.
//  4. Its result is what was found when its job had ended; it is worked out once, and says which content it is about.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, tablePermissionOf } from '../../../model/actor.ts'
import type { Requester } from '../../../model/storage-job.ts'
import type { Comparison } from './compare.ts'
import type { Found } from './found.ts'
import { keyOf, type Place, type Plan, planRehearsal, type Uses } from './plan.ts'
import { countRehearsals, insertRehearsal, listRehearsals, type Rehearsal, saveResult } from './rehearsals.store.ts'

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
    const written = new Set(earlier.flatMap((one) => [...one.plan.writes, ...(one.result?.tables ?? []).map(({ id }) => id)]))
    for (const tableId of written) await deps.tables.drop(asToken, branchId, tableId)
    for (const tableId of plan.writes) await deps.tables.pull(asToken, branchId, tableId)
    const jobId = plan.levels.length === 0 ? null : await deps.jobs.start(actor, branchId, plan.levels, baseUrl)
    const content = contentOf(changes)
    await inTransaction((trx) =>
      insertRehearsal(trx, { projectId, proposalId, branchId, jobId, content, plan, createdAt: clock.now() }),
    )
    return get(caller, proposalId)
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

  const stateOf = async ({ projectId, jobId }: Rehearsal): Promise<'running' | 'finished'> =>
    jobId === null || (await deps.jobs.find(projectId, jobId)).isFinished ? 'finished' : 'running'

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
    const { projectId, branchId, jobId, plan } = one
    const job = jobId === null ? { isFinished: true, steps: [] } : await deps.jobs.find(projectId, jobId)
    if (!job.isFinished) return undefined
    const steps = job.steps.map(({ id, componentId, configurationId, status, error }) => ({
      ...{ componentId, configurationId: configurationId ?? '', jobId: String(id), status, error },
    }))
    const ids = [...new Set([...plan.writes, ...job.steps.flatMap(({ tables }) => tables)])].sort()
    const tables: ({ id: string } & Comparison)[] = []
    if (!isEnded) {
      const reader = await deps.actorOf(projectId, (await ownerOf(one)).id)
      for (const id of ids.slice(0, MAX_COMPARED)) {
        const comparison = reader && (await comparedOrNot({ ...reader, canManageBuckets: true }, branchId, id))
        if (comparison) tables.push({ id, ...comparison })
      }
    }
    const found: Found = { steps, tables, tablesLeftOut: Math.max(0, ids.length - MAX_COMPARED) }
    await inTransaction((trx) => saveResult(trx, projectId, one.id, found))
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

const contentOf = (changes: readonly Change[]): string =>
  JSON.stringify(changes.map((one) => [keyOf(one), one.kind, one.branchVersionIdentifier]).sort())

const differs = ({ added, removed, changed, addedColumns, removedColumns }: Comparison): boolean =>
  added + removed + changed + addedColumns.length + removedColumns.length > 0

const rowsOf = ({ added, removed, changed }: Comparison): number => added + removed + changed

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
    summary: found ? summaryOf(different, found, one.plan) : 'The rehearsal is running.',
  }
}

function summaryOf(different: readonly ({ readonly id: string } & Comparison)[], { steps }: Found, { notRun }: Plan): string {
  const rows = different.reduce((sum, table) => sum + rowsOf(table), 0)
  const failed = steps.filter(({ status }) => status !== 'success').length
  const first =
    different.length === 0
      ? 'No row differs.'
      : `${counted(rows, 'row')} ${rows === 1 ? 'differs' : 'differ'} in ${counted(different.length, 'table')}.`
  return [
    first,
    ...(failed > 0 ? [`${counted(failed, 'configuration')} failed.`] : []),
    ...(notRun.length > 0 ? [`${counted(notRun.length, 'configuration')} could not be rehearsed.`] : []),
  ].join(' ')
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
