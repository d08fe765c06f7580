// Rules for agents that people sign in.
//  1. Only a signed-in person allows a client, in one project and with a scope. It gets a code, which works once, for a few minutes, for the
//     client and the redirect URI of its request, and with the verifier of its challenge (S256).
//  2. A code or a refresh token that comes twice ends the connection: one of the two callers has stolen it.
//  3. What the agent may do is what its person may do at that moment, without tokens and people, cut by the scope.
//  4. A connection ends with its token, with its person's membership, when a person revokes it, and when it is not used for long.

import { hash, randomBytes } from 'node:crypto'
import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { AGENT_TOKEN } from '../../../model/agent-token.ts'
import { NO_ORIGIN, type Origin } from '../../../model/event.ts'
import type { Person } from '../../../model/person.ts'
import {
  type Connection,
  findByHash,
  findConnection,
  insertConnection,
  listConnections,
  listExpired,
  removeConnection,
  replaceSecrets,
  touchConnection,
} from './agent-sign-in.store.ts'
import { type Client, isRedirectOf } from './clients.ts'

/** Each includes those before it. */
export const SCOPES = ['read', 'propose', 'write'] as const
export type Scope = (typeof SCOPES)[number]

const REFRESH_PREFIX = 'millrace-refresh-'
const CODE_MS = 5 * 60_000
const ACCESS_MS = 3_600_000
const REFRESH_MS = 30 * 86_400_000
const SEEN_EVERY_MS = 60_000

/** A refusal that the protocol names (RFC 6749, 5.2). */
export class OauthRefusal extends Error {
  readonly error:
    | 'invalid_request'
    | 'invalid_grant'
    | 'invalid_scope'
    | 'invalid_target'
    | 'unsupported_response_type'
    | 'unsupported_grant_type'
  constructor(error: OauthRefusal['error'], message: string) {
    super(message)
    this.error = error
  }
}

export interface AuthorizationQuery {
  readonly client_id?: string | undefined
  readonly redirect_uri?: string | undefined
  readonly response_type?: string | undefined
  readonly code_challenge?: string | undefined
  readonly code_challenge_method?: string | undefined
  readonly scope?: string | undefined
  readonly state?: string | undefined
  readonly resource?: string | undefined
}

export interface CheckedRequest {
  readonly client: Client
  readonly redirectUri: string
  readonly challenge: string
  readonly scope: Scope
  readonly state: string | undefined
}

export interface IssuedSecrets {
  readonly access: string
  readonly refresh: string
  readonly expiresInSeconds: number
  readonly scope: string
}

export interface AgentSignInDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly findClient: (id: string) => Promise<Client>
  readonly tokens: {
    admit(projectId: number, id: number): Promise<Actor | undefined>
    /** A token whose value is unknown. */
    issue(
      trx: Trx,
      owner: Actor,
      token: { readonly description: string; readonly isReader: boolean; readonly onlyProposes: boolean },
      origin: Origin,
    ): Promise<number>
    /** Without a word when it is gone. */
    revoke(trx: Trx, by: Actor | undefined, projectId: number, id: number, origin: Origin): Promise<void>
    forget(): void
  }
}

export type AgentSignIn = ReturnType<typeof createAgentSignIn>

