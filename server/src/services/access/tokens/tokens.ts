// Rules for projects and tokens. Independent of HTTP.
//  1. A clear value leaves this module once, when it is made; only its hash is stored.
//  2. A token cannot grant permissions that it does not have (token-permissions.ts).
//  3. A token cannot control a token with more permissions: neither refresh nor change nor delete it.
//  4. A project always has its master token: it cannot be deleted, only refreshed, and only by itself.
//  5. The token of a person has no known value, and changes with the person only (person-tokens.ts).

import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { given } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { createShortMemory } from '../../../kit/short-memory.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Admin } from '../../../model/admin.ts'
import { eventOf, NO_ORIGIN, type Origin, type RecordEvent } from '../../../model/event.ts'
import { DEFAULT_PROVIDER } from '../../../model/file-provider.ts'
import { createAgentTokens } from './agent-tokens.ts'
import { createLastUse } from './last-use.ts'
import { createPersonTokens } from './person-tokens.ts'
import { settingsFrom } from './project-settings.ts'
import { createProjects } from './projects.ts'
import { assertMayGrant, createTokenPermissions, EVERYTHING, mayGrant, type PermissionsRequest } from './token-permissions.ts'
import { hashOf, newTokenValue } from './token-value.ts'
import { createTokensStore, type NewToken, type Project, type Token, type TokenFilter } from './tokens.store.ts'

export interface TokensDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  /** Ids of the buckets of a project, for checking and listing bucket permissions. */
  readonly bucketIds: (projectId: number) => Promise<readonly string[]>
  /** A trigger that runs with the token; then it cannot be deleted. */
  readonly findTriggerOf: (
    projectId: number,
    tokenId: number,
  ) => Promise<{ readonly component: string; readonly configurationId: string } | undefined>
  /** What other modules set up for a new project, in the same transaction. */
  readonly onProjectCreated: (trx: Trx, projectId: number) => Promise<void>
}

/** A token with its clear value, which exists only in the answer to the request that made it. */
export interface IssuedToken {
  readonly token: Token
  readonly value: string
}

export interface NewProject {
  readonly project: Project
  readonly master: IssuedToken
}

const MAX_DESCRIPTION = 10_000
/** The furthest an expiry may lie ahead; beyond it dates stop working. */
const MAX_EXPIRES_IN_SECONDS = 100 * 365 * 86_400

export interface TokenRequest extends PermissionsRequest {
  readonly description?: string | null
  readonly expiresIn?: number | null
}

export type Tokens = ReturnType<typeof createTokens>

