// Who may log in to a workspace beside its first user: further passwords, each with an id, and holders of private keys, who sign a token
// of their own and use it as the password.

import { createHash, createPublicKey, type KeyObject, randomBytes, timingSafeEqual, verify } from 'node:crypto'
import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { RecordEvent } from '../../../model/event.ts'
import { createWorkspaceCredentialsStore, type StoredKey } from './workspace-credentials.store.ts'
import { type By, workspaceEvent } from './workspace-events.ts'
import type { Workspace } from './workspaces.store.ts'

export interface WorkspaceCredentialsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly setLoginType: (trx: Trx, workspace: Workspace, loginType: string) => Promise<void>
}

const WITH_PASSWORD = ['default', 'snowflake-legacy-service']
const WITH_KEY = ['snowflake-person-keypair', 'snowflake-service-keypair']
/** Used through the API, or with a token as the password; the second kind is requested by people of another backend. */
const WITHOUT_LOGIN = ['none', 'snowflake-person-sso']
export const LOGIN_TYPES = [...WITH_PASSWORD, ...WITH_KEY, ...WITHOUT_LOGIN]

type Login = Pick<Workspace, 'loginType'>
export const hasKey = ({ loginType }: Login): boolean => WITH_KEY.includes(loginType)
export const hasPassword = ({ loginType }: Login): boolean => WITH_PASSWORD.includes(loginType)

/** Random and long, so that a plain hash keeps it. */
export const newPassword = (): string => randomBytes(24).toString('base64url')
export const hashOf = (password: string): string => createHash('sha256').update(password).digest('hex')

const MAX_CREDENTIALS = 100
/** A token with a longer validity is refused: a leaked one could be used as long. */
const MAX_SECONDS = 3600
/** Keys without a name take turns in these (corrections-2, W4). */
const SLOTS = ['RSA_PUBLIC_KEY_1', 'RSA_PUBLIC_KEY_2'] as const
/** What a workspace with a password becomes when it gets a key (corrections-2, W3). */
const LOGIN_OF_NEW_KEY = 'snowflake-person-keypair'

export type WorkspaceCredentials = ReturnType<typeof createWorkspaceCredentials>

export function createWorkspaceCredentials({ db, inTransaction, clock, recordEvent, setLoginType }: WorkspaceCredentialsDeps) {
  const store = createWorkspaceCredentialsStore(db)

  async function make(workspace: Workspace, by: By): Promise<{ readonly id: number; readonly password: string }> {
    if (!hasPassword(workspace))
      throw new PlatformError('workspace.credentialsNotSupported', { id: workspace.id, type: workspace.loginType })
    if ((await store.list(workspace)).length >= MAX_CREDENTIALS)
      throw new PlatformError('workspace.tooManyCredentials', { id: workspace.id, limit: MAX_CREDENTIALS })
    const password = newPassword()
    const id = await inTransaction(async (trx) => {
      const credentialsId = await store.insert(trx, workspace, hashOf(password), clock.now())
      const event = workspaceEvent('storage.workspaceCredentialsCreated', workspace, { credentialsId })
      await recordEvent(trx, by.source, event, by.origin)
      return credentialsId
    })
    return { id, password }
  }

  async function get(workspace: Workspace, credentialsId: string): Promise<number> {
    const found = (await store.list(workspace)).find(({ id }) => String(id) === credentialsId)
    if (!found) throw notFound(workspace, credentialsId)
    return found.id
  }

  async function remove(workspace: Workspace, credentialsId: string, by: By): Promise<void> {
    const id = await get(workspace, credentialsId)
    await inTransaction(async (trx) => {
      if (!(await store.remove(trx, workspace, id))) throw notFound(workspace, credentialsId)
      const event = workspaceEvent('storage.workspaceCredentialsDeleted', workspace, { credentialsId: id })
      await recordEvent(trx, by.source, event, by.origin)
    })
  }

  /** Without a name the older of two slots is replaced: the key before stays valid. A workspace with a password has a key from then on. */
  async function setKey(workspace: Workspace, publicKey: string, by: By, keyName?: string): Promise<Workspace> {
    if (!hasKey(workspace) && !hasPassword(workspace))
      throw new PlatformError('workspace.publicKeyNotSupported', { id: workspace.id, type: workspace.loginType })
    const pem = readPublicKey(publicKey)
    return inTransaction(async (trx) => {
      const keys = await store.listKeys(workspace, trx)
      const name = keyName ?? nextSlot(keys)
      if (!keys.some((key) => key.name === name) && keys.length >= MAX_CREDENTIALS)
        throw new PlatformError('workspace.tooManyCredentials', { id: workspace.id, limit: MAX_CREDENTIALS })
      await store.setKey(trx, workspace, { name, pem, setAt: clock.now() })
      await recordEvent(trx, by.source, workspaceEvent('storage.workspacePublicKeySet', workspace, { name }), by.origin)
      if (hasKey(workspace)) return workspace
      await store.removePasswords(trx, workspace)
      await setLoginType(trx, workspace, LOGIN_OF_NEW_KEY)
      return { ...workspace, loginType: LOGIN_OF_NEW_KEY }
    })
  }

  /** `at`: when the password was given; a token that has run out since does not end a connection. */
  async function isPassword(workspace: Workspace, password: string, at: Date): Promise<boolean> {
    if (hasKey(workspace)) {
      const keys = await store.listKeys(workspace)
      return keys.some(({ pem }) => isSigned(password, createPublicKey(pem), `workspace_${workspace.id}`, at))
    }
    if (!hasPassword(workspace)) return false
    const hash = hashOf(password)
    const hashes = [workspace.passwordHash, ...(await store.list(workspace)).map((one) => one.password_hash)]
    return hashes.some((known) => timingSafeEqual(Buffer.from(known), Buffer.from(hash)))
  }

  /** In the terms of Snowflake: what kind of user it is, and the fingerprints of the keys in its two slots. */
  async function describeLogin(workspace: Workspace) {
    const keys = await store.listKeys(workspace)
    const fingerprintOf = (slot: string): string | undefined => {
      const key = keys.find(({ name }) => name === slot)
      return key && fingerprint(createPublicKey(key.pem))
    }
    const isPerson = workspace.loginType.startsWith('snowflake-person')
    return {
      type: hasPassword(workspace) ? ('LEGACY_SERVICE' as const) : isPerson ? ('PERSON' as const) : ('SERVICE' as const),
      hasPassword: hasPassword(workspace),
      keys: [fingerprintOf(SLOTS[0]), fingerprintOf(SLOTS[1])] as const,
    }
  }

  return {
    make,
    get,
    describeLogin,
    remove,
    setKey,
    isPassword,
    /** For a workspace that is being made. */
    insertKey: (trx: Trx, workspace: Workspace, pem: string) =>
      store.setKey(trx, workspace, { name: SLOTS[0], pem, setAt: clock.now() }),
    removeAll: store.removeAll,
    removePasswords: store.removePasswords,
  }
}

