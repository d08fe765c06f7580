// Links that can be used once: the first stack admin, an invitation to a project, and recovery for a user who lost their password.
// The value follows the # of a URL, which browsers do not send.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { LinkKind, LinkRecord, PeopleStore } from './people.store.ts'
import { hashOf, newSecret } from './sessions.ts'

const HOUR_MS = 3_600_000
/** The default. */
const LINK_MS: Readonly<Record<LinkKind, number>> = { admin: HOUR_MS, 'sign-in': HOUR_MS, invitation: 7 * 24 * HOUR_MS }

export type NewLink = Pick<LinkRecord, 'kind'> &
  Partial<Omit<LinkRecord, 'id' | 'createdAt' | 'expiresAt'>> & { readonly lastsMs?: number }

export type Links = ReturnType<typeof createLinks>

export function createLinks({ store, clock }: { readonly store: PeopleStore; readonly clock: Clock }) {
  async function make(
    trx: Trx,
    { kind, lastsMs, ...link }: NewLink,
  ): Promise<{ readonly value: string; readonly link: LinkRecord }> {
    const value = newSecret()
    const now = clock.now()
    const made = await store.insertLink(trx, {
      hash: hashOf(value),
      kind,
      personId: link.personId,
      projectId: link.projectId,
      email: link.email,
      role: link.role,
      creator: link.creator,
      createdAt: now,
      expiresAt: new Date(now.getTime() + (lastsMs ?? LINK_MS[kind])),
    })
    return { value, link: made }
  }

  function checked(link: LinkRecord | undefined): LinkRecord {
    if (!link || link.expiresAt <= clock.now()) throw new PlatformError('people.linkInvalid')
    return link
  }

  return {
    make,
    /** What it is for; it can still be used afterwards. */
    look: async (value: string): Promise<LinkRecord> => checked(await store.findLink(hashOf(value))),
    /** In the transaction of what it is for: when that fails, the link is still there. */
    take: async (trx: Trx, value: string): Promise<LinkRecord> => checked(await store.takeLink(trx, hashOf(value))),
  }
}

/** The address that a person opens. */
export const linkUrl = (baseUrl: string, value: string): string => `${baseUrl}/console/#link=${value}`