export function createTokens(deps: TokensDeps) {
  const { db, inTransaction, clock, recordEvent, bucketIds, onProjectCreated } = deps
  const permissionsFor = createTokenPermissions(bucketIds)
  const store = createTokensStore(db)
  const cache = createShortMemory(clock, load)
  const lastUse = createLastUse({ store, inTransaction, clock })
  const people = createPersonTokens({ store, clock, recordEvent })
  const agents = createAgentTokens({ store, clock, recordEvent })
  const projects = createProjects({ store, change, clock, recordEvent })

  /** The owner of a token. Undefined for wrong, expired and disabled ones alike, so that the result reveals nothing. */
  function authenticate(value: string): Actor | undefined | Promise<Actor | undefined> {
    const known = cache.get(hashOf(value))
    return known instanceof Promise ? known.then(validActor) : validActor(known)
  }

  /** For doors where a change would not pass the HTTP kernel: tokens that only propose are refused. */
  const authenticateDirect = async (value: string): Promise<Actor | undefined> => {
    const actor = await authenticate(value)
    return actor?.onlyProposes ? undefined : actor
  }

  function validActor(known: { readonly token: Token; readonly actor: Actor } | undefined): Actor | undefined {
    if (!known || isExpired(known.token)) return undefined
    lastUse.note(known.actor)
    return known.actor
  }

  /** The same for the token of a person, whose session was accepted. */
  async function admit(projectId: number, id: number): Promise<Actor | undefined> {
    return validActor(await cache.get(keyOf(projectId, id)))
  }

  /** The record of a token that was admitted a moment ago, with its project. */
  async function verify({ projectId, tokenId }: Actor): Promise<{ readonly token: Token; readonly project: Project }> {
    const known = await cache.get(keyOf(projectId, tokenId))
    if (!known) throw new PlatformError('storage.tokenInvalid')
    return known
  }

  async function load(key: string): Promise<{ token: Token; project: Project; actor: Actor } | undefined> {
    const token = key.includes('-') ? await store.find(...idsOf(key)) : await findByHash(key)
    if (!token || token.isDisabled) return undefined
    const project = await store.findProject(token.projectId)
    if (!project || project.isDisabled || project.deleteAfter) return undefined
    return { token, project, actor: { ...actorOf(token), pausedReason: project.pausedReason } }
  }

  async function findByHash(hash: string): Promise<Token | undefined> {
    const token = await store.findByHash(hash)
    return token && timingSafeEqual(Buffer.from(token.hash), Buffer.from(hash)) ? token : undefined
  }

  const isExpired = (token: Token): boolean => token.expiresAt !== undefined && token.expiresAt <= clock.now()

  /** Every change of a token goes through here: one transaction with its event, and no cache keeps an old response. */
  async function change<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
    try {
      return await inTransaction(work)
    } finally {
      cache.forget()
    }
  }

  async function get(projectId: number, id: number): Promise<Token> {
    const token = await store.find(projectId, id)
    if (!token) throw new PlatformError('storage.tokens.notFound', { id })
    return token
  }

  /** A token sees itself; the others only with canManageTokens. */
  async function getVisible(actor: Actor, id: number): Promise<Token> {
    if (id !== actor.tokenId && !actor.canManageTokens) throw new PlatformError('accessDenied')
    return get(actor.projectId, id)
  }

  /** Rule 3. A token is always its own. */
  async function getOwnOrWeaker(actor: Actor, id: number): Promise<Token> {
    const token = await getVisible(actor, id)
    if (token.person) throw new PlatformError('storage.tokens.ofPerson', { name: token.description })
    if (actor.isMasterToken || id === actor.tokenId) return token
    if (token.isMasterToken) throw new PlatformError('accessDenied')
    assertMayGrant(actor, token.permissions)
    return token
  }

  /** Whether work of the caller may run with this token: it is the caller's own, or has no right that the caller lacks. */
  async function mayLend(actor: Actor, id: number): Promise<boolean> {
    const { isMasterToken, permissions } = await get(actor.projectId, id)
    return actor.isMasterToken || id === actor.tokenId || (!isMasterToken && mayGrant(actor, permissions))
  }

  /** A token that does not manage tokens is listed alone, whatever it looks for. */
  async function list(actor: Actor, filter: TokenFilter = {}): Promise<Token[]> {
    if (actor.canManageTokens) return store.list(actor.projectId, filter)
    return filter.offset ? [] : [await get(actor.projectId, actor.tokenId)]
  }

  async function create(actor: Actor, request: TokenRequest, origin: Origin): Promise<IssuedToken> {
    const permissions = await permissionsFor.request(actor, request)
    const expiresAt = expiryFrom(request.expiresIn)
    const description = descriptionFrom(request.description, `Created by ${actor.tokenDescription}`)
    // A new token is not cached yet, so nothing has to be evicted.
    return inTransaction(async (trx) => {
      const issued = await insert(trx, {
        projectId: actor.projectId,
        description,
        permissions,
        isMasterToken: false,
        creatorToken: { id: actor.tokenId, description: actor.tokenDescription },
        makerPersonId: actor.personId,
        createdAt: clock.now(),
        expiresAt,
      })
      await recordEvent(trx, actor, tokenEvent('storage.tokenCreated', issued.token), origin)
      return issued
    })
  }

  /** A value contains the id of its token, so the record is there first, with a hash that no value has. */
  async function insert(trx: Trx, token: Omit<NewToken, 'hash'>, given?: string): Promise<IssuedToken> {
    const made = await store.insert(trx, { ...token, hash: hashOf(given ?? randomUUID()) })
    if (given !== undefined) return { token: made, value: given }
    const value = newTokenValue(token.projectId, made.id)
    const hash = hashOf(value)
    await store.replaceHash(trx, token.projectId, made.id, hash, made.createdAt)
    return { token: { ...made, hash }, value }
  }

  async function update(actor: Actor, id: number, request: TokenRequest, origin: Origin): Promise<Token> {
    const before = await getOwnOrWeaker(actor, id)
    if (!actor.canManageTokens) throw new PlatformError('accessDenied')
    // A flag that is not sent keeps its value; canManageBuckets always does (spec storage 2.2).
    const asked = await permissionsFor.request(actor, {
      ...before.permissions,
      bucketPermissions: await permissionsFor.stillPossible(actor.projectId, before.permissions.bucketPermissions),
      ...given(request),
      canManageBuckets: before.permissions.canManageBuckets,
    })
    const permissions = before.isMasterToken ? before.permissions : asked
    const description = descriptionFrom(request.description, before.description)
    return change(async (trx) => {
      const token = await store.update(trx, actor.projectId, id, { description, permissions })
      if (!token) throw new PlatformError('storage.tokens.notFound', { id })
      await recordEvent(trx, actor, tokenEvent('storage.tokenUpdated', token), origin)
      return token
    })
  }

  async function refresh(actor: Actor, id: number, origin: Origin): Promise<IssuedToken> {
    await getOwnOrWeaker(actor, id)
    const value = newTokenValue(actor.projectId, id)
    return change(async (trx) => {
      const token = await store.replaceHash(trx, actor.projectId, id, hashOf(value), clock.now())
      if (!token) throw new PlatformError('storage.tokens.notFound', { id })
      await recordEvent(trx, actor, tokenEvent('storage.tokenRefreshed', token), origin)
      return { token, value }
    })
  }

  async function remove(actor: Actor, id: number, origin: Origin): Promise<void> {
    const token = await getOwnOrWeaker(actor, id)
    if (token.isMasterToken) throw new PlatformError('accessDenied')
    const user = await deps.findTriggerOf(actor.projectId, id)
    if (user) {
      const { component, configurationId } = user
      throw new PlatformError('storage.tokens.cannotDeleteDueToOrchestration', { component, configurationId })
    }
    await change(async (trx) => {
      if (!(await store.remove(trx, actor.projectId, id))) throw new PlatformError('storage.tokens.notFound', { id })
      await recordEvent(trx, actor, tokenEvent('storage.tokenDeleted', token), origin)
    })
  }

  const createProject = (name: string, masterToken?: string): Promise<NewProject> =>
    change((trx) => insertProject(trx, name, masterToken))

  /** Undefined when there is a project already, also one that another node makes at this moment. */
  const createFirstProject = (name: string, masterToken?: string): Promise<NewProject | undefined> =>
    change(async (trx) => ((await store.countProjectsAlone(trx)) === 0 ? insertProject(trx, name, masterToken) : undefined))

  /** Settings by name, as an operator writes them; an empty value takes a setting back. Answers the project as it is then. */
  async function setProject(id: number, given: Readonly<Record<string, string>>): Promise<Project> {
    return change(async (trx) => {
      const project = await getProject(id)
      const settings = settingsFrom(project.settings, given)
      await store.saveSettings(trx, id, settings)
      return { ...project, settings }
    })
  }

  async function getProject(id: number): Promise<Project> {
    const project = await store.findProject(id)
    if (!project) throw new PlatformError('notFound', { what: `Project ${id}` })
    return project
  }

  async function insertProject(trx: Trx, name: string, masterToken: string | undefined): Promise<NewProject> {
    if (name.trim() === '' || name.length > 255) throw invalid('A project needs a name of 1 to 255 characters.')
    if (masterToken !== undefined && masterToken.length < 8) throw invalid('A master token has at least 8 characters.')
    const project = await store.insertProject(trx, { name, features: [], createdAt: clock.now() })
    const master = await insert(
      trx,
      {
        projectId: project.id,
        description: `Master token of ${name}`,
        permissions: EVERYTHING,
        isMasterToken: true,
        adminId: await store.takeAdminId(trx),
        creatorToken: undefined,
        createdAt: clock.now(),
        expiresAt: undefined,
      },
      masterToken,
    )
    await onProjectCreated(trx, project.id)
    const created = eventOf('storage.projectCreated', {}, { objectId: String(project.id), objectName: project.name })
    await recordEvent(trx, actorOf(master.token), created)
    return { project, master }
  }

  /** A token for one run of a component, with the rights of the token that started it, whether or not that may make tokens. */
  async function issueForRun(actor: Actor, description: string, expiresIn: number) {
    const { token, value } = await create({ ...actor, canManageTokens: true }, { ...actor, description, expiresIn }, NO_ORIGIN)
    return { id: token.id, value }
  }

  /** A token for one run on another engine: it reads these buckets, and nothing else. */
  async function issueReader(actor: Actor, description: string, expiresIn: number, buckets: readonly string[]) {
    const bucketPermissions = Object.fromEntries(buckets.map((id) => [id, 'read' as const]))
    const { token, value } = await create(
      { ...actor, canManageTokens: true },
      { description, expiresIn, bucketPermissions },
      NO_ORIGIN,
    )
    return { id: token.id, value }
  }

  const revokeOfRun = (actor: Actor, id: number) => remove({ ...actor, canManageTokens: true }, id, NO_ORIGIN)

  /** A token that the platform uses itself, for example for the runs of a schedule. Its value is unknown to users. */
  async function issueInternal(trx: Trx, creator: Actor, description: string): Promise<number> {
    const { token } = await insert(trx, {
      projectId: creator.projectId,
      description,
      permissions: { ...EVERYTHING, canManageTokens: false },
      isMasterToken: false,
      isInternal: true,
      creatorToken: { id: creator.tokenId, description: creator.tokenDescription },
      makerPersonId: creator.personId,
      createdAt: clock.now(),
      expiresAt: undefined,
    })
    return token.id
  }

  /** Answers whether the token still exists. */
  const refreshInternal = async (trx: Trx, projectId: number, id: number): Promise<boolean> =>
    (await store.replaceHash(trx, projectId, id, hashOf(newTokenValue(projectId, id)), clock.now())) !== undefined

  const revokeInternal = async (trx: Trx, projectId: number, id: number): Promise<void> => {
    await store.remove(trx, projectId, id)
  }

  /** The owner of a token id; undefined when it is deleted, expired or disabled. */
  async function findActor(projectId: number, id: number): Promise<Actor | undefined> {
    const token = await store.find(projectId, id)
    return token && !token.isDisabled && !isExpired(token) ? actorOf(token) : undefined
  }

  /** A member of the project: by id, or a user by e-mail. */
  async function findAdmin(projectId: number, wanted: { readonly id?: number; readonly email?: string }) {
    const email = wanted.email?.trim().toLowerCase()
    const admins = (await store.list(projectId)).flatMap((token) => adminOf(token) ?? [])
    return admins.find((admin) => (wanted.id === undefined ? admin.email === email : admin.id === wanted.id))
  }

  /** The admins who made tokens, by the id of their own token. */
  async function adminOwners(projectId: number): Promise<ReadonlyMap<number, Admin>> {
    const masters = await store.listMasters(projectId)
    return new Map(
      masters.flatMap((token) => {
        const admin = adminOf(token)
        return admin ? [[token.id, admin] as const] : []
      }),
    )
  }

  /** The master token of any project, as a share target, by its admin id. */
  async function findMaster(id: string): Promise<Admin | undefined> {
    const token = /^\d{1,15}$/.test(id) ? await store.findByAdmin(Number(id)) : undefined
    return token && adminOf(token)
  }

  /** All holders of a valid token; the platform's own tokens have no holder. */
  const listPeople = async (projectId: number): Promise<Actor[]> =>
    (await store.list(projectId)).filter((token) => !token.isDisabled && !isExpired(token) && !token.isInternal).map(actorOf)

  /** In the transaction that deletes a bucket; call `forgetKnown` when it has ended. */
  async function forgetBucket(trx: Trx, projectId: number, bucketId: string): Promise<void> {
    for (const { id, description, permissions } of await store.listWithBucket(trx, projectId, bucketId)) {
      const { [bucketId]: _, ...bucketPermissions } = permissions.bucketPermissions
      await store.update(trx, projectId, id, { description, permissions: { ...permissions, bucketPermissions } })
    }
  }

  function expiryFrom(expiresIn: number | null | undefined): Date | undefined {
    if (expiresIn === undefined || expiresIn === null) return undefined
    if (expiresIn < 1) throw invalid('Minimal expiration must be greater or equal to 1 second(s)')
    if (expiresIn > MAX_EXPIRES_IN_SECONDS)
      throw invalid(`expiresIn must be at most ${MAX_EXPIRES_IN_SECONDS} seconds. Omit it for a token that does not expire.`)
    return new Date(clock.now().getTime() + expiresIn * 1000)
  }

  return {
    authenticate,
    admit,
    lastUse,
    people,
    projects,
    verify,
    list,
    mayLend,
    get,
    getVisible,
    create,
    update,
    refresh,
    remove,
    createProject,
    createFirstProject,
    issueForRun,
    issueReader,
    revokeOfRun,
    issueInternal,
    ...agents,
    refreshInternal,
    revokeInternal,
    forgetBucket,
    forgetKnown: cache.forget,
    findActor,
    findAdmin,
    findMaster,
    adminOwners,
    listPeople,
    authenticateDirect,
    isExpired,
    bucketPermissionsOf: permissionsFor.bucketsOf,
    listProjects: store.listProjects,
    actorOfToken: async (projectId: number, id: number) => actorOf(await get(projectId, id)),
    masterActor: async (projectId: number) => {
      const master = (await store.listMasters(projectId)).find(({ person }) => person === undefined)
      if (!master) throw new PlatformError('storage.tokens.notFound', { id: `of project ${projectId}` })
      return actorOf(master)
    },
    findProject: store.findProject,
    getProject,
    fileProviderOf: async (projectId: number) => (await getProject(projectId)).settings.provider ?? DEFAULT_PROVIDER,
    setProject,
  }
}

