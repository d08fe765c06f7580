// The tables of the OAuth broker. Secrets arrive and leave as ciphers.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Actor } from '../../../model/actor.ts'
import type { ProviderDefinition } from './provider-definition.ts'

interface OauthTables {
  oauth_provider: { provider_id: string; definition: string; app_secret: string | null; created_at: number }
  oauth_round_trip: {
    state_hash: string
    project_id: number
    component_id: string
    credentials_id: string
    authorized_for: string
    provider_id: string
    app_key: string | null
    app_secret: string | null
    user_data: string
    return_url: string | null
    configuration_id: string | null
    redirect_url: string
    proof: string
    browser_hash: string
    actor: string
    expires_at: number
  }
  oauth_credentials: {
    id: Generated<number>
    project_id: number
    component_id: string
    credentials_id: string
    authorized_for: string
    creator_token_id: number
    creator_description: string
    created_at: number
    provider_id: string | null
    oauth_version: string
    app_key: string | null
    app_secret: string | null
    user_data: string
    data: string
    data_version: number
    expires_at: number | null
    refreshed_at: number | null
    problem: string | null
    lease_holder: string | null
    lease_until: number | null
  }
}

export interface StoredProvider {
  readonly definition: ProviderDefinition
  /** Cipher. */
  readonly appSecret: string | null
}

/** Values that fill `%%name%%` in the addresses of a provider. */
export type UserData = Readonly<Record<string, string>>

export interface RoundTripRecord {
  readonly stateHash: string
  readonly projectId: number
  readonly componentId: string
  readonly credentialsId: string
  readonly authorizedFor: string
  readonly providerId: string
  /** A client of these credentials alone; null: the provider's. */
  readonly appKey: string | null
  readonly appSecret: string | null
  readonly userData: UserData
  readonly returnUrl: string | null
  /** The configuration that gets the credentials. */
  readonly configurationId: string | null
  readonly redirectUrl: string
  /** Cipher of the code verifier (2.0) or of the secret of the request token (1.0). */
  readonly proof: string
  readonly browserHash: string
  readonly actor: Actor
  readonly expiresAt: number
}

export interface CredentialsKey {
  readonly projectId: number
  readonly componentId: string
  readonly credentialsId: string
}

export interface CredentialsRecord extends CredentialsKey {
  readonly authorizedFor: string
  readonly creator: { readonly id: number; readonly description: string }
  readonly createdAt: number
  readonly providerId: string | null
  readonly oauthVersion: string
  readonly appKey: string | null
  readonly appSecret: string | null
  readonly userData: UserData
  /** Cipher of the provider's token answer. */
  readonly data: string
  /** Counts every change of `data`. */
  readonly dataVersion: number
  readonly expiresAt: number | null
  readonly refreshedAt: number | null
  /** Why they cannot be used until they are authorised again. */
  readonly problem: string | null
}

export type OauthStore = ReturnType<typeof createOauthStore>

