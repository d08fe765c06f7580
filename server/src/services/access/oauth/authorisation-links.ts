// A link for a person who authorises without an account here: a token for one component and one hour, and the page that begins with it.

import type { Clock } from '../../../kit/clock.ts'
import { defined } from '../../../kit/defined.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Origin } from '../../../model/event.ts'
import type { LinkRequest } from './oauth.routes.ts'

export interface LinksDeps {
  readonly clock: Clock
  readonly baseUrl: () => string
  readonly usableComponent: (actor: Actor, componentId: string) => string
  readonly issueToken: (
    actor: Actor,
    token: { readonly description: string; readonly componentAccess: readonly string[]; readonly expiresIn: number },
    origin: Origin,
  ) => Promise<string>
}

const LINK_SECONDS = 3600

export const createAuthorisationLinks =
  ({ clock, baseUrl, usableComponent, issueToken }: LinksDeps) =>
  async (actor: Actor, request: LinkRequest, origin: Origin): Promise<{ readonly url: string; readonly expiresAt: string }> => {
    const { configurationId, id, authorizedFor, provider, scope } = request
    const component = usableComponent(actor, request.componentId)
    const description = `Link to authorise ${component}`
    const token = await issueToken(actor, { description, componentAccess: [component], expiresIn: LINK_SECONDS }, origin)
    const url = new URL(`${baseUrl()}/oauth/link`)
    const parameters = { token, component, ...defined({ config: configurationId, id, authorizedFor, provider, scope }) }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return { url: url.toString(), expiresAt: new Date(clock.now().getTime() + LINK_SECONDS * 1000).toISOString() }
  }
