// Writes `authorization.oauth_api` into a configuration, so that its next run gets the credentials (spec platform 6.2).

import { membersOf, withMember } from '../../../kit/text/json-text.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Origin } from '../../../model/event.ts'
import type { AttachPlace } from './round-trip.ts'

export interface AttachDeps {
  /** The configuration in the default branch, as text, with its version. */
  readonly read: (actor: Actor, place: AttachPlace) => Promise<{ readonly text: string; readonly version: number }>
  readonly save: (actor: Actor, place: AttachPlace, text: string, version: number, origin: Origin) => Promise<void>
}

export const createAttach =
  ({ read, save }: AttachDeps) =>
  async (actor: Actor, place: AttachPlace, origin: Origin): Promise<void> => {
    const { text, version } = await read(actor, place)
    await save(actor, place, withCredentials(text, place.credentialsId), version, origin)
  }

/** Everything else stays as it was written. */
function withCredentials(configuration: string, credentialsId: string): string {
  const authorization = membersOf(configuration).get('authorization')
  const inside = authorization?.trim().startsWith('{') ? authorization : '{}' // PHP writes an empty object as a list
  const reference = JSON.stringify({ id: credentialsId, version: 3 })
  return withMember(configuration, 'authorization', withMember(inside, 'oauth_api', reference))
}
