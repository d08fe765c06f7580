// What a person does with their account is recorded in every project they belong to, under their token there.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { EventName, EventParams } from '../../../model/event-definitions.ts'
import { type Members, sourceOf } from '../../../model/members.ts'

type AccountEvent = Extract<EventName, 'storage.personSignedIn' | 'storage.personSessionsEnded' | 'storage.personAccountChanged'>

export type AccountEvents = ReturnType<typeof createAccountEvents>

export function createAccountEvents({ members, recordEvent }: { readonly members: Members; readonly recordEvent: RecordEvent }) {
  return {
    async record<N extends AccountEvent>(
      trx: Trx,
      personId: number,
      name: N,
      params: EventParams<N>,
      origin: Origin,
    ): Promise<void> {
      for (const member of await members.ofPerson(personId, trx)) {
        const event = eventOf(name, params, { objectId: String(member.tokenId), objectName: member.name })
        await recordEvent(trx, sourceOf(member), event, origin)
      }
    },
  }
}
