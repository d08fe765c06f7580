// Operations on stored credentials: test them, revoke them at the provider, pass them to a run.

import type { Egress } from '../../../engines/egress/egress.ts'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Oauth1 } from '../../../engines/oauth/oauth1.ts'
import type { Oauth2 } from '../../../engines/oauth/oauth2.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Origin, RecordEvent } from '../../../model/event.ts'
import { type Credentials, type CredentialsView, eventFor, membersOfData } from './credentials.ts'
import type { CredentialsKey, CredentialsRecord, OauthStore } from './oauth.store.ts'
import type { Provider } from './provider-definition.ts'
import type { Refresh } from './refresh.ts'

export interface UpkeepDeps {
  readonly store: OauthStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly recordEvent: RecordEvent
  readonly credentials: Credentials
  readonly refresh: Refresh
  readonly oauth1: Pick<Oauth1, 'ask'>
  readonly oauth2: Pick<Oauth2, 'revoke'>
  readonly send: Egress['send']
  readonly encrypt: (key: CredentialsKey, text: string) => Promise<string>
}

export interface TestResult {
  readonly status: 'ok' | 'error' | 'untested'
  readonly message: string
}

export type Upkeep = ReturnType<typeof createUpkeep>

const TEST_MS = 20_000

export function createUpkeep(deps: UpkeepDeps) {
  const { store, inTransaction, recordEvent, credentials, refresh } = deps

  async function refreshNow(actor: Actor, componentId: string, id: string): Promise<CredentialsView> {
    return credentials.viewOf(await refresh.fresh(actor, credentials.keyOf(actor, componentId, id), true))
  }

  /** Requests the provider's test URL with the access token, which is refreshed first if it has expired. */
  async function test(actor: Actor, componentId: string, id: string): Promise<TestResult> {
    const key = credentials.keyOf(actor, componentId, id)
    const { providerId } = await credentials.find(key)
    if (providerId === null) return { status: 'untested', message: 'They belong to no provider of this stack.' }
    try {
      const record = await refresh.fresh(actor, key)
      const provider = await credentials.providerOf(record)
      if (provider.testUrl === undefined)
        return { status: 'untested', message: `The provider ${provider.name} has no test_url to ask.` }
      const { status } = await askTestUrl(record, provider, new URL(provider.testUrl))
      if (status === 200) return { status: 'ok', message: `${provider.name} accepts them.` }
      return { status: 'error', message: `${provider.name} answered with status ${status}.` }
    } catch (error) {
      if (!(error instanceof PlatformError) || error.kind === 'bug') throw error
      return { status: 'error', message: error.message }
    }
  }

  async function askTestUrl(record: CredentialsRecord, provider: Provider, url: URL): Promise<{ readonly status: number }> {
    const data = membersOfData(await credentials.dataOf(record))
    if (provider.version === '2.0') {
      const headers = {
        authorization: `Bearer ${String(data.access_token)}`,
        accept: 'application/json',
        'user-agent': 'millrace',
      }
      return deps.send({ method: 'GET', url, headers, body: '', timeoutMs: TEST_MS })
    }
    const token = { token: String(data.oauth_token), secret: String(data.oauth_token_secret) }
    return deps.oauth1.ask({ method: 'GET', url, client: await credentials.clientOf(record), token })
  }

  /** Revokes at the provider first, then deletes the stored tokens; the id stays for a new authorisation. */
  async function revoke(actor: Actor, componentId: string, id: string, origin: Origin): Promise<CredentialsView> {
    const key = credentials.keyOf(actor, componentId, id)
    const record = await credentials.find(key)
    const provider = await credentials.providerOf(record)
    if (provider.revokeUrl === undefined || provider.version === '1.0')
      throw new PlatformError('oauth.cannotRevoke', { provider: provider.name })
    const { refresh_token, access_token } = membersOfData(await credentials.dataOf(record))
    const token = refresh_token ?? access_token
    if (typeof token === 'string') await deps.oauth2.revoke(provider, await credentials.clientOf(record), token)
    const revoked = { ...record, data: await deps.encrypt(key, '{}'), expiresAt: null, problem: 'They were revoked.' }
    await inTransaction(async (trx) => {
      await store.replace(trx, revoked)
      await recordEvent(trx, actor, eventFor('oauth.credentialsRevoked', revoked), origin)
    })
    return credentials.viewOf(revoked)
  }

  /** For runs: the record in clear; refreshed before when the component leaves that to the broker. */
  async function forRun(source: Actor, key: CredentialsKey, isRefreshed: boolean) {
    const record = isRefreshed ? await refresh.fresh(source, key) : await credentials.find(key)
    if (record.problem !== null)
      throw new PlatformError('oauth.authoriseAgain', { id: record.credentialsId, reason: record.problem.replace(/\.$/, '') })
    return credentials.openForRun(record)
  }

  return { refreshNow, test, revoke, forRun }
}
