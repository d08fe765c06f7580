import { egressPolicyFrom } from '../../../../../contract/egress-rules.ts'
import { createEgress } from '../../../engines/egress/egress.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { KeyRingModule } from '../encryption/key-ring.module.ts'
import type { PeopleModule } from '../people/people.module.ts'
import type { TokensModule } from '../tokens/tokens.module.ts'
import { createAgentSignIn } from './agent-sign-in.ts'
import { createClients } from './clients.ts'
import { connectionsRoutes } from './connections.routes.ts'
import { oauthRoutes } from './oauth.routes.ts'
import { challengeOf } from './oauth-answers.ts'

export interface AgentSignInModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly people: PeopleModule
  readonly keyRing: KeyRingModule
  readonly egressAllow: readonly string[]
}

export type AgentSignInModule = ReturnType<typeof createAgentSignInModule>

const TIMEOUT_MS = 10_000
const MAX_DOCUMENT_BYTES = 64 << 10

export function createAgentSignInModule({ core, tokens, people, keyRing, egressAllow }: AgentSignInModuleDeps) {
  const { db, inTransaction, clock } = core
  const egress = createEgress({ policy: egressPolicyFrom(egressAllow) })
  const clients = createClients({
    ...{ seal: keyRing.seal, open: keyRing.open },
    get: (url) =>
      egress.send({
        ...{ method: 'GET', url, headers: { accept: 'application/json' }, body: '' },
        ...{ timeoutMs: TIMEOUT_MS, maxAnswerBytes: MAX_DOCUMENT_BYTES },
      }),
  })
  const signIn = createAgentSignIn({
    ...{ db, inTransaction, clock, findClient: clients.find },
    tokens: {
      admit: tokens.admit,
      issue: tokens.issueForAgent,
      revoke: tokens.revokeOfAgent,
      forget: tokens.forgetKnown,
    },
  })
  return defineModule({
    name: 'agent-sign-in',
    routes: [
      oauthRoutes({ signIn, register: clients.register }),
      connectionsRoutes({ signIn, people: { actorOf: people.finder.actorOf, projectsOf: people.projectsOf } }),
    ],
    actorOf: signIn.actorOf,
    challengeOf,
  })
}