export function createOauthStore(database: Db) {
  const db = withTables<OauthTables>(database)
  const tablesOf = (trx: Trx) => withTables<OauthTables>(trx)

  return {
    async listProviders(): Promise<readonly StoredProvider[]> {
      const rows = await db.selectFrom('oauth_provider').selectAll().orderBy('provider_id').execute()
      return rows.map(({ definition, app_secret }) => ({ definition: readStored(definition), appSecret: app_secret }))
    },

    async saveProvider(trx: Trx, { definition, appSecret }: StoredProvider, now: number): Promise<void> {
      const changed = { definition: JSON.stringify(definition), app_secret: appSecret }
      await tablesOf(trx)
        .insertInto('oauth_provider')
        .values({ provider_id: definition.id, created_at: now, ...changed })
        .onConflict((conflict) => conflict.column('provider_id').doUpdateSet(changed))
        .execute()
    },

    async removeProvider(trx: Trx, id: string): Promise<boolean> {
      const query = tablesOf(trx).deleteFrom('oauth_provider').where('provider_id', '=', id).returning('provider_id')
      return (await query.executeTakeFirst()) !== undefined
    },

    /** Abandoned ones are deleted at the same time. */
    async insertRoundTrip(trx: Trx, trip: RoundTripRecord, now: number): Promise<void> {
      await tablesOf(trx).deleteFrom('oauth_round_trip').where('expires_at', '<', now).execute()
      await tablesOf(trx)
        .insertInto('oauth_round_trip')
        .values({
          state_hash: trip.stateHash,
          project_id: trip.projectId,
          component_id: trip.componentId,
          credentials_id: trip.credentialsId,
          authorized_for: trip.authorizedFor,
          provider_id: trip.providerId,
          app_key: trip.appKey,
          app_secret: trip.appSecret,
          user_data: JSON.stringify(trip.userData),
          return_url: trip.returnUrl,
          configuration_id: trip.configurationId,
          redirect_url: trip.redirectUrl,
          proof: trip.proof,
          browser_hash: trip.browserHash,
          actor: JSON.stringify(trip.actor),
          expires_at: trip.expiresAt,
        })
        .execute()
    },

    /** Found once: a second request with the same state finds nothing. */
    async takeRoundTrip(trx: Trx, stateHash: string): Promise<RoundTripRecord | undefined> {
      const row = await tablesOf(trx)
        .deleteFrom('oauth_round_trip')
        .where('state_hash', '=', stateHash)
        .returningAll()
        .executeTakeFirst()
      return row && toRoundTrip(row)
    },

    async findRoundTrip(stateHash: string): Promise<RoundTripRecord | undefined> {
      const row = await db.selectFrom('oauth_round_trip').selectAll().where('state_hash', '=', stateHash).executeTakeFirst()
      return row && toRoundTrip(row)
    },

    async list(projectId: number, componentId: string): Promise<readonly CredentialsRecord[]> {
      const rows = await db
        .selectFrom('oauth_credentials')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('component_id', '=', componentId)
        .orderBy('id')
        .execute()
      return rows.map(toCredentials)
    },

    async find({ projectId, componentId, credentialsId }: CredentialsKey): Promise<CredentialsRecord | undefined> {
      const row = await db
        .selectFrom('oauth_credentials')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('component_id', '=', componentId)
        .where('credentials_id', '=', credentialsId)
        .executeTakeFirst()
      return row && toCredentials(row)
    },

    /** Undefined when the id is taken. */
    async insert(trx: Trx, record: CredentialsRecord): Promise<boolean> {
      const inserted = await tablesOf(trx)
        .insertInto('oauth_credentials')
        .values({ ...keyColumns(record), ...contentColumns(record), data_version: record.dataVersion })
        .onConflict((conflict) => conflict.columns(['project_id', 'component_id', 'credentials_id']).doNothing())
        .returning('id')
        .executeTakeFirst()
      return inserted !== undefined
    },

    /** Authorised again: everything but the id changes, and a refresh that is under way can no longer write. */
    async replace(trx: Trx, record: CredentialsRecord): Promise<void> {
      await tablesOf(trx)
        .updateTable('oauth_credentials')
        .set((e) => ({
          ...contentColumns(record),
          data_version: e('data_version', '+', 1),
          lease_holder: null,
          lease_until: null,
        }))
        .where('project_id', '=', record.projectId)
        .where('component_id', '=', record.componentId)
        .where('credentials_id', '=', record.credentialsId)
        .execute()
    },

    async remove(trx: Trx, { projectId, componentId, credentialsId }: CredentialsKey): Promise<boolean> {
      const removed = await tablesOf(trx)
        .deleteFrom('oauth_credentials')
        .where('project_id', '=', projectId)
        .where('component_id', '=', componentId)
        .where('credentials_id', '=', credentialsId)
        .returning('id')
        .executeTakeFirst()
      return removed !== undefined
    },

    /** Who holds the lease may refresh; it is given to one, on one version of the data. */
    async lease(trx: Trx, key: CredentialsKey, dataVersion: number, lease: Lease, now: number): Promise<boolean> {
      const held = await tablesOf(trx)
        .updateTable('oauth_credentials')
        .set({ lease_holder: lease.holder, lease_until: lease.until })
        .where('project_id', '=', key.projectId)
        .where('component_id', '=', key.componentId)
        .where('credentials_id', '=', key.credentialsId)
        .where('data_version', '=', dataVersion)
        .where((e) => e.or([e('lease_until', 'is', null), e('lease_until', '<', now)]))
        .returning('id')
        .executeTakeFirst()
      return held !== undefined
    },

    /** Ends the lease with what came of it; false when the data changed meanwhile. */
    async endLease(trx: Trx, key: CredentialsKey, holder: string, change: LeaseChange): Promise<boolean> {
      const ended = await tablesOf(trx)
        .updateTable('oauth_credentials')
        .set((e) => ({
          lease_holder: null,
          lease_until: null,
          ...('problem' in change && { problem: change.problem }),
          ...('data' in change && {
            data: change.data,
            data_version: e('data_version', '+', 1),
            expires_at: change.expiresAt,
            refreshed_at: change.refreshedAt,
            problem: null,
          }),
        }))
        .where('project_id', '=', key.projectId)
        .where('component_id', '=', key.componentId)
        .where('credentials_id', '=', key.credentialsId)
        .where('lease_holder', '=', holder)
        .returning('id')
        .executeTakeFirst()
      return ended !== undefined
    },

    /** Of a process that is gone; for a node that is alone. */
    async dropLeases(trx: Trx): Promise<void> {
      await tablesOf(trx).updateTable('oauth_credentials').set({ lease_holder: null, lease_until: null }).execute()
    },
  }
}

