// Rules of OAuth credentials: per project and component, read by tokens that may use the component (spec platform 6.2). What a provider
// gave is kept and shown as a cipher of that component and project; it is opened for a run and for a request to the provider alone.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { OauthClient, Tokens } from '../../../engines/oauth/oauth2.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, creatorTokenOf } from '../../../model/actor.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { CredentialsKey, CredentialsRecord, OauthStore, UserData } from './oauth.store.ts'
import { fillProvider, type Provider } from './provider-definition.ts'
import type { Providers } from './providers.ts'

export interface CredentialsDeps {
  readonly store: OauthStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly providers: Pick<Providers, 'find' | 'get' | 'secretOf'>
  /** Ciphers that open for the component in the project. */
  readonly encrypt: (key: Pick<CredentialsKey, 'projectId' | 'componentId'>, text: string) => Promise<string>
  readonly decrypt: (key: Pick<CredentialsKey, 'projectId' | 'componentId'>, cipher: string) => Promise<string>
  /** The component's own id; refuses one that is not there or that the token may not use. */
  readonly usableComponent: (actor: Actor, componentId: string) => string
}

export interface NewCredentials {
  readonly id: string
  readonly authorizedFor: string
  /** The provider's answer as text. */
  readonly data: string
  readonly provider?: string | undefined
  readonly appKey?: string | undefined
  readonly appSecret?: string | undefined
  readonly oauthVersion?: string | undefined
  readonly userData: UserData
}

/** As clients of the broker expect it. */
export interface CredentialsView {
  readonly id: string
  readonly authorizedFor: string
  readonly creator: { readonly id: number; readonly description: string }
  readonly created: string
  readonly oauthVersion: string
  readonly appKey: string
  readonly '#data': string
  readonly '#appSecret': string
  readonly provider: string | null
  readonly expires: string | null
  readonly refreshed: string | null
  /** Why a new authorisation is required; null if none is. */
  readonly problem: string | null
}

export type Credentials = ReturnType<typeof createCredentials>

const MAX_CREDENTIALS = 1_000

