// Rules for proposals.
//  1. A token with `onlyProposes` has at most one open proposal: its branch, created by its first change.
//  2. While a proposal is submitted, nothing changes in its branch: what was reviewed is what is applied.
//  3. Someone else than the token decides. A refusal has a reason, which the token can read; it may continue in the same branch.
//  4. People propose a development branch of their own; the rules for approvals of merge requests hold for it.
//  5. A proposal that was not decided expires. What was applied can be undone as one, while nothing of it has changed since.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { type EventSource, NO_ORIGIN, type Origin } from '../../../model/event.ts'
import type { StorageChange } from '../../../model/hooks.ts'
import type { Requester } from '../../../model/storage-job.ts'
import {
  countProposalsOfToken,
  findNewestOfToken,
  findProposal,
  findProposalOfBranch,
  insertProposal,
  listBegunBetween,
  listProposals,
  type Proposal,
  type Replaced,
  setMergeRequest,
  setReplaced,
  setUndone,
} from './proposals.store.ts'
import { cancelDue, type KnownRun, listRuns, type ProposedRun, replaceRuns, setWanted } from './runs.store.ts'

interface Branch {
  readonly id: number
  readonly name: string
  readonly isDefault: boolean
}

/** The part of a merge request that this module reads. */
export interface Request {
  readonly id: number
  readonly title: string
  readonly description: string
  readonly state: 'development' | 'in_review' | 'approved' | 'in_merge' | 'published' | 'canceled'
  readonly activity: readonly {
    readonly at: number
    readonly what: string
    readonly reason?: string
    readonly by: { readonly name: string }
  }[]
}

export interface ProposalsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly branches: {
    /** Rejects when it is gone. */
    get(projectId: number, name: string, from: Db): Promise<Branch>
    findDefault(projectId: number): Promise<Branch>
    hold(trx: Trx, projectId: number, id: number): Promise<void>
    create(trx: Trx, source: EventSource, input: { name: string; description: string }, origin: Origin): Promise<Branch>
    remove(trx: Trx, source: EventSource, id: number, origin: Origin): Promise<void>
  }
  readonly afterRemoval: (projectId: number, branchId: number) => Promise<void>
  readonly mergeRequests: {
    get(projectId: number, id: number, from?: Db): Promise<Request>
    create(
      actor: Actor,
      input: {
        readonly title: string
        readonly description: string
        readonly branchFromId: number
        readonly branchIntoId: number
        readonly autoMergeStrategy: string
      },
      origin: Origin,
    ): Promise<Request>
    update(actor: Actor, id: number, input: { readonly title: string; readonly description: string }): Promise<Request>
    advance(
      actor: Actor,
      id: number,
      by: 'request-review' | 'approve' | 'request-changes',
      origin: Origin,
      reason?: string,
    ): Promise<Request>
  }
  /** What it changes besides configurations and the default branch cannot take any more. */
  readonly storageConflicts: (projectId: number, branchId: number) => Promise<readonly StorageChange[]>
  /** The configuration to run, with the id of its component; rejects when the branch has none. */
  readonly findRun: (projectId: number, branchId: number, run: ProposedRun) => Promise<ProposedRun>
  /** What the default branch has now of everything that a proposal changes. */
  readonly replacedBy: (projectId: number, branchId: number) => Promise<readonly Replaced[]>
  /** Brings it back; rejects when something of it was changed since. */
  readonly bringBack: (
    trx: Trx,
    requester: { readonly actor: Actor; readonly origin: Origin },
    proposal: Proposal,
    replaced: readonly Replaced[],
  ) => Promise<void>
  /** Approves, and merges when enough have approved; refuses conflicts before. */
  readonly approve: (requester: Requester & { readonly actor: Actor }, id: number, reason?: string) => Promise<Request>
}

export type ProposalState = 'open' | 'submitted' | 'refused' | 'accepted' | 'undone' | 'expired' | 'discarded'

export interface KnownProposal {
  readonly proposal: Proposal
  readonly state: ProposalState
  readonly request: Request | undefined
}

