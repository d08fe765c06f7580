// Rules for merge requests: who moves one where. Branches and configurations do what a merge means.
//  1. A branch has one open request at a time.
//  2. Others than its creator approve a request: two, or one where no second can; no user approves twice. A user who is alone approves
//     their own. A project may require another number.
//  3. A project has one merge at a time, and nothing is written into a branch while it merges (corrections-2, M3).

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { defined } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { type EventSource, eventOf, NO_ORIGIN, type Origin, type RecordEvent } from '../../../model/event.ts'
import { type MergeRequestState, type Move, move, operationOf } from './merge-request-states.ts'
import {
  BRANCH_DELETED,
  findMergeRequest,
  findRequiredApprovals,
  insertMergeRequest,
  type LoggedChange,
  listInMerge,
  listMergeRequests,
  listScheduledMerges,
  type MergeRequest,
  type Person,
  setRequiredApprovals,
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

/** What this module needs of a branch. */
export interface BranchLookup {
  find(
    projectId: number,
    id: number,
  ): Promise<{ readonly id: number; readonly name: string; readonly isDefault: boolean } | undefined>
  /** Keeps others from changing it, or making requests of it, until the transaction ends. */
  hold(trx: Trx, projectId: number, id: number): Promise<void>
}

export interface MergeRequestsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly recordEvent: RecordEvent
  readonly clock: Clock
  readonly branches: BranchLookup
  /** What the branch of a request changes, at this moment. */
  readonly changesOf: (request: Pick<MergeRequest, 'projectId' | 'branchFromId' | 'branchIntoId'>) => Promise<readonly Change[]>
  /** All holders of a token of the project. */
  readonly people: (projectId: number) => Promise<readonly Actor[]>
}

export interface Change {
  readonly componentId: string
  readonly configurationId: string
  readonly kind: 'created' | 'changed' | 'deleted'
  readonly isConflict: boolean
  readonly branchVersionIdentifier: string
  /** Of the version of the default branch that the branch started from. */
  readonly branchBaseIdentifier: string
  readonly defaultVersionIdentifier: string | undefined
}

export const MAX_REQUIRED_APPROVALS = 10

export type MergeRequests = ReturnType<typeof createMergeRequests>

interface Author {
  readonly source: EventSource
  readonly origin: Origin
}

