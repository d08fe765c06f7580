// The OAuth broker.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { egressPolicyFrom } from '../../../contract/egress-rules.ts'
import { createEgress } from '../engines/egress/egress.ts'
import { createJsonFolder } from '../engines/json-folder/json-folder.ts'
import { createOauth1 } from '../engines/oauth/oauth1.ts'
import { createOauth2 } from '../engines/oauth/oauth2.ts'
import { addRoutes } from '../http/add-routes.ts'
import type { Clock } from '../kit/clock.ts'
import type { Actor } from '../model/actor.ts'
import type { RunOauth } from '../model/run-ports.ts'
import { usableComponent as usableComponentOf } from '../services/configurations/access.ts'
import { createAttach } from '../services/oauth/attach.ts'
import { authorizeRoutes } from '../services/oauth/authorize.routes.ts'
import { createCredentials } from '../services/oauth/credentials.ts'
import { createLinks } from '../services/oauth/links.ts'
import { isManageToken, oauthManageRoutes } from '../services/oauth/manage.routes.ts'
import { oauthRoutes } from '../services/oauth/oauth.routes.ts'
import { createOauthStore } from '../services/oauth/oauth.store.ts'
import { createProviders } from '../services/oauth/providers.ts'
import { createRefresh } from '../services/oauth/refresh.ts'
import { createRoundTrips } from '../services/oauth/round-trip.ts'
import { createUpkeep } from '../services/oauth/upkeep.ts'
import type { ConfigurationModules } from './configurations.ts'
import type { Core } from './core.ts'

export interface OauthModulesDeps extends Core {
  readonly dataDir: string
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly configurations: ConfigurationModules
  readonly egressAllow: readonly string[]
  readonly corsOrigins: readonly string[]
  readonly manageToken: string | undefined
  readonly baseUrl: () => string
}

/** Definitions that come with the stack. */
const BUILT_IN = fileURLToPath(new URL('../services/oauth/providers', import.meta.url))

export function createOauthModules(deps: OauthModulesDeps) {
  const { metadata, events, tokens, clock, log, baseUrl } = deps
  const { components, encryption, configurations, branches, runAccess } = deps.configurations
  const { db, inTransaction } = metadata
  const recordEvent = events.record
  const store = createOauthStore(db)
  const egress = createEgress({ policy: egressPolicyFrom(deps.egressAllow) })
  const oauth1 = createOauth1(egress, clock)
  const oauth2 = createOauth2(egress)

  const usableComponent = (actor: Actor, componentId: string) => usableComponentOf(components, actor, componentId)
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
    folder: createJsonFolder(join(deps.dataDir, 'oauth-providers')),
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
  const makeLink = createLinks({
    clock,
    baseUrl,
    usableComponent,
    issueToken: async (actor, token, origin) =>
      (await tokens.create(actor, { ...token, componentAccess: [...token.componentAccess] }, origin)).value,
  })

  const forRuns: RunOauth = {
    credentialsFor: (actor, key, isRefreshed) => upkeep.forRun(actor, { projectId: actor.projectId, ...key }, isRefreshed),
  }

  return {
    forRuns,
    /** A stack that is alone on its database knows that nobody refreshes any more. */
    start: () => ({ sqlite: () => inTransaction(store.dropLeases), postgres: () => undefined })[metadata.dialect](),
    registerRoutes(app: FastifyInstance): void {
      addRoutes(app, oauthRoutes({ credentials, upkeep, providers, redirectUrl, makeLink }))
      app.register(
        oauthManageRoutes({
          providers,
          isStackToken: isManageToken(deps.manageToken),
          personOf: deps.people.finder.ofManageToken,
          asStackAdmin: deps.people.asStackAdminOfOldest,
          asStack: deps.people.asStack,
        }),
      )
      addRoutes(
        app,
        authorizeRoutes({
          roundTrips,
          authenticate: tokens.authenticate,
          usableComponent,
          componentName: (id) => components.find(id)?.name ?? id,
          providers,
          baseUrl,
        }),
      )
    },
  }
}
