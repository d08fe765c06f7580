// The people of a stack. Routes are in people-api.module.ts, which the command line does not load.

import { DEFAULT_LIMITS } from '../../../kit/default-limits.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { KeyRingModule } from '../encryption/key-ring.module.ts'
import type { TokensModule } from '../tokens/tokens.module.ts'
import { createPeopleFinder } from './find-people.ts'
import { NO_POLICY, type OidcPolicy } from './oidc-sign-in.ts'
import { PASSWORD_COST, type PasswordCost } from './passwords.ts'
import { createPeople } from './people.ts'
import type { SessionSettings } from './sessions.ts'
import { linkUrl } from './sign-in-links.ts'

export interface PeopleModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly keyRing: KeyRingModule
  readonly sessions: Partial<SessionSettings> | undefined
  readonly oidc: OidcPolicy | undefined
  readonly passwordCost: PasswordCost | undefined
}

export type PeopleModule = ReturnType<typeof createPeopleModule>

export function createPeopleModule({ core, tokens, keyRing, sessions, oidc, passwordCost }: PeopleModuleDeps) {
  const { db, inTransaction, clock, recordEvent, recordChange } = core
  const people = createPeople({
    db,
    inTransaction,
    clock,
    recordEvent,
    recordChange,
    members: tokens.people,
    admit: tokens.admit,
    forgetTokens: tokens.forgetKnown,
    projects: tokens.projects.list,
    cipher: { seal: keyRing.seal, open: keyRing.open },
    sessionSettings: { ...DEFAULT_LIMITS.sessions, ...sessions },
    oidcPolicy: { ...NO_POLICY, ...oidc },
    passwordCost: passwordCost ?? PASSWORD_COST,
  })
  return defineModule({ name: 'people', ...people, linkUrl, search: createPeopleFinder(tokens.people) })
}

export type { OidcPolicy, PasswordCost, SessionSettings }
