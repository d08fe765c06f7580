// `authorization.oauth_api.id` becomes the credentials that the OAuth broker keeps under it (spec platform 1.3). Credentials that a
// configuration brings itself are passed on as they are.

import { membersOf, withMember } from '../../../kit/text/json-text.ts'
import type { Actor } from '../../../model/actor.ts'
import type { RunnableComponent, RunOauth } from '../../../model/run-ports.ts'
import type { OpenedSecrets } from './image-parameters.ts'

/** A component that leaves it to the broker to exchange an access token that is over. */
const REFRESH_FEATURE = 'oauth-refresh'

/** `text` is an effective configuration, secrets in clear; so is the answer. */
export async function withOauthCredentials(
  { oauth }: { readonly oauth: RunOauth },
  actor: Actor,
  component: Pick<RunnableComponent, 'id' | 'features'>,
  text: string,
): Promise<OpenedSecrets> {
  const authorization = objectAt(text, 'authorization')
  const reference = objectAt(authorization, 'oauth_api')
  const members = membersOf(reference)
  const id = members.get('id')
  if (id === undefined || id === 'null' || members.has('credentials')) return { text, values: [] }
  const asked = members.get('refresh')
  const isRefreshed = asked === undefined ? component.features.includes(REFRESH_FEATURE) : asked === 'true'
  const key = { componentId: component.id, credentialsId: String(JSON.parse(id)) }
  const found = await oauth.credentialsFor(actor, key, isRefreshed)
  const filled = withMember(authorization, 'oauth_api', withMember(reference, 'credentials', found.text))
  return { text: withMember(text, 'authorization', filled), values: found.values }
}

/** A member that is an object; PHP writes an empty one as a list. */
function objectAt(text: string, name: string): string {
  const member = membersOf(text).get(name)?.trim() ?? '{}'
  return member.startsWith('{') ? member : '{}'
}
