// Rules of workspaces: owner, rights and deletion. Its tables are in a DuckDB file of its own.
// Record last and bytes first does not apply: an empty file is made with the first statement, and a file without a record is swept.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, seesWholeProject } from '../../../model/actor.ts'
import { BACKEND } from '../../../model/backend.ts'
import { NO_ORIGIN, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import {
  hashOf,
  hasKey,
  hasPassword,
  LOGIN_TYPES,
  newPassword,
  readPublicKey,
  type WorkspaceCredentials,
} from './workspace-credentials.ts'
import { type By, byCreator, workspaceEvent } from './workspace-events.ts'
import { createWorkspacesStore, type Workspace } from './workspaces.store.ts'

export interface WorkspacesDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  /** The name that the project reports instead of duckdb, if it does. */
  readonly backendName: (projectId: number) => Promise<string | undefined>
  /** Longest time of a statement, which a workspace may shorten. */
  readonly maxStatementSeconds: number
  readonly removeFiles: (workspaceId: number) => Promise<void>
  /** Most workspaces of a project at once. */
  readonly maxOfProject: (projectId: number) => Promise<number>
  /** Most workspaces of a token that does not manage the project. */
  readonly maxOfToken: number
  readonly credentials: Pick<WorkspaceCredentials, 'insertKey' | 'removeAll' | 'removePasswords'>
  readonly hasToken: (projectId: number, tokenId: number) => Promise<boolean>
}

export interface NewWorkspace {
  readonly backend?: string | undefined
  readonly backendSize?: string | undefined
  readonly loginType?: string | undefined
  readonly readOnlyStorageAccess?: boolean | undefined
  readonly statementTimeoutSeconds?: number | undefined
  readonly configurationVersion?: number | undefined
  /** Of users that log in by key. */
  readonly publicKey?: string | undefined
}

export interface OfConfiguration {
  readonly componentId: string
  readonly configurationId: string
}

/** Shares of the memory that a session may take. */
export const SIZES: Readonly<Record<string, number>> = { xsmall: 0.25, small: 0.5, medium: 0.75, large: 1 }

export type Workspaces = ReturnType<typeof createWorkspaces>