export function createAgentSignIn({ db, inTransaction, clock, findClient, tokens }: AgentSignInDeps) {
  /** Throws a PlatformError where the caller must not be redirected, an OauthRefusal where it may be. */
  async function check(query: AuthorizationQuery, resource: string): Promise<CheckedRequest> {
    const { client, redirectUri } = await checkClient(query)
    const { response_type, code_challenge: challenge, code_challenge_method: method, scope = 'read', state } = query
    if (response_type !== 'code') throw new OauthRefusal('unsupported_response_type', 'response_type must be code.')
    if (method !== 'S256' || challenge === undefined || !/^[\w-]{43}$/.test(challenge))
      throw new OauthRefusal('invalid_request', 'A code_challenge with code_challenge_method S256 is required.')
    checkResource(query.resource, resource)
    return { client, redirectUri, challenge, scope: widestOf(scope), state }
  }

  /** Where refusals may be sent to. */
  async function checkClient({ client_id, redirect_uri }: AuthorizationQuery) {
    if (!client_id) throw new PlatformError('agents.clientInvalid', { reason: 'client_id is missing' })
    const client = await findClient(client_id)
    if (!redirect_uri || !isRedirectOf(client, redirect_uri))
      throw new PlatformError('agents.clientInvalid', { reason: 'redirect_uri is none of the addresses that it registered' })
    return { client, redirectUri: redirect_uri }
  }

  /** Rule 1. Returns the code. */
  async function allow(
    { person, owner, origin }: { readonly person: Person; readonly owner: Actor; readonly origin: Origin },
    { client, redirectUri, challenge }: CheckedRequest,
    { scope, resource }: { readonly scope: Scope; readonly resource: string },
  ): Promise<string> {
    const code = randomBytes(32).toString('base64url')
    const now = clock.now().getTime()
    await change(async (trx) => {
      for (const stale of await listExpired(trx, owner.projectId, now - CODE_MS)) await end(trx, stale, undefined, origin)
      const description = `${client.name} (agent of ${person.name})`
      const tokenId = await tokens.issue(
        trx,
        owner,
        { description, isReader: isReader(owner, scope), onlyProposes: scope === 'propose' },
        origin,
      )
      await insertConnection(trx, {
        ...{ project_id: owner.projectId, person_id: person.id, owner_token_id: owner.tokenId, token_id: tokenId },
        ...{ client_id: client.id, client_name: client.name, redirect_uri: redirectUri, scope, resource },
        ...{ code_hash: hashOf(code), code_challenge: challenge, expires_at: now + CODE_MS, created_at: now },
      })
    })
    return code
  }

  async function exchange(given: {
    readonly code: string
    readonly verifier: string
    readonly clientId: string
    readonly redirectUri: string
    readonly resource: string | undefined
  }): Promise<IssuedSecrets> {
    const found = await findByHash(db, 'code_hash', hashOf(given.code))
    if (!found) throw new OauthRefusal('invalid_grant', 'The code is unknown or was revoked.')
    const problem =
      found.refresh_hash !== null
        ? 'The code was used before. The connection is revoked.'
        : found.expires_at <= clock.now().getTime()
          ? 'The code has expired.'
          : found.client_id !== given.clientId
            ? 'The code was issued to another client.'
            : found.redirect_uri !== given.redirectUri
              ? 'redirect_uri differs from that of the authorization.'
              : challengeOf(given.verifier) !== found.code_challenge
                ? 'code_verifier does not fit the challenge.'
                : undefined
    if (problem !== undefined) {
      await change((trx) => end(trx, found, undefined, NO_ORIGIN))
      throw new OauthRefusal('invalid_grant', problem)
    }
    checkResource(given.resource, found.resource)
    return issue(found, null)
  }

  /** Rule 2. */
  async function refresh(given: {
    readonly token: string
    readonly clientId: string | undefined
    readonly resource: string | undefined
  }): Promise<IssuedSecrets> {
    const before = hashOf(given.token)
    const stolen = await findByHash(db, 'used_refresh_hash', before)
    if (stolen) {
      await change((trx) => end(trx, stolen, undefined, NO_ORIGIN))
      throw new OauthRefusal('invalid_grant', 'The refresh token was used before. The connection is revoked.')
    }
    const found = await findByHash(db, 'refresh_hash', before)
    if (!found || found.expires_at <= clock.now().getTime() || found.client_id !== (given.clientId ?? found.client_id))
      throw new OauthRefusal('invalid_grant', 'The refresh token is unknown, expired or of another client.')
    checkResource(given.resource, found.resource)
    return issue(found, before)
  }

  async function issue(connection: Connection, before: string | null): Promise<IssuedSecrets> {
    const access = `${AGENT_TOKEN}${randomBytes(32).toString('base64url')}`
    const next = `${REFRESH_PREFIX}${randomBytes(32).toString('base64url')}`
    const now = clock.now().getTime()
    const secrets = {
      access: hashOf(access),
      accessExpiresAt: now + ACCESS_MS,
      refresh: hashOf(next),
      expiresAt: now + REFRESH_MS,
    }
    const isOurs = await inTransaction((trx) => replaceSecrets(trx, connection, before, secrets))
    if (!isOurs) throw new OauthRefusal('invalid_grant', 'It was used by another request at the same moment.')
    return { access, refresh: next, expiresInSeconds: ACCESS_MS / 1000, scope: grantedScopes(connection.scope) }
  }

  /** RFC 7009: unknown tokens are revoked already. */
  async function revokeByValue(value: string, origin: Origin): Promise<void> {
    const hashed = hashOf(value)
    const found = (await findByHash(db, 'access_hash', hashed)) ?? (await findByHash(db, 'refresh_hash', hashed))
    if (found) await change((trx) => end(trx, found, undefined, origin))
  }

  /** Rule 3. Undefined for unknown, expired and foreign ones alike. */
  async function actorOf(value: string, resource: string): Promise<Actor | undefined> {
    const found = await findByHash(db, 'access_hash', hashOf(value))
    const now = clock.now().getTime()
    if (!found || (found.access_expires_at ?? 0) <= now || found.resource !== resource) return undefined
    const owner = await tokens.admit(found.project_id, found.owner_token_id)
    const agent = await tokens.admit(found.project_id, found.token_id)
    if (!owner || !agent) return undefined
    if (now - (found.used_at ?? 0) > SEEN_EVERY_MS)
      await inTransaction((trx) => touchConnection(trx, found.project_id, found.id, now))
    return narrowed(owner, agent, found.scope as Scope)
  }

  const list = (projectId: number): Promise<Connection[]> => listConnections(db, projectId)

  async function remove(actor: Actor, id: number, origin: Origin): Promise<void> {
    const found = await findConnection(db, actor.projectId, id)
    const isTheirs = found !== undefined && (actor.canManageTokens || found.owner_token_id === actor.tokenId)
    if (!isTheirs) throw new PlatformError('agents.connectionNotFound', { id })
    await change((trx) => end(trx, found, actor, origin))
  }

  /** Rule 4: its token goes with it. */
  async function end(trx: Trx, { project_id, id, token_id }: Connection, by: Actor | undefined, origin: Origin): Promise<void> {
    if (await removeConnection(trx, project_id, id)) await tokens.revoke(trx, by, project_id, token_id, origin)
  }

  async function change<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
    try {
      return await inTransaction(work)
    } finally {
      tokens.forget()
    }
  }

  return { check, checkClient, allow, exchange, refresh, revokeByValue, actorOf, list, remove }
}