export function createCredentials(deps: CredentialsDeps) {
  const { store, inTransaction, clock, recordEvent, providers } = deps

  const keyOf = (actor: Actor, componentId: string, credentialsId: string): CredentialsKey => ({
    projectId: actor.projectId,
    componentId: deps.usableComponent(actor, componentId),
    credentialsId,
  })

  async function find(key: CredentialsKey): Promise<CredentialsRecord> {
    const record = await store.find(key)
    if (!record)
      throw new PlatformError('oauth.credentialsNotFound', { id: key.credentialsId.slice(0, 200), component: key.componentId })
    return record
  }

  async function list(actor: Actor, componentId: string): Promise<CredentialsView[]> {
    const records = await store.list(actor.projectId, deps.usableComponent(actor, componentId))
    return Promise.all(records.map(viewOf))
  }

  const get = async (actor: Actor, componentId: string, id: string): Promise<CredentialsView> =>
    viewOf(await find(keyOf(actor, componentId, id)))

  async function add(actor: Actor, componentId: string, given: NewCredentials, origin: Origin): Promise<CredentialsView> {
    const key = keyOf(actor, componentId, given.id)
    const provider = given.provider === undefined ? await providers.find(key.componentId) : await providers.get(given.provider)
    await refuseMore(key)
    const record = await recordOf(actor, key, {
      authorizedFor: given.authorizedFor,
      providerId: provider?.id ?? null,
      oauthVersion: provider?.version ?? given.oauthVersion ?? '2.0',
      appKey: given.appKey ?? null,
      appSecret: given.appSecret === undefined ? null : await deps.encrypt(key, given.appSecret),
      userData: given.userData,
      data: given.data,
    })
    await inTransaction(async (trx) => {
      if (!(await store.insert(trx, record))) throw new PlatformError('oauth.credentialsExist', { id: given.id })
      await recordEvent(trx, actor, eventFor('oauth.credentialsCreated', record), origin)
    })
    return viewOf(record)
  }

  /** The end of a round trip: new credentials, or those of the same id authorised again. */
  async function authorise(
    actor: Actor,
    key: CredentialsKey,
    given: Omit<RecordParts, 'data'> & { readonly tokens: Tokens },
    origin: Origin,
  ): Promise<void> {
    const record = await recordOf(actor, key, { ...given, data: JSON.stringify(given.tokens) })
    await inTransaction(async (trx) => {
      const isNew = await store.insert(trx, record)
      if (!isNew) await store.replace(trx, record)
      await recordEvent(trx, actor, eventFor(isNew ? 'oauth.credentialsCreated' : 'oauth.credentialsAuthorised', record), origin)
    })
  }

  async function recordOf(actor: Actor, key: CredentialsKey, parts: RecordParts): Promise<CredentialsRecord> {
    const { data, ...rest } = parts
    const now = clock.now().getTime()
    return {
      ...key,
      ...rest,
      creator: creatorTokenOf(actor),
      createdAt: now,
      data: await deps.encrypt(key, data),
      dataVersion: 1,
      expiresAt: expiryOf(data, now),
      refreshedAt: null,
      problem: null,
    }
  }

  async function refuseMore({ projectId, componentId }: CredentialsKey): Promise<void> {
    if ((await store.list(projectId, componentId)).length >= MAX_CREDENTIALS)
      throw new PlatformError('oauth.tooMany', { limit: MAX_CREDENTIALS, component: componentId })
  }

  async function remove(actor: Actor, componentId: string, id: string, origin: Origin): Promise<void> {
    const record = await find(keyOf(actor, componentId, id))
    await inTransaction(async (trx) => {
      if (await store.remove(trx, record)) await recordEvent(trx, actor, eventFor('oauth.credentialsDeleted', record), origin)
    })
  }

  /** The client these credentials were made with: their own, or the provider's as it is today. */
  async function clientOf(record: ClientParts): Promise<OauthClient> {
    if (record.appKey !== null) {
      const secret = record.appSecret === null ? '' : await deps.decrypt(record, record.appSecret)
      return { id: record.appKey, secret }
    }
    const provider = record.providerId === null ? undefined : await providers.find(record.providerId)
    return { id: provider?.appKey ?? '', secret: provider ? await providers.secretOf(provider.id) : '' }
  }

  async function providerOf({ providerId, credentialsId, userData }: CredentialsRecord): Promise<Provider> {
    if (providerId === null) throw new PlatformError('oauth.withoutProvider', { id: credentialsId })
    return fillProvider(await providers.get(providerId), userData)
  }

  async function viewOf(record: CredentialsRecord): Promise<CredentialsView> {
    const client = await clientOf(record)
    return {
      ...publicParts(record),
      appKey: client.id,
      '#data': record.data,
      '#appSecret': record.appSecret ?? (client.secret === '' ? '' : await deps.encrypt(record, client.secret)),
      provider: record.providerId,
      expires: record.expiresAt === null ? null : timeText(record.expiresAt),
      refreshed: record.refreshedAt === null ? null : timeText(record.refreshedAt),
      problem: record.problem,
    }
  }

  /** JSON text of what a component gets, secrets in clear, and every one of them for the log to hide. */
  async function openForRun(record: CredentialsRecord): Promise<{ readonly text: string; readonly values: readonly string[] }> {
    const [client, data] = [await clientOf(record), await dataOf(record)]
    const text = JSON.stringify({
      ...publicParts(record),
      ...(record.expiresAt !== null && { expires: timeText(record.expiresAt) }),
      appKey: client.id,
      '#data': data,
      '#appSecret': client.secret,
    })
    return { text, values: [data, client.secret, ...tokensIn(data)].filter((value) => value !== '') }
  }

  const dataOf = (record: CredentialsRecord): Promise<string> => deps.decrypt(record, record.data)

  return { keyOf, find, list, get, add, authorise, remove, clientOf, providerOf, viewOf, openForRun, dataOf }
}

type ClientParts = Pick<CredentialsRecord, 'projectId' | 'componentId' | 'providerId' | 'appKey' | 'appSecret'>
type RecordParts = Pick<
  CredentialsRecord,
  'authorizedFor' | 'providerId' | 'oauthVersion' | 'appKey' | 'appSecret' | 'userData' | 'data'
>

const publicParts = (record: CredentialsRecord) => ({
  id: record.credentialsId,
  authorizedFor: record.authorizedFor,
  creator: record.creator,
  created: timeText(record.createdAt),
  oauthVersion: record.oauthVersion,
})

/** `2026-11-16 05:47:07`, as the public shape has it; in UTC. */
const timeText = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ')

export const membersOfData = (data: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
  } catch {
    return {} // a manually entered value may be any text
  }
}

/** By the clock of the stack: the provider returns a duration, so its clock does not matter. */
export function expiryOf(data: string, now: number): number | null {
  const { expires_in } = membersOfData(data)
  const seconds = Number(expires_in ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? now + Math.min(seconds, 10 * 365 * 86_400) * 1000 : null
}

const TOKEN_MEMBERS = ['access_token', 'refresh_token', 'id_token', 'oauth_token', 'oauth_token_secret'] as const

const tokensIn = (data: string): string[] => {
  const members = membersOfData(data)
  return TOKEN_MEMBERS.flatMap((name) => (typeof members[name] === 'string' ? [members[name]] : []))
}

export const eventFor = (
  name:
    | 'oauth.credentialsCreated'
    | 'oauth.credentialsAuthorised'
    | 'oauth.credentialsRefreshed'
    | 'oauth.credentialsRevoked'
    | 'oauth.credentialsDeleted',
  { credentialsId, authorizedFor, componentId, providerId }: CredentialsRecord,
) =>
  eventOf(
    name,
    { component: componentId, id: credentialsId, authorizedFor, provider: providerId ?? undefined },
    { objectId: credentialsId, objectName: authorizedFor },
  )
