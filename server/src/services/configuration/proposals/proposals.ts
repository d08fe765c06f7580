// Rules for proposals.
//  1. A token with `onlyProposes` has at most one open proposal: its branch, created by its first change.
//  2. While a proposal is submitted, nothing changes in its branch: what was reviewed is what is applied.
//  3. Someone else than the token decides. A refusal has a reason, which the token can read; it may go on in the same branch.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { EventSource, Origin } from '../../../model/event.ts'
import type { Requester } from '../../../model/storage-job.ts'
import {
  findNewestOfToken,
  findProposal,
  insertProposal,
  listProposals,
  type Proposal,
  setMergeRequest,
} from './proposals.store.ts'

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
  readonly activity: readonly { readonly what: string; readonly reason?: string; readonly by: { readonly name: string } }[]
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
  /** Approves, and merges when enough have approved; refuses conflicts before. */
  readonly approve: (requester: Requester & { readonly actor: Actor }, id: number, reason?: string) => Promise<Request>
}

export type ProposalState = 'open' | 'submitted' | 'refused' | 'accepted' | 'discarded'

export interface KnownProposal {
  readonly proposal: Proposal
  readonly state: ProposalState
  readonly request: Request | undefined
}

export type Proposals = ReturnType<typeof createProposals>

export function createProposals(deps: ProposalsDeps) {
  const { db, inTransaction, clock, branches, mergeRequests } = deps

  async function known(proposal: Proposal, from: Db = db): Promise<KnownProposal> {
    const { projectId, branchId, mergeRequestId } = proposal
    const request = mergeRequestId === undefined ? undefined : await mergeRequests.get(projectId, mergeRequestId, from)
    return { proposal, request, state: stateOf(request, await isGone(projectId, branchId, from)) }
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
      const at = clock.now()
      const name = `Proposal of ${tokenDescription.slice(0, 100)}, ${at.toISOString()}`
      const branch = await branches.create(trx, actor, { name, description: 'Changes that an agent proposes.' }, origin)
      const token = { id: tokenId, description: tokenDescription }
      await insertProposal(trx, { projectId, token, branchId: branch.id, createdAt: at })
      return { id: branch.id, isDefault: false }
    })
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
    { title, description }: { readonly title: string; readonly description: string },
    origin: Origin,
  ): Promise<KnownProposal> {
    const { proposal, state, request } = await get(actor, id)
    if (proposal.token.id !== actor.tokenId) throw new PlatformError('accessDenied')
    if (state !== 'open' && state !== 'refused') throw new PlatformError('proposals.wrongState', { id, state, step: 'submit' })
    const agent = asManager(actor)
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
    await inTransaction((trx) => setMergeRequest(trx, actor.projectId, id, submitted.id))
    await mergeRequests.advance(agent, submitted.id, 'request-review', origin)
    return get(actor, id)
  }

  /** Rule 3. */
  async function accept(requester: Requester & { readonly actor: Actor }, id: number, reason?: string): Promise<KnownProposal> {
    const { request, state } = await get(requester.actor, id)
    if (!request || state !== 'submitted') throw new PlatformError('proposals.wrongState', { id, state, step: 'accept' })
    await deps.approve(requester, request.id, reason)
    return get(requester.actor, id)
  }

  async function refuse({ actor, origin }: { actor: Actor; origin: Origin }, id: number, reason: string): Promise<KnownProposal> {
    const { request, state } = await get(actor, id)
    if (!request || state !== 'submitted') throw new PlatformError('proposals.wrongState', { id, state, step: 'refuse' })
    await mergeRequests.advance(actor, request.id, 'request-changes', origin, reason)
    return get(actor, id)
  }

  /** Deletes its branch, and with it everything that it would change. */
  async function discard({ actor, origin }: { actor: Actor; origin: Origin }, id: number): Promise<void> {
    const { proposal, state, request } = await get(actor, id)
    if (proposal.token.id !== actor.tokenId && !mayDecide(actor)) throw new PlatformError('accessDenied')
    if (isEnded(state) || request?.state === 'in_merge')
      throw new PlatformError('proposals.wrongState', { id, state, step: 'discard' })
    await inTransaction((trx) => branches.remove(trx, actor, proposal.branchId, origin))
    await deps.afterRemoval(actor.projectId, proposal.branchId)
  }

  return { branchOf, open, current, list, get, submit, accept, refuse, discard }
}

function writable({ proposal, state }: KnownProposal): { id: number; isDefault: boolean } {
  if (state === 'submitted') throw new PlatformError('proposals.submitted', { id: proposal.id })
  return { id: proposal.branchId, isDefault: false }
}

const isEnded = (state: ProposalState): boolean => state === 'accepted' || state === 'discarded'

function stateOf(request: Request | undefined, isGone: boolean): ProposalState {
  if (request?.state === 'published') return 'accepted'
  if (isGone || request?.state === 'canceled') return 'discarded'
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