/** How long a proposal waits for its next step. */
const EXPIRES_AFTER_MS = 14 * 86_400_000
const HOUR_MS = 3_600_000
/** Proposals that a token may begin, and how often one may be submitted, within an hour. */
const BEGUN_PER_HOUR = 20
const SUBMITTED_PER_HOUR = 10

export type Proposals = ReturnType<typeof createProposals>

export function createProposals(deps: ProposalsDeps) {
  const { db, inTransaction, clock, branches, mergeRequests } = deps

  async function known(proposal: Proposal, from: Db = db): Promise<KnownProposal> {
    const { projectId, branchId, mergeRequestId } = proposal
    const request = mergeRequestId === undefined ? undefined : await mergeRequests.get(projectId, mergeRequestId, from)
    return { proposal, request, state: stateOf(proposal, request, await isGone(projectId, branchId, from), clock.now()) }
  }

  async function isGone(projectId: number, branchId: number, from: Db): Promise<boolean> {
    try {
      await branches.get(projectId, String(branchId), from)
      return false
    } catch (error) {
      if (error instanceof PlatformError && error.kind === 'not-found') return true
      throw error
    }
  }

  async function current({ projectId, tokenId }: Actor, from: Db = db): Promise<KnownProposal | undefined> {
    const newest = await findNewestOfToken(from, projectId, tokenId)
    const found = newest && (await known(newest, from))
    return found && !isEnded(found.state) ? found : undefined
  }

  /** The branch of the token, for its reads; undefined before its first change. */
  async function branchOf(actor: Actor): Promise<{ id: number; isDefault: boolean } | undefined> {
    const found = await current(actor)
    return found && { id: found.proposal.branchId, isDefault: false }
  }

  /** Rules 1 and 2. The branch for a change. */
  async function open(actor: Actor, origin: Origin): Promise<{ id: number; isDefault: boolean }> {
    const found = await current(actor)
    if (found) return writable(found)
    const { projectId, tokenId, tokenDescription } = actor
    const defaultBranch = await branches.findDefault(projectId)
    return await inTransaction(async (trx) => {
      await branches.hold(trx, projectId, defaultBranch.id) // of two first changes at once, the second sees the branch of the first
      const now = await current(actor, trx)
      if (now) return writable(now)
      await checkBegun(actor, trx)
      const at = clock.now()
      const name = `Proposal of ${tokenDescription.slice(0, 100)}, ${at.toISOString()}`
      const branch = await branches.create(trx, actor, { name, description: 'Changes that an agent proposes.' }, origin)
      const token = { id: tokenId, description: tokenDescription }
      await insertProposal(trx, { projectId, token, branchId: branch.id, createdAt: at })
      return { id: branch.id, isDefault: false }
    })
  }

  async function checkBegun({ projectId, tokenId }: Actor, from: Db): Promise<void> {
    const since = new Date(clock.now().getTime() - HOUR_MS)
    if ((await countProposalsOfToken(from, projectId, tokenId, since)) >= BEGUN_PER_HOUR)
      throw new PlatformError('proposals.tooMany', { what: 'new proposals', limit: BEGUN_PER_HOUR, seconds: 600 })
  }

  /** Rule 4. */
  async function begin(actor: Actor, branchId: number): Promise<KnownProposal> {
    const { projectId, tokenId, tokenDescription } = actor
    const branch = await branches.get(projectId, String(branchId), db)
    if (branch.isDefault) throw new PlatformError('proposals.defaultBranch')
    const id = await inTransaction(async (trx) => {
      await branches.hold(trx, projectId, branch.id)
      const earlier = await findProposalOfBranch(trx, projectId, branch.id)
      if (earlier && !isEnded((await known(earlier, trx)).state))
        throw new PlatformError('proposals.exists', { id: earlier.id, branch: branch.id })
      await checkBegun(actor, trx)
      const token = { id: tokenId, description: tokenDescription }
      return insertProposal(trx, { projectId, token, branchId: branch.id, createdAt: clock.now() })
    })
    return get(actor, id)
  }

  async function get(actor: Actor, id: number): Promise<KnownProposal> {
    const proposal = await findProposal(db, actor.projectId, id)
    if (!proposal || !maySee(actor, proposal)) throw new PlatformError('proposals.notFound', { id })
    return known(proposal)
  }

  const list = async (actor: Actor): Promise<KnownProposal[]> => {
    const visible = (await listProposals(db, actor.projectId)).filter((proposal) => maySee(actor, proposal))
    const found: KnownProposal[] = []
    for (const proposal of visible) found.push(await known(proposal))
    return found
  }

  async function submit(
    actor: Actor,
    id: number,
    { title, description, runs }: { readonly title: string; readonly description: string; readonly runs: readonly ProposedRun[] },
    origin: Origin,
  ): Promise<KnownProposal> {
    const { proposal, state, request } = await get(actor, id)
    if (proposal.token.id !== actor.tokenId) throw new PlatformError('accessDenied')
    if (state !== 'open' && state !== 'refused') throw new PlatformError('proposals.wrongState', { id, state, step: 'submit' })
    const since = clock.now().getTime() - HOUR_MS
    const submits = request?.activity.filter(({ what, at }) => what === 'request-review' && at > since).length ?? 0
    if (submits >= SUBMITTED_PER_HOUR)
      throw new PlatformError('proposals.tooMany', { what: 'submissions', limit: SUBMITTED_PER_HOUR, seconds: 600 })
    const found: ProposedRun[] = []
    for (const run of runs) found.push(await deps.findRun(actor.projectId, proposal.branchId, run))
    const agent = actor.onlyProposes ? asManager(actor) : actor
    const submitted = request
      ? await mergeRequests.update(agent, request.id, { title, description })
      : await mergeRequests.create(
          agent,
          {
            ...{ title, description, branchFromId: proposal.branchId, autoMergeStrategy: 'immediately' },
            branchIntoId: (await branches.findDefault(actor.projectId)).id,
          },
          origin,
        )
    await inTransaction(async (trx) => {
      await setMergeRequest(trx, actor.projectId, id, submitted.id)
      await replaceRuns(trx, actor.projectId, id, found)
    })
    await mergeRequests.advance(agent, submitted.id, 'request-review', origin)
    return get(actor, id)
  }

  /** Rule 3. */
  async function accept(
    requester: Requester & { readonly actor: Actor },
    id: number,
    { reason, runJobs = true }: { readonly reason?: string | undefined; readonly runJobs?: boolean | undefined },
  ): Promise<KnownProposal> {
    const { proposal, request, state } = await get(requester.actor, id)
    if (!request || state !== 'submitted') throw new PlatformError('proposals.wrongState', { id, state, step: 'accept' })
    const { projectId, branchId } = proposal
    const [conflict] = await deps.storageConflicts(projectId, branchId)
    if (conflict)
      throw new PlatformError('proposals.storageConflict', {
        id,
        what: `${conflict.kind} ${conflict.name}`,
        table: conflict.tableId,
      })
    const replaced = await deps.replacedBy(projectId, branchId)
    await inTransaction(async (trx) => {
      await setReplaced(trx, projectId, id, replaced)
      await setWanted(trx, projectId, id, runJobs)
    })
    await deps.approve(requester, request.id, reason)
    return get(requester.actor, id)
  }

  async function refuse({ actor, origin }: { actor: Actor; origin: Origin }, id: number, reason: string): Promise<KnownProposal> {
    const { request, state } = await get(actor, id)
    if (!request || state !== 'submitted') throw new PlatformError('proposals.wrongState', { id, state, step: 'refuse' })
    await mergeRequests.advance(actor, request.id, 'request-changes', origin, reason)
    return get(actor, id)
  }

  /** Rule 5: one click back. */
  async function undo(requester: { readonly actor: Actor; readonly origin: Origin }, id: number): Promise<KnownProposal> {
    const { actor } = requester
    const { proposal, state } = await get(actor, id)
    const { replaced } = proposal
    if (state !== 'accepted' || !replaced) throw new PlatformError('proposals.wrongState', { id, state, step: 'undo' })
    await inTransaction(async (trx) => {
      if (!(await setUndone(trx, actor.projectId, id, clock.now())))
        throw new PlatformError('proposals.wrongState', { id, state: 'undone', step: 'undo' })
      await cancelDue(trx, actor.projectId, id, 'The proposal was undone before the job started.')
      await deps.bringBack(trx, requester, proposal, replaced)
    })
    return get(actor, id)
  }

  /** Deletes the branches of those that expired, and returns how many. */
  async function sweep(): Promise<number> {
    const now = clock.now().getTime()
    const found = await listBegunBetween(db, new Date(now - 10 * EXPIRES_AFTER_MS), new Date(now - EXPIRES_AFTER_MS), 500)
    let count = 0
    for (const proposal of found) {
      if ((await known(proposal)).state !== 'expired') continue
      const { projectId, branchId, token } = proposal
      const source = { projectId, tokenId: token.id, tokenDescription: token.description }
      await inTransaction((trx) => branches.remove(trx, source, branchId, NO_ORIGIN))
      await deps.afterRemoval(projectId, branchId)
      count++
    }
    return count
  }

  /** Deletes its branch, and with it everything that it would change. */
  async function discard({ actor, origin }: { actor: Actor; origin: Origin }, id: number): Promise<void> {
    const { proposal, state, request } = await get(actor, id)
    if (proposal.token.id !== actor.tokenId && !mayDecide(actor)) throw new PlatformError('accessDenied')
    if ((isEnded(state) && state !== 'expired') || request?.state === 'in_merge')
      throw new PlatformError('proposals.wrongState', { id, state, step: 'discard' })
    await inTransaction((trx) => branches.remove(trx, actor, proposal.branchId, origin))
    await deps.afterRemoval(actor.projectId, proposal.branchId)
  }

  /** What runs once it is accepted, or ran. */
  const runsOf = ({ proposal: { projectId, id } }: KnownProposal): Promise<KnownRun[]> => listRuns(db, projectId, id)

  return { branchOf, open, begin, current, list, get, runsOf, submit, accept, refuse, undo, sweep, discard }
}

