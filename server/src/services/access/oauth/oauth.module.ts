// The OAuth broker.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { egressPolicyFrom } from '../../../../../contract/egress-rules.ts'
import { createEgress } from '../../../engines/egress/egress.ts'
import { createJsonFolder } from '../../../engines/json-folder/json-folder.ts'
import { createOauth1 } from '../../../engines/oauth/oauth1.ts'
import { createOauth2 } from '../../../engines/oauth/oauth2.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule, encapsulated } from '../../../model/module.ts'
import type { RunOauth } from '../../../model/run-ports.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import type { EncryptionModule } from '../encryption/encryption.module.ts'
import type { PeopleModule } from '../people/people.module.ts'
import type { TokensModule } from '../tokens/tokens.module.ts'
import { createAttach } from './attach.ts'
import { createAuthorisationLinks } from './authorisation-links.ts'
import { authorizeRoutes } from './authorize.routes.ts'
import { createCredentials } from './credentials.ts'
import { isManageToken, oauthManageRoutes } from './manage.routes.ts'
import { oauthRoutes } from './oauth.routes.ts'
import { createOauthStore } from './oauth.store.ts'
import { createProviders } from './providers.ts'
import { createRefresh } from './refresh.ts'
import { createRoundTrips } from './round-trip.ts'
import { createUpkeep } from './upkeep.ts'

export interface OauthModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly people: PeopleModule
  readonly components: ComponentsModule
  readonly encryption: EncryptionModule
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly egressAllow: readonly string[]
  readonly corsOrigins: readonly string[]
  readonly manageToken: string | undefined
  readonly baseUrl: () => string
}

/** Definitions that come with the stack. */
const BUILT_IN = fileURLToPath(new URL('./providers', import.meta.url))

export type OauthModule = ReturnType<typeof createOauthModule>

export function createOauthModule(deps: OauthModuleDeps) {
  const { core, tokens, people, components, encryption, branches, configurations, baseUrl } = deps
  const { db, inTransaction, clock, log, recordEvent, metadata, dataDir } = core
  const { runAccess, usableComponent } = configurations
  const store = createOauthStore(db)
  const egress = createEgress({ policy: egressPolicyFrom(deps.egressAllow) })
  const oauth1 = createOauth1(egress, clock)
  const oauth2 = createOauth2(egress)

  const scopeOf = ({ projectId, componentId }: { readonly projectId: number; readonly componentId: string }) => ({
    projectId: String(projectId),
    componentId,
  })
  const encrypt = (key: Parameters<typeof scopeOf>[0], text: string) => encryption.encryptBody(text, false, scopeOf(key))
  const decrypt = (key: Parameters<typeof scopeOf>[0], cipher: string) => encryption.decryptBody(cipher, scopeOf(key))
  const redirectUrl = (componentId: string) =>
    `${baseUrl()}/oauth/authorize/${encodeURIComponent(components.canonicalId(componentId))}/callback`

  const providers = createProviders({
    store,
    inTransaction,
    recordEvent,
    clock,
    log,
    builtIn: createJsonFolder(BUILT_IN),
    folder: createJsonFolder(join(dataDir, 'oauth-providers')),
    // A name that no component has: their secrets open for the broker alone.
    encrypt: (id, secret) => encryption.encryptBody(secret, false, { componentId: `oauth/${id}` }),
    decrypt: (id, cipher) => encryption.decryptBody(cipher, { componentId: `oauth/${id}` }),
  })
  const shared = { store, inTransaction, clock, recordEvent, providers, encrypt, decrypt, usableComponent }
  const credentials = createCredentials(shared)
  const refresh = createRefresh({ ...shared, credentials, oauth2 })
  const upkeep = createUpkeep({ ...shared, credentials, refresh, oauth1, oauth2, send: egress.send })
  const attach = createAttach({
    read: async (actor, place) => {
      const branch = await branches.findDefault(actor.projectId)
      const found = await runAccess.get({ projectId: actor.projectId, branchId: branch.id, ...place })
      return { text: found.configuration, version: found.version }
    },
    save: async (actor, { componentId, configurationId, credentialsId }, text, version, origin) => {
      const { id } = await branches.findDefault(actor.projectId)
      const change = {
        configuration: { text, value: JSON.parse(text) as unknown },
        changeDescription: `Authorised by OAuth credentials ${credentialsId}`,
      }
      await configurations.update(
        { actor, branch: { id, isDefault: true }, origin },
        componentId,
        configurationId,
        change,
        version,
      )
    },
  })
  const roundTrips = createRoundTrips({
    ...shared,
    credentials,
    oauth1,
    oauth2,
    checkAddress: egress.check,
    redirectUrl,
    mayReturnTo: ({ origin }) => [new URL(baseUrl()).origin, ...deps.corsOrigins].includes(origin),
    attach,
  })
  const makeLink = createAuthorisationLinks({
    clock,
    baseUrl,
    usableComponent,
    issueToken: async (actor, token, origin) =>
      (await tokens.create(actor, { ...token, componentAccess: [...token.componentAccess] }, origin)).value,
  })

  const forRuns: RunOauth = {
    credentialsFor: (actor, key, isRefreshed) => upkeep.forRun(actor, { projectId: actor.projectId, ...key }, isRefreshed),
  }

  return defineModule({
    name: 'oauth',
    routes: [
      oauthRoutes({ credentials, upkeep, providers, redirectUrl, makeLink }),
      encapsulated(
        oauthManageRoutes({
          providers,
          isStackToken: isManageToken(deps.manageToken),
          personOf: people.finder.ofManageToken,
          asStackAdmin: people.asStackAdminOfOldest,
          asStack: people.asStack,
        }),
      ),
      authorizeRoutes({
        roundTrips,
        authenticate: tokens.authenticateDirect,
        usableComponent,
        componentName: (id) => components.find(id)?.name ?? id,
        providers,
        baseUrl,
      }),
    ],
    background: [
      {
        // A stack that is alone on its database has no other node that could still refresh.
        start: async () => {
          if (metadata.dialect === 'sqlite') await inTransaction(store.dropLeases)
        },
      },
    ],
    forRuns,
  })
}
