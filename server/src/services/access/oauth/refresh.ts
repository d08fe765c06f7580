// Exchanges expired access tokens, for components that request it. Invariants:
//  (1) one refresh of the same credentials at a time, on all nodes: by the holder of the lease in the record;
//  (2) a new refresh token is stored before its access token is used;
//  (3) a process that dies while it refreshes blocks the others only until its lease is over.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Oauth2 } from '../../../engines/oauth/oauth2.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type EventSource, eventOf, NO_ORIGIN, type RecordEvent } from '../../../model/event.ts'
import { type Credentials, eventFor, expiryOf, membersOfData } from './credentials.ts'
import type { CredentialsKey, CredentialsRecord, OauthStore } from './oauth.store.ts'

export interface RefreshDeps {
  readonly store: OauthStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly credentials: Pick<Credentials, 'find' | 'clientOf' | 'providerOf' | 'dataOf'>
  readonly oauth2: Pick<Oauth2, 'refresh'>
  readonly encrypt: (key: CredentialsKey, text: string) => Promise<string>
}

export type Refresh = ReturnType<typeof createRefresh>

/** Longer than a request to a provider may take. */
const LEASE_MS = 30_000
const LOOK_EVERY_MS = 100
/** Somewhat longer than a lease. */
const MAX_LOOKS = 450
/** A token with less left than this is as good as over: the run has to begin with it. */
const MARGIN_MS = 5 * 60_000

export function createRefresh(deps: RefreshDeps) {
  const { store, inTransaction, clock, credentials } = deps

  /** The credentials with an access token that is still valid, or a sentence with the reason why there is none. */
  async function fresh(source: EventSource, key: CredentialsKey, isForced = false): Promise<CredentialsRecord> {
    const first = await credentials.find(key)
    for (let record = first, looks = 0; ; record = await credentials.find(key), looks++) {
      if (record.problem !== null) throw notUsable(record)
      const wasRefreshed = record.dataVersion !== first.dataVersion
      if (wasRefreshed || !(isForced || isNearlyOver(record))) return record
      const refreshToken = membersOfData(await credentials.dataOf(record)).refresh_token
      if (typeof refreshToken !== 'string') return withoutRefreshToken(record, isForced)
      const lease = { holder: randomUUID(), until: clock.now().getTime() + LEASE_MS }
      const isHeld = await inTransaction((trx) => store.lease(trx, key, record.dataVersion, lease, clock.now().getTime()))
      if (isHeld) return await exchange(source, record, refreshToken, lease.holder, isForced)
      if (looks >= MAX_LOOKS) throw new PlatformError('oauth.refreshBusy', { id: key.credentialsId })
      await sleep(LOOK_EVERY_MS)
    }
  }

  const isNearlyOver = ({ expiresAt }: CredentialsRecord): boolean =>
    expiresAt !== null && expiresAt - MARGIN_MS <= clock.now().getTime()

  function withoutRefreshToken(record: CredentialsRecord, isForced: boolean): CredentialsRecord {
    const isOver = record.expiresAt !== null && record.expiresAt <= clock.now().getTime()
    if (!isOver && !isForced) return record
    const reason = `${isOver ? 'their access token is over, and ' : ''}the provider gave no refresh token`
    throw new PlatformError('oauth.authoriseAgain', { id: record.credentialsId, reason })
  }

  async function exchange(
    source: EventSource,
    record: CredentialsRecord,
    refreshToken: string,
    holder: string,
    isForced: boolean,
  ): Promise<CredentialsRecord> {
    try {
      const before = membersOfData(await credentials.dataOf(record))
      const [provider, client] = [await credentials.providerOf(record), await credentials.clientOf(record)]
      const tokens = await deps.oauth2.refresh(provider, client, refreshToken)
      // A provider that does not rotate leaves out what stays as it was (RFC 6749, 6).
      await save(source, record, holder, JSON.stringify({ ...before, ...tokens }))
      return await credentials.find(record)
    } catch (error) {
      return await afterFailure(source, record, holder, error, isForced)
    }
  }

  async function save(source: EventSource, record: CredentialsRecord, holder: string, data: string): Promise<void> {
    const now = clock.now().getTime()
    const change = { data: await deps.encrypt(record, data), expiresAt: expiryOf(data, now), refreshedAt: now }
    await inTransaction(async (trx) => {
      // Authorised again or removed meanwhile: the stored tokens are newer.
      if (!(await store.endLease(trx, record, holder, change))) return
      await deps.recordEvent(trx, source, eventFor('oauth.credentialsRefreshed', record), NO_ORIGIN)
    })
  }

  async function afterFailure(
    source: EventSource,
    record: CredentialsRecord,
    holder: string,
    error: unknown,
    isForced: boolean,
  ): Promise<CredentialsRecord> {
    if (error instanceof PlatformError && error.code === 'oauth.grantGone') {
      const problem = error.message
      await inTransaction(async (trx) => {
        if (await store.endLease(trx, record, holder, { problem }))
          await deps.recordEvent(trx, source, lostEvent(record, problem), NO_ORIGIN)
      })
      throw notUsable({ ...record, problem })
    }
    await inTransaction((trx) => store.endLease(trx, record, holder, {}))
    const stillHolds = record.expiresAt !== null && record.expiresAt > clock.now().getTime()
    if (stillHolds && !isForced) return record
    throw error
  }

  return { fresh }
}

const notUsable = ({ credentialsId, problem }: CredentialsRecord): PlatformError =>
  new PlatformError('oauth.authoriseAgain', { id: credentialsId, reason: problem?.replace(/\.$/, '') ?? '' })

const lostEvent = ({ componentId, credentialsId, authorizedFor }: CredentialsRecord, reason: string) =>
  eventOf(
    'oauth.credentialsLost',
    { component: componentId, id: credentialsId, authorizedFor, reason },
    { objectId: credentialsId, objectName: authorizedFor },
  )
