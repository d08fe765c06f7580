// People of a project by a part of their name or e-mail. A token for scripts has nothing to do with people, unless it opens everything.

import type { Actor } from '../../../model/actor.ts'
import type { Members } from '../../../model/members.ts'
import type { Scope } from '../../../model/scope.ts'

export const createPeopleFinder =
  ({ inProject }: Pick<Members, 'inProject'>) =>
  async ({ actor }: Scope, text: string, limit: number) => {
    if (!maySeePeople(actor)) return []
    const wanted = text.toLowerCase()
    return (await inProject(actor.projectId))
      .filter(({ name, email }) => name.toLowerCase().includes(wanted) || email.includes(wanted))
      .slice(0, limit)
      .map(({ personId, name, email }) => ({ kind: 'person' as const, id: String(personId), name, email }))
  }

const maySeePeople = ({ isMasterToken, canManageTokens, role }: Actor): boolean =>
  isMasterToken || canManageTokens || role !== undefined