export interface Lease {
  readonly holder: string
  readonly until: number
}

type LeaseChange =
  | { readonly data: string; readonly expiresAt: number | null; readonly refreshedAt: number }
  | { readonly problem: string }
  | Record<never, never>

const keyColumns = ({ projectId, componentId, credentialsId }: CredentialsKey) => ({
  project_id: projectId,
  component_id: componentId,
  credentials_id: credentialsId,
})

const contentColumns = (record: CredentialsRecord) => ({
  authorized_for: record.authorizedFor,
  creator_token_id: record.creator.id,
  creator_description: record.creator.description,
  created_at: record.createdAt,
  provider_id: record.providerId,
  oauth_version: record.oauthVersion,
  app_key: record.appKey,
  app_secret: record.appSecret,
  user_data: JSON.stringify(record.userData),
  data: record.data,
  expires_at: record.expiresAt,
  refreshed_at: record.refreshedAt,
  problem: record.problem,
})

const toRoundTrip = (row: Selectable<OauthTables['oauth_round_trip']>): RoundTripRecord => ({
  stateHash: row.state_hash,
  projectId: row.project_id,
  componentId: row.component_id,
  credentialsId: row.credentials_id,
  authorizedFor: row.authorized_for,
  providerId: row.provider_id,
  appKey: row.app_key,
  appSecret: row.app_secret,
  userData: readStored<UserData>(row.user_data),
  returnUrl: row.return_url,
  configurationId: row.configuration_id,
  redirectUrl: row.redirect_url,
  proof: row.proof,
  browserHash: row.browser_hash,
  actor: readStored<Actor>(row.actor),
  expiresAt: row.expires_at,
})

const toCredentials = (row: Selectable<OauthTables['oauth_credentials']>): CredentialsRecord => ({
  projectId: row.project_id,
  componentId: row.component_id,
  credentialsId: row.credentials_id,
  authorizedFor: row.authorized_for,
  creator: { id: row.creator_token_id, description: row.creator_description },
  createdAt: row.created_at,
  providerId: row.provider_id,
  oauthVersion: row.oauth_version,
  appKey: row.app_key,
  appSecret: row.app_secret,
  userData: readStored<UserData>(row.user_data),
  data: row.data,
  dataVersion: row.data_version,
  expiresAt: row.expires_at,
  refreshedAt: row.refreshed_at,
  problem: row.problem,
})