const hashOf = (value: string): string => hash('sha256', value, 'hex')
const challengeOf = (verifier: string): string => hash('sha256', verifier, 'base64url')

function widestOf(scope: string): Scope {
  const asked = scope.split(' ').filter((one) => one !== '' && one !== 'offline_access')
  const unknown = asked.find((one) => !(SCOPES as readonly string[]).includes(one))
  if (unknown !== undefined)
    throw new OauthRefusal('invalid_scope', `The scope ${unknown.slice(0, 40)} does not exist. Scopes: ${SCOPES.join(', ')}.`)
  return SCOPES.findLast((one) => asked.includes(one)) ?? 'read'
}

export const isWithin = (scope: Scope, widest: Scope): boolean => SCOPES.indexOf(scope) <= SCOPES.indexOf(widest)

const grantedScopes = (scope: string): string => SCOPES.slice(0, SCOPES.indexOf(scope as Scope) + 1).join(' ')

/** RFC 8707. Clients of before name none; there is one. */
function checkResource(given: string | undefined, ours: string): void {
  if (given !== undefined && given.replace(/\/$/, '') !== ours)
    throw new OauthRefusal('invalid_target', `Tokens are issued for the resource ${ours} only.`)
}

const isReader = ({ role }: Actor, scope: Scope): boolean => scope === 'read' || role === 'viewer'

function narrowed(owner: Actor, { tokenId, tokenDescription }: Actor, scope: Scope): Actor {
  const { adminId: _, onlyProposes: __, ...person } = owner
  const agent = { ...person, tokenId, tokenDescription, isMasterToken: false, canManageTokens: false, agentScope: scope }
  if (isReader(owner, scope))
    return { ...agent, role: 'viewer', canManageBuckets: false, canPurgeTrash: false, canManageDevBranches: false }
  return { ...agent, role: 'editor', ...(scope === 'propose' && { onlyProposes: true }) }
}