/** Who the token is, when it is not a script's. The e-mail is that of a person: the name of a token does not identify its owner. */
export function adminOf({ adminId, description, person }: Token): Admin | undefined {
  const id = person?.id ?? adminId
  return id === undefined ? undefined : { id, name: description, email: person?.email ?? null }
}

/** How the memory names a token by its id; the hash of a value has no dash. */
const keyOf = (projectId: number, id: number): string => `${projectId}-${id}`
const idsOf = (key: string) => key.split('-').map(Number) as [projectId: number, id: number] // made by keyOf

function descriptionFrom(asked: string | null | undefined, fallback: string): string {
  const description = asked ?? fallback
  if (description.length > MAX_DESCRIPTION) throw invalid(`The description is longer than ${MAX_DESCRIPTION} characters.`)
  return description
}

const actorOf = (token: Token): Actor => ({
  projectId: token.projectId,
  tokenId: token.id,
  tokenDescription: token.description,
  isMasterToken: token.isMasterToken,
  canManageBuckets: token.permissions.canManageBuckets,
  canManageTokens: token.permissions.canManageTokens,
  canReadAllFileUploads: token.permissions.canReadAllFileUploads,
  canPurgeTrash: token.permissions.canPurgeTrash,
  canReadAllProjectEvents: token.permissions.canReadAllProjectEvents,
  canManageDevBranches: token.permissions.canManageDevBranches,
  bucketPermissions: token.permissions.bucketPermissions,
  componentAccess: token.permissions.componentAccess ?? [],
  onlyProposes: token.permissions.onlyProposes,
  role: token.person?.role,
  adminId: adminOf(token)?.id,
  personId: token.person?.id ?? token.makerPersonId,
})

type TokenEvent = 'storage.tokenCreated' | 'storage.tokenUpdated' | 'storage.tokenRefreshed' | 'storage.tokenDeleted'

const tokenEvent = (name: TokenEvent, token: Token) =>
  eventOf(name, {}, { objectId: String(token.id), objectName: token.description })

const invalid = (reason: string) => new PlatformError('storage.tokens.validation', { reason })
