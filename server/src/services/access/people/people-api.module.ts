import { createMailer } from '../../../engines/mail/mailer.ts'
import { createOidcClient, type OidcSettings } from '../../../engines/oidc/oidc.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { TokensModule } from '../tokens/tokens.module.ts'
import { accountRoutes } from './account.routes.ts'
import { createInvitationMail } from './invitation-mail.ts'
import { oidcRoutes } from './oidc.routes.ts'
import type { OidcPolicy, PeopleModule } from './people.module.ts'
import { projectPeopleRoutes } from './project-people.routes.ts'
import { signInRoutes } from './sign-in.routes.ts'
import { usersRoutes } from './users.routes.ts'

export type OidcOptions = OidcSettings & OidcPolicy

export interface PeopleApiDeps {
  readonly core: Core
  readonly people: PeopleModule
  readonly tokens: TokensModule
  /** Undefined: sign-in with passwords and links only. */
  readonly oidc: OidcOptions | undefined
  /** Undefined: invitations are not sent by mail. */
  readonly smtpUrl: string | undefined
  /** The beginning of a link that people pass on, for a request to this address. */
  readonly linkBase: (requestUrl: string) => string
}

export function createPeopleApiModule({ core, people, tokens, oidc, smtpUrl, linkBase }: PeopleApiDeps) {
  const oidcClient = oidc && createOidcClient(oidc, core.clock)
  const sendInvitation = createInvitationMail({
    send: smtpUrl === undefined ? undefined : createMailer(smtpUrl).send,
    projectName: async (id) => (await tokens.projectName(id)) ?? '',
    onError: (err) => core.log.warn({ err }, 'an invitation could not be sent by mail; its link is in the answer'),
  })
  return defineModule({
    name: 'people-api',
    routes: [
      signInRoutes({ people, projectName: tokens.projectName, issuer: oidc?.issuer }),
      ...(oidcClient ? [oidcRoutes({ client: oidcClient, signIn: people.signInByIdentity })] : []),
      accountRoutes(people),
      projectPeopleRoutes(people, sendInvitation, linkBase),
      usersRoutes(people),
    ],
  })
}