function writable({ proposal, state }: KnownProposal): { id: number; isDefault: boolean } {
  if (state === 'submitted') throw new PlatformError('proposals.submitted', { id: proposal.id })
  return { id: proposal.branchId, isDefault: false }
}

const isEnded = (state: ProposalState): boolean => ['accepted', 'undone', 'expired', 'discarded'].includes(state)

/** Until when it may be decided; each step restarts the time. */
export const expiryOf = ({ createdAt }: Proposal, request: Request | undefined): Date =>
  new Date((request?.activity.at(-1)?.at ?? createdAt.getTime()) + EXPIRES_AFTER_MS)

function stateOf(proposal: Proposal, request: Request | undefined, isGone: boolean, now: Date): ProposalState {
  if (request?.state === 'published') return proposal.undoneAt ? 'undone' : 'accepted'
  if (isGone || request?.state === 'canceled') return 'discarded'
  if (request?.state !== 'in_merge' && expiryOf(proposal, request) < now) return 'expired'
  if (!request) return 'open'
  if (request.state !== 'development') return 'submitted'
  return request.activity.some(({ what }) => what === 'request-changes') ? 'refused' : 'open'
}

/** The reason of the last refusal, and who gave it. */
export function refusalOf({ state, request }: KnownProposal): { readonly reason: string; readonly by: string } | null {
  const last = request?.activity.findLast(({ what }) => what === 'request-changes')
  return state === 'refused' && last ? { reason: last.reason ?? '', by: last.by.name } : null
}

const mayDecide = (actor: Actor): boolean =>
  !actor.onlyProposes && (actor.canManageDevBranches || actor.isMasterToken || actor.role === 'editor')

const maySee = (actor: Actor, { token }: Proposal): boolean =>
  token.id === actor.tokenId || mayDecide(actor) || actor.canManageBuckets || actor.role === 'viewer'

/**
 * An agent opens a request of its own branch whatever else it may do. The person who created its token is no part of it: they may approve.
 */
const asManager = ({ personId: _, adminId: __, ...actor }: Actor): Actor => ({
  ...actor,
  onlyProposes: false,
  canManageDevBranches: true,
})