export function createMergeRequests(deps: MergeRequestsDeps) {
  const { db, inTransaction, recordEvent, clock, branches } = deps

  async function get(projectId: number, id: number, from: Db = db): Promise<MergeRequest> {
    const found = await findMergeRequest(from, projectId, id)
    if (!found) throw new PlatformError('mergeRequest.notFound', { id })
    return found
  }

  async function create(actor: Actor, input: MergeRequestInput, origin: Origin): Promise<MergeRequest> {
    mustManage(actor)
    const into = await branchOf(actor.projectId, input.branchIntoId)
    const from = await branchOf(actor.projectId, input.branchFromId)
    if (!into.isDefault) throw new PlatformError('mergeRequest.targetNotDefault')
    if (from.isDefault) throw new PlatformError('mergeRequest.branches')
    const automatic = { autoMergeStrategy: input.autoMergeStrategy ?? 'none', autoMergeAt: input.autoMergeAt ?? null }
    checkSchedule(automatic)
    await checkReviewers(actor.projectId, input.reviewerIds)
    const createdAt = clock.now().getTime()
    const by = personOf(actor)
    return await inTransaction(async (trx) => {
      await branches.hold(trx, actor.projectId, from.id)
      const open = (await listMergeRequests(trx, actor.projectId)).find(
        ({ branchFromId, state }) => branchFromId === from.id && !isEnded(state),
      )
      if (open) throw new PlatformError('mergeRequest.exists', { id: open.id, branch: from.id })
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
        changeLog: [],
        activity: [{ at: createdAt, by, what: 'created' }],
        createdAt,
        creator: by,
        merged: undefined,
      })
      const params = { creatorId: actor.adminId ?? actor.tokenId, mergeRequestId: request.id }
      await recordEvent(trx, actor, eventOf('storage.mergeRequestCreated', params, objectOf(request)), origin)
      return request
    })
  }

  async function branchOf(projectId: number, id: number | undefined) {
    const found = id === undefined ? undefined : await branches.find(projectId, id)
    if (!found) throw new PlatformError('mergeRequest.branchNotFound', { id: String(id) })
    return found
  }

  async function checkReviewers(projectId: number, ids: readonly number[] = []): Promise<void> {
    if (ids.length === 0) return
    const known = new Set((await deps.people(projectId)).filter(mayManage).map(({ tokenId }) => tokenId))
    const unknown = ids.find((id) => !known.has(id))
    if (unknown !== undefined) throw new PlatformError('mergeRequest.unknownReviewer', { id: unknown })
  }

  async function update(actor: Actor, id: number, input: MergeRequestInput): Promise<MergeRequest> {
    mustManage(actor)
    await checkReviewers(actor.projectId, input.reviewerIds)
    return await inTransaction(async (trx) => {
      const before = await get(actor.projectId, id, trx)
      if (before.state === 'in_merge' || isEnded(before.state)) {
        throw new PlatformError('mergeRequest.wrongState', { state: before.state, move: 'update' })
      }
      // What reviewers read does not change under them (corrections-2, M7); request-changes makes it open again.
      if (before.state === 'in_review') throw new PlatformError('accessDenied')
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
    { source, origin }: Author,
    id: number,
    by: Move,
    { reason, changeLog }: { readonly reason?: string | undefined; readonly changeLog?: readonly LoggedChange[] } = {},
  ): Promise<MergeRequest> {
    const before = await get(source.projectId, id, trx)
    if (by === 'merge' || by === 'auto-merge') await holdMerges(trx, before)
    const at = clock.now().getTime()
    const person = personOf(source)
    const state: MergeRequestState = move(before.state, by)
    const after: MergeRequest = {
      ...before,
      state,
      approvals: by === 'approve' ? [...before.approvals, { by: person, at }] : by === 'request-changes' ? [] : before.approvals,
      // That an approval was the last one is no deed of its own.
      activity:
        by === 'finish-review' ? before.activity : [...before.activity, { at, by: person, what: by, ...defined({ reason }) }],
      changeLog: changeLog ?? before.changeLog,
      merged: by === 'publish' ? { at, by: person } : before.merged,
      // What failed once would fail again every few seconds.
      autoMergeStrategy: by === 'fail' ? 'none' : before.autoMergeStrategy,
    }
    await updateMergeRequest(trx, after)
    const params = { operation: operationOf(by), stateFrom: before.state, stateTo: state, mergeRequestId: id }
    await recordEvent(trx, source, eventOf('storage.mergeRequestStateChanged', params, objectOf(after)), origin)
    return after
  }

  /** Rule 3. The target is held, so that of two merges that begin at once one sees the other. */
  async function holdMerges(trx: Trx, { projectId, id, branchIntoId }: MergeRequest): Promise<void> {
    await branches.hold(trx, projectId, branchIntoId)
    if ((await listInMerge(trx, projectId)).some((other) => other.id !== id)) throw new PlatformError('mergeRequest.inProgress')
  }

  /** Whether nothing may be written into the branch, because a merge reads it. */
  const isMerging = async (projectId: number, branchId: number, from: Db = db): Promise<boolean> =>
    (await listInMerge(from, projectId)).some(({ branchFromId }) => branchFromId === branchId)

  /** Why the caller cannot approve the request, in its present state. */
  async function approvalRefusal(actor: Actor, request: MergeRequest): Promise<string | null> {
    const approvers = (await deps.people(actor.projectId)).filter(mayManage)
    return refusalOf(request, personOf(actor), othersOf(request, approvers)) ?? null
  }

  /** A project that names a number of approvals merges by requests alone. */
  async function checkDirectMerge(projectId: number): Promise<void> {
    const count = await findRequiredApprovals(db, projectId)
    if (count !== undefined) throw new PlatformError('mergeRequest.reviewRequired', { count })
  }

  /** Rule 2. */
  async function approve(
    trx: Trx,
    { actor, origin }: { readonly actor: Actor; readonly origin: Origin },
    id: number,
    approvers: readonly Actor[],
    reason?: string,
  ): Promise<MergeRequest> {
    const before = await get(actor.projectId, id, trx)
    const [approver, others] = [personOf(actor), othersOf(before, approvers)]
    move(before.state, 'approve')
    const refusal = refusalOf(before, approver, others)
    if (refusal !== undefined) throw new PlatformError('mergeRequest.refused', { reason: refusal })
    const approved = await step(trx, { source: actor, origin }, id, 'approve', { reason })
    const required = (await findRequiredApprovals(trx, actor.projectId)) ?? (others.length >= 2 ? 2 : 1)
    return approved.approvals.length < required ? approved : await step(trx, { source: actor, origin }, id, 'finish-review')
  }

  async function advance(actor: Actor, id: number, by: Move, origin: Origin, reason?: string): Promise<MergeRequest> {
    mustManage(actor)
    if (by === 'approve') {
      const approvers = (await deps.people(actor.projectId)).filter(mayManage)
      return await inTransaction((trx) => approve(trx, { actor, origin }, id, approvers, reason))
    }
    const changes = by === 'request-review' ? await deps.changesOf(await get(actor.projectId, id)) : undefined
    const log = changes && { changeLog: changes.map(loggedChange) }
    return await inTransaction((trx) => step(trx, { source: actor, origin }, id, by, { reason, ...log }))
  }

  async function settings(projectId: number) {
    return { requiredApprovals: (await findRequiredApprovals(db, projectId)) ?? null }
  }

  async function changeSettings(actor: Actor, requiredApprovals: number | null) {
    if (!actor.isMasterToken) throw new PlatformError('accessDenied')
    await inTransaction((trx) => setRequiredApprovals(trx, actor.projectId, requiredApprovals ?? undefined))
    return settings(actor.projectId)
  }

  /** When a branch is deleted, so are its merge requests. */
  async function cancelOf(trx: Trx, source: EventSource, branchId: number): Promise<void> {
    for (const { id, branchFromId, state } of await listMergeRequests(trx, source.projectId)) {
      if (branchFromId === branchId && !isEnded(state))
        await step(trx, { source, origin: NO_ORIGIN }, id, 'cancel', { reason: BRANCH_DELETED })
    }
  }

  async function listDue(): Promise<readonly MergeRequest[]> {
    const now = clock.now().getTime()
    return (await listScheduledMerges(db)).filter(({ autoMergeAt }) => autoMergeAt !== null && Date.parse(autoMergeAt) <= now)
  }

  const list = (projectId: number) => listMergeRequests(db, projectId)
  return {
    list,
    get,
    isMerging,
    create,
    update,
    step,
    advance,
    approvalRefusal,
    checkDirectMerge,
    cancelOf,
    listDue,
    settings,
    changeSettings,
  }
}

const isEnded = (state: MergeRequestState): boolean => state === 'published' || state === 'canceled'

function checkSchedule({ autoMergeStrategy, autoMergeAt }: Pick<MergeRequest, 'autoMergeStrategy' | 'autoMergeAt'>): void {
  const isTime = autoMergeAt !== null && !Number.isNaN(Date.parse(autoMergeAt))
  if ((autoMergeAt !== null || autoMergeStrategy === 'scheduled') && !isTime) {
    throw new PlatformError('mergeRequest.autoMergeAt', { given: autoMergeAt === null ? 'nothing' : `"${autoMergeAt}"` })
  }
}

const personOf = ({ tokenId, tokenDescription, personId }: EventSource & Pick<Actor, 'personId'>): Person => ({
  id: tokenId,
  name: tokenDescription,
  ...defined({ personId }),
})

/** One person with two tokens is one person; tokens behind which no person is known are each their own. */
const isSame = (a: Person, b: Person): boolean => a.id === b.id || (a.personId !== undefined && a.personId === b.personId)

/** Who opened the request; older requests have only the token. */
const creatorOf = ({ activity, creator }: MergeRequest): Person => activity.find(({ what }) => what === 'created')?.by ?? creator

/** Who else may approve it, each person once. */
function othersOf(request: MergeRequest, approvers: readonly Actor[]): readonly Person[] {
  const others = approvers.map(personOf).filter((one) => !isSame(one, creatorOf(request)))
  return others.filter((one, at) => others.findIndex((first) => isSame(first, one)) === at)
}

function refusalOf(request: MergeRequest, approver: Person, others: readonly Person[]): string | undefined {
  if (request.approvals.some(({ by }) => isSame(by, approver))) return 'This reviewer has already approved this request.'
  if (isSame(creatorOf(request), approver) && others.length > 0) return 'Request creator cannot approve their own request.'
  return undefined
}

const mayManage = (actor: Actor): boolean => !actor.onlyProposes && (actor.isMasterToken || actor.canManageDevBranches)

export function mustManage(actor: Actor): void {
  if (!mayManage(actor)) throw new PlatformError('accessDenied')
}

export const loggedChange = (change: Change): LoggedChange => ({
  componentId: change.componentId,
  configurationId: change.configurationId,
  isDeleted: change.kind === 'deleted',
  lastVersionIdentifier: change.branchVersionIdentifier,
})

const objectOf = ({ id, title }: MergeRequest) => ({ objectId: String(id), objectName: title })