export function createWorkspaces(deps: WorkspacesDeps) {
  const { db, inTransaction, clock, recordEvent, backendName, maxStatementSeconds, removeFiles, credentials } = deps
  const store = createWorkspacesStore(db)

  /** Refuses what no workspace can be, before a job is made of it. */
  async function check({ actor }: Scope, wanted: NewWorkspace): Promise<void> {
    const { backend, backendSize, loginType = 'default', publicKey } = wanted
    const reported = await backendName(actor.projectId)
    const known = [BACKEND, reported]
    if (backend !== undefined && !known.includes(backend))
      throw new PlatformError('workspace.backendNotSupported', { backend: backend.slice(0, 40), known: BACKEND })
    const sizes = (backend ?? reported) === 'bigquery' ? [] : Object.keys(SIZES) // that backend has none (corrections-2, G15)
    if (backendSize !== undefined && !sizes.includes(backendSize.toLowerCase()))
      throw new PlatformError('workspace.unsupportedBackendSize', {
        size: backendSize.slice(0, 40),
        known: sizes.join(', ') || 'none',
      })
    if (!LOGIN_TYPES.includes(loginType))
      throw new PlatformError('workspace.loginTypeNotSupported', { type: loginType.slice(0, 60), known: LOGIN_TYPES.join(', ') })
    if (hasKey({ loginType }) && publicKey) readPublicKey(publicKey)
  }

  /** Each may take the disk of a workspace, so neither a project nor a weak token has any number of them. */
  async function refuseTooMany(trx: Trx, actor: Actor, maxOfProject: number): Promise<void> {
    const { ofProject, ofToken } = await store.count(trx, actor.projectId, actor.tokenId)
    if (ofProject >= maxOfProject) throw new PlatformError('workspace.tooManyOfProject', { limit: maxOfProject })
    if (ofToken >= deps.maxOfToken && !seesWholeProject(actor))
      throw new PlatformError('workspace.tooManyOfToken', { limit: deps.maxOfToken })
  }

  async function create(
    scope: Scope,
    wanted: NewWorkspace,
    of?: OfConfiguration,
    origin: Origin = NO_ORIGIN,
  ): Promise<{ readonly workspace: Workspace; readonly password: string }> {
    await check(scope, wanted)
    const { actor, branch } = scope
    const password = newPassword()
    const now = clock.now()
    const maxOfProject = await deps.maxOfProject(actor.projectId)
    const workspace = await inTransaction(async (trx) => {
      await refuseTooMany(trx, actor, maxOfProject)
      const made = await store.insert(trx, {
        projectId: actor.projectId,
        branchId: branch.id,
        componentId: of?.componentId ?? null,
        configurationId: of?.configurationId ?? null,
        configurationVersion: wanted.configurationVersion ?? null,
        backendSize: wanted.backendSize?.toLowerCase() ?? null,
        loginType: wanted.loginType ?? 'default',
        readOnlyStorageAccess: wanted.readOnlyStorageAccess ?? true,
        statementTimeoutSeconds: Math.min(wanted.statementTimeoutSeconds || maxStatementSeconds, maxStatementSeconds),
        passwordHash: hashOf(password),
        createdAt: now,
        usedAt: now,
        creator: { tokenId: actor.tokenId, description: actor.tokenDescription },
      })
      if (hasKey(made) && wanted.publicKey) await credentials.insertKey(trx, made, readPublicKey(wanted.publicKey))
      await recordEvent(trx, actor, workspaceEvent('storage.workspaceCreated', made, {}), origin)
      return made
    })
    return { workspace, password }
  }

  /** Those of the branch that the token may use. */
  async function list({ actor, branch }: Scope, of?: OfConfiguration): Promise<Workspace[]> {
    const all = await store.list(actor.projectId, branch.id)
    return all.filter(
      (one) => mayUse(actor, one) && (!of || (one.componentId === of.componentId && one.configurationId === of.configurationId)),
    )
  }

  /** The one that all jobs of a configuration share; undefined until there is one. */
  async function ofConfiguration({ actor, branch }: Scope, of: OfConfiguration): Promise<Workspace | undefined> {
    const all = await store.list(actor.projectId, branch.id)
    const own = all.filter((one) => one.componentId === of.componentId && one.configurationId === of.configurationId)
    return own.toSorted((a, b) => a.id - b.id)[0]
  }

  async function get({ actor, branch }: Scope, id: string): Promise<Workspace> {
    const found = /^\d{1,15}$/.test(id) ? await store.find(actor.projectId, Number(id)) : undefined
    if (!found || found.branchId !== branch.id || !mayUse(actor, found)) throw notFound(id)
    return found
  }

  /** Tables of a branch's workspace are also loaded into tables of the default branch (corrections-2, W1). */
  async function getForUnload({ actor, branch }: Scope, id: number): Promise<Workspace> {
    const found = await store.find(actor.projectId, id)
    if (!found || (found.branchId !== branch.id && !branch.isDefault) || !mayUse(actor, found)) throw notFound(String(id))
    return found
  }

  /** The record first: from then on the workspace is not found. */
  async function remove({ projectId, id }: Pick<Workspace, 'projectId' | 'id'>, by?: By): Promise<void> {
    const workspace = await store.find(projectId, id)
    if (!workspace) return
    const { source, origin } = by ?? byCreator(workspace)
    const isRemoved = await inTransaction(async (trx) => {
      await credentials.removeAll(trx, workspace)
      if (!(await store.remove(trx, workspace))) return false
      await recordEvent(trx, source, workspaceEvent('storage.workspaceDeleted', workspace, {}), origin)
      return true
    })
    if (isRemoved) await removeFiles(workspace.id)
  }

  /**
   * Where the token of its creator is gone, the new password has the rights of the caller, and further passwords of the workspace are
   * revoked: their holders would get those rights as well.
   */
  async function resetPassword(workspace: Workspace, by: By = byCreator(workspace)): Promise<string> {
    if (!hasPassword(workspace))
      throw new PlatformError('workspace.resetPasswordNotSupported', { id: workspace.id, type: workspace.loginType })
    const password = newPassword()
    const isOrphan = !(await deps.hasToken(workspace.projectId, workspace.creator.tokenId))
    await inTransaction(async (trx) => {
      if (isOrphan) await credentials.removePasswords(trx, workspace)
      await store.setPassword(trx, workspace, hashOf(password), isOrphan ? by.source.tokenId : undefined)
      await recordEvent(trx, by.source, workspaceEvent('storage.workspacePasswordReset', workspace, {}), by.origin)
    })
    return password
  }

  const touched = new Map<number, number>()

  /** Notes its use, at most once a minute: a session is opened for every transaction of a client. */
  async function used(workspace: Workspace): Promise<void> {
    const now = clock.now()
    if (Math.abs(now.getTime() - (touched.get(workspace.id) ?? 0)) < TOUCH_MS) return
    if (touched.size >= MAX_TOUCHED) touched.clear()
    touched.set(workspace.id, now.getTime())
    await inTransaction((trx) => store.touch(trx, workspace, now))
  }

  return {
    check,
    create,
    list,
    ofConfiguration,
    get,
    getForUnload,
    remove,
    resetPassword,
    /** For logins with the name and password of a workspace, which carry no project. */
    findById: store.findById,
    mayUse,
    hasPassword,
    /** For jobs, whose token was checked when they were created. */
    find: async (projectId: number, id: number): Promise<Workspace> => {
      const found = await store.find(projectId, id)
      if (!found) throw notFound(String(id))
      return found
    },
    used,
    listUnusedSince: store.listUnusedSince,
    listIds: store.listIds,
  }
}

const TOUCH_MS = 60_000
const MAX_TOUCHED = 10_000

/** Callers that manage the project's data, and its creator. */
const mayUse = (actor: Actor, workspace: Workspace): boolean =>
  actor.isMasterToken || actor.canManageBuckets || workspace.creator.tokenId === actor.tokenId

const notFound = (id: string) => new PlatformError('workspace.workspaceNotFound', { id: id.slice(0, 40) })