/** The free one, or the one that was set first. */
const nextSlot = (keys: readonly StoredKey[]): string => {
  const [first, second] = SLOTS.map((slot) => keys.find(({ name }) => name === slot))
  if (!first) return SLOTS[0]
  return !second || second.setAt < first.setAt ? SLOTS[1] : SLOTS[0]
}

const notFound = ({ id }: Workspace, credentialsId: string) =>
  new PlatformError('workspace.credentialsNotFound', { id, credentials: credentialsId.slice(0, 40) })

/** A public key as PEM, or the base64 of one without its first and last line, as some clients send it. */
export function readPublicKey(text: string): string {
  const isPem = text.includes('-----BEGIN')
  try {
    const key = isPem ? createPublicKey(text) : createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' })
    if (isPem && text.includes('PRIVATE KEY')) throw new Error('it is a private key')
    if (!algorithmOf(key)) throw new Error('its kind is not known')
    return key.export({ type: 'spki', format: 'pem' }).toString()
  } catch (cause) {
    throw new PlatformError('workspace.publicKeyInvalid', {}, { cause })
  }
}

const fingerprint = (key: KeyObject): string =>
  `SHA256:${createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64')}`

function algorithmOf(key: KeyObject): 'RS256' | 'ES256' | 'EdDSA' | undefined {
  if (key.asymmetricKeyType === 'rsa') return (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048 ? 'RS256' : undefined
  if (key.asymmetricKeyType === 'ec') return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? 'ES256' : undefined
  return key.asymmetricKeyType === 'ed25519' ? 'EdDSA' : undefined
}

interface Claims {
  readonly sub?: unknown
  readonly exp?: unknown
}

/** Whether a text is a JSON web token for this user, signed by the holder of the key, and good for an hour at most. */
function isSigned(token: string, key: KeyObject, user: string, at: Date): boolean {
  const [head = '', body = '', signature = ''] = token.split('.')
  const algorithm = algorithmOf(key)
  try {
    const { alg } = partOf(head) as { readonly alg?: unknown }
    const { sub, exp } = partOf(body) as Claims
    const left = Number(exp) - at.getTime() / 1000
    if (alg !== algorithm || sub !== user || !(left > 0 && left <= MAX_SECONDS)) return false
    const hash = algorithm === 'EdDSA' ? null : 'sha256'
    return verify(hash, Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))
  } catch {
    return false // it is not a token at all
  }
}

const partOf = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString()) ?? {}
