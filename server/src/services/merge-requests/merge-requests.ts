// Rules for merge requests: who moves one where. The branch module and the configurations module do what a merge means.

import type { Db, Trx } from '../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../kit/clock.ts'
import { defined } from '../../kit/defined.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { Actor } from '../../model/actor.ts'
import { type EventSource, eventOf, NO_ORIGIN, type Origin, type RecordEvent } from '../../model/event.ts'
import { type MergeRequestState, type Move, move } from './merge-request-states.ts'
import {
  findMergeRequest,
  insertMergeRequest,
  listMergeRequests,
  listScheduledMerges,
  type MergeRequest,
  type Person,
  updateMergeRequest,
} from './merge-requests.store.ts'

export interface MergeRequestInput {
  readonly branchFromId?: number | undefined
  readonly branchIntoId?: number | undefined
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly externalId?: string | null | undefined
  readonly autoMergeStrategy?: string | undefined
  readonly autoMergeAt?: string | null | undefined
  readonly reviewerIds?: readonly number[] | undefined
}

/** What this module needs to know of a branch. */
export interface BranchLookup {
  get(projectId: number, name: string): Promise<{ readonly id: number; readonly isDefault: boolean }>
}

export interface MergeRequestsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly recordEvent: RecordEvent
  readonly clock: Clock
  readonly branches: BranchLookup
}

export type MergeRequests = ReturnType<typeof createMergeRequests>

export function createMergeRequests({ db, inTransaction, recordEvent, clock, branches }: MergeRequestsDeps) {
  async function get(projectId: number, id: number, from: Db = db): Promise<MergeRequest> {
    const found = await findMergeRequest(from, projectId, id)
    if (!found) throw new PlatformError('mergeRequest.notFound', { id })
    return found
  }

  async function create(actor: Actor, input: MergeRequestInput, origin: Origin): Promise<MergeRequest> {
    mustManage(actor)
    const from = await branches.get(actor.projectId, String(input.branchFromId))
    const into = await branches.get(actor.projectId, String(input.branchIntoId))
    if (from.isDefault || !into.isDefault) throw new PlatformError('mergeRequest.branches')
    const automatic = { autoMergeStrategy: input.autoMergeStrategy ?? 'none', autoMergeAt: input.autoMergeAt ?? null }
    checkSchedule(automatic)
    const createdAt = clock.now().getTime()
    const by = personOf(actor)
    return await inTransaction(async (trx) => {
      const request = await insertMergeRequest(trx, {
        projectId: actor.projectId,
        branchFromId: from.id,
        branchIntoId: into.id,
        title: input.title ?? '',
        description: input.description ?? '',
        externalId: input.externalId ?? null,
        state: 'development',
        ...automatic,
        reviewerIds: input.reviewerIds ?? [],
        approvals: [],
        activity: [{ at: createdAt, by, what: 'created' }],
        createdAt,
        creator: by,
        merged: undefined,
      })
      await recordEvent(trx, actor, requestEvent('storage.mergeRequestCreated', request), origin)
      return request
    })
  }

  async function update(actor: Actor, id: number, input: MergeRequestInput): Promise<MergeRequest> {
    mustManage(actor)
    return await inTransaction(async (trx) => {
      const before = await get(actor.projectId, id, trx)
      if (before.state === 'in_merge' || isEnded(before.state)) {
        throw new PlatformError('mergeRequest.wrongState', { state: before.state, move: 'update' })
      }
      const after = {
        ...before,
        title: input.title ?? before.title,
        description: input.description ?? before.description,
        externalId: input.externalId === undefined ? before.externalId : input.externalId,
        autoMergeStrategy: input.autoMergeStrategy ?? before.autoMergeStrategy,
        autoMergeAt: input.autoMergeAt === undefined ? before.autoMergeAt : input.autoMergeAt,
        reviewerIds: input.reviewerIds ?? before.reviewerIds,
      }
      checkSchedule(after)
      await updateMergeRequest(trx, after)
      return after
    })
  }

  /** One step of its life, with the event about it. */
  async function step(
    trx: Trx,
    source: EventSource,
    id: number,
    by: Move,
    origin: Origin,
    reason?: string,
  ): Promise<MergeRequest> {
    const before = await get(source.projectId, id, trx)
    const at = clock.now().getTime()
    const person = personOf(source)
    const state: MergeRequestState = move(before.state, by)
    const after: MergeRequest = {
      ...before,
      state,
      approvals: by === 'approve' ? [...before.approvals, { by: person, at }] : by === 'request-changes' ? [] : before.approvals,
      activity: [...before.activity, { at, by: person, what: by, ...defined({ reason }) }],
      merged: by === 'publish' ? { at, by: person } : before.merged,
      // What failed once would fail again every few seconds.
      autoMergeStrategy: by === 'fail' ? 'none' : before.autoMergeStrategy,
    }
    await updateMergeRequest(trx, after)
    await recordEvent(trx, source, requestEvent('storage.mergeRequestStateChanged', after), origin)
    return after
  }

  async function advance(actor: Actor, id: number, by: Move, origin: Origin, reason?: string): Promise<MergeRequest> {
    mustManage(actor)
    return await inTransaction((trx) => step(trx, actor, id, by, origin, reason))
  }

  /** A branch goes, and with it what was asked about it. */
  async function cancelOf(trx: Trx, source: EventSource, branchId: number): Promise<void> {
    for (const { id, branchFromId, state } of await listMergeRequests(trx, source.projectId)) {
      if (branchFromId === branchId && !isEnded(state))
        await step(trx, source, id, 'cancel', NO_ORIGIN, 'The branch was deleted.')
    }
  }

  async function listDue(): Promise<readonly MergeRequest[]> {
    const now = clock.now().getTime()
    return (await listScheduledMerges(db)).filter(({ autoMergeAt }) => autoMergeAt !== null && Date.parse(autoMergeAt) <= now)
  }

  const list = (projectId: number) => listMergeRequests(db, projectId)
  return { list, get, create, update, step, advance, cancelOf, listDue }
}

const isEnded = (state: MergeRequestState): boolean => state === 'published' || state === 'canceled'

function checkSchedule({ autoMergeStrategy, autoMergeAt }: Pick<MergeRequest, 'autoMergeStrategy' | 'autoMergeAt'>): void {
  const isTime = autoMergeAt !== null && !Number.isNaN(Date.parse(autoMergeAt))
  if ((autoMergeAt !== null || autoMergeStrategy === 'scheduled') && !isTime) {
    throw new PlatformError('mergeRequest.autoMergeAt', { given: autoMergeAt === null ? 'nothing' : `"${autoMergeAt}"` })
  }
}

const personOf = ({ tokenId, tokenDescription }: EventSource): Person => ({ id: tokenId, name: tokenDescription })

function mustManage(actor: Actor): void {
  if (!actor.isMasterToken && !actor.canManageDevBranches && !actor.canManageBuckets) throw new PlatformError('accessDenied')
}

const requestEvent = (name: 'storage.mergeRequestCreated' | 'storage.mergeRequestStateChanged', request: MergeRequest) =>
  eventOf(
    name,
    {
      mergeRequestId: request.id,
      state: request.state,
      branchFromId: request.branchFromId,
      branchIntoId: request.branchIntoId,
    },
    { objectId: String(request.id), objectName: request.title, branchId: request.branchFromId },
  )
